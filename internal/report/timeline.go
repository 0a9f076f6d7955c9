package report

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// writeTimelineText prints the history of each node, oldest relist first.
func writeTimelineText(w io.Writer, r *model.Report, opt Options) error {
	p := newPrinter(w, opt)
	for _, n := range r.Nodes {
		p.setDay(n.Window)
		p.heading(n.Name)
		p.para("  ", windowLine(n.Window))
		p.timeline(n)
		for _, r := range n.History.Runs {
			p.para("  ", fmt.Sprintf("kubelet pid %d: %s to %s %s", r.PID, p.clock(r.First), p.clock(r.Last), orEmpty(r.Version)))
		}
		p.ledger(n.History)
		p.health(n.History)
		p.ready(n.History)
		p.gaps(n.History)
	}
	return p.Flush()
}

func (p *printer) ledger(h *model.History) {
	if len(h.Relists) == 0 && len(h.Bounded) == 0 {
		return
	}
	p.heading("Relists proven")
	g := p.table(relistColumns...)
	for i := range h.Relists {
		g.AppendRow(p.relistRow(&h.Relists[i]))
	}
	if len(h.Relists) > 0 {
		p.render(g)
	}
	for i := range h.Bounded {
		p.para("  ", p.stretch(&h.Bounded[i]))
	}
}

// stretch says what bounds the relists of a stretch.
func (p *printer) stretch(b *model.Bounded) string {
	count := fmt.Sprintf("between %d and %d undated relists", b.Min, b.Max)
	if b.Min == b.Max {
		count = model.Plural(b.Min, "undated relist")
	}
	s := fmt.Sprintf("%s to %s: %s", p.clock(b.From), p.clock(b.To), count)
	switch {
	case b.Long > 0 && b.Max == 1:
		s += ", it took " + span(b.Sum)
	case b.Long > 0:
		s += fmt.Sprintf(", %d of them over 10s, together %s", b.Long, span(b.Sum))
	}
	if b.Silent {
		s += "; no snapshot of the metrics succeeded meanwhile"
	}
	return s
}

func (p *printer) health(h *model.History) {
	if len(h.Health) == 0 {
		return
	}
	p.heading("Health")
	g := p.table("from", "to", "for", "PLEG")
	for _, x := range h.Health {
		length := "?"
		if x.To > x.From {
			length = Span(x.To.Sub(x.From))
		}
		g.AppendRow(table.Row{p.clock(x.From), p.clock(x.To), length, x.State})
	}
	p.render(g)
}

func (p *printer) ready(h *model.History) {
	if len(h.Ready) == 0 {
		return
	}
	p.heading("Node Ready condition")
	g := p.table("at", "ready", "reason", "where")
	for _, c := range h.Ready {
		var where any = ""
		if c.Evidence != nil {
			where = p.linked(c.Evidence, shortPath(c.Evidence.Where(), 40))
		}
		g.AppendRow(table.Row{p.clock(c.Time), c.Ready, c.Reason, where})
	}
	p.render(g)
}
