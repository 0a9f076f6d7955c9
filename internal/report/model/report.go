package model

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/replay/simulate"
	"github.com/plegforensics/plegforensics/rules"
)

// Report is the document plegforensics/report/v1, written by analyze. Fields may be added, but
// never renamed or given another meaning.
type Report struct {
	Schema       string        `json:"schema"`
	Tool         Tool          `json:"tool"`
	Inputs       []Input       `json:"inputs"`
	Nodes        []*Node       `json:"nodes"`
	Correlations []Correlation `json:"correlations"`
	Alerts       []Alert       `json:"alerts,omitempty"`
	Findings     Counts        `json:"findings"`

	Warnings []Warning       `json:"-"` // of all inputs
	Inspect  func() *Inspect `json:"-"` // what the inputs hold; computed on each call
}

// Tool is the program that wrote a document.
type Tool struct {
	Version string `json:"version"`
}

// Input is a file, directory or archive given on the command line.
type Input struct {
	Held
	Warnings Seq[Warning] `json:"warnings"`
}

// Warning is a problem with an input.
type Warning struct {
	File    string `json:"file"`
	Line    uint32 `json:"line,omitempty"`
	Offset  int64  `json:"offset"`
	Message string `json:"message"`

	placed bool // false if it concerns the input as a whole
}

// Where returns the place that the warning concerns, "" if that is the input as a whole.
func (w *Warning) Where() string {
	if !w.placed {
		return ""
	}
	at := Evidence{File: w.File, Line: w.Line}
	return at.Where()
}

// String formats the warning for display.
func (w *Warning) String() string {
	if !w.placed {
		return w.Message
	}
	return w.Where() + ": " + w.Message
}

// Undecided is a breach rule without a breach which the input cannot rule out.
type Undecided struct {
	Rule   string `json:"id"`
	Reason string `json:"reason"`
}

// Unjudged is a cause that could not be evaluated. Any one of Needs in the input would suffice.
type Unjudged struct {
	ID    string   `json:"id"`
	Title string   `json:"title"`
	Needs []string `json:"needs"`
}

// Node is the report on one node.
type Node struct {
	Name       string        `json:"name"`
	Kubelet    Kubelet       `json:"kubelet"`
	Window     Window        `json:"window"`
	Status     string        `json:"status"`
	Summary    string        `json:"summary"`
	Silent     bool          `json:"-"` // nothing in the input tells how PLEG was or what troubled it
	Episodes   []Episode     `json:"episodes"`
	Worst      int           `json:"-"` // index of the episode to present first
	Breaches   []Breach      `json:"breaches"`
	Crossed    rules.Crossed `json:"-"` // breaches per rule; Breaches does not list all if there are very many
	Relists    RelistStats   `json:"relists"`
	Operations []Operation   `json:"operations"`
	Events     EventCounts   `json:"events"`
	Blame      []Blame       `json:"blame,omitempty"`
	Causes     []Cause       `json:"causes"`
	LookAlikes []Cause       `json:"look_alikes,omitempty"`
	Unjudged   []Unjudged    `json:"not_judged,omitempty"`
	Undecided  []Undecided   `json:"not_decided,omitempty"`
	WhatIf     []WhatIf      `json:"what_if,omitempty"`
	Gaps       []Gap         `json:"gaps,omitempty"`
	Conflicts  []Conflict    `json:"contradictions,omitempty"`
	Health     []Health      `json:"health"` // as in timeline
	Collect    []Need        `json:"collect,omitempty"`
	History    *History      `json:"-"`
	Audited    NodeEvents    `json:"-"`
	Sources    []SourceCover `json:"-"`
	Kernel, OS string        `json:"-"`
}

// Kubelet is the profile of a node's kubelet.
type Kubelet struct {
	Version    *string  `json:"version"`
	VersionMin string   `json:"version_min,omitempty"`
	VersionMax string   `json:"version_max,omitempty"`
	Rules      string   `json:"rules,omitempty"` // which version's rules were applied, if Version is newer or older than any known
	Runtime    *string  `json:"runtime"`
	PLEG       string   `json:"pleg"`
	Period     *float64 `json:"relist_period_seconds"`
	Threshold  *float64 `json:"relist_threshold_seconds"`
	RPCTimeout *float64 `json:"runtime_request_timeout_seconds"`
	Verbosity  *int     `json:"verbosity"`
	Basis      string   `json:"basis"`
	Evidence   Proof    `json:"evidence"`
}

// Versions returns the version or its bounds, "" if nothing is known.
func (k *Kubelet) Versions() string {
	switch {
	case k.Version != nil:
		return *k.Version
	case k.VersionMin != "" && k.VersionMin == k.VersionMax:
		return k.VersionMin
	case k.VersionMin != "" && k.VersionMax != "":
		return k.VersionMin + " to " + k.VersionMax
	case k.VersionMin != "":
		return k.VersionMin + " or later"
	case k.VersionMax != "":
		return k.VersionMax + " or earlier"
	}
	return ""
}

