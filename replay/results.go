package replay

import (
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/health"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/relist"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// What the kubelet's own lines tell.
type (
	// Kubelet is the profile of the node's kubelet and how it is known.
	Kubelet = kubelet.Profile
	// Run is one process of the kubelet.
	Run = kubelet.Run
	// ReadyChange is a change of the node's Ready condition.
	ReadyChange = kubelet.ReadyChange
	// LogGap is a stretch in which the log says nothing.
	LogGap = kubelet.LogGap
	// LogLag says that lines arrived late in the journal.
	LogLag = kubelet.LogLag
	// Failure is a CRI call that failed, told by one or several layers.
	Failure = kubelet.Failure
	// FailureDetails are what the methods of Failure of the same names return.
	FailureDetails = kubelet.FailureDetails
)

// What snapshots of the kubelet's metrics tell.
type (
	// MetricProof is one statement about relists that metrics prove.
	MetricProof = snapshots.Proof
	// ProofKind says what such a statement is.
	ProofKind = snapshots.ProofKind
	// CallStep is what they say of one runtime operation between two snapshots.
	CallStep = snapshots.CallStep
	// Operation sums up one CRI operation.
	Operation = snapshots.Operation
	// Counted is what they say of all relists together.
	Counted = snapshots.Counted
)

// Kinds of proof by metrics.
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

// LongRelist is the length from which a relist is blamed on something.
const LongRelist = snapshots.LongRelist

// CountedRelists is what the kubelet's counters say of its relists, in either
// generation of names; false where none counts them.
func CountedRelists(series []*parse.Series) (Counted, bool) { return snapshots.CountedRelists(series) }

// CountedPodRelists is what they say of the relists of single pods on demand.
func CountedPodRelists(series []*parse.Series) (Counted, bool) {
	return snapshots.CountedPodRelists(series)
}

// MetricProofs returns what the kubelet's relist metrics prove, in time order.
func MetricProofs(series []*parse.Series, scrapes []*parse.Scrape) []MetricProof {
	return snapshots.Proofs(series, scrapes)
}

// CallSteps returns what the metrics of one node say of its runtime calls,
// ordered by operation, source and time.
func CallSteps(series []*parse.Series) []CallStep { return snapshots.CallSteps(series) }

// OperationType turns the name of a CRI call into the operation_type of the
// kubelet's metrics.
func OperationType(call string) string { return snapshots.OperationType(call) }

// What the kubelet did, as far as it is proven.
type (
	// Window is the span of time that the node's records cover.
	Window = relist.Window
	// Relist is one run of the relist procedure that evidence proves.
	Relist = relist.Relist
	// Outcome of a relist.
	Outcome = relist.Outcome
	// Bounded is a stretch in which only the number of relists is bounded.
	Bounded = relist.Bounded
	// Episode is one continuous stretch of PLEG being unhealthy.
	Episode = relist.Episode
	// Step is the part of a relist that is stuck.
	Step = relist.Step
	// Claim says that something held over a stretch of time, and what proves it.
	Claim = health.Claim
	// HealthSpan is a stretch of one health state.
	HealthSpan = health.Span
	// HealthState of PLEG over a stretch.
	HealthState = health.State
	// Contradiction is what two records say that cannot both be true.
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

	// Proofs of claims that PLEG was healthy.
	ProofListing = health.ProofListing
	ProofPace    = health.ProofPace
	ProofGauge   = health.ProofGauge
	ProofSilence = health.ProofSilence

	// ProofSerial is a kind of proof that PLEG was not.
	ProofSerial = health.ProofSerial
)
