package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

const second = model.Time(1e9)

// TestGaps: the total of several gaps is not worded as if each were that long.
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

// TestOneAge: if the history proves a higher age than log lines state, the report shows that age as
// a lower bound everywhere, and says once what the lines state; the JSON has both. A breach that no
// line of the episode reports is listed separately.
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
		if got := b.String(); !strings.Contains(got, "at least 4m") || verbose == strings.Contains(got, "peak age    at least 4m, 3m56s stated by its lines") || strings.Count(got, "3m56s") > 1 || !verbose && !strings.Contains(got, "also from 12:10:00 to 12:11:40, though no line was recognized that reports it; age 4m40s") {
			t.Errorf("%s", got)
		}
	}
}

// TestNoAge: an episode before the first relist has no age.
func TestNoAge(t *testing.T) {
	if got := oldest(&model.Episode{NeverRelisted: true}); got != "none yet" {
		t.Error(got)
	}
}

// TestElsewhere: the screen also names the episode with the highest age if that is not the worst
// one; it omits an unknown end, and does not repeat an age stated by lines.
func TestElsewhere(t *testing.T) {
	a := fixture("worker-3", 1)
	r := fill(a)
	n := r.Nodes[0]
	e := n.Episodes[0]
	e.ID, e.NeverRelisted, e.OldestAge, e.PeakAge, e.Breach = 2, true, nil, nil, e.Breach+1e9
	n.Episodes, n.Worst = append(n.Episodes, e), 1
	b := n.Breaches[0]
	n.Breaches = append(n.Breaches, model.Breach{Rule: "relist-threshold-exceeded", Start: n.Window.End, Value: new(189.9), Least: true, Unit: "seconds", Evidence: b.Evidence})
	n.Episodes[0].OldestAge, n.Episodes[0].PeakAge = new(234.3), new(233.8)
	for worst, want := range []string{"peak age    at least 3m54s, threshold", "at least 3m54s in episode 1 from " + layout(n.Episodes[0].Start(), time.TimeOnly)} {
		n.Worst = worst
		var out bytes.Buffer
		if err := writeText(&out, r, Options{Width: 200}); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.Contains(got, want) || strings.Contains(got, " ?") || !strings.Contains(got, ", though no line was recognized that reports it; age at least 3m9s") {
			t.Errorf("want %q: %s", want, got)
		}
	}
	if got := (times{}).head(n).Numbers[1].Label; !strings.Contains(got, "at least 3m54s in episode 1") {
		t.Error(got)
	}
}

// TestCut: the screen never exceeds its rows; the verdict, evidence, actions and commands are never
// cut.
func TestCut(t *testing.T) {
	a := fixture("worker-3", 1)
	n := &a.Nodes[0]
	long := strings.Repeat("Something that takes long to explain. ", 9)
	c := rules.Cause{ID: "a-cause", Title: "A cause", Level: rules.Likely, Confidence: 0.9, Explanation: long, Remediation: []string{"Do this.", "Do that."}, Commands: []string{"run-this", "run-that"},
		For: n.Breaches[0].Evidence[:1:1], Against: n.Breaches[0].Evidence}
	c.For = append(c.For, c.For[0], c.For[0])
	n.Causes = []rules.Cause{c, c, c, c}
	for range 9 {
		n.Contradictions = append(n.Contradictions, replay.Contradiction{What: long, Evidence: c.For[:1], Against: c.For[:1]})
		a.Nodes = append(a.Nodes, a.Nodes[0])
	}
	for columns, most := range map[int]int{60: 48, 80: 48, 100: 40, 200: 40} {
		var b bytes.Buffer
		if err := writeText(&b, fill(a), Options{Width: columns}); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		if rows := strings.Count(got, "\n") + 1; rows > most { // including the Mark
			t.Errorf("%d rows at %d columns:\n%s", rows, columns, got)
		}
		for _, part := range []string{"unhealthy from 2026", "Cause: A cause (likely, 90%", "\n  1 ", "\n  2 ", "\n  3 ", "1. Do this.", "2. Do that.", "$ run-this", "$ run-that", "--verbose"} {
			if !strings.Contains(got, part) {
				t.Errorf("%d columns: no %q in\n%s", columns, part, got)
			}
		}
	}
}
