package replay

import (
	"testing"
	"time"
)

// TestOneRelistTwice checks that a relist whose start a gauge shows and one that snapshots show running count
// as one if they may be the same.
func TestOneRelistTwice(t *testing.T) {
	const sec = int64(time.Second)
	seen := Relist{Start: Instant{At: 100 * sec, Slack: time.Second / 2}}
	between := &Node{Relists: []Relist{{Start: Instant{At: 95 * sec}, End: Instant{At: 96 * sec}}, {Start: Instant{At: 110 * sec, Slack: 20 * time.Second}, End: Instant{At: 140 * sec}}, {Start: Instant{At: 112 * sec}}}}
	if _, least, _ := between.RelistTotal(); least != 2 || len(between.Distinct()) != 2 {
		t.Errorf("one that snapshots measure and a line dates: at least %d relists, %d distinct, want 2", least, len(between.Distinct()))
	}
	for _, c := range []struct {
		name  string
		next  Instant
		ended Instant
		least int
	}{
		{"that may be the same", Instant{At: 147 * sec, Slack: 47 * time.Second}, Instant{}, 1},
		{"that began later", Instant{At: 147 * sec, Slack: 40 * time.Second}, Instant{}, 2},
		{"after the end of the first", Instant{At: 147 * sec, Slack: 47 * time.Second}, Instant{At: 101 * sec}, 2},
	} {
		first := seen
		first.End = c.ended
		n := &Node{Window: Window{End: 200 * sec}, Relists: []Relist{first, {Start: c.next, Outcome: OutcomeHung}}}
		if _, least, _ := n.RelistTotal(); least != c.least {
			t.Errorf("%s: at least %d relists, want %d", c.name, least, c.least)
		}
	}
}
