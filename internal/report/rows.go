package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/internal/report/timeline"
)

// row is one claim in the flat formats, which spreadsheets and line-based tools read.
type row struct {
	Node string `json:"node"`
	timeline.Mark
	Evidence *model.Evidence `json:"evidence"`
}

// rows flattens the report: by node, then by kind, then oldest first.
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

// writeNDJSON writes one claim per line.
func writeNDJSON(w io.Writer, r *model.Report, _ Options) error {
	return rows(r, func(x *row) error { return MarkedLine(w, "finding", x) })
}

var csvHeader = []string{"kind", "node", "id", "start", "end", "seconds", "value", "threshold", "unit",
	"state", "pod", "detail", "file", "line", "text", "start_uncertainty_seconds", "end_uncertainty_seconds", "latest_end", "open", "count_min", "count_max", "value_uncertainty", "value_is_least"}

func writeCSV(w io.Writer, r *model.Report, _ Options) error {
	return writeTable(w, csvHeader, func(add func(...string)) {
		_ = rows(r, func(x *row) error {
			file, line, text := cited(x.Evidence)
			yes := map[bool]string{true: "true"}
			add(x.Kind, x.Node, x.ID, x.Start.String(), x.End.String(), float(x.Seconds), float(x.Value), float(x.Threshold), x.Unit, x.State, x.Pod,
				x.Detail, file, line, text, float(x.StartSlack), float(x.EndSlack), x.LatestEnd.String(), yes[x.Open], integer(x.Min), integer(x.Max), float(model.Given(x.Slack > 0, x.Slack)), yes[x.Least])
			return nil // writeTable keeps write errors
		})
	})
}

// cited returns the position and the text of a line as cells; empty ones for nil.
func cited(e *model.Evidence) (file, line, text string) {
	if e == nil {
		return "", "", ""
	}
	return e.File, strconv.FormatUint(uint64(e.Line), 10), e.Text
}

// writeTable writes CSV. No cell can start a formula: text that would is prefixed with an
// apostrophe. Negative numbers keep their sign.
func writeTable(w io.Writer, header []string, fill func(add func(cells ...string))) error {
	c := csv.NewWriter(w)
	err := c.Write(header)
	fill(func(cells ...string) {
		for i, s := range cells {
			if s == "" || !strings.ContainsRune("=+-@\t\r", rune(s[0])) {
				continue
			}
			if _, nan := strconv.ParseFloat(s, 64); nan != nil || s[0] != '-' {
				cells[i] = "'" + s
			}
		}
		err = cmp.Or(err, c.Write(cells))
	})
	c.Flush()
	return cmp.Or(err, c.Error())
}

// known returns text(*v), or "" if v is nil.
func known[T any](v *T, text func(T) string) string {
	if v == nil {
		return ""
	}
	return text(*v)
}

func integer(n *int) string { return known(n, strconv.Itoa) }

func float(f *float64) string { return known(f, plainNumber) }

func plainNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
