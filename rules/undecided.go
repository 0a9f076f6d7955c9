package rules

import (
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// Undecided is a breach rule without a breach whose question the input does not answer: that no breach was
// found does not mean that there was none.
type Undecided struct {
	Rule, Reason string
}

// questions name what must be known to deny a breach of each rule; any one suffices. A rule that is not listed
// never denies anything.
var questions = map[string][]func(*view) string{
	"relist-threshold-exceeded": {(*view).untoldHealth},
	"relist-never-succeeded":    {(*view).untoldHealth, (*view).untoldLines},
	"relist-list-failed":        {(*view).untoldLines},
	"slow-relist":               {(*view).untoldLengths},
	"pleg-events-discarded":     {(*view).untoldLines, (*view).untoldCounts},
	"runtime-down":              {(*view).untoldLines},
	"sync-loop-stalled":         {(*view).untoldLines},
	"journal-lag":               {(*view).untoldLag},
	"kubelet-restarted":         {(*view).untoldLines, (*view).untoldSteps},
	"relist-interval-long":      {(*view).untoldSteps},
	"runtime-operation-slow":    {(*view).untoldCounts},
	"runtime-operation-errors":  {(*view).untoldCounts},
	"metrics-gap":               {(*view).untoldSteps},
	"node-not-ready":            {(*view).untoldReady, (*view).untoldLines},
}

// undecided lists the rules that the input cannot decide, in the order of BreachRules.
func (v *view) undecided(found []Breach) (out []Undecided) {
	for i := range breachRules {
		id := breachRules[i].ID
		if slices.ContainsFunc(found, func(b Breach) bool { return b.Rule == id }) {
			continue
		}
		reason := ""
		for k, ask := range questions[id] {
			why := ask(v)
			if why == "" {
				reason = ""
				break
			}
			if k == 0 {
				reason = why
			}
		}
		if reason != "" {
			out = append(out, Undecided{id, reason})
		}
	}
	return out
}

func (v *view) untoldHealth() string {
	var sum time.Duration
	for _, s := range v.n.Untold() {
		sum += time.Duration(s.To - s.From)
	}
	switch {
	case len(v.n.Health) == 0:
		return "nothing in the input was dated"
	case sum > 0:
		return "nothing tells whether PLEG was healthy for " + parse.Short(sum) + " of the " + parse.Short(time.Duration(v.n.Window.End-v.n.Window.Start)) + " that the input covers"
	}
	return ""
}

// untoldLines says why a line that is not in the kubelet's log may still have been written.
func (v *view) untoldLines() string {
	switch {
	case !v.have[parse.SrcKubelet]:
		return "no log of the kubelet was recognized in the input"
	case !slices.ContainsFunc(v.n.Claims, func(c replay.Claim) bool { return c.Proof == replay.ProofSilence && c.State == replay.Healthy }):
		return "nothing shows that the kubelet's log is complete"
	case slices.ContainsFunc(v.n.Holes, func(h replay.Span) bool { return h.To-h.From > minute }):
		return "the kubelet's log has holes"
	}
	return ""
}

func (v *view) untoldLengths() string {
	if _, most := v.n.LongestRelist(); most >= 0 && secs(most) <= v.limit("slow-relist") {
		return ""
	}
	return "relists whose length nothing states may have taken as long"
}

func (v *view) untoldLag() string {
	if slices.ContainsFunc(v.n.Coverage, func(c *parse.Coverage) bool { return c.HasLag && c.Origin.Source == parse.SrcKubelet }) {
		return ""
	}
	return "no line of the kubelet was recognized that states both when it was written and when it arrived"
}

func (v *view) untoldCounts() string { return v.fewSnapshots(1) }

func (v *view) untoldSteps() string { return v.fewSnapshots(2) }

// fewSnapshots says that the input holds fewer than n dated snapshots of the kubelet's metrics.
func (v *view) fewSnapshots(n int) string {
	had := 0
	for _, name := range []string{"kubelet_pleg_relist_duration_seconds_count", "kubelet_pleg_relist_latency_microseconds_count"} {
		for _, s := range v.series[name] {
			for p := range s.Samples() {
				if p.Src.Basis != parse.NoTime {
					had++
				}
				if had >= n {
					return ""
				}
			}
		}
	}
	if had == 0 {
		return "no dated metrics of the kubelet were recognized in the input"
	}
	return "only one snapshot of the kubelet's metrics was recognized in the input"
}

func (v *view) untoldReady() string {
	if len(v.n.Ready) > 0 {
		return ""
	}
	return "nothing states the Ready condition of the node"
}
