package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/internal/report/timeline"
)

// row is one claim in the flat formats: what spreadsheets and line tools take.
type row struct {
	Kind       string          `json:"kind"` // of package timeline
	Node       string          `json:"node"`
	ID         string          `json:"id"`
	Start      model.Time      `json:"start"`
	End        model.Time      `json:"end"`
	Seconds    *float64        `json:"seconds"`
	Value      *float64        `json:"value"`
	Threshold  *float64        `json:"threshold"`
	Unit       string          `json:"unit,omitempty"`
	State      string          `json:"state,omitempty"`
	Pod        string          `json:"pod,omitempty"`
	Detail     string          `json:"detail,omitempty"`
	Evidence   *model.Evidence `json:"evidence"`
	StartSlack *float64        `json:"start_uncertainty_seconds,omitempty"`
	EndSlack   *float64        `json:"end_uncertainty_seconds,omitempty"`
	LatestEnd  model.Time      `json:"latest_end,omitempty"` // by when it was over, where the end is unknown
	Open       bool            `json:"open,omitempty"`       // it lasts at the end of the input
	Min        *int            `json:"count_min,omitempty"`
	Max        *int            `json:"count_max,omitempty"`
}

// rows flattens the report, node by node, kind by kind, oldest first.
func rows(r *model.Report, emit func(*row) error) error {
	for _, n := range r.Nodes {
		for m := range timeline.Marks(n) {
			x := rowFrom(&m)
			x.Node = n.Name
			if err := emit(&x); err != nil {
				return err
			}
		}
	}
	return nil
}

func rowFrom(m *timeline.Mark) row {
	x := row{Kind: m.Kind, ID: m.ID, Start: m.Start, End: m.End, Seconds: m.Seconds, Value: m.Value, Threshold: m.Threshold, Unit: m.Unit, State: m.State,
		Pod: m.Pod, Detail: m.Detail, StartSlack: m.StartSlack, EndSlack: m.EndSlack, LatestEnd: m.LatestEnd, Open: m.Open, Min: m.Min, Max: m.Max}
	if m.Proof.Len() > 0 {
		e := m.Proof.At(0)
		x.Evidence = &e
	}
	return x
}

// writeNDJSON writes one claim a line.
func writeNDJSON(w io.Writer, r *model.Report, _ Options) error {
	return rows(r, func(x *row) error { return MarkedLine(w, "finding", x) })
}

var csvHeader = []string{"kind", "node", "id", "start", "end", "seconds", "value", "threshold", "unit",
	"state", "pod", "detail", "file", "line", "text", "start_uncertainty_seconds", "end_uncertainty_seconds", "latest_end", "open", "count_min", "count_max"}

// writeCSV writes one claim a row. No cell can start a formula.
func writeCSV(w io.Writer, r *model.Report, _ Options) error {
	c := csv.NewWriter(w)
	if err := c.Write(csvHeader); err != nil {
		return err
	}
	err := rows(r, func(x *row) error {
		file, line, text, open := "", "", "", ""
		if x.Evidence != nil {
			file, line, text = x.Evidence.File, strconv.FormatUint(uint64(x.Evidence.Line), 10), x.Evidence.Text
		}
		if x.Open {
			open = "true"
		}
		cells := []string{x.Kind, x.Node, x.ID, x.Start.String(), x.End.String(), float(x.Seconds), float(x.Value), float(x.Threshold), x.Unit, x.State, x.Pod,
			x.Detail, file, line, text, float(x.StartSlack), float(x.EndSlack), x.LatestEnd.String(), open, integer(x.Min), integer(x.Max)}
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

func float(f *float64) string {
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'f', -1, 64)
}

func integer(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}
