package rules

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// Unjudged is a cause that could not be judged, because the input has no source in which
// its evidence would appear.
type Unjudged struct {
	ID, Title string
	Needs     []string // any of these inputs would allow it to be judged
}

const callMetric = "kubelet_runtime_operations_duration_seconds"

// conditionNeeds gives the metric, fact or log writer that a condition evaluates.
// Conditions not listed use the kubelet's log.
var conditionNeeds = map[string]Clause{
	"serial-calls": {Metric: callMetric}, "slow-lists": {Metric: callMetric}, "hung-calls": {Metric: callMetric},
	"kernel": {Fact: "kernel.version"}, "waited-for": {Fact: "goroutine.lock"}, "mount-waited-for": {Fact: "process.dstate"},
	"runnable": {Fact: "procs.running"}, "exited-pile": {Fact: "containers.exited"}, "shim-pile": {Fact: "process.shim.count"},
	"lock-chain": {Looks: []parse.Source{parse.SrcKernel}}, "hung-many": {Looks: []parse.Source{parse.SrcKernel}}, "lockups-at-once": {Looks: []parse.Source{parse.SrcKernel}},
	"shim-stays": {Looks: []parse.Source{parse.SrcContainerd}}, "many-shims": {Looks: []parse.Source{parse.SrcContainerd}}, "silent-shim": {Looks: []parse.Source{parse.SrcContainerd}},
	"unready": {Looks: []parse.Source{parse.SrcUnknown}}, "unit-down": {Looks: []parse.Source{parse.SrcSystemd}}, "runtime-restarted": {Looks: []parse.Source{parse.SrcSystemd}},
}

// noLogs names the sources that are not the log of one program.
var noLogs = map[parse.Source]string{parse.SrcUnknown: "any log", parse.SrcStack: "stack dump", parse.SrcKubeEvents: "cluster events", parse.SrcFacts: "system files"}

// factWords names the part of the system that facts describe, by the first component of
// their keys.
var factWords = map[string]string{
	"cgroup": "files of cgroups", "collector": "the collector's own report", "containers": "listing of containers", "cpu": "processor statistics", "disk": "disk usage and statistics",
	"files": "file handles", "goroutine": "goroutine dump", "inode": "inode usage", "kernel": "kernel release and command line", "kubelet": "configuration of the kubelet", "load": "load average",
	"lvm": "usage of thin pools", "mem": "memory statistics", "mount": "table of mounts", "process": "process table", "procs": "run queue", "psi": "pressure (PSI)", "runc": "version of runc", "runtime": "conditions of the runtime",
	"sandboxes": "listing of sandboxes", "sar": "sar", "systemd": "units and jobs of systemd", "thread": "process table",
}

// unjudged lists the causes for whose core evidence the input has no source at all, and
// that are none of those judged: a line of an unknown writer can show them too.
func (v *view) unjudged(p *Pack, judged ...[]*scored) (out []Unjudged) {
	if p.sought == nil {
		return nil
	}
	for _, s := range p.sought() {
		is := func(x *scored) bool { return x.def == s.def }
		if slices.ContainsFunc(judged, func(xs []*scored) bool { return slices.ContainsFunc(xs, is) }) {
			continue
		}
		if !slices.ContainsFunc(s.places, v.there) && !nodeSubject(v).ruledOut(s.def) {
			out = append(out, s.Unjudged)
		}
	}
	return out
}

// sought is a cause with all the places where its core evidence could be.
type sought struct {
	Unjudged
	def    *Def
	places []inputPlace
}

// inputPlace is where a clause finds its evidence: exactly one of a fact area, a metric or
// logs.
type inputPlace struct {
	area, metric string
	logs         []parse.Source
}

// there reports whether the input has the place.
func (v *view) there(at inputPlace) bool {
	switch {
	case at.area != "":
		return slices.ContainsFunc(v.facts, func(k string) bool { return strings.HasPrefix(k, at.area+".") })
	case at.metric != "":
		for name := range v.series {
			if strings.HasPrefix(name, at.metric) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(at.logs, func(src parse.Source) bool { return v.have[src] || src == parse.SrcUnknown && len(v.have) > 0 })
}

// seek returns the places of all causes. They are the same for every node.
func (p *Pack) seek() (out []sought) {
	writers := p.Signatures().Writers()
	for _, d := range p.Causes {
		s := sought{Unjudged: Unjudged{ID: d.ID, Title: d.Title}, def: d}
		for _, c := range d.For {
			if c.Core {
				at := placeOf(c, writers)
				s.places, s.Needs = append(s.places, at), append(s.Needs, at.words()...)
			}
		}
		slices.Sort(s.Needs)
		s.Needs = slices.Clip(slices.Compact(s.Needs))
		out = append(out, s)
	}
	return out
}

func placeOf(c *Clause, writers map[string][]parse.Source) inputPlace {
	looks := slices.Clone(c.Looks)
	if other, ok := conditionNeeds[c.Cond]; ok {
		c, looks = &other, other.Looks
	}
	switch area, _, _ := strings.Cut(c.Fact, "."); {
	case c.Fact != "":
		return inputPlace{area: area}
	case c.Metric != "":
		return inputPlace{metric: c.Metric}
	case len(looks) == 0:
		for i, id := range c.asks() {
			looks = append(looks, writers[id]...)
			if i > 0 && c.Cond != "" { // it needs both signatures in one log
				looks = slices.DeleteFunc(looks, func(s parse.Source) bool { return !slices.Contains(writers[id], s) })
			}
		}
	}
	if len(looks) == 0 {
		looks = append(looks, parse.SrcKubelet)
	}
	return inputPlace{logs: looks}
}

// words names the inputs that contain the place.
func (at inputPlace) words() (out []string) {
	switch {
	case at.area != "":
		return []string{cmp.Or(factWords[at.area], at.area)}
	case at.metric != "":
		return []string{"metric " + at.metric}
	}
	for _, src := range at.logs {
		out = append(out, cmp.Or(noLogs[src], string(src)+" log"))
	}
	return out
}
