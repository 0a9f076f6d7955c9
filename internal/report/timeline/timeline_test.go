package timeline

import (
	"fmt"
	"slices"
	"testing"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// TestThin: of many marks few are left, the bad ones among them, and every omitted one is counted.
func TestThin(t *testing.T) {
	var ms []Mark
	for i := range 10_000 {
		m := Mark{Kind: Line, State: "I", Start: model.Time(i + 1)}
		if i%1000 == 7 {
			m.State = "E"
		}
		ms = append(ms, m)
	}
	out := thin(ms, model.Window{Start: 1, End: 10_000}, 200)
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
	if got := thin(ms[:50], model.Window{}, 50); len(got) != 50 {
		t.Errorf("%d of 50", len(got))
	}
}

// TestRelistsEnd: a relist without a known end is a moment with an upper bound, unless it still
// runs at the end of the input.
func TestRelistsEnd(t *testing.T) {
	h := &model.History{Relists: model.Seq[model.Relist](slices.Values([]model.Relist{{Start: 10, Until: 20, Outcome: "unknown"}, {Start: 20, Outcome: "hung", Open: true}}))}
	got := Collect(Relists, &model.Node{History: h})
	if m := got[0]; m.To(99) != 10 || m.LatestEnd != 20 {
		t.Errorf("the first is drawn to %d, and over by %d", m.To(99), m.LatestEnd)
	}
	if m := got[1]; m.To(99) != 99 || m.LatestEnd != 0 {
		t.Errorf("the open one is drawn to %d", m.To(99))
	}
}

// TestThinKeepsLongest: thinning never drops the longest relist.
func TestThinKeepsLongest(t *testing.T) {
	var ms []Mark
	for i := range 50_000 {
		took := float64(i%97) / 10
		if i%3 == 0 {
			took += 10 // a long one
		}
		if i == 44_444 {
			took = 400
		}
		ms = append(ms, Mark{Kind: Relist, State: []string{"ok", "list-failed"}[i%2], Start: model.Time(i * 1e9), Seconds: &took})
	}
	longest := 0.0
	out := thin(ms, model.Window{Start: 1, End: 50_000 * 1e9}, 200)
	for _, m := range out {
		longest = max(longest, *m.Seconds)
	}
	if longest != 400 || len(out) > 210 {
		t.Errorf("%d marks, longest %g", len(out), longest)
	}
}

// TestPodsBounded: thousands of pods do not make thousands of lanes, and every omitted event is
// counted.
func TestPodsBounded(t *testing.T) {
	var events []model.PodEvent
	for i := range 30_000 {
		pod, status := fmt.Sprint("ns/pod-", i%9000), "matched"
		if i%9000 == 8999 {
			status = "missing"
		}
		events = append(events, model.PodEvent{Time: model.Time(i + 1), Pod: &pod, Status: status})
	}
	lanes := Pods(&model.Node{History: &model.History{Events: model.Seq[model.PodEvent](slices.Values(events))}, Window: model.Window{Start: 1, End: 30_000}}, 2000)
	marks, total := 0, 0
	for _, l := range lanes {
		for _, m := range l.Marks {
			marks, total = marks+1, total+1+m.More
		}
	}
	if len(lanes) != 401 || marks > 10_000 || total != len(events) || lanes[0].Name != "ns/pod-8999" || lanes[400].Name != "8600 more pods" {
		t.Errorf("%d lanes, %d marks for %d, from %s to %s", len(lanes), marks, total, lanes[0].Name, lanes[len(lanes)-1].Name)
	}
}

// TestThinnerHolds: a thinner never holds more marks than about what it returns.
func TestThinnerHolds(t *testing.T) {
	one := newThinner(model.Window{Start: 0, End: 1e6}, 100)
	for i := range 100_000 {
		if one.add(Mark{Kind: []string{Line, Failed}[i%2], Start: model.Time(i * 7919 % 1e6), State: "E"}); len(one.out) > 200 {
			t.Fatalf("%d marks are held after %d", len(one.out), i)
		}
	}
}

// thin returns what a thinner leaves of ms.
func thin(ms []Mark, w model.Window, most int) []Mark {
	t := newThinner(w, most)
	for _, m := range ms {
		t.add(m)
	}
	return t.marks()
}
