package replay

import (
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/health"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/relist"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// Findings from the kubelet's own lines.
type (
	// Kubelet is the profile of the node's kubelet, and how it is known.
	Kubelet = kubelet.Profile
	// Run is one process of the kubelet.
	Run = kubelet.Run
	// ReadyChange is a change of the node's Ready condition.
	ReadyChange = kubelet.ReadyChange
	// LogGap is an interval in which the log has nothing.
	LogGap = kubelet.LogGap
	// LogLag is a line that arrived late in the journal.
	LogLag = kubelet.LogLag
	// Failure is a CRI call that failed, logged by one or more layers.
	Failure = kubelet.Failure
	// FailureDetails holds the results of Failure's methods of the same names.
	FailureDetails = kubelet.FailureDetails
)

// Findings from snapshots of the kubelet's metrics.
type (
	// MetricProof is one statement about relists that metrics prove.
	MetricProof = snapshots.Proof
	// ProofKind is the kind of such a statement.
	ProofKind = snapshots.ProofKind
	// CallStep is what the metrics show about one runtime operation between two snapshots.
	CallStep = snapshots.CallStep
	// Operation summarizes one CRI operation.
	Operation = snapshots.Operation
	// Counted is what the metrics show about all relists together.
	Counted = snapshots.Counted
)

// Kinds of MetricProof.
const (
	ProofStart   = snapshots.ProofStart
	ProofCount   = snapshots.ProofCount
	ProofLong    = snapshots.ProofLong
	ProofRunning = snapshots.ProofRunning
	ProofRestart = snapshots.ProofRestart
	ProofGap     = snapshots.ProofGap
	ProofFrozen  = snapshots.ProofFrozen
	ProofRelist  = snapshots.ProofRelist
	ProofAge     = snapshots.ProofAge
	ProofPaced   = snapshots.ProofPaced
)

// LongRelist is the minimum duration of a relist whose cause is analyzed.
const LongRelist = snapshots.LongRelist

// CountedRelists returns what the kubelet's counters show about its relists, under their old or new metric
// names; false if there are no counters.
func CountedRelists(series []*parse.Series) (Counted, bool) { return snapshots.CountedRelists(series) }

// CountedPodRelists does the same for on-demand relists of single pods.
func CountedPodRelists(series []*parse.Series) (Counted, bool) {
	return snapshots.CountedPodRelists(series)
}

// MetricProofs returns what the kubelet's relist metrics prove, in time order.
func MetricProofs(series []*parse.Series, scrapes []*parse.Scrape) []MetricProof {
	return snapshots.Proofs(series, scrapes)
}

// CallSteps returns what the metrics of one node show about its runtime calls, ordered by operation, source and
// time.
func CallSteps(series []*parse.Series) []CallStep { return snapshots.CallSteps(series) }

// OperationType converts the name of a CRI call to the operation_type label of the kubelet's metrics.
func OperationType(call string) string { return snapshots.OperationType(call) }

// What the kubelet did, as far as it is proven.
type (
	// Window is the time span that the node's records cover.
	Window = relist.Window
	// Relist is one run of the relist procedure that evidence proves.
	Relist = relist.Relist
	// Outcome is how a relist ended.
	Outcome = relist.Outcome
	// Bounded is an interval in which only the number of relists is bounded.
	Bounded = relist.Bounded
	// Episode is one continuous interval in which PLEG was unhealthy.
	Episode = relist.Episode
	// Step is the part of a relist that is stuck.
	Step = relist.Step
	// Claim says that a health state held over an interval, and what proves it.
	Claim = health.Claim
	// HealthSpan is an interval with one health state.
	HealthSpan = health.Span
	// HealthState is the health of PLEG over an interval.
	HealthState = health.State
	// Contradiction is a conflict between records that cannot both be true.
	Contradiction = relist.Contradiction
)

// Outcomes, bases, steps and health states.
const (
	OutcomeOK         = relist.OutcomeOK
	OutcomeListFailed = relist.OutcomeListFailed
	OutcomeHung       = relist.OutcomeHung
	OutcomeUnknown    = relist.OutcomeUnknown

	BasisLastSeen  = relist.BasisLastSeen
	BasisRelisting = relist.BasisRelisting
	BasisListError = relist.BasisListError
	BasisEvents    = relist.BasisEvents
	BasisMetrics   = relist.BasisMetrics
	BasisNextStart = relist.BasisNextStart

	StepList    = relist.StepList
	StepInspect = relist.StepInspect
	StepDeliver = relist.StepDeliver
	StepUnknown = relist.StepUnknown

	Healthy       = health.Healthy
	Unhealthy     = health.Unhealthy
	NeverRelisted = health.NeverRelisted
	RuntimeDown   = health.RuntimeDown
	HealthUnknown = health.Unknown

	// Proofs that PLEG was healthy.
	ProofListing = health.ProofListing
	ProofPace    = health.ProofPace
	ProofGauge   = health.ProofGauge
	ProofSilence = health.ProofSilence

	// Proofs that PLEG was unhealthy; that of the event channel says nothing about the age of the last relist.
	ProofSerial  = health.ProofSerial
	ProofChannel = health.ProofChannel
)
