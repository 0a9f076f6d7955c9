package simulate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/blame"
)

// Answer says what a changed history would have meant: a sentence, a table of measures,
// and the assumptions made.
type Answer struct {
	Changes     []string // as passed to WhatIf.Set: "threshold=5m0s"
	Change      string   // the same in words
	Sentence    string
	Rows        []AnswerRow
	Assumptions []string
	AtLeast     bool // PLEG may have been unhealthy for longer, and more often
}

// AnswerRow is one measure in the recorded and in the changed history.
type AnswerRow struct {
	Measure string  `json:"measure"`
	Unit    string  `json:"unit"` // seconds or count
	Was     float64 `json:"was"`
	Would   float64 `json:"would"`
}

// story bounds what became of PLEG in a history, or in all histories that the evidence
// permits.
type story struct {
	least, most          int // number of unhealthy intervals
	from                 int64
	ill, illMost         time.Duration // time unhealthy
	longest, longestMost time.Duration // longest relist
	onlyLeast            bool          // illMost is not known
	discarded            int
}

// storyOf returns the bounds over histories. Each has a run at the least and the most
// that is possible.
func storyOf(runs ...Totals) story {
	s := story{least: math.MaxInt, ill: math.MaxInt64, longest: math.MaxInt64}
	for i := range runs {
		t := &runs[i]
		if n := len(t.Unhealthy); n > 0 && (s.from == 0 || t.Unhealthy[0].From < s.from) {
			s.from = t.Unhealthy[0].From
		}
		ill := t.UnhealthyTime()
		s.least, s.most = min(s.least, len(t.Unhealthy)), max(s.most, len(t.Unhealthy))
		s.ill, s.illMost = min(s.ill, ill), max(s.illMost, ill)
		s.longest, s.longestMost = min(s.longest, t.Longest), max(s.longestMost, t.Longest)
		s.discarded = t.Discarded
	}
	return s
}

// answer compares the recorded history (was, a) with the changed one (is, b). blind is
// for how long the recorded history may hide a breach of the changed one.
func answer(what *WhatIf, was, is pleg.Profile, a, b *story, same bool, blind time.Duration, assumptions []string) *Answer {
	return &Answer{Changes: what.Said, Change: what.Words(), Sentence: sentence(what, was, is, a, b, same, blind), Rows: rows(a, b, blind > replay.LongRelist),
		Assumptions: assumptions}
}

// rows returns the measures whose bounds are known; where they differ, one row for each. If open is set, nothing
// rules out that PLEG was unhealthy more often and for longer, besides the stretches that are bounded.
func rows(a, b *story, open bool) []AnswerRow {
	var out []AnswerRow
	add := func(measure, unit string, was, wasMost, would, wouldMost float64, sure, open bool) {
		if sure && !open {
			out = append(out, AnswerRow{measure, unit, wasMost, wouldMost})
			return
		}
		if out = append(out, AnswerRow{measure + ", at least", unit, was, would}); !sure {
			out = append(out, AnswerRow{measure + ", at most", unit, wasMost, wouldMost})
		}
	}
	sure := func(lo, hi time.Duration) bool { return hi-lo <= max(alike, lo/100) }
	add("longest relist", "seconds", a.longest.Seconds(), a.longestMost.Seconds(), b.longest.Seconds(), b.longestMost.Seconds(), sure(a.longest, a.longestMost) && sure(b.longest, b.longestMost), false)
	add("stretches unhealthy", "count", float64(a.least), float64(a.most), float64(b.least), float64(b.most), a.least == a.most && b.least == b.most, open)
	add("time unhealthy", "seconds", a.ill.Seconds(), a.illMost.Seconds(), b.ill.Seconds(), b.illMost.Seconds(), sure(a.ill, a.illMost) && sure(b.ill, b.illMost), open || a.onlyLeast || b.onlyLeast)
	return out
}

// UnhealthyTime returns the total length of the unhealthy intervals; an open one counts
// to the end of the history.
func (t *Totals) UnhealthyTime() time.Duration {
	var sum time.Duration
	for _, u := range t.Unhealthy {
		sum += time.Duration(cmp.Or(u.To, max(t.To, u.From)) - u.From)
	}
	return sum
}

