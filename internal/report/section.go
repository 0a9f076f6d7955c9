package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// Section is a table with its title and surrounding text. Text, Markdown and HTML share it.
type Section struct {
	Title   string
	Lead    []string // before the table
	Columns []string
	Rows    [][]Cell
	Least   int            // width to which a column may shrink before the last one is dropped; 0: least
	More    int            // number of rows omitted
	Notes   []string       // after the table
	Parts   []Part         // after the notes
	zone    *time.Location // for local times beside UTC; nil: none
}

// Part is a labeled list.
type Part struct {
	Label    string
	Quotes   []model.Evidence
	Items    []string
	Commands []string // never cut: they are copied
}

// Cell is one cell of a table.
type Cell struct {
	Text  string
	Class string          // CSS class
	At    *model.Evidence // the line it refers to
}

// Row adds a row of Cells and values. A model.Time is printed to the second, "" if unknown; a
// *float64 is a number of seconds, "?" for nil, as for *int; a *string is "unknown" if nil;
// anything else is printed as by fmt.Sprint.
func (s *Section) Row(cells ...any) {
	row := make([]Cell, len(cells))
	for i, c := range cells {
		switch x := c.(type) {
		case Cell:
			row[i] = x
		case model.Time:
			row[i].Text = strings.TrimPrefix(times{time.DateTime, s.zone}.clock(x), "?")
		case *float64:
			row[i].Text = span(x)
		case *int:
			row[i].Text = cmp.Or(integer(x), "?")
		case *string:
			row[i].Text = cmp.Or(model.Known(x), "unknown")
		default:
			row[i].Text = fmt.Sprint(c)
		}
	}
	s.Rows = append(s.Rows, row)
}

// Keep limits the rows to most and counts the rest in More.
func (s *Section) Keep(most int) {
	if len(s.Rows) > most {
		s.More, s.Rows = len(s.Rows)-most, s.Rows[:most]
	}
}

// merge merges rows whose first columns are equal, and shows their number.
func (s *Section) merge(columns int) {
	times := map[string]int{}
	key := func(r []Cell) (k string) {
		for _, c := range r[:columns] {
			k += c.Text + "\n"
		}
		return k
	}
	s.Rows = slices.DeleteFunc(s.Rows, func(r []Cell) bool { times[key(r)]++; return times[key(r)] > 1 })
	for _, r := range s.Rows {
		if n := times[key(r)]; n > 1 {
			r[0].Text += fmt.Sprintf(" ×%d", n)
		}
	}
}

func (s *Section) empty() bool { return len(s.Rows)+len(s.Lead)+len(s.Notes)+len(s.Parts) == 0 }

// place returns a cell that refers to a line, with a long path shortened.
func place(e *model.Evidence, most int) Cell {
	if e == nil {
		return Cell{}
	}
	return Cell{Text: shortPath(e.Where(), most), At: e}
}

// section prints a section unless it is empty.
func (p *printer) section(s Section) {
	if s.empty() {
		return
	}
	p.heading(s.Title)
	for _, l := range s.Lead {
		p.para("  ", l)
	}
	if len(s.Rows) > 0 {
		p.render(&s)
	}
	if s.More > 0 {
		fmt.Fprintf(p, "  and %d more; --verbose lists all\n", s.More)
	}
	for _, l := range s.Notes {
		p.para("  - ", l)
	}
	for _, x := range s.Parts {
		p.part(&x)
	}
}

// part prints a list; the label precedes the first item.
func (p *printer) part(x *Part) {
	label := x.Label
	indent := func() string {
		s := fmt.Sprintf("  %-10s", label)
		label = ""
		return s
	}
	for i := range x.Quotes {
		p.quote(indent(), &x.Quotes[i])
	}
	for _, s := range x.Items {
		p.para(indent(), s)
	}
	for _, s := range x.Commands {
		fmt.Fprintf(p, "%s$ %s\n", indent(), s)
	}
}

func markdownSection(b *bufio.Writer, level string, s Section) {
	if s.empty() {
		return
	}
	fmt.Fprintf(b, "\n%s %s\n", level, md(s.Title))
	for _, l := range s.Lead {
		fmt.Fprintf(b, "\n%s\n", md(l))
	}
	if len(s.Rows) > 0 {
		fmt.Fprintf(b, "\n|")
		for _, c := range s.Columns {
			fmt.Fprintf(b, " %s |", md(c))
		}
		fmt.Fprintf(b, "\n|%s\n", strings.Repeat("---|", len(s.Columns)))
	}
	for _, r := range s.Rows {
		for _, c := range r {
			text := md(c.Text)
			if c.At != nil {
				text = code(c.At.Where())
			}
			fmt.Fprintf(b, "| %s ", text)
		}
		fmt.Fprintln(b, "|")
	}
	if s.More > 0 {
		fmt.Fprintf(b, "\nand %d more\n", s.More)
	}
	for i, l := range s.Notes {
		if i == 0 {
			fmt.Fprintln(b)
		}
		fmt.Fprintf(b, "- %s\n", md(l))
	}
	for _, x := range s.Parts {
		markdownPart(b, &x)
	}
}

func markdownPart(b *bufio.Writer, x *Part) {
	if len(x.Quotes)+len(x.Items)+len(x.Commands) > 0 {
		fmt.Fprintf(b, "\n%s:\n\n", sentenceCase(x.Label))
	}
	for _, e := range x.Quotes {
		note := ""
		if e.Note != "" {
			note = ", " + md(e.Note)
		}
		fmt.Fprintf(b, "- %s%s\n\n", code(e.Where()), note)
		if e.Text != "" { // empty if it was quoted before
			fmt.Fprintf(b, "  %s\n\n", code(e.Text))
		}
	}
	for _, s := range x.Items {
		fmt.Fprintf(b, "- %s\n", md(s))
	}
	for _, s := range x.Commands {
		fmt.Fprintf(b, "- %s\n", code(s))
	}
}

// Document is a report that consists of sections only.
type Document struct {
	Title, Summary, Version string
	Sections                []Section
	Notes                   []string
}

// Text writes the document for a terminal.
func (d *Document) Text(w io.Writer, opt Options) error {
	p := newPrinter(w, opt)
	p.para("", d.Summary)
	for _, s := range d.Sections {
		p.section(s)
	}
	for _, n := range d.Notes {
		p.para("", n)
	}
	return p.Flush()
}

// Markdown writes the document as Markdown.
func (d *Document) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s\n\n%s\n", md(d.Title), md(d.Summary))
	for _, s := range d.Sections {
		markdownSection(b, "##", s)
	}
	for _, n := range d.Notes {
		fmt.Fprintf(b, "\n- %s\n", md(n))
	}
	fmt.Fprintf(b, "\nplegforensics %s\n", md(d.Version))
	return b.Flush()
}
