package replay

import (
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/health"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/relist"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// Findings from the kubelet's own lines.
type (
	Kubelet        = kubelet.Profile        // the profile of the node's kubelet, and how it is known
	Given          = kubelet.Given          // what the user states about the kubelet; its zero values mean from evidence
	Run            = kubelet.Run            // one process of the kubelet
	ReadyChange    = kubelet.ReadyChange    // a change of the node's Ready condition
	LogGap         = kubelet.LogGap         // an interval in which the log has nothing
	LogLag         = kubelet.LogLag         // a line that arrived late in the journal
	Failure        = kubelet.Failure        // a CRI call that failed, logged by one or more layers
	FailureDetails = kubelet.FailureDetails // the results of Failure's methods of the same names
)

// Findings from snapshots of the kubelet's metrics.
type (
	MetricProof = snapshots.Proof     // one statement about relists that metrics prove
	ProofKind   = snapshots.ProofKind // the kind of such a statement
	CallStep    = snapshots.CallStep  // what the metrics show about one runtime operation between two snapshots
	Operation   = snapshots.Operation // the calls of one CRI operation together
	Counted     = snapshots.Counted   // what the metrics show about all relists together
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
	Window        = host.Window          // the time span that the node's records cover
	Relist        = relist.Relist        // one run of the relist procedure that evidence proves
	Outcome       = relist.Outcome       // how a relist ended
	Bounded       = relist.Bounded       // an interval in which only the number of relists is bounded
	Episode       = relist.Episode       // one continuous interval in which PLEG was unhealthy
	Step          = relist.Step          // the part of a relist that is stuck
	Claim         = health.Claim         // that a health state held over an interval, and what proves it
	HealthSpan    = health.Span          // an interval with one health state
	HealthState   = health.State         // the health of PLEG over an interval
	Contradiction = relist.Contradiction // a conflict between records that cannot both be true
)

// Outcomes, bases, steps and health states.
const (
	OutcomeOK         = relist.OutcomeOK
	OutcomeListFailed = relist.OutcomeListFailed
	OutcomeHung       = relist.OutcomeHung
	OutcomeUnknown    = relist.OutcomeUnknown

	BasisLastSeen  = relist.BasisLastSeen
	BasisListError = relist.BasisListError
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
