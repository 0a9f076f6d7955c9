package clock

import (
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// TestRepeated: the order of the lines tells which time it is in the hour that the clocks
// show twice; where it does not, a warning says so.
func TestRepeated(t *testing.T) {
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skip("no zone data")
	}
	for _, c := range []struct {
		name, local, utc string
		doubt            bool
	}{
		{"over the step", "00:59:00 01:30:00 01:59:50 01:00:05 01:59:00 02:00:01", "04:59:00 05:30:00 05:59:50 06:00:05 06:59:00 07:00:01", false},
		{"from within", "01:54:00 01:59:59 01:00:14 01:04:00", "05:54:00 05:59:59 06:00:14 06:04:00", false},
		{"goes on from before", "00:58:00 01:01:00 01:05:00", "04:58:00 05:01:00 05:05:00", false},
		{"goes on after", "01:50:00 01:58:00 02:01:00", "06:50:00 06:58:00 07:01:00", false},
		{"nothing tells", "01:10:00 01:20:00", "05:10:00 05:20:00", true},
		{"an hour is missing", "00:59:00 01:01:00 01:59:00 02:00:00", "04:59:00 05:01:00 05:59:00 07:00:00", true},
		{"lines of two writers", "01:30:01 01:30:00 01:30:02 02:29:00", "05:30:01 05:30:00 05:30:02 07:29:00", true},
	} {
		f := &parse.File{Path: "k"}
		kind := parse.EventKind{File: f, Sigs: sigs, Origin: &parse.Origin{Source: parse.SrcKubelet}}
		b := &parse.Bundle{}
		for i, s := range strings.Fields(c.local) {
			at, _ := time.Parse(time.DateTime, "2026-11-01 "+s)
			e := parse.NewEvent(&kind, parse.PlainText("x"), parse.Event{Offset: int64(i)})
			e.SetRaw(parse.RawClocks{Header: parse.Clock{NS: at.UnixNano(), Res: time.Microsecond, Lack: parse.LackZone, Set: true}})
			b.Events = append(b.Events, e)
		}
		Resolve(b, Options{Zone: loc})
		var got []string
		for _, e := range b.Events {
			got = append(got, e.Time().Format(time.TimeOnly))
		}
		if s := strings.Join(got, " "); s != c.utc || len(b.Warnings) > 0 != c.doubt {
			t.Errorf("%s: %s, want %s; warnings %v", c.name, s, c.utc, b.Warnings)
		}
	}
}
