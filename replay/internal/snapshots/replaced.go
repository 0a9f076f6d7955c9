package snapshots

import (
	"math"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// Replaced lists the times of the last snapshots of processes that were replaced, in
// order.
type Replaced []int64

// Replacements finds the replaced processes in proofs.
func Replacements(proofs []Proof) (out Replaced) {
	for i := range proofs {
		if p := &proofs[i]; p.Kind == ProofRestart {
			out = append(out, p.From)
		}
	}
	slices.Sort(out)
	return out
}

// Until limits a claim that was made at a time about the current process and holds
// until to. The claim ends at the last snapshot of that process, which may have exited
// right after it.
func (r Replaced) Until(at, to int64) int64 {
	if i, _ := slices.BinarySearch(r, at); i < len(r) {
		return min(to, r[i])
	}
	return to
}

// Mixed is why snapshots cannot be of one kubelet process after the other, and two samples that show it.
type Mixed struct {
	Why        string
	One, Other *parse.Sample
}

// WithoutMixed returns the series without those of an exporter whose snapshots are of more than one kubelet, as of
// two nodes that nothing names. No step from one of these snapshots to the next means anything. The second result
// is nil if there are none.
func WithoutMixed(series []*parse.Series) (left []*parse.Series, _ *Mixed) {
	own := func(s *parse.Series) func(*parse.Series) bool {
		return func(x *parse.Series) bool { return x.Job == s.Job && x.Label("job") == s.Label("job") }
	}
	for _, s := range series {
		if s.Name == "process_start_time_seconds" && ofKubelet(s) {
			if one, other := together(s, lastSeen(series, own(s))); one != nil {
				return slices.DeleteFunc(slices.Clone(series), own(s)),
					&Mixed{"the metrics are of two kubelet processes that ran at the same time, of two nodes or of two kubelets", one, other}
			}
		}
	}
	for _, s := range series {
		if s.Name == relistMetrics[0].duration+"_count" || s.Name == relistMetrics[1].duration+"_count" {
			if one, other := outrun(s); one != nil {
				return slices.DeleteFunc(slices.Clone(series), own(s)),
					&Mixed{"more relists ended between two snapshots than one kubelet has time for: the metrics are of several, or their times are wrong", one, other}
			}
			if !severalFiles(s) {
				continue
			}
			if one, other := unnamed(slices.DeleteFunc(slices.Clone(series), func(x *parse.Series) bool { return !own(s)(x) })); one != nil {
				return slices.DeleteFunc(slices.Clone(series), own(s)),
					&Mixed{"fewer relists are counted, or less time for them, than in another snapshot, and neither names its node or when its process began: the kubelet was restarted, or they are of two", one, other}
			}
		}
	}
	return series, nil
}

// lastSeen returns the last relists that the gauge names, by the time of the sample.
func lastSeen(series []*parse.Series, own func(*parse.Series) bool) map[int64]float64 {
	seen := map[int64]float64{}
	for _, x := range series {
		if x.Name == "kubelet_pleg_last_seen_seconds" && own(x) {
			for p := range x.Samples() {
				seen[p.At] = p.V
			}
		}
	}
	return seen
}

// outrun returns two consecutive samples of a count of relists between which more of them ended than one kubelet
// has time for: each begins leastPause or more after the one before. A process that took the place of another one
// began after the first of the samples, and counts from 0.
func outrun(s *parse.Series) (one, other *parse.Sample) {
	var last parse.Point
	for p := range s.Samples() {
		if math.IsNaN(p.V) || p.Src.Basis == parse.NoTime || p.Src.Basis == parse.LowerBound {
			continue
		}
		if ended := p.V - last.V; last.Src != nil {
			if ended < 0 {
				ended = p.V
			}
			if ended > relistsMore+float64(By(p.At)-last.At)/float64(leastPause) {
				return s.Cite(p), s.Cite(last)
			}
		}
		last = p
	}
	return nil, nil
}

func severalFiles(s *parse.Series) bool {
	var file *parse.File
	for p := range s.Samples() {
		if file != nil && p.Src.File != file {
			return true
		}
		file = p.Src.File
	}
	return false
}

// unnamed returns the counts of relists in two consecutive snapshots that one process cannot have counted, from two files
// of which neither names its node or states when its process began.
func unnamed(series []*parse.Series) (one, other *parse.Sample) {
	shots, _ := shotsOf(series, relistMetrics)
	for i := 1; i < len(shots); i++ {
		a, b := shots[i-1], shots[i]
		p, q := a.rec["count"], b.rec["count"]
		if p.Src.File != q.Src.File && p.Src.Node == "" && q.Src.Node == "" && !(a.start > 0) && !(b.start > 0) && restarted(a, b) {
			return q, p
		}
	}
	return nil, nil
}

// together returns a sample of a process start and one of another process that ran at the same time: a later
// sample has the other start again, or the process had started well before the last relist that the other one
// saw, by the clock of the node. seen holds these relists by the time of the sample.
func together(s *parse.Series, seen map[int64]float64) (one, other *parse.Sample) {
	var last parse.Point // of the current process
	var starts []float64 // of the processes before
	var most parse.Point // sample of these with the latest relist
	for p := range s.Samples() {
		switch {
		case math.IsNaN(p.V) || p.Src.Basis == parse.NoTime:
			continue
		case last.Src == nil || math.Abs(p.V-last.V) <= sameStart:
		case slices.ContainsFunc(starts, func(v float64) bool { return math.Abs(v-p.V) <= sameStart }):
			return s.Cite(p), s.Cite(last)
		default:
			if starts = append(starts, last.V); seen[last.At] > seen[most.At] {
				most = last
			}
			if seen[most.At] > p.V+clockStep {
				return s.Cite(p), s.Cite(most)
			}
			if len(starts) > maxStarts {
				return nil, nil
			}
		}
		last = p
	}
	return nil, nil
}

const (
	// sameStart is the most in seconds by which two readings of the start of one process differ: it is reckoned
	// from the time of the boot, which is rounded.
	sameStart = 1.5
	// clockStep is the most in seconds by which a clock is set back unnoticed.
	clockStep = 60
	// leastPause is the pause of the generic PLEG after a relist, in ns; the evented PLEG pauses longer.
	leastPause = int64(950e6)
	// relistsMore allows for relists that are forced, for those that run at both samples, and for a scrape that is
	// dated a few seconds off.
	relistsMore = 20
	// maxStarts bounds the restarts among which together looks for two processes.
	maxStarts = 1000
)
