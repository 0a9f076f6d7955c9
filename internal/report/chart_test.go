package report

import (
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/rules/query"
)

func rowOf(vs ...float64) model.QueryRow {
	var r model.QueryRow
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
	if got := drawChart(model.QueryRow{}, 0, 0, 20); len(got) != 1 {
		t.Errorf("empty: %q", got)
	}
}
