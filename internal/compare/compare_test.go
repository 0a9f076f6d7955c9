package compare

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

func TestRates(t *testing.T) {
	for _, c := range []struct {
		na, nb int
		ta, tb time.Duration
		want   Verdict
	}{
		{0, 0, time.Hour, time.Hour, Same},
		{3, 4, time.Hour, time.Hour, Noise},
		{10, 100, time.Hour, time.Hour, Worse},
		{100, 10, time.Hour, time.Hour, Better},
		{0, 50, time.Hour, time.Hour, New},
		{50, 0, time.Hour, time.Hour, Gone},
		{0, 1, time.Hour, time.Hour, Noise},
		{100, 1000, time.Hour, 10 * time.Hour, Noise}, // the same rate over a longer time
		{5, 5, 0, time.Hour, Unknown},
	} {
		if got, why := rates(c.na, c.ta, c.nb, c.tb); got != c.want {
			t.Errorf("%d in %s, %d in %s: %s (%s), want %s", c.na, c.ta, c.nb, c.tb, got, why, c.want)
		}
	}
}

// TestBinomialTail uses a distribution that can be computed by hand: four coins.
func TestBinomialTail(t *testing.T) {
	if got := binomialTail(4, 4, 0.5); math.Abs(got-2.0/16) > 1e-12 {
		t.Errorf("four of four: %v", got)
	}
	if got := binomialTail(4, 2, 0.5); got != 1 {
		t.Errorf("two of four: %v", got)
	}
}

func TestShifted(t *testing.T) {
	short, long := make([]time.Duration, 30), make([]time.Duration, 30)
	for i := range short {
		short[i] = time.Duration(i) * time.Millisecond
		long[i] = time.Second + time.Duration(i)*time.Millisecond
	}
	if v, _ := shifted(short, long); v != Worse {
		t.Errorf("longer relists: %s", v)
	}
	if v, _ := shifted(long, short); v != Better {
		t.Errorf("shorter relists: %s", v)
	}
	if v, _ := shifted(short, short); v != Noise {
		t.Errorf("equal samples: %s", v)
	}
	if v, _ := shifted(short[:2], long[:2]); v != Noise {
		t.Errorf("two against two: %s", v)
	}
}

func node(name string, unhealthy time.Duration, causes ...string) model.Analyzed {
	n := model.Analyzed{Node: &replay.Node{Records: replay.Records{Name: name}, Window: replay.Window{Start: 1, End: int64(time.Hour)}}}
	n.Health = []replay.HealthSpan{{Span: replay.Span{From: 1 + int64(unhealthy), To: int64(time.Hour)}, State: replay.Healthy}}
	if unhealthy > 0 {
		n.Health = append([]replay.HealthSpan{{Span: replay.Span{From: 1, To: 1 + int64(unhealthy)}, State: replay.Unhealthy}}, n.Health...)
		n.Episodes = []replay.Episode{{ID: 1}}
	}
	n.Kubelet.Version = "v1." + name
	for _, c := range causes {
		n.Causes = append(n.Causes, rules.Cause{ID: c, Level: rules.Likely, Confidence: 0.7})
	}
	return n
}

func TestReports(t *testing.T) {
	res := Reports("good", &model.Analysis{Nodes: []model.Analyzed{node("a", 0, "old")}}, "bad", &model.Analysis{Nodes: []model.Analyzed{node("b", time.Minute, "new")}})
	if len(res.Pairs) != 1 {
		t.Fatalf("two single nodes do not pair: %+v", res)
	}
	want := map[string]Verdict{"time PLEG was unhealthy": Worse, "episodes": Worse, "kubelet version": Changed, "new": New, "old": Gone}
	for _, r := range res.Pairs[0].Rows {
		if w, ok := want[r.What]; ok {
			if r.Verdict != w {
				t.Errorf("%s is %s, want %s", r.What, r.Verdict, w)
			}
			delete(want, r.What)
		}
	}
	if len(want) > 0 {
		t.Errorf("missing rows: %v", want)
	}
	for _, f := range Formats {
		var out bytes.Buffer
		if err := f.Write(&out, res.Document(model.NewCleaner(nil)), report.Options{Width: 200, Verbose: true}); err != nil || !strings.Contains(out.String(), "unhealthy") {
			t.Errorf("%s: %v\n%s", f.Name, err, out.String())
		}
	}
}

