package replay

import (
	"time"
)

// Node is everything that was rebuilt about one node.
type Node struct {
	Kubelet Kubelet
	Window  Window

	Runs     []Run
	Relists  []Relist  // proven ones, oldest first
	Bounded  []Bounded // stretches in which only the number of relists is bounded
	Episodes []Episode
	Health   []HealthSpan
	Claims   []Claim // of which Health is the merger
	// Contradictions are where two sources cannot both be right.
	Contradictions []Contradiction
	Ready          []ReadyChange
	Gaps           []LogGap
	Lags           []LogLag
	Failures       []Failure // CRI calls that failed, one per call (layers merged)
	Ops            []Operation
	Observed       PodEvents // "SyncLoop (PLEG)" lines in time order
	History        History
	Proofs         []MetricProof // what snapshots of the metrics prove about relists
	Calls          []CallStep    // and what they say of the runtime calls
	Requests       Requests      // calls that the runtime logged, by their first line

	Records // what the input holds of it
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
	Run     int // index into Node.Runs, -1 unknown
	Start   Instant
	ListEnd Instant // when GetPods returned, if known
	End     Instant
	// Took is how long it ran, ± TookSlack, where something measures that
	// better than its start and end; else 0.
	Took, TookSlack time.Duration
	Outcome         Outcome
	Listed          *bool // did GetPods succeed; nil unknown
	Basis           []string
	Evidence        []Evidence
}

// Duration returns how long the relist ran, and whether that is known: to two
// seconds or a fifth of it.
func (r *Relist) Duration() (time.Duration, bool) {
	if r.Took > 0 {
		return r.Took, true
	}
	if !r.Start.Known() || !r.End.Known() {
		return 0, false
	}
	d := time.Duration(r.End.At - r.Start.At)
	return d, r.Start.Slack+r.End.Slack <= max(2*time.Second, d/5)
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

// Contradiction is what two records say that cannot both be true.
type Contradiction struct {
	What     string // a clause: "the metrics show one relist where …"
	Evidence []Evidence
}

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
	Proof string // the first kind of proof for it, "" unknown: see Claim
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
