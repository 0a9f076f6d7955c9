package replay

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Evidence is a record and what it is cited for.
type Evidence struct {
	parse.Record
	Note string // "" or a short clause: "last seen 3m5.3s before this line"
}

// Instant is a reconstructed moment and its uncertainty: the true moment lies
// within At ± Slack. The zero Instant is unknown.
type Instant struct {
	At    int64 // Unix ns
	Slack time.Duration
}

// Known reports whether the moment is known at all.
func (i Instant) Known() bool { return i.At != 0 }

// Time returns the moment in UTC.
func (i Instant) Time() time.Time { return time.Unix(0, i.At).UTC() }

// Node is everything that was rebuilt about one node.
type Node struct {
	Name    string
	Kubelet Kubelet
	Window  Window

	Runs     []Run
	Relists  []Relist  // proven ones, oldest first
	Bounded  []Bounded // stretches in which only the number of relists is bounded
	Episodes []Episode
	Health   []HealthSpan
	Ready    []ReadyChange
	Gaps     []LogGap
	Lags     []LogLag
	Failures []Failure // CRI calls that failed, one per call (layers merged)
	Ops      []Operation
	Observed PodEvents // "SyncLoop (PLEG)" lines in time order, as the audit judged them
	History  History
	Proofs   []MetricProof // what snapshots of the metrics prove about relists
	Calls    []CallStep    // and what they say of the runtime calls
	Requests Requests      // calls that the runtime logged, by their first line
	Audit    Audit
	Blame    []Blame

	// Input: the records of this node, in time order.
	Events  []*parse.Event
	Facts   []*parse.Fact
	Series  []*parse.Series
	Scrapes []*parse.Scrape
	Objects []*parse.Object
	Markers []*parse.Marker
	Clocks  []parse.FileClock
	// Coverage says what was written at all, lines without a signature
	// included; Containers and Listings are what package cri read.
	Coverage   []*parse.Coverage
	Containers []*parse.Container
	Listings   []parse.Listing
	// Have tells which sources the input holds for this node; what is not
	// here could not be looked at.
	Have map[parse.Source]bool

	symbols *parse.Symbols // of the texts of events, history and requests
	census  *Census        // of Events, once it was asked for
}

// Kubelet is the profile of the node's kubelet and how it is known.
type Kubelet struct {
	Version    string // "v1.28.0", "" unknown
	VersionMin string // bounds by fingerprint where no line states it: "v1.21"
	VersionMax string
	Runtime    string // "containerd 1.7.2", "" unknown
	PLEG       string // generic, evented, unknown
	Period     time.Duration
	Threshold  time.Duration
	RPCTimeout time.Duration // runtimeRequestTimeout
	Verbosity  int           // -v, -1 unknown
	Basis      string        // in words, what is evidence and what is default
	Evidence   []Evidence

	thresholdSet bool // by option: overrules the lines
}

// Window is the span of time that the node's records cover.
type Window struct {
	Start, End    int64 // Unix ns, 0 unknown
	Timezone      string
	TimezoneBasis string
}

// Run is one process of the kubelet.
type Run struct {
	PID        int
	Start, End Instant // Start unknown when the log begins later; End unknown for the last
	First      int64   // first and last line, Unix ns
	Last       int64
	Version    string
	Evidence   []Evidence

	loop  int64 // when the sync loop started, 0 unknown
	exact bool  // Start comes from a monotonic reading
}

// Outcome of a relist.
type Outcome string

// Outcomes.
const (
	OutcomeOK         Outcome = "ok"
	OutcomeListFailed Outcome = "list-failed"
	OutcomeHung       Outcome = "hung"
	OutcomeUnknown    Outcome = "unknown"
)

// Bases of a relist in the ledger.
const (
	BasisLastSeen  = "last-seen"
	BasisRelisting = "relisting-line"
	BasisListError = "list-error"
	BasisEvents    = "pleg-events"
	BasisMetrics   = "metrics"
	BasisNextStart = "next-start"
)

// Relist is one run of the relist procedure that evidence proves.
type Relist struct {
	Run      int // index into Node.Runs, -1 unknown
	Start    Instant
	ListEnd  Instant // when GetPods returned, if known
	End      Instant
	Outcome  Outcome
	Listed   *bool // did GetPods succeed; nil unknown
	Basis    []string
	Evidence []Evidence
}

// Duration returns end minus start and whether both are known.
func (r *Relist) Duration() (time.Duration, bool) {
	if !r.Start.Known() || !r.End.Known() {
		return 0, false
	}
	return time.Duration(r.End.At - r.Start.At), true
}

// Bounded says that between two moments some relists ran that no evidence
// dates one by one.
type Bounded struct {
	From, To           int64
	CountMin, CountMax int
	// What the metrics add; zero where the log alone bounds them.
	Sum      time.Duration // how long they took together
	Long     int           // how many of them took over 10 s
	Silent   bool          // no snapshot succeeded in between
	Evidence []Evidence    // of Long and Silent
}

// Step is the part of a relist that is stuck.
type Step string

// Steps.
const (
	StepList    Step = "list"
	StepInspect Step = "inspect"
	StepDeliver Step = "deliver"
	StepUnknown Step = "unknown"
)

