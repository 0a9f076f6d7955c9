package host

import (
	"reflect"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// ByString is a table of what is known about interned strings: a slice that
// grows with the highest that was written, or a map where few are. All nodes of
// the input share its StringTable, and one of many nodes has few of them.
type ByString[T any] struct {
	rows   []T
	sparse map[parse.StringID]*T // instead of rows
}

// NewByString returns a table for about n strings.
func NewByString[T any](interned *parse.StringTable, n int) ByString[T] {
	const share = 16 // a row of a map takes so much more room
	if bound := interned.Bound(); bound/share <= n {
		return ByString[T]{rows: make([]T, bound)}
	}
	return ByString[T]{sparse: map[parse.StringID]*T{}}
}

// Touch writes to each page of a new table of which nearly all will be used. A
// page that is read before it is written has to be got twice from the system.
func (t *ByString[T]) Touch() {
	var none T
	per := max(1, 4096/int(reflect.TypeFor[T]().Size())) // rows of a page; no page is smaller
	for i := 0; i < len(t.rows); i += per {
		t.rows[i] = none
	}
}

// Get returns what is known about s, the zero value for nothing.
func (t *ByString[T]) Get(s parse.StringID) (v T) {
	if int(s) < len(t.rows) {
		v = t.rows[s]
	} else if p := t.sparse[s]; p != nil {
		v = *p
	}
	return v
}

// At returns the place of s, which is good until the next call.
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

// PodID names a pod by its namespace, 0 if unknown, and name. The zero PodID is
// no pod.
type PodID struct{ NS, Name parse.StringID }

// podOf makes a PodID of the parts that a line states, as PodName does.
func podOf(ns, name parse.StringID) PodID {
	if ns == 0 || name == 0 {
		ns = 0
	}
	return PodID{ns, name}
}

// PodName is namespace/name, or the name alone where no namespace is known.
func PodName(ns, name string) string {
	if ns == "" || name == "" {
		return name
	}
	return ns + "/" + name
}

// PodOfText makes a PodID of what PodName returned.
func PodOfText(interned *parse.StringTable, pod string) PodID {
	ns, name, ok := strings.Cut(pod, "/")
	if !ok {
		ns, name = "", pod
	}
	return podOf(interned.OfString(ns), interned.OfString(name))
}

// Text is namespace/name, or what of it is known.
func (p PodID) Text(interned *parse.StringTable) string {
	return PodName(interned.Text(p.NS), interned.Text(p.Name))
}

// ByPod is a table of what is known about pods. Hardly a name is that of pods of
// several namespaces, so the names index it.
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

// Get returns what is known about p, the zero value for nothing.
func (t *ByPod[T]) Get(p PodID) (v T) {
	if r := t.names.Get(p.Name); !r.taken || r.ns == p.NS {
		return r.v
	}
	if o := t.others[p]; o != nil {
		v = *o
	}
	return v
}

// At returns the place of p, which is good until the next call.
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
