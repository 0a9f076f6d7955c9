package cuts

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/replay"
)

// step is a wall clock that is set by by at a time.
type step struct {
	at int64
	by time.Duration
}

// apply writes the lines of a klog file by a clock that is set.
func (s step) apply(log string) string {
	var b strings.Builder
	set := false
	for line := range strings.Lines(log) {
		t := lineTime(line)
		if set = set || t >= s.at; set && t != 0 {
			x := time.Unix(0, t+int64(s.by)).UTC()
			if strings.HasPrefix(line, `{"ts":`) {
				i := strings.IndexAny(line, ",")
				line = fmt.Sprintf(`{"ts":%.4f`, float64(x.UnixNano())/1e6) + line[i:]
			} else {
				line = line[:1] + x.Format("0102 15:04:05.000000") + line[21:]
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

// statesOf returns PLEG's states by the clock that is set: where it shows a time twice, with both, once each.
func (s step) statesOf(states []stateSpan) (out []stateSpan) {
	for _, x := range states {
		if x.from < s.at {
			out = append(out, stateSpan{x.from, min(x.to, s.at), x.state})
		}
		if x.to > s.at {
			out = append(out, stateSpan{max(x.from, s.at) + int64(s.by), x.to + int64(s.by), x.state})
		}
	}
	return out
}

// falsehoodsStepped lists the claims that are false by a clock that is set. The start of a relist may be told by the clock before the step or after it.
func (w *truth) falsehoodsStepped(n *model.Analyzed, s step) (out findings) {
	if w == nil || n == nil || w.evented {
		return nil
	}
	states := s.statesOf(w.states())
	for _, h := range n.Health {
		switch h.State {
		case replay.Healthy:
			if d, t := overlapOf(states, h.From, h.To, -1); d > near {
				out.add("false health", "%v from %s, by %s in %s to %s", d, at(t), h.Proof, at(h.From), at(h.To))
			}
		case replay.Unhealthy:
			// no time of the stretch is healthy by all clocks that show it
			for _, x := range states {
				from, to := max(x.from, h.From), min(x.to, h.To)
				if x.state != 1 || to <= from {
					continue
				}
				ill, _ := overlapOf(states, from, to, -1)
				unsure, _ := overlapOf(states, from, to, 0)
				if d := time.Duration(to-from) - ill - unsure; d > near {
					out.add("false trouble", "%v from %s, in %s to %s", d, at(from), at(h.From), at(h.To))
				}
			}
		}
	}
	for _, e := range n.Episodes {
		if e.Breach == 0 || e.Never {
			continue
		}
		slack := int64(e.LastStart.Slack + near)
		if e.LastStart.Known() && !slices.ContainsFunc(w.relists, func(r ranRelist) bool {
			a, b := r.start, r.start+int64(s.by)
			return a >= e.LastStart.At-slack && a <= e.LastStart.At+slack || b >= e.LastStart.At-slack && b <= e.LastStart.At+slack
		}) {
			out.add("false episode", "no relist at %s ±%v", at(e.LastStart.At), e.LastStart.Slack)
		}
		if e.Recovered.Known() {
			from, to := e.Recovered.At-int64(e.Recovered.Slack)-int64(near), e.Recovered.At+int64(e.Recovered.Slack)+int64(near)
			well, _ := overlapOf(states, from, to, 1)
			unsure, _ := overlapOf(states, from, to, 0)
			if well+unsure == 0 {
				out.add("false recovery", "%s −%v, by %q", at(e.Recovered.At), e.Recovered.Slack, e.RecoveredBasis)
			}
		}
	}
	for i := range n.Relists {
		r := &n.Relists[i]
		d, known := r.Duration()
		if !r.Start.Known() {
			continue
		}
		slack, why := int64(r.Start.Slack+near), "no relist began then"
		off := r.Slack() + 100*time.Millisecond
		if !slices.ContainsFunc(w.relists, func(x ranRelist) bool {
			a, b := x.start, x.start+int64(s.by)
			if !(a >= r.Start.At-slack && a <= r.Start.At+slack || b >= r.Start.At-slack && b <= r.Start.At+slack) {
				return false
			}
			why = ""
			if lasted, _ := n.Lasted(i); lasted > time.Duration(x.end-x.start)+off && x.end != 0 {
				why = fmt.Sprintf("lasted %v, really %v", lasted, time.Duration(x.end-x.start))
			}
			if known && (x.end == 0 || abs(d-time.Duration(x.end-x.start)) > off) {
				why = fmt.Sprintf("it took %v", time.Duration(x.end-x.start))
			}
			return why == ""
		}) {
			out.add("false relist", "%s ±%v, took %v ±%v, %s by %v: %s", at(r.Start.At), r.Start.Slack, d, off, r.Outcome, r.Basis, why)
		}
	}
	return out
}

// TestSteps: on a clock that is set back or forward anywhere in a log, no claim is false by either clock.
//
// For more steps: go test ./internal/cuts -run TestSteps -v -args -cuts 40 -cutseed 5
func TestSteps(t *testing.T) {
	sources := captureSources(t)
	classes := map[string]int{}
	tried := 0
	for _, s := range sources {
		if ok, _ := regexp.MatchString(*cutsOnly, s.name); !ok || s.truth == nil || strings.Contains(s.name, "journald") {
			continue
		}
		log := s.files["kubelet.log"]
		first, last := timesOf(strings.Split(log, "\n"))
		var ill []stateSpan
		for _, x := range s.truth.states() {
			if x.state < 0 {
				ill = append(ill, x)
			}
		}
		r := rand.New(rand.NewPCG(*cutSeed, 1))
		for _, by := range []time.Duration{-10 * time.Second, -4 * time.Minute, -time.Hour, 4 * time.Minute, time.Hour, -90 * time.Second, 30 * time.Second} {
			for k := range max(1, *cutsOf/4) {
				at := first + int64(r.Float64()*float64(last-first))
				if len(ill) > 0 && k%2 == 0 {
					x := ill[r.IntN(len(ill))]
					at = x.from - int64(3*time.Minute) + int64(r.Float64()*float64(x.to-x.from+int64(4*time.Minute)))
				}
				st := step{at, by}
				tried++
				stepped := st.apply(log)
				if by < 0 && !stepsBack(stepped) {
					continue // the log is silent for longer than the clock was set back by
				}
				files := map[string]string{"kubelet.log": stepped}
				part := s.claims(t, files)
				found := s.truth.falsehoodsStepped(part, st)
				for _, f := range found {
					classes[f.Class]++
					t.Errorf("%s, %v at %s (%d): %v", s.name, by, time.Unix(0, at).UTC().Format("15:04:05.000"), at, f)
				}
				if len(found) > 0 && *cutsKept != "" {
					put(t, *cutsKept+fmt.Sprintf("/%s%v-%d", s.name, by, at), files)
				}
			}
		}
	}
	t.Log(tried, classes)
}

// stepsBack reports whether the lines of a log show that the clock was set back.
func stepsBack(log string) bool {
	last := int64(0)
	for line := range strings.Lines(log) {
		t := lineTime(line)
		if t != 0 && t < last-int64(2*time.Second) {
			return true
		}
		last = max(last, t)
	}
	return false
}
