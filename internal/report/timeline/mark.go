// Package timeline turns the history of a node into marks and lanes of marks, which are drawn and
// listed. The HTML page, the terminal, Perfetto, intervals, CSV, NDJSON and Timesketch are all made
// from them and so agree.
package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
)

// Kinds of marks.
const (
	Episode   = "episode"
	Breach    = "breach"
	Cause     = "cause"
	Relist    = "relist"
	Bounded   = "relist-count" // undated relists
	Health    = "health"
	Ready     = "ready"
	Run       = "run"
	Gap       = "gap"
	Conflict  = "contradiction" // two sources that cannot both be right
	Failed    = "failed-call"
	Request   = "request"
	Operation = "operation"
	Event     = "event"
	Line      = "line" // of a log
	Note      = "note" // about the whole report on the node
)

// Mark is one claim about a node: what happened, from when to when, with which uncertainty and by
// which evidence. Its JSON is its form in the flat formats.
type Mark struct {
	Kind       string      `json:"kind"`
	ID         string      `json:"id"`
	Start      model.Time  `json:"start"`
	End        model.Time  `json:"end"`     // 0 for a moment and if the end is unknown
	Seconds    *float64    `json:"seconds"` // duration; of an event, the lag behind the runtime
	Value      *float64    `json:"value"`
	Slack      float64     `json:"value_uncertainty,omitempty"` // ±
	Least      bool        `json:"value_is_least,omitempty"`    // Value is a lower bound
	Threshold  *float64    `json:"threshold"`
	Unit       string      `json:"unit,omitempty"`
	State      string      `json:"state,omitempty"` // outcome, severity or level: one of a fixed set of words
	Pod        string      `json:"pod,omitempty"`
	Detail     string      `json:"detail,omitempty"`
	StartSlack *float64    `json:"start_uncertainty_seconds,omitempty"` // ±
	EndSlack   *float64    `json:"end_uncertainty_seconds,omitempty"`
	LatestEnd  model.Time  `json:"latest_end,omitempty"` // upper bound of the end if End is unknown
	Open       bool        `json:"open,omitempty"`       // still lasts at the end of the input
	Min        *int        `json:"count_min,omitempty"`  // number of relists, of Bounded
	Max        *int        `json:"count_max,omitempty"`
	Ran        model.Time  `json:"-"` // time until which a relist without a known end is known to have run
	Listed     model.Time  `json:"-"` // when the list call of a relist returned
	Length     string      `json:"-"` // duration of a relist, in words
	More       int         `json:"-"` // number of marks left out that this one represents
	Proof      model.Proof `json:"-"`
}

// To returns where the mark is drawn to: its end, the end of the input if it is open, or as far as
// it is known to have run.
func (m *Mark) To(end model.Time) model.Time {
	switch {
	case m.End != 0:
		return m.End
	case m.Open:
		return max(end, m.Start)
	}
	return max(m.Ran, m.Start)
}

// Weight returns 3 for bad, 2 for suspect and 1 for normal.
func (m *Mark) Weight() int {
	weight := weights[m.Kind][m.State]
	switch {
	case m.Kind == Episode || m.Kind == Failed:
		weight = 3
	case weight == 0 && (m.Kind == Conflict || m.Kind == Relist && m.Long() || m.Kind == Bounded && m.Value != nil):
		weight = 2
	}
	return max(weight, 1)
}

// weights are the weights by state, of kinds for which the state decides.
var weights = map[string]map[string]int{
	Breach:  {"critical": 3, "warning": 2},
	Health:  {"unhealthy": 3, "never-relisted": 2, "runtime-down": 2},
	Ready:   {"false": 3},
	Relist:  {"list-failed": 3, "hung": 3},
	Request: {"failed": 3},
	Event:   {"missing": 3, "discarded": 3, "late": 2, "unexpected": 2},
	Line:    {"F": 3, "E": 3, "W": 2},
}

// longRelist is the duration in seconds from which a relist is long.
const longRelist = 10

// Long reports whether the duration is known and long.
func (m *Mark) Long() bool { return m.Seconds != nil && *m.Seconds >= longRelist }

// span returns m with its duration, if it has both ends.
func (m Mark) span() Mark {
	if m.Start != 0 && m.End > m.Start && m.Seconds == nil {
		m.Seconds = new(model.Seconds(m.End.Sub(m.Start)))
	}
	return m
}

