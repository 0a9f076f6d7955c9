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
	Node string `json:"node"`
	timeline.Mark
	Evidence *model.Evidence `json:"evidence"`
}

// rows flattens the report, node by node, kind by kind, oldest first.
func rows(r *model.Report, emit func(*row) error) error {
	var err error
	for _, n := range r.Nodes {
		timeline.Marks(n, func(m timeline.Mark) {
			if err == nil {
				err = emit(&row{n.Name, m, m.Proof.Best()})
			}
		})
	}
	return err
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
