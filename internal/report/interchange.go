package report

import (
	"encoding/json"
	"fmt"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"io"
	"time"
)

// timesketchLine is one event in the JSON lines that Timesketch and plaso's
// json_line readers take: message, datetime and timestamp_desc are required.
type timesketchLine struct {
	Message       string `json:"message"`
	Datetime      string `json:"datetime"`
	TimestampDesc string `json:"timestamp_desc"`
	Timestamp     int64  `json:"timestamp"` // µs since 1970
	DataType      string `json:"data_type"`
	Parser        string `json:"parser"`
	Hostname      string `json:"hostname"`
	Pod           string `json:"pod,omitempty"`
	State         string `json:"state,omitempty"`
	DisplayName   string `json:"display_name,omitempty"`
	Line          uint32 `json:"line,omitempty"`
	Text          string `json:"text,omitempty"`
}

// writeTimesketch writes the start, and where it is known the end, of every
// finding.
func writeTimesketch(w io.Writer, r *Report, _ Options) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return rows(r, func(x row) error {
		for _, m := range []struct {
			at   *string
			desc string
		}{{x.Start, "Start Time"}, {x.End, "End Time"}} {
			if m.at == nil {
				continue
			}
			if err := e.Encode(timesketch(x, *m.at, m.desc)); err != nil {
				return err
			}
		}
		return nil
	})
}

func timesketch(x row, at, desc string) timesketchLine {
	t, _ := time.Parse(time.RFC3339Nano, at)
	l := timesketchLine{Message: sentence(x), Datetime: t.Format("2006-01-02T15:04:05.000000+00:00"), TimestampDesc: desc,
		Timestamp: t.UnixMicro(), DataType: "plegforensics:" + x.Kind, Parser: "plegforensics", Hostname: x.Node, Pod: x.Pod, State: x.State}
	if x.Evidence != nil {
		l.DisplayName, l.Line, l.Text = x.Evidence.File, x.Evidence.Line, x.Evidence.Text
	}
	return l
}

// sentence says what a row is in words.
func sentence(x row) string {
	switch x.Kind {
	case "episode":
		return fmt.Sprintf("PLEG unhealthy, episode %s, stuck in %s", x.ID, x.State)
	case "breach":
		return fmt.Sprintf("%s: %s of %s %s (threshold %s)", x.State, x.ID, float(x.Value), x.Unit, float(x.Threshold))
	case "relist":
		return fmt.Sprintf("relist, %s (%s)", x.State, x.Detail)
	case "event":
		return fmt.Sprintf("%s %s of pod %s, %s", x.Detail, x.ID, x.Pod, x.State)
	case "health":
		return "PLEG " + x.State
	case "ready":
		return fmt.Sprintf("node Ready=%s %s", x.State, x.Detail)
	case "gap":
		return "no log: " + x.State
	}
	return x.Kind + " " + x.ID
}

// The interval document that OpenShift's timeline viewers open.
type (
	interval struct {
		Level   string          `json:"level"`
		Display bool            `json:"display"`
		Source  string          `json:"source"`
		Locator intervalLocator `json:"locator"`
		Message intervalMessage `json:"message"`
		From    string          `json:"from"`
		To      string          `json:"to"`
	}
	intervalLocator struct {
		Type string            `json:"type"`
		Keys map[string]string `json:"keys"`
	}
	intervalMessage struct {
		Reason      string            `json:"reason"`
		Cause       string            `json:"cause"`
		Human       string            `json:"humanMessage"`
		Annotations map[string]string `json:"annotations"`
	}
)

// writeIntervals writes everything that has a start as an interval; what has no
// known end becomes a moment.
func writeIntervals(w io.Writer, r *Report, _ Options) error {
	out := struct {
		Schema string     `json:"schema"`
		Items  []interval `json:"items"`
	}{model.SchemaName("intervals"), []interval{}}
	err := rows(r, func(x row) error {
		if x.Start != nil {
			out.Items = append(out.Items, intervalOf(x))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return encode(w, &out)
}

func intervalOf(x row) interval {
	to := x.End
	if to == nil {
		to = x.Start
	}
	loc := intervalLocator{Type: "Node", Keys: map[string]string{"node": x.Node}}
	if x.Pod != "" {
		loc = intervalLocator{Type: "Pod", Keys: map[string]string{"node": x.Node, "pod": x.Pod}}
	}
	notes := map[string]string{"plegforensics": x.Kind}
	if x.Evidence != nil {
		notes["file"], notes["line"] = x.Evidence.File, fmt.Sprint(x.Evidence.Line)
	}
	return interval{Level: level(x), Display: x.Kind != "event", Source: "PLEG" + x.Kind, Locator: loc,
		Message: intervalMessage{Reason: x.Kind + " " + x.ID, Cause: x.State, Human: sentence(x), Annotations: notes}, From: *x.Start, To: *to}
}

func level(x row) string {
	switch {
	case x.Kind == "episode", x.State == "critical", x.Kind == "health" && x.State == "unhealthy":
		return "Error"
	case x.State == "warning", x.State == "missing", x.State == "late", x.State == "hung", x.State == "list-failed":
		return "Warning"
	}
	return "Info"
}
