package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestOutages tests that refusals separated by a working relist, as proven by a complete
// log or the metrics, are several outages of which the longest is reported, and that a
// runtime that worked after the last one need not be started.
func TestOutages(t *testing.T) {
	at := func(sec int) int64 { return base + int64(sec)*second }
	silent := replay.Claim{Span: replay.Span{From: at(101), To: at(120)}, State: replay.Healthy, Proof: replay.ProofSilence}
	paced := replay.MetricProof{Kind: replay.ProofPaced, From: at(102), To: at(118), Count: 15, SumMax: 2 * time.Second}
	late := paced
	late.SumMax = time.Minute // none of them need have listed pods
	after := silent
	after.Span = replay.Span{From: at(201), To: at(220)}
	for _, c := range []struct {
		name   string
		claims []replay.Claim
		proofs []replay.MetricProof
		outage string
		over   bool
	}{
		{"nothing in between", nil, nil, "3m20s", false},
		{"a silent log", []replay.Claim{silent}, nil, "1m40s (the longest of at least 2 times)", false},
		{"paced relists", nil, []replay.MetricProof{paced}, "1m40s (the longest of at least 2 times)", false},
		{"relists that need not have listed pods", nil, []replay.MetricProof{late}, "3m20s", false},
		{"a silent log after it", []replay.Claim{after}, nil, "3m20s", true},
	} {
		n := node()
		n.Episodes, n.Claims, n.Proofs, n.Window.End = nil, c.claims, c.proofs, at(300)
		for sec := 0; sec <= 200; sec++ {
			if sec <= 100 || sec >= 121 {
				n.Failures = append(n.Failures, replay.Failure{Call: "GetPods", Code: "Unavailable", End: at(sec), Evidence: []replay.Evidence{{Record: line(sec, parse.SrcKubelet, "x")}}})
			}
		}
		s := incidentSubject(newView(n))
		if got := evalOutage(s, nil).vars["outage"]; got != c.outage {
			t.Errorf("%s: %q", c.name, got)
		}
		if got := strings.Contains(s.vars()["over"], "answers again"); got != c.over {
			t.Errorf("%s: over %v", c.name, got)
		}
	}
}

// TestEvidenceWords tests that a sentence about a piece of evidence uses the evidence's own
// variables.
func TestEvidenceWords(t *testing.T) {
	x := &scored{found: []outcome{{vars: map[string]string{"args": "bridge", "age": "8m52s"}}}}
	if got := x.fill("{args} has run for {age}", map[string]string{"age": "3m56s"}); got != "bridge has run for 8m52s" {
		t.Error(got)
	}
}