// Marks calls add for all claims about a node, by kind and then oldest first. Log lines are not
// claims.
func Marks(n *model.Node, add func(Mark)) {
	for _, part := range []func(*model.Node, func(Mark)){Episodes, breaches, causes, Relists, Healths, Readies, runs, gaps, conflicts, FailedCalls, Requests, operations, Events, Notes} {
		part(n, add)
	}
}

// Episodes adds the episodes of PLEG being unhealthy.
func Episodes(n *model.Node, add func(Mark)) {
	for i := range n.Episodes {
		e := &n.Episodes[i]
		add(Mark{Kind: Episode, ID: strconv.Itoa(e.ID), Start: e.Start(), End: e.Recovered, LatestEnd: n.LatestEnd(i), StartSlack: e.Uncertainty, EndSlack: e.RecoveredSlack,
			Open: e.Recovered == 0, Value: e.PeakAge, Threshold: new(e.Threshold), Unit: "seconds", State: e.StuckStep, Detail: e.RecoveredBasis, Proof: e.Evidence}.span())
	}
}

func breaches(n *model.Node, add func(Mark)) {
	for i := range n.Breaches {
		b := &n.Breaches[i]
		add(Mark{Kind: Breach, ID: b.Rule, Start: b.Start, End: b.End, StartSlack: model.Given(b.StartSlack > 0, b.StartSlack), EndSlack: model.Given(b.EndSlack > 0, b.EndSlack), Value: b.Value, Slack: b.Slack, Least: b.Least, Threshold: b.Threshold, Unit: b.Unit, State: b.Severity, Detail: b.Subject, Proof: b.Evidence}.span())
	}
}

func causes(n *model.Node, add func(Mark)) {
	for i := range n.Causes {
		c := &n.Causes[i]
		m := Mark{Kind: Cause, ID: c.ID, Value: new(c.Confidence), Unit: "confidence", State: c.Level, Detail: c.Explanation, Proof: c.For}
		for k := range n.Episodes {
			if e := &n.Episodes[k]; m.Start == 0 && slices.Contains(c.Episodes, e.ID) {
				m.Start = e.Start()
			}
		}
		add(m)
	}
}

// Relists adds the proven relists, then the intervals with undated ones.
func Relists(n *model.Node, add func(Mark)) {
	i := 0
	n.History.Relists.Each(func(r model.Relist) {
		i++
		m := Mark{Kind: Relist, ID: strconv.Itoa(i), Start: r.Start, End: r.End, StartSlack: r.StartSlack, EndSlack: r.EndSlack,
			Listed: r.ListEnd, Length: r.Length(), Open: r.Open, Seconds: r.Duration, State: r.Outcome, Detail: strings.ReplaceAll(r.By, ",", ""), Proof: r.Evidence}
		if r.End == 0 {
			m.LatestEnd, m.Ran = r.Until, r.Start+min(r.Start, model.Time(r.Least)) // no Ran without a start
		}
		if r.AtLeast != nil {
			m.Value, m.Unit, m.Least = r.AtLeast, "seconds", true
		}
		add(m)
	})
	for i := range n.History.Bounded {
		b := &n.History.Bounded[i]
		if b.Max == 0 {
			continue
		}
		m := Mark{Kind: Bounded, ID: counts(b.Min, b.Max), Start: b.From, End: b.To, Min: &b.Min, Max: &b.Max, State: "undated", Detail: BoundedWords(b), Proof: b.Evidence}
		if b.Long > 0 {
			m.Value, m.Unit = b.Sum, "seconds"
		}
		add(m.span())
	}
}

func counts(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("%d-%d", low, high)
}

// BoundedWords says what metrics add to the number of relists.
func BoundedWords(b *model.Bounded) string {
	var out []string
	if b.Long > 0 {
		out = append(out, fmt.Sprintf("%d over 10s", b.Long))
	}
	if b.Silent {
		out = append(out, "no snapshot of the metrics succeeded")
	}
	return strings.Join(out, ", ")
}

// Healths adds the spans of the health of PLEG.
func Healths(n *model.Node, add func(Mark)) {
	for i, x := range n.History.Health {
		if x.From != 0 {
			add(Mark{Kind: Health, Start: x.From, End: x.To, State: x.State, Open: x.To == 0 && i+1 == len(n.History.Health)}.span())
		}
	}
}

