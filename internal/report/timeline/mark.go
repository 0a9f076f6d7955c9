// Package timeline turns the history of a node into what is drawn and listed:
// marks, lanes of marks, the age of the last relist. It is the one input of the
// page, the lanes of the terminal, Perfetto, intervals, CSV, NDJSON and
// Timesketch, so that they tell the same.
package timeline

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// Kinds of marks.
const (
	Episode   = "episode"
	Breach    = "breach"
	Cause     = "cause"
	Relist    = "relist"
	Bounded   = "relist-count" // relists that no line dates
	Health    = "health"
	Ready     = "ready"
	Run       = "run"
	Gap       = "gap"
	Failed    = "failed-call"
	Request   = "request"
	Operation = "operation"
	Event     = "event"
	Line      = "line" // of a log
)

// Mark is one claim about a node: what, from when to when and with which
// uncertainty, and by which lines.
type Mark struct {
	Kind                 string
	ID                   string
	State                string // outcome, severity, level: a word of the tool
	Pod                  string
	Detail               string
	Start, End           model.Time // End is unknown for a moment and for what has no known end
	StartSlack, EndSlack *float64   // ±, seconds
	LatestEnd            model.Time // by when it was over, where End is unknown
	Open                 bool       // it lasts at the end of the input
	Seconds              *float64   // its length; of an event, the lag behind the runtime
	Value, Threshold     *float64
	Unit                 string
	Min, Max             *int // relists, of Bounded
	More                 int  // marks like this one that are left out here
	Proof                model.Proof
}

// To is where the mark is drawn to: its end, the end of the input for what lasts
// then, and else its start.
func (m *Mark) To(end model.Time) model.Time {
	switch {
	case m.End != 0:
		return m.End
	case m.Open:
		return max(end, m.Start)
	}
	return m.Start
}

// Weight is 3 for what is wrong, 2 for what is suspect, else 1.
func (m *Mark) Weight() int { return max(m.weight(), 1) }

func (m *Mark) weight() int {
	switch m.Kind {
	case Episode, Failed:
		return 3
	case Breach:
		return map[string]int{"critical": 3, "warning": 2}[m.State]
	case Health:
		return map[string]int{"unhealthy": 3, "never-relisted": 2, "runtime-down": 2}[m.State]
	case Ready:
		if m.State == "false" {
			return 3
		}
	case Relist:
		switch {
		case m.State == "list-failed" || m.State == "hung":
			return 3
		case m.Long():
			return 2
		}
	case Bounded:
		if m.Value != nil {
			return 2
		}
	case Request:
		if m.State == "failed" {
			return 3
		}
	case Event:
		return map[string]int{"missing": 3, "discarded": 3, "late": 2, "unexpected": 2}[m.State]
	case Line:
		return map[string]int{"F": 3, "E": 3, "W": 2}[m.State]
	}
	return 1
}

// longRelist is from when a relist is long, in seconds.
const longRelist = 10

// Long reports whether a relist is a long one.
func (m *Mark) Long() bool { return m.Seconds != nil && *m.Seconds >= longRelist }

func number(f float64) *float64 { return &f }

// span sets the length of a mark that has both ends.
func (m Mark) span() Mark {
	if m.Start != 0 && m.End > m.Start && m.Seconds == nil {
		m.Seconds = number(model.Seconds(m.End.Sub(m.Start)))
	}
	return m
}

// Marks are all claims about a node, kind by kind, oldest first. Lines of logs
// are no claims.
func Marks(n *model.Node) iter.Seq[Mark] {
	return func(yield func(Mark) bool) {
		for _, part := range []iter.Seq[Mark]{findings(n), Relists(n.History), Healths(n.History), Readies(n.History), runs(n.History),
			gaps(n.History), FailedCalls(n.History), Requests(n.History), operations(n), Events(n.History)} {
			for m := range part {
				if !yield(m) {
					return
				}
			}
		}
	}
}

func findings(n *model.Node) iter.Seq[Mark] {
	return func(yield func(Mark) bool) {
		for m := range Episodes(n) {
			if !yield(m) {
				return
			}
		}
		for i := range n.Breaches {
			b := &n.Breaches[i]
			m := Mark{Kind: Breach, ID: b.Rule, Start: b.Start, End: b.End, Value: b.Value, Threshold: b.Threshold, Unit: b.Unit, State: b.Severity, Detail: b.Subject, Proof: b.Evidence}
			if !yield(m.span()) {
				return
			}
		}
		for i := range n.Causes {
			c := &n.Causes[i]
			m := Mark{Kind: Cause, ID: c.ID, Value: number(c.Confidence), Unit: "confidence", State: c.Level, Detail: c.Explanation, Proof: c.For}
			for k := range n.Episodes {
				if e := &n.Episodes[k]; m.Start == 0 && contains(c.Episodes, e.ID) {
					m.Start = e.Start()
				}
			}
			if !yield(m) {
				return
			}
		}
	}
}

func contains(ids []int, id int) bool {
	for _, x := range ids {
		if x == id {
			return true
		}
	}
	return false
}

// Episodes are the stretches of PLEG being unhealthy.
func Episodes(n *model.Node) iter.Seq[Mark] {
	return func(yield func(Mark) bool) {
		for i := range n.Episodes {
			e := &n.Episodes[i]
			m := Mark{Kind: Episode, ID: strconv.Itoa(e.ID), Start: e.Start(), End: e.Recovered, StartSlack: e.Uncertainty, EndSlack: e.RecoveredSlack,
				Open: e.Recovered == 0, Value: e.PeakAge, Threshold: number(e.Threshold), Unit: "seconds", State: e.StuckStep, Detail: e.RecoveredBasis, Proof: e.Evidence}
			if !yield(m.span()) {
				return
			}
		}
	}
}

