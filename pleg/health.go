package pleg

import (
	"fmt"
	"time"
)

// Healthy is the generator's health check at the time now: the age of the
// last relist that listed pods, counted from its start, must not exceed the
// threshold. It returns the age, 0 when there was no such relist.
func (m *Machine) Healthy(now int64) (time.Duration, bool) {
	return Healthy(m.LastSeen, now, m.Threshold)
}

// Healthy is the health check as a function of its three inputs.
func Healthy(lastSeen, now int64, threshold time.Duration) (time.Duration, bool) {
	if lastSeen == 0 {
		return 0, false
	}
	age := time.Duration(now - lastSeen)
	return age, age <= threshold
}

// HealthText is the error that the health check gives at the time now, as the
// version prints it; "" while healthy.
func (m *Machine) HealthText(now int64) string {
	age, ok := m.Healthy(now)
	switch {
	case ok:
		return ""
	case m.LastSeen == 0 && m.Has(NeverText):
		return "pleg has yet to be successful"
	case m.LastSeen == 0:
		age = 1<<63 - 1 // time since the zero time saturates
	}
	return fmt.Sprintf("pleg was last seen active %v ago; threshold is %v", age, m.Threshold)
}

// Deadlines is how many timeouts a stuck pod costs a relist that is not the first
// to see it: a failed pod is inspected once, in some versions a second time.
func (p *Profile) Deadlines() int {
	if p.Has(InspectTwice) {
		return 2
	}
	return 1
}

// Deadlines is Profile.Deadlines of all releases from one version to another, 0
// where they differ or one is no version. The empty version is an open end.
func Deadlines(from, to string) int {
	lo, hi := OldestMinor, NewestMinor
	for _, end := range []struct {
		version string
		minor   *int
	}{{from, &lo}, {to, &hi}} {
		if end.version == "" {
			continue
		}
		n, err := minorOf(end.version)
		if err != nil {
			return 0
		}
		*end.minor = n
	}
	n := 0
	for minor := lo; minor <= hi; minor++ {
		p := ofMinor(minor)
		if d := p.Deadlines(); n != 0 && d != n {
			return 0
		} else {
			n = d
		}
	}
	return n
}

// StuckRelist is how long a relist lasts that n pods hold up, each with one
// CRI call that runs into the timeout. The relist that first sees them makes
// n inspections.
func (p *Profile) StuckRelist(n int, first bool) time.Duration {
	if !first {
		n *= p.Deadlines()
	}
	return time.Duration(n) * p.RPCTimeout
}

// StuckPodsToBreach is the least number of stuck pods that makes the
// generator unhealthy for good or again and again.
func (p *Profile) StuckPodsToBreach() int {
	for n := 1; n <= 1<<16; n++ {
		if p.StuckRelist(n, false)+p.Period > p.Threshold {
			return n
		}
	}
	return 0
}

// Calls counts the CRI calls of one relist that inspects the given pods once
// each: list calls and status calls.
func (p *Profile) Calls(inspected []*Pod) (list, status int) {
	list = 2 // ListPodSandbox and ListContainers, unfiltered
	for _, pod := range inspected {
		if p.Has(InspectRelists) {
			list += 2
		}
		status += pod.size()
	}
	return list, status
}
