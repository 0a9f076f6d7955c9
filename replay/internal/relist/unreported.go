package relist

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// unreported returns the episodes that the relists prove although no line reports them: a sync loop that is
// itself blocked checks nothing. Only a log at verbosity 5, where every relist has its own line, proves them.
func (w *episodeBuilder) unreported(relists []Relist, known []Episode) []Episode {
	var out []Episode
	last := map[int]int{} // index of the last relist that listed pods, by run
	for i := range relists {
		r := &relists[i]
		switch {
		case r.Listed != nil && !*r.Listed:
			continue
		case r.Run < 0:
			clear(last) // it may have listed pods in any run
			continue
		case !r.Own() || r.Listed == nil:
			delete(last, r.Run)
			continue
		}
		if p, ok := last[r.Run]; ok {
			if e, ok := w.between(relists[p : i+1]); ok && !coincides(known, &e) {
				out = append(out, e)
			}
		}
		last[r.Run] = i
	}
	return out
}

// between makes an episode of two consecutive relists that listed pods, the first and last of all, if the second had not
// listed by a threshold after the first began.
func (w *episodeBuilder) between(all []Relist) (Episode, bool) {
	p, r := &all[0], &all[len(all)-1]
	_, breach := w.n.Limit(p.Run, p.Start.Latest())
	visible := max(r.Start.At, r.ListEnd.Earliest()) // the list call cannot have returned earlier
	if visible <= breach || !w.log.Whole(p.Start.At, visible) || !w.log.Trusts(p.Run) {
		return Episode{}, false
	}
	if t := w.cover.Next(p.Run, p.Start.At+(breach-p.Start.At)/2); t == 0 || t > visible {
		return Episode{}, false // a silent process may have been suspended together with its clock
	}
	var ran []host.Span
	for i := range all {
		if x := &all[i]; x.Run == p.Run {
			ran = append(ran, host.Span{From: x.Start.At, To: max(x.Start.At, x.End.Earliest(), x.ListEnd.Earliest())})
		}
	}
	if !w.n.alone(p.Run, p.Start, visible, ran) {
		return Episode{}, false // another relist may have listed pods in between
	}
	e := Episode{Run: p.Run, LastStart: p.Start, LastStarts: []host.Instant{p.Start}, Breach: breach, Threshold: time.Duration(breach - p.Start.Latest()),
		Recovered: host.Instant{At: visible, Slack: r.Start.Slack}, RecoveredBasis: "start of the next relist that listed pods",
		Evidence: []host.Evidence{{Record: p.Evidence[0].Record, Note: "the last relist that listed pods began here"},
			{Record: r.Evidence[0].Record, Note: fmt.Sprintf("the next one that did, %s later", time.Duration(r.Start.At-p.Start.At).Round(time.Second))}}}
	switch {
	case r.ListEnd.Known():
		e.Recovered, e.RecoveredBasis = host.Instant{At: r.ListEnd.At + int64(r.ListEnd.Slack), Slack: 2 * r.ListEnd.Slack}, "a relist listed pods"
	case r.End.Known():
		e.Recovered, e.RecoveredBasis = host.Instant{At: r.End.Latest(), Slack: time.Duration(r.End.Latest() - visible)}, "a relist that listed pods ended"
	}
	e.LastReport = breach // only bounds the search for symptoms
	w.step(&e, nil)
	e.LastReport = 0
	return e, true
}

// coincides reports whether e overlaps one of the episodes known from lines, which are disjoint and sorted by
// breach.
func coincides(known []Episode, e *Episode) bool {
	i, _ := slices.BinarySearchFunc(known, e.Breach, func(k Episode, at int64) int { return cmp.Compare(k.Breach, at) })
	for _, k := range known[max(i-2, 0):min(i+2, len(known))] {
		if end := cmp.Or(k.Recovered.At, max(k.LastReport, k.Breach)); k.Run == e.Run && k.Breach <= e.Recovered.At && e.Breach <= end {
			return true
		}
	}
	return false
}