// Known returns Versions, plus a note on which version's rules were applied if the version is newer
// or older than any known.
func (k *Kubelet) Known() string {
	if k.Rules == "" {
		return k.Versions()
	}
	return k.Versions() + ", " + k.Rules
}

// Note says which version's rules were applied if the version is newer or older than any known, for
// formats that do not show the version; otherwise it is "".
func (k *Kubelet) Note() string {
	if k.Rules == "" {
		return ""
	}
	return "kubelet " + k.Versions() + ": " + k.Rules
}

// Window is the time span covered by a node's records.
type Window struct {
	Start         Time     `json:"start"`
	End           Time     `json:"end"`
	Timezone      string   `json:"timezone"`
	TimezoneBasis string   `json:"timezone_basis"`
	YearBasis     string   `json:"year_basis,omitempty"`
	Step          *float64 `json:"clock_step_seconds,omitempty"` // largest step of the clock within it; if set, the window's length means nothing
	Lines         *Span    `json:"log,omitempty"`                // span of the log lines, if other evidence reaches further
}

// Conflict is a pair of statements that cannot both be true; Against prevails.
type Conflict struct {
	Message  string `json:"message"` // quotes both lines
	Evidence Proof  `json:"evidence"`
	Against  Proof  `json:"against"`
}

// warning returns the conflict as a problem of the input, located at its first line.
func (x *Conflict) warning() Warning {
	w := Warning{Message: x.Message}
	if e := x.Evidence.Best(); e != nil {
		w.File, w.Line, w.placed = e.File, e.Line, true
	}
	return w
}

// Span is a time span; To is 0 (null in JSON) if the span has no known end.
type Span struct {
	From Time `json:"from"`
	To   Time `json:"to"`
}

// Unready is a span in which the node was NotReady, and the reason stated in the input.
type Unready struct {
	Span
	Why string `json:"why,omitempty"`
}

// Episode is one continuous span in which PLEG was unhealthy.
type Episode struct {
	ID              int           `json:"id"`
	LastRelistStart Time          `json:"last_relist_start"`
	LastStarts      []Time        `json:"last_relist_starts,omitempty"`
	Breach          Time          `json:"breach"`
	AtLatest        bool          `json:"breach_at_latest,omitempty"`           // PLEG may have been unhealthy before
	Earlier         *float64      `json:"breach_uncertainty_seconds,omitempty"` // by how much at most, if that is known
	FirstBreach     Time          `json:"breach_earliest"`                      // null if nothing bounds it
	FirstReport     Time          `json:"first_report"`
	LastReport      Time          `json:"last_report"`
	Recovered       Time          `json:"recovered"`
	RecoveredSlack  *float64      `json:"recovered_uncertainty_seconds,omitempty"` // by how much it may be earlier
	RecoveredFrom   Time          `json:"recovered_earliest"`                      // until when PLEG is proven unhealthy, recovered or not
	RecoveredBy     Time          `json:"recovered_latest"`                        // null if nothing shows it healthy, or unhealthy because of another relist
	Skipped         time.Duration `json:"-"`                                       // by how much the clock was set forward meanwhile
	RecoveredBasis  string        `json:"recovered_basis"`
	PeakAge         *float64      `json:"peak_age_seconds"`
	OldestAge       *float64      `json:"oldest_age_seconds,omitempty"` // lower bound from all evidence; PeakAge is what log lines state
	Threshold       float64       `json:"threshold_seconds"`
	Reports         int           `json:"reports"`
	NeverRelisted   bool          `json:"never_relisted,omitempty"`
	Uncertainty     *float64      `json:"uncertainty_seconds"`
	StuckStep       string        `json:"stuck_step"`
	StuckStepBasis  string        `json:"stuck_step_basis,omitempty"`
	NotReady        *Unready      `json:"node_not_ready"`
	Causes          []string      `json:"causes"`
	Evidence        Proof         `json:"evidence"`
}

// Start is the start of the episode: the breach, or the first report if the breach is unknown.
func (e *Episode) Start() Time { return cmp.Or(e.Breach, e.FirstReport) }

// LatestEnd is an upper bound for the end of episode i if no recovery is proven: the start of the
// next episode. It is 0 if there is none, or if the recovery is known.
func (n *Node) LatestEnd(i int) Time {
	if n.Episodes[i].Recovered != 0 || i+1 == len(n.Episodes) {
		return 0
	}
	return n.Episodes[i+1].Start()
}

