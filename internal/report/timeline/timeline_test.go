package timeline

import (
	"testing"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// TestThin: of many marks few are left, those that are wrong among them, and
// none is lost without being counted.
func TestThin(t *testing.T) {
	var ms []Mark
	for i := range 10_000 {
		m := Mark{Kind: Line, State: "I", Start: model.Time(i + 1)}
		if i%1000 == 7 {
			m.State = "E"
		}
		ms = append(ms, m)
	}
	out := Thin(ms, model.Window{Start: 1, End: 10_000}, 200)
	total, wrong := 0, 0
	for i, m := range out {
		total += 1 + m.More
		if m.State == "E" {
			wrong++
		}
		if i > 0 && m.Start < out[i-1].Start {
			t.Error("not by start")
		}
	}
	if len(out) > 210 || total != len(ms) || wrong != 10 {
		t.Errorf("%d marks stand for %d, %d of them errors", len(out), total, wrong)
	}
	if got := Thin(ms[:50], model.Window{}, 50); len(got) != 50 {
		t.Errorf("%d of 50", len(got))
	}
}

// TestRelistsEnd: a relist without a known end is a moment with a bound, unless
// it lasts at the end of the input.
func TestRelistsEnd(t *testing.T) {
	h := &model.History{Relists: []model.Relist{{Start: 10, Until: 20, Outcome: "unknown"}, {Start: 20, Outcome: "hung", Open: true}}}
	got := Collect(Relists, &model.Node{History: h})
	if m := got[0]; m.To(99) != 10 || m.LatestEnd != 20 {
		t.Errorf("the first is drawn to %d, and over by %d", m.To(99), m.LatestEnd)
	}
	if m := got[1]; m.To(99) != 99 || m.LatestEnd != 0 {
		t.Errorf("the open one is drawn to %d", m.To(99))
	}
}
