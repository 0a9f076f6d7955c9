package host

import (
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/table"
)

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
	if p.NS == 0 || p.Name == 0 {
		return interned.Text(p.Name)
	}
	var room [128]byte
	return string(interned.AppendText(append(interned.AppendText(room[:0], p.NS), '/'), p.Name))
}

// ByPod is a table indexed by pod. Pods of different namespaces rarely share a name, so
// it is indexed by name; a second pod of the same name goes to a map.
type ByPod[T any] struct {
	names  table.ByString[podRow[T]]
	others map[PodID]*T
}

type podRow[T any] struct {
	ns    parse.StringID
	taken bool
	v     T
}

// NewByPod returns a table for about n pods.
func NewByPod[T any](interned *parse.StringTable, n int) ByPod[T] {
	return ByPod[T]{names: table.NewByString[podRow[T]](interned, n)}
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
