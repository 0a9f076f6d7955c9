package simulate

import (
	"cmp"
	"fmt"
	"math"
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
	waited     bool // so did that of the relist before: the list waited for the same
	fails      wait // until when lists fail
	pods       []podLoad
	rest       time.Duration // attributed neither to a pod nor to the list
}

// podLoad is the cost of inspecting one pod in one relist.
type podLoad struct {
	uid, name string
	took      time.Duration
	calls     int
	stuck     int // how many of the calls timed out
	hung      wait
}

// wait says until when a call that timed out would have gone without an answer: until
// from at least, when the last call about the same thing timed out, and until to at
// most, when one had been answered. Unix ns.
type wait struct{ from, to int64 }

// run returns how long a call that begins at a moment lasts, and whether it is answered.
// One that timed out in the history lasts at least as long as then.
func (w wait) run(at int64, timeout, least time.Duration, late bool) (time.Duration, bool) {
	d := max(time.Duration(w.until(late)-at), least, 0)
	return min(d, timeout), d < timeout
}

func (w wait) until(late bool) int64 {
	if late {
		return w.to
	}
	return w.from
}

// Counterfactual answers what would have happened to the relists that a node's log
// proves. Unlike Simulation it needs no listings: it divides the recorded relists by
// means of blame, changes the parts, and runs the schedule again.
type Counterfactual struct {
	node  *replay.Node
	loads []load        // as long as the evidence permits
	least []load        // as short as it permits
	quiet time.Duration // duration of a relist with nothing to do
	Was   pleg.Profile  // profile of the recorded kubelet; RPCTimeout is 0 if unknown
	fell  []replay.Span // when evented PLEG had given up its stream
	// recorded caches the totals of the runs without changes: the least and the most.
	recorded []Totals
}

