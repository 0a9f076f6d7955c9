package report

import (
	"fmt"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// quote prints the position of a line and the reason it is cited, and its text below. Without
// --verbose it also prints the time, and shortens each part to one row: a path to its end, which is
// the most specific part, and a line to its message.
func (p *printer) quote(indent string, e *model.Evidence) {
	at, when, text, most := e.Where(), "", flat(e.Text), whole
	if last := path.Base(e.File); p.named[last] == e.File {
		at = shortPath(at, whole)
	} else {
		p.named[last] = e.File
	}
	hang := strings.Repeat(" ", len(indent)+2)
	if !p.opt.Verbose {
		hang, most = hang[2:], 1
		at, text = shortPath(at, 40), fit(flat(e.Message()), max(p.opt.Width-len(indent), least))
		if e.Time != 0 {
			when = "  " + layout(e.Time, time.TimeOnly) + p.local(e.Time)
		}
	}
	fits := func(note string) bool { return breadth(indent+at+when+"  "+note) <= p.opt.Width }
	note, beside := p.prose(e.Note), ""
	if !p.opt.Verbose && !fits(note) {
		note = p.prose(gist(e.Note))
	}
	if note != "" && fits(note) {
		note, beside = "", "  "+note
	}
	fmt.Fprintf(p, "%s%s%s%s\n", indent, p.link(e, at), when, beside)
	if note != "" {
		p.clipped(hang, note, most)
	}
	if text != "" { // empty if it was quoted before
		fmt.Fprintf(p, "%s%s\n", hang, p.paint(faint, text))
	}
}

// gist returns the first clause of a note.
func gist(note string) string {
	first, _, _ := strings.Cut(note, "; ")
	return first
}

// shortPath abbreviates a long path to its last element, the most specific part, and that to at
// most most bytes.
func shortPath(at string, most int) string {
	if i := strings.LastIndexAny(at, "/!"); i > 0 && len(at) > 40 {
		at = "…/" + at[i+1:]
	}
	return ending(at, most)
}

// shortPaths applies shortPath to the words of a sentence.
func shortPaths(s string) string {
	words := strings.Split(s, " ")
	for i, w := range words {
		words[i] = shortPath(w, max(len(w), 60))
	}
	return strings.Join(words, " ")
}

// flat replaces tabs, so that a quote fits on one line.
func flat(s string) string { return strings.TrimRight(strings.ReplaceAll(s, "\t", " "), " ") }

// link makes s a hyperlink to a position, if that has an address.
func (p *printer) link(at *model.Evidence, s string) string {
	if p.opt.Link == nil {
		return s
	}
	if to := p.opt.Link(at); to != "" {
		return text.Hyperlink(to, s)
	}
	return s
}

// ending returns the last n bytes of a path, after an ellipsis if it was cut.
func ending(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for !utf8.RuneStart(s[i]) {
		i++
	}
	return "…" + s[i:]
}

// fit cuts s to width columns.
func fit(s string, width int) string { return text.Snip(s, width, "…") }
