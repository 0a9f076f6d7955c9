package kubelet

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// RoundTimeout is the unit of timeouts that people set.
const RoundTimeout = 5 * time.Second

// timeoutLate is how late a call that hits its deadline may return, with the rest of its relist, on a loaded
// machine.
const timeoutLate = 400 * time.Millisecond

// stated returns the threshold that most lines state, 0 if none does.
func (p *profiler) stated() time.Duration {
	count := map[time.Duration]int{}
	best := time.Duration(0)
	for _, a := range p.s.Ages {
		if a.Limit <= 0 {
			continue
		}
		count[a.Limit]++
		if count[a.Limit] > count[best] || count[a.Limit] == count[best] && a.Limit < best {
			best = a.Limit
		}
	}
	return best
}

// timeout determines runtimeRequestTimeout. Failing lists measure it: they follow each other by timeout plus
// period. Flag lines show the flag's default even if the configuration file overrides it, so measurements win.
// A value that is not measured, confirmed or stated is assumed, and proves nothing.
func (p *profiler) timeout() {
	k := &p.k
	stated := k.RPCTimeout > 0
	p.gaps = p.failureGaps()
	slices.Sort(p.gaps)
	measured, by := p.measured()
	if by != "" && measured != k.RPCTimeout {
		k.RPCTimeout, k.TimeoutKnown = measured, true
		p.say("runtimeRequestTimeout " + parse.Short(measured) + " measured from " + by)
		return
	}
	k.RPCTimeout, k.TimeoutKnown = cmp.Or(k.RPCTimeout, pleg.RPCTimeout), true
	waits := p.waits()
	switch least := k.RPCTimeout - 3*time.Second/2; { // timestamps may be truncated to seconds
	case slices.ContainsFunc(slices.Concat(p.gaps[:min(len(p.gaps), 1)], waits.own), func(d time.Duration) bool { return d < least }):
		k.TimeoutKnown = false
		p.say("runtimeRequestTimeout unknown: serial calls that timed out are less than " + parse.Short(k.RPCTimeout) + " apart")
	case stated:
		p.say("runtimeRequestTimeout stated")
	case p.fromFile():
		p.say("runtimeRequestTimeout by default, which the configuration file leaves")
	case slices.ContainsFunc(waits.all, func(d time.Duration) bool {
		late := d + 20*time.Millisecond
		if late -= k.RPCTimeout; late >= k.RPCTimeout {
			late -= k.RPCTimeout // a pod costs a relist two timeouts, up to 1.31
		}
		return late >= 0 && (late <= timeoutLate || late >= k.Period && late <= k.Period+timeoutLate)
	}):
		p.say("runtimeRequestTimeout by default, which inspections that failed confirm")
	case p.heldUp(k.RPCTimeout):
		p.say("runtimeRequestTimeout by default, which housekeeping confirms that a failed list held up")
	default:
		k.TimeoutKnown = false
		p.say("runtimeRequestTimeout unknown, 2m is the default")
	}
	if !k.TimeoutKnown {
		k.most = p.most(waits.own)
		k.slower = slices.ContainsFunc(p.s.Stalls, func(x Stall) bool { return x.To-x.From > 2*int64(k.RPCTimeout+time.Second) }) // housekeeping lists twice
	}
}

// most returns an upper bound for an unknown timeout. It is at most the time between two calls of the relist
// goroutine that hit it. Nor is it longer than a relist whose list call hit it can have run: since PLEG
// started, or since a relist that kept a working sync loop healthy may have begun.
func (p *profiler) most(own []time.Duration) time.Duration {
	out := slices.Min(slices.Concat(p.gaps[:min(len(p.gaps), 1)], own, []time.Duration{TimeoutMost}))
	for _, m := range p.s.Marks {
		if m.Kind != host.KindListFail || !m.Deadline || m.Run < 0 {
			continue
		}
		r := &p.s.Runs[m.Run]
		if worked := p.s.Attended(m.Run, m.At, time.Duration(m.At-r.First)); worked > r.First {
			out = min(out, time.Duration(m.At-worked)+p.k.Threshold)
		}
		if r.Loop != 0 {
			out = min(out, time.Duration(m.At-r.Loop))
		}
	}
	return out
}