// TestUnknownIsNeitherBetterNorWorse checks that a side is compared only by what it proves.
func TestUnknownIsNeitherBetterNorWorse(t *testing.T) {
	dark := node("b", 0)
	dark.Health[0].State = replay.HealthUnknown
	part := node("b", time.Minute) // may have been unhealthy for ten minutes more
	end := part.Health[1].To
	part.Health[1].To -= int64(10 * time.Minute)
	part.Health = append(part.Health, replay.HealthSpan{Span: replay.Span{From: part.Health[1].To, To: end}, State: replay.HealthUnknown})
	undated := node("b", 0)
	undated.Health = nil
	type cells [3]string
	for name, c := range map[string]struct {
		base, incident model.Analyzed
		time, count    cells
	}{
		"unknown after":     {node("a", time.Minute, "old"), dark, cells{"1m", "unknown", "unknown"}, cells{"1", "unknown", "unknown"}},
		"unknown before":    {dark, node("a", time.Minute, "new"), cells{"unknown", "1m", "unknown"}, cells{"unknown", "1", "unknown"}},
		"undated":           {node("a", time.Minute, "old"), undated, cells{"1m", "unknown", "unknown"}, cells{"1", "unknown", "unknown"}},
		"at least as much":  {node("a", 0), part, cells{"0s", "at least 1m", "worse"}, cells{"0", "at least 1", "worse"}},
		"within the bounds": {node("a", 5*time.Minute), part, cells{"5m", "at least 1m", "unknown"}, cells{"1", "at least 1", "unknown"}},
		"less at most":      {node("a", 15*time.Minute), part, cells{"15m", "at least 1m", "better"}, cells{"1", "at least 1", "unknown"}},
	} {
		res := Reports("good", &model.Analysis{Nodes: []model.Analyzed{c.base}}, "bad", &model.Analysis{Nodes: []model.Analyzed{c.incident}})
		for i, want := range []cells{c.time, c.count} {
			if r := res.Pairs[0].Rows[i]; (cells{r.Baseline, r.Incident, string(r.Verdict)}) != want || (r.Verdict == Unknown) != strings.Contains(r.Why, "nothing tells of") {
				t.Errorf("%s: got %+v, want %v", name, r, want)
			}
		}
		for _, r := range res.Pairs[0].Rows {
			if r.Group == "causes" && r.Verdict != Unknown {
				t.Errorf("%s: cause %s is %s", name, r.What, r.Verdict)
			}
		}
	}
}

// TestLongestRelist checks that relists of unknown length bound the longest one.
func TestLongestRelist(t *testing.T) {
	with := func(unhealthy, length time.Duration, bounded ...replay.Bounded) model.Analyzed {
		n := node("a", unhealthy)
		n.Kubelet.Threshold = 3 * time.Minute
		start := replay.Instant{At: int64(time.Minute)}
		n.Relists = []replay.Relist{{Start: start, End: replay.Instant{At: start.At + int64(length)}}}
		n.Bounded = bounded
		return n
	}
	others := replay.Bounded{From: 1, To: int64(30 * time.Minute), CountMin: 1, CountMax: 1000}
	counted := replay.Bounded{From: 1, To: int64(30 * time.Minute), CountMin: 1, CountMax: 1000, Counted: true, Sum: time.Minute}
	for name, c := range map[string]struct {
		base, incident model.Analyzed
		want           Verdict
	}{
		"both known":                        {with(0, time.Second), with(0, time.Minute), Worse},
		"others in the incident":            {with(0, 2*time.Minute), with(0, time.Second, others), Unknown},
		"others in a healthy baseline":      {with(0, time.Second, others), with(time.Minute, 4*time.Minute), Worse},
		"others in the baseline":            {with(0, time.Second, others), with(0, 2*time.Minute), Unknown},
		"others that the metrics count":     {with(0, time.Minute), with(0, time.Second, counted), Better},
		"others in an unhealthy baseline":   {with(time.Minute, time.Second, others), with(time.Minute, 4*time.Minute), Unknown},
		"the same length, and others there": {with(0, time.Minute), with(0, time.Minute, others), Unknown},
	} {
		rows := relists(&c.base, &c.incident)
		if got := rows[1]; got.What != "longest" || got.Verdict != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}

func TestPairsByName(t *testing.T) {
	res := Reports("good", &model.Analysis{Nodes: []model.Analyzed{node("a", 0), node("b", 0)}}, "bad", &model.Analysis{Nodes: []model.Analyzed{node("b", 0), node("c", 0)}})
	if len(res.Pairs) != 1 || res.Pairs[0].Baseline != "b" || len(res.Notes) != 2 {
		t.Errorf("got %+v", res)
	}
}

// TestRulesOfNewerVersions: for a kubelet newer than any known, every format says which version's
// rules were applied.
func TestRulesOfNewerVersions(t *testing.T) {
	for version, want := range map[string]bool{"v1.99.0": true, "v1.37.0": false} {
		b := node("a", 0)
		b.Kubelet.Version = version
		res := Reports("good", &model.Analysis{Nodes: []model.Analyzed{node("a", 0)}}, "bad", &model.Analysis{Nodes: []model.Analyzed{b}})
		for _, f := range Formats {
			var out bytes.Buffer
			if err := f.Write(&out, res.Document(model.NewCleaner(nil)), report.Options{Width: 200}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(out.String(), "newest known rules (v1.37) used"); got != want {
				t.Errorf("%s of %s: says whose rules: %v", f.Name, version, got)
			}
		}
	}
}
