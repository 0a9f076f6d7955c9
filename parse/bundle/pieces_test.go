package bundle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// ticks returns kubelet lines with the given PID, one every three seconds from
// second from to second to after 10:00.
func ticks(pid, from, to int) (out []string) {
	for s := from; s < to; s += 3 {
		at := time.Date(2026, 11, 20, 10, 0, s, 123456000, time.UTC)
		out = append(out, fmt.Sprintf("I%s %7d kubelet.go:2447] \"SyncLoop (PLEG): event for pod\" pod=\"default/web\" event={\"ID\":\"24fb275d-4f41-4c43-8d45-000000000000\",\"Type\":\"ContainerStarted\",\"Data\":\"%d\"}\n",
			at.Format("0102 15:04:05.000000"), pid, s))
	}
	return out
}

// loadLog loads lines as one file.
func loadLog(t *testing.T, lines ...[]string) *parse.Bundle {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubelet.log")
	if err := os.WriteFile(path, []byte(strings.Join(slices.Concat(lines...), "")), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := Load(context.Background(), []string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPiecesOfALog: parts of a log in the wrong order are not clock steps, and the
// coverage is that of the right order; steps that the order of parts does not
// explain remain steps.
func TestPiecesOfALog(t *testing.T) {
	tests := []struct {
		name       string
		lines      [][]string
		jumps      int
		misplaced  bool
		to         int // last second covered, counted from 10:00
		gaps, line int
	}{
		{name: "in order", lines: [][]string{ticks(7, 0, 600)}, to: 597},
		{name: "the new part first", lines: [][]string{ticks(7, 300, 600), ticks(7, 0, 300)}, misplaced: true, to: 597, line: 101},
		{name: "three parts", lines: [][]string{ticks(7, 400, 600), ticks(7, 200, 400), ticks(7, 0, 200)}, misplaced: true, to: 598, line: 68},
		{name: "with a silence of its own", lines: [][]string{ticks(7, 300, 400), ticks(7, 450, 600), ticks(7, 0, 300)}, misplaced: true, to: 597, gaps: 1, line: 85},
		{name: "the clock set back by an hour", lines: [][]string{ticks(7, 3600, 3900), ticks(7, 300, 600)}, jumps: 1},
		{name: "the clock set back by two minutes", lines: [][]string{ticks(7, 0, 300), ticks(7, 181, 400)}, jumps: 1},
	}
	for _, tt := range tests {
		b := loadLog(t, tt.lines...)
		if got := len(b.Clocks[0].Jumps); got != tt.jumps {
			t.Errorf("%s: %d steps of the clock, want %d", tt.name, got, tt.jumps)
		}
		at := slices.IndexFunc(b.Warnings, func(w parse.Warning) bool { return strings.Contains(w.Msg, "wrong order") })
		if (at >= 0) != tt.misplaced || at >= 0 && int(b.Warnings[at].Line) != tt.line {
			t.Errorf("%s: warnings %v, want one of line %d: %v", tt.name, b.Warnings, tt.line, tt.misplaced)
		}
		if !tt.misplaced {
			continue
		}
		c := b.Coverage[0]
		second := func(m parse.Mark) int { return int(m.At / 1e9 % 3600) }
		if second(c.FirstLine) != 0 || second(c.LastLine) != tt.to || len(c.Gaps) != tt.gaps {
			t.Errorf("%s: covered from %d to %d with %d gaps", tt.name, second(c.FirstLine), second(c.LastLine), len(c.Gaps))
		}
	}
}

// TestRepeatsOfALog: lines that occur twice in one file count once and are not
// clock steps. A few lines repeated immediately are distinct lines.
func TestRepeatsOfALog(t *testing.T) {
	log := ticks(7, 0, 600)
	var each, some []string
	for i, l := range log {
		each = append(each, l, l)
		if some = append(some, l); i%20 < 3 {
			some = append(some, l)
		}
	}
	tests := []struct {
		name    string
		lines   [][]string
		records int
		copies  string // prefix of the warning, "" for none
		line    int
		jumps   int
	}{
		{name: "once", lines: [][]string{log}, records: 200},
		{name: "all of it twice", lines: [][]string{log, log}, records: 200, copies: "200 records", line: 201},
		{name: "three times", lines: [][]string{log, log, log}, records: 200, copies: "400 records", line: 201},
		{name: "each line twice", lines: [][]string{each}, records: 200, copies: "200 records", line: 2},
		{name: "parts that overlap", lines: [][]string{log[:150], log[100:]}, records: 200, copies: "50 records", line: 151},
		{name: "parts that overlap, newest first", lines: [][]string{log[100:], log[:150]}, records: 200, copies: "50 records", line: 201},
		{name: "some neighbours", lines: [][]string{some}, records: 230},
		{name: "the clock set back besides", lines: [][]string{log, ticks(7, 301, 500), log}, records: 267, copies: "200 records", line: 268, jumps: 1},
	}
	for _, tt := range tests {
		b := loadLog(t, tt.lines...)
		if len(b.Events) != tt.records || len(b.Clocks[0].Jumps) != tt.jumps {
			t.Errorf("%s: %d records and %d steps of the clock, want %d and %d", tt.name, len(b.Events), len(b.Clocks[0].Jumps), tt.records, tt.jumps)
		}
		at := slices.IndexFunc(b.Warnings, func(w parse.Warning) bool { return strings.Contains(w.Msg, "stand in it again") })
		switch {
		case (at >= 0) != (tt.copies != ""):
			t.Errorf("%s: warnings %v", tt.name, b.Warnings)
		case at >= 0 && (!strings.HasPrefix(b.Warnings[at].Msg, tt.copies) || int(b.Warnings[at].Line) != tt.line):
			t.Errorf("%s: warning %v, want %s, line %d", tt.name, b.Warnings[at], tt.copies, tt.line)
		}
	}
}
