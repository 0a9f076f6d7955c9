package parse

import "slices"

// Columns reads some fields of many events as numbers of its Symbols. The fields
// of most lines were taken when they were decoded; where the value of each name
// stands is found out once for all rows of a Shape.
type Columns struct {
	symbols *Symbols
	names   []string
	of      [][]int8 // by Shape: which of names each value is, -1 none, up to the last that is one; nil: not asked yet
	text    []Field
}

// NewColumns returns a reader of the fields of these names, at most 127.
func NewColumns(t *Symbols, names ...string) *Columns { return &Columns{symbols: t, names: names} }

// Read sets row, which is as long as there are names, to the values of e: 0
// where it has none, and of several fields of one name the first with a value.
func (c *Columns) Read(e *Event, row []Sym) {
	clear(row)
	if shape, values, of := e.taken(); of != nil && of == c.symbols {
		for _, to := range c.columns(shape) {
			if s := values.Next(); to >= 0 && row[to] == 0 {
				row[to] = s
			}
		}
		return
	}
	c.text = e.AppendFields(c.text[:0])
	for _, f := range c.text {
		if to := c.column(f.Name); to >= 0 && row[to] == 0 {
			row[to] = c.symbols.OfString(f.Value)
		}
	}
}

// columns returns which of the names each value of a Shape is.
func (c *Columns) columns(shape Sym) []int8 {
	if int(shape) < len(c.of) && c.of[shape] != nil {
		return c.of[shape]
	}
	if more := int(shape) + 1 - len(c.of); more > 0 {
		c.of = append(c.of, make([][]int8, more)...)
	}
	names := c.symbols.Names(shape)
	to := make([]int8, len(names))
	for i, name := range names {
		to[i] = c.column(name)
	}
	for len(to) > 0 && to[len(to)-1] < 0 {
		to = to[:len(to)-1]
	}
	c.of[shape] = to
	return to
}

func (c *Columns) column(name string) int8 { return int8(slices.Index(c.names, name)) }
