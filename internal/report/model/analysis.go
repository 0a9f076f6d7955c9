package model

import (
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/audit"
	"github.com/plegforensics/plegforensics/replay/blame"
	"github.com/plegforensics/plegforensics/replay/simulate"
	"github.com/plegforensics/plegforensics/rules"
	"github.com/plegforensics/plegforensics/rules/alerts"
)

// Analysis is everything a report is filled from: what was read, rebuilt and found. Its strings
// come from the inputs as they are, neither escaped nor redacted.
type Analysis struct {
	Version  string // of the tool
	Inputs   []parse.Input
	Warnings []parse.Warning
	Nodes    []Analyzed      // sorted by name
	Alerts   []alerts.Audit  // nil if no alerts were to be checked
	Bundles  []*parse.Bundle // for inspect
}

// Analyzed is a rebuilt node, what follows from its history, and what the rules found.
type Analyzed struct {
	*replay.Node
	rules.Result
	Audit  audit.Result       // of pod events
	Blame  []blame.Blame      // of the long relists, longest first
	WhatIf []*simulate.Answer // the standard questions; empty if no long relist is proven
}

// Analyze derives the audit and the blame of a node, concurrently if run allows. The node must be
// the whole one, not yet clipped.
func Analyze(n *replay.Node, run replay.Parallel) *Analyzed {
	a := &Analyzed{Node: n}
	run.Run(func() { a.Audit = audit.Of(n) }, func() { a.Blame = blame.Of(n) })
	return a
}

// Clip restricts the node to what happened between since and until; see replay.Node.Clip.
func (n *Analyzed) Clip(since, until int64) {
	kept := n.Node.Clip(since, until)
	n.Audit.Clip(since, until)
	n.Blame = blame.Kept(n.Blame, kept)
}

// Judge adds the result of the rules and the answers to the standard what-if questions.
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