// sentence summarizes the answer in one sentence. same: health is as it was.
func sentence(what *WhatIf, was, is pleg.Profile, a, b *story, same bool, blind time.Duration) string {
	var s strings.Builder
	fmt.Fprintf(&s, "With %s, ", what.Words())
	switch n, m := a.most, b.most; {
	case n == 0 && m == 0 && blind > replay.LongRelist:
		s.WriteString("no relist that the input proves would have made PLEG unhealthy")
	case n > 0 && m == 0 && blind > replay.LongRelist:
		fmt.Fprintf(&s, "what the input proves would not have happened: %s", breaches(a))
	case n == 0 && m == 0:
		s.WriteString("PLEG would have stayed healthy, as it did")
	case n > 0 && m == 0:
		fmt.Fprintf(&s, "PLEG would have stayed healthy: %s would not have happened", breaches(a))
	case same:
		fmt.Fprintf(&s, "nothing changes for PLEG's health: %s", breaches(a))
	case b.least == 0:
		fmt.Fprintf(&s, "it cannot be decided whether PLEG would have been unhealthy, as the input only bounds when calls would have been answered: at most %s", breaches(b))
		if n > 0 {
			fmt.Fprintf(&s, " instead of %s", breaches(a))
		}
	case n == 0:
		fmt.Fprintf(&s, "PLEG would have turned unhealthy: %s that did not happen", breaches(b))
	default:
		fmt.Fprintf(&s, "PLEG would still have been unhealthy: %s instead of %s", breaches(b), breaches(a))
	}
	took, would := parse.Between(a.longest, a.longestMost), parse.Between(b.longest, b.longestMost)
	if max((a.longest-b.longest).Abs(), (a.longestMost-b.longestMost).Abs()) > alike {
		fmt.Fprintf(&s, "; the longest relist would have taken %s instead of %s", would, took)
	} else if is.Threshold != was.Threshold && a.most+b.most > 0 {
		fmt.Fprintf(&s, "; the longest relist would still have taken %s, against a threshold of %s", would, parse.Short(is.Threshold))
	}
	if a.discarded != b.discarded {
		fmt.Fprintf(&s, "; %d events would have been discarded instead of %d", b.discarded, a.discarded)
	}
	if blind > replay.LongRelist {
		fmt.Fprintf(&s, "; in %s of the input nothing rules out another breach", parse.Short(blind))
	}
	return s.String() + "."
}

