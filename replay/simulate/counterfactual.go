package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/age"
	"github.com/plegforensics/plegforensics/replay/blame"
)

// load is the work of one recorded relist, divided by purpose.
type load struct {
	start, end int64
	slack      time.Duration // of the start
	list       time.Duration
	listFailed bool
	listStuck  bool // a list call timed out
	pods       []podLoad
	rest       time.Duration // attributed neither to a pod nor to the list
}

// podLoad is the cost of inspecting one pod in one relist.
type podLoad struct {
	uid, name string
	took      time.Duration
	calls     int
	stuck     int // how many of the calls timed out
}

// Counterfactual answers what would have happened to the relists that a node's log
// proves. Unlike Simulation it needs no listings: it divides the recorded relists by
// means of blame, changes the parts, and runs the schedule again.
type Counterfactual struct {
	node  *replay.Node
	loads []load
	quiet time.Duration // duration of a relist with nothing to do
	Was   pleg.Profile  // profile of the recorded kubelet; RPCTimeout is 0 if unknown
	fell  []replay.Fallback
	// recorded caches the totals of the run without changes.
	recorded *Totals
}

// NewCounterfactual prepares a node. Its profile is taken from the evidence about the
// kubelet.
func NewCounterfactual(n *replay.Node, bs []blame.Blame) (*Counterfactual, error) {
	p, err := NodeProfile(n)
	if err != nil {
		return nil, err
	}
	p.RPCTimeout = n.Kubelet.CallTimeout()
	return &Counterfactual{node: n, Was: p, loads: loads(n, bs), quiet: quietRelist(n), fell: n.Fallbacks()}, nil
}

// NodeProfile returns the profile of a node's kubelet, with defaults for what is
// unknown. It returns an error only if even the default profile is not available.
func NodeProfile(n *replay.Node) (pleg.Profile, error) {
	k := &n.Kubelet
	p, err := pleg.New(cmp.Or(k.Version, k.VersionMax))
	if err != nil {
		p, err = pleg.New("")
	}
	if k.PLEG == "evented" && p.Has(pleg.EventedAvailable) {
		p = p.UseEvented()
	}
	p.Period, p.Threshold = cmp.Or(k.Period, p.Period), cmp.Or(k.Threshold, p.Threshold)
	p.RPCTimeout = cmp.Or(k.RPCTimeout, p.RPCTimeout)
	return p, err
}

// at returns p as it applies at a moment: during a fallback of evented PLEG, relists
// have the period and threshold of the generic one, except for values that p does not
// have from the evented one. A what-if that names the generator assumes that its stream
// works.
func (l *Counterfactual) at(now int64, what *WhatIf, p pleg.Profile) pleg.Profile {
	for _, f := range l.fell {
		if what.PLEG != "" || !p.Evented || now < f.From || now >= f.To {
			continue
		}
		if p.Period == pleg.EventedPeriod {
			p.Period = pleg.Period
		}
		if p.Threshold == pleg.EventedThreshold {
			p.Threshold = pleg.Threshold
		}
	}
	return p
}

// loads divides the relists of known length.
func loads(n *replay.Node, bs []blame.Blame) []load {
	divided := make(map[int]*blame.Blame, len(bs))
	for i := range bs {
		divided[bs[i].Relist] = &bs[i]
	}
	var out []load
	for i := range n.Relists {
		took, _ := n.Lasted(i)
		r := &n.Relists[i]
		if took <= 0 && r.Start.Known() && r.ListEnd.Known() {
			took = time.Duration(r.ListEnd.At - r.Start.At) // a lower bound
		}
		if took <= 0 {
			continue
		}
		w := load{start: r.Start.At, end: r.Start.At + int64(took), slack: r.Start.Slack, rest: took,
			listFailed: r.Outcome == replay.OutcomeListFailed || r.Listed != nil && !*r.Listed}
		if b := divided[i]; b != nil {
			w.divide(b)
		} else if w.listFailed {
			w.list, w.rest = took, 0
		} else if r.ListEnd.Known() {
			w.list = min(time.Duration(r.ListEnd.At-r.Start.At), took)
			w.rest -= w.list
		}
		out = append(out, w)
	}
	return implied(n, out)
}

