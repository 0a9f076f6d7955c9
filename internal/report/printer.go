package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// printer writes the text formats: one place for width, colour and cutting.
type printer struct {
	*bufio.Writer
	times
	opt Options
}

func newPrinter(w io.Writer, opt Options) *printer {
	if opt.Width <= 0 {
		opt.Width = 80
	}
	return &printer{bufio.NewWriter(w), times{dayAndTime, opt.Zone}, opt}
}

// setDay drops the day from moments where all records are of one day, which the
// line about the window names.
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

func statusColor(status string) text.Colors {
	switch status {
	case "unhealthy":
		return red
	case "degraded":
		return yellow
	case "healthy":
		return green
	}
	return faint
}

func (p *printer) heading(s string) { fmt.Fprintf(p, "\n%s\n", p.paint(bold, s)) }

// para prints s wrapped to the width, each line after indent.
func (p *printer) para(indent, s string) { p.clipped(indent, s, whole) }

// clipped prints at most most lines of a paragraph.
func (p *printer) clipped(indent, s string, most int) {
	width := max(p.opt.Width-breadth(indent), least)
	lines := strings.Split(wrap(s, width), "\n")
	for i, l := range lines[:min(len(lines), most)] {
		if i == most-1 && len(lines) > most {
			l = fit(strings.TrimRight(l, " ")+" …", width)
		}
		fmt.Fprintln(p, strings.TrimRight(indent+l, " "))
		indent = strings.Repeat(" ", breadth(indent))
	}
}

// wrap breaks a text into lines of at most width columns: between words, and words
// that are longer where a part of them ends.
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

// part is the beginning of a word that is longer than width.
func part(word string, width int) string {
	end, good, n := len(word), 0, 0
	for i, r := range word {
		if n += text.RuneWidth(r); n > width && i > 0 {
			end = i
			break
		}
		if strings.ContainsRune("-/.,:{", r) {
			good = i + 1
		}
	}
	if good > end/2 {
		return word[:good]
	}
	return word[:end]
}

// least is how narrow a column may become before one is left out.
const least = 20

// render prints the table as wide as the terminal is.
func (p *printer) render(g *Section) {
	widths, wrapped := p.fit(g)
	for _, l := range strings.Split(p.layOut(g, widths, wrapped), "\n") {
		fmt.Fprintln(p, strings.TrimRight(l, " "))
	}
	if left := g.Columns[len(widths):]; len(left) > 0 {
		p.para("  ", p.paint(faint, "a wider terminal shows also: "+strings.Join(left, ", ")))
	}
}

// fit returns the widths of the columns that are shown: the last ones are left out
// where all cannot fit. Of the others the widest gives way first, as far as that
// breaks no word; then the one of the longest word does.
func (p *printer) fit(g *Section) (widths []int, wrapped bool) {
	need, words := p.widths(g)
	narrow := 0
	for i, n := range need {
		if narrow += 2 + min(n, least); i > 0 && narrow > p.opt.Width {
			need = need[:i]
			break
		}
	}
	over := 2*len(need) - p.opt.Width
	for _, n := range need {
		over += n
	}
	for wrapped = over > 0; over > 0; over-- {
		give, breaks := -1, -1
		for i, n := range need {
			if n > max(words[i], least) && (give < 0 || n > need[give]) {
				give = i
			}
			if n > least && (breaks < 0 || words[i] > words[breaks]) {
				breaks = i
			}
		}
		if give < 0 {
			give = breaks
		}
		if give < 0 {
			break // one column that is wider than the terminal
		}
		need[give]--
	}
	return need, wrapped
}

// widths are those that the columns need, and those of their longest words.
func (p *printer) widths(g *Section) (need, words []int) {
	see := func(i int, s string) {
		need[i] = max(need[i], breadth(s))
		for w := range strings.FieldsSeq(s) {
			words[i] = max(words[i], breadth(w))
		}
	}
	need, words = make([]int, len(g.Columns)), make([]int, len(g.Columns))
	for i, c := range g.Columns {
		see(i, c)
		for _, r := range g.Rows {
			see(i, r[i].Text)
		}
	}
	return need, words
}

// layOut sets the rows in the one style that the text formats use. A wrapped
// table has no links: a link ends with its line.
func (p *printer) layOut(g *Section, widths []int, wrapped bool) string {
	t := table.NewWriter()
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header, style.Format.Footer = text.FormatDefault, text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "  ", ""
	if p.opt.Color {
		style.Color.Header = faint
	}
	t.SetStyle(style)
	var head table.Row
	var configs []table.ColumnConfig
	for i, w := range widths {
		head = append(head, g.Columns[i])
		configs = append(configs, table.ColumnConfig{Number: i + 1, WidthMax: w, WidthMaxEnforcer: wrap})
	}
	if wrapped {
		t.SetColumnConfigs(configs)
	}
	t.AppendHeader(head)
	for _, r := range g.Rows {
		var row table.Row
		for _, c := range r[:len(widths)] {
			if c.At != nil && !wrapped {
				c.Text = p.link(c.At, c.Text)
			}
			row = append(row, c.Text)
		}
		t.AppendRow(row)
	}
	return t.Render()
}
