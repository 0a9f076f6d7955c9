package clock

import (
	"cmp"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// sortPieces recognizes a file that was concatenated in the wrong order ("cat
// kubelet.log*" puts the newest part before the rotated ones): where the time of
// its writers steps back, the later part ends where the earlier one begins, and the
// same process continues from one to the other. Such a step is not a clock step.
func (f *file) sortPieces() {
	if len(f.jumps) == 0 || len(f.jumps) < f.stepped || f.reversed || f.journal != nil || len(f.told()) > 0 {
		return
	}
	goesOn := false
	for _, c := range f.coverage {
		follow, close := follows(c.Pieces())
		if !follow {
			return
		}
		goesOn = goesOn || close && c.Origin.Source == parse.SrcKubelet
	}
	if !goesOn {
		return
	}
	for _, c := range f.coverage {
		c.SortPieces()
	}
	f.misplaced = f.jumps[0].At.Pos
	f.jumps = slices.DeleteFunc(f.jumps, func(j parse.Jump) bool { return j.Step <= -parse.GapMin })
	f.stepped = len(f.jumps)
}

// follows reports whether the pieces follow each other without overlap once sorted,
// and whether no pause between them is longer than the writer's other pauses. A
// single piece is (true, false).
func follows(pieces []parse.Piece) (follow, close bool) {
	if len(pieces) == 1 {
		return true, false
	}
	usual := int64(parse.GapMin)
	for _, p := range pieces {
		if p.First.Basis == parse.NoTime || p.Last.Basis == parse.NoTime {
			return false, false
		}
		for _, g := range p.Gaps {
			usual = max(usual, g.Next.At-g.Last.At)
		}
	}
	slices.SortStableFunc(pieces, func(a, b parse.Piece) int { return cmp.Compare(a.First.At, b.First.At) })
	close = true
	for i := range len(pieces) - 1 {
		pause := pieces[i+1].First.At - pieces[i].Last.At
		if pause < 0 {
			return false, false
		}
		close = close && pause <= usual
	}
	return true, close
}
