package rules

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// incidentSubject returns the subject for a node where PLEG never passed its threshold but
// something failed. Only evidence during or shortly before such a failure counts.
func incidentSubject(v *view) *subject {
	return &subject{view: v, spans: v.incidents()}
}

// slowRelist is the duration from which a relist is an incident by itself.
const slowRelist = replay.LongRelist

// incidents returns the periods in which something failed that a cause could explain: slow
// relists, runtime calls that hung or were refused, a runtime that is down, a kubelet that
// could not start, a NotReady node. It returns nil if there are none.
func (v *view) incidents() []replay.Span {
	var all []replay.Span
	add := func(from, to int64) { // failures are sorted, and most follow each other closely
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
		case hung(f):
			add(f.End()-int64(v.n.Kubelet.CallTimeout()), f.End())
		case gone(f):
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

// began returns when the first hung call or the last good relist began, whichever is
// earlier, or without an episode the start of the first incident; 0 if nothing failed.
func (s *subject) began() int64 {
	switch {
	case s.ep == nil && len(s.spans) == 0:
		return 0
	case s.ep == nil:
		return s.spans[0].From
	}
	at := s.ep.LastStart.At
	for _, f := range s.within(s.fails) {
		if f.Start.Known() && hung(f) && f.Start.At > s.from+lookBack-10*minute {
			at = min(at, f.Start.At)
		}
	}
	return at
}

// longOf returns the duration of a relist, or 0 if its end is unknown.
func longOf(r *replay.Relist) time.Duration {
	d, _ := r.Duration()
	return d
}

// joined merges spans at most a minute apart and sorts them. It modifies all.
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

// inIncident reports whether a time lies in one of the spans or within lookBack before it.
func (s *subject) inIncident(at int64) bool {
	return slices.ContainsFunc(s.spans, func(i replay.Span) bool { return at >= i.From-lookBack && at <= i.To })
}
