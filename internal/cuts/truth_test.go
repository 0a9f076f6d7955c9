package cuts

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/age"
)

// truth is what a kubelet really did.
type truth struct {
	relists []ranRelist
	starts  []int64 // of processes after the first
	evented bool
	limit   time.Duration
	causes  []string // causes that may be named; nil if unknown
	version string
	since   []agePoint
}

// ranRelist is a relist that really ran. Its list returned within [listLo, listHi]; end is 0 if the
// process ended first.
type ranRelist struct {
	start, listLo, listHi, end int64
	ok                         bool
}

// agePoint says that, from at on, the last relist that listed pods began at since; 0 means that
// there was none. If sure is false it may still be the previous one.
type agePoint struct {
	at, since int64
	sure      bool
}

func (w *truth) ages() []agePoint {
	if w.since == nil {
		for _, r := range w.relists {
			if r.ok {
				if r.listHi > r.listLo {
					w.since = append(w.since, agePoint{r.listLo, r.start, false})
				}
				w.since = append(w.since, agePoint{r.listHi, r.start, true})
			}
		}
		for _, t := range w.starts {
			w.since = append(w.since, agePoint{t, 0, false})
		}
		slices.SortStableFunc(w.since, func(a, b agePoint) int { return cmp.Compare(a.at, b.at) })
	}
	return w.since
}

// stateSpan is a span of PLEG's state: 1 healthy, -1 unhealthy, 0 not sure.
type stateSpan struct {
	from, to int64
	state    int
}

func (w *truth) states() (out []stateSpan) {
	p := w.ages()
	for i := range p {
		to := max(w.relists[len(w.relists)-1].start, w.relists[len(w.relists)-1].end) // the last one may have no end
		if i+1 < len(p) {
			to = p[i+1].at
		}
		breach := p[i].since + int64(w.limit)
		if p[i].since == 0 { // a new process
			out = append(out, stateSpan{p[i].at, to, 0})
			continue
		}
		older := breach
		if !p[i].sure {
			older = 0
			if i > 0 && p[i-1].since != 0 {
				older = p[i-1].since + int64(w.limit)
			}
		}
		// healthy while the older relist suffices, unhealthy once the newer one does not
		add := func(a, b int64, st int) {
			if a, b = max(a, p[i].at), min(b, to); b > a {
				out = append(out, stateSpan{a, b, st})
			}
		}
		add(p[i].at, older, 1)
		add(max(older, p[i].at), breach, 0)
		add(breach, to, -1)
	}
	return out
}

func overlapOf(spans []stateSpan, from, to int64, state int) (sum time.Duration, where int64) {
	for _, s := range spans {
		if s.state == state && min(to, s.to) > max(from, s.from) {
			sum += time.Duration(min(to, s.to) - max(from, s.from))
			if where == 0 {
				where = max(from, s.from)
			}
		}
	}
	return sum, where
}

// unsureOf returns how long the state is not sure around a time.
func unsureOf(states []stateSpan, at, slack int64) time.Duration {
	d, _ := overlapOf(states, at-slack, at+slack, 0)
	return d
}

// falsehoods lists the claims that are false.
func (w *truth) falsehoods(n *model.Analyzed) (out findings) {
	if w == nil || n == nil {
		return nil
	}
	states := w.states()
	const near = 50 * time.Millisecond
	if !w.evented {
		for _, h := range n.Health {
			switch h.State {
			case replay.Healthy:
				if d, t := overlapOf(states, h.From, h.To, -1); d > near {
					out.add("false health", "%v from %s, by %s in %s to %s", d, at(t), h.Proof, at(h.From), at(h.To))
				}
			case replay.Unhealthy:
				if d, t := overlapOf(states, h.From, h.To, 1); d > near {
					out.add("false trouble", "%v from %s, in %s to %s", d, at(t), at(h.From), at(h.To))
				}
			case replay.NeverRelisted:
				if d, t := overlapOf(states, h.From, h.To, 1); d > near {
					out.add("false never", "%v from %s, in %s to %s", d, at(t), at(h.From), at(h.To))
				}
			}
		}
		w.episodes(n, states, &out)
		w.agesOf(n, &out)
	}
	for i := range n.Relists {
		w.relist(n, i, &out)
	}
	count := func(from, to int64, told, toldMost int) {
		least, most := 0, 0
		for _, r := range w.relists {
			if r.start < to+int64(time.Second) && (r.end == 0 || r.end > from-int64(time.Second)) {
				most++
				if r.start > from+int64(time.Second) && r.end != 0 && r.end < to-int64(time.Second) {
					least++
				}
			}
		}
		if told > most || toldMost >= 0 && toldMost < least {
			out.add("false count", "%d to %d from %s to %s, %d to %d really", told, toldMost, at(from), at(to), least, most)
		}
	}
	for _, b := range n.Bounded {
		count(b.From, b.To, b.CountMin, b.CountMax)
	}
	if all, least, most := n.RelistTotal(); all.From != 0 {
		count(all.From, all.To, least, most)
	}
	if n.Kubelet.Version != "" && w.version != "" && n.Kubelet.Version != w.version {
		out.add("false version", "%s", n.Kubelet.Version)
	}
	if w.causes != nil {
		least := .85
		if slices.ContainsFunc(states, func(s stateSpan) bool { return s.state < 0 }) {
			least = .5
		}
		for _, c := range n.Causes {
			if c.Confidence >= least && !slices.Contains(w.causes, c.ID) {
				out.add("false cause", "%s %.2f", c.ID, c.Confidence)
			}
		}
	}
	return out
}

