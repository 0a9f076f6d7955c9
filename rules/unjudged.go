package rules

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// Unjudged is a cause that could not be judged: the input holds nothing of what
// would have to show it.
type Unjudged struct {
	ID, Title string
	Needs     []string // with any of these it could be
}

const callMetric = "kubelet_runtime_operations_duration_seconds"

// conditionNeeds are the metric, fact or writer of a log that conditions look at;
// the others look at the log of the kubelet.
var conditionNeeds = map[string]Clause{
	"serial-calls": {Metric: callMetric}, "slow-lists": {Metric: callMetric}, "hung-calls": {Metric: callMetric},
	"kernel": {Fact: "kernel.version"}, "os": {Fact: "os.name"}, "waited-for": {Fact: "goroutine.lock"}, "mount-waited-for": {Fact: "process.dstate"},
	"runnable": {Fact: "procs.running"}, "exited-pile": {Fact: "containers.exited"}, "shim-pile": {Fact: "process.shim.count"},
	"lock-chain": {Looks: []parse.Source{parse.SrcKernel}}, "hung-many": {Looks: []parse.Source{parse.SrcKernel}}, "lockups-at-once": {Looks: []parse.Source{parse.SrcKernel}},
	"shim-stays": {Looks: []parse.Source{parse.SrcContainerd}}, "many-shims": {Looks: []parse.Source{parse.SrcContainerd}},
	"unit-down": {Looks: []parse.Source{parse.SrcSystemd}}, "runtime-restarted": {Looks: []parse.Source{parse.SrcSystemd}},
}

// noLogs are the sources that are no log of a program.
var noLogs = map[parse.Source]string{parse.SrcUnknown: "any log", parse.SrcStack: "stack dump", parse.SrcKubeEvents: "cluster events", parse.SrcFacts: "system files"}

// factWords names the part of a system that facts tell of, by the first word of
// their keys.
var factWords = map[string]string{
	"cgroup": "files of cgroups", "collector": "the collector's own report", "containers": "listing of containers", "cpu": "processor statistics", "disk": "disk usage and statistics",
	"files": "file handles", "goroutine": "goroutine dump", "inode": "inode usage", "kernel": "kernel release and command line", "kubelet": "configuration of the kubelet", "load": "load average",
	"lvm": "usage of thin pools", "mem": "memory statistics", "mount": "table of mounts", "process": "process table", "procs": "run queue", "psi": "pressure (PSI)", "runc": "version of runc",
	"sandboxes": "listing of sandboxes", "sar": "sar", "systemd": "units and jobs of systemd", "thread": "process table",
}

// unjudged lists the causes without any core evidence that could be looked for.
func (v *view) unjudged(p *Pack) (out []Unjudged) {
	writers := p.Signatures().Writers()
	for _, d := range p.Causes {
		u := Unjudged{ID: d.ID, Title: d.Title}
		there := func(c *Clause) bool {
			needs, ok := v.needs(c, writers)
			if c.Core {
				u.Needs = append(u.Needs, needs...)
			}
			return ok && c.Core
		}
		if slices.ContainsFunc(d.For, there) || nodeSubject(v).ruledOut(d) {
			continue
		}
		slices.Sort(u.Needs)
		u.Needs = slices.Compact(u.Needs)
		out = append(out, u)
	}
	return out
}

// needs names the inputs in which a clause would find what it looks for, and
// reports whether any of them is there.
func (v *view) needs(c *Clause, writers map[string][]parse.Source) (words []string, there bool) {
	looks := slices.Clone(c.Looks)
	if other, ok := conditionNeeds[c.Cond]; ok {
		c, looks = &other, other.Looks
	}
	switch area, _, _ := strings.Cut(c.Fact, "."); {
	case c.Fact != "":
		return []string{cmp.Or(factWords[area], area)}, slices.ContainsFunc(v.facts, func(k string) bool { return strings.HasPrefix(k, area+".") })
	case c.Metric != "":
		for name := range v.series {
			there = there || strings.HasPrefix(name, c.Metric)
		}
		return []string{"metric " + c.Metric}, there
	case len(looks) == 0:
		for i, id := range c.asks() {
			looks = append(looks, writers[id]...)
			if i > 0 && c.Cond != "" { // it takes both, in one file
				looks = slices.DeleteFunc(looks, func(s parse.Source) bool { return !slices.Contains(writers[id], s) })
			}
		}
	}
	if len(looks) == 0 {
		looks = append(looks, parse.SrcKubelet)
	}
	for _, src := range looks {
		there = there || v.have[src] || src == parse.SrcUnknown && len(v.have) > 0
		words = append(words, cmp.Or(noLogs[src], string(src)+" log"))
	}
	return words, there
}
