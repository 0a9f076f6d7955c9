package simulate

import (
	"fmt"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
)

// Answer says what a changed history would have meant: one sentence, the
// figures side by side, and what was assumed.
type Answer struct {
	Changes     []string // as they were put: "threshold=5m0s"
	Change      string   // the same in words
	Sentence    string
	Rows        []AnswerRow
	Assumptions []string
}

// AnswerRow is one measure as it was and as it would have been.
type AnswerRow struct {
	Measure    string
	Unit       string // seconds or count
	Was, Would float64
}

// answer compares two histories.
func answer(what *WhatIf, was, is pleg.Profile, a, b Totals, assumptions []string) *Answer {
	return &Answer{Changes: what.Said, Change: spoken(what), Sentence: sentence(what, was, is, a, b), Rows: rows(a, b),
		Assumptions: assumptions}
}

func rows(a, b Totals) []AnswerRow {
	return []AnswerRow{
		{"relists", "count", float64(a.Duration.Count), float64(b.Duration.Count)},
		{"relists that failed to list", "count", float64(a.Failed), float64(b.Failed)},
		{"longest relist", "seconds", a.Longest.Seconds(), b.Longest.Seconds()},
		{"time in relists", "seconds", a.Duration.Sum.Seconds(), b.Duration.Sum.Seconds()},
		{"stretches unhealthy", "count", float64(len(a.Unhealthy)), float64(len(b.Unhealthy))},
		{"time unhealthy", "seconds", a.UnhealthyTime().Seconds(), b.UnhealthyTime().Seconds()},
		{"events sent", "count", float64(a.Events), float64(b.Events)},
		{"events discarded", "count", float64(a.Discarded), float64(b.Discarded)},
	}
}

// UnhealthyTime is the sum of the unhealthy stretches; an open one counts to
// the end of the history.
func (t *Totals) UnhealthyTime() time.Duration {
	var sum time.Duration
	for _, u := range t.Unhealthy {
		to := u.To
		if to == 0 {
			to = max(t.To, u.From)
		}
		sum += time.Duration(to - u.From)
	}
	return sum
}

// sentence is the answer for somebody who has no time for the table.
func sentence(what *WhatIf, was, is pleg.Profile, a, b Totals) string {
	var s strings.Builder
	fmt.Fprintf(&s, "With %s, ", spoken(what))
	switch n, m := len(a.Unhealthy), len(b.Unhealthy); {
	case n == 0 && m == 0:
		s.WriteString("PLEG would have stayed healthy, as it did")
	case n > 0 && m == 0:
		fmt.Fprintf(&s, "PLEG would have stayed healthy: %s would not have happened", breaches(a))
	case n == 0:
		fmt.Fprintf(&s, "PLEG would have turned unhealthy: %s that did not happen", breaches(b))
	case a.UnhealthyTime().Round(time.Millisecond) == b.UnhealthyTime().Round(time.Millisecond):
		fmt.Fprintf(&s, "nothing changes for PLEG's health: %s", breaches(b))
	default:
		fmt.Fprintf(&s, "PLEG would still have been unhealthy: %s instead of %s", breaches(b), breaches(a))
	}
	if d := a.Longest - b.Longest; d > 100*time.Millisecond || d < -100*time.Millisecond {
		fmt.Fprintf(&s, "; the longest relist would have taken %s instead of %s", replay.Short(b.Longest), replay.Short(a.Longest))
	} else if is.Threshold != was.Threshold && len(a.Unhealthy)+len(b.Unhealthy) > 0 {
		fmt.Fprintf(&s, "; the longest relist would still have taken %s, against a threshold of %v", replay.Short(b.Longest), is.Threshold)
	}
	if a.Discarded != b.Discarded {
		fmt.Fprintf(&s, "; %d events would have been discarded instead of %d", b.Discarded, a.Discarded)
	}
	return s.String() + "."
}

// spoken says the changes in words.
func spoken(w *WhatIf) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if len(w.Without) > 0 {
		noun := "pod"
		if len(w.Without) > 1 {
			noun = "pods"
		}
		add("%s %s left out", noun, strings.Join(w.Without, " and "))
	}
	if w.Threshold > 0 {
		add("a threshold of %v", w.Threshold)
	}
	if w.Period > 0 {
		add("a relist period of %v", w.Period)
	}
	if w.RPCTimeout > 0 {
		add("a runtime request timeout of %v", w.RPCTimeout)
	}
	if w.Capacity > 0 {
		add("a channel for %d events", w.Capacity)
	}
	if w.Parallel > 0 {
		add("%d pods inspected at once", w.Parallel)
	}
	if w.Latency > 0 {
		add("runtime calls taking %g times as long", w.Latency)
	}
	if w.PLEG != "" {
		add("%s PLEG", w.PLEG)
	}
	if w.Version != "" {
		add("kubelet %s", w.Version)
	}
	if len(parts) == 0 {
		return "nothing changed"
	}
	return strings.Join(parts, ", ")
}

// breaches says how often and how long a history was unhealthy.
func breaches(t Totals) string {
	sum := replay.Short(t.UnhealthyTime())
	first := time.Unix(0, t.Unhealthy[0].From).UTC().Format("2006-01-02 15:04:05Z")
	if n := len(t.Unhealthy); n > 1 {
		return fmt.Sprintf("%d breaches, %s in all, the first at %s", n, sum, first)
	}
	return fmt.Sprintf("one breach of %s at %s", sum, first)
}

// assume lists what a simulation of listings takes for granted.
func assume(what *WhatIf, was pleg.Profile) []string {
	out := []string{"calls of which no duration is recorded count as instant; those that ran into their time-out count as the time-out"}
	if was.Assumed {
		out = append(out, "kubelet version not stated: the rules of 1.35 apply; events are the same from 1.14 to 1.35")
	}
	if what.reschedules() {
		out = append(out, "between two recorded relists the runtime holds what the first of them listed, and its calls take as long as then")
	}
	return append(out, assumeChanges(what)...)
}

// assumeChanges lists what the changes themselves take for granted.
func assumeChanges(what *WhatIf) []string {
	var out []string
	if what.RPCTimeout > 0 || what.Latency > 0 {
		out = append(out, "inspecting a pod counts as one call; a call that never answered would not have answered later either")
	}
	if what.Parallel > 1 {
		out = append(out, "the runtime serves parallel calls as fast as single ones")
	}
	if what.PLEG == "evented" {
		out = append(out, "the runtime's event stream works throughout and tells of a change when the recorded listing shows it")
	}
	if len(what.Without) > 0 {
		out = append(out, "leaving the pod out saves its own calls only; calls about other pods take as long as they did")
	}
	return out
}