// Words describes the changes in words.
func (w *WhatIf) Words() string {
	var parts []string
	add := func(changed bool, format string, args ...any) {
		if changed {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	noun := "pod"
	if len(w.Without) > 1 {
		noun = "pods"
	}
	add(len(w.Without) > 0, "%s %s left out", noun, strings.Join(w.Without, " and "))
	add(w.Threshold > 0, "a threshold of %s", parse.Short(w.Threshold))
	add(w.Period > 0, "a relist period of %s", parse.Short(w.Period))
	add(w.RPCTimeout > 0, "a runtime request timeout of %s", parse.Short(w.RPCTimeout))
	add(w.Capacity > 0, "a channel for %d events", w.Capacity)
	add(w.Parallel > 0, "%d pods inspected at once", w.Parallel)
	add(w.Latency > 0, "runtime calls taking %g times as long", w.Latency)
	add(w.PLEG != "", "%s PLEG", w.PLEG)
	add(w.Version != "", "kubelet %s", w.Version)
	return strings.Join(parts, ", ")
}

// recorded compares simulations of recorded relists, of which all is known.
func recorded(what *WhatIf, was, is pleg.Profile, a, b *Totals) *Answer {
	x, y := storyOf(*a), storyOf(*b)
	out := answer(what, was, is, &x, &y, a.UnhealthyTime().Round(time.Millisecond) == b.UnhealthyTime().Round(time.Millisecond), 0, assume(what, was))
	count := func(measure string, a, b int) AnswerRow { return AnswerRow{measure, "count", float64(a), float64(b)} }
	seconds := AnswerRow{"time in relists", "seconds", a.Duration.Sum.Seconds(), b.Duration.Sum.Seconds()}
	out.Rows = slices.Concat([]AnswerRow{count("relists", a.Duration.Count, b.Duration.Count), count("relists that failed to list", a.Failed, b.Failed), out.Rows[0], seconds},
		out.Rows[1:], []AnswerRow{count("events sent", a.Events, b.Events), count("events discarded", a.Discarded, b.Discarded)})
	return out
}

// breaches says how often and how long a history was unhealthy. It needs at least one
// breach.
func breaches(s *story) string {
	sum, first := parse.OrLess(s.illMost, s.illMost-s.ill), time.Unix(0, s.from).UTC().Format("2006-01-02 15:04:05Z")
	switch {
	case s.onlyLeast:
		sum = "at least " + parse.Least(s.ill)
	case s.least == 0:
		sum = parse.Most(s.illMost)
	}
	switch {
	case s.most == 1:
		return fmt.Sprintf("one breach of %s at %s", sum, first)
	case s.least > 0 && s.least < s.most:
		return fmt.Sprintf("%d to %d breaches, %s in all, the first at %s", s.least, s.most, sum, first)
	}
	return fmt.Sprintf("%d breaches, %s in all, the first at %s", s.most, sum, first)
}

// assume lists the assumptions of a simulation of listings.
func assume(what *WhatIf, was pleg.Profile) []string {
	out := []string{"calls of which no duration is recorded count as instant; those that timed out count as the timeout"}
	if was.Assumed {
		out = append(out, "kubelet version not stated: the rules of 1.35 apply; events are the same from 1.14 to 1.35")
	}
	if what.reschedules() {
		out = append(out, "between two recorded relists the runtime holds what the first of them listed, and its calls take as long as then")
	}
	return append(out, assumeChanges(what)...)
}

// assumeChanges lists the assumptions that the changes themselves require.
func assumeChanges(what *WhatIf) []string {
	var out []string
	add := func(changed bool, granted string) {
		if changed {
			out = append(out, granted)
		}
	}
	add(what.RPCTimeout > 0 || what.Latency > 0, "inspecting a pod counts as one call; a call that timed out would have been answered when the input shows that later ones were, and no sooner")
	add(what.Parallel > 1, "the runtime serves parallel calls as fast as single ones")
	add(what.PLEG == "evented", "the runtime's event stream works throughout and tells of a change when the recorded listing shows it")
	add(len(what.Without) > 0, "leaving the pod out saves its own calls only; calls about other pods take as long as they did")
	return out
}

// Values that Standard asks about.
const (
	askThreshold  = 5 * time.Minute
	askRPCTimeout = 30 * time.Second
)

// Standard answers the usual questions of a post-mortem about a node, as far as its
// evidence permits: another threshold, another timeout, without the most expensive
// pods. It returns nil if the log proves no long relist, or if those it proves do not
// explain that PLEG was unhealthy, because an answer based on them would mislead.
func Standard(n *replay.Node, bs []blame.Blame) []*Answer {
	l, err := NewCounterfactual(n, bs)
	if err != nil {
		return nil
	}
	c := l.cost()
	if c.total == 0 {
		return nil
	}
	var out []*Answer
	for _, q := range l.questions(&c) {
		var what WhatIf
		for _, change := range q {
			if err := what.Set(change); err != nil {
				return nil
			}
		}
		if why, _ := l.Unproven(&what); why != "" {
			continue
		}
		if _, _, a, err := l.ask(what, false); err == nil && a != nil {
			out = append(out, a)
		}
	}
	return out
}

// cost says what the time of a node's long relists was spent on.
type cost struct {
	total     time.Duration
	list      time.Duration
	inspect   time.Duration
	rest      time.Duration // not attributed to a known call
	answered  time.Duration // upper bound of the longest single call that was answered
	listStuck bool
	pods      []podLoad // summed over relists, most expensive first
}

// stuck reports whether a call of a long relist timed out.
func (c *cost) stuck() bool {
	return c.listStuck || slices.ContainsFunc(c.pods, func(p podLoad) bool { return p.stuck > 0 })
}

func (l *Counterfactual) cost() cost {
	var c cost
	at := map[string]int{}
	for i := range l.loads {
		w := &l.loads[i]
		if w.end-w.start < int64(replay.LongRelist) {
			continue
		}
		c.total += time.Duration(w.end - w.start)
		c.list += w.list
		c.rest += w.rest
		c.listStuck = c.listStuck || w.listStuck
		if !w.listStuck && !w.listFailed {
			c.answered = max(c.answered, w.list)
		}
		for _, p := range w.pods {
			key := cmp.Or(p.uid, p.name)
			k, ok := at[key]
			if !ok {
				k = len(c.pods)
				at[key] = k
				c.pods = append(c.pods, podLoad{uid: p.uid, name: p.name})
			}
			c.pods[k].took += p.took
			c.pods[k].stuck += p.stuck
			c.inspect += p.took
			if p.stuck < p.calls {
				c.answered = max(c.answered, p.took-time.Duration(p.stuck)*l.Was.RPCTimeout)
			}
		}
	}
	slices.SortStableFunc(c.pods, func(a, b podLoad) int {
		return cmp.Or(cmp.Compare(b.took, a.took), cmp.Compare(a.name, b.name), cmp.Compare(a.uid, b.uid))
	})
	return c
}

// questions returns the applicable questions, each a set of changes.
func (l *Counterfactual) questions(c *cost) [][]string {
	var out [][]string
	ask := func(changes ...string) { out = append(out, changes) }
	stuck := c.stuck()
	if l.Was.Threshold < askThreshold && len(l.asItWas()[1].Unhealthy) > 0 {
		ask("threshold=" + askThreshold.String())
	}
	if stuck && l.Was.RPCTimeout > askRPCTimeout {
		ask("rpc-timeout=" + askRPCTimeout.String())
	}
	var dear []string // the most expensive pods, at most three
	for _, p := range c.pods[:min(len(c.pods), 3)] {
		name := cmp.Or(p.name, p.uid)
		if name == "" || p.took < time.Second || p.took < c.total/10 {
			break
		}
		dear = append(dear, "without-pod="+name)
	}
	if len(dear) > 0 {
		ask(dear[0])
	}
	if len(dear) > 1 {
		ask(dear...)
	}
	if len(c.pods) > 1 && c.inspect > c.total/2 && l.Was.Parallel <= 1 {
		ask("parallel-inspect=4")
	}
	if !stuck && c.list+c.inspect > c.total/2 {
		ask("runtime-latency=0.5")
	}
	if stuck && !c.listStuck && l.Was.Has(pleg.InspectTwice) {
		ask("kubelet-version=v1.32.0") // 1.32 no longer inspects a pod twice in one relist
	}
	return out
}