// heldUp reports whether housekeeping took one timeout and ended with a list call that hit its deadline:
// housekeeping gives up at the first failure.
func (p *profiler) heldUp(timeout time.Duration) bool {
	return slices.ContainsFunc(p.s.Stalls, func(x Stall) bool {
		over := time.Duration(x.To-x.From) - timeout
		return over >= 0 && over <= time.Second && slices.ContainsFunc(p.s.Calls, func(c Call) bool {
			return int(c.Run) == x.Run && c.Line.At > x.To-int64(time.Second) && c.Line.At <= x.To && p.s.Interned.Text(c.code) == "DeadlineExceeded" && strings.HasPrefix(p.s.Interned.Text(c.Name), "List")
		})
	})
}

// waits holds how long inspections waited for their deadline, measured from the failure before or from the
// start of their relist. Failures follow each other directly within a relist; from one relist to the next, a
// period is added.
type waits struct {
	own []time.Duration // between lines of the relist goroutine, which is serial
	all []time.Duration
}

func (p *profiler) waits() waits {
	var w waits
	type failed struct {
		at  int64
		run int
		own bool
	}
	var ends []failed
	for _, m := range p.s.Marks {
		if m.Kind&host.KindInspectFail != 0 && m.Deadline {
			ends = append(ends, failed{m.At, m.Run, true})
		}
	}
	for i := range p.s.Calls {
		c := &p.s.Calls[i]
		if p.s.Interned.Text(c.code) == "DeadlineExceeded" && p.s.Interned.Text(c.Name) == "PodSandboxStatus" && c.Line.Basis != parse.NoTime {
			ends = append(ends, failed{c.Line.At, int(c.Run), false})
		}
	}
	slices.SortStableFunc(ends, func(a, b failed) int { return cmp.Compare(a.at, b.at) })
	starts := p.lastSeen()
	prev, prevOwn := map[int]int64{}, map[int]int64{}
	for _, e := range ends {
		gap := func(since map[int]int64) (time.Duration, bool) {
			d := time.Duration(e.at - since[e.run])
			return d, since[e.run] != 0 && d >= time.Second // shorter: another layer's line about the same call
		}
		if d, ok := gap(prev); ok {
			w.all = append(w.all, d)
		}
		if d, ok := gap(prevOwn); e.own && ok {
			w.own = append(w.own, d)
		}
		if l := starts[e.run]; len(l) > 0 {
			if i, _ := slices.BinarySearch(l, e.at-int64(time.Second)); i > 0 {
				w.all = append(w.all, time.Duration(e.at-l[i-1]))
			}
		}
		prev[e.run] = e.at
		if e.own {
			prevOwn[e.run] = e.at
		}
	}
	return w
}

// fromFile reports whether the kubelet configuration is available: what it does not set has its default.
func (p *profiler) fromFile() bool {
	return slices.ContainsFunc(p.s.Facts, func(f *parse.Fact) bool {
		from := f.Attr("from")
		return strings.HasPrefix(f.Key, "kubelet.") && (from == "file" || from == "configz")
	})
}

// measured returns the timeout measured from the shortest distance between two consecutive list failures that
// hit their deadline, and what measures it, "" if nothing does. A slow first call, or an unlogged relist in
// between, only makes distances longer.
func (p *profiler) measured() (time.Duration, string) {
	if len(p.gaps) == 0 {
		return p.single()
	}
	whole := (p.gaps[0] + 20*time.Millisecond).Truncate(time.Second) // a timeout never fires early
	n := sort.Search(len(p.gaps), func(i int) bool { return p.gaps[i] > whole+timeoutLate })
	usual := cmp.Or(p.k.RPCTimeout, pleg.RPCTimeout)
	apart := whole != usual && (n == 1 && (whole > usual || whole%RoundTimeout != 0) || p.several(whole)) // two separate hangs can be any time apart
	if whole <= 0 || n == 0 || apart {
		return p.single()
	}
	return whole, parse.Plural(n, "pair") + " of failing lists"
}

// several reports whether a distance (less the period) may span several relists, some without lines: it is not
// a round number, but is made up of that many round timeouts and periods.
func (p *profiler) several(d time.Duration) bool {
	for k := time.Duration(2); k <= 5 && d%RoundTimeout != 0; k++ {
		if one := (d + p.k.Period) / k; one*k == d+p.k.Period && (one-p.k.Period)%RoundTimeout == 0 {
			return true
		}
	}
	return false
}

