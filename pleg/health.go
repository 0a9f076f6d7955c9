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

// StuckRelist is how long a relist lasts that n pods hold up, each with one
// CRI call that runs into the time-out. The relist that first sees them makes
// n inspections; up to 1.31 every later one makes two of each.
func (p *Profile) StuckRelist(n int, first bool) time.Duration {
	if !first && p.Has(InspectTwice) {
		n *= 2
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
