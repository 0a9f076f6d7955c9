package parse

import "slices"

// Columns reads selected fields of many events as interned strings. The fields of
// most lines were extracted while decoding. Where each name is in a row is
// determined once per Shape.
type Columns struct {
	interned *StringTable
	names    []string
	of       [][]int8 // by Shape: index in names of each value, -1 if none; trailing -1 trimmed; nil: not computed yet
	text     []Field
}

// NewColumns returns a reader of the named fields, at most 127.
func NewColumns(t *StringTable, names ...string) *Columns { return &Columns{interned: t, names: names} }

// Read sets row, which has one element per name, to the values of e: 0 if e has no
// such field, and the first non-empty value if it has several.
func (c *Columns) Read(e *Event, row []StringID) {
	clear(row)
	if shape, values, of := e.taken(); of != nil && of == c.interned {
		for _, to := range c.columns(shape) {
			if s := values.Next(); to >= 0 && row[to] == 0 {
				row[to] = s
			}
		}
		if !slices.Contains(row, InLine) {
			return
		}
		clear(row)
	}
	c.text = e.AppendFields(c.text[:0])
	for _, f := range c.text {
		if to := c.column(f.Name); to >= 0 && row[to] == 0 {
			row[to] = c.interned.OfString(f.Value)
		}
	}
}

// columns returns, for each value of a Shape, its index in names.
func (c *Columns) columns(shape StringID) []int8 {
	if int(shape) < len(c.of) && c.of[shape] != nil {
		return c.of[shape]
	}
	if more := int(shape) + 1 - len(c.of); more > 0 {
		c.of = append(c.of, make([][]int8, more)...)
	}
	names := c.interned.Names(shape)
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
