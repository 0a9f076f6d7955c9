package audit

import (
	"fmt"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestLists checks that packed lists give the same as plain ones, also clipped and
// unpacked.
func TestLists(t *testing.T) {
	n := auditNode(lifeLine(10, "started", "c"), plegLine(11.1, "ContainerStarted", "c"), lifeLine(20, "exited", "c", "exit_code", "3"),
		plegLine(21.1, "ContainerDied", "c"), plegLine(22, "PodSync", "x"), lineAt(30, parse.SrcKubelet, parse.SigDiscard))
	show := func(l replay.PodEvents) (s string) {
		for i, e := range l.All() {
			s += fmt.Sprintln(i, e.At, e.Pod, e.Type, e.Data, e.Status, e.Lag, e.HasLag, e.ExitCode != nil, e.Line, e.Change)
		}
		return s
	}
	for name, l := range map[string]replay.PodEvents{"observed": n.Observed, "audited": n.Audit.Events} {
		cut := l.Without(func(e replay.PodEvent) bool { return e.At < sinceStart(15) })
		for _, l := range []replay.PodEvents{l, cut} {
			if got, want := show(l.Unpacked().(replay.PodEvents)), show(l); got != want || l.Len() == 0 {
				t.Errorf("%s unpacked\n got %s\nwant %s", name, got, want)
			}
		}
		if got, want := show(l.Unpacked().(replay.PodEvents).Without(func(e replay.PodEvent) bool { return e.At < sinceStart(15) })), show(cut); got != want {
			t.Errorf("%s unpacked and cut\n got %s\nwant %s", name, got, want)
		}
	}
	if h := n.History.Unpacked().(replay.History); h.Len() != 2 || h.Plain[0].Subject != h.Plain[1].Subject || *h.Plain[1].ExitCode != 3 {
		t.Errorf("%d transitions of one container, want 2 that share their subject", h.Len())
	}
	if r := n.Requests.Unpacked().(replay.Requests); r.Len() != n.Requests.Len() || r.Item(0).Ended == nil {
		t.Errorf("%d requests, want %d with their ends", r.Len(), n.Requests.Len())
	}
	if l := (replay.List[replay.Request]{}); l.Len() != 0 || replay.ListOf(replay.Request{ID: "a"}).Item(0).ID != "a" {
		t.Error("an empty list has items, or a list lost its own")
	}
}
