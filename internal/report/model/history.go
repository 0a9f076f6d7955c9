package model

import (
	"cmp"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/age"
	"github.com/plegforensics/plegforensics/replay/audit"
	"github.com/plegforensics/plegforensics/replay/curves"
)

// Timeline is plegforensics/timeline/v1, what timeline writes.
type Timeline struct {
	Schema string     `json:"schema"`
	Nodes  []*History `json:"nodes"`
}

// History is what a node did.
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

	OnDemand *OnDemand `json:"on_demand_relists,omitempty"`

	Events Seq[PodEvent] `json:"-"` // audited ones where there was an audit

	Requests Seq[Request]             `json:"-"` // calls that the runtime logged
	Lines    Seq[Line]                `json:"-"` // dated known messages
	Curves   func() []curves.Curve    `json:"-"` // the metrics of the node
	Ages     func() []age.Span        `json:"-"` // bounds of the age of the last relist
	Cite     func(parse.Record) Proof `json:"-"` // what a point of a curve rests on
}

// Relist is one run of the relist procedure that evidence proves.
type Relist struct {
	Start      Time     `json:"start"`
	StartSlack *float64 `json:"start_uncertainty_seconds"` // ±
	End        Time     `json:"end"`
	EndSlack   *float64 `json:"end_uncertainty_seconds"`
	Duration   *float64 `json:"duration_seconds,omitempty"`
	LongSlack  *float64 `json:"duration_uncertainty_seconds,omitempty"`
	AtLeast    *float64 `json:"duration_at_least_seconds,omitempty"` // where its length is not known
	Outcome    string   `json:"outcome"`
	Listed     *bool    `json:"listed"`
	Basis      []string `json:"basis"`
	Open       bool     `json:"open,omitempty"`           // it had not ended by the end of the input
	May        bool     `json:"may_be_another,omitempty"` // nothing parts it from another of those listed
	Evidence   Proof    `json:"evidence"`

	Least   time.Duration `json:"-"` // how long it ran at least, where its length is not known
	By      string        `json:"-"` // what proves it, in words
	ListEnd Time          `json:"-"`
	Until   Time          `json:"-"` // by when it was over: its end, or the start of the next one
}

// Length is how long a relist took, as far as that is known, "?" for nil.
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
		return "≤ " + parse.Most(r.Until.Sub(r.Start)+max(Duration(r.StartSlack), 0)) // nothing says that it took any time
	case r.Duration == nil:
		return "?"
	}
	return parse.About(Duration(r.Duration), Duration(r.LongSlack))
}

// Bounded says that between two moments some relists ran that no evidence dates
// one by one.
type Bounded struct {
	Span
	Min      int      `json:"count_min"`
	Max      int      `json:"count_max"`
	Sum      *float64 `json:"together_seconds,omitempty"` // as the metrics count it
	Long     int      `json:"over_10s,omitempty"`
	Silent   bool     `json:"metrics_silent,omitempty"` // no snapshot in between succeeded
	Evidence Proof    `json:"evidence"`
}

// Health is a stretch of one state of PLEG.
type Health struct {
	Span
	State string `json:"state"`
}

// Ready is a change of the node's Ready condition.
type Ready struct {
	Time     Time      `json:"time"`
	Ready    bool      `json:"ready"`
	Reason   string    `json:"reason"`
	Why      string    `json:"why,omitempty"` // of NotReady, as an episode's
	Evidence *Evidence `json:"evidence"`
}

// Run is one process of the kubelet.
type Run struct {
	PID     int     `json:"pid"`
	Start   Time    `json:"start"`
	End     Time    `json:"end"`
	Version *string `json:"version"`

	First, Last Time  `json:"-"` // lines
	Evidence    Proof `json:"-"`
}

// Gap is a stretch in which the log says nothing.
type Gap struct {
	Span
	Why      string `json:"why"`
	Evidence Proof  `json:"evidence"`
}

// FailedCall is a CRI call that failed.
type FailedCall struct {
	Call       string   `json:"call"`
	Code       string   `json:"code"`
	Scope      string   `json:"scope,omitempty"` // all, pod, ready
	Pod        string   `json:"pod,omitempty"`
	Object     string   `json:"object,omitempty"`
	Start      Time     `json:"start"` // known where the error means a deadline
	StartSlack *float64 `json:"start_uncertainty_seconds"`
	End        Time     `json:"end"`
	Evidence   Proof    `json:"evidence"`
}

// Begin is when the call is known to have run, first.
func (f *FailedCall) Begin() Time { return cmp.Or(f.Start, f.End) }

// Request is one call that the runtime logged.
type Request struct {
	Name       string // "stop container", "create sandbox"
	Pod, ID    string
	Start, End Time
	Error      string
	Evidence   Proof
}

// Line is a known message.
type Line struct {
	At       Time
	Source   string
	Severity byte
	IDs      string // of its signatures
	Bulk     bool   // one of the many by which a kubelet at verbosity 4 and more tells of each relist
	Evidence Proof
}

// Events is plegforensics/events/v1, what events writes.
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
}

// Audit counts events by what the audit says of them.
type Audit audit.Counts

// ShortLived is a container that lived and died between two relists.
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

// PodName is the pod, or its UID.
func (e *PodEvent) PodName() string { return Known(cmp.Or(e.Pod, e.PodUID)) }

// ID is the container or sandbox.
func (e *PodEvent) ID() string { return Known(e.Data) }

// Kind is the type of the event.
func (e *PodEvent) Kind() string { return Known(e.Type) }

// Known is a string that may be unknown, "" if it is.
func Known(s *string) string { return *cmp.Or(s, new("")) }
