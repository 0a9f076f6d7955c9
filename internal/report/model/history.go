package model

import (
	"cmp"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/age"
	"github.com/plegforensics/plegforensics/replay/audit"
	"github.com/plegforensics/plegforensics/replay/curves"
)

// Timeline is the document plegforensics/timeline/v1, written by timeline.
type Timeline struct {
	Schema string     `json:"schema"`
	Nodes  []*History `json:"nodes"`
}

// History is what happened on a node.
type History struct {
	Name    string          `json:"name"`
	Relists Seq[Relist]     `json:"relists"`
	Bounded []Bounded       `json:"relists_bounded"`
	Health  []Health        `json:"health"`
	Ready   []Ready         `json:"node_ready"`
	Runs    []Run           `json:"kubelet_runs"`
	Gaps    []Gap           `json:"gaps"`
	Failed  Seq[FailedCall] `json:"failed_calls"`
	Told    []Episode       `json:"episodes"`
	Counts  EventCounts     `json:"events"`
	Notes   []string        `json:"notes,omitempty"`

	Conflicts []Conflict `json:"contradictions,omitempty"`

	OnDemand *OnDemand `json:"on_demand_relists,omitempty"`

	Events Seq[PodEvent] `json:"-"` // audited, if there was an audit

	Requests Seq[Request]             `json:"-"` // calls logged by the runtime
	Lines    Seq[Line]                `json:"-"` // dated known messages
	Curves   func() []curves.Curve    `json:"-"` // the metrics of the node
	Ages     func() []age.Span        `json:"-"` // bounds of the age of the last relist
	Cite     func(parse.Record) Proof `json:"-"` // evidence for a point of a curve
}

// Relist is one proven run of the relist procedure.
type Relist struct {
	Start      Time     `json:"start"`
	StartSlack *float64 `json:"start_uncertainty_seconds"` // ±
	End        Time     `json:"end"`
	EndSlack   *float64 `json:"end_uncertainty_seconds"`
	Duration   *float64 `json:"duration_seconds,omitempty"`
	LongSlack  *float64 `json:"duration_uncertainty_seconds,omitempty"`
	AtLeast    *float64 `json:"duration_at_least_seconds,omitempty"` // if its duration is unknown
	Outcome    string   `json:"outcome"`
	Listed     *bool    `json:"listed"`
	Basis      []string `json:"basis"`
	Open       bool     `json:"open,omitempty"`           // still running at the end of the input
	May        bool     `json:"may_be_another,omitempty"` // may be the same relist as another in the list
	Evidence   Proof    `json:"evidence"`

	Least   time.Duration `json:"-"` // lower bound of the duration, if that is unknown
	By      string        `json:"-"` // what proves it, in words
	ListEnd Time          `json:"-"`
	Until   Time          `json:"-"` // latest end: its own, or the start of the next relist
}

// Length formats the duration of a relist, exact or bounded; "?" if nothing is known or r is nil.
func (r *Relist) Length() string {
	switch {
	case r == nil:
		return "?"
	case r.Open && r.Least == 0:
		return "not over"
	case r.Open:
		return "≥ " + parse.Least(r.Least) + ", not over"
	case r.Until == 0 && r.Duration == nil && r.Least > 0:
		return "≥ " + parse.Least(r.Least)
	case r.Until != 0 && (r.Duration == nil || r.StartSlack != nil && *r.StartSlack >= *r.Duration && len(r.Basis) == 1 && r.Basis[0] == "list-error"):
		return "≤ " + parse.Most(r.Until.Sub(r.Start)+max(Duration(r.StartSlack), 0)) // nothing proves that it took any time
	case r.Duration == nil:
		return "?"
	}
	return parse.About(Duration(r.Duration), Duration(r.LongSlack))
}

// Bounded says that some relists ran between two moments, none of which can be dated individually.
type Bounded struct {
	Span
	Min      int      `json:"count_min"`
	Max      int      `json:"count_max"`
	Sum      *float64 `json:"together_seconds,omitempty"` // as counted by the metrics
	Long     int      `json:"over_10s,omitempty"`
	Silent   bool     `json:"metrics_silent,omitempty"` // no snapshot in between succeeded
	Evidence Proof    `json:"evidence"`
}

