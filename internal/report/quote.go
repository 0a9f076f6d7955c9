package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

func (p *printer) quotes(indent string, es []model.Evidence) {
	for i := range es {
		p.quote(indent, &es[i])
	}
}

// quote prints where a line stands, of a long path the end, which tells most;
// what it is cited for; and its text on a line of its own, cut to the width
// unless verbose, of the framing and the header sooner than of the message.
func (p *printer) quote(indent string, e *model.Evidence) {
	hang := strings.Repeat(" ", len(indent)+2)
	width := p.opt.Width - breadth(indent)
	at, note := e.Where(), e.Note
	line, when := flat(e.Text), ""
	if !p.opt.Verbose {
		at = shortPath(at, max(width, 30))
		line = excerpt(e, line, max(p.opt.Width-len(hang), 40))
		if e.Time != 0 && strings.HasPrefix(line, "…") {
			when = " " + p.clock(e.Time) // which was cut off
		}
	}
	free := width - breadth(at+when) - 2
	at = p.link(e, at) + when
	switch {
	case note == "":
		fmt.Fprintf(p, "%s%s\n", indent, at)
	case breadth(note) <= free:
		fmt.Fprintf(p, "%s%s  %s\n", indent, at, p.paint(faint, note))
	default:
		fmt.Fprintf(p, "%s%s\n", indent, at)
		p.para(hang, note)
	}
	fmt.Fprintf(p, "%s%s\n", hang, p.paint(faint, line))
}

// shortPath is a path as it is quoted: of what lies in archives and folders the
// last element, which tells most.
func shortPath(at string, most int) string {
	if i := strings.LastIndexAny(at, "/!"); i > 0 && len(at) > 40 {
		at = "…/" + at[i+1:]
	}
	return ending(at, most)
}

// shortPaths is a sentence with its paths as they are quoted.
func shortPaths(s string) string {
	words := strings.Split(s, " ")
	for i, w := range words {
		words[i] = shortPath(w, max(len(w), 60))
	}
	return strings.Join(words, " ")
}

// flat is a quote that takes one line.
func flat(s string) string { return strings.ReplaceAll(s, "\t", " ") }

// excerpt is what fits of a quoted line: the end of it if the message does, else
// the beginning of the message.
func excerpt(e *model.Evidence, line string, width int) string {
	msg := flat(e.Message)
	if breadth(line) <= width || msg == "" || msg == line {
		return fit(line, width)
	}
	room := width - 1 - breadth(msg)
	before, whole := strings.CutSuffix(line, msg)
	if !whole || room < 0 {
		return fit("…"+msg, width)
	}
	for breadth(before) > room {
		_, before, _ = strings.Cut(before, " ")
	}
	return "…" + strings.TrimLeft(before, " ") + msg
}

// link makes s a hyperlink to a position, where that has an address.
func (p *printer) link(at *model.Evidence, s string) string {
	if p.opt.Link == nil {
		return s
	}
	if to := p.opt.Link(at); to != "" {
		return text.Hyperlink(to, s)
	}
	return s
}

// ending is the last n bytes of a path, which tell most.
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
func fit(s string, width int) string {
	if breadth(s) <= width {
		return s
	}
	return text.Trim(s, width-1) + "…"
}
