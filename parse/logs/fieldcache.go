package logs

import (
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// fieldCache extracts the fields of picked lines while they are decoded, so that
// the text need not be read again. Values are stored as interned strings
// (parse.StringID): IDs and pod names occur in many lines.
type fieldCache struct {
	keep     parse.FieldWriter // nil: fields stay in the text
	interned *parse.StringTable
	fields   []parse.Field // fields of the current line
	names    []string
	row      []parse.StringID
	shapes   []shapeOf
	last     []*lastValues // per entry and set of fields; the most recently used first
	long     int           // values of more than maxTaken bytes that were interned
	recent   recentLines
}

// lastValues holds what lines of one entry with the same fields have in common, and
// their last values. Events of one pod are often adjacent, and some values never
// change.
type lastValues struct {
	of     *entry
	form   uint16 // bitset of the fields present, as in direct
	shape  parse.StringID
	values [maxDirect]recent
}

// shapeOf is a list of field names with its interned shape.
type shapeOf struct {
	names []string
	shape parse.StringID
}

// everyLine lists the signatures whose fields the replay reads on every line. Of
// other signatures it reads few or none.
var everyLine = map[string]bool{
	parse.SigEvent: true, parse.SigTransition: true, parse.SigFinished: true, parse.SigCtrLife: true,
	parse.SigRPC: true, parse.SigListFail: true, parse.SigAge: true, parse.SigHousekeeping: true,
}

// maxTaken is the length of the longest value that is always interned. It covers IDs and names. Longer values
// are errors and reasons in prose: some recur in a million lines, others never do. A fieldCache interns the
// first maxLong of them of up to maxLongText bytes; further ones stay in their lines (parse.InLine).
const (
	maxTaken    = 80
	maxLong     = 1 << 12
	maxLongText = 1024
)

// number returns the StringID of a value, InLine for one that stays in its line.
func (t *fieldCache) number(v []byte) parse.StringID {
	if len(v) <= maxTaken {
		return t.interned.Of(v)
	}
	if sid := t.interned.Known(v); sid != 0 {
		return sid
	}
	if len(v) > maxLongText || t.long == maxLong {
		return parse.InLine
	}
	t.long++
	return t.interned.Of(v)
}

// keepWith directs the fields of the following lines to k. It returns the
// recentLines to match these lines with, or nil if k does not store fields.
func (t *fieldCache) keepWith(k parse.TextWriter) *recentLines {
	keep, ok := k.(parse.FieldWriter)
	if !ok || t.interned != keep.Interned() || len(t.shapes) > maxShapes {
		*t = fieldCache{}
	}
	if !ok {
		return nil
	}
	t.keep, t.interned = keep, keep.Interned()
	return &t.recent
}

// maxShapes is the number of field-name lists kept from one run to the next.
const maxShapes = 64

// take stores the fields of a line that m has just matched and whose text was just
// kept.
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
		t.names, t.row = append(t.names, f.Name), append(t.row, t.number([]byte(f.Value)))
	}
	t.row[0] = t.shape(t.names)
	ev.SetFields(t.keep.KeepRow(t.row, nil))
}

// takeDirect is take for what a direct reader has read.
func (t *fieldCache) takeDirect(ev *parse.Event, e *entry, d *direct) {
	u := t.valuesOf(e, d)
	if d.pod.at != nil {
		t.newPod(d)
	}
	t.row = append(t.row[:0], u.shape)
	inLine := false
	for i, v := range d.values[:d.n] {
		sid := d.interned[i]
		switch {
		case len(v) > maxTaken:
			if sid = t.number(v); sid == parse.InLine {
				d.values[i], inLine = nil, true // the text keeps it
			}
		case sid != 0:
		case i >= d.fixed && u.values[i].last.sid != 0:
			sid = u.values[i].last.sid
		case d.packed && i == d.id:
			sid = t.interned.OfHexID(&d.hexID)
		default:
			sid = u.values[i].of(t.interned, v)
		}
		t.row = append(t.row, sid)
	}
	if !inLine {
		t.recent.learn(d, t.row[1:])
	}
	ev.SetFields(t.keep.KeepRow(t.row, d.values[:d.n]))
}

// newPod interns the names of a pod that is not among the recent ones and probably
// new.
func (t *fieldCache) newPod(d *direct) {
	name, uid := d.values[1], d.values[2]
	if len(name) > maxTaken || len(uid) > maxTaken {
		return
	}
	if d.interned[1], d.interned[2] = t.interned.OfPair(name, uid); d.pod.itself {
		d.interned[4] = d.interned[2]
	}
}

// valuesOf returns the lastValues for e with the fields of d.
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

// recent holds the last two distinct short values of a field; many fields have no
// more than two.
type recent struct{ last, before recentValue }

type recentValue struct {
	text [40]byte
	n    int
	sid  parse.StringID
}

func (v *recentValue) is(text []byte) bool { return string(v.text[:v.n]) == string(text) }

func (r *recent) of(interned *parse.StringTable, v []byte) parse.StringID {
	if r.last.is(v) {
		return r.last.sid
	}
	if len(v) > len(r.last.text) {
		return interned.Of(v)
	}
	r.last, r.before = r.before, r.last
	if !r.last.is(v) {
		r.last.n, r.last.sid = copy(r.last.text[:], v), interned.Of(v)
	}
	return r.last.sid
}

// shape interns a list of field names. Lines of one kind share it.
func (t *fieldCache) shape(names []string) parse.StringID {
	for i := range t.shapes {
		if slices.Equal(t.shapes[i].names, names) {
			s := t.shapes[i]
			if i > 0 { // the next line is probably of the same kind
				t.shapes[i], t.shapes[i-1] = t.shapes[i-1], s
			}
			return s.shape
		}
	}
	s := shapeOf{slices.Clone(names), t.interned.Shape(names)}
	t.shapes = append(t.shapes, s)
	return s.shape
}
