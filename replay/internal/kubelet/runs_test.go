package kubelet

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

func TestProcessStart(t *testing.T) {
	got, ok := processStart("2021-01-09 19:48:52.460628029 +0800 CST m=+1199233.179")
	if want := time.Date(2020, 12, 26, 14, 41, 39, 0, time.UTC); !ok || time.Unix(0, got).UTC().Truncate(time.Second) != want {
		t.Errorf("process start %v, want %v", time.Unix(0, got).UTC(), want)
	}
	for _, s := range []string{"", "m=+1", "2021-01-09 19:48:52 +0800 CST", "x y z m=+5", "2021-01-09 19:48:52 +0800 CST m=+-5"} {
		if _, ok := processStart(s); ok {
			t.Errorf("%q gives a process start", s)
		}
	}
}

// TestReadings checks what a second monotonic reading shows: that the clock was set, unless the process ID may be that of
// another process, which began later.
func TestReadings(t *testing.T) {
	sigs := &parse.SigSet{Sigs: []*parse.Sig{{ID: parse.SigNotReady, Extract: func(msg string, dst []parse.Field) []parse.Field {
		return append(dst, parse.Field{Name: "heartbeat", Value: msg})
	}}}}
	for _, c := range []struct {
		pid     int
		second  string
		stepped time.Duration
	}{
		{4242, "2026-11-20 10:30:00 +0000 UTC m=+300.0", 25 * time.Minute},
		{1, "2026-11-20 10:30:00 +0000 UTC m=+300.0", 0},
		{0, "2026-11-20 10:30:00 +0000 UTC m=+300.0", 0},
		{1, "2026-11-20 10:30:00 +0000 UTC m=+2400.0", -10 * time.Minute},
	} {
		start := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC).UnixNano()
		r := Run{PID: c.pid, First: start + 1}
		for _, reading := range []string{"2026-11-20 10:10:00 +0000 UTC m=+600.0", c.second} {
			(&runCutter{}).note(&r, parse.NewEvent(&parse.EventKind{Sigs: sigs}, parse.PlainText(reading), parse.Event{}), host.KindNotReady)
		}
		if r.Stepped != c.stepped || r.Start.At != start {
			t.Errorf("process %d, %s: stepped %s, start %v", c.pid, c.second, r.Stepped, r.Start)
		}
	}
}
