package pleg

import (
	"fmt"
	"time"
)

// Healthy is the generator's health check at time now: the age of the last
// successful listing, counted from the start of its relist, must not exceed the
// threshold. It returns that age, 0 if there was no such relist, and whether the
// generator is healthy.
func (m *Machine) Healthy(now int64) (time.Duration, bool) {
	return Healthy(m.LastSeen, now, m.Threshold)
}

// Healthy is Machine.Healthy as a function of its inputs; lastSeen and now are Unix
// ns, lastSeen is 0 before the first relist.
func Healthy(lastSeen, now int64, threshold time.Duration) (time.Duration, bool) {
	if lastSeen == 0 {
		return 0, false
	}
	age := time.Duration(now - lastSeen)
	return age, age <= threshold
}

// HealthText returns the error of the health check at time now in the words of the
// version, "" while healthy.
func (m *Machine) HealthText(now int64) string {
	age, ok := m.Healthy(now)
	switch {
	case ok:
		return ""
	case m.LastSeen == 0 && m.Has(NeverText):
		return "pleg has yet to be successful"
	case m.LastSeen == 0:
		age = 1<<63 - 1 // the time since the zero time saturates
	}
	return fmt.Sprintf("pleg was last seen active %v ago; threshold is %v", age, m.Threshold)
}

// Deadlines returns how many timeouts a stuck pod costs each relist after the one
// that first saw it: a failed pod is inspected once, in some versions twice.
func (p *Profile) Deadlines() int {
	if p.Has(InspectTwice) {
		return 2
	}
	return 1
}

// Deadlines returns Profile.Deadlines of all releases from one version to another,
// 0 if they differ or a version is invalid. An empty version is an open end.
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

// StuckRelist returns the duration of a relist held up by n stuck pods, each with
// one CRI call that times out. The relist that first sees them inspects each only
// once.
func (p *Profile) StuckRelist(n int, first bool) time.Duration {
	if !first {
		n *= p.Deadlines()
	}
	return time.Duration(n) * p.RPCTimeout
}

// StuckPodsToBreach returns the minimum number of stuck pods that makes the
// generator unhealthy, permanently or repeatedly; 0 if there is none up to 65536.
func (p *Profile) StuckPodsToBreach() int {
	for n := 1; n <= 1<<16; n++ {
		if p.StuckRelist(n, false)+p.Period > p.Threshold {
			return n
		}
	}
	return 0
}

// Calls returns the number of CRI list and status calls of one relist that inspects
// each of the given pods once.
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
