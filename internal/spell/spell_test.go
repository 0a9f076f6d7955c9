package spell

import (
	"slices"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0},
		{"abc", "abd", 1}, {"abc", "abcd", 1}, {"abc", "ac", 1},
		{"jnos", "json", 2}, {"josn", "json", 1}, {"kitten", "sitting", 3},
	} {
		if got := Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q, %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := Distance(tt.b, tt.a); got != tt.want {
			t.Errorf("%q, %q: %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"analyze", "timeline", "events", "replay"}
	for word, want := range map[string]string{"analyse": "analyze", "event": "events", "reply": "replay", "xyz": "", "": "", "timelien": "timeline"} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if got := Close("event", []string{"event-channel-full", "events"}, 5); !slices.Equal(got, []string{"event-channel-full", "events"}) {
		t.Errorf("%q", got)
	}
	if got := Within("a", []string{"b", "a", "ab", "c"}, 1, 3); !slices.Equal(got, []string{"a", "b", "ab"}) {
		t.Errorf("%q", got)
	}
}
