package cuts

import (
	"flag"
	"regexp"
	"strings"
	"testing"
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
			for _, f := range append(s.truth.falsehoods(part), Beyond(part, whole)...) {
				classes[f.Class]++
				t.Errorf("%s without its first %d lines: %v", s.name, i, f)
			}
		}
	}
	t.Log(tried, "cuts", classes)
}
