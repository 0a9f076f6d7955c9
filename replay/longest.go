package replay

import "time"

// LongestRelist returns the length of the longest relist of known length, and how long any relist took at most;
// most is negative if nothing bounds it.
func (n *Node) LongestRelist() (least, most time.Duration) {
	for i := range n.Relists {
		if d, ok := n.Relists[i].Duration(); !ok {
			most = -1
		} else if least = max(least, d); most >= 0 {
			most = max(most, d)
		}
	}
	for _, b := range n.Bounded {
		d := time.Duration(b.To - b.From)
		if b.Counted {
			d = b.Sum
			if b.Long == 0 {
				d = min(d, LongRelist)
			}
		}
		if most >= 0 && b.CountMax != 0 {
			most = max(most, d)
		}
	}
	if k := len(n.Relists) - 1; k >= 0 {
		if _, ok := n.Relists[k].Duration(); !ok {
			return least, -1 // it may go on after the input
		}
	}
	switch limit := n.Kubelet.Threshold; {
	case len(n.Health) == 0 || len(n.Untold()) > 0:
		return least, -1
	case len(n.Episodes) == 0 && n.ProvenUnhealthy() == 0 && limit >= least && (most < 0 || most > limit):
		return least, limit // a longer one makes PLEG unhealthy
	}
	return least, most
}