// implied adds the relist whose list ended an episode: the next relist began a period
// after the last one ended, and the recovery shows when its list returned. Its two list
// calls cannot take longer than their timeouts; a longer time was several relists, of
// which nothing is known.
func implied(n *replay.Node, ls []load) []load {
	for i := range n.Episodes {
		e := &n.Episodes[i]
		if !e.Recovered.Known() {
			continue
		}
		k := sort.Search(len(ls), func(k int) bool { return ls[k].start >= e.Recovered.At }) - 1
		if k < 0 || ls[k].end < e.LastStart.At || e.StuckStep != replay.StepList && !ls[k].listFailed {
			continue
		}
		if l := &ls[k]; l.start > e.LastStart.At && l.end > e.Recovered.Earliest() {
			d := min(time.Duration(e.Recovered.At-l.start)-l.list, l.rest) // its list returned when PLEG recovered
			l.list, l.rest = l.list+max(d, 0), l.rest-max(d, 0)
			continue
		}
		from := ls[k].end + int64(n.Kubelet.Period)
		took := time.Duration(e.Recovered.At - from)
		if took > time.Second && took <= 2*n.Kubelet.CallTimeout()+e.Recovered.Slack {
			ls = slices.Insert(ls, k+1, load{start: from, end: e.Recovered.At, list: took})
		}
	}
	return ls
}

// divide moves what a blame explains out of the rest.
func (w *load) divide(b *blame.Blame) {
	if b.List > 0 {
		w.list = min(b.List, w.rest)
		w.rest -= w.list
	}
	if w.listFailed {
		for _, s := range b.ByOperation {
			w.listStuck = w.listStuck || s.TimedOut > 0
		}
		w.list, w.rest = w.list+w.rest, 0
		return
	}
	for _, s := range b.ByPod {
		took := min(s.Took, w.rest)
		w.rest -= took
		w.pods = append(w.pods, podLoad{uid: s.ID, name: s.What, took: took, calls: max(s.Calls, 1), stuck: s.TimedOut})
	}
}

// quietRelist returns the median duration of the relists that were not long, 50 ms if
// none is known.
func quietRelist(n *replay.Node) time.Duration {
	var ds []time.Duration
	for i := range n.Relists {
		if d, ok := n.Relists[i].Duration(); ok && d > 0 && d < replay.LongRelist {
			ds = append(ds, d)
		}
	}
	slices.Sort(ds)
	return append(ds, 50*time.Millisecond)[len(ds)/2]
}

// Ask answers a what-if. It returns the simulated relists that had recorded work, the
// totals of the changed history, and the answer, which is nil if what changes nothing.
func (l *Counterfactual) Ask(what WhatIf) ([]*Relist, Totals, *Answer, error) {
	is, err := what.Profile(l.Was)
	if err != nil {
		return nil, Totals{}, nil, err
	}
	was := l.asItWas()
	out, would := l.run(&what, is)
	if what.Empty() {
		return out, would, nil, nil
	}
	blind, _ := l.blind(&what, is)
	a := answer(&what, l.Was, is, was, would, blind, l.assumptions(&what))
	a.Rows = a.Rows[:eventRows] // events cannot be replayed without listings
	return out, would, a, nil
}

// Unproven returns why the input does not prove enough about the relists to answer a
// what-if, and what input would; "" if it does.
func (l *Counterfactual) Unproven(what *WhatIf) (why, wanted string) {
	wanted = "a kubelet log with -v=4 or more around the incident, or recorded relists (plegforensics/snapshots/v1), would tell"
	if len(l.loads) == 0 {
		return "the input proves no relist of known length", wanted
	}
	was := l.asItWas()
	known, told := l.node.UnhealthyTime(), was.UnhealthyTime()
	if told-known > known/10+5*time.Second {
		return "the relists of known length are too few: what ran between them is not known", wanted
	}
	if known-told > known/10+5*time.Second {
		return fmt.Sprintf("the relists of known length explain %s of the %s in which PLEG was unhealthy", parse.Short(told), parse.Short(known)), wanted
	}
	is, err := what.Profile(l.Was)
	if err != nil {
		return "", "" // Ask reports the error
	}
	if why, wanted := l.uncertain(what, &is); why != "" {
		return why, wanted
	}
	if blind, all := l.blind(what, is); blind > all/2 {
		if limit := l.limit(what, &is); limit < l.Was.Threshold {
			return fmt.Sprintf("for %s of %s the input does not show whether the last relist had begun less than %s before", parse.Short(blind), parse.Short(all), parse.Short(limit)), wanted
		}
		return fmt.Sprintf("nothing proves how PLEG was for %s of %s", parse.Short(blind), parse.Short(all)), wanted
	}
	return "", ""
}

