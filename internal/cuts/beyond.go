package cuts

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/replay"
)

// Finding is a claim that does not hold.
type Finding struct{ Class, Text string }

// String returns the class and the text.
func (f Finding) String() string { return f.Class + ": " + f.Text }

type findings []Finding

func (f *findings) add(class, format string, args ...any) {
	*f = append(*f, Finding{class, fmt.Sprintf(format, args...)})
}

// Beyond lists what a part of the evidence claims but the whole does not: health, unhealthiness, a
// recovery, a relist of 10 s or more, a cause. A claim that contradicts the whole is a finding from
// half a second on, one about what the whole does not know from a second on.
func Beyond(part, whole *model.Analyzed) []Finding {
	if part == nil || whole == nil {
		return nil
	}
	var out findings
	for _, h := range part.Health {
		unknown, well, ill := unknown(whole, h.From, h.To), during(whole, h.From, h.To, replay.Healthy), during(whole, h.From, h.To, replay.Unhealthy)
		switch {
		case h.State == replay.Healthy && (ill > time.Second/2 || unknown > time.Second):
			out.add("health beyond", "%v not known and %v unhealthy from %s, by %s", unknown, ill, at(h.From), h.Proof)
		case h.State == replay.Unhealthy && (well > time.Second/2 || unknown > time.Second):
			out.add("trouble beyond", "%v not known and %v healthy from %s", unknown, well, at(h.From))
		}
	}
	for i := range part.Episodes {
		e := &part.Episodes[i]
		to := e.Recovered.At + int64(15*time.Second)
		for _, next := range slices.Concat(part.Episodes, whole.Episodes) { // an episode that begins later is not a contradiction
			if next.Breach >= e.Recovered.At {
				to = min(to, next.Breach)
			}
		}
		for _, h := range whole.Health {
			if h.State == replay.Unhealthy && h.From >= e.Recovered.At {
				to = min(to, h.From)
			}
		}
		if ill := during(whole, e.Recovered.At+int64(5*time.Second), to, replay.Unhealthy); e.Recovered.Known() && ill > time.Second {
			out.add("recovery beyond", "%s, %v unhealthy after it", at(e.Recovered.At), ill)
		}
	}
	for i := range part.Relists {
		r := &part.Relists[i]
		d, ok := r.Duration()
		if !ok || d < replay.LongRelist {
			continue
		}
		if !slices.ContainsFunc(whole.Relists, func(w replay.Relist) bool {
			e, ok := w.Duration()
			starts := r.Start.Slack + w.Start.Slack
			return ok && abs(e-d) <= max(2*time.Second, e/5, r.TookSlack+w.TookSlack+starts+r.End.Slack+w.End.Slack) && abs(time.Duration(w.Start.At-r.Start.At)) <= max(2*time.Second, e/5, starts)
		}) {
			out.add("relist beyond", "%v at %s ±%v", d, at(r.Start.At), r.Start.Slack)
		}
	}
	had := map[string]float64{}
	for _, c := range whole.Causes {
		had[c.ID] = c.Confidence
	}
	for _, c := range part.Causes {
		if c.Confidence > had[c.ID]+.05 && (c.Confidence >= .5 && had[c.ID] < .5 || c.Confidence >= .85 && had[c.ID] < .85) {
			out.add("cause beyond", "%s %.2f, whole %.2f", c.ID, c.Confidence, had[c.ID])
		}
	}
	return out
}

// during returns how long a node was in a state within a span.
func during(n *model.Analyzed, from, to int64, state replay.HealthState) (sum time.Duration) {
	for _, h := range n.Health {
		if h.State == state {
			sum += max(0, time.Duration(min(to, h.To)-max(from, h.From)))
		}
	}
	return sum
}

// unknown returns how long the state of a node is unknown within a span. The time from a reported
// recovery to the proof that it lasts counts as known.
func unknown(n *model.Analyzed, from, to int64) time.Duration {
	sum := during(n, from, to, replay.HealthUnknown)
	for _, h := range n.Health {
		for i := range n.Episodes {
			if r := n.Episodes[i].Recovered; h.State == replay.HealthUnknown && r.Known() && r.At >= h.From && r.At < h.To {
				sum -= max(0, time.Duration(min(to, h.To)-max(from, r.At)))
			}
		}
	}
	return sum
}

func at(ns int64) string { return time.Unix(0, ns).UTC().Format("15:04:05.000") }

func abs(d time.Duration) time.Duration { return max(d, -d) }
