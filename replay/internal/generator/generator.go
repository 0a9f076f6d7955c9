// Package generator determines which PLEG, the generic or the evented one, relists in each process, and with it which
// threshold holds when.
package generator

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// Generator says which PLEG relists in a process that may run evented PLEG, as in kubelets up to 1.36. Evented
// PLEG gives up its stream after it broke pleg.MaxStreamAttempts times; from then on generic PLEG relists as usual.
type Generator struct {
	Sure int64 // until when evented PLEG is certain to relist
	Fell int64 // since when generic PLEG is certain to relist, 0 if never
}

// Quick reports whether count relists that ended within d are more than evented PLEG begins: one in each
// EventedPeriod, and one more whenever its stream breaks.
func Quick(count int, d time.Duration) bool {
	return count > pleg.MaxStreamAttempts+2+int(d/pleg.EventedPeriod)
}

// All holds one Generator per run; it is nil if only generic PLEG can relist.
type All []Generator

// Of returns the Generator of a run, or the zero value if nothing is known.
func (all All) Of(run int) Generator {
	if run < 0 || run >= len(all) {
		return Generator{}
	}
	return all[run]
}

// Limit returns, for a relist that listed pods and began at start, until when it keeps PLEG healthy (well) and
// from when on PLEG is unhealthy if no later relist has listed (ill), in Unix ns. The two differ if the
// threshold in force is not known.
func (g Generator) Limit(k *kubelet.Profile, start int64) (well, ill int64) {
	least, most := start+int64(k.Threshold), start+int64(k.Threshold)
	if k.ThresholdSet || k.PLEG != kubelet.PLEGUnknown && !k.EventedSends() {
		return least, most
	}
	least, most = min(least, start+int64(pleg.Threshold)), max(most, start+int64(pleg.EventedThreshold))
	well, ill = min(most, max(least, g.Sure)), most
	if g.Fell != 0 {
		ill = min(most, max(least, g.Fell))
	}
	return well, ill
}

// Thresholds returns the smallest and the largest threshold that may be in force in an interval.
func (g Generator) Thresholds(k *kubelet.Profile, in host.Span) (least, most time.Duration) {
	a, b := Generator{}.Limit(k, 0)
	if g.Fell != 0 && in.From >= g.Fell {
		b = a
	}
	if in.To <= g.Sure {
		a = b
	}
	return time.Duration(a), time.Duration(b)
}

// see records that evented PLEG still relisted at a moment of a run, or that generic PLEG relists from then on (fell).
func (all All) see(run int, at int64, fell bool) {
	switch {
	case run < 0 || at == 0:
	case !fell:
		all[run].Sure = max(all[run].Sure, at)
	case all[run].Fell == 0 || at < all[run].Fell:
		all[run].Fell = at
	}
}

// Of determines for each run which PLEG relists. The fallback itself is logged at verbosity 4 only, but
// each stream error is logged at any verbosity, so both show in a complete log. They also show in the metrics
// and in the threshold that reports state.
func Of(s *kubelet.Log, k *kubelet.Profile, w *kubelet.Witness, series []*parse.Series) All {
	evented := k.EventedSends()
	if k.PLEG != kubelet.PLEGUnknown && !evented {
		return nil
	}
	out := make(All, len(s.Runs))
	for run, on := range k.Gates {
		if !on && run >= 0 {
			out.see(run, s.Runs[run].First, true)
		}
	}
	out.byLines(s)
	out.byMetrics(s, series)
	if !evented {
		out.byPace(s.Marks)
	}
	for run := range out {
		r, g := &s.Runs[run], &out[run]
		out.see(run, w.Quick(run), true)
		if w.Trusts(run) && r.Loop != 0 {
			whole := r.Last
			for _, h := range w.Holes {
				if h.To > r.Loop {
					whole = min(whole, h.From)
				}
			}
			out.see(run, whole, false)
		}
		if !evented {
			g.Sure = 0
		}
		if g.Fell != 0 {
			g.Sure = min(g.Sure, g.Fell)
		}
	}
	return out
}

// byLines uses the lines about the stream and the fallback, and the thresholds that reports state.
func (all All) byLines(s *kubelet.Log) {
	broke := make([]int, len(s.Runs))
	for _, x := range s.Fallbacks {
		if x.Run >= 0 && x.Line.(*parse.Event).Is(parse.SigStream) {
			if broke[x.Run]++; broke[x.Run] != pleg.MaxStreamAttempts {
				continue
			}
		}
		all.see(x.Run, x.At, false)
		all.see(x.Run, x.At, true)
	}
	for _, a := range s.Ages {
		if a.Limit == pleg.EventedThreshold || a.Limit == pleg.Threshold {
			all.see(a.Run, a.At, a.Limit == pleg.Threshold)
		}
	}
}

// byMetrics uses the number of times that the stream broke.
func (all All) byMetrics(s *kubelet.Log, series []*parse.Series) {
	for _, m := range series {
		if m.Name != "kubelet_evented_pleg_connection_error_count" {
			continue
		}
		for pt := range m.Samples() {
			if fell := pt.V >= pleg.MaxStreamAttempts; fell {
				all.see(s.RunAt(pt.At), pt.At+int64(time.Second), true) // the sample may be later than its timestamp
			} else {
				all.see(s.RunAt(pt.At), pt.At, false)
			}
		}
	}
}

// byPace is for kubelets of which it is not known that evented PLEG is on: the first pause of one period shows that
// generic PLEG relists.
func (all All) byPace(marks []kubelet.Mark) {
	last := make([]int64, len(all))
	for i := range marks {
		if m := &marks[i]; m.Run >= 0 && m.Kind == host.KindRelisting {
			if m.At-last[m.Run] <= int64(kubelet.QuickMost) {
				all.see(m.Run, m.At, true)
			}
			last[m.Run] = m.At
		}
	}
}
