package snapshots

import "slices"

// Replaced are the times of the last snapshots of processes that were replaced, in order.
type Replaced []int64

// Replacements finds them among what the metrics prove.
func Replacements(proofs []Proof) (out Replaced) {
	for i := range proofs {
		if p := &proofs[i]; p.Kind == ProofRestart {
			out = append(out, p.From)
		}
	}
	slices.Sort(out)
	return out
}

// Until cuts a claim about the process of a time: what it showed there says nothing of
// the time after its last snapshot, right after which it may have ended.
func (r Replaced) Until(at, to int64) int64 {
	if i, _ := slices.BinarySearch(r, at); i < len(r) {
		return min(to, r[i])
	}
	return to
}