// Readies adds the spans of the node's Ready condition.
func Readies(n *model.Node, add func(Mark)) {
	for i, x := range n.History.Ready {
		m := Mark{Kind: Ready, Start: x.Time, State: strconv.FormatBool(x.Ready), Detail: cmp.Or(x.Why, x.Reason), Open: i+1 == len(n.History.Ready)}
		if !m.Open {
			m.End = n.History.Ready[i+1].Time
		}
		if x.Evidence != nil {
			m.Proof = model.ProofOf(*x.Evidence)
		}
		add(m.span())
	}
}

func runs(n *model.Node, add func(Mark)) {
	for i := range n.History.Runs {
		r := &n.History.Runs[i]
		m := Mark{Kind: Run, Start: cmp.Or(r.Start, r.First), End: r.Last, Detail: "kubelet", Proof: r.Evidence}
		if r.PID > 0 {
			m.ID = strconv.Itoa(r.PID)
		}
		if r.Version != nil {
			m.Detail += " " + *r.Version
		}
		if m.Start != 0 {
			add(m.span())
		}
	}
}

func gaps(n *model.Node, add func(Mark)) {
	for i := range n.History.Gaps {
		g := &n.History.Gaps[i]
		add(Mark{Kind: Gap, Start: g.From, End: g.To, State: g.Why, Proof: g.Evidence}.span())
	}
}

// Notes adds the notes that concern the whole report on the node; they span the window.
func Notes(n *model.Node, add func(Mark)) {
	for i, text := range n.History.Notes {
		add(Mark{Kind: Note, ID: strconv.Itoa(i + 1), Start: n.Window.Start, End: n.Window.End, Detail: text}.span())
	}
}

func conflicts(n *model.Node, add func(Mark)) {
	for i := range n.Conflicts {
		x := &n.Conflicts[i]
		m := Mark{Kind: Conflict, ID: strconv.Itoa(i + 1), Detail: x.Message, Proof: x.Evidence}
		if e := x.Against.Best(); e != nil {
			m.Start = e.Time
		}
		add(m)
	}
}

// FailedCalls adds the CRI calls that failed.
func FailedCalls(n *model.Node, add func(Mark)) {
	n.History.Failed.Each(func(f model.FailedCall) {
		if f.End != 0 {
			add(Mark{Kind: Failed, ID: f.Call, Start: f.Begin(), End: f.End, StartSlack: f.StartSlack, State: f.Code, Pod: f.Pod, Detail: f.Object, Proof: f.Evidence}.span())
		}
	})
}

// Requests adds the calls logged by the runtime.
func Requests(n *model.Node, add func(Mark)) {
	n.History.Requests.Each(func(r model.Request) {
		m := Mark{Kind: Request, ID: r.ID, Start: cmp.Or(r.Start, r.End), End: r.End, State: "ok", Pod: r.Pod, Detail: r.Name, Proof: r.Evidence}
		if r.End == 0 {
			m.State = "no end in the log"
		}
		if r.Error != "" {
			m.State, m.Detail = "failed", r.Name+": "+r.Error
		}
		if m.Start != 0 {
			add(m.span())
		}
	})
}

func operations(n *model.Node, add func(Mark)) {
	for i := range n.Operations {
		o := &n.Operations[i]
		m := Mark{Kind: Operation, ID: o.Operation, Value: o.Total, Unit: "seconds", Detail: parse.Plural(o.Errors, "error"), Proof: o.Evidence}
		if o.Calls != nil {
			m.Detail = parse.Plural(*o.Calls, "call") + ", " + m.Detail
		}
		if o.Errors > 0 {
			m.State = "errors"
		}
		add(m)
	}
}

// Events adds the pod lifecycle events.
func Events(n *model.Node, add func(Mark)) {
	n.History.Events.Each(func(e model.PodEvent) {
		add(Mark{Kind: Event, ID: e.ID(), Start: e.Time, State: e.Status, Pod: e.PodName(), Detail: e.Kind(), Seconds: e.Lag, Proof: e.Evidence})
	})
}

// Collect returns the marks that part adds.
func Collect(part func(*model.Node, func(Mark)), n *model.Node) []Mark {
	var out []Mark
	part(n, func(m Mark) { out = append(out, m) })
	return out
}