// uncertain returns what a what-if needs to know about the runtime calls that the input
// does not show, and what input would show it; "" if nothing.
func (l *Counterfactual) uncertain(what *WhatIf, is *pleg.Profile) (why, wanted string) {
	c, known := l.cost(), l.Was.RPCTimeout > 0
	calls := what.RPCTimeout > 0 || what.Latency > 0 || l.Was.Has(pleg.InspectTwice) != is.Has(pleg.InspectTwice)
	slower := what.Latency > 1 && c.answered >= replay.LongRelist
	switch took := what.scaled(c.answered); {
	case c.rest > c.total/2 && (calls || what.Parallel > 0 || len(what.Without) > 0):
		return fmt.Sprintf("for %s of the %s of long relists the input does not show which calls took them", parse.Short(c.rest), parse.Short(c.total)), "the log of the container runtime, or a kubelet log with -v=4 or more, would tell"
	case !known && (slower || calls && c.stuck()):
		return "the input neither states nor shows the timeout of calls to the runtime", "the kubelet's configuration (runtimeRequestTimeout) would tell"
	case took > is.RPCTimeout && (slower || what.RPCTimeout > 0):
		return fmt.Sprintf("calls that were answered within %s may have run into a timeout of %s, and what had come of that is not known", parse.Short(took), parse.Short(is.RPCTimeout)), "recorded relists (plegforensics/snapshots/v1) would tell"
	}
	return "", ""
}

// blind returns for how long a what-if could have made PLEG unhealthy without a trace
// in the input, out of how much time: when nothing proves the state of PLEG, and when
// the last relist may have been too old for the changes.
func (l *Counterfactual) blind(what *WhatIf, is pleg.Profile) (blind, all time.Duration) {
	blind, all = l.node.UnknownTime()
	limit := l.limit(what, &is)
	if limit >= l.Was.Threshold {
		return blind, all
	}
	blind = 0
	for _, s := range age.Of(l.node) {
		from, to := s.From, s.To
		if s.Low1 > limit { // too old, and proven to be
			to = s.To - int64(s.Low1-limit)
		}
		if s.High0 != age.Unknown && s.High0 <= limit {
			from = s.To - int64(max(s.High1-limit, 0))
		}
		blind += time.Duration(max(min(to, s.To)-max(from, s.From), 0))
	}
	return blind, all
}

// limit returns the age below which a relist, as recorded, leaves PLEG healthy under
// the changes.
func (l *Counterfactual) limit(w *WhatIf, is *pleg.Profile) time.Duration {
	was, limit := &l.Was, is.Threshold-max(is.Period-l.Was.Period, 0)
	if w.RPCTimeout > 0 {
		limit -= max(is.RPCTimeout-was.RPCTimeout, 0)
	}
	if w.Latency > 1 {
		limit = time.Duration(float64(limit) / w.Latency)
	}
	if is.Has(pleg.InspectTwice) && !was.Has(pleg.InspectTwice) {
		limit /= 2
	}
	return limit
}

// asItWas returns the totals of the history without changes.
func (l *Counterfactual) asItWas() Totals {
	if l.recorded == nil {
		_, t := l.run(&WhatIf{}, l.Was)
		l.recorded = &t
	}
	return *l.recorded
}

// assumptions lists the assumptions of an answer.
func (l *Counterfactual) assumptions(what *WhatIf) []string {
	out := []string{
		fmt.Sprintf("between the relists that the log proves, relists ran quietly and took %s each", parse.Short(l.quiet)),
		"the log holds no listings: events are not replayed",
	}
	var rest time.Duration
	for i := range l.loads {
		if l.loads[i].end-l.loads[i].start >= int64(replay.LongRelist) {
			rest += l.loads[i].rest
		}
	}
	if rest > time.Second {
		out = append(out, fmt.Sprintf("%s of the long relists belong to no known call or pod and stay as they were", parse.Short(rest)))
	}
	return append(out, assumeChanges(what)...)
}

// listsFailed is the error of a relist that is only known to have failed.
const listsFailed = "the list calls failed"

// maxCounterfactualRelists bounds a simulation of a long time range.
const maxCounterfactualRelists = 1 << 22

