package stream

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay/simulate"
)

func at(seconds int) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second)
}

func message(seconds int, kind, state string) string {
	return fmt.Sprintf(`{"time":%q,"stream":{"type":%q,"container":"c1","pod":{"uid":"u1","name":"a","namespace":"ns","containers":[{"id":"c1","state":%q}]}}}`,
		at(seconds).Format(time.RFC3339Nano), kind, state)
}

func breaks(seconds, n int) []string {
	return strings.Split(strings.Repeat(fmt.Sprintf(`{"time":%q,"stream_error":"EOF"}`+"\n", at(seconds).Format(time.RFC3339Nano)), n), "\n")[:n]
}

func relist(seconds int, state string) string {
	return fmt.Sprintf(`{"time":%q,"list_seconds":0.01,"pods":[{"uid":"u1","name":"a","namespace":"ns","containers":[{"id":"c1","state":%q}]}]}`,
		at(seconds).Format(time.RFC3339Nano), state)
}

// played replays lines with evented PLEG. It returns the events of relists and messages
// in order, the player and the totals.
func played(t *testing.T, version string, lines ...string) (told []string, p *Player, totals simulate.Totals) {
	t.Helper()
	profile, err := pleg.New(version)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := simulate.NewSimulation(profile.UseEvented(), simulate.WhatIf{})
	if err != nil {
		t.Fatal(err)
	}
	p = NewPlayer(sim)
	tell := func(x *simulate.Relist) {
		for _, e := range x.Events {
			told = append(told, fmt.Sprintf("%d %s %v", int(time.Unix(0, x.Start).Sub(at(0)).Seconds()), e.Type, x.Stream))
		}
	}
	var feed simulate.Feed
	step := func(s *simulate.Snapshot) {
		for _, x := range sim.Step(s) {
			tell(x)
		}
	}
	for _, l := range lines {
		if !Is([]byte(l)) {
			feed.Line([]byte(l), parse.Pos{}, step)
			continue
		}
		feed.End(step)
		x, err := p.Play([]byte(l))
		if err != nil {
			t.Fatal(err)
		}
		if x != nil {
			tell(x)
		}
	}
	feed.End(step)
	_, totals, _ = sim.Finish()
	return told, p, totals
}

// TestMessages checks that up to 1.36 a message itself sends the events and the next
// relist none, and that from 1.37 on only a stop has an effect: the relist of its pod.
func TestMessages(t *testing.T) {
	lines := []string{relist(0, "running"), message(5, "STOPPED", "exited"), message(7, "STARTED", "running"), relist(9, "running")}
	for version, want := range map[string]string{
		"v1.28.0": "0 ContainerStarted false, 5 ContainerDied true, 7 ContainerStarted true",
		"v1.36.0": "0 ContainerStarted false, 5 ContainerDied true, 7 ContainerStarted true",
		"v1.37.0": "0 ContainerStarted false, 5 ContainerDied true, 9 ContainerStarted false",
		"v1.99.0": "0 ContainerStarted false, 5 ContainerDied true, 9 ContainerStarted false",
	} {
		told, p, _ := played(t, version, lines...)
		if got := strings.Join(told, ", "); got != want || p.Messages != 2 {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}

// TestFallback checks that after five breaks messages send nothing. Up to 1.36 the
// generic threshold of 3 m applies from then on, instead of 10 m; from 1.37 on it is
// always 3 m. Four breaks change nothing.
func TestFallback(t *testing.T) {
	for _, c := range []struct {
		version   string
		breaks    int
		unhealthy string // seconds
	}{
		{"v1.28.0", 5, "280 to 500"}, // 10 m had not passed when the stream broke at 200 s: 3 m from the relist at 100 s
		{"v1.28.0", 4, ""},
		{"v1.36.0", 5, "280 to 500"},
		{"v1.37.0", 5, "280 to 500"},
		{"v1.37.0", 4, "280 to 500"},
	} {
		lines := append([]string{relist(100, "running")}, breaks(200, c.breaks)...)
		lines = append(lines, message(205, "STOPPED", "exited"), relist(500, "exited"), relist(501, "exited"))
		told, p, totals := played(t, c.version, lines...)
		got := ""
		for _, u := range totals.Unhealthy {
			got = fmt.Sprintf("%.0f to %.0f", float64(u.From-at(0).UnixNano())/1e9, float64(u.To-at(0).UnixNano())/1e9)
		}
		if got != c.unhealthy {
			t.Errorf("%s, %d breaks: unhealthy %q, want %q", c.version, c.breaks, got, c.unhealthy)
		}
		if stopped := strings.Contains(strings.Join(told, ", "), "205 "); stopped != (c.breaks < 5) || p.Errors != c.breaks {
			t.Errorf("%s, %d breaks: %q", c.version, c.breaks, told)
		}
	}
	// The age may already exceed the new threshold when the kubelet gives up the
	// stream.
	_, _, totals := played(t, "v1.28.0", append(append([]string{relist(100, "running")}, breaks(400, 5)...), relist(450, "running"))...)
	if u := totals.Unhealthy; len(u) != 1 || u[0].From != at(400).UnixNano() || u[0].To != at(450).UnixNano()+1e7 {
		t.Errorf("given up at an age of 300 s: %+v", u)
	}
}

// TestNotesAndMistakes checks that an invalid message is an error, never an event.
func TestNotesAndMistakes(t *testing.T) {
	_, p, _ := played(t, "v1.28.0", append([]string{message(1, "STOPPED", "exited"), strings.Replace(message(2, "STOPPED", "exited"), `"pod"`, `"no"`, 1)}, breaks(3, 5)...)...)
	notes := strings.Join(p.Notes(), "; ")
	for _, want := range []string{"2 messages", "5 breaks", "fell back to the generic PLEG", "threshold of 3m0s counts", "1 messages without a sandbox status"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in %s", want, notes)
		}
	}
	for _, bad := range []string{`{"stream":`, `{"stream":{"type":"STOPPED"}}`, `{"time":"2026-03-01T12:00:00Z","stream":{"type":"EXPLODED"}}`, `{"time":"1960-01-01T00:00:00Z","stream":{}}`,
		`{"time":"2026-03-01T12:00:00Z","stream":null}`, `{"time":"2026-03-01T12:00:00Z","stream":[]}`} {
		if x, err := p.Play([]byte(bad)); err == nil || x != nil {
			t.Errorf("%s is taken: %+v", bad, x)
		}
	}
}
