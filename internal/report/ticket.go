package report

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
)

// ticketNodes is the maximum number of nodes in a ticket.
const ticketNodes = 12

// writeTicket writes plain text to paste into a ticket, without colors or tables: for each node its
// summary, what to do or collect, and the best evidence.
func writeTicket(w io.Writer, r *model.Report, opt Options) error {
	_, err := io.WriteString(w, strings.Join(slices.Concat(ticket(r, times{zone: opt.Zone})...), "\n")+"\n")
	return err
}

// ticket returns the lines of each node.
func ticket(r *model.Report, t times) [][]string {
	var out [][]string
	for i, n := range r.Nodes {
		if i == ticketNodes {
			return append(out, []string{"and " + parse.Plural(len(r.Nodes)-i, "more node")})
		}
		out = append(out, t.ticketLines(n))
	}
	if len(out) == 0 {
		return [][]string{{"No node was found in the input."}}
	}
	return out
}

func (t times) ticketLines(n *model.Node) []string {
	out := []string{t.prose(n.Summary)}
	if n.Kubelet.Rules != "" {
		out = append(out, "Kubelet "+n.Kubelet.Known())
	}
	c, sure := leading(n)
	switch {
	case c == nil || n.Status == "healthy":
		return out
	case !sure && len(n.Collect) > 0:
		out = append(out, strings.TrimSuffix("Collect next: "+n.Collect[0].What+": "+n.Collect[0].Command, ": "))
	case sure && len(c.Remediation) > 0:
		out = append(out, "Do first: "+t.prose(c.Remediation[0]))
	}
	for _, e := range c.For.Told(2) {
		proof := "Proof: " + shortPath(e.Where(), 60)
		if e.Time != 0 {
			proof += layout(e.Time, "  "+time.TimeOnly) + t.local(e.Time)
		}
		if note := gist(e.Note); note != "" {
			proof += "  " + note + ":"
		}
		out = append(out, proof+"  "+fit(flat(e.Message()), 200))
	}
	return out
}
