package replay

import "time"

// LongRelist is the length from which a relist is blamed on something: the
// last finite bucket of the relist histograms, beyond which the metrics no
// longer tell one length from another.
const LongRelist = 10 * time.Second

// Lasted is how long the relist with index i took, from start to end; one that
// hung lasted at least to the last line that speaks of its run. It is 0 and
// false when the start is not known, false when the end is not: then the
// duration is a lower bound.
func (n *Node) Lasted(i int) (took time.Duration, ended bool) {
	r := &n.Relists[i]
	if d, ok := r.Duration(); ok || r.Outcome != OutcomeHung || !r.Start.Known() {
		return d, ok
	}
	end := n.Window.End
	for k := range n.Runs {
		if run := &n.Runs[k]; k == r.Run && run.Last != 0 {
			end = run.Last
		}
	}
	return max(time.Duration(end-r.Start.At), 0), false
}
