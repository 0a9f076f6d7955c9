package report

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/replay"
)

// EventFormats are the output formats of events.
var EventFormats = []Format{
	{"text", "events by time, with what the audit says of each", writeEventsText},
	{"json", "one object, schema plegforensics/events/v1", writeEventsJSON},
	{"ndjson", "one event a line, with the node's name", writeEventsNDJSON},
	{"csv", "one event a row, for a spreadsheet", writeEventsCSV},
}

// The types below mirror schema plegforensics/events/v1.
type (
	jsonEventNode struct {
		Name       string           `json:"name"`
		Events     []jsonPodEvent   `json:"events"`
		Audit      jsonAudit        `json:"audit"`
		ShortLived []jsonShortLived `json:"short_lived"`
	}
	jsonAudit struct {
		Audited    bool     `json:"audited"`
		Observed   int      `json:"observed"`
		Replayed   int      `json:"replayed"`
		Missing    int      `json:"missing"`
		Late       int      `json:"late"`
		Unexpected int      `json:"unexpected"`
		Discarded  int      `json:"discarded"`
		Notes      []string `json:"notes"`
	}
	jsonShortLived struct {
		ID       string         `json:"id"`
		Pod      string         `json:"pod"`
		Started  *string        `json:"started"`
		Ended    *string        `json:"ended"`
		Evidence []jsonEvidence `json:"evidence"`
	}
	jsonPodEvent struct {
		Node        string         `json:"node,omitempty"` // ndjson only
		Time        *string        `json:"time"`
		PodUID      *string        `json:"pod_uid"`
		Pod         *string        `json:"pod"`
		Type        *string        `json:"type"`
		Data        *string        `json:"data"`
		Status      string         `json:"status"`
		RuntimeTime *string        `json:"runtime_time"`
		Lag         *float64       `json:"lag_seconds"`
		ExitCode    *int           `json:"exit_code"`
		Evidence    []jsonEvidence `json:"evidence"`
	}
)

func podEventJSON(e *replay.PodEvent) jsonPodEvent {
	j := jsonPodEvent{Time: stamp(e.At), PodUID: known(e.PodUID), Pod: known(e.Pod), Type: known(e.Type), Data: known(e.Data),
		Status: e.Status, RuntimeTime: stamp(e.RuntimeTime), ExitCode: e.ExitCode, Evidence: evidenceJSON(e.Evidence())}
	if e.HasLag {
		s := seconds(e.Lag)
		j.Lag = &s
	}
	return j
}

func writeEventsJSON(w io.Writer, r *Report, _ Options) error {
	b := bufio.NewWriter(w)
	b.WriteString("{\"schema\":\"plegforensics/events/v1\",\n\"nodes\":[")
	for i, n := range r.Nodes {
		if i > 0 {
			b.WriteString(",")
		}
		if err := writeEventNode(b, n.Node); err != nil {
			return err
		}
	}
	b.WriteString("]}\n")
	return b.Flush()
}

// writeEventNode writes one event a line: a node can have very many.
func writeEventNode(b *bufio.Writer, n *replay.Node) error {
	head := jsonEventNode{Name: Visible(n.Name), Events: []jsonPodEvent{}, Audit: auditJSON(&n.Audit), ShortLived: []jsonShortLived{}}
	for _, s := range n.Audit.ShortLived {
		head.ShortLived = append(head.ShortLived, jsonShortLived{Visible(s.ID), Visible(s.Pod), stamp(s.Started), stamp(s.Ended), evidenceJSON(s.Evidence)})
	}
	text, err := compact(head)
	if err != nil {
		return err
	}
	const open = `"events":[`
	before, after, _ := strings.Cut(string(text), open)
	b.WriteString("\n" + before + open)
	for i, e := range n.Audit.Events.All() {
		if i > 0 {
			b.WriteString(",")
		}
		line, err := compact(podEventJSON(&e))
		if err != nil {
			return err
		}
		b.WriteString("\n")
		b.Write(line)
	}
	_, err = b.WriteString(after)
	return err
}

func auditJSON(a *replay.Audit) jsonAudit {
	return jsonAudit{a.Audited, a.Observed, a.Replayed, a.Missing, a.Late, a.Unexpected, a.Discarded, visibleAll(a.Notes)}
}

func writeEventsNDJSON(w io.Writer, r *Report, _ Options) error {
	b := bufio.NewWriter(w)
	for _, n := range r.Nodes {
		for _, e := range n.Audit.Events.All() {
			j := podEventJSON(&e)
			j.Node = Visible(n.Name)
			if err := MarkedLine(b, "event", j); err != nil {
				return err
			}
		}
	}
	return b.Flush()
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
		p.auditEvents(n.Node)
	}
	return p.Flush()
}

func (p *printer) auditEvents(n *replay.Node) {
	a := &n.Audit
	fmt.Fprintf(p, "%s: %s observed", nodeName(n), plural(a.Observed, "event"))
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
