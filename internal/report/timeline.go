package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// writeTimelineText prints the history of each node, oldest relist first.
func writeTimelineText(w io.Writer, r *model.Report, opt Options) error {
	p := newPrinter(w, opt)
	for _, n := range r.Nodes {
		p.setDay(n.Window)
		p.heading(orNode(n.Name))
		p.para("  ", windowLine(n.Window, true))
		for _, note := range n.History.Notes {
			p.para("  ", note)
		}
		p.conflicts(n)
		p.timeline(n)
		for _, r := range n.History.Runs {
			p.para("  ", fmt.Sprintf("%s, pid %d: %s to %s", strings.TrimSpace("kubelet "+model.Known(r.Version)), r.PID, p.clock(r.First), p.clock(r.Last)))
		}
		for _, x := range []Section{p.ledger(n.History), p.health(n.History), p.ready(n.History), p.gaps(n.History)} {
			p.section(x)
		}
	}
	return p.Flush()
}

// conflicts prints the contradictions of a node's records, as the screen of analyze does.
func (p *printer) conflicts(n *model.Node) {
	for i := range n.Conflicts[:min(len(n.Conflicts), p.most(4))] {
		p.label("warning", n.Conflicts[i].Message, p.most(8))
	}
}
