package bundle

import (
	"bytes"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// pasteMarks are kubelet texts that do not occur in the output of other programs.
var pasteMarks = [][]byte{[]byte("PLEG is not healthy"), []byte("pleg was last seen active"), []byte("NodeNotReady")}

// pasteMost is the size in bytes up to which a file that belongs to no layout is
// searched for log lines whatever its kind: pasted excerpts are short.
const pasteMost = 1 << 20

// pasted decodes the log lines in a file that is mainly something else. A file that
// belongs to no layout may combine ps output, dmesg lines and a kernel stack, in
// any order. It reports whether there are any.
func (w *walker) pasted(s *slot, data []byte) bool {
	if !(s.file.Layout == "" && len(data) <= pasteMost) && !marked(data) {
		return false
	}
	d := w.l.opt.newLines(s.file, data[:min(len(data), headLen)])
	res, _ := d.Decode(run{data: data, keep: stringWriter{}, last: true})
	d.Join(res, 0)
	p := d.Finish()
	if len(p.Events) == 0 {
		// The line above a dump dates it, whatever it says.
		dated := func(c *parse.Coverage) bool { return c.FirstLine.Raw.Set }
		if s.file.Role != parse.RoleStacks || !slices.ContainsFunc(p.Coverage, dated) {
			return false
		}
	}
	q := &s.part.LogPart
	q.Events, q.Coverage = append(q.Events, p.Events...), append(q.Coverage, p.Coverage...)
	q.Markers, q.Containers = append(q.Markers, p.Markers...), append(q.Containers, p.Containers...)
	q.Facts, q.Warnings = append(q.Facts, p.Facts...), append(q.Warnings, p.Warnings...)
	return true
}

func marked(data []byte) bool {
	for _, m := range pasteMarks {
		if bytes.Contains(data, m) {
			return true
		}
	}
	return false
}

// stringWriter keeps each line in a string of its own; pasted files are small.
type stringWriter struct{}

func (stringWriter) Keep(line []byte) parse.Text { return parse.PlainText(string(line)) }
