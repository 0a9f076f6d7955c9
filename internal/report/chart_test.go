package report

import (
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/rules/query"
)

func rowOf(vs ...float64) query.Row {
	var r query.Row
	for i, v := range vs {
		r.Samples = append(r.Samples, query.Sample{T: int64(i) * 15_000, V: v})
	}
	return r
}

func TestChartRisesAndBreaks(t *testing.T) {
	lines := drawChart(rowOf(0, 1, 2, 3), 0, 45_000, 20)
	if len(lines) != chartHeight+1 {
		t.Fatalf("%d lines", len(lines))
	}
	top, bottom := []rune(lines[0]), []rune(lines[chartHeight-1])
	if top[len(top)-1] == 0x2800 || bottom[14] == 0x2800 {
		t.Errorf("the line does not run from the lower left to the upper right:\n%s", strings.Join(lines, "\n"))
	}
	full := strings.Count(strings.Join(lines, ""), "\u2800")
	gap := rowOf(0, 1, 2, 3, 4, 5)
	gap.Samples = append(gap.Samples[:2], gap.Samples[4:]...)
	broken := strings.Join(drawChart(gap, 0, 75_000, 20), "")
	if strings.Count(broken, "\u2800") <= full {
		t.Errorf("a gap was drawn over:\n%s", broken)
	}
}

func TestChartOfConstantAndNothing(t *testing.T) {
	if got := drawChart(rowOf(5, 5), 0, 15_000, 20); len(got) != chartHeight+1 {
		t.Errorf("constant: %q", got)
	}
	if got := drawChart(query.Row{}, 0, 0, 20); len(got) != 1 {
		t.Errorf("empty: %q", got)
	}
}

func TestAPIValues(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1.5: "1.5", 1e21: "1e+21", 1e-7: "1e-07", 1e20: "100000000000000000000"} {
		if got := value(v); got != want {
			t.Errorf("%g is %s, want %s", v, got, want)
		}
	}
	for ms, want := range map[int64]string{0: "0", 1500: "1.5", 1795217460123: "1795217460.123", 1795217460000: "1795217460"} {
		if got := apiTime(ms); got != want {
			t.Errorf("%d is %s, want %s", ms, got, want)
		}
	}
}
