package pleg

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Switch names one behaviour that differs between kubelet versions.
type Switch string

// Switches. The constants' values are what reports print.
const (
	BlockingSend      Switch = "blocking event channel"
	NeverText         Switch = "\"yet to be successful\" before the first relist"
	Discards          Switch = "discards when the channel is full"
	RelistGauges      Switch = "relist sets running_* gauges"
	RocketClause      Switch = "no IP reuse without sandbox statuses"
	LastSeenMetric    Switch = "kubelet_pleg_last_seen_seconds"
	ExitCodeLine      Switch = "\"container finished\" line"
	NotFoundSkipped   Switch = "NotFound on status calls skipped"
	EventedAvailable  Switch = "EventedPLEG gate"
	InspectTwice      Switch = "failed pods inspected twice per relist"
	InspectRelists    Switch = "each inspection lists by pod uid again"
	WatchConditions   Switch = "watch conditions"
	ReinspectRequests Switch = "reinspection requests and PodSync"
	OnDemandRelist    Switch = "on-demand pod relists"
)

// switches says from which minor release (1.N) to which, both included, a
// switch is on. A zero end means still on in 1.36. Sources are the trees
// named in the kubelet's pkg/kubelet/pleg and pkg/kubelet/kuberuntime.
var switches = []struct {
	Switch   Switch
	From, To int
}{
	{BlockingSend, 0, 13}, // #72709 made the send non-blocking in 1.14
	{NeverText, 13, 0},    // #69007
	{Discards, 14, 0},
	{RelistGauges, 16, 0},
	{RocketClause, 0, 17},
	{LastSeenMetric, 18, 0}, // #86251
	{ExitCodeLine, 22, 0},
	{NotFoundSkipped, 23, 0},
	{EventedAvailable, 26, 0},
	{InspectTwice, 0, 31},
	{InspectRelists, 0, 35},
	{WatchConditions, 32, 35},
	{ReinspectRequests, 36, 0},
	{OnDemandRelist, 36, 0}, // beta and on by default: #137909, #137946
}

// Constants of the generic generator; no release had a flag for them.
const (
	Period           = time.Second      // genericPlegRelistPeriod in kubelet.go
	Threshold        = 3 * time.Minute  // genericPlegRelistThreshold
	EventedPeriod    = 5 * time.Minute  // eventedPlegRelistPeriod: the generic one's while events flow
	EventedThreshold = 10 * time.Minute // eventedPlegRelistThreshold
	ChannelCapacity  = 1000             // plegChannelCapacity, shared by both generators
	RequestQueue     = 200              // 1.36: pod relist requests
	RPCTimeout       = 2 * time.Minute  // default of runtimeRequestTimeout
)

// Profile is how the generator of one kubelet version behaves. Callers may
// change the durations and the capacity after New returned it.
type Profile struct {
	Version    string // as given, "" unknown
	Minor      int    // N of 1.N
	Family     string // A1, A2, B, C: same events within a family
	Assumed    bool   // the version was not known, the profile is the default
	Evented    bool   // events come from the runtime's stream
	Period     time.Duration
	Threshold  time.Duration
	RPCTimeout time.Duration
	Capacity   int
	Parallel   int // pods inspected at once; 1 in every release
	on         map[Switch]bool
}

// DefaultMinor is the release assumed when none is known. Events are the same
// in all releases from 1.14 to 1.35.
const DefaultMinor = 35

// NewestMinor is the newest release whose generator this package knows; later
// ones are taken to behave like it.
const NewestMinor = 36

// New returns the profile of a version such as "v1.28.0", "1.27.6+k3s1" or
// "1.36". The empty version gives the default profile, marked Assumed.
func New(version string) (Profile, error) {
	minor, err := minorOf(version)
	if err != nil {
		return Profile{}, err
	}
	p := Profile{Version: version, Minor: minor, Family: family(minor), Assumed: version == "",
		Period: Period, Threshold: Threshold, RPCTimeout: RPCTimeout,
		Capacity: ChannelCapacity, Parallel: 1, on: make(map[Switch]bool)}
	for _, s := range switches {
		if minor >= s.From && (s.To == 0 || minor <= s.To) {
			p.on[s.Switch] = true
		}
	}
	return p, nil
}

// Has reports whether a behaviour is on.
func (p *Profile) Has(s Switch) bool { return p.on[s] }

// Switches lists the behaviours that are on, in table order.
func (p *Profile) Switches() []Switch {
	var out []Switch
	for _, s := range switches {
		if p.on[s.Switch] {
			out = append(out, s.Switch)
		}
	}
	return out
}

// UseEvented returns p with the EventedPLEG gate on and its stream working.
func (p Profile) UseEvented() Profile {
	p.Evented, p.Period, p.Threshold = true, EventedPeriod, EventedThreshold
	return p
}

func family(minor int) string {
	switch {
	case minor <= 17:
		return "A1"
	case minor <= 31:
		return "A2"
	case minor <= 35:
		return "B"
	}
	return "C"
}

// minorOf reads N of "v1.N…". Releases after 1.36 are taken as they are: the
// newest family applies.
func minorOf(version string) (int, error) {
	if version == "" {
		return DefaultMinor, nil
	}
	rest, ok := strings.CutPrefix(strings.TrimPrefix(version, "v"), "1.")
	if !ok {
		return 0, fmt.Errorf("kubelet version %q: not of the form v1.28.0", version)
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	n, err := strconv.Atoi(rest[:end])
	if err != nil || n > 999 {
		return 0, fmt.Errorf("kubelet version %q: not of the form v1.28.0", version)
	}
	return n, nil
}
