package rules

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// Severity is the severity of a finding.
type Severity string

// Severities, in increasing order.
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
	Rule     string // stable kebab-case ID, such as relist-threshold-exceeded
	Severity Severity
	Start    int64 // Unix ns
	End      int64 // Unix ns; 0 while open
	Value    float64
	Slack    float64 // ± of Value
	Least    bool    // Value is a lower bound
	// StartSlack and EndSlack are the ± of Start and End. The end of an episode may only be earlier.
	StartSlack, EndSlack time.Duration
	Threshold            float64
	Unit                 string
	Subject              string            // what the rule was applied to, such as a runtime operation; "" for the node
	Evidence             []replay.Evidence // never empty
}

// Name returns the rule and its subject, such as "runtime-operation-slow
// (list_podsandbox)".
func (b *Breach) Name() string {
	if b.Subject == "" {
		return b.Rule
	}
	return b.Rule + " (" + b.Subject + ")"
}

// Level says how certain a cause is.
type Level string

// Levels.
const (
	Confirmed Level = "confirmed"
	Likely    Level = "likely"
	Possible  Level = "possible"
)

// Legend explains the levels to a reader. The shares were measured by
// internal/cmd/reliability on incidents that the rules were not built from.
const Legend = "confirmed: a line states it; likely: right in at least 8 of 10; possible: not excluded"

// Cause is a probable cause with the evidence for and against it.
type Cause struct {
	ID          string
	Kind        Kind // symptom: what failed; mechanism: why
	Title       string
	Level       Level
	Confidence  float64 // 0 … 1, calibrated
	Episodes    []int   // IDs of the episodes it explains; empty for the node as a whole
	For         []replay.Evidence
	Against     []replay.Evidence
	Missing     []Missing // input that would settle it
	Explanation string
	Path        []string // the decision in plain words, step by step
	Remediation []string
	Commands    []string // commands to run to settle it
	References  []string
	Objects     []Object // objects outside the node that the evidence for it names
}

// Object is something outside a node whose failure can affect several nodes: a file server,
// a registry. Local devices do not count.
type Object struct {
	Kind, Name string
	At         int64 // first seen, Unix ns; 0 if unknown
}

// Result holds everything that the rules find for one node.
type Result struct {
	Breaches   []Breach // by start
	Causes     []Cause  // by confidence, best first
	LookAlikes []Cause  // what resembles PLEG trouble but is not
	Unjudged   []Unjudged
	Undecided  []Undecided
	Unready    []Unready
	Status     string          // unhealthy, degraded, healthy, unknown
	Summary    string          // one sentence for a ticket
	Silent     bool            // nothing in the input tells how PLEG was or what troubled it
	Crossed    Crossed         // number of breaches by rule ID; Breaches omits some if there are very many
	Warnings   []parse.Warning // what was too much to keep or read in full
}
