package bundle

import (
	"bytes"

	"github.com/plegforensics/plegforensics/parse"
)

// pasteMarks are words of the kubelet that no dump of a program holds by
// itself.
var pasteMarks = [][]byte{[]byte("PLEG is not healthy"), []byte("pleg was last seen active"), []byte("NodeNotReady")}

// pasteMost is the size up to which a file of unknown origin is read for log
// lines whatever it seems to be: what people paste is short.
const pasteMost = 1 << 20

// pasted decodes the log lines of a file that is mainly something else. A file
// that no layout knows may hold lines of ps, dmesg and a kernel stack
// together, whichever came first.
func (w *walker) pasted(s *slot, data []byte) {
	if !(s.file.Layout == "" && len(data) <= pasteMost) && !marked(data) {
		return
	}
	d := w.l.opt.newLines(s.file, data[:min(len(data), headLen)])
	res, _ := d.Decode(run{data: data, keep: stringWriter{}, last: true})
	d.Join(res, 0)
	p := d.Finish()
	if len(p.Events) == 0 {
		return
	}
	q := &s.part.LogPart
	q.Events, q.Coverage = append(q.Events, p.Events...), append(q.Coverage, p.Coverage...)
	q.Markers, q.Containers = append(q.Markers, p.Markers...), append(q.Containers, p.Containers...)
	q.Facts, q.Warnings = append(q.Facts, p.Facts...), append(q.Warnings, p.Warnings...)
}

func marked(data []byte) bool {
	for _, m := range pasteMarks {
		if bytes.Contains(data, m) {
			return true
		}
	}
	return false
}

// stringWriter keeps lines in strings of their own; pasted files are small.
type stringWriter struct{}

func (stringWriter) Keep(line []byte) parse.Text { return parse.PlainText(string(line)) }