// Episode is one continuous stretch of PLEG being unhealthy.
type Episode struct {
	ID             int
	Run            int
	LastStart      Instant   // start of the last relist that listed pods before the breach; unknown if none ever did
	LastStarts     []Instant // all last-seen starts seen during the stretch, oldest first: it may span several relists
	Breach         int64     // LastStart + threshold
	FirstReport    int64     // first and last line that states an age (or "never")
	LastReport     int64
	Recovered      Instant // earliest proof of health again; unknown when none in the input
	RecoveredBasis string
	Threshold      time.Duration
	PeakAge        time.Duration
	Reports        int  // lines that state an age past the threshold
	NeverReports   int  // lines that say that PLEG has yet to be successful; they state no age
	Never          bool // no relist has succeeded since the process started
	StuckStep      Step
	StepBasis      string
	NotReady       *Span
	Evidence       []Evidence
}

// Span is a stretch of time; To is 0 while open.
type Span struct{ From, To int64 }

// HealthState of PLEG over a stretch.
type HealthState string

// Health states.
const (
	Healthy       HealthState = "healthy"
	Unhealthy     HealthState = "unhealthy"
	NeverRelisted HealthState = "never-relisted"
	RuntimeDown   HealthState = "runtime-down"
	HealthUnknown HealthState = "unknown"
)

// HealthSpan is a stretch of one health state.
type HealthSpan struct {
	Span
	State HealthState
}

// ReadyChange is a change of the node's Ready condition.
type ReadyChange struct {
	At     int64
	Ready  bool
	Reason string
	Evidence
}

// LogGap is a stretch in which the log says nothing.
type LogGap struct {
	Span
	Why      string // rotation, rate-limit, reboot, truncated, silence
	Evidence []Evidence
}

// LogLag says that lines arrived late in the journal: a stalled log pipeline.
type LogLag struct {
	At  int64
	Lag time.Duration
	Evidence
}

// Operation sums up one CRI operation.
type Operation struct {
	Name          string        // podsandbox_status, …: the operation_type of the metrics
	Calls, Errors int           // Calls -1 unknown
	P50, P99      time.Duration // -1 unknown
	Total         time.Duration
	ShareOfRelist float64 // at most this part of the relist time, -1 unknown
	Evidence      []Evidence

	metricErrors int // of Errors, those that the metrics count
}

// PodEvent is one pod lifecycle event, observed or replayed.
type PodEvent struct {
	At          int64
	PodUID      string
	Pod         string // ns/name, "" unknown
	Type        string // ContainerStarted, …
	Data        string // container or sandbox id
	Status      string // observed, matched, missing, late, unexpected, discarded
	RuntimeTime int64  // when it happened in the runtime, 0 unknown
	Lag         time.Duration
	HasLag      bool
	ExitCode    *int
	Line        parse.Record // the kubelet's line, nil for what is missing
	Change      parse.Record // the runtime's line about the change, nil if none is known
}

// Evidence returns the lines that prove the event, or its absence.
func (e *PodEvent) Evidence() []Evidence {
	var out []Evidence
	if e.Line != nil {
		out = append(out, Evidence{Record: e.Line})
	}
	if e.Change != nil {
		note := map[string]string{
			StatusMissing:    "the runtime tells of the change that no event reports",
			StatusUnexpected: "the runtime says that this happened only later",
		}[e.Status]
		out = append(out, Evidence{e.Change, note})
	}
	return out
}

// Transition is a state change of a container or pod sandbox that the runtime
// or the relist goroutine itself logged, or that two snapshots prove.
type Transition struct {
	At       Instant
	State    string // created, running, exited, removed
	ExitCode *int
	Src      parse.Source // who tells
	Line     parse.Record // the line or the entry of a listing that tells

	// Subject is what it is about, the same for all its transitions.
	*Subject
}

// Subject is a container or pod sandbox, as far as its records name it.
type Subject struct {
	ID        string
	Sandbox   bool   // a pod sandbox, not a container
	SandboxID string // of a container
	PodUID    string
	PodName   string
	Namespace string
	Name      string // of a container
}

// Audit compares the events that the reference PLEG must have produced with
// those observed.
type Audit struct {
	Audited                                                  bool // there was runtime history to audit against
	Observed, Replayed, Missing, Late, Unexpected, Discarded int
	Events                                                   PodEvents // those of Node.Observed, and what should have been there
	ShortLived                                               []ShortLived
	Notes                                                    []string
}

// ShortLived is a container that lived and died between two relists.
type ShortLived struct {
	ID, Pod        string
	Started, Ended int64
	Evidence       []Evidence
}

// Blame divides the seconds of one long relist.
type Blame struct {
	Relist      int // index into Node.Relists
	Total       time.Duration
	List        time.Duration // -1 unknown
	Inspect     time.Duration // -1 unknown
	ByOperation []Share
	ByPod       []Share
	Unexplained time.Duration
	Notes       []string
}

// Share is a part of a relist and what it is charged to.
type Share struct {
	What     string // operation, or pod ns/name
	ID       string // pod uid or container id, if known
	Took     time.Duration
	Calls    int // calls, or inspections of a pod
	TimedOut int // of those, how many ran into the time-out
	Evidence []Evidence
}
