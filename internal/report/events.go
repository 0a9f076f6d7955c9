package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/replay"
)

// EventFormats are the output formats of events.
var EventFormats = []Format{
	{"text", "events by time, with what the audit says of each", writeEventsText},
	{"json", "one object, schema plegforensics/events/v1", writeEventsJSON},
	{"ndjson", "one event a line, with the node's name", writeEventsNDJSON},
	{"csv", "one event a row, for a spreadsheet", writeEventsCSV},
}

// writeEventsJSON writes one event a line: a node can have very many.
func writeEventsJSON(w io.Writer, r *Report, _ Options) error {
	b := bufio.NewWriter(w)
	b.WriteString("{\"schema\":\"plegforensics/events/v1\",\n\"nodes\":[")
	for i, n := range model.Fill(r, nil).Events().Nodes {
		if i > 0 {
			b.WriteString(",")
		}
		if err := writeEventNode(b, n); err != nil {
			return err
		}
	}
	b.WriteString("]}\n")
	return b.Flush()
}

func writeEventNode(b *bufio.Writer, n model.NodeEvents) error {
	events := n.Events
	n.Events = model.Seq[model.PodEvent]{}
	head, err := model.Compact(n)
	const open = `"events":[`
	before, after, _ := bytes.Cut(head, []byte(open))
	fmt.Fprintf(b, "\n%s%s", before, open)
	comma := ""
	events.Each(func(e model.PodEvent) {
		line, bad := model.Compact(e)
		fmt.Fprintf(b, "%s\n%s", comma, line)
		comma, err = ",", cmp.Or(err, bad)
	})
	b.Write(after)
	return err
}

func writeEventsNDJSON(w io.Writer, r *Report, _ Options) error {
	b := bufio.NewWriter(w)
	var err error
	for _, n := range model.Fill(r, nil).Events().Nodes {
		n.Events.Each(func(e model.PodEvent) {
			e.Node = n.Name
			err = cmp.Or(err, MarkedLine(b, "event", e))
		})
	}
	return cmp.Or(err, b.Flush())
}

var eventColumns = []string{"node", "time", "pod_uid", "pod", "type", "data", "status", "runtime_time", "lag_seconds", "exit_code", "file", "line"}

func writeEventsCSV(w io.Writer, r *Report, _ Options) error {
	c := csv.NewWriter(w)
	if err := c.Write(eventColumns); err != nil {
		return err
	}
	for _, n := range r.Nodes {
		for _, e := range n.Audit.Events.All() {
			if err := c.Write(eventRow(n.Name, &e)); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}

func eventRow(node string, e *replay.PodEvent) []string {
	row := []string{csvCell(node), orEmpty(stamp(e.At)), csvCell(e.PodUID), csvCell(e.Pod), csvCell(e.Type), csvCell(e.Data), e.Status,
		orEmpty(stamp(e.RuntimeTime)), "", "", "", ""}
	if e.HasLag {
		row[8] = strconv.FormatFloat(seconds(e.Lag), 'f', 6, 64)
	}
	if e.ExitCode != nil {
		row[9] = strconv.Itoa(*e.ExitCode)
	}
	for _, ev := range e.Evidence() {
		if ev.Record == nil || ev.Where().File == nil {
			continue
		}
		row[10], row[11] = csvCell(ev.Where().File.Path), strconv.FormatUint(uint64(ev.Where().Line), 10)
		break
	}
	return row
}

// csvCell makes a string safe in a spreadsheet: a leading = + - @ or tab would
// start a formula there.
func csvCell(s string) string {
	s = Visible(s)
	if s != "" && strings.ContainsRune("=+-@\t", rune(s[0])) {
		return "'" + s
	}
	return s
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func writeEventsText(w io.Writer, r *Report, opt Options) error {
	p := newPrinter(w, opt)
	for _, n := range r.Nodes {
		p.auditEvents(&n)
	}
	return p.Flush()
}

func (p *printer) auditEvents(n *Node) {
	a := &n.Audit
	fmt.Fprintf(p, "%s: %s observed", nodeName(n.Node), plural(a.Observed, "event"))
	if a.Audited {
		fmt.Fprintf(p, ", %d replayed, %d missing, %d late, %d unexpected", a.Replayed, a.Missing, a.Late, a.Unexpected)
	}
	fmt.Fprintf(p, ", %d discarded\n", a.Discarded)
	for _, note := range a.Notes {
		fmt.Fprintf(p, "  %s\n", Visible(note))
	}
	fmt.Fprintln(p)
	for _, e := range a.Events.All() {
		p.event(&e)
	}
	for _, s := range a.ShortLived {
		fmt.Fprintf(p, "%s  short-lived  %s of %s ran for %s between two relists: PLEG cannot have seen it run\n",
			clockOf(s.Started), Visible(s.ID), Visible(s.Pod), Span(time.Duration(s.Ended-s.Started)))
	}
	fmt.Fprintln(p)
}

func (p *printer) event(e *replay.PodEvent) {
	pod := e.Pod
	if pod == "" {
		pod = e.PodUID
	}
	line := fmt.Sprintf("%s  %-10s  %-16s  %s  %s", clockOf(e.At), e.Status, e.Type, Visible(pod), Visible(e.Data))
	if e.HasLag {
		line += "  after " + Span(e.Lag)
	}
	if e.ExitCode != nil {
		line += fmt.Sprintf("  exit code %d", *e.ExitCode)
	}
	for _, ev := range e.Evidence() {
		if ev.Record != nil {
			line += "  [" + Visible(ev.Where().String()) + "]"
			break
		}
	}
	fmt.Fprintln(p, strings.TrimRight(line, " "))
}

func nodeName(n *replay.Node) string {
	if n.Name == "" {
		return "node without a name"
	}
	return Visible(n.Name)
}
