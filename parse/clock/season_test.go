package clock

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/plegforensics/plegforensics/parse"
)

// TestSeasons: the times of a process's lines go on over a change to or from summer time, and only there.
func TestSeasons(t *testing.T) {
	for _, c := range []struct{ name, local, utc, word string }{
		{"forward", "2026-03-29T01:59:40 2026-03-29T01:59:55 2026-03-29T03:00:05 2026-03-29T03:00:06", "01:59:40 01:59:55 02:00:05 02:00:06", ""},
		{"forward, by the rule of others", "2026-03-08T01:59:55 2026-03-08T03:00:00", "01:59:55 02:00:00", ""},
		{"back, the later hour is UTC", "2026-10-25T02:59:59 2026-10-25T02:00:04 2026-10-25T02:00:30", "01:59:59 02:00:04 02:00:30", ""},
		{"without a year", "10-25T02:59:59 10-25T02:00:04", "01:59:59 02:00:04", ""},
		{"half an hour", "2026-10-04T01:59:50 2026-10-04T02:30:00", "01:59:50 02:00:00", ""},
		{"another day", "2026-04-12T01:59:55 2026-04-12T03:00:05", "01:59:55 03:00:05", ""},
		{"another hour", "2026-03-29T05:59:55 2026-03-29T07:00:05", "05:59:55 07:00:05", ""},
		{"another week of a year that is known", "2026-03-22T01:59:55 2026-03-22T03:00:05", "01:59:55 03:00:05", ""},
		{"half of the hour before it", "2026-03-29T01:30:00 2026-03-29T03:30:00", "01:30:00 03:30:00", ""},
		{"less than an hour", "2026-03-29T01:59:59 2026-03-29T02:59:00", "01:59:59 02:59:00", ""},
		{"a longer pause than any", "2026-03-29T01:59:00 2026-03-29T03:02:05", "01:59:00 03:02:05", ""},
		{"as long as others", "2026-03-29T01:55:00 2026-03-29T01:58:30 2026-03-29T03:01:50", "01:55:00 01:58:30 02:01:50", ""},
		{"the heading names the zone", "2026-03-29T01:59:55 2026-03-29T03:00:05", "01:59:55 03:00:05", "-- Logs begin at Fri 2026-03-20 13:31:21 UTC, end at Sun 2026-03-29 04:00:00 UTC. --"},
	} {
		var pairs [][2]string
		for _, s := range strings.Fields(c.local) {
			pairs = append(pairs, [2]string{"", s})
		}
		f := &parse.File{Path: "k", ModTime: unix("2026-12-01T00:00:00Z")}
		b := lines(t, f, pairs...)
		mark := func(e *parse.Event) parse.Mark { return parse.Mark{Pos: e.Where(), Raw: e.Raw().Header} }
		n := len(b.Events)
		cover := &parse.Coverage{File: f, Origin: b.Events[0].Origin, FirstLine: mark(b.Events[0]), LastLine: mark(b.Events[n-1])}
		for i := 1; i < n; i++ {
			if d := abs(b.Events[i].Raw().Header.NS - b.Events[i-1].Raw().Header.NS); d >= parse.GapMin {
				cover.Gaps = append(cover.Gaps, parse.Gap{Last: mark(b.Events[i-1]), Next: mark(b.Events[i])})
			}
		}
		b.Coverage = append(b.Coverage, cover)
		if c.word != "" {
			b.Markers = append(b.Markers, &parse.Marker{Pos: parse.Pos{File: f}, Kind: parse.MarkHeader, Text: parse.PlainText(c.word)})
		}
		Resolve(b, Options{})
		var got []string
		for _, e := range b.Events {
			got = append(got, e.Time().Format(time.TimeOnly))
		}
		if s := strings.Join(got, " "); s != c.utc {
			t.Errorf("%s: %s, want %s", c.name, s, c.utc)
		}
	}
}

// TestSeasonsOfManyNodes: the lines that others wrote between two lines of a node are not read for each of its pauses.
func TestSeasonsOfManyNodes(t *testing.T) {
	const n, nodes = 40_000, 4_000
	took := func(gaps bool) time.Duration {
		var pairs [][2]string
		at := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
		for i := range n {
			pairs = append(pairs, [2]string{"", at.Add(time.Duration(i) * time.Second).Format("2006-01-02T15:04:05")})
		}
		f := &parse.File{Path: "k"}
		b := lines(t, f, pairs...)
		mark := func(i int) parse.Mark {
			return parse.Mark{Pos: b.Events[i].Where(), Raw: b.Events[i].Raw().Header}
		}
		for k := range nodes {
			origin := *b.Events[0].Origin
			origin.Source = parse.SrcKubelet
			cover := &parse.Coverage{File: f, Origin: &origin, FirstLine: mark(k), LastLine: mark(n - nodes + k)}
			for i := k + nodes; gaps && i < n; i += nodes {
				cover.Gaps = append(cover.Gaps, parse.Gap{Last: mark(i - nodes), Next: mark(i)})
			}
			b.Coverage = append(b.Coverage, cover)
		}
		began := time.Now()
		Resolve(b, Options{})
		return time.Since(began)
	}
	if without, with := took(false), took(true); with > 20*without+5*time.Second { // a minute and more if they are read
		t.Errorf("it takes %v with the pauses, %v without", with, without)
	}
}
