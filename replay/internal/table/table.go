// Package table holds tables indexed by interned string.
package table

import (
	"reflect"

	"github.com/plegforensics/plegforensics/parse"
)

// ByString is a table indexed by interned string: a slice that grows to the highest ID
// written, or a map when few IDs are expected. All nodes of the input share one
// StringTable, and one of many nodes uses few of its strings.
type ByString[T any] struct {
	rows   []T
	sparse map[parse.StringID]*T // instead of rows
}

// NewByString returns a table for about n strings.
func NewByString[T any](interned *parse.StringTable, n int) ByString[T] {
	const share = 16 // a map entry takes about this many times the memory of a slice row
	if bound := interned.Bound(); bound/share <= n {
		return ByString[T]{rows: make([]T, bound)}
	}
	return ByString[T]{sparse: map[parse.StringID]*T{}}
}

// Touch writes to each page of a new table of which nearly all rows will be used. A
// page that is read before it is written faults twice.
func (t *ByString[T]) Touch() {
	var none T
	per := max(1, 4096/int(reflect.TypeFor[T]().Size())) // rows per page; no platform has smaller pages
	for i := 0; i < len(t.rows); i += per {
		t.rows[i] = none
	}
}

// Get returns the value of s, or the zero value if there is none.
func (t *ByString[T]) Get(s parse.StringID) (v T) {
	if int(s) < len(t.rows) {
		v = t.rows[s]
	} else if p := t.sparse[s]; p != nil {
		v = *p
	}
	return v
}

// At returns a pointer to the value of s, creating it if needed. The pointer is valid
// until the next call of At.
func (t *ByString[T]) At(s parse.StringID) *T {
	if int(s) < len(t.rows) {
		return &t.rows[s]
	}
	if t.sparse == nil {
		grown := make([]T, max(int(s)+1, 2*len(t.rows)))
		copy(grown, t.rows)
		t.rows = grown
		return &t.rows[s]
	}
	if t.sparse[s] == nil {
		t.sparse[s] = new(T)
	}
	return t.sparse[s]
}
