package rules

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// incidentSubject asks about the node where PLEG never passed its threshold, but
// something failed: only what stands in or shortly before such a time explains it.
func incidentSubject(v *view) *subject {
	return &subject{view: v, spans: v.incidents()}
}

// slowRelist is the length from which a relist is an incident by itself.
const slowRelist = replay.LongRelist

// incidents are the times in which something failed that a cause could explain:
// slow relists, runtime calls that hung or were refused, a runtime that is down, a
// kubelet that could not start, a node that is NotReady. nil where the input shows none.
func (v *view) incidents() []replay.Span {
	var all []replay.Span
	add := func(from, to int64) { // failures come in order, mostly each at once after the one before
		if k := len(all) - 1; k >= 0 && from >= all[k].From && from <= all[k].To+minute {
			all[k].To = max(all[k].To, to)
			return
		}
		all = append(all, replay.Span{From: from, To: to})
	}
	for _, t := range nodeSubject(v).slowTimes() {
		add(t.from, t.to)
	}
	for _, f := range v.fails {
		switch {
		case hung(f.Failure):
			add(f.End()-int64(v.n.Kubelet.CallTimeout()), f.End())
		case gone(f.Failure):
			add(f.End(), f.End())
		}
	}
	for _, id := range []string{parse.SigStatusDown, "kube.startfail"} {
		for _, e := range v.sig(id) {
			add(e.At, e.At)
		}
	}
	for i, c := range v.n.Ready {
		if c.Ready {
			continue
		}
		to := v.n.Window.End
		if i+1 < len(v.n.Ready) {
			to = v.n.Ready[i+1].At
		}
		add(c.At, to)
	}
	return joined(all)
}

// began is when the first of the calls that failed began, or the first relist that
// took long; 0 if nothing failed.
func (s *subject) began() int64 {
	switch {
	case s.ep == nil && len(s.spans) == 0:
		return 0
	case s.ep == nil:
		return s.spans[0].From
	}
	at := s.ep.LastStart.At
	for _, f := range s.within(s.fails) {
		if f.Start.Known() && hung(f.Failure) && f.Start.At > s.from+lookBack-10*minute {
			at = min(at, f.Start.At)
		}
	}
	return at
}

// longOf is how long a relist took, 0 if its end is not known.
func longOf(r *replay.Relist) time.Duration {
	d, _ := r.Duration()
	return d
}

// joined puts spans that touch or nearly do into one, oldest first.
func joined(all []replay.Span) []replay.Span {
	slices.SortFunc(all, func(a, b replay.Span) int { return cmp.Compare(a.From, b.From) })
	out := all[:0]
	for _, s := range all {
		if n := len(out); n > 0 && s.From <= out[n-1].To+minute {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// inIncident reports whether a moment lies in one of the spans or so little before
// it that it may be its cause.
func (s *subject) inIncident(at int64) bool {
	return slices.ContainsFunc(s.spans, func(i replay.Span) bool { return at >= i.From-lookBack && at <= i.To })
}
