package logs

import (
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

var (
	volumeRE  = onDemand(`(?s)^(?:Unable to (?:attach or )?mount volumes for pod "([^"]*)"|(?:[a-zA-Z]+)\.\w+ failed for volume \\?"([^"\\]+)\\?"[^:]*|(?:UnmountDevice|AttachVolume\.Attach) failed[^:]*?) ?: (.*)`)
	orphanRE  = onDemand(`orphaned pod \\?"([0-9a-f-]+)\\?" found, but volume (?:sub)?paths are still present`)
	volumeErr = onDemand(`(?i)failed|timed? ?out|unable`)
)

// extractVolume reads a failed volume operation of any layer. Lines of the same
// wording that report success or the start of an operation do not match.
func extractVolume(r *record) ([]parse.Field, bool) {
	if m := orphanRE().FindStringSubmatch(r.msg); m != nil {
		return addField(nil, "pod_uid", m[1]), true
	}
	if m := volumeRE().FindStringSubmatch(r.msg); m != nil {
		out := addField(podFields(m[1]), "volume", m[2])
		return addField(out, "err", m[3]), true
	}
	if !volumeErr().MatchString(r.msg) && r.first("err") == "" {
		return nil, false
	}
	return addField(podFields(r.first("pod")), "err", r.first("err")), true
}

var (
	probePrintfRE = onDemand(`(?s)^(\w+) probe for "([^"]+\)):([^"]+)" (?:failed|errored)[^:]*: (.*)`)
	probeEventRE  = onDemand(`(?s)(Liveness|Readiness|Startup) probe (?:failed|errored): (.*)`)
)

// extractProbe reads a failed probe: printf, structured (one message ≥ 1.21), or
// the text of the event.
func extractProbe(r *record) ([]parse.Field, bool) {
	if m := probePrintfRE().FindStringSubmatch(r.msg); m != nil {
		out := addNamed([]parse.Field{{Name: "probe", Value: m[1]}}, "pod", m[2])
		return addField(addField(out, "name", m[3]), "err", m[4]), true
	}
	if r.form != formPrintf && strings.HasPrefix(r.msg, "Probe ") {
		out := addNamed(addField(nil, "probe", r.first("probeType")), "pod", r.first("pod"))
		out = addField(out, "pod_uid", r.first("podUID"))
		out = addField(out, "name", r.first("containerName"))
		return addField(out, "err", r.first("err", "output")), true
	}
	if m := probeEventRE().FindStringSubmatch(r.msg); m != nil {
		return addField([]parse.Field{{Name: "probe", Value: m[1]}}, "err", m[2]), true
	}
	return nil, false
}

var (
	psLongRE = onDemand(`^\s*\d\s+D\S*\s+\S+\s+(\d+)\s+\d+\s+\d+\s+\S+\s+\S+\s+\S+\s+\S+\s+(\S+)\s+\S+(?:\s+\S+)?\s+(?:\d+-)?\d+:\d\d:\d\d\s+(.+?)\s*$`)
	psAuxRE  = onDemand(`^\s*[\w.+-]+\s+(\d+)\s+[0-9.]+\s+[0-9.]+\s+\d+\s+\d+\s+\S+\s+D\S*\s+\S+\s+\d+:\d\d\s+(.+?)\s*$`)
	psWideRE = onDemand(`^\s*(\d+)\s+\d+\s+(?:\d+\s+)?D\S*\s+(\S+)\s+(?:\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4}\s+)?(.+?)\s*$`)
)

// extractPSDState reads a row of a process table in state D: ps -elf, ps aux, or ps
// -eo pid,ppid,stat,wchan,…
func extractPSDState(r *record) ([]parse.Field, bool) {
	var pid, wchan, comm string
	if m := psLongRE().FindStringSubmatch(r.raw); m != nil {
		pid, wchan, comm = m[1], m[2], m[3]
	} else if m := psAuxRE().FindStringSubmatch(r.raw); m != nil {
		pid, comm = m[1], m[2]
	} else if m := psWideRE().FindStringSubmatch(r.raw); m != nil {
		pid, wchan, comm = m[1], m[2], m[3]
	} else {
		return nil, false
	}
	out := addField(nil, "pid", pid)
	return addField(addField(out, "wchan", wchan), "comm", comm), true
}

var timeoutRE = onDemand(`[rR]untimeRequestTimeout"?[:=] ?(?:v1\.Duration)?\{?(?:Duration:)?"?([0-9][0-9hmsµ.]*)`)

// extractConfig reads the runtime request timeout from a dump of the kubelet
// configuration: Go syntax, or nanoseconds if the dump is %#v.
func extractConfig(r *record) ([]parse.Field, bool) {
	m := timeoutRE().FindStringSubmatch(r.raw)
	if m == nil {
		return nil, false
	}
	v := m[1]
	if ns, err := strconv.ParseInt(v, 10, 64); err == nil {
		v = time.Duration(ns).String()
	}
	return []parse.Field{{Name: "runtime_request_timeout", Value: v}}, true
}
