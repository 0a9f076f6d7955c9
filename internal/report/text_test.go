package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

const second = model.Time(1e9)

// TestGaps: a sum is not written as if each gap were as long.
func TestGaps(t *testing.T) {
	gap := func(from, to model.Time) model.Gap {
		return model.Gap{Span: model.Span{From: from * second, To: to * second}}
	}
	for want, gaps := range map[string][]model.Gap{
		"":                                nil,
		"; 1 gap, 10s long":               {gap(1, 11)},
		"; 2 gaps, 30s together":          {gap(1, 11), gap(20, 40)},
		"; 3 gaps, at least 30s together": {gap(1, 11), gap(20, 40), gap(50, 0)},
		"; 2 gaps":                        {gap(0, 11), gap(20, 0)},
	} {
		if got := gapsShort(gaps); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestOneAge: where the history proves an age above the one that lines state, every
// line of the report has that one, as a lower bound; and a breach that no line of the
// episode reports is told beside its recovery.
func TestOneAge(t *testing.T) {
	a := fixture("worker-3", 1)
	n := &a.Nodes[0]
	n.Episodes[0].PeakAge = 236e9
	n.Relists = append(n.Relists[:1:1], replay.Relist{Start: replay.Instant{At: n.Episodes[0].LastStart.At + 1e9}, End: replay.Instant{At: n.Episodes[0].LastStart.At + 241e9}, Listed: new(false), Outcome: replay.OutcomeListFailed})
	pack, _ := rules.Builtin()
	n.Result = rules.Eval(n.Node, pack)
	again := rules.Breach{Rule: "relist-threshold-exceeded", Severity: rules.Critical, Start: n.Window.End - 300e9, End: n.Window.End - 200e9, Value: 280, Threshold: 180, Unit: "seconds", Evidence: n.Breaches[0].Evidence}
	n.Breaches = append(n.Breaches, again)
	for _, verbose := range []bool{false, true} {
		var b bytes.Buffer
		if err := writeText(&b, fill(a), Options{Width: 140, Verbose: verbose}); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); !strings.Contains(got, "at least 4m1s") || strings.Contains(got, "3m56s") || !verbose && !strings.Contains(got, "also from 12:10:00 to 12:11:40, though no line reports it; age 4m40s") {
			t.Errorf("%s", got)
		}
	}
}

// TestNoAge: an episode before any relist has no age.
func TestNoAge(t *testing.T) {
	if got := oldest(&model.Episode{NeverRelisted: true}); got != "none yet" {
		t.Error(got)
	}
}
