package logs

import (
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// fieldCache takes the fields of a picked line as it is decoded, so that nobody has
// to read its text again. They are kept as numbers: ids and names of pods come
// up in many lines.
type fieldCache struct {
	keep   parse.FieldWriter // nil: fields stay in the text
	syms   *parse.Symbols
	fields []parse.Field // of the line at hand
	names  []string
	row    []parse.Sym
	shapes []shapeOf
	last   []*lastValues // lines of quick readers, that of the last one first
	long   map[string]parse.Sym
	recent recentLines
}

// lastValues is what lines of one kind have in common, and their last values: events of
// one pod stand together, and some values are always the same.
type lastValues struct {
	of     *entry
	form   uint16 // which of its fields there are
	shape  parse.Sym
	values [maxDirect]recent
}

// shapeOf is a list of names that was seen before.
type shapeOf struct {
	names []string
	shape parse.Sym
}

// everyLine are the signatures of which the rebuild of a node reads the fields of
// every line. Of others it takes few, if any.
var everyLine = map[string]bool{
	parse.SigEvent: true, parse.SigTransition: true, parse.SigFinished: true, parse.SigCtrLife: true,
	parse.SigRPC: true, parse.SigListFail: true, parse.SigAge: true, parse.SigHousekeeping: true,
}

// maxTaken is the length of the longest value that is always kept as a number: that of an
// id, and of most errors, which the rebuild asks every failed call for. Longer ones are
// reasons in words. Some come up in a million lines, and of others no two are the same:
// numbers are for the first maxLong of them, none longer than maxLongText, and a line
// with another is read again.
const (
	maxTaken    = 160
	maxLong     = 512
	maxLongText = 1024
)

// number is the number of a value; ok is false for one that is to stay in its line.
func (t *fieldCache) number(v string) (sym parse.Sym, ok bool) {
	if len(v) <= maxTaken {
		return t.syms.OfString(v), true
	}
	if sym, ok = t.long[v]; ok || len(v) > maxLongText || len(t.long) == maxLong {
		return sym, ok
	}
	if t.long == nil {
		t.long = map[string]parse.Sym{}
	}
	sym = t.syms.OfString(v)
	t.long[strings.Clone(v)] = sym
	return sym, true
}

// keepWith has the fields of the lines that follow go to k. It returns what they are
// to be read with.
func (t *fieldCache) keepWith(k parse.TextWriter) *recentLines {
	keep, ok := k.(parse.FieldWriter)
	if !ok || t.syms != keep.Symbols() || len(t.shapes) > maxShapes {
		*t = fieldCache{}
	}
	if !ok {
		return nil
	}
	t.keep, t.syms = keep, keep.Symbols()
	return &t.recent
}

// maxShapes is how many lists of names are remembered from one run to the next.
const maxShapes = 64

// take puts away the fields of a line whose text was just kept and that m has
// just matched.
func (t *fieldCache) take(ev *parse.Event, m *Matcher, msg []byte) {
	if t.keep == nil || !slices.ContainsFunc(m.hits, func(e *entry) bool { return e.everyLine }) {
		return
	}
	if len(m.hits) == 1 && m.hits[0] == m.directOf {
		t.takeDirect(ev, m.directOf, m.direct)
		return
	}
	t.fields = m.appendFields(msg, t.fields[:0])
	t.names = t.names[:0]
	t.row = append(t.row[:0], 0)
	for _, f := range t.fields {
		sym, ok := t.number(f.Value)
		if !ok {
			return
		}
		t.names, t.row = append(t.names, f.Name), append(t.row, sym)
	}
	t.row[0] = t.shape(t.names)
	ev.SetFields(t.keep.KeepRow(t.row, nil))
}

// takeDirect is take of what a quick reader has read.
func (t *fieldCache) takeDirect(ev *parse.Event, e *entry, d *direct) {
	u := t.valuesOf(e, d)
	if d.pod.at != nil {
		t.newPod(d)
	}
	t.row = append(t.row[:0], u.shape)
	for i, v := range d.values[:d.n] {
		sym := d.syms[i]
		switch {
		case len(v) > maxTaken:
			var ok bool
			if sym, ok = t.number(string(v)); !ok {
				return
			}
		case sym != 0:
		case i >= d.fixed && u.values[i].last.sym != 0:
			sym = u.values[i].last.sym
		case d.packed && i == d.id:
			sym = t.syms.OfHexID(&d.hexID)
		default:
			sym = u.values[i].of(t.syms, v)
		}
		t.row = append(t.row, sym)
	}
	t.recent.learn(d, t.row[1:])
	ev.SetFields(t.keep.KeepRow(t.row, d.values[:d.n]))
}

// newPod finds the numbers of a pod that was not seen recent, and likely never.
func (t *fieldCache) newPod(d *direct) {
	name, uid := d.values[1], d.values[2]
	if len(name) > maxTaken || len(uid) > maxTaken {
		return
	}
	if d.syms[1], d.syms[2] = t.syms.OfPair(name, uid); d.pod.itself {
		d.syms[4] = d.syms[2]
	}
}

// valuesOf returns what lines of an entry with the same fields have in common.
func (t *fieldCache) valuesOf(e *entry, d *direct) *lastValues {
	for i, u := range t.last {
		if u.of == e && u.form == d.form {
			if i > 0 {
				t.last[i], t.last[0] = t.last[0], u
			}
			return u
		}
	}
	u := &lastValues{of: e, form: d.form, shape: t.shape(d.names[:d.n])}
	t.last = append(t.last, u)
	return u
}

// recent are the last two values that came up, but for long ones: many a field has
// not more.
type recent struct{ last, before recentValue }

type recentValue struct {
	text [40]byte
	n    int
	sym  parse.Sym
}

func (v *recentValue) is(text []byte) bool { return string(v.text[:v.n]) == string(text) }

func (r *recent) of(syms *parse.Symbols, v []byte) parse.Sym {
	if r.last.is(v) {
		return r.last.sym
	}
	if len(v) > len(r.last.text) {
		return syms.Of(v)
	}
	r.last, r.before = r.before, r.last
	if !r.last.is(v) {
		r.last.n, r.last.sym = copy(r.last.text[:], v), syms.Of(v)
	}
	return r.last.sym
}

// shape numbers a list of names. Lines of one kind have the same one.
func (t *fieldCache) shape(names []string) parse.Sym {
	for i := range t.shapes {
		if slices.Equal(t.shapes[i].names, names) {
			s := t.shapes[i]
			if i > 0 { // the next line is likely of this kind
				t.shapes[i], t.shapes[i-1] = t.shapes[i-1], s
			}
			return s.shape
		}
	}
	s := shapeOf{slices.Clone(names), t.syms.Shape(names)}
	t.shapes = append(t.shapes, s)
	return s.shape
}
