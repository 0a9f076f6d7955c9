package model

import (
	"slices"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/audit"
	"github.com/plegforensics/plegforensics/replay/blame"
	"github.com/plegforensics/plegforensics/replay/simulate"
	"github.com/plegforensics/plegforensics/rules"
	"github.com/plegforensics/plegforensics/rules/alerts"
)

// Analysis is what was read, rebuilt and found: what a report is filled from.
// Its strings are those of the inputs.
type Analysis struct {
	Version  string // of the tool
	Inputs   []parse.Input
	Warnings []parse.Warning
	Nodes    []Analyzed      // by name
	Alerts   []alerts.Audit  // what became of alerts; nil where none was asked about
	Bundles  []*parse.Bundle // what inspect looks at; nil for other commands
}

// Analyzed is what was rebuilt about a node and what the rules say of it.
type Analyzed struct {
	*replay.Node
	rules.Result
	Audit  audit.Result       // of its pod events
	Blame  []blame.Blame      // of its long relists, longest first
	WhatIf []*simulate.Answer // standard questions, none where nothing long is proven
}

// Analyze adds to a whole node what follows from its history, side by side if the
// caller brings a runner.
func Analyze(n *replay.Node, run replay.Parallel) *Analyzed {
	a := &Analyzed{Node: n}
	run.Run(func() { a.Audit = audit.Of(n) }, func() { a.Blame = blame.Of(n) })
	return a
}

// Clip leaves of the node what a stretch of time holds: see replay.Node.Clip.
func (n *Analyzed) Clip(since, until int64) {
	kept := n.Node.Clip(since, until)
	n.Audit.Clip(since, until)
	n.Blame = blame.Kept(n.Blame, kept)
}

// Judge adds what the rules say of the node, and the questions that its relists
// answer.
func (n *Analyzed) Judge(res rules.Result) {
	n.Result = res
	n.WhatIf = simulate.Standard(n.Node, n.Blame)
}

// Findings counts the breaches of all nodes by severity.
func (a *Analysis) Findings() Counts {
	by := map[rules.Severity]int{}
	for _, n := range a.Nodes {
		for _, b := range n.Breaches {
			by[b.Severity]++
		}
	}
	return Counts{by[rules.Critical], by[rules.Warning], by[rules.Info]}
}

// Partial reports whether some input could be read only in part.
func (a *Analysis) Partial() bool {
	return slices.ContainsFunc(a.Inputs, func(in parse.Input) bool { return in.Partial })
}