// NewCounterfactual prepares a node. Its profile is taken from the evidence about the
// kubelet.
func NewCounterfactual(n *replay.Node, bs []blame.Blame) (*Counterfactual, error) {
	p, err := NodeProfile(n)
	if err != nil {
		return nil, err
	}
	p.RPCTimeout = n.Kubelet.CallTimeout()
	l := &Counterfactual{node: n, Was: p, loads: loads(n, bs, true), least: loads(n, bs, false), quiet: quietRelist(n), fell: n.Fallbacks()}
	l.release(l.loads)
	l.release(l.least)
	return l, nil
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

// release bounds when the calls that timed out would have been answered: by what the
// kubelet logged of later calls about the same pod, by events of the pod, which follow an
// inspection, and by later relists in which it cannot have timed out.
func (l *Counterfactual) release(ls []load) {
	type state struct {
		wait
		by int // index of the load that it follows from
	}
	ends, events, freed := map[string][]int64{}, map[string][]int64{}, map[string]state{}
	for i := range ls {
		for _, p := range ls[i].pods {
			if p.stuck > 0 {
				ends[cmp.Or(p.name, p.uid)], ends[p.uid] = nil, nil
				freed[cmp.Or(p.name, p.uid)] = state{wait{0, math.MaxInt64}, len(ls)}
			}
		}
	}
	if delete(ends, ""); len(ends) > 0 {
		for i := range l.node.Failures {
			f := &l.node.Failures[i]
			if _, asked := ends[f.Pod]; asked && f.Code == "DeadlineExceeded" {
				ends[f.Pod] = append(ends[f.Pod], f.End)
			}
		}
		for _, e := range l.node.Observed.All() {
			for _, key := range []string{e.Pod, e.PodUID} {
				if _, asked := ends[key]; asked && e.At != 0 && !l.node.Kubelet.EventedSends() {
					events[key] = append(events[key], e.At)
				}
			}
		}
	}
	listed, held, quick := int64(math.MaxInt64), int64(0), len(ls) // quick: the next in which only its own pods can have timed out
	for i := len(ls) - 1; i >= 0; i-- {
		w := &ls[i]
		if w.listFailed {
			from, to := l.failing(w)
			held, listed = max(held, min(from, listed)), min(listed, to)
			w.fails = wait{held, listed}
			if i+1 < len(ls) && !ls[i+1].listFailed {
				ls[i+1].waited = w.listStuck
			}
			continue
		}
		listed, held = w.start+int64(w.list), 0
		for k := range w.pods {
			p := &w.pods[k]
			if p.stuck == 0 {
				continue
			}
			key := cmp.Or(p.name, p.uid)
			of := freed[key]
			if quick < of.by {
				of.wait = wait{0, ls[quick].end}
			}
			for _, at := range slices.Concat(events[key], events[p.uid]) {
				if at > w.end && at < of.to {
					of.wait = wait{0, at}
				}
			}
			last := int64(0)
			for _, at := range slices.Concat(ends[key], ends[p.uid]) {
				if at > w.start && at <= w.end {
					last = max(last, at)
				}
			}
			of.from = max(of.from, cmp.Or(last, w.start+int64(p.took)))
			p.hung, freed[key] = of.wait, state{of.wait, i}
		}
		if w.rest < cmp.Or(l.Was.RPCTimeout, replay.LongRelist) {
			quick = i
		}
	}
}

// failing bounds until when lists failed: one failed, none had been answered when PLEG
// was last reported unhealthy, and one had when PLEG recovered, or was healthy so long
// after that the failed one does not explain it.
func (l *Counterfactual) failing(w *load) (from, to int64) {
	from, to = w.end, math.MaxInt64
	for i := range l.node.Episodes {
		e := &l.node.Episodes[i]
		if over := cmp.Or(e.Recovered.At, e.LastReport); e.LastStart.At >= w.start || over < w.start {
			continue
		}
		if from = max(from, e.LastReport); e.Recovered.Known() {
			to = min(to, max(e.Recovered.At, from))
		}
	}
	threshold := int64(l.Was.Threshold)
	k := sort.Search(len(l.node.Health), func(k int) bool { return l.node.Health[k].To > w.end+threshold })
	for ; k < len(l.node.Health); k++ {
		if h := &l.node.Health[k]; h.State == replay.Healthy {
			to = min(to, max(h.From, w.end+threshold))
			break
		}
	}
	return from, max(from, to)
}

// loads divides the relists of known length: their longest one if late is set, else the
// shortest.
func loads(n *replay.Node, bs []blame.Blame, late bool) []load {
	divided := blame.ByRelist(bs)
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
		if _, known := r.Duration(); known && late {
			took += r.Slack()
		} else if known {
			took = max(took-r.Slack(), 1)
		}
		w := load{start: r.Start.At, end: r.Start.At + int64(took), slack: r.Start.Slack, rest: took, listFailed: r.FailedToList()}
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
	return implied(n, out, late)
}

// implied adds the relist whose list ended an episode: the next relist began a period
// after the last one ended, and the recovery shows when its list returned. Its two list
// calls cannot take longer than their timeouts; a longer time was several relists, of
// which nothing is known.
func implied(n *replay.Node, ls []load, late bool) []load {
	for i := range n.Episodes {
		e := &n.Episodes[i]
		if !e.Recovered.Known() {
			continue
		}
		recovered := e.Recovered.At
		if !late {
			recovered = max(e.Recovered.Earliest(), e.LastReport)
		}
		k := sort.Search(len(ls), func(k int) bool { return ls[k].start >= recovered }) - 1
		if k < 0 || ls[k].listFailed && ls[k].end-ls[k].start < int64(replay.LongRelist) {
			continue // refused: nothing tells of the last one
		}
		if ls[k].end < e.LastStart.At || e.StuckStep != replay.StepList && !ls[k].listFailed {
			continue
		}
		if l := &ls[k]; l.start > e.LastStart.At && l.end > e.Recovered.Earliest() {
			d := min(time.Duration(recovered-l.start)-l.list, l.rest) // its list returned when PLEG recovered
			l.list, l.rest = l.list+max(d, 0), l.rest-max(d, 0)
			continue
		}
		from := ls[k].end + int64(n.Kubelet.Period)
		took := time.Duration(recovered - from)
		if took > time.Second && took <= 2*n.Kubelet.CallTimeout()+e.Recovered.Slack {
			ls = slices.Insert(ls, k+1, load{start: from, end: recovered, list: took})
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

// Ask answers a what-if. It returns the simulated relists that had recorded work and
// whose length does not depend on what is not known, the least totals of the changed
// history, and the answer, which is nil if what changes nothing.
func (l *Counterfactual) Ask(what WhatIf) ([]*Relist, Totals, *Answer, error) {
	return l.ask(what, true)
}

// ask is Ask, but for the relists, which may be very many, unless they are wanted.
func (l *Counterfactual) ask(what WhatIf, relists bool) ([]*Relist, Totals, *Answer, error) {
	is, err := what.Profile(l.Was)
	if err != nil {
		return nil, Totals{}, nil, err
	}
	was := l.asItWas()
	out, would := l.runs(&what, is, relists)
	if what.Empty() {
		return out, would[0], nil, nil
	}
	blind, _ := l.blind(&what, is)
	a, b, same := storyOf(was...), storyOf(would...), true
	for i := range would {
		x, y := &was[i%2], &would[i]
		same = same && slices.EqualFunc(x.Unhealthy, y.Unhealthy, func(a, b Unhealthy) bool {
			return max(a.From-b.From, b.From-a.From, a.To-b.To, b.To-a.To) < int64(time.Millisecond)
		})
	}
	l.told(&a)
	b.onlyLeast = !slices.ContainsFunc(would, func(t Totals) bool { // in all it goes on at the end of the input
		k := len(t.Unhealthy) - 1
		return k < 0 || t.Unhealthy[k].To != 0
	})
	least := would[0]
	for i := range would {
		if len(would[i].Unhealthy) < len(least.Unhealthy) || would[i].UnhealthyTime() < least.UnhealthyTime() {
			least = would[i]
		}
	}
	least.AtLeast = b.least < b.most || b.illMost-b.ill > alike || blind > replay.LongRelist
	answer := answer(&what, l.Was, is, &a, &b, same, blind, l.assumptions(&what))
	answer.AtLeast = least.AtLeast
	return out, least, answer, nil
}

// told replaces the simulated health of the history without changes by what is known.
func (l *Counterfactual) told(s *story) {
	ills := l.node.Ills()
	if len(ills) == 0 || s.most == 0 {
		return
	}
	s.least, s.most, s.from = len(ills), len(ills), ills[0].From
	s.ill, s.illMost = l.node.UnhealthyTime(), l.node.UnhealthyTime()
	for i := range l.node.Episodes {
		e := &l.node.Episodes[i]
		s.ill = max(s.ill-e.Recovered.Slack, 0)
		s.onlyLeast = s.onlyLeast || !e.Recovered.Known()
	}
}

// runs simulates the changes, once with all that is not known as short as it may have
// been, and once as long. If relists are further apart than they were, each may have
// begun at any moment: the long ones are also met at their start. It returns the relists
// that all runs have in common, if they are wanted.
func (l *Counterfactual) runs(what *WhatIf, is pleg.Profile, relists bool) ([]*Relist, []Totals) {
	starts := []time.Duration{0}
	for i := range l.loads {
		if w := &l.loads[i]; is.Period > l.Was.Period && w.end-w.start >= int64(replay.LongRelist) && len(starts) < startsMost {
			starts = append(starts, time.Duration(w.start-l.loads[0].start)%is.Period)
		}
	}
	var common []*Relist
	var out []Totals
	for _, start := range slices.Compact(starts) {
		for _, late := range []bool{false, true} {
			rs, t := l.run(what, is, late, start, relists)
			if out = append(out, t); len(out) == 1 {
				common = rs
				continue
			}
			common = slices.DeleteFunc(common, func(a *Relist) bool {
				k := sort.Search(len(rs), func(k int) bool { return rs[k].Start > a.Start-int64(alike) })
				if k == len(rs) || rs[k].Start-a.Start > int64(alike) || time.Duration(rs[k].End-a.End).Abs() > alike || rs[k].OK() != a.OK() {
					return true
				}
				a.Part, a.Slack = true, max(a.Slack, time.Duration(rs[k].End-a.End).Abs())
				return false
			})
		}
	}
	for _, r := range common { // in the middle of what is possible
		r.Slack = (r.Slack + 1) / 2
		r.End += int64(r.Slack)
	}
	return common, out
}

// startsMost bounds how many starts runs tries.
const startsMost = 9

// alike is by how much relists of two runs may differ that count as one.
const alike = 100 * time.Millisecond

// Unproven returns why the input does not prove enough about the relists to answer a
// what-if, and what input would; "" if it does.
func (l *Counterfactual) Unproven(what *WhatIf) (why, wanted string) {
	wanted = "a kubelet log with -v=4 or more around the incident, or recorded relists (plegforensics/snapshots/v1), would tell"
	if len(l.loads) == 0 {
		return "the input proves no relist of known length", wanted
	}
	was := l.asItWas()
	known := l.node.UnhealthyTime()
	if told := was[0].UnhealthyTime(); told-known > known/10+5*time.Second {
		return "the relists of known length are too few: what ran between them is not known", wanted
	}
	if told := was[1].UnhealthyTime(); known-told > known/10+5*time.Second || told == 0 && known > 0 {
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
func (l *Counterfactual) asItWas() []Totals {
	if l.recorded == nil {
		_, l.recorded = l.runs(&WhatIf{}, l.Was, false)
	}
	return l.recorded
}

// assumptions lists the assumptions of an answer.
func (l *Counterfactual) assumptions(what *WhatIf) []string {
	out := []string{
		fmt.Sprintf("between the relists that the log proves, relists ran quietly and took %s each", parse.Short(l.quiet)),
		"no listings were recognized: events are not replayed",
	}
	var rest time.Duration
	for i := range l.loads {
		if l.loads[i].end-l.loads[i].start >= int64(replay.LongRelist) {
			rest += l.loads[i].rest
		}
	}
	if rest > time.Second && what.reschedules() {
		out = append(out, fmt.Sprintf("%s of the long relists belong to no known call or pod: they are bounded as if the change touched all of that, and as if it touched none", parse.Short(rest)))
	}
	return append(out, assumeChanges(what)...)
}

// ListsFailed is the error of a relist that is only known to have failed.
const ListsFailed = "the list calls failed"

// maxCounterfactualRelists bounds a simulation of a long time range.
const maxCounterfactualRelists = 1 << 22

// run simulates the recorded time with the changes applied. A relist that meets a
// recorded one has its work to do. Calls that timed out still do as long as they may;
// apart from that, relists are quiet. It begins after the first recorded relist by the
// given time. It returns the relists if they are wanted.
func (l *Counterfactual) run(what *WhatIf, p pleg.Profile, late bool, after time.Duration, relists bool) ([]*Relist, Totals) {
	var t Totals
	var out []*Relist
	loads := l.least
	if late {
		loads = l.loads
	}
	if len(loads) == 0 {
		return nil, t
	}
	now, end := loads[0].start+int64(after), loads[len(loads)-1].end
	end = max(end, min(loads[len(loads)-1].fails.until(late), l.node.Window.End))
	if w := cmp.Or(l.node.Window.Lines.To, l.node.Window.End); w > end { // so that the relist after the last one shows the recovery
		end = min(w, end+3*int64(p.Period))
	}
	lastSeen := int64(0)
	if after > 0 {
		lastSeen = loads[0].start // at the latest
	}
	as, p := p, l.at(now, what, p)
	h := health{threshold: p.Threshold, lastSeen: lastSeen}
	var open []*podLoad // whose last call timed out
	ill := func() bool { return h.open != nil && now <= l.node.Window.End }
	for i, first, n := 0, true, 0; (now <= end || ill()) && n < maxCounterfactualRelists; n++ {
		for i+1 < len(loads) && loads[i+1].start <= now {
			i, first = i+1, true
		}
		p = l.at(now, what, as)
		h.threshold = p.Threshold
		list, took := l.quiet, l.quiet
		w := &loads[i]
		busy, failed := first || now < max(w.end, w.fails.until(late)) || len(open) > 0, false
		if busy {
			v := visit{what: what, was: &l.Was, is: &p, load: w, now: now, first: first, late: late, quiet: l.quiet}
			list, took, failed, open = v.lengths(open)
			if took = max(took, list); !first {
				took = max(took, l.quiet)
			}
			if d := time.Duration(now + int64(took) - w.end); first && d.Abs() <= max(p.Period/2, w.slack) {
				open = nil // it goes on as it did
			}
			first = false
		}
		ended := now + int64(took)
		if lastSeen != 0 {
			t.Interval.observe(time.Duration(now - lastSeen))
		}
		r := Relist{Start: now, End: ended, Pods: -1}
		if failed {
			r.ListErr = ListsFailed
			h.failed(now)
		} else {
			lastSeen = now
			h.listed(now, now+int64(list))
		}
		r.LastSeen = lastSeen
		_, r.Healthy = pleg.Healthy(lastSeen, ended, p.Threshold)
		if t.count(&r); busy {
			if relists {
				kept := r
				out = append(out, &kept)
			}
		} else if k := l.idle(loads, now, i, end, &h, p.Period); k > 0 {
			step := int64(l.quiet + p.Period)
			t.Duration.observeMany(l.quiet, k)
			t.Interval.observeMany(time.Duration(step), k)
			n += k
			now += int64(k) * step
			lastSeen, ended = now, now+int64(l.quiet)
			h.lastSeen = now
		}
		now = next(loads, ended, p.Period, i, busy)
		if k := slices.IndexFunc(l.fell, func(f replay.Span) bool {
			return ended < f.From && f.From < now && l.at(f.From, what, as).Period < p.Period
		}); k >= 0 {
			now = l.fell[k].From // the generic generator starts over
		}
	}
	t.To = max(end, now)
	t.Unhealthy = h.finish(min(now, max(end, l.node.Window.End)))
	return out, t
}

// idle returns how many quiet relists in a row follow the quiet one at now, not
// counting those close to the next recorded relist or to the end. run skips them,
// because a healthy kubelet stays healthy throughout.
func (l *Counterfactual) idle(loads []load, now int64, i int, end int64, h *health, period time.Duration) int {
	step := int64(l.quiet + max(period, time.Millisecond))
	if h.open != nil || period < time.Millisecond || step > int64(h.threshold)/2 {
		return 0
	}
	if i+1 < len(loads) {
		end = min(end, loads[i+1].start)
	}
	return int(max((end-now)/step-3, 0))
}

// next returns the start of the following relist. The schedule aligns with the recorded
// one if that is less than a period away, or may be for all that is known of its start.
func next(loads []load, ended int64, period time.Duration, i int, busy bool) int64 {
	at := ended + int64(max(period, time.Millisecond))
	if i+1 < len(loads) {
		start := loads[i+1].start
		early := start - int64(min(loads[i+1].slack, 2*period))
		if at > start && start >= ended && !busy || max(at-start, early-at) < int64(period)/2 && start > ended {
			return start
		}
	}
	return at
}

// visit is a relist of the changed history at the time of a recorded one, or after it.
type visit struct {
	what    *WhatIf
	was, is *pleg.Profile
	load    *load
	now     int64
	first   bool // no relist has done the work of the recorded one yet
	late    bool // what is not known lasts as long as it may
	quiet   time.Duration
}

// lengths returns how long the list and all of the relist take, whether its list fails,
// and the pods whose last call times out. open are those of the relist before.
func (v *visit) lengths(open []*podLoad) (list, total time.Duration, failed bool, stuck []*podLoad) {
	w := v.load
	list, failed = v.listing()
	var jobs []time.Duration
	at := v.now + int64(list)
	inspect := func(p *podLoad, calls int, free, each, least time.Duration) {
		job, answered := free, false
		for range calls {
			var d time.Duration
			if d, answered = p.hung.run(at+int64(job), each, least, v.late); answered {
				job += d
				break
			}
			job += d
		}
		if !answered && calls > 0 {
			stuck = append(stuck, p)
		}
		if jobs = append(jobs, job); v.is.Parallel <= 1 { // a pod is inspected serially
			at += int64(job)
		}
	}
	if failed {
		return list, list, true, open
	}
	for _, p := range open {
		if v.first && slices.ContainsFunc(w.pods, func(q podLoad) bool { return q.uid == p.uid && q.name == p.name }) {
			continue
		}
		each := v.is.RPCTimeout
		if v.what.RPCTimeout == 0 {
			each = p.each(v.was)
		}
		inspect(p, 1+v.twice(v.is), 0, each, 0)
	}
	for i := range w.pods {
		p := &w.pods[i]
		if !v.first || v.what.drops(p.uid, p.name) {
			continue
		}
		each := p.each(v.was)
		least, free := each, v.what.scaled(p.took-time.Duration(p.stuck)*each)
		if v.what.RPCTimeout > 0 {
			each = v.is.RPCTimeout
		}
		calls := p.stuck // kubelets up to 1.31 inspect a failed pod twice
		switch a, b := v.twice(v.was), v.twice(v.is); {
		case a > b:
			calls = (calls + 1) / 2
		case a < b:
			calls *= 2
		}
		inspect(p, calls, free, each, min(least, each))
	}
	rest := v.rest()
	if !v.late && v.is.Parallel > v.was.Parallel {
		jobs, rest = append(jobs, rest), 0
	}
	return list, list + parallel(jobs, v.is.Parallel) + rest, false, stuck
}

// rest returns how much of the time that belongs to no known call would have remained:
// all of it may have been due to what is changed, and nothing of it.
func (v *visit) rest() time.Duration {
	rest, was, is := v.load.rest, v.was.RPCTimeout, v.is.RPCTimeout
	switch {
	case !v.first:
		return 0
	case rest < replay.LongRelist:
		return rest
	case !v.late && (v.now >= v.load.end || len(v.what.Without) > 0 || v.twice(v.was) > v.twice(v.is)):
		return 0
	case !v.late && v.what.RPCTimeout > 0:
		return min(rest, is)
	case !v.late:
		return min(rest, v.what.scaled(rest))
	case was > 0 && is > was && v.what.RPCTimeout > 0:
		rest += rest / was * (is - was)
	}
	return max(rest, v.what.scaled(rest)) * time.Duration(1+max(v.twice(v.is)-v.twice(v.was), 0))
}

// listing returns how long the list takes, and whether it fails. After the end of the
// recorded relist nothing is known to make it slow.
func (v *visit) listing() (list time.Duration, failed bool) {
	w := v.load
	switch {
	case v.now >= max(w.end, w.fails.until(v.late)):
		return v.quiet, false
	case w.listFailed && w.listStuck:
		timeout, least := w.list, time.Duration(0)
		if v.what.RPCTimeout > 0 {
			timeout = v.is.RPCTimeout
		}
		if v.first && v.now < w.end {
			least = min(w.list, timeout)
		}
		if !v.late { // nothing was answered before the recorded call timed out
			least = min(least, max(time.Duration(w.start-v.now)+w.list, 0))
		}
		list, answered := w.fails.run(v.now, timeout, least, v.late)
		return list, !answered
	}
	if list = v.what.scaled(w.list); w.waited && v.late {
		list = max(list, w.list)
	}
	if (!v.first || w.waited) && !v.late && !w.listFailed { // it waits for what the recorded one waited for
		list = min(list, max(time.Duration(w.start-v.now)+list, v.quiet))
	}
	return list, w.listFailed
}

// twice returns 1 if a kubelet inspects a pod again in the relist after one in which
// that failed.
func (v *visit) twice(p *pleg.Profile) int {
	if p.Has(pleg.InspectTwice) {
		return 1
	}
	return 0
}

// each returns how long one call that timed out took.
func (p *podLoad) each(was *pleg.Profile) time.Duration {
	each := p.took / time.Duration(max(p.stuck, 1))
	if was.RPCTimeout > 0 {
		each = min(each, was.RPCTimeout)
	}
	return each
}

func (w *WhatIf) scaled(d time.Duration) time.Duration {
	if w.Latency > 0 {
		return time.Duration(float64(d) * w.Latency)
	}
	return d
}
