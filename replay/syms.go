package replay

import (
	"reflect"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// bySym is a table of what is known about texts, by their Syms: a slice that
// grows with the highest that was written, or a map where few are. All nodes of
// the input share its Symbols, and one of many nodes has few of them.
type bySym[T any] struct {
	rows   []T
	few    bool
	sparse map[parse.Sym]*T
}

// newBySym returns a table for about n Syms.
func newBySym[T any](syms *parse.Symbols, n int) bySym[T] {
	const share = 16 // a row of a map takes so much more room
	if bound := syms.Bound(); bound/share <= n {
		return bySym[T]{rows: make([]T, bound)}
	}
	return bySym[T]{few: true}
}

// touch writes to each page of a new table of which nearly all will be used. A
// page that is read before it is written has to be got twice from the system.
func (t *bySym[T]) touch() {
	var none T
	per := max(1, 4096/int(reflect.TypeFor[T]().Size())) // rows of a page; no page is smaller
	for i := 0; i < len(t.rows); i += per {
		t.rows[i] = none
	}
}

// get returns what is known about s, the zero value for nothing.
func (t *bySym[T]) get(s parse.Sym) (v T) {
	if int(s) < len(t.rows) {
		v = t.rows[s]
	} else if p := t.sparse[s]; p != nil {
		v = *p
	}
	return v
}

// at returns the place of s, which is good until the next call.
func (t *bySym[T]) at(s parse.Sym) *T {
	if int(s) < len(t.rows) {
		return &t.rows[s]
	}
	if t.few {
		return t.atSparse(s)
	}
	grown := make([]T, max(int(s)+1, 2*len(t.rows)))
	copy(grown, t.rows)
	t.rows = grown
	return &t.rows[s]
}

func (t *bySym[T]) atSparse(s parse.Sym) *T {
	p := t.sparse[s]
	if p == nil {
		if t.sparse == nil {
			t.sparse = map[parse.Sym]*T{}
		}
		p = new(T)
		t.sparse[s] = p
	}
	return p
}

// podID names a pod by its namespace, 0 if unknown, and name. The zero podID is
// no pod.
type podID struct{ ns, name parse.Sym }

// podOf makes a podID of the parts that a line states, as podName does.
func podOf(ns, name parse.Sym) podID {
	if ns == 0 || name == 0 {
		ns = 0
	}
	return podID{ns, name}
}

// podOfText makes a podID of what podName returned.
func podOfText(syms *parse.Symbols, pod string) podID {
	ns, name, ok := strings.Cut(pod, "/")
	if !ok {
		ns, name = "", pod
	}
	return podOf(syms.OfString(ns), syms.OfString(name))
}

func (p podID) text(syms *parse.Symbols) string { return PodName(syms.Text(p.ns), syms.Text(p.name)) }

// byPod is a table of what is known about pods. Hardly a name is that of pods of
// several namespaces, so the names index it.
type byPod[T any] struct {
	names  bySym[podRow[T]]
	others map[podID]*T
}

type podRow[T any] struct {
	ns    parse.Sym
	taken bool
	v     T
}

func newByPod[T any](syms *parse.Symbols, n int) byPod[T] {
	return byPod[T]{names: newBySym[podRow[T]](syms, n)}
}

// get returns what is known about p, the zero value for nothing.
func (t *byPod[T]) get(p podID) (v T) {
	if r := t.names.get(p.name); !r.taken || r.ns == p.ns {
		return r.v
	}
	if o := t.others[p]; o != nil {
		v = *o
	}
	return v
}

// at returns the place of p, which is good until the next call.
func (t *byPod[T]) at(p podID) *T {
	r := t.names.at(p.name)
	if !r.taken {
		r.ns, r.taken = p.ns, true
	}
	if r.ns == p.ns {
		return &r.v
	}
	o := t.others[p]
	if o == nil {
		if t.others == nil {
			t.others = map[podID]*T{}
		}
		o = new(T)
		t.others[p] = o
	}
	return o
}
