package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// printer writes the text formats. It handles width, color and truncation in one place.
type printer struct {
	*bufio.Writer
	times
	opt   Options
	cut   int               // level of shortening, to make the screen fit; see most
	named map[string]string // files whose path was printed in full, by last path element
}

func newPrinter(w io.Writer, opt Options) *printer {
	if opt.Width <= 0 {
		opt.Width = 80
	}
	return &printer{bufio.NewWriter(w), times{dayAndTime, opt.Zone}, opt, 0, map[string]string{}}
}

// setDay omits the day from times if all records are of one day, which the line about the window
// names.
func (p *printer) setDay(w model.Window) {
	p.date = dayAndTime
	if w.Start != 0 && layout(w.Start, time.DateOnly) == layout(w.End, time.DateOnly) {
		p.date = timeOnly
	}
}

func (p *printer) paint(c text.Colors, s string) string {
	if !p.opt.Color {
		return s
	}
	return c.EscapeSeq() + s + text.Reset.EscapeSeq()
}

var (
	bold   = text.Colors{text.Bold}
	faint  = text.Colors{text.Faint}
	red    = text.Colors{text.FgRed, text.Bold}
	yellow = text.Colors{text.FgYellow}
	green  = text.Colors{text.FgGreen}
)

var statusColors = map[string]text.Colors{"unhealthy": red, "degraded": yellow, "healthy": green, "unknown": faint}

// status prints the name of a node and its status.
func (p *printer) status(name, status string) {
	fmt.Fprintf(p, "\n%s\n", p.paint(statusColors[status], wrap(name+": "+status, p.opt.Width)))
}

func (p *printer) heading(s string) {
	fmt.Fprintf(p, "\n%s\n", p.paint(bold, wrap(s, p.opt.Width)))
}

// para prints s wrapped to the width, indented by indent.
func (p *printer) para(indent, s string) { p.clipped(indent, s, whole) }

// clipped prints at most most lines of a paragraph. It drops whole sentences and clauses from the
// end; a single one that does not fit is cut.
func (p *printer) clipped(indent, s string, most int) {
	s = p.prose(s)
	width := max(p.opt.Width-breadth(indent), least)
	lines := strings.Split(wrap(s, width), "\n")
	for len(lines) > most {
		i := max(strings.LastIndex(s, "; "), strings.LastIndex(s, ". ")+1)
		if i <= 0 {
			break
		}
		s = s[:i]
		lines = strings.Split(wrap(s, width), "\n")
	}
	for i, l := range lines[:min(len(lines), most)] {
		if i == most-1 && len(lines) > most {
			l = fit(strings.TrimRight(l, " ")+" …", width)
		}
		fmt.Fprintln(p, strings.TrimRight(indent+l, " "))
		indent = strings.Repeat(" ", breadth(indent))
	}
}

// wrap breaks text into lines of at most width columns, at spaces; words longer than that are
// broken after punctuation.
func wrap(s string, width int) string {
	var lines []string
	for l := range strings.SplitSeq(s, "\n") {
		if breadth(l) <= width {
			lines = append(lines, l)
			continue
		}
		line := ""
		for word := range strings.FieldsSeq(l) {
			n := breadth(word)
			if line != "" && breadth(line)+1+n > width {
				lines, line = append(lines, line), ""
			}
			for n > width && !strings.Contains(word, "\x1b") {
				head := part(word, width)
				lines, word, n = append(lines, head), word[len(head):], n-breadth(head)
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func breadth(s string) int { return text.StringWidthWithoutEscSequences(s) }

// part returns the head of a word that is longer than width.
func part(word string, width int) string {
	end, n := len(word), 0
	for i, r := range word {
		if n += text.RuneWidth(r); n > width && i > 0 {
			end = i
			break
		}
	}
	if good := strings.LastIndexAny(word[:end], "-/.,:{") + 1; good > end/2 {
		return word[:good]
	}
	return word[:end]
}

// least is the minimum width of a column, unless the table specifies another.
const least = 20

// render prints a table as wide as the terminal. Rows that look the same are merged, with their
// number. A cell that wraps has no link, because a link ends with its line.
func (p *printer) render(g *Section) {
	g.Least = cmp.Or(g.Least, least)
	g.merge(len(p.fit(g)))
	widths := p.fit(g)
	t := table.NewWriter()
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header, style.Format.Footer = text.FormatDefault, text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "  ", ""
	if p.opt.Color {
		style.Color.Header = faint
	}
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	var head table.Row
	var configs []table.ColumnConfig
	for i, w := range widths {
		head = append(head, g.Columns[i])
		configs = append(configs, table.ColumnConfig{Number: i + 1, WidthMax: w, WidthMaxEnforcer: wrap})
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(head)
	for _, r := range g.Rows {
		var row table.Row
		for i, w := range widths {
			c := r[i]
			if c.At != nil && breadth(c.Text) <= w {
				c.Text = p.link(c.At, c.Text)
			}
			row = append(row, c.Text)
		}
		t.AppendRow(row)
	}
	fmt.Fprintln(p, t.Render())
	if left := g.Columns[len(widths):]; len(left) > 0 {
		p.para("  ", p.paint(faint, "a wider terminal shows also: "+strings.Join(left, ", ")))
	}
}

// fit returns the widths of the columns that are shown; if not all fit, the last ones are left out.
// To make the others fit, the widest column that can shrink without breaking a word shrinks first,
// then the one with the longest word.
func (p *printer) fit(g *Section) []int {
	var need, words []int // per column: its width, and that of its longest word
	narrow, over := 0, -p.opt.Width
	for i, c := range g.Columns {
		n, longest := breadth(c), 0
		for _, r := range g.Rows {
			n = max(n, breadth(r[i].Text))
			for w := range strings.FieldsSeq(c + " " + r[i].Text) {
				longest = max(longest, breadth(w))
			}
		}
		if narrow += 2 + min(n, g.Least); i > 0 && narrow > p.opt.Width {
			break
		}
		need, words, over = append(need, n), append(words, longest), over+2+n
	}
	for ; over > 0; over-- {
		give, most := -1, 0
		for i, n := range need {
			ease := 1<<20 + n
			if n <= words[i] {
				ease = words[i] // its longest word would break
			}
			if n > g.Least && ease > most {
				give, most = i, ease
			}
		}
		if give < 0 {
			break // a single column that is wider than the terminal
		}
		need[give]--
	}
	return need
}
