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
	byName bySym[podIn]
	others map[[2]parse.Sym]parse.Sym // pods of the same name in other namespaces
	buf    []byte
}

// podIn is a namespace and the pod of a name in it.
type podIn struct{ ns, pod parse.Sym }

func newPodNames(syms *parse.Symbols) podNames { return podNames{syms: syms} }

// of returns the Sym of podName(ns, name).
func (p *podNames) of(ns, name parse.Sym) parse.Sym {
	if ns == 0 || name == 0 {
		return name
	}
	if len(p.byName.rows) == 0 {
		p.byName = newBySym[podIn](p.syms)
	}
	in := p.byName.at(name)
	switch {
	case in.ns == ns:
	case in.ns == 0:
		*in = podIn{ns, p.join(ns, name)}
	default:
		return p.other(ns, name)
	}
	return in.pod
}

func (p *podNames) other(ns, name parse.Sym) parse.Sym {
	pod, ok := p.others[[2]parse.Sym{ns, name}]
	if !ok {
		if p.others == nil {
			p.others = map[[2]parse.Sym]parse.Sym{}
		}
		pod = p.join(ns, name)
		p.others[[2]parse.Sym{ns, name}] = pod
	}
	return pod
}

func (p *podNames) join(ns, name parse.Sym) parse.Sym {
	p.buf = append(append(append(p.buf[:0], p.syms.Text(ns)...), '/'), p.syms.Text(name)...)
	return p.syms.Of(p.buf)
}

// fieldReader reads the fields of lines as Syms.
type fieldReader struct {
	syms *parse.Symbols
	row  []parse.SymField
	text []parse.Field
}

// read returns the fields of a line. They are good until the next call.
func (r *fieldReader) read(e *parse.Event) []parse.SymField {
	if e.Taken() {
		r.row = r.syms.Fields(e, r.row[:0])
		return r.row
	}
	r.text = e.AppendFields(r.text[:0])
	r.row = r.row[:0]
	for _, f := range r.text {
		r.row = append(r.row, parse.SymField{Name: f.Name, Value: r.syms.OfString(f.Value)})
	}
	return r.row
}
