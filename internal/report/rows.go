package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/replay"
)

// row is one finding in the flat formats: what spreadsheets and line tools
// take. Cells hold visible text only.
type row struct {
	Kind      string        `json:"kind"` // episode, breach, cause, relist, event, health, ready, gap
	Node      string        `json:"node"`
	ID        string        `json:"id"`
	Start     *string       `json:"start"`
	End       *string       `json:"end"`
	Seconds   *float64      `json:"seconds"`
	Value     *float64      `json:"value"`
	Threshold *float64      `json:"threshold"`
	Unit      string        `json:"unit,omitempty"`
	State     string        `json:"state,omitempty"`
	Pod       string        `json:"pod,omitempty"`
	Detail    string        `json:"detail,omitempty"`
	Evidence  *jsonEvidence `json:"evidence"`
}

// rows flattens the report, node by node, kind by kind, oldest first.
func rows(r *Report, emit func(row) error) error {
	for _, n := range r.Nodes {
		for _, x := range nodeRows(n) {
			x.Node = n.Name
			scrub(&x)
			if err := emit(x); err != nil {
				return err
			}
		}
	}
	return nil
}

func nodeRows(n Node) []row {
	var out []row
	for i := range n.Episodes {
		e := &n.Episodes[i]
		x := spanRow("episode", strconv.Itoa(e.ID), e.Breach, e.Recovered.At, e.Evidence)
		x.Value, x.Threshold, x.Unit = number(seconds(e.PeakAge)), number(seconds(e.Threshold)), "seconds"
		x.State, x.Detail = string(e.StuckStep), e.RecoveredBasis
		out = append(out, x)
	}
	for _, b := range n.Breaches {
		x := spanRow("breach", b.Rule, b.Start, b.End, b.Evidence)
		x.Value, x.Threshold, x.Unit, x.State = number(b.Value), number(b.Threshold), b.Unit, string(b.Severity)
		out = append(out, x)
	}
	for _, c := range n.Causes {
		x := spanRow("cause", c.ID, 0, 0, c.For)
		x.Value, x.Unit, x.State, x.Detail = number(round2(c.Confidence)), "confidence", string(c.Level), Visible(c.Explanation)
		out = append(out, x)
	}
	for i := range n.Relists {
		rl := &n.Relists[i]
		x := spanRow("relist", strconv.Itoa(i+1), rl.Start.At, rl.End.At, rl.Evidence)
		x.State, x.Detail = string(rl.Outcome), strings.Join(rl.Basis, " ")
		out = append(out, x)
	}
	for _, e := range auditedEvents(n.Node).All() {
		x := spanRow("event", Visible(e.Data), e.At, 0, e.Evidence())
		x.State, x.Pod, x.Detail = e.Status, podOf(&e), e.Type
		if e.HasLag {
			x.Seconds = number(seconds(e.Lag))
		}
		out = append(out, x)
	}
	for _, h := range n.Health {
		x := spanRow("health", "", h.From, h.To, nil)
		x.State = string(h.State)
		out = append(out, x)
	}
	for _, c := range n.Ready {
		x := spanRow("ready", "", c.At, 0, []replay.Evidence{c.Evidence})
		x.State, x.Detail = strconv.FormatBool(c.Ready), Visible(c.Reason)
		out = append(out, x)
	}
	for _, g := range n.Gaps {
		x := spanRow("gap", "", g.From, g.To, g.Evidence)
		x.State = g.Why
		out = append(out, x)
	}
	return out
}

// auditedEvents are the events with their audit where there was one, else the
// observed ones.
func auditedEvents(n *replay.Node) replay.PodEvents {
	if n.Audit.Events.Len() > 0 {
		return n.Audit.Events
	}
	return n.Observed
}

func podOf(e *replay.PodEvent) string {
	if e.Pod != "" {
		return Visible(e.Pod)
	}
	return Visible(e.PodUID)
}

func spanRow(kind, id string, start, end int64, es []replay.Evidence) row {
	x := row{Kind: kind, ID: id, Start: stamp(start), End: stamp(end)}
	if start != 0 && end > start {
		x.Seconds = number(float64(end-start) / 1e9)
	}
	if ev := evidenceJSON(pick(es, 1)); len(ev) > 0 {
		x.Evidence = &ev[0]
	}
	return x
}

// writeNDJSON writes one finding a line.
func writeNDJSON(w io.Writer, r *Report, _ Options) error {
	return rows(r, func(x row) error { return MarkedLine(w, "finding", x) })
}

var csvHeader = []string{"kind", "node", "id", "start", "end", "seconds", "value", "threshold", "unit",
	"state", "pod", "detail", "file", "line", "text"}

// writeCSV writes one finding a row. No cell can start a formula.
func writeCSV(w io.Writer, r *Report, _ Options) error {
	c := csv.NewWriter(w)
	if err := c.Write(csvHeader); err != nil {
		return err
	}
	err := rows(r, func(x row) error {
		file, line, text := "", "", ""
		if x.Evidence != nil {
			file, line, text = x.Evidence.File, strconv.FormatUint(uint64(x.Evidence.Line), 10), x.Evidence.Text
		}
		cells := []string{x.Kind, x.Node, x.ID, text0(x.Start), text0(x.End), float(x.Seconds), float(x.Value),
			float(x.Threshold), x.Unit, x.State, x.Pod, x.Detail, file, line, text}
		for i := range cells {
			cells[i] = Cell(cells[i])
		}
		return c.Write(cells)
	})
	c.Flush()
	if err != nil {
		return err
	}
	return c.Error()
}

// Cell makes s safe as a spreadsheet cell: text that would start a formula is
// prefixed with an apostrophe. Numbers keep their sign.
func Cell(s string) string {
	if s == "" || !strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil && s[0] == '-' {
		return s
	}
	return "'" + s
}

func text0(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func float(f *float64) string {
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'f', -1, 64)
}
