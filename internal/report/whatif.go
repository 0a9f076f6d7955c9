package report

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// whatIfColumns head the table of what-ifs.
var whatIfColumns = []string{"what if", "PLEG", "unhealthy for", "breaches", "longest relist"}

// whatIfRows are the history as it was and as it would have been.
func whatIfRows(as []model.WhatIf) [][]string {
	if len(as) == 0 {
		return nil
	}
	out := [][]string{whatIfRow("as it was", &as[0], was)}
	for i := range as {
		out = append(out, whatIfRow(as[i].Change, &as[i], would))
	}
	return out
}

func was(r model.AnswerRow) float64   { return r.Was }
func would(r model.AnswerRow) float64 { return r.Would }

func whatIfRow(name string, a *model.WhatIf, side func(model.AnswerRow) float64) []string {
	measure := func(name string) float64 {
		for _, r := range a.Table {
			if r.Measure == name {
				return side(r)
			}
		}
		return 0
	}
	breaches, length := measure("stretches unhealthy"), measure("time unhealthy")
	state := "unhealthy"
	if breaches == 0 {
		state = "stays healthy"
		if name == "as it was" {
			state = "healthy"
		}
	}
	return []string{name, state, quantity(length, "seconds"), fmt.Sprint(breaches), quantity(measure("longest relist"), "seconds")}
}

// whatIfAssumed is what all answers take for granted, then what only some do.
func whatIfAssumed(as []model.WhatIf) []string {
	var out []string
	for _, a := range as {
		for _, s := range a.Assumptions {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// whatIf prints the answers with health in one column, so that they stand as a
// table on narrow screens too.
func (p *printer) whatIf(n *model.Node) {
	if len(n.WhatIf) == 0 {
		return
	}
	p.heading("What if")
	g := p.table("what if", "PLEG", "longest relist")
	for _, r := range whatIfRows(n.WhatIf) {
		health := r[1]
		if health == "unhealthy" {
			health += " " + r[2]
			if r[3] != "1" {
				health += ", " + r[3] + " times"
			}
		}
		g.AppendRow(table.Row{fit(r[0], max(p.opt.Width-46, 34)), health, r[4]})
	}
	p.render(g)
	for _, s := range whatIfAssumed(n.WhatIf) {
		p.para("  ", "assumed: "+s)
	}
}

func markdownWhatIf(b *bufio.Writer, n *model.Node) {
	if len(n.WhatIf) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### What if\n\n| %s |\n|%s\n", strings.Join(whatIfColumns, " | "), strings.Repeat("---|", len(whatIfColumns)))
	for _, r := range whatIfRows(n.WhatIf) {
		for _, c := range r {
			fmt.Fprintf(b, "| %s ", md(c))
		}
		fmt.Fprintln(b, "|")
	}
	markdownList(b, "Assumed", whatIfAssumed(n.WhatIf))
}