func (w *truth) episodes(n *model.Analyzed, states []stateSpan, out *findings) {
	for _, e := range n.Episodes {
		if e.Breach == 0 || e.Never {
			continue
		}
		slack := int64(e.LastStart.Slack + near)
		if e.LastStart.Known() && !slices.ContainsFunc(w.relists, func(r ranRelist) bool { return r.start >= e.LastStart.At-slack && r.start <= e.LastStart.At+slack }) {
			out.add("false episode", "no relist at %s ±%v", at(e.LastStart.At), e.LastStart.Slack)
		} else if d, _ := overlapOf(states, e.Breach-slack-int64(near), e.Breach+slack+int64(near), -1); d == 0 && unsureOf(states, e.Breach, slack) == 0 {
			out.add("false episode", "breach at %s", at(e.Breach))
		}
		if e.Recovered.Known() {
			// PLEG was healthy again at some time within the stated bounds.
			from, to := e.Recovered.At-int64(e.Recovered.Slack)-int64(near), e.Recovered.At+int64(e.Recovered.Slack)+int64(near)
			well, _ := overlapOf(states, from, to, 1)
			unsure, _ := overlapOf(states, from, to, 0)
			if well+unsure == 0 {
				out.add("false recovery", "%s −%v, by %q", at(e.Recovered.At), e.Recovered.Slack, e.RecoveredBasis)
			}
		}
	}
}

const near = 50 * time.Millisecond

func (w *truth) agesOf(n *model.Analyzed, out *findings) {
	p := w.ages()
	told := 0
	for _, s := range age.Of(n.Node) {
		for _, x := range []struct {
			t         int64
			low, high time.Duration
		}{{s.From + int64(near), s.Low0, s.High0}, {s.To - int64(near), s.Low1, s.High1}} {
			if x.t <= s.From || x.t >= s.To {
				continue
			}
			i, _ := slices.BinarySearchFunc(p, x.t, func(a agePoint, t int64) int { return cmp.Compare(a.at, t) })
			if i--; i < 0 || p[i].since == 0 || told > 3 {
				continue
			}
			young, old := time.Duration(x.t-p[i].since), time.Duration(x.t-p[i].since)
			if !p[i].sure {
				if i == 0 || p[i-1].since == 0 {
					continue
				}
				old = time.Duration(x.t - p[i-1].since)
			}
			const off = 400 * time.Millisecond
			if x.low != age.Unknown && x.low > old+off {
				out.add("false age", "at least %v at %s, really %v", x.low, at(x.t), old)
				told++
			}
			if x.high != age.Unknown && x.high < young-off {
				out.add("false age", "at most %v at %s, really %v", x.high, at(x.t), young)
				told++
			}
		}
	}
}

// relist compares a claimed relist with the true ones: one of them must match all claims.
func (w *truth) relist(n *model.Analyzed, i int, out *findings) {
	r := &n.Relists[i]
	if !r.Start.Known() {
		return
	}
	slack := int64(r.Start.Slack + near)
	why := "no relist began then"
	for k := range w.relists {
		x := &w.relists[k]
		if x.start < r.Start.At-slack || x.start > r.Start.At+slack {
			continue
		}
		miss := ""
		off := func(d time.Duration) time.Duration { return d + 100*time.Millisecond }
		lasted, _ := n.Lasted(i)
		switch {
		case r.Listed != nil && *r.Listed != x.ok && (x.end != 0 || *r.Listed):
			miss = fmt.Sprintf("listed %v", x.ok)
		case r.End.Known() && x.end == 0:
			miss = "it never ended"
		case r.End.Known() && abs(time.Duration(r.End.At-x.end)) > off(r.End.Slack):
			miss = fmt.Sprintf("its end was %s", at(x.end))
		case r.Took != 0 && x.end != 0 && abs(r.Took-time.Duration(x.end-x.start)) > off(r.TookSlack):
			miss = fmt.Sprintf("it took %v", time.Duration(x.end-x.start))
		case r.ListEnd.Known() && x.ok && (r.ListEnd.At+int64(off(r.ListEnd.Slack)) < x.listLo || r.ListEnd.At-int64(off(r.ListEnd.Slack)) > x.listHi):
			miss = fmt.Sprintf("its list returned by %s", at(x.listHi))
		case r.Outcome == replay.OutcomeHung && x.end != 0 && x.end < r.Start.At+int64(lasted-off(r.Start.Slack)):
			miss = fmt.Sprintf("it ended at %s", at(x.end))
		}
		if miss == "" {
			return
		}
		why = miss
	}
	out.add("false relist", "%s ±%v to %s ±%v, took %v ±%v, listed %v at %s ±%v, %s, by %v: %s", at(r.Start.At), r.Start.Slack, at(r.End.At), r.End.Slack, r.Took, r.TookSlack,
		r.Listed != nil && *r.Listed, at(r.ListEnd.At), r.ListEnd.Slack, r.Outcome, r.Basis, why)
}
