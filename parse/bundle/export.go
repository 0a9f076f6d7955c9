package bundle

import (
	"bytes"
	"io"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/exports"
)

// leastExport is the shortest file that is looked at: shorter ones hold no line
// of a log with something around it.
const leastExport = 60

// exported tells what kind of export of a log a member is, and makes it a log. A
// layout that knows it as something else, by the role, is right.
func exported(f *parse.File, byPath parse.Role, head []byte) exports.Form {
	known := decoderFor(byPath)
	if known != nil && !known.lines || len(head) < leastExport || isBinary(head) {
		return exports.None
	}
	form := exports.Detect(head)
	if d := decoderFor(f.Role); form == exports.None && (f.Role == parse.RoleUnknown || d != nil && d.lines) {
		form = exports.DetectText(head)
	}
	if form != exports.None && known == nil {
		f.Role = parse.RoleLog
	}
	return form
}

// layOut puts the lines of an export in the place of the member's text, whose
// beginning is in buf.
func (w *walker) layOut(m member, buf *buffer, form exports.Form, err error) (_ member, laid *exports.Reader, eof bool, _ error) {
	head := bytes.Clone(buf.data())
	text := io.MultiReader(bytes.NewReader(head), m.r)
	if err != nil {
		text = io.MultiReader(bytes.NewReader(head), broken{err})
	}
	laid = exports.NewReader(text, head[:min(len(head), headLen)], form)
	m.r, m.at, m.size = laid, nil, -1
	buf.from, buf.to = headroom, headroom
	eof, err = buf.fill(m.r)
	return m, laid, eof, err
}

// relocate cites the lines of the export instead of those laid out.
func relocate(p *parse.LogPart, laid *exports.Reader) {
	move := func(at *parse.Pos) {
		if at.Line > 0 {
			at.Line = laid.Line(at.Line)
		}
	}
	for _, e := range p.Events {
		e.Line = laid.Line(e.Line)
	}
	for _, c := range p.Coverage {
		move(&c.FirstLine.Pos)
		move(&c.LastLine.Pos)
		move(&c.MaxLagAt.Pos)
		for i := range c.Gaps {
			move(&c.Gaps[i].Last.Pos)
			move(&c.Gaps[i].Next.Pos)
		}
	}
	for _, m := range p.Markers {
		move(&m.Pos)
	}
	for _, f := range p.Facts {
		move(&f.Pos)
	}
	for _, c := range p.Containers {
		move(&c.Pos)
	}
	for i := range p.Warnings {
		move(&p.Warnings[i].Pos)
	}
}

// broken is a stream that ended with an error.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
