package cuts

import (
	"flag"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/replay"
)

var startsOf = flag.Int("starts", 12, "places at which TestStarts cuts the start of each log; 0: before each line")

// TestStarts: a log that begins later, anywhere, leads to no claim that is false, or that the log as a whole does
// not support.
//
// Before each line: go test ./internal/cuts -run TestStarts -v -args -starts 0
func TestStarts(t *testing.T) {
	classes, tried := map[string]int{}, 0
	for _, s := range append(sampleSources(t), captureSources(t)...) {
		if ok, _ := regexp.MatchString(*cutsOnly, s.name); !ok {
			continue
		}
		lines := strings.SplitAfter(s.files["kubelet.log"], "\n")
		whole := s.claims(t, map[string]string{"kubelet.log": s.files["kubelet.log"]})
		step := 1
		if *startsOf > 0 {
			step = 1 + len(lines) / *startsOf
		}
		for i := 1 + int(*cutSeed)%step; i < len(lines)-1; i += step {
			part := s.claims(t, map[string]string{"kubelet.log": strings.Join(lines[i:], "")})
			tried++
			for _, f := range slices.Concat(s.truth.falsehoods(part), Beyond(part, whole), differs(part, whole)) {
				classes[f.Class]++
				t.Errorf("%s without its first %d lines: %v", s.name, i, f)
			}
		}
	}
	t.Log(tried, "cuts", classes)
}

// differs lists what the episodes and relists of a part say that those of the whole do not: a recovery, another
// stuck step, another end.
func differs(part, whole *model.Analyzed) (out findings) {
	if part == nil || whole == nil {
		return nil
	}
	for i := range part.Episodes {
		e := &part.Episodes[i]
		if e.Breach == 0 {
			continue
		}
		k := slices.IndexFunc(whole.Episodes, func(w replay.Episode) bool {
			return w.Run >= 0 && w.Never == e.Never && (w.Breach <= e.LastReport || w.Breach <= e.Breach) && (w.LastReport >= e.FirstReport && w.LastReport != 0 || w.Recovered.At >= e.Breach)
		})
		if k < 0 {
			out.add("episode beyond", "%s", at(e.Breach))
			continue
		}
		w := &whole.Episodes[k]
		if !w.Recovered.Known() && e.Recovered.Known() {
			out.add("recovery not in the whole", "%s by %q, whole %q", at(e.Recovered.At), e.RecoveredBasis, w.RecoveredBasis)
		}
		if e.Recovered.Known() && w.Recovered.Known() && (e.Recovered.Earliest() > w.Recovered.Latest()+int64(near) || w.Recovered.Earliest() > e.Recovered.Latest()+int64(near)) {
			out.add("another recovery", "%s by %q, whole %s by %q", at(e.Recovered.At), e.RecoveredBasis, at(w.Recovered.At), w.RecoveredBasis)
		}
		if e.StuckStep != replay.StepUnknown && e.StuckStep != w.StuckStep {
			out.add("another step", "%s at %s (%s), whole %s (%s)", e.StuckStep, at(e.Breach), e.StepBasis, w.StuckStep, w.StepBasis)
		}
		if e.PeakAge > w.PeakAge {
			out.add("greater age", "%v, whole %v", e.PeakAge, w.PeakAge)
		}
	}
	for i := range part.Relists {
		r := &part.Relists[i]
		if !r.End.Known() || r.Start.Slack > time.Second || r.End.At-r.Start.At < int64(replay.LongRelist) {
			continue
		}
		if k := slices.IndexFunc(whole.Relists, func(w replay.Relist) bool {
			return w.End.Known() && w.Start.Earliest() <= r.Start.Latest()+int64(near) && r.Start.Earliest() <= w.Start.Latest()+int64(near)
		}); k >= 0 {
			if w := &whole.Relists[k]; w.End.Earliest() > r.End.Latest()+2*int64(near) || r.End.Earliest() > w.End.Latest()+2*int64(near) {
				out.add("another end", "%s ±%v, whole %s ±%v", at(r.End.At), r.End.Slack, at(w.End.At), w.End.Slack)
			}
		}
	}
	return out
}
