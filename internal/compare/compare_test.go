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
	if unhealthy > 0 {
		n.Health = []replay.HealthSpan{{Span: replay.Span{From: 1, To: 1 + int64(unhealthy)}, State: replay.Unhealthy}}
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
