package parse

import (
	"cmp"
	"slices"
)

// Piece is a run of lines of one origin in a file within which time never steps
// back by GapMin or more.
type Piece struct {
	First, Last Mark
	Gaps        []Gap
}

// Pieces splits the lines of the origin where time steps back by GapMin or more, in
// file order.
func (c *Coverage) Pieces() []Piece {
	var out []Piece
	p := Piece{First: c.FirstLine}
	for _, g := range c.Gaps {
		if g.Next.At-g.Last.At > -GapMin {
			p.Gaps = append(p.Gaps, g)
			continue
		}
		p.Last = g.Last
		out = append(out, p)
		p = Piece{First: g.Next}
	}
	p.Last = c.LastLine
	return append(out, p)
}

// SortPieces puts the coverage of the origin into time order. It is for a file in
// which time steps back although no clock did, because parts of it are out of order
// or duplicated.
func (c *Coverage) SortPieces() {
	pieces := c.Pieces()
	if len(pieces) == 1 {
		return
	}
	var written []Gap // from one line to another without a gap in between
	for _, p := range pieces {
		from := p.First
		for _, g := range p.Gaps {
			written = append(written, Gap{from, g.Last})
			from = g.Next
		}
		written = append(written, Gap{from, p.Last})
	}
	slices.SortStableFunc(written, func(a, b Gap) int { return cmp.Compare(a.Last.At, b.Last.At) })
	c.FirstLine, c.LastLine, c.Gaps = written[0].Last, written[0].Next, nil
	for _, w := range written[1:] {
		if w.Last.At-c.LastLine.At >= GapMin {
			c.Gaps = append(c.Gaps, Gap{c.LastLine, w.Last})
		}
		if w.Next.At >= c.LastLine.At {
			c.LastLine = w.Next
		}
	}
}