// Relists are the proven ones, then the stretches in which some ran that no line
// dates.
func Relists(h *model.History) iter.Seq[Mark] {
	return func(yield func(Mark) bool) {
		for i := range h.Relists {
			r := &h.Relists[i]
			m := Mark{Kind: Relist, ID: strconv.Itoa(i + 1), Start: r.Start, End: r.End, StartSlack: r.StartSlack, EndSlack: r.EndSlack,
				Open: r.Open, Seconds: r.Duration, State: r.Outcome, Detail: strings.Join(r.Basis, " "), Proof: r.Evidence}
			if r.End == 0 {
				m.LatestEnd = r.Until
			}
			if !yield(m) {
				return
			}
		}
		for i := range h.Bounded {
			b := &h.Bounded[i]
			if b.Max == 0 {
				continue
			}
			m := Mark{Kind: Bounded, ID: counts(b.Min, b.Max), Start: b.From, End: b.To, Min: &b.Min, Max: &b.Max, State: "undated", Detail: BoundedWords(b), Proof: b.Evidence}
			if b.Long > 0 {
				m.Value, m.Unit = b.Sum, "seconds"
			}
			if !yield(m.span()) {
				return
			}
		}
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

// Healths are the stretches of one state of PLEG.
func Healths(h *model.History) iter.Seq[Mark] {
	return func(yield func(Mark) bool) {
		for i, x := range h.Health {
			m := Mark{Kind: Health, Start: x.From, End: x.To, State: x.State, Open: x.To == 0 && i+1 == len(h.Health)}
			if x.From != 0 && !yield(m.span()) {
				return
			}
		}
	}
}

// Readies are the stretches of the node being Ready or not.
func Readies(h *model.History) iter.Seq[Mark] {
	return func(yield func(Mark) bool) {
		for i, x := range h.Ready {
			m := Mark{Kind: Ready, Start: x.Time, State: strconv.FormatBool(x.Ready), Detail: x.Reason, Open: i+1 == len(h.Ready)}
			if !m.Open {
				m.End = h.Ready[i+1].Time
			}
			if x.Evidence != nil {
				m.Proof = model.ProofOf(*x.Evidence)
			}
			if !yield(m.span()) {
				return
			}
		}
	}
}

func runs(h *model.History) iter.Seq[Mark] {
	return func(yield func(Mark) bool) {
		for i := range h.Runs {
			r := &h.Runs[i]
			m := Mark{Kind: Run, Start: r.First, End: r.Last, Detail: "kubelet", Proof: r.Evidence}
			if r.Start != 0 {
				m.Start = r.Start
			}
			if r.PID > 0 {
				m.ID = strconv.Itoa(r.PID)
			}
			if r.Version != nil {
				m.Detail += " " + *r.Version
			}
			if m.Start != 0 && !yield(m.span()) {
				return
			}
		}
	}
}

func gaps(h *model.History) iter.Seq[Mark] {
	return func(yield func(Mark) bool) {
		for i := range h.Gaps {
			g := &h.Gaps[i]
			m := Mark{Kind: Gap, Start: g.From, End: g.To, State: g.Why, Proof: g.Evidence}
			if !yield(m.span()) {
				return
			}
		}
	}
}

// FailedCalls are the CRI calls that failed.
func FailedCalls(h *model.History) iter.Seq[Mark] {
	return func(yield func(Mark) bool) {
		for i := range h.Failed {
			f := &h.Failed[i]
			if f.End == 0 {
				continue
			}
			m := Mark{Kind: Failed, ID: f.Call, Start: f.Begin(), End: f.End, StartSlack: f.StartSlack, State: f.Code, Pod: f.Pod, Detail: f.Object, Proof: f.Evidence}
			if !yield(m.span()) {
				return
			}
		}
	}
}

// Requests are the calls that the runtime logged.
func Requests(h *model.History) iter.Seq[Mark] {
	return func(yield func(Mark) bool) {
		h.Requests.Until(func(r model.Request) bool {
			m := Mark{Kind: Request, ID: r.ID, Start: r.Start, End: r.End, State: "ok", Pod: r.Pod, Detail: r.Name, Proof: r.Evidence}
			switch {
			case r.Start == 0 && r.End == 0:
				return true
			case r.Start == 0:
				m.Start = r.End
			case r.End == 0:
				m.State = "no end in the log"
			}
			if r.Error != "" {
				m.State, m.Detail = "failed", r.Name+": "+r.Error
			}
			return yield(m.span())
		})
	}
}

func operations(n *model.Node) iter.Seq[Mark] {
	return func(yield func(Mark) bool) {
		for i := range n.Operations {
			o := &n.Operations[i]
			m := Mark{Kind: Operation, ID: o.Operation, Value: o.Total, Unit: "seconds", Detail: fmt.Sprintf("%d errors", o.Errors), Proof: o.Evidence}
			if o.Calls != nil {
				m.Detail = fmt.Sprintf("%d calls, %s", *o.Calls, m.Detail)
			}
			if o.Errors > 0 {
				m.State = "errors"
			}
			if !yield(m) {
				return
			}
		}
	}
}

// Events are the pod lifecycle events.
func Events(h *model.History) iter.Seq[Mark] {
	return func(yield func(Mark) bool) {
		h.Events.Until(func(e model.PodEvent) bool {
			return yield(Mark{Kind: Event, ID: e.ID(), Start: e.Time, State: e.Status, Pod: e.PodName(), Detail: e.Kind(), Seconds: e.Lag, Proof: e.Evidence})
		})
	}
}

// Collect are marks as a slice.
func Collect(ms iter.Seq[Mark]) []Mark { return slices.Collect(ms) }
