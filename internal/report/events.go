package report

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/internal/report/timeline"
)

// EventFormats lists the output formats of events.
var EventFormats = []Format{
	{"text", ".txt", "events by time, with what the audit says of each", writeEventsText},
	{"json", ".json", "one object, schema plegforensics/events/v1", writeEventsJSON},
	{"ndjson", ".ndjson", "one event a line, with the node's name; of a kubelet newer or older than any known a line of kind note", writeEventsNDJSON},
	{"csv", ".csv", "one event a row, for a spreadsheet", writeEventsCSV},
}

// writeEventsJSON writes one event per line, because a node can have very many.
func writeEventsJSON(w io.Writer, r *model.Report, _ Options) error {
	b := bufio.NewWriter(w)
	b.WriteString("{\"schema\":\"plegforensics/events/v1\",\n\"nodes\":[")
	for i, n := range r.Events().Nodes {
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
	n.Events = nil
	head, err := model.Compact(n)
	const open = `"events":[`
	before, after, _ := bytes.Cut(head, []byte(open))
	fmt.Fprintf(b, "\n%s%s", before, open)
	comma := ""
	var one model.PodEvent
	events.Each(func(e model.PodEvent) {
		b.WriteString(comma)
		b.WriteString("\n")
		one = e
		comma, err = ",", cmp.Or(err, model.CompactTo(b, &one))
	})
	b.Write(after)
	return err
}

func writeEventsNDJSON(w io.Writer, r *model.Report, _ Options) error {
	b := bufio.NewWriter(w)
	var err error
	for _, n := range r.Nodes {
		n.Audited.Events.Each(func(e model.PodEvent) {
			e.Node = n.Audited.Name
			err = cmp.Or(err, MarkedLine(b, "event", e))
		})
		timeline.Notes(n, func(m timeline.Mark) { // as in analyze -o ndjson: notes are not events
			err = cmp.Or(err, MarkedLine(b, "finding", row{n.Name, m, nil}))
		})
	}
	return cmp.Or(err, b.Flush())
}

var eventColumns = []string{"node", "time", "pod_uid", "pod", "type", "data", "status", "runtime_time", "lag_seconds", "exit_code", "file", "line"}

func writeEventsCSV(w io.Writer, r *model.Report, _ Options) error {
	return writeTable(w, eventColumns, func(add func(...string)) {
		for _, n := range r.Events().Nodes {
			n.Events.Each(func(e model.PodEvent) {
				file, line, _ := cited(e.Evidence.Best())
				add(n.Name, e.Time.String(), model.Known(e.PodUID), model.Known(e.Pod), e.Kind(), e.ID(), e.Status, e.RuntimeTime.String(), float(e.Lag), integer(e.ExitCode), file, line)
			})
		}
	})
}

// eventsAtOnce is the number of rows per table: a node can have very many.
const eventsAtOnce = 1000

func writeEventsText(w io.Writer, r *model.Report, opt Options) error {
	p := newPrinter(w, opt)
	for _, n := range r.Nodes {
		p.setDay(n.Window)
		x := &n.Audited
		p.para("", orNode(x.Name)+": "+eventsLine(&x.Audit))
		for _, note := range x.Audit.Notes {
			p.para("  ", note)
		}
		p.conflicts(n)
		fmt.Fprintln(p)
		s := Section{Least: 28, Columns: []string{"time", "status", "event", "pod", "note", "container", "file and line"}}
		x.Events.Each(func(e model.PodEvent) {
			var note clauses
			note.add(e.Lag != nil, "after %s", span(e.Lag))
			note.add(e.ExitCode != nil, "exit %s", integer(e.ExitCode))
			s.Row(p.clock(e.Time), e.Status, e.Kind(), e.PodName(), note, shortID(e.ID()), place(e.Evidence.Best(), 40))
			if len(s.Rows) == eventsAtOnce {
				p.render(&s)
				s.Rows = nil
			}
		})
		if len(s.Rows) > 0 {
			p.render(&s)
		}
		for _, s := range x.ShortLived {
			p.para("", fmt.Sprintf("%s  short-lived  %s of %s ran for %s between two relists: PLEG cannot have seen it run",
				p.clock(s.Started), shortID(s.ID), s.Pod, Span(s.Ended.Sub(s.Started))))
		}
		fmt.Fprintln(p)
	}
	return p.Flush()
}

// shortID abbreviates a container ID to 12 digits, as other tools do.
func shortID(id string) string {
	if len(id) > 12 && strings.Trim(id, "0123456789abcdef") == "" {
		return id[:12]
	}
	return id
}