// failureGaps returns the distances between list failures by deadline, less the period. Failures with a relist
// that listed pods in between, known from its own line or because it was last seen later, do not count.
func (p *profiler) failureGaps() []time.Duration {
	var gaps []time.Duration
	starts := p.lastSeen()
	prev, begun := map[int]*Mark{}, map[int]int{}
	for i := range p.s.Marks {
		switch m := &p.s.Marks[i]; {
		case m.Kind == host.KindRelisting:
			begun[m.Run]++
		case m.Kind != host.KindListFail || !m.Deadline:
			delete(prev, m.Run)
		default:
			if t := prev[m.Run]; t != nil && begun[m.Run] < 2 && !anyIn(starts[m.Run], t.At, m.At) && p.s.SameClock(t.Line, m.Line) {
				gaps = append(gaps, time.Duration(m.At-t.At)-p.k.Period)
			}
			prev[m.Run], begun[m.Run] = m, 0
		}
	}
	return gaps
}

// lastSeen returns the starts of relists that ages name, by run, sorted.
func (p *profiler) lastSeen() map[int][]int64 {
	out := map[int][]int64{}
	for _, a := range p.s.Ages {
		if a.At != 0 {
			out[a.Run] = append(out[a.Run], a.At-int64(a.Age))
		}
	}
	for _, l := range out {
		slices.Sort(l)
	}
	return out
}

// anyIn reports whether one of the moments, which are sorted, lies strictly between from and to.
func anyIn(moments []int64, from, to int64) bool {
	i, _ := slices.BinarySearch(moments, from+1)
	return i < len(moments) && moments[i] < to
}

// single measures the timeout from one failure and the last-seen start before it: the attempt began a period
// after that relist, which takes some time itself. A timeout longer than usual must also explain why no call
// had failed before.
func (p *profiler) single() (time.Duration, string) {
	const by = "a failing list and the relist before it"
	tries := 0
	for _, m := range p.s.Marks {
		if m.Kind != host.KindListFail || !m.Deadline {
			continue
		}
		if tries++; tries > 64 {
			break // further ones add nothing
		}
		start, seen, ok := p.seenAfter(&m)
		if !ok {
			continue
		}
		d := time.Duration(m.At-start) - p.k.Period
		usual := cmp.Or(p.k.RPCTimeout, pleg.RPCTimeout)
		whole := d.Truncate(time.Second)
		switch {
		case whole <= 0 || d-whole >= 500*time.Millisecond:
		case p.several(whole):
		case d < usual-20*time.Millisecond && usual-d <= time.Duration(p.s.Quiet(m.At, seen)): // the clock may have been set forward by that
		case d < usual-20*time.Millisecond, whole > usual && whole%(30*time.Second) == 0 && !p.timedOut(m.Run, start, m.At-int64(d)/10):
			return whole, by
		case d < usual+time.Second:
			return usual, by
		}
	}
	return 0, ""
}

// seenAfter returns the start of the relist that the first age after a mark names and when it does, unless an age before the mark
// names an older one although this one had begun: the attempt then began later, or the clock was set between.
func (p *profiler) seenAfter(m *Mark) (start, at int64, ok bool) {
	ages := p.s.Ages
	k := sort.Search(len(ages), func(i int) bool { return ages[i].At >= m.At })
	for i := k; i < len(ages); i++ {
		if a := &ages[i]; a.Run == m.Run && a.Res <= time.Millisecond {
			start = a.At - int64(a.Age)
			return start, a.At, p.s.SameClock(a.Record, m.Line) && !slices.ContainsFunc(ages[:k], func(b Age) bool {
				return b.Run == m.Run && b.At > start+int64(p.k.Period) && b.At-int64(b.Age) < start-int64(SameStart)
			})
		}
	}
	return 0, 0, false
}

// timedOut reports whether a call of the run hit its deadline between the two moments.
func (p *profiler) timedOut(run int, from, to int64) bool {
	calls := p.s.Calls
	i := sort.Search(len(calls), func(i int) bool { return calls[i].Line.At > from })
	for ; i < len(calls) && calls[i].Line.At < to; i++ {
		if c := &calls[i]; int(c.Run) == run && p.s.Interned.Text(c.code) == "DeadlineExceeded" {
			return true
		}
	}
	return false
}