// Breach is a rule's threshold that was exceeded.
type Breach struct {
	Rule       string   `json:"rule"`
	Severity   string   `json:"severity"`
	Start      Time     `json:"start"`
	End        Time     `json:"end"`
	Value      *float64 `json:"value"`
	Slack      float64  `json:"value_uncertainty,omitempty"`         // ±
	Least      bool     `json:"value_is_least,omitempty"`            // Value is a lower bound
	StartSlack float64  `json:"start_uncertainty_seconds,omitempty"` // ±
	EndSlack   float64  `json:"end_uncertainty_seconds,omitempty"`   // ±
	Threshold  *float64 `json:"threshold"`
	Unit       string   `json:"unit"`
	Subject    string   `json:"subject,omitempty"`
	Evidence   Proof    `json:"evidence"`
}

// Name returns the rule's ID and its subject.
func (b *Breach) Name() string { return b.Rule + InBrackets(b.Subject) }

// Title returns the rule's title and its subject.
func (b *Breach) Title() string {
	s := b.Rule
	if r := rules.LookupBreach(b.Rule); r != nil {
		s = r.Title
	}
	return s + InBrackets(b.Subject)
}

// RelistStats summarizes the relists of a node. Quantiles are given only if nearly every relist has
// a known duration: those dated by logs and metrics are the long ones, and their median says
// nothing of the others.
type RelistStats struct {
	Proven   int      `json:"proven"`
	Bounded  int      `json:"bounded"`
	Known    int      `json:"known_lengths"`
	CountMin int      `json:"count_min"` // lower bound of the number of relists
	CountMax *int     `json:"count_max"` // upper bound, null if there is none
	P50      *float64 `json:"p50_seconds"`
	P99      *float64 `json:"p99_seconds"`
	Max      *float64 `json:"max_seconds"`
	Longest  []Relist `json:"longest"` // relists that hang with unknown end come first
	MaxOf    *Relist  `json:"-"`       // the relist of duration Max
	Counted  *Counted `json:"counted,omitempty"`

	OnDemand *OnDemand `json:"on_demand,omitempty"`
}

// OnDemand describes relists of single pods, which kubelets from 1.36 on make between the regular
// ones. They are never counted among those.
type OnDemand struct {
	Counted  *Counted `json:"counted,omitempty"`
	Begun    *int     `json:"begun,omitempty"`   // from lines of verbosity 5
	Failed   int      `json:"failed"`            // from lines: the pod could not be listed
	Dropped  int      `json:"dropped,omitempty"` // requests dropped because 200 were queued
	Evidence Proof    `json:"evidence"`          // of the failed ones, else of the dropped, else of the begun
}

// Counted is what the kubelet's own counters say of its relists, or of those of single pods.
type Counted struct {
	Metric   string   `json:"metric"`
	Count    int      `json:"count"` // since the start of the process
	Total    *float64 `json:"total_seconds"`
	P50      *float64 `json:"p50_seconds"`
	P99      *float64 `json:"p99_seconds"`
	Recent   bool     `json:"quantiles_recent"` // quantiles are of a summary and cover the last minutes only
	Long     *int     `json:"longer,omitempty"` // number above the histogram's last bound, beyond which quantiles cannot see
	Edge     *float64 `json:"longer_than_seconds,omitempty"`
	Rate     *float64 `json:"per_second"`
	Evidence Proof    `json:"evidence"`
}

// Operation summarizes one CRI operation.
type Operation struct {
	Operation string   `json:"operation"`
	Calls     *int     `json:"calls"`
	Errors    int      `json:"errors"`
	P50       *float64 `json:"p50_seconds"`
	P99       *float64 `json:"p99_seconds"`
	Total     *float64 `json:"total_seconds"`
	Share     *float64 `json:"share_of_relist"` // upper bound: others make such calls too
	Evidence  Proof    `json:"evidence"`

	ErrorsUnknown bool `json:"errors_unknown,omitempty"` // Errors is 0 only because nothing counts errors
}

// EventCounts counts pod lifecycle events by the verdict of the audit.
type EventCounts struct {
	Observed   int      `json:"observed"`
	Replayed   *int     `json:"replayed"`
	Missing    *int     `json:"missing"`
	Late       *int     `json:"late"`
	Unexpected *int     `json:"unexpected"`
	Discarded  int      `json:"discarded"`
	ShortLived int      `json:"short_lived,omitempty"`
	Notes      []string `json:"notes,omitempty"`
}

// Blame breaks down the seconds of a relist.
type Blame struct {
	Start       Time     `json:"relist_start"`
	Total       float64  `json:"total_seconds"`
	List        *float64 `json:"list_seconds"`
	Inspect     *float64 `json:"inspect_seconds"`
	ByOperation []Share  `json:"by_operation"`
	ByPod       []Share  `json:"by_pod"`
	Unexplained float64  `json:"unexplained_seconds"`
	Notes       []string `json:"notes,omitempty"`
}

