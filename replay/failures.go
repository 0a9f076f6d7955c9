package replay

import (
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Layers of the kubelet log one failed call within microseconds of each other.
const layerGap = 20 * time.Millisecond

// failures merges the lines of all layers into one failure per call.
func failures(calls []call, syms *parse.Symbols, timeout time.Duration) []Failure {
	pods := map[podID]string{}
	out, lines := make([]Failure, 0, len(calls)), make([]Evidence, len(calls))
	for i := range calls {
		lines[i].Record = calls[i].ev
		f := failure(&calls[i], syms, pods, timeout)
		f.Evidence = lines[i : i+1 : i+1]
		if j := mergeable(out, &f); j >= 0 {
			out[j].merge(&f)
			continue
		}
		out = append(out, f)
	}
	return out
}

func failure(c *call, syms *parse.Symbols, pods map[podID]string, timeout time.Duration) Failure {
	pod, ok := pods[c.pod]
	if !ok {
		pod = c.pod.text(syms)
		pods[c.pod] = pod
	}
	f := Failure{Call: syms.Text(c.name), Scope: syms.Text(c.scope), Code: syms.Text(c.code), Err: syms.Text(c.err),
		ObjectID: syms.Text(c.id), PodUID: syms.Text(c.uid), Pod: pod}
	if c.ev.Basis == parse.NoTime {
		return f
	}
	f.End = c.ev.At
	if f.Code == "DeadlineExceeded" && plainTimeout(f.Call) && timeout > 0 {
		f.Start = Instant{f.End - int64(timeout), deadlineLate}
	}
	return f
}

// plainTimeout reports whether the call's deadline is runtimeRequestTimeout;
// that of RunPodSandbox is twice as long, those of StopContainer and ExecSync
// depend on the pod.
func plainTimeout(call string) bool {
	return slices.Contains([]string{"ListPodSandbox", "ListContainers", "PodSandboxStatus", "ContainerStatus",
		"Status", "Version", "CreateContainer", "StartContainer", "RemoveContainer", "StopPodSandbox", "RemovePodSandbox"}, call)
}

// mergeable finds the failure that f is another layer's line about, -1 if none.
func mergeable(out []Failure, f *Failure) int {
	if f.End == 0 {
		return -1
	}
	for j := len(out) - 1; j >= 0 && j >= len(out)-8; j-- {
		g := &out[j]
		if f.End-g.End > int64(layerGap) || g.End == 0 {
			return -1
		}
		if agree(f.Call, g.Call) && agree(f.Code, g.Code) && agree(f.ObjectID, g.ObjectID) &&
			agree(f.PodUID, g.PodUID) && agree(f.Pod, g.Pod) && agree(f.Scope, g.Scope) && !twice(f, g) {
			return j
		}
	}
	return -1
}

// agree reports whether two statements do not contradict each other.
func agree(a, b string) bool { return a == "" || b == "" || a == b }

// twice reports whether the same layer speaks again: another call.
func twice(f, g *Failure) bool {
	e := f.Evidence[0].Record.(*parse.Event)
	for _, x := range g.Evidence {
		if o := x.Record.(*parse.Event); o.Caller == e.Caller && e.Caller != "" {
			return true
		}
	}
	return false
}

// merge adds what another layer says.
func (f *Failure) merge(g *Failure) {
	for _, p := range []struct{ to, from *string }{{&f.Call, &g.Call}, {&f.Scope, &g.Scope}, {&f.Code, &g.Code},
		{&f.Err, &g.Err}, {&f.ObjectID, &g.ObjectID}, {&f.PodUID, &g.PodUID}, {&f.Pod, &g.Pod}} {
		if *p.to == "" {
			*p.to = *p.from
		}
	}
	if !f.Start.Known() {
		f.Start = g.Start
	}
	f.Evidence = append(f.Evidence, g.Evidence...)
}
