package scenario

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// Calibration is what a node's metrics say of it while little went on.
type Calibration struct {
	Spec  Spec
	From  int64 // of the snapshots used, Unix ns
	To    int64
	Basis []string // what was measured, in words
}

// kinds are the runtime calls of a relist by what a scenario calls them.
var kinds = map[string]string{
	"list_podsandbox": "list", "list_containers": "list", "podsandbox_status": "status", "container_status": "status",
	"run_podsandbox": "run",
}

// step is what happened between two snapshots.
type step struct {
	from, to int64
	calls    map[string]int
	sum      map[string]time.Duration
	inspect  int // sandbox status calls: one an inspection, and one a sandbox made
}

// Calibrate takes latencies, pods and restarts of a node from its quieter half: those
// steps between two snapshots of the metrics in which list and status calls took least
// time, or from all of them.
func Calibrate(base Spec, n *replay.Node, all bool) (Calibration, error) {
	steps := stepsOf(n)
	if len(steps) == 0 {
		return Calibration{}, fmt.Errorf("no two snapshots of the kubelet's metrics that count runtime calls")
	}
	if !all {
		slices.SortStableFunc(steps, func(a, b *step) int { return cmp.Compare(a.busy(), b.busy()) })
		steps = steps[:(len(steps)+1)/2]
	}
	c := Calibration{Spec: base, From: math.MaxInt64}
	calls, sum := map[string]int{}, map[string]time.Duration{}
	inspected, seconds := 0, 0.0
	for _, s := range steps {
		c.From, c.To = min(c.From, s.from), max(c.To, s.to)
		for kind := range s.calls {
			calls[kind] += s.calls[kind]
			sum[kind] += s.sum[kind]
		}
		inspected += s.inspect
		seconds += time.Duration(s.to - s.from).Seconds()
	}
	say := func(format string, args ...any) { c.Basis = append(c.Basis, fmt.Sprintf(format, args...)) }
	for _, l := range []struct {
		kind string
		at   *Latency
	}{{"list", &c.Spec.List}, {"status", &c.Spec.Status}} {
		if calls[l.kind] > 0 {
			d := max(sum[l.kind]/time.Duration(calls[l.kind]), time.Microsecond)
			*l.at = Latency{d, d}
			say("%d %s calls took %s on average", calls[l.kind], l.kind, parse.Short(d))
		}
	}
	if restarts := inspected - calls["run"]; restarts > 0 {
		c.Spec.Churn = math.Round(float64(restarts)/seconds*1e4) / 1e4
		say("%.3g inspections a second", c.Spec.Churn)
	}
	pods, containers := c.running(n)
	if pods > 0 {
		c.Spec.Pods = min(pods, maxPods)
		say("%d running pods", pods)
	}
	if pods > 0 && containers > 0 {
		c.Spec.Containers = min(max((containers+pods/2)/pods, 1), maxContainers)
		say("%d running containers", containers)
	}
	return c, c.Spec.check()
}

// busy is the share of the step that list and status calls took.
func (s *step) busy() float64 {
	return float64(s.sum["list"]+s.sum["status"]) / float64(max(s.to-s.from, 1))
}

// stepsOf puts together what the steps say of each operation; the counters of a first
// snapshot count from a start that nobody may know.
func stepsOf(n *replay.Node) []*step {
	at := map[[2]int64]*step{}
	var out []*step
	for i := range n.Calls {
		c := &n.Calls[i]
		kind := kinds[c.Operation]
		if kind == "" || c.Whole || c.To <= c.From {
			continue
		}
		key := [2]int64{c.From, c.To}
		if at[key] == nil {
			at[key] = &step{from: c.From, to: c.To, calls: map[string]int{}, sum: map[string]time.Duration{}}
			out = append(out, at[key])
		}
		s := at[key]
		s.calls[kind] += c.Calls
		s.sum[kind] += c.Sum
		if c.Operation == "podsandbox_status" {
			s.inspect += c.Calls
		}
	}
	slices.SortFunc(out, func(a, b *step) int { return cmp.Compare(a.from, b.from) })
	return out
}

// running are the gauges of pods and containers, as the last snapshot used has them.
func (c *Calibration) running(n *replay.Node) (pods, containers int) {
	for _, s := range n.Series {
		var into *int
		switch s.Name {
		case "kubelet_running_pods", "kubelet_running_pod_count":
			into = &pods
		case "kubelet_running_containers", "kubelet_running_container_count":
			if state := s.Label("container_state"); state == "" || state == "running" {
				into = &containers
			}
		}
		if into == nil {
			continue
		}
		for p := range s.Samples() {
			if at := p.At; at >= c.From && at <= c.To && p.V >= 0 && p.V < 1e6 {
				*into = int(p.V)
			}
		}
	}
	return pods, containers
}
