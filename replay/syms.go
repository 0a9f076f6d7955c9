package replay

import "github.com/plegforensics/plegforensics/parse"

// bySym is a table of what is known about texts, by their Syms. It grows with
// the highest that was written.
type bySym[T any] struct{ rows []T }

// newBySym returns a table with room for all Syms that were given so far.
func newBySym[T any](syms *parse.Symbols) bySym[T] { return bySym[T]{make([]T, syms.Bound())} }

// get returns what is known about s, the zero value for nothing.
func (t *bySym[T]) get(s parse.Sym) (v T) {
	if int(s) < len(t.rows) {
		v = t.rows[s]
	}
	return v
}

// at returns the place of s, which is good until the next call.
func (t *bySym[T]) at(s parse.Sym) *T {
	if int(s) >= len(t.rows) {
		grown := make([]T, max(int(s)+1, 2*len(t.rows)))
		copy(grown, t.rows)
		t.rows = grown
	}
	return &t.rows[s]
}

// podNames gives the names of pods, "ns/name", a Sym by their parts.
type podNames struct {
	syms   *parse.Symbols
	byName bySym[podIn] // hardly a name is that of pods of several namespaces
	known  map[[2]parse.Sym]parse.Sym
	buf    []byte
}

// podIn is a namespace and the pod of a name in it.
type podIn struct{ ns, pod parse.Sym }

func newPodNames(syms *parse.Symbols) podNames {
	return podNames{syms: syms, known: map[[2]parse.Sym]parse.Sym{}}
}

// of returns the Sym of podName(ns, name).
func (p *podNames) of(ns, name parse.Sym) parse.Sym {
	if ns == 0 || name == 0 {
		return name
	}
	if have := p.byName.get(name); have.ns == ns {
		return have.pod
	}
	pod, ok := p.known[[2]parse.Sym{ns, name}]
	if !ok {
		p.buf = append(append(append(p.buf[:0], p.syms.Text(ns)...), '/'), p.syms.Text(name)...)
		pod = p.syms.Of(p.buf)
		p.known[[2]parse.Sym{ns, name}] = pod
	}
	if len(p.byName.rows) == 0 {
		p.byName = newBySym[podIn](p.syms)
	}
	*p.byName.at(name) = podIn{ns, pod}
	return pod
}
