package report

import (
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/plegforensics/plegforensics/replay"
)

// writeTimelineText prints the ledger of each node, oldest relist first.
func writeTimelineText(w io.Writer, r *Report, opt Options) error {
	p := newPrinter(w, opt)
	for i := range r.Nodes {
		n := &r.Nodes[i]
		p.setDay(n.Window)
		p.heading(Visible(n.Name))
		p.para("  ", windowLine(n.Window))
		p.timeline(n)
		p.runs(n.Node)
		p.ledger(n.Node)
		p.health(n.Node)
		p.ready(n.Node)
		p.gaps(n)
	}
	return p.Flush()
}

func (p *printer) runs(n *replay.Node) {
	for _, r := range n.Runs {
		p.para("  ", fmt.Sprintf("kubelet pid %d: %s to %s %s", r.PID, p.clock(r.First), p.clock(r.Last), Visible(r.Version)))
	}
}

func (p *printer) ledger(n *replay.Node) {
	if len(n.Relists) == 0 && len(n.Bounded) == 0 {
		return
	}
	p.heading("Relists proven")
	g := p.table("start (UTC)", "±", "length", "outcome", "listed", "proof")
	for i := range n.Relists {
		g.AppendRow(p.relistRow(&n.Relists[i]))
	}
	if len(n.Relists) > 0 {
		p.render(g)
	}
	for i := range n.Bounded {
		p.para("  ", p.stretch(&n.Bounded[i]))
	}
}

// stretch says what bounds the relists of a stretch.
func (p *printer) stretch(b *replay.Bounded) string {
	count := fmt.Sprintf("between %d and %d relists", b.CountMin, b.CountMax)
	if b.CountMin == b.CountMax {
		count = plural(b.CountMin, "relist")
	}
	s := fmt.Sprintf("%s to %s: %s that no line dates", p.clock(b.From), p.clock(b.To), count)
	switch {
	case b.Long > 0 && b.CountMax == 1:
		s += ", it took " + Span(b.Sum)
	case b.Long > 0:
		s += fmt.Sprintf(", %d of them over 10s, together %s", b.Long, Span(b.Sum))
	}
	if b.Silent {
		s += "; no snapshot of the metrics succeeded meanwhile"
	}
	return s
}

func (p *printer) health(n *replay.Node) {
	if len(n.Health) == 0 {
		return
	}
	p.heading("Health")
	g := p.table("from", "to", "for", "PLEG")
	for _, h := range n.Health {
		length := "?"
		if h.To > h.From {
			length = Span(time.Duration(h.To - h.From))
		}
		g.AppendRow(table.Row{p.clock(h.From), p.clock(h.To), length, h.State})
	}
	p.render(g)
}

func (p *printer) ready(n *replay.Node) {
	if len(n.Ready) == 0 {
		return
	}
	p.heading("Node Ready condition")
	g := p.table("at", "ready", "reason", "where")
	for _, c := range n.Ready {
		var where any = ""
		if c.Record != nil {
			where = p.linked(c.Where(), Visible(c.Where().String()))
		}
		g.AppendRow(table.Row{p.clock(c.At), c.Ready, Visible(c.Reason), where})
	}
	p.render(g)
}
