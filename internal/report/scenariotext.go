package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
)

// scenarioText prints what a scenario came to: its longest relists, not all of them.
type scenarioText struct {
	*replayText
	longest []model.SimRelist
}

// longestShown is how many relists are told one by one.
const longestShown = 5

func newScenarioText(w io.Writer, p model.Profile, _ bool) ReplayWriter {
	t := &replayText{printer: newPrinter(w, Options{Width: replayWidth}), healthy: true}
	if p.Assumed {
		p.Version = nil
	}
	t.para("", fmt.Sprintf("Scenario with %s, CRI timeout %s", profileWords(&p), span(&p.RPCTimeout)))
	return &scenarioText{replayText: t}
}

// Relist implements ReplayWriter.
func (t *scenarioText) Relist(r model.SimRelist) {
	if len(t.longest) == longestShown && r.Took <= t.longest[longestShown-1].Took {
		return
	}
	r.Events = nil
	i, _ := slices.BinarySearchFunc(t.longest, r, func(a, b model.SimRelist) int { return cmp.Compare(b.Took, a.Took) })
	t.longest = slices.Insert(t.longest, i, r)
	t.longest = t.longest[:min(len(t.longest), longestShown)]
}

// End implements ReplayWriter.
func (t *scenarioText) End(end model.ReplayEnd) error {
	s := end.Scenario
	t.para("", s.Text)
	if len(s.Calibrated) > 0 {
		var used []string
		for _, u := range s.Used {
			used = append(used, clockText(u.From)+" to "+clockText(u.To))
		}
		t.para("", "Calibrated by snapshots from "+strings.Join(used, ", ")+": "+strings.Join(s.Calibrated, "; "))
	}
	m := &end.Metrics
	if m.Relists > 0 {
		mean := m.Duration / float64(m.Relists)
		fmt.Fprintln(t)
		t.para("", relistsWords(&end, span(&mean)+" on average"))
	}
	fmt.Fprintf(t, "%s sent, %d discarded\n", parse.Plural(end.Sent, "event"), m.Discarded)
	t.health(end.Unhealthy)
	if s.Cut {
		fmt.Fprintf(t, "Ended early: too many relists for one run\n")
	}
	fmt.Fprintf(t, "\nLongest relists\n")
	slices.SortFunc(t.longest, func(a, b model.SimRelist) int { return cmp.Compare(a.Start, b.Start) })
	for i := range t.longest {
		r := &t.longest[i]
		t.para(fmt.Sprintf("  %s  %9.3fs  ", clockText(r.Start), r.Took), t.note(r))
	}
	t.metrics(end.Exposed)
	for _, f := range s.Found {
		fmt.Fprintf(t, "\nQuestion: %s?\nAnswer: %s.\n", f.Question, f.Answer)
	}
	if len(end.Assumptions) > 0 {
		fmt.Fprintln(t)
	}
	for _, a := range end.Assumptions {
		t.para("", "Assumed: "+a+".")
	}
	return t.Flush()
}

// metrics are the samples at the end but for the buckets, of which the share beyond
// the last one is told.
func (t *scenarioText) metrics(all []model.Exposed) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(t, "\nWhat its metrics would show at the end\n")
	beyond := map[string]float64{}
	for _, x := range all {
		name, bucket := strings.CutSuffix(x.Name, "_bucket")
		switch {
		case bucket && x.Is == "+Inf":
			beyond[name] += x.Value
		case bucket && x.Is == "10":
			beyond[name] -= x.Value
		case bucket:
		case x.Label != "":
			fmt.Fprintf(t, "  %s{%s=%q} %s\n", x.Name, x.Label, x.Is, strconv.FormatFloat(x.Value, 'f', -1, 64))
		default:
			fmt.Fprintf(t, "  %s %s\n", x.Name, strconv.FormatFloat(x.Value, 'f', -1, 64))
		}
		if name, ok := strings.CutSuffix(x.Name, "_count"); ok && beyond[name] > 0 {
			fmt.Fprintf(t, "    %g above the last bucket of 10 s, which quantiles do not see\n", beyond[name])
		}
	}
}
