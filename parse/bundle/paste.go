package bundle

import (
	"bytes"

	"github.com/plegforensics/plegforensics/parse"
)

// pasteMarks are words of the kubelet that no dump of a program holds by
// itself.
var pasteMarks = [][]byte{[]byte("PLEG is not healthy"), []byte("pleg was last seen active"), []byte("NodeNotReady")}

// pasted decodes the log lines of a file that is mainly something else.
func (w *walker) pasted(s *slot, data []byte) {
	for _, m := range pasteMarks {
		if bytes.Contains(data, m) {
			d := w.l.opt.newLines(s.file, data[:min(len(data), headLen)])
			p := d.Finish([]any{d.Decode(run{data: data, line: 1, keep: stringKeeper{}, last: true})})
			q := &s.part.LogPart
			q.Events, q.Coverage = append(q.Events, p.Events...), append(q.Coverage, p.Coverage...)
			q.Markers, q.Containers = append(q.Markers, p.Markers...), append(q.Containers, p.Containers...)
			q.Facts, q.Warnings = append(q.Facts, p.Facts...), append(q.Warnings, p.Warnings...)
			return
		}
	}
}

// stringKeeper keeps lines in strings of their own; pasted files are small.
type stringKeeper struct{}

func (stringKeeper) Keep(line []byte) parse.Text { return parse.PlainText(string(line)) }
