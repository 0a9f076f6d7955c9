package bundle

import (
	"bytes"
	"io"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/exports"
)

// leastExport is the smallest file checked for an export: a shorter one cannot hold
// a log line with anything around it.
const leastExport = 60

// exported returns the export form of a member, exports.None if it is not an export
// of a log, and sets the role of an export to a log if it had none. A role given by
// the layout takes precedence.
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

// layOut replaces the text of an export, whose beginning is in buf, by the log
// lines extracted from it.
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

// relocate changes line numbers of the extracted lines to those of the export file.
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
		move(&c.Low.Pos)
		move(&c.High.Pos)
		move(&c.Dated.Pos)
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

// broken is a reader that fails with err.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
