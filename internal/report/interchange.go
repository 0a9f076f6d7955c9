package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/internal/report/timeline"
)

// timesketchLine is one event in the JSON Lines format that Timesketch and plaso's json_line parser
// read. message, datetime and timestamp_desc are required.
type timesketchLine struct {
	Message       string   `json:"message"`
	Datetime      string   `json:"datetime"`
	TimestampDesc string   `json:"timestamp_desc"`
	Timestamp     int64    `json:"timestamp"` // microseconds since 1970
	DataType      string   `json:"data_type"`
	Parser        string   `json:"parser"`
	Hostname      string   `json:"hostname"`
	Pod           string   `json:"pod,omitempty"`
	State         string   `json:"state,omitempty"`
	Uncertainty   *float64 `json:"uncertainty_seconds,omitempty"`
	Seconds       *float64 `json:"seconds,omitempty"`
	DisplayName   string   `json:"display_name,omitempty"`
	Line          uint32   `json:"line,omitempty"`
	Text          string   `json:"text,omitempty"`
}

// writeTimesketch writes an event for the start of every claim, and one for its end or latest end
// if known.
func writeTimesketch(w io.Writer, r *model.Report, _ Options) error {
	return rows(r, func(x *row) error {
		ends := []struct {
			at    model.Time
			slack *float64
			desc  string
		}{{x.Start, x.StartSlack, "Start Time"}, {x.End, x.EndSlack, "End Time"}, {x.LatestEnd, nil, "Latest End Time"}}
		for _, m := range ends {
			if m.at == 0 {
				continue
			}
			if err := encodeLine(w, timesketch(x, m.at, m.slack, m.desc)); err != nil {
				return err
			}
		}
		return nil
	})
}

func timesketch(x *row, at model.Time, slack *float64, desc string) timesketchLine {
	l := timesketchLine{Message: phrase(&x.Mark, 1), Datetime: at.UTC().Format("2006-01-02T15:04:05.000000+00:00"), TimestampDesc: desc,
		Timestamp: at.UTC().UnixMicro(), DataType: "plegforensics:" + x.Kind, Parser: "plegforensics", Hostname: x.Node, Pod: x.Pod, State: x.State,
		Uncertainty: slack, Seconds: x.Seconds}
	if x.Evidence != nil {
		l.DisplayName, l.Line, l.Text = x.Evidence.File, x.Evidence.Line, x.Evidence.Text
	}
	return l
}

// wordsOf holds two formats for each kind of mark: its name and a sentence about it. Their
// arguments are state (1), detail (2), ID (3), pod (4), length (5), step (6), condition (7), value
// (8), unit (9) and threshold (10).
var wordsOf = map[string][2]string{
	timeline.Episode:   {"PLEG unhealthy, %[6]s", "PLEG unhealthy, episode %[3]s, %[6]s"},
	timeline.Cause:     {"%[2]s", "%[1]s cause: %[3]s"},
	timeline.Relist:    {"relist %[1]s", "relist, %[1]s, length %[5]s (%[2]s)"},
	timeline.Bounded:   {"%[3]s undated relists", "%[3]s undated relists, %[2]s"},
	timeline.Event:     {"%[2]s", "%[2]s %[3]s of pod %[4]s, %[1]s"},
	timeline.Health:    {"%[1]s", "PLEG %[1]s"},
	timeline.Ready:     {"%[7]s", "node Ready=%[1]s %[2]s"},
	timeline.Gap:       {"no log: %[1]s", "no log: %[1]s"},
	timeline.Conflict:  {"%[2]s", "contradiction: %[2]s"},
	timeline.Run:       {"%[2]s", "%[2]s pid %[3]s"},
	timeline.Failed:    {"%[3]s %[1]s", "%[3]s failed: %[1]s %[4]s"},
	timeline.Note:      {"%[2]s", "%[2]s"},
	timeline.Request:   {"%[2]s", "runtime: %[2]s %[4]s, %[1]s"},
	timeline.Line:      {"%[3]s", "%[3]s"},
	timeline.Breach:    {"%[3]s", "%[1]s: %[3]s of %[8]s %[9]s (threshold %[10]s)"},
	timeline.Operation: {"%[3]s", "operation %[3]s"},
}