// run simulates the recorded time with the changes applied. A relist that meets a
// recorded one has its work to do. While the recorded one ran, calls that were stuck
// stay stuck; at other times relists are quiet.
func (l *Counterfactual) run(what *WhatIf, p pleg.Profile) ([]*Relist, Totals) {
	var t Totals
	var out []*Relist
	if len(l.loads) == 0 {
		return nil, t
	}
	now, end := l.loads[0].start, l.loads[len(l.loads)-1].end
	if w := l.node.Window.Lines.To; w > end { // so that the relist after the last one shows the recovery
		end = min(w, end+3*int64(p.Period))
	}
	lastSeen := int64(0)
	t.From = now
	as, p := p, l.at(now, what, p)
	h := health{threshold: p.Threshold}
	open := func() bool { return h.open != nil && now <= l.node.Window.End }
	for i, first, n := 0, true, 0; (now <= end || open()) && n < maxCounterfactualRelists; n++ {
		for i+1 < len(l.loads) && l.loads[i+1].start <= now {
			i, first = i+1, true
		}
		p = l.at(now, what, as)
		h.threshold = p.Threshold
		list, took := l.quiet, l.quiet
		w := &l.loads[i]
		busy := first || now < w.end
		failed := busy && w.listFailed
		if busy {
			if list, took = what.lengths(w, &l.Was, &p, first); !first {
				took = max(took, l.quiet)
			}
			first = false
		}
		ended := now + int64(took)
		if lastSeen != 0 {
			t.Interval.observe(time.Duration(now - lastSeen))
		}
		r := Relist{Start: now, End: ended, Pods: -1}
		if failed {
			r.ListErr = listsFailed
			h.failed(now)
		} else {
			lastSeen = now
			h.listed(now, now+int64(list))
		}
		r.LastSeen = lastSeen
		_, r.Healthy = pleg.Healthy(lastSeen, ended, p.Threshold)
		if t.count(&r); busy {
			kept := r
			out = append(out, &kept)
		} else if k := l.idle(now, i, end, &h, p.Period); k > 0 {
			step := int64(l.quiet + p.Period)
			t.Duration.observeMany(l.quiet, k)
			t.Interval.observeMany(time.Duration(step), k)
			n += k
			now += int64(k) * step
			lastSeen, ended = now, now+int64(l.quiet)
			h.lastSeen = now
		}
		now = l.next(ended, p.Period, i, busy)
		if k := slices.IndexFunc(l.fell, func(f replay.Fallback) bool {
			return ended < f.From && f.From < now && l.at(f.From, what, as).Period < p.Period
		}); k >= 0 {
			now = l.fell[k].From // the generic generator starts over
		}
	}
	t.To = max(end, now)
	t.Unhealthy = h.finish(min(now, end))
	return out, t
}

// idle returns how many quiet relists in a row follow the quiet one at now, not
// counting those close to the next recorded relist or to the end. run skips them,
// because a healthy kubelet stays healthy throughout.
func (l *Counterfactual) idle(now int64, i int, end int64, h *health, period time.Duration) int {
	step := int64(l.quiet + max(period, time.Millisecond))
	if h.open != nil || period < time.Millisecond || step > int64(h.threshold)/2 {
		return 0
	}
	if i+1 < len(l.loads) {
		end = min(end, l.loads[i+1].start)
	}
	return int(max((end-now)/step-3, 0))
}

// next returns the start of the following relist. The schedule aligns with the recorded
// one if that is less than a period away, or may be for all that is known of its start.
func (l *Counterfactual) next(ended int64, period time.Duration, i int, busy bool) int64 {
	at := ended + int64(max(period, time.Millisecond))
	if i+1 < len(l.loads) {
		start := l.loads[i+1].start
		early := start - int64(min(l.loads[i+1].slack, 2*period))
		if at > start && start >= ended && !busy || max(at-start, early-at) < int64(period)/2 && start > ended {
			return start
		}
	}
	return at
}

// lengths returns how long the list and all of a recorded relist would have taken. On a
// second visit (first is false), while the recorded relist would still have run, only
// the stuck calls remain.
func (w *WhatIf) lengths(l *load, was, is *pleg.Profile, first bool) (list, total time.Duration) {
	switch list = l.list; {
	case !l.listStuck:
		list = w.scaled(list)
	case w.RPCTimeout > 0:
		list = is.RPCTimeout
	}
	var jobs []time.Duration
	for i := range l.pods {
		p := &l.pods[i]
		if w.drops(p.uid, p.name) {
			continue
		}
		var job time.Duration // a pod is inspected serially
		each := p.took / time.Duration(max(p.stuck, 1))
		if was.RPCTimeout > 0 {
			each = min(each, was.RPCTimeout)
		}
		if free := p.took - time.Duration(p.stuck)*each; first {
			job = w.scaled(free)
		}
		if w.RPCTimeout > 0 {
			each = is.RPCTimeout
		}
		stuck := p.stuck // calls in one relist: kubelets up to 1.31 inspect a failed pod twice
		switch a, b := was.Has(pleg.InspectTwice), is.Has(pleg.InspectTwice); {
		case a && !b:
			stuck = (stuck + 1) / 2
		case !a && b:
			stuck *= 2
		}
		jobs = append(jobs, job+time.Duration(stuck)*each)
	}
	total = list + parallel(jobs, is.Parallel)
	if first {
		total += l.rest
	}
	return list, total
}

func (w *WhatIf) scaled(d time.Duration) time.Duration {
	if w.Latency > 0 {
		return time.Duration(float64(d) * w.Latency)
	}
	return d
}
