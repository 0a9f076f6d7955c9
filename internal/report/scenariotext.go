package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// calibrated prints what was simulated and what it was calibrated to.
func (t *replayText) calibrated(s *model.SimScenario) {
	t.para("", s.Text)
	if len(s.Calibrated) == 0 {
		return
	}
	var used []string
	for _, u := range s.Used {
		used = append(used, clockText(u.From)+" to "+clockText(u.To))
	}
	t.para("", "Calibrated by snapshots from "+strings.Join(used, ", ")+": "+strings.Join(s.Calibrated, "; "))
}

// scenario prints the outcome of a scenario.
func (t *replayText) scenario(end *model.ReplayEnd) {
	if end.Scenario.Cut {
		fmt.Fprintf(t, "Ended early: too many relists for one run\n")
	}
	fmt.Fprintf(t, "\nLongest relists\n")
	slices.SortFunc(t.longest, func(a, b model.SimRelist) int { return cmp.Compare(a.Start, b.Start) })
	for i := range t.longest {
		r := &t.longest[i]
		t.para(fmt.Sprintf("  %s  %9.3fs  ", clockText(r.Start), r.Took), t.note(r))
	}
	t.metrics(end.Exposed)
	for _, f := range end.Scenario.Found {
		fmt.Fprintf(t, "\nQuestion: %s?\nAnswer: %s.\n", f.Question, f.Answer)
	}
	if len(end.Assumptions) > 0 {
		fmt.Fprintln(t)
	}
}

// metrics prints the samples at the end of the scenario. Of the buckets it prints only the number
// beyond the last one.
func (t *replayText) metrics(all []model.Exposed) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(t, "\nWhat its metrics would show at the end\n")
	beyond := map[string]float64{}
	for _, x := range all {
		value := strconv.FormatFloat(x.Value, 'f', -1, 64)
		name, bucket := strings.CutSuffix(x.Name, "_bucket")
		switch {
		case bucket && x.Is == "+Inf":
			beyond[name] += x.Value
		case bucket && x.Is == "10":
			beyond[name] -= x.Value
		case bucket:
		case x.Label != "":
			fmt.Fprintf(t, "  %s{%s=%q} %s\n", x.Name, x.Label, x.Is, value)
		default:
			fmt.Fprintf(t, "  %s %s\n", x.Name, value)
		}
		if name, ok := strings.CutSuffix(x.Name, "_count"); ok && beyond[name] > 0 {
			fmt.Fprintf(t, "    %g above the last bucket of 10 s, which quantiles do not see\n", beyond[name])
		}
	}
}
