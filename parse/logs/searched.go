package logs

import (
	"bytes"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// searchedBy returns the first line that shows that a search selected the lines of a file: a command that searches a log,
// or a line with the name of a log file before it, as grep writes it in several files. nil if there is none.
func (d *Decoder) searchedBy(head []byte) *parse.Marker {
	if d.framing.Kind == journal.Blocks || d.framing.Objects {
		return nil
	}
	line, at := uint32(0), 0
	for rec := range bytes.SplitSeq(head, newline) {
		line++
		from := at
		at += len(rec) + 1
		if n := parse.FoundIn(rec); n > 0 && d.stamps(rec[n:]) || maySearch(rec) && parse.Searches(string(clip(rec))) {
			return &parse.Marker{Pos: parse.Pos{File: d.file, Offset: int64(from), Line: line}, Kind: parse.MarkExcerpt, Text: parse.PlainText(string(clip(rec)))}
		}
	}
	return nil
}

// maySearch reports whether a line names a program with which logs are searched.
func maySearch(rec []byte) bool {
	return bytes.Contains(rec, []byte("grep")) || bytes.Contains(rec, []byte("awk")) || bytes.Contains(rec, []byte("journalctl"))
}

// stamps reports whether a line begins with a time.
func (d *Decoder) stamps(rec []byte) bool {
	p := journal.NewParser(d.framing)
	defer p.Release()
	var e journal.Entry
	p.Parse(rec, &e)
	return e.Clock.Set || e.Header.Clock.Set
}