// Told returns the shares that explain where the time went: all of ByPod, and of ByOperation those
// of at least 1% of the relist. If there are shares by pod, only upper bounds (AtMost) are kept of
// the latter, since the others may count the pods again.
func (b *Blame) Told() []Share {
	return slices.Concat(b.ByPod, slices.DeleteFunc(slices.Clone(b.ByOperation), func(x Share) bool {
		return x.Seconds < b.Total/100 || len(b.ByPod) > 0 && !x.AtMost
	}))
}

// Share is a part of a relist's seconds.
type Share struct {
	What     string  `json:"what"`
	ID       string  `json:"id,omitempty"`
	Seconds  float64 `json:"seconds"`
	AtMost   bool    `json:"at_most,omitempty"` // upper bound: others made such calls too, so shares may exceed the total
	Calls    int     `json:"calls,omitempty"`
	Evidence Proof   `json:"evidence"`
}

// Cause is a probable cause, or a look-alike.
type Cause struct {
	ID          string   `json:"id"`
	Kind        string   `json:"kind"` // symptom: what failed; mechanism: why; look-alike
	Title       string   `json:"title"`
	Level       string   `json:"level"`
	Confidence  float64  `json:"confidence"`
	Episodes    []int    `json:"episodes"`
	For         Proof    `json:"for"`
	Against     Proof    `json:"against"`
	Missing     []string `json:"missing"`
	Explanation string   `json:"explanation"`
	Path        []string `json:"path,omitempty"`
	Remediation []string `json:"remediation"`
	Commands    []string `json:"commands,omitempty"` // filled in for this node and the time of the incident
	References  []string `json:"references"`

	Objects []Object `json:"-"` // objects outside the node that the evidence names
}

// Object is a server, device or registry named in evidence.
type Object struct {
	Kind, Name string
	At         Time // first seen
}

// Correlation is something that several nodes share.
type Correlation struct {
	Kind     string   `json:"kind"`
	Summary  string   `json:"summary"`
	Nodes    []string `json:"nodes"`
	Start    Time     `json:"start"`
	End      Time     `json:"end"`
	Cause    string   `json:"cause,omitempty"`
	Evidence Proof    `json:"evidence"`
}

// Counts counts breaches by severity.
type Counts struct {
	Critical int `json:"critical"`
	Warning  int `json:"warning"`
	Info     int `json:"info"`
}

// WhatIf is the outcome of a changed history.
type WhatIf struct {
	SimAnswer
	Assumptions []string `json:"assumptions"`

	Change  string `json:"-"` // the changes in words
	AtLeast bool   `json:"-"` // PLEG may have been unhealthy for longer, and more often
}

// AnswerRow is one measure, before and after the change.
type AnswerRow = simulate.AnswerRow

// Need is something missing from the input, what it would settle, and the command that collects it.
type Need struct {
	Node    *string `json:"node"`
	ID      string  `json:"id,omitempty"` // identifies the thing, whichever node needs it
	What    string  `json:"what"`
	Why     string  `json:"why"`
	Command string  `json:"command"`
}

// SourceCover is what the input holds of one source.
type SourceCover struct {
	Name  string
	Seen  string // "12 lines", "not recognized"
	Known string // known messages
	Span  Span
}

// Alert is the audit of one alert.
type Alert struct {
	Alert    string   `json:"alert"`
	Group    string   `json:"group"`
	File     string   `json:"file"`
	Expr     string   `json:"expr"`
	For      float64  `json:"for_seconds"`
	Severity string   `json:"severity,omitempty"`
	Outcome  string   `json:"outcome"`
	Sentence string   `json:"sentence"`
	Reasons  []string `json:"reasons"`
	Firings  []Firing `json:"firings"`
	Missed   []Missed `json:"missed_episodes"`
	Hangs    []Hang   `json:"missed_hangs"`

	Builtin   bool `json:"-"`
	Sightless bool `json:"-"` // the series it queries are not in the input
}

// Firing is one span in which an alert fired.
type Firing struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Active      Time              `json:"active"`
	From        Time              `json:"from"`
	To          Time              `json:"to"`
	Peak        string            `json:"peak"` // formatted by Value
}

// Missed is an episode during which an alert did not fire.
type Missed struct {
	Node    string `json:"node"`
	Episode int    `json:"episode"`
}

// Hang is a breach proven by metrics that an alert missed.
type Hang struct {
	Node  string  `json:"node"`
	Rule  string  `json:"rule"`
	Start Time    `json:"start"`
	End   Time    `json:"end"`
	Value float64 `json:"value_seconds"`
}