// Health is a span of one state of PLEG.
type Health struct {
	Span
	State string `json:"state"`
}

// Ready is a change of the node's Ready condition.
type Ready struct {
	Time     Time      `json:"time"`
	Ready    bool      `json:"ready"`
	Reason   string    `json:"reason"`
	Why      string    `json:"why,omitempty"` // of NotReady, like Unready.Why of an episode
	Evidence *Evidence `json:"evidence"`
}

// Run is the lifetime of one kubelet process.
type Run struct {
	PID     int     `json:"pid"`
	Start   Time    `json:"start"`
	End     Time    `json:"end"`
	Version *string `json:"version"`

	First, Last Time  `json:"-"` // first and last line
	Evidence    Proof `json:"-"`
}

// Gap is a span in which the log is silent.
type Gap struct {
	Span
	Why      string `json:"why"`
	Evidence Proof  `json:"evidence"`
}

// FailedCall is a failed CRI call.
type FailedCall struct {
	Call       string   `json:"call"`
	Code       string   `json:"code"`
	Scope      string   `json:"scope,omitempty"` // all, pod, ready
	Pod        string   `json:"pod,omitempty"`
	Object     string   `json:"object,omitempty"`
	Start      Time     `json:"start"` // known if the error is a deadline
	StartSlack *float64 `json:"start_uncertainty_seconds"`
	End        Time     `json:"end"`
	Evidence   Proof    `json:"evidence"`
}

// Begin is the start of the call, or its end if the start is unknown.
func (f *FailedCall) Begin() Time { return cmp.Or(f.Start, f.End) }

// Request is one call logged by the runtime.
type Request struct {
	Name       string // "stop container", "create sandbox"
	Pod, ID    string
	Start, End Time
	Error      string
	Evidence   Proof
}

// Line is a log line that matches a signature.
type Line struct {
	At       Time
	Source   string
	Severity byte
	IDs      string // of its signatures, comma-separated
	Bulk     bool   // one of the many lines that a kubelet writes for each relist at verbosity 4 and above
	Evidence Proof
}

// Events is the document plegforensics/events/v1, written by events.
type Events struct {
	Schema string       `json:"schema"`
	Nodes  []NodeEvents `json:"nodes"`
}

// NodeEvents are the events of one node and their audit.
type NodeEvents struct {
	Name       string        `json:"name"`
	Events     Seq[PodEvent] `json:"events"`
	Audit      Audit         `json:"audit"`
	ShortLived []ShortLived  `json:"short_lived"`
	Conflicts  []Conflict    `json:"contradictions,omitempty"`
}

// Audit counts events by the verdict of the audit.
type Audit audit.Counts

// ShortLived is a container that started and exited between two relists, unseen by PLEG.
type ShortLived struct {
	ID       string `json:"id"`
	Pod      string `json:"pod"`
	Started  Time   `json:"started"`
	Ended    Time   `json:"ended"`
	Evidence Proof  `json:"evidence"`
}

// PodEvent is one pod lifecycle event, observed or replayed.
type PodEvent struct {
	Node        string   `json:"node,omitempty"` // ndjson only
	Time        Time     `json:"time"`
	PodUID      *string  `json:"pod_uid"`
	Pod         *string  `json:"pod"`
	Type        *string  `json:"type"`
	Data        *string  `json:"data"`
	Status      string   `json:"status"`
	RuntimeTime Time     `json:"runtime_time"`
	Lag         *float64 `json:"lag_seconds"`
	ExitCode    *int     `json:"exit_code"`
	Evidence    Proof    `json:"evidence"`
}

// PodName returns the name of the pod, or its UID if the name is unknown.
func (e *PodEvent) PodName() string { return Known(cmp.Or(e.Pod, e.PodUID)) }

// ID returns the ID of the container or sandbox.
func (e *PodEvent) ID() string { return Known(e.Data) }

// Kind returns the type of the event.
func (e *PodEvent) Kind() string { return Known(e.Type) }

// Known returns *s, or "" if s is nil.
func Known(s *string) string { return *cmp.Or(s, new("")) }
