package pleg

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Profile describes the behavior of the generator of one kubelet version. Callers
// may change the durations and the capacity after New returned it.
type Profile struct {
	Version    string // as passed to New, "" unknown
	Minor      int    // N of 1.N
	Family     string // A1, A2, B or C: releases of a family generate the same events
	Assumed    bool   // the version is unknown and the profile is the default
	Evented    bool   // feature gate EventedPLEG is on and its stream works
	Period     time.Duration
	Threshold  time.Duration
	RPCTimeout time.Duration
	Capacity   int
	Parallel   int // pods inspected concurrently; 1 in every release
}

// Constants of the generators. No release has had a flag for them
// (kubernetes#58279, #107916 and #103732 were closed).
const (
	Period           = time.Second      // genericPlegRelistPeriod in kubelet.go
	Threshold        = 3 * time.Minute  // genericPlegRelistThreshold
	EventedPeriod    = 5 * time.Minute  // eventedPlegRelistPeriod of 1.26–1.36: period of the generic generator while events arrive
	EventedThreshold = 10 * time.Minute // eventedPlegRelistThreshold, likewise
	ChannelCapacity  = 1000             // plegChannelCapacity, shared by both generators
	RequestQueue     = 200              // from 1.36: capacity of the queue of pod relist requests
	RPCTimeout       = 2 * time.Minute  // default of runtimeRequestTimeout
)

// DefaultMinor is the release assumed if none is known. Events are the same in all
// releases from 1.14 to 1.35.
const DefaultMinor = 35

// Range of releases whose generator this package knows. Later ones are assumed to
// behave like the newest, earlier ones like the oldest; every report says so (see
// Beyond).
const (
	OldestMinor = 11
	NewestMinor = 37
)

// New returns the profile of a version such as "v1.28.0", "1.27.6+k3s1" or "1.36".
// The empty version gives the default profile, marked Assumed. Other strings are an
// error.
func New(version string) (Profile, error) {
	minor, err := minorOf(version)
	if err != nil {
		return Profile{}, err
	}
	p := ofMinor(minor)
	p.Version, p.Assumed = version, version == ""
	return p, nil
}

func ofMinor(minor int) Profile {
	p := Profile{Minor: minor, Period: Period, Threshold: Threshold, RPCTimeout: RPCTimeout,
		Capacity: ChannelCapacity, Parallel: 1}
	p.Family = p.family()
	return p
}

// Has reports whether a behavior is on.
func (p *Profile) Has(s Switch) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return r.Switch == s && r.Covers(p.Minor) })
}

// Switches returns the behaviors that are on, in table order.
func (p *Profile) Switches() []Switch {
	var out []Switch
	for _, r := range rules {
		if r.Covers(p.Minor) {
			out = append(out, r.Switch)
		}
	}
	return out
}

// family groups the releases that generate the same events from the same listings,
// by the switches that events and inspections depend on.
func (p *Profile) family() string {
	switch {
	case p.Has(ReinspectRequests):
		return "C"
	case !p.Has(InspectTwice):
		return "B"
	case !p.Has(RocketClause):
		return "A2"
	}
	return "A1"
}

// Beyond returns a note if the version is newer or older than those this package
// knows, "" otherwise. Reports print it unchanged.
func (p *Profile) Beyond() string {
	switch {
	case p.Minor > NewestMinor:
		return fmt.Sprintf("newest known rules (v1.%d) used", NewestMinor)
	case p.Minor < OldestMinor:
		return fmt.Sprintf("oldest known rules (v1.%d) used", OldestMinor)
	}
	return ""
}

// Beyond is Profile.Beyond for a version string; "" if it is invalid.
func Beyond(version string) string {
	p, err := New(version)
	if err != nil {
		return ""
	}
	return p.Beyond()
}

// UseEvented returns p with the feature gate EventedPLEG on and its stream working.
// Up to 1.36 the generic generator then relists rarely; from 1.37 the stream only
// requests relists of single pods, and period and threshold do not change.
func (p Profile) UseEvented() Profile {
	p.Evented = true
	if p.Has(EventedSends) {
		p.Period, p.Threshold = EventedPeriod, EventedThreshold
	}
	return p
}

// UseGeneric returns p without evented PLEG.
func (p Profile) UseGeneric() Profile {
	if p.Evented && p.Has(EventedSends) {
		p.Period, p.Threshold = Period, Threshold
	}
	p.Evented = false
	return p
}

// In returns the profile of another version with the settings of p: the feature
// gate, if that version has it, and values set by hand.
func (p Profile) In(version string) (Profile, error) {
	q, err := New(version)
	if err != nil {
		return p, err
	}
	if p.Evented && q.Has(EventedAvailable) {
		q = q.UseEvented()
	}
	if p = p.UseGeneric(); p.Period != Period {
		q.Period = p.Period
	}
	if p.Threshold != Threshold {
		q.Threshold = p.Threshold
	}
	q.RPCTimeout, q.Capacity, q.Parallel = p.RPCTimeout, p.Capacity, p.Parallel
	return q, nil
}

// minorOf parses N of "v1.N…"; the empty version gives DefaultMinor.
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
