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

// Calibration is a scenario derived from a node's metrics, usually while little went
// on.
type Calibration struct {
	Spec  Spec
	Used  []replay.Span // intervals between snapshots that were used, oldest first, merged if adjacent
	Basis []string      // descriptions of what was measured
}

// kinds maps the runtime calls of a relist to their names in a scenario.
var kinds = map[string]string{
	"list_podsandbox": "list", "list_containers": "list", "podsandbox_status": "status", "container_status": "status",
	"run_podsandbox": "run",
}

// step is what happened between two snapshots.
type step struct {
	from, to int64
	calls    map[string]int
	sum      map[string]time.Duration
	inspect  int // sandbox status calls: one per inspection, and one per sandbox created
}

// Calibrate takes latencies, pods and restarts of a node from the quieter half of the
// steps between two snapshots of its metrics, those in which list and status calls took
// the least time, or from all steps. If these have no calls of a kind, it uses the
// calls counted from the start of the kubelet to the first snapshot. Other values come
// from base.
func Calibrate(base Spec, n *replay.Node, all bool) (Calibration, error) {
	steps, started := stepsOf(n)
	if len(steps) == 0 {
		return Calibration{}, fmt.Errorf("no two snapshots of the kubelet's metrics that count runtime calls")
	}
	if !all {
		slices.SortStableFunc(steps, func(a, b *step) int { return cmp.Compare(a.busy(), b.busy()) })
		steps = steps[:(len(steps)+1)/2]
	}
	slices.SortFunc(steps, func(a, b *step) int { return cmp.Compare(a.from, b.from) })
	c := Calibration{Spec: base}
	calls, sum := map[string]int{}, map[string]time.Duration{}
	inspected, seconds := 0, 0.0
	for _, s := range steps {
		c.use(s.from, s.to)
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
		n, took, since := calls[l.kind], sum[l.kind], ""
		if n == 0 {
			n, took, since = started.calls[l.kind], started.sum[l.kind], " from the start of the kubelet to the first snapshot"
		}
		if n > 0 {
			d := max(took/time.Duration(n), time.Microsecond)
			*l.at = Latency{d, d}
			say("%s took %s on average%s", parse.Plural(n, l.kind+" call"), parse.Short(d), since)
		}
	}
	if restarts := inspected - calls["run"]; restarts > 0 {
		c.Spec.Churn = math.Round(float64(restarts)/seconds*1e4) / 1e4
		say("%.3g inspections a second", c.Spec.Churn)
	}
	pods, containers := c.running(n)
	if pods > 0 {
		c.Spec.Pods = min(pods, maxPods)
		say("%s", parse.Plural(pods, "running pod"))
	}
	if pods > 0 && containers > 0 {
		c.Spec.Containers = min(max((containers+pods/2)/pods, 1), maxContainers)
		say("%s", parse.Plural(containers, "running container"))
	}
	return c, c.Spec.check()
}

// use records that a step was used. Steps must be added oldest first.
func (c *Calibration) use(from, to int64) {
	if n := len(c.Used); n > 0 && from <= c.Used[n-1].To {
		c.Used[n-1].To = max(c.Used[n-1].To, to)
		return
	}
	c.Used = append(c.Used, replay.Span{From: from, To: to})
}

// busy returns the share of the step spent in list and status calls.
func (s *step) busy() float64 {
	return float64(s.sum["list"]+s.sum["status"]) / float64(max(s.to-s.from, 1))
}

// stepsOf collects the operations of each step, and what the first snapshot counted
// since the start of the kubelet, whose time may be unknown.
func stepsOf(n *replay.Node) (out []*step, started *step) {
	at := map[[2]int64]*step{}
	started = newStep(0, 0)
	counted := map[string]bool{}
	for i := range n.Calls {
		c := &n.Calls[i]
		kind := kinds[c.Operation]
		if kind != "" && c.Whole && !counted[c.Operation] {
			counted[c.Operation] = true
			started.calls[kind] += c.Calls
			started.sum[kind] += c.Sum
		}
		if kind == "" || c.Whole || c.To <= c.From {
			continue
		}
		key := [2]int64{c.From, c.To}
		if at[key] == nil {
			at[key] = newStep(c.From, c.To)
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
	return out, started
}

func newStep(from, to int64) *step {
	return &step{from: from, to: to, calls: map[string]int{}, sum: map[string]time.Duration{}}
}

// running returns the gauges of pods and containers in the last snapshot used.
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
			in := func(u replay.Span) bool { return p.At >= u.From && p.At <= u.To }
			if p.V >= 0 && p.V < 1e6 && slices.ContainsFunc(c.Used, in) {
				*into = int(p.V)
			}
		}
	}
	return pods, containers
}
