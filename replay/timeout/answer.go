package timeout

import (
	"fmt"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/simulate"
)

// rowsMost is the number of relists in the table, the worst first.
const rowsMost = 10

// answer describes the relists, which are sorted worst first.
func answer(n *replay.Node, rs []relist, what *simulate.WhatIf, is *pleg.Profile, why string) *simulate.Answer {
	a := &simulate.Answer{Changes: what.Said, Change: what.Words(), Assumptions: []string{
		"a call that never answered would not have answered later either, and while none of the lists was answered no other list would have been",
		"between the relists that the input proves, relists ran quietly",
	}}
	worst := &rs[0]
	count := map[verdict]int{}
	for i := range rs {
		count[rs[i].verdict]++
	}
	threshold := parse.Short(is.Threshold)
	var s strings.Builder
	fmt.Fprintf(&s, "With %s, ", a.Change)
	switch worst.verdict {
	case passed:
		fmt.Fprintf(&s, "PLEG would certainly have passed its threshold of %s: ", threshold)
	case undecided:
		fmt.Fprintf(&s, "it cannot be decided whether PLEG would have passed its threshold of %s: ", threshold)
	default:
		fmt.Fprintf(&s, "PLEG would certainly not have passed its threshold of %s by a relist that the input proves: ", threshold)
	}
	was, would := worst.was.String(), worst.would.String()
	switch {
	case worst.unlisted > 0:
		fmt.Fprintf(&s, "for at least %s from the relist of %s on no later list was answered", parse.Least(worst.unlisted), moment(worst.start))
	case was == would:
		fmt.Fprintf(&s, "the relist of %s would have taken %s, as it did", moment(worst.start), would)
	default:
		fmt.Fprintf(&s, "the relist of %s would have taken %s instead of %s", moment(worst.start), would, was)
	}
	if len(rs) > 1 {
		sep := fmt.Sprintf("; of %d such relists ", len(rs))
		for v, what := range []string{not: "certainly would not have", undecided: "may or may not have", passed: "certainly would have"} {
			if count[verdict(v)] > 0 {
				fmt.Fprintf(&s, "%s%d %s", sep, count[verdict(v)], what)
				sep = ", "
			}
		}
	}
	if blind, _ := n.UnknownTime(); blind > replay.LongRelist {
		fmt.Fprintf(&s, "; in %s of the input nothing rules out another breach", parse.Short(blind))
	}
	fmt.Fprintf(&s, "; bounds are all that can be told, as %s.", why)
	a.Sentence = s.String()
	for i := range rs[:min(len(rs), rowsMost)] {
		r := &rs[i]
		if r.unlisted > 0 && r.was.lo < replay.LongRelist {
			continue // something other than this relist lasted
		}
		row := func(which string, was, would time.Duration) {
			if was < open && would < open {
				a.Rows = append(a.Rows, simulate.AnswerRow{Measure: "relist of " + moment(r.start) + ", " + which, Unit: "seconds", Was: was.Seconds(), Would: would.Seconds()})
			}
		}
		row("at least", r.was.lo, r.would.lo)
		row("at most", r.was.hi, r.would.hi)
	}
	return a
}

func moment(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05Z") }
