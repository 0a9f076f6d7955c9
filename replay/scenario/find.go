package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
)

// Found is the answer to a question about a scenario.
type Found struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
	// Value is the smallest value at which PLEG turns unhealthy, or for workers the
	// smallest at which it stays healthy. It is nil if there is none up to Most.
	// Longest is the longest relist at that value.
	Key     string   `json:"key"`
	Value   *float64 `json:"value"`
	Unit    string   `json:"unit"`
	Most    float64  `json:"most"`
	Longest float64  `json:"longest_relist_seconds"`
}

// question is a key whose turning point can be searched for.
type question struct {
	key, unit, about string
	most             int
	set              func(s *Spec, n int)
	good             bool // higher values keep PLEG healthy
}

// questions are searched in whole numbers: pods, milliseconds, or tenths of a rate or
// factor.
var questions = []question{
	{"changed", "pods", "how many pods that change at once make PLEG unhealthy", maxPods / 4, func(s *Spec, n int) {
		s.Pods = max(s.Pods, n)
		s.Changed = Burst{n, faultAt}
	}, false},
	{"status", "ms", "which latency of a status call makes PLEG unhealthy", 180_000, func(s *Spec, n int) { s.Status = each(n) }, false},
	{"list", "ms", "which latency of a list call makes PLEG unhealthy", 180_000, func(s *Spec, n int) { s.List = each(n) }, false},
	{"pods", "pods", "how many pods make PLEG unhealthy", maxPods / 4, func(s *Spec, n int) { s.Pods = max(n, s.Changed.Pods, len(s.Hangs)) }, false},
	{"containers", "containers", "how many containers a pod make PLEG unhealthy", maxContainers, func(s *Spec, n int) { s.Containers = n }, false},
	{"churn", "restarts/s", "how many restarts a second make PLEG unhealthy", 10_000, func(s *Spec, n int) { s.Churn = float64(n) / 10 }, false},
	{"load", "times", "how many times slower the runtime may be", 100_000, func(s *Spec, n int) { s.Load = float64(n) / 10 }, false},
	{"workers", "workers", "how many pods would have to be inspected at once to stay healthy", 1000, func(s *Spec, n int) { s.Workers = n }, true},
}

// Questions returns the keys whose turning point Find can search for.
func Questions() []string {
	out := []string{"threshold"}
	for _, q := range questions {
		out = append(out, q.key)
	}
	return out
}

func each(ms int) Latency {
	d := time.Duration(ms) * time.Millisecond
	return Latency{d, d}
}

// severalWorkers is the number in the open proposal (plegMaxParallelism).
const severalWorkers = 16

// Find searches for the value of a key at which the health of PLEG changes. The key
// threshold asks which number of changed pods and which status latency make PLEG
// unhealthy, with the workers of s and with 16 pods inspected at once.
func Find(s Spec, p pleg.Profile, key string) ([]Found, error) {
	if key == "threshold" {
		var out []Found
		for _, workers := range []int{s.Workers, severalWorkers} {
			t := s
			t.Workers = workers
			for _, k := range []string{"changed", "status"} {
				if k == "status" && t.Changed.Pods == 0 && t.Churn == 0 {
					t.Changed = Burst{t.Pods, faultAt}
				}
				found, _ := Find(t, p, k)
				out = append(out, found...)
			}
			if s.Workers >= severalWorkers {
				break
			}
		}
		return out, nil
	}
	k := slices.IndexFunc(questions, func(q question) bool { return q.key == key })
	if k < 0 {
		return nil, fmt.Errorf("no question about %q", key)
	}
	return []Found{find(s, p, questions[k])}, nil
}

// reach returns the largest number to try, and how many of these numbers make one unit.
func (q *question) reach(s *Spec, p pleg.Profile) (most int, scale float64) {
	most, scale = q.most, 1
	if q.key == "churn" || q.key == "load" {
		scale = 10
	}
	for q.key == "containers" && most*max(s.Pods, 1) > maxItems || (q.key == "pods" || q.key == "changed") && most*s.Containers > maxItems {
		most /= 2
	}
	switch timeout := s.Profile(p).RPCTimeout; q.key { // beyond the timeout a call fails and takes no longer
	case "list", "status":
		most = max(1, min(most, int(float64(timeout-1)/s.Load/1e6)))
	case "load":
		most = max(1, min(most, int(10*float64(timeout-1)/float64(max(s.List.Hi, s.Status.Hi)))))
	}
	return most, scale
}

// find doubles and then bisects the value: higher values never make relists shorter,
// except for workers.
func find(s Spec, p pleg.Profile, q question) Found {
	key := q.key
	most, scale := q.reach(&s, p)
	turned := func(n int) (bool, time.Duration) {
		t := s
		q.set(&t, n)
		t.For = min(t.For, max(2*p.Threshold+2*faultAt, s.Changed.At+2*p.Threshold))
		out := Run(t, p, nil)
		return (len(out.Totals.Unhealthy) > 0) != q.good, out.Totals.Longest
	}
	f := Found{Key: key, Unit: q.unit, Most: float64(most) / scale, Question: q.about + within(&s, key)}
	lo, hi := 0, 1
	yes, longest := turned(hi)
	for !yes && hi < most {
		lo, hi = hi, min(2*hi, most)
		yes, longest = turned(hi)
	}
	if !yes {
		f.Answer = fmt.Sprintf("none up to %g %s", f.Most, q.unit)
		if most < q.most && key != "pods" && key != "changed" && key != "containers" {
			f.Answer += ", beyond which calls run into their timeout"
		}
		return f
	}
	for lo+1 < hi {
		mid := (lo + hi) / 2
		if yes, took := turned(mid); yes {
			hi, longest = mid, took
		} else {
			lo = mid
		}
	}
	at := float64(hi) / scale
	f.Value, f.Longest = &at, longest.Seconds()
	unit, state := q.unit, "unhealthy"
	if at == 1 && key != "load" && unit != "ms" {
		unit = strings.TrimSuffix(unit, "s")
	}
	if q.good {
		state = "healthy"
	}
	if hi == 1 {
		f.Answer = fmt.Sprintf("%s with %g %s already; the longest relist takes %s then", state, at, unit, parse.Short(longest))
		return f
	}
	f.Answer = fmt.Sprintf("%s from %g %s on; the longest relist then takes %s", state, at, unit, parse.Short(longest))
	if !q.good {
		f.Answer += fmt.Sprintf(", and with the pause and the next list the age passes %v", p.Threshold)
	}
	return f
}

// within names the settings that the question leaves unchanged.
func within(s *Spec, key string) string {
	out := ""
	if key != "workers" && s.Workers > 1 {
		out += fmt.Sprintf(", with %d pods inspected at once", s.Workers)
	}
	switch n := s.Changed.Pods; {
	case key == "changed" || n == 0:
	case n == 1:
		out += ", when 1 pod changes"
	default:
		out += fmt.Sprintf(", when %d pods change at once", n)
	}
	return out
}
