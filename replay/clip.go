package replay

import "slices"

// Clip drops what ended before since and what began after until, in Unix ns; 0
// leaves that side open. It clips what is reported, not what was concluded:
// a breach inside the window keeps the proof that lies before it.
func (n *Node) Clip(since, until int64) {
	out := func(from, to int64) bool {
		if to == 0 {
			to = from
		}
		return since != 0 && to != 0 && to < since || until != 0 && from != 0 && from > until
	}
	n.Episodes = slices.DeleteFunc(n.Episodes, func(e Episode) bool {
		return out(max(e.Breach, e.LastStart.At), max(e.Recovered.At, e.LastReport))
	})
	n.Relists = slices.DeleteFunc(n.Relists, func(r Relist) bool { return out(r.Start.At, r.End.At) })
	n.Bounded = slices.DeleteFunc(n.Bounded, func(b Bounded) bool { return out(b.From, b.To) })
	n.Health = slices.DeleteFunc(n.Health, func(h HealthSpan) bool { return out(h.From, h.To) })
	n.Ready = slices.DeleteFunc(n.Ready, func(r ReadyChange) bool { return out(r.At, r.At) })
	n.Gaps = slices.DeleteFunc(n.Gaps, func(g LogGap) bool { return out(g.From, g.To) })
	n.Lags = slices.DeleteFunc(n.Lags, func(l LogLag) bool { return out(l.At, l.At) })
	n.Failures = slices.DeleteFunc(n.Failures, func(f Failure) bool { return out(f.Start.At, f.End) })
	n.Observed = n.Observed.Without(func(e PodEvent) bool { return out(e.At, e.At) })
	n.Audit.Events = n.Audit.Events.Without(func(e PodEvent) bool { return out(e.At, e.At) })
	n.Window.Start = max(n.Window.Start, since)
	if until != 0 {
		n.Window.End = min(n.Window.End, until)
	}
}
