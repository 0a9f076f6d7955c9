package pleg

import "fmt"

// Switch names a behavior that differs between kubelet versions.
type Switch string

// Switches. Reports print their values.
const (
	BlockingSend      Switch = "blocking event channel"
	NeverText         Switch = "\"yet to be successful\" before the first relist"
	Discards          Switch = "discards when the channel is full"
	RelistGauges      Switch = "relist sets running_* gauges"
	RocketClause      Switch = "no IP reuse without sandbox statuses"
	LastSeenMetric    Switch = "kubelet_pleg_last_seen_seconds"
	RunningSandboxes  Switch = "pod gauge counts running sandboxes"
	ExitCodeLine      Switch = "\"container finished\" line"
	NotFoundSkipped   Switch = "NotFound on status calls skipped"
	EventedAvailable  Switch = "EventedPLEG gate"
	EventedSends      Switch = "evented PLEG sends events, relists every 5m"
	EventedHints      Switch = "evented PLEG only asks for pod relists"
	InspectTwice      Switch = "failed pods inspected twice per relist"
	InspectRelists    Switch = "each inspection lists by pod uid again"
	WatchConditions   Switch = "watch conditions"
	ReinspectRequests Switch = "reinspection requests and PodSync"
	OnDemandRelist    Switch = "on-demand pod relists"
	OnDemandLocked    Switch = "on-demand relists cannot be switched off"
)

// Rule says in which minor releases (1.N) a switch is on.
type Rule struct {
	Switch
	From, To int // both included; To 0: still on in the newest known release
	// Source is the change that introduced the behavior; Doubt is what was not
	// verified about the releases, "" if nothing.
	Source, Doubt string
}

// Covers reports whether the switch is on in release 1.minor.
func (r *Rule) Covers(minor int) bool { return minor >= r.From && (r.To == 0 || minor <= r.To) }

// Range returns the releases in words: "≤ 1.13", "1.32–1.35", "≥ 1.36".
func (r *Rule) Range() string {
	switch {
	case r.To == 0:
		return fmt.Sprintf("≥ 1.%d", r.From)
	case r.From == 0:
		return fmt.Sprintf("≤ 1.%d", r.To)
	case r.From == r.To:
		return fmt.Sprintf("1.%d", r.From)
	}
	return fmt.Sprintf("1.%d–1.%d", r.From, r.To)
}

// Rules returns all switches in the order in which reports print them. The caller
// must not modify the result.
func Rules() []Rule { return rules }

// rules is the only place that knows how each release behaves: the profile, its
// family, the periods of evented PLEG and the cost of a stuck pod follow from it.
// "seen in" names kubelet source trees that were read and whose generic.go was run.
var rules = []Rule{
	{BlockingSend, 0, 13, "kubernetes#72709 ended it", ""},
	{NeverText, 13, 0, "kubernetes#69007", "backports to ≤ 1.12"},
	{Discards, 14, 0, "kubernetes#72709", "backports to ≤ 1.13"},
	{RelistGauges, 16, 0, "kubernetes#81573", ""},
	{RocketClause, 0, 17, "kubernetes#87193 ended it", ""},
	{LastSeenMetric, 18, 0, "kubernetes#86251", ""},
	{RunningSandboxes, 19, 0, "kubernetes#85983", ""},
	{ExitCodeLine, 22, 0, "kubernetes#99880", ""},
	{NotFoundSkipped, 23, 0, "kubernetes#107670, back in 1.23 with #108164", "the first patch releases of 1.22 and 1.23 that have it"},
	{EventedAvailable, 26, 0, "kubernetes#111384, alpha again since #122697", ""},
	{EventedSends, 26, 36, "kubernetes#111384; #139262 ended it", ""},
	{EventedHints, 37, 0, "kubernetes#139262, seen in v1.37.0; KEP-3386", ""},
	{InspectTwice, 0, 31, "kubernetes#25077; one loop since #128518, as commit 01480d9d601a has it", "whether #128518 made it or came with it"},
	{InspectRelists, 0, 35, "kubernetes#137471 ended it", ""},
	{WatchConditions, 32, 35, "kubernetes#128518; #137363 ended it", ""},
	{ReinspectRequests, 36, 0, "kubernetes#137363", ""},
	{OnDemandRelist, 36, 0, "kubernetes#137362, on by default with #137946", ""},
	{OnDemandLocked, 37, 0, "kubernetes#140805, seen in v1.37.0", ""},
}
