package snapshots

import "slices"

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