// phrase returns the name of a mark (sentence 0) or a sentence about it (sentence 1).
func phrase(m *timeline.Mark, sentence int) string {
	return strings.Trim(fmt.Sprintf(wordsOf[m.Kind][sentence], m.State, m.Detail, m.ID, m.Pod, m.Length, stuckIn(m.State), nodeStates[m.State],
		float(m.Value), m.Unit, float(m.Threshold)), ", ")
}

// interval is a row of the interval JSON that OpenShift's timeline viewers read.
type interval struct {
	Level   string `json:"level"`
	Display bool   `json:"display"`
	Source  string `json:"source"`
	Locator struct {
		Type string            `json:"type"`
		Keys map[string]string `json:"keys"`
	} `json:"locator"`
	Message struct {
		Reason      string            `json:"reason"`
		Cause       string            `json:"cause"`
		Human       string            `json:"humanMessage"`
		Annotations map[string]string `json:"annotations"`
	} `json:"message"`
	From string `json:"from"`
	To   string `json:"to"`
}

type intervals struct {
	Schema string     `json:"schema"`
	Items  []interval `json:"items"`
}

// writeIntervals writes everything that has a start as an interval; one without a known end has
// length zero. Intervals are sorted by time, because the viewers take their window from the first
// and the last one.
func writeIntervals(w io.Writer, r *model.Report, _ Options) error {
	out := intervals{model.SchemaName("intervals"), []interval{}}
	for _, n := range r.Nodes {
		timeline.Marks(n, func(m timeline.Mark) {
			if m.Start != 0 {
				out.Items = append(out.Items, intervalOf(n, &m))
			}
		})
	}
	slices.SortStableFunc(out.Items, func(a, b interval) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return Encode(w, &out)
}

// intervalSources maps kinds of marks to sources. States of the node as a whole have the source
// NodeState, which the viewers show right away and color by reason. Every other kind is a source of
// its own, which they offer as a category.
var intervalSources = map[string]string{timeline.Health: "NodeState", timeline.Ready: "NodeState", timeline.Episode: "PLEGEpisode", timeline.Breach: "PLEGBreach",
	timeline.Cause: "PLEGCause", timeline.Relist: "PLEGRelist", timeline.Bounded: "PLEGUndated", timeline.Run: "KubeletProcess", timeline.Gap: "LogGap", timeline.Conflict: "Contradiction",
	timeline.Failed: "CRIFailure", timeline.Request: "RuntimeRequest", timeline.Event: "PLEGEvent", timeline.Note: "Note"}

// rowsOfNode distinguishes the NodeState rows.
var rowsOfNode = map[string]string{timeline.Health: "PLEG", timeline.Ready: "Ready"}

func intervalOf(n *model.Node, m *timeline.Mark) interval {
	keys, notes := map[string]string{"node": n.Name}, map[string]string{"plegforensics": m.Kind}
	out := interval{Level: []string{"Info", "Info", "Warning", "Error"}[m.Weight()], Display: m.Kind != timeline.Event, Source: intervalSources[m.Kind],
		From: m.Start.String(), To: max(m.To(n.Window.End), m.Start).String()}
	out.Locator.Type, out.Locator.Keys = "Node", keys
	if m.Pod != "" {
		out.Locator.Type, keys["pod"] = "Pod", m.Pod
	}
	out.Message.Reason, out.Message.Cause, out.Message.Human, out.Message.Annotations = m.Kind+" "+m.ID, m.State, phrase(m, 1), notes
	if row := rowsOfNode[m.Kind]; row != "" {
		state := cmp.Or(nodeStates[m.State], "Unknown")
		keys["row"], notes["phase"], out.Message.Reason = row, state, state
	}
	if m.Seconds != nil {
		notes["seconds"] = float(m.Seconds)
	}
	if m.Open {
		notes["open"] = "true" // no known end: it is drawn to the end of the input
	}
	if e := m.Proof.Best(); e != nil {
		notes["file"], notes["line"] = e.File, fmt.Sprint(e.Line)
	}
	return out
}

// nodeStates maps states to names that the viewers know: they have a color for NotReady.
var nodeStates = map[string]string{"unhealthy": "NotReady", "false": "NotReady", "healthy": "Ready", "true": "Ready"}
