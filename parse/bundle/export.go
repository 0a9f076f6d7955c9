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
// beginning is in buf. Offsets of the member are those in its lines.
func (w *walker) layOut(m member, buf *buffer, form exports.Form, err error) (member, bool, error) {
	head := bytes.Clone(buf.data())
	text := io.MultiReader(bytes.NewReader(head), m.r)
	if err != nil {
		text = io.MultiReader(bytes.NewReader(head), broken{err})
	}
	m.r, m.at, m.size = exports.NewReader(text, head[:min(len(head), headLen)], form), nil, -1
	buf.from, buf.to = headroom, headroom
	eof, err := buf.fill(m.r)
	return m, eof, err
}

// broken is a stream that ended with an error.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
