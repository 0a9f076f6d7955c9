package host

import (
	"reflect"
	"strings"

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

// PodID identifies a pod by namespace (0 if unknown) and name. The zero PodID means no
// pod.
type PodID struct{ NS, Name parse.StringID }

// podOf returns the PodID for a namespace and name; like PodName, it drops the
// namespace if the name is missing.
func podOf(ns, name parse.StringID) PodID {
	if ns == 0 || name == 0 {
		ns = 0
	}
	return PodID{ns, name}
}

// PodName returns namespace/name, or the name alone if the namespace is unknown.
func PodName(ns, name string) string {
	if ns == "" || name == "" {
		return name
	}
	return ns + "/" + name
}

// PodOfText returns the PodID of a string made by PodName.
func PodOfText(interned *parse.StringTable, pod string) PodID {
	ns, name, ok := strings.Cut(pod, "/")
	if !ok {
		ns, name = "", pod
	}
	return podOf(interned.OfString(ns), interned.OfString(name))
}

// Text returns namespace/name, or the name alone if the namespace is unknown.
func (p PodID) Text(interned *parse.StringTable) string {
	return PodName(interned.Text(p.NS), interned.Text(p.Name))
}

// ByPod is a table indexed by pod. Pods of different namespaces rarely share a name, so
// it is indexed by name; a second pod of the same name goes to a map.
type ByPod[T any] struct {
	names  ByString[podRow[T]]
	others map[PodID]*T
}

type podRow[T any] struct {
	ns    parse.StringID
	taken bool
	v     T
}

// NewByPod returns a table for about n pods.
func NewByPod[T any](interned *parse.StringTable, n int) ByPod[T] {
	return ByPod[T]{names: NewByString[podRow[T]](interned, n)}
}

// Get returns the value of p, or the zero value if there is none.
func (t *ByPod[T]) Get(p PodID) (v T) {
	if r := t.names.Get(p.Name); !r.taken || r.ns == p.NS {
		return r.v
	}
	if o := t.others[p]; o != nil {
		v = *o
	}
	return v
}

// At returns a pointer to the value of p, creating it if needed. The pointer is valid
// until the next call of At.
func (t *ByPod[T]) At(p PodID) *T {
	r := t.names.At(p.Name)
	if !r.taken {
		r.ns, r.taken = p.NS, true
	}
	if r.ns == p.NS {
		return &r.v
	}
	o := t.others[p]
	if o == nil {
		if t.others == nil {
			t.others = map[PodID]*T{}
		}
		o = new(T)
		t.others[p] = o
	}
	return o
}
