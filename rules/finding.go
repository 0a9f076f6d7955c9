package rules

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// Severity of a finding.
type Severity string

// Severities, in growing weight.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Rank orders severities: 0 for none, 3 for critical.
func (s Severity) Rank() int {
	switch s {
	case Info:
		return 1
	case Warning:
		return 2
	case Critical:
		return 3
	}
	return 0
}

// Breach is a threshold that a value crossed.
type Breach struct {
	Rule     string // stable kebab-case id, e.g. relist-threshold-exceeded
	Severity Severity
	Start    int64 // Unix ns
	End      int64 // 0 while open
	Value    float64
	Slack    float64 // ± of Value
	Least    bool    // Value is a lower bound
	// ± of Start and End. How much earlier PLEG may have recovered, its episode says.
	StartSlack, EndSlack time.Duration
	Threshold            float64
	Unit                 string
	Subject              string            // what the rule was held against, "" the node: an operation
	Evidence             []replay.Evidence // never empty
}

// Name is the rule and what it was held against: "runtime-operation-slow
// (list_podsandbox)".
func (b *Breach) Name() string {
	if b.Subject == "" {
		return b.Rule
	}
	return b.Rule + " (" + b.Subject + ")"
}

// Level says how sure a cause is.
type Level string

// Levels.
const (
	Confirmed Level = "confirmed"
	Likely    Level = "likely"
	Possible  Level = "possible"
)

// Legend says what the levels mean, for whoever prints them. The shares are those
// of internal/cmd/reliability on incidents that the rules were not made from.
const Legend = "confirmed: a line states it; likely: right in at least 8 of 10; possible: not excluded"

// Cause is a probable cause with what speaks for and against it.
type Cause struct {
	ID          string
	Kind        Kind // symptom: what failed; mechanism: why
	Title       string
	Level       Level
	Confidence  float64 // 0 … 1, calibrated
	Episodes    []int   // ids of the episodes it explains; empty: the node as a whole
	For         []replay.Evidence
	Against     []replay.Evidence
	Missing     []Missing // what input would settle it
	Explanation string
	Path        []string // the decision in plain words, step by step
	Remediation []string
	Commands    []string // what to run to settle it
	References  []string
	Objects     []Object // what the evidence for it names outside the node
}

// Object is something outside a node that can fail for several: a file server, a
// registry. A local device fails alone.
type Object struct {
	Kind, Name string
	At         int64 // first seen, 0 unknown
}

// Result is everything that the rules say about one node.
type Result struct {
	Breaches   []Breach // by start
	Causes     []Cause  // by confidence, best first
	LookAlikes []Cause  // what looks like PLEG trouble and is not
	Unjudged   []Unjudged
	Unready    []Unready
	Status     string          // unhealthy, degraded, healthy, unknown
	Summary    string          // one sentence for a ticket
	Crossed    Crossed         // how many breaches each rule has, by its id; of very many not all are among them
	Warnings   []parse.Warning // what was too much to be kept, or read, one by one
}
