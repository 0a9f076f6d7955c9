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
func (p *printer) para(indent, s string) {
	hang := strings.Repeat(" ", text.StringWidthWithoutEscSequences(indent))
	wrapped := text.WrapSoft(s, max(p.opt.Width-len(hang), least))
	for i, line := range strings.Split(wrapped, "\n") {
		if i > 0 {
			indent = hang
		}
		fmt.Fprintln(p, strings.TrimRight(indent+strings.TrimRight(line, " "), " "))
	}
}

// least is how narrow a column may become before one is left out.
const least = 20

// render prints the table. Where it is wider than the terminal, the widest
// columns are wrapped; where that is not enough, the last ones are left out.
func (p *printer) render(g *Section) {
	widths := p.widths(g)
	fits := func() int { return p.opt.Width - 2*len(widths) - sum(widths) }
	wrapped := false
	for fits() < 0 {
		i := widest(widths)
		if widths[i] <= least {
			widths = widths[:len(widths)-1]
			continue
		}
		wrapped = true
		second := widths[nextWidest(widths, i)] // no column gives way before a wider one
		widths[i] = max(least, min(widths[i]-1, max(second, widths[i]+fits())))
	}
	for _, l := range strings.Split(p.layOut(g, widths, wrapped), "\n") {
		fmt.Fprintln(p, strings.TrimRight(l, " "))
	}
	if left := g.Columns[len(widths):]; len(left) > 0 {
		p.para("  ", p.paint(faint, "a wider terminal shows also: "+strings.Join(left, ", ")))
	}
}

func sum(ns []int) int {
	total := 0
	for _, n := range ns {
		total += n
	}
	return total
}

func widest(ns []int) int { return nextWidest(ns, -1) }

// nextWidest is the index of the greatest but the one at skip.
func nextWidest(ns []int, skip int) int {
	best := -1
	for i, n := range ns {
		if i != skip && (best < 0 || n > ns[best]) {
			best = i
		}
	}
	return max(best, 0)
}

// widths are those that the columns need.
func (p *printer) widths(g *Section) []int {
	out := make([]int, len(g.Columns))
	for i, c := range g.Columns {
		out[i] = text.StringWidthWithoutEscSequences(c)
		for _, r := range g.Rows {
			out[i] = max(out[i], text.StringWidthWithoutEscSequences(r[i].Text))
		}
	}
	return out
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
		configs = append(configs, table.ColumnConfig{Number: i + 1, WidthMax: w, WidthMaxEnforcer: text.WrapSoft})
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
