package clock

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

var sigs = &parse.SigSet{Sigs: []*parse.Sig{{ID: "x"}}}

// reading parses a clock reading: "01-02T15:04:05" lacks the year; a Z or an offset
// at the end states the zone.
func reading(t *testing.T, s string) parse.Clock {
	t.Helper()
	if s == "" {
		return parse.Clock{}
	}
	for _, l := range []struct {
		layout string
		lack   parse.Lack
	}{
		{"2006-01-02T15:04:05.999999999Z07:00", 0},
		{"2006-01-02T15:04:05.999999999", parse.LackZone},
		{"01-02T15:04:05.999999999", parse.LackZone | parse.LackYear},
	} {
		at, err := time.Parse(l.layout, s)
		if err != nil && l.lack&parse.LackYear != 0 {
			at, err = time.Parse("2006-"+l.layout, "1972-"+s)
		}
		if err != nil {
			continue
		}
		if l.lack&parse.LackYear != 0 {
			at = time.Date(parse.YearUnknown, at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
		}
		return parse.Clock{NS: at.UnixNano(), Res: time.Second, Lack: l.lack, Set: true}
	}
	t.Fatalf("bad reading %q", s)
	return parse.Clock{}
}

// lines returns a bundle of one file with one event per pair of envelope and header
// readings.
func lines(t *testing.T, f *parse.File, pairs ...[2]string) *parse.Bundle {
	b := &parse.Bundle{Files: []*parse.File{f}}
	o := &parse.Origin{Source: parse.SrcKubelet}
	for i, p := range pairs {
		clocks := parse.RawClocks{Envelope: reading(t, p[0]), Header: reading(t, p[1])}
		e := parse.NewEvent(&parse.EventKind{File: f, Sigs: sigs, Origin: o, Headed: clocks.Header.Set}, parse.Text{}, parse.Event{Offset: int64(i), Line: uint32(i + 1)})
		e.SetRaw(clocks)
		b.Events = append(b.Events, e)
	}
	return b
}

func times(b *parse.Bundle) (at, arrived []string) {
	for _, e := range b.Events {
		at = append(at, e.Time().Format("2006-01-02T15:04:05"))
		arrived = append(arrived, time.Unix(0, e.Arrived).UTC().Format("2006-01-02T15:04:05"))
	}
	return at, arrived
}

func unix(s string) int64 {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t.UnixNano()
}

func TestResolve(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no zone data")
	}
	cases := []struct {
		name    string
		mod     string
		opt     Options
		pairs   [][2]string
		at      []string
		arrived []string
		basis   parse.Basis
	}{
		{"klog alone, everything given", "", Options{Zone: time.UTC, Year: 2026},
			[][2]string{{"", "11-20T23:33:20"}}, []string{"2026-11-20T23:33:20"}, nil, parse.Stated},
		{"year from the modification time", "2021-01-05T00:00:00Z", Options{},
			[][2]string{{"", "12-31T23:00:00"}, {"", "01-01T01:00:00"}},
			[]string{"2020-12-31T23:00:00", "2021-01-01T01:00:00"}, nil, parse.YearGuessed},
		{"line after the year's turn out of order", "2021-01-05T00:00:00Z", Options{},
			[][2]string{{"", "01-01T00:00:01"}, {"", "12-31T23:59:59"}, {"", "01-01T00:00:02"}},
			[]string{"2021-01-01T00:00:01", "2020-12-31T23:59:59", "2021-01-01T00:00:02"}, nil, parse.YearGuessed},
		{"29 February", "2020-03-05T00:00:00Z", Options{},
			[][2]string{{"", "02-29T12:00:00"}}, []string{"2020-02-29T12:00:00"}, nil, parse.YearGuessed},
		{"containerised kubelet logs in UTC, journal is local", "", Options{Zone: berlin, Year: 2026},
			[][2]string{{"07-01T14:00:00", "07-01T12:00:00"}}, []string{"2026-07-01T12:00:00"},
			[]string{"2026-07-01T12:00:00"}, parse.Stated},
		{"envelope states its zone", "", Options{Year: 2026},
			[][2]string{{"2026-07-01T14:00:00+02:00", "07-01T14:00:00"}}, []string{"2026-07-01T12:00:00"},
			[]string{"2026-07-01T12:00:00"}, parse.ZoneInferred},
		{"message states its zone", "", Options{},
			[][2]string{{"02-20T09:28:54", "2019-02-20T14:28:54Z"}}, []string{"2019-02-20T14:28:54"},
			[]string{"2019-02-20T14:28:54"}, parse.Stated},
		{"journal stalled for six minutes is no zone", "2020-12-01T00:00:00Z", Options{Zone: time.UTC},
			[][2]string{{"10-08T16:29:51", "10-08T16:23:14"}, {"10-08T16:29:51", "10-08T16:23:34"}},
			[]string{"2020-10-08T16:23:14", "2020-10-08T16:23:34"},
			[]string{"2020-10-08T16:29:51", "2020-10-08T16:29:51"}, parse.YearGuessed},
		{"header and envelope on both sides of new year", "2021-06-01T00:00:00Z", Options{Zone: time.UTC},
			[][2]string{{"01-01T00:00:00", "12-31T23:59:59"}}, []string{"2020-12-31T23:59:59"},
			[]string{"2021-01-01T00:00:00"}, parse.YearGuessed},
		{"29 February proves a leap year", "2026-03-05T00:00:00Z", Options{},
			[][2]string{{"", "02-29T12:00:00"}, {"", "03-01T12:00:00"}},
			[]string{"2024-02-29T12:00:00", "2024-03-01T12:00:00"}, nil, parse.YearGuessed},
		{"framings with and without a zone", "", Options{},
			[][2]string{{"2022-04-04T15:28:36+05:00", "04-04T15:28:36"}, {"04-04T15:28:40", "04-04T15:28:40"}, {"2022-04-04T10:28:45Z", "04-04T15:28:45"}},
			[]string{"2022-04-04T10:28:36", "2022-04-04T10:28:40", "2022-04-04T10:28:45"},
			[]string{"2022-04-04T10:28:36", "2022-04-04T10:28:40", "2022-04-04T10:28:45"}, parse.YearInferred},
		{"lines between others that state their zone", "", Options{},
			[][2]string{{"2022-04-04T15:28:36+05:00", ""}, {"", "04-04T15:28:38"}, {"", "04-04T15:28:40"}, {"2022-04-04T10:28:45Z", ""}},
			[]string{"2022-04-04T10:28:36", "2022-04-04T10:28:38", "2022-04-04T10:28:40", "2022-04-04T10:28:45"}, nil, parse.Stated},
		{"lines between others too far apart to tell the zone", "", Options{},
			[][2]string{{"2022-04-04T10:28:36Z", ""}, {"", "04-04T11:28:38"}, {"2022-04-04T13:28:45Z", ""}},
			[]string{"2022-04-04T10:28:36", "2022-04-04T11:28:38", "2022-04-04T13:28:45"}, nil, parse.Stated},
		{"summer time ends, the framing states its zone", "", Options{},
			[][2]string{{"2023-10-29T02:59:50+02:00", "10-29T02:59:50"}, {"2023-10-29T02:00:05+01:00", "10-29T02:00:05"}, {"2023-10-29T02:00:35+01:00", "10-29T02:00:35"}},
			[]string{"2023-10-29T00:59:50", "2023-10-29T01:00:05", "2023-10-29T01:00:35"},
			[]string{"2023-10-29T00:59:50", "2023-10-29T01:00:05", "2023-10-29T01:00:35"}, parse.ZoneInferred},
		{"summer time begins, the framing states its zone", "", Options{},
			[][2]string{{"2023-03-26T01:59:50+01:00", "03-26T01:59:50"}, {"2023-03-26T03:00:05+02:00", "03-26T03:00:05"}},
			[]string{"2023-03-26T00:59:50", "2023-03-26T01:00:05"}, nil, parse.ZoneInferred},
		{"summer time begins in the zone of the framing, and the message's clock is another", "", Options{Year: 2023, Zone: berlin},
			[][2]string{{"03-26T01:59:50", "03-26T00:59:50"}, {"03-26T03:00:05", "03-26T01:00:05"}},
			[]string{"2023-03-26T00:59:50", "2023-03-26T01:00:05"}, nil, parse.Stated},
		{"summer time ends in the zone of the framing, and the message's clock is another", "", Options{Year: 2023, Zone: berlin},
			[][2]string{{"10-29T01:59:50", "10-28T23:59:50"}, {"10-29T02:59:50", "10-29T00:59:50"}, {"10-29T02:00:05", "10-29T01:00:05"}, {"10-29T03:00:05", "10-29T02:00:05"}},
			[]string{"2023-10-28T23:59:50", "2023-10-29T00:59:50", "2023-10-29T01:00:05", "2023-10-29T02:00:05"}, nil, parse.Stated},
		{"all lines are of the hour that is shown twice", "", Options{Year: 2023, Zone: berlin},
			[][2]string{{"10-29T02:59:50", "10-29T00:59:50"}, {"10-29T02:00:05", "10-29T01:00:05"}},
			[]string{"2023-10-29T00:59:50", "2023-10-29T01:00:05"}, nil, parse.Stated},
		{"a log that was held up for an hour, and less and less", "", Options{},
			[][2]string{{"2023-10-29T10:00:00Z", "10-29T10:00:00"}, {"2023-10-29T11:30:00Z", "10-29T10:30:00"}, {"2023-10-29T11:30:00Z", "10-29T11:20:00"}},
			[]string{"2023-10-29T10:00:00", "2023-10-29T10:30:00", "2023-10-29T11:20:00"}, nil, parse.ZoneInferred},
		{"a dated line, and lines without any time before the next", "", Options{},
			[][2]string{{"2020-12-08T18:33:53", ""}, {}, {}, {"", "12-08T18:33:55"}},
			[]string{"2020-12-08T18:33:53", "0001-01-01T00:00:00", "0001-01-01T00:00:00", "2020-12-08T18:33:55"}, nil, parse.ZoneGuessed},
		{"year bounded by the moment of analysis", "", Options{Now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)},
			[][2]string{{"", "11-20T23:33:20"}}, []string{"2025-11-20T23:33:20"}, nil, parse.YearGuessed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := &parse.File{Path: "kubelet.log"}
			if c.mod != "" {
				f.ModTime = unix(c.mod)
			}
			b := lines(t, f, c.pairs...)
			Resolve(b, c.opt)
			at, arrived := times(b)
			for i := range at {
				if at[i] != c.at[i] {
					t.Errorf("line %d at %s, want %s", i+1, at[i], c.at[i])
				}
				if c.arrived != nil && arrived[i] != c.arrived[i] {
					t.Errorf("line %d arrived %s, want %s", i+1, arrived[i], c.arrived[i])
				}
			}
			if len(b.Clocks[0].Jumps) > 0 {
				t.Errorf("the clock is said to have been stepped: %v", b.Clocks[0].Jumps)
			}
			if got := b.Events[0].Basis; got != c.basis {
				t.Errorf("basis %v, want %v", got, c.basis)
			}
		})
	}
}

func TestReversed(t *testing.T) {
	f := &parse.File{Path: "k", ModTime: unix("2021-01-05T00:00:00Z")}
	b := lines(t, f, [2]string{"", "01-01T01:00:00"}, [2]string{"", "12-31T23:00:00"})
	b.Coverage = []*parse.Coverage{{File: f, Reversed: true}}
	Resolve(b, Options{})
	at, _ := times(b)
	if at[0] != "2021-01-01T01:00:00" || at[1] != "2020-12-31T23:00:00" {
		t.Errorf("got %v", at)
	}
	if !b.Clocks[0].Reversed {
		t.Error("not reported as reversed")
	}
}

// TestBareLines: if messages state their zone and other lines have only the
// framing's clock, the report says how the framing's zone is known.
func TestBareLines(t *testing.T) {
	f := &parse.File{Path: "journal"}
	b := lines(t, f, [2]string{"03-09T10:00:00", "2026-03-09T09:00:00Z"}, [2]string{"03-09T10:00:05", ""})
	Resolve(b, Options{})
	if at, _ := times(b); at[1] != "2026-03-09T09:00:05" {
		t.Errorf("got %v", at)
	}
	if z := b.Clocks[0].Header; z.Name != "+01:00" {
		t.Errorf("the zone is said to be %+v", z)
	}
}

// TestHeading: the heading of a log file gives the year to its lines.
func TestHeading(t *testing.T) {
	f := &parse.File{Path: "k", ModTime: unix("2026-11-21T00:00:00Z")}
	b := lines(t, f, [2]string{"", "08-20T20:28:30"}, [2]string{"", "08-21T00:00:15"})
	b.Markers = []*parse.Marker{{Pos: parse.Pos{File: f, Offset: -1}, Kind: parse.MarkHeader, Raw: reading(t, "2019-08-20T20:28:26")}}
	Resolve(b, Options{})
	if at, _ := times(b); at[1] != "2019-08-21T00:00:15" {
		t.Errorf("got %v", at)
	}
	if e := b.Events[0]; e.Basis == parse.YearGuessed {
		t.Error("the year counts as guessed")
	}
}

// TestJournalBegins: journalctl's header names the oldest entry of the journal,
// which may be almost a year older than the first line shown; no line is older.
func TestJournalBegins(t *testing.T) {
	for _, tt := range []struct{ header, want string }{
		{"-- Logs begin at Mon 2022-05-30 17:37:44 PDT. --", "2023-04-16T22:26:30"},
		{"-- Logs begin at Mon 2022-05-30 17:37:44 UTC, end at Wed 2025-08-20 22:30:00 UTC. --", "2025-04-16T22:26:30"}, // which of three years is assumed
		{"-- Journal begins at Mon 2022-05-30 17:37:44 UTC, ends at Sun 2023-04-16 22:30:00 UTC. --", "2023-04-16T22:26:30"},
		{"   Active: active (running) since Mon 2022-05-30 17:37:44 UTC; 10 months ago", "2023-04-16T22:26:30"},
		{"   Active: active (running) since Mon 2022-05-30 17:37:44 UTC; 1 year 2 months ago", "2023-04-16T22:26:30"},
		{"   Active: active (running) since Mon 2022-05-30 17:37:44 UTC; 2 years 10 months ago", "2025-04-16T22:26:30"}, // assumed, too
		{"   Active: failed (Result: start-limit) since Mon 2022-05-30 17:37:44 UTC; 8s ago", "2022-04-16T22:26:30"},
		{"Log file created at: 2022/05/30 17:37:44", "2022-04-16T22:26:30"},
	} {
		f := &parse.File{Path: "k", ModTime: unix("2026-11-21T00:00:00Z")}
		b := lines(t, f, [2]string{"04-16T22:26:30", ""}, [2]string{"04-16T22:26:35", ""})
		b.Markers = []*parse.Marker{{Pos: parse.Pos{File: f, Offset: -1}, Kind: parse.MarkHeader, Text: parse.PlainText(tt.header), Raw: reading(t, "2022-05-30T17:37:44")}}
		Resolve(b, Options{})
		if at, _ := times(b); at[0] != tt.want || (b.Events[0].Basis == parse.YearGuessed) != strings.HasPrefix(tt.want, "2025") {
			t.Errorf("%s: got %v, %v", tt.header, at, b.Events[0].Basis)
		}
	}
}

// TestZoneOfFraming: if a header line names a zone without an offset, the framing
// is in that zone, and a message clock hours away from it is in UTC.
func TestZoneOfFraming(t *testing.T) {
	f := &parse.File{Path: "k"}
	b := lines(t, f, [2]string{"05-18T21:57:42", "05-18T12:57:42"}, [2]string{"05-18T22:02:11", "05-18T13:02:11"})
	b.Markers = []*parse.Marker{{Pos: parse.Pos{File: f, Offset: -1}, Kind: parse.MarkHeader, Raw: reading(t, "2017-05-18T21:56:57"),
		Text: parse.PlainText("   Active: active (running) since Thu 2017-05-18 21:56:57 KST; 47min ago")}}
	Resolve(b, Options{})
	if at, _ := times(b); at[1] != "2017-05-18T13:02:11" {
		t.Errorf("got %v", at)
	}
}

func TestZoneFact(t *testing.T) {
	f, z := &parse.File{Path: "a/kubelet.log"}, &parse.File{Path: "a/timedatectl"}
	b := lines(t, f, [2]string{"11-20T18:33:20", ""})
	b.Facts = []*parse.Fact{
		{Pos: parse.Pos{File: z, Line: 4}, Key: keyZone, Value: "EST", Num: -5 * 3600},
		{Pos: parse.Pos{File: z, Line: 1}, Key: keyCollected, Raw: reading(t, "2026-11-21T00:00:00")},
	}
	Resolve(b, Options{})
	if at, _ := times(b); at[0] != "2026-11-20T23:33:20" {
		t.Errorf("got %v", at)
	}
	if e := b.Events[0]; e.Basis != parse.YearInferred {
		t.Errorf("basis %v", e.Basis)
	}
	if b.Facts[0].Basis == parse.NoTime {
		t.Error("fact without a clock is not dated by the collection time")
	}
}

// TestHeartbeat: the kubelet prints its own heartbeat with year and zone.
func TestHeartbeat(t *testing.T) {
	sig := &parse.SigSet{Sigs: []*parse.Sig{{ID: parse.SigNotReady, Extract: func(_ string, dst []parse.Field) []parse.Field {
		return append(dst, parse.Field{Name: "heartbeat", Value: "2021-01-09 19:48:52.460628029 +0800 CST m=+1199233.179"})
	}}}}
	f := &parse.File{Path: "k"}
	b := lines(t, f, [2]string{"", "01-09T19:48:52.460710"}, [2]string{"", "01-09T19:49:00"})
	b.Events[0].EventKind = &parse.EventKind{File: b.Events[0].File, Origin: b.Events[0].Origin, Sigs: sig}
	Resolve(b, Options{})
	if at, _ := times(b); at[1] != "2021-01-09T11:49:00" {
		t.Errorf("got %v", at)
	}
}

// TestRetry: a volume operation that failed gives year and zone by the end of its wait and by its
// length.
func TestRetry(t *testing.T) {
	sig := &parse.SigSet{Sigs: []*parse.Sig{{ID: parse.SigRetry, Extract: func(_ string, dst []parse.Field) []parse.Field {
		return append(dst, parse.Field{Name: "until", Value: "2019-07-23 09:49:44.00763596 -0700"}, parse.Field{Name: "after", Value: "2m2s"})
	}}}}
	b := lines(t, &parse.File{Path: "k"}, [2]string{"", "07-23T09:47:42.007695"}, [2]string{"", "07-23T09:48:00"})
	b.Events[0].EventKind = &parse.EventKind{File: b.Events[0].File, Origin: b.Events[0].Origin, Sigs: sig}
	Resolve(b, Options{})
	if at, _ := times(b); at[1] != "2019-07-23T16:48:00" {
		t.Errorf("got %v", at)
	}
}

// TestQuotedYear: a date in the text within a day of the line's own clock gives the
// year, other dates do not; the latest of several wins. One that the line states as its own moment gives its zone, too;
// one in UTC that is hours old, or that states no zone, does not.
func TestQuotedYear(t *testing.T) {
	for text, want := range map[string]string{
		"stopped posting 2016-02-11 14:22:20 -0800 PST":                               "2016-02-11T14:26:23",
		"created 2015-02-11 14:00:00 +0000 UTC, not ready since 2016-02-11T22:22:20Z": "2016-02-11T14:26:23",
		"created 2015-06-11 14:00:00 +0000 UTC":                                       "2026-02-11T14:26:23",
		"not ready since 2016-02-11 14:25:43 -0800 PST":                               "2016-02-11T22:26:23",
		"not ready since 2016-02-11 10:25:43 -0800 PST":                               "2016-02-11T14:26:23",
		"not ready since 2016-02-11T14:25:43+01:00":                                   "2016-02-11T13:26:23",
		"not ready since 2016-02-11 14:25:43":                                         "2016-02-11T14:26:23",
		"not ready since 2016-02-11 14:25:43 +0000 UTC":                               "2016-02-11T14:26:23",
		"at 2016-02-11 14:26:22.99 -0800 PST, at 14:26:23 there":                      "2016-02-11T22:26:23",
	} {
		b := lines(t, &parse.File{Path: "k", ModTime: unix("2026-11-23T00:00:00Z")}, [2]string{"", "02-11T14:26:23"})
		e := b.Events[0]
		at := parse.NewEvent(e.EventKind, parse.PlainText(text), parse.Event{Line: 1, Msg: 0})
		at.SetRaw(e.Raw())
		b.Events[0] = at
		Resolve(b, Options{})
		if got, _ := times(b); got[0] != want {
			t.Errorf("%s: got %v, want %s", text, got, want)
		}
	}
}

// TestTrace: a trace states its start with the year, up to 1.18 also with the zone.
// The start of a long trace is too far from its line to derive the zone from it.
func TestTrace(t *testing.T) {
	for _, c := range []struct{ started, total, want string }{
		{"08-Dec-2020 18:33:43.000", "10001ms", "2020-12-08T18:34:00"},
		{"2020-12-08 10:33:43.1 +0000", "10.001s", "2020-12-08T10:34:00"},
		{"2020-12-08 09:48:43.1 +0000", "45m10s", "2020-12-08T18:34:00"},
	} {
		sig := &parse.SigSet{Sigs: []*parse.Sig{{ID: parse.SigTrace, Extract: func(_ string, dst []parse.Field) []parse.Field {
			return append(dst, parse.Field{Name: "started", Value: c.started}, parse.Field{Name: "total", Value: c.total})
		}}}}
		f := &parse.File{Path: "k"}
		b := lines(t, f, [2]string{"", "12-08T18:33:53"}, [2]string{"", "12-08T18:34:00"})
		b.Events[0].EventKind = &parse.EventKind{File: b.Events[0].File, Origin: b.Events[0].Origin, Sigs: sig}
		Resolve(b, Options{})
		if at, _ := times(b); at[1] != c.want {
			t.Errorf("%s: got %v, want %s", c.started, at, c.want)
		}
	}
}

func TestZoneDifference(t *testing.T) {
	for _, c := range []struct {
		lag  time.Duration
		want int
	}{
		{0, 0}, {-900 * time.Millisecond, 0}, {6*time.Minute + 37*time.Second, 0}, {20 * time.Minute, 0},
		{2 * time.Hour, 7200}, {-5 * time.Hour, -18000}, {-5*time.Hour + time.Minute, -18000},
		{5*time.Hour + 45*time.Minute, 20700}, {5*time.Hour + 30*time.Minute, 19800},
	} {
		if got := zoneDifference(int64(c.lag)); got != c.want {
			t.Errorf("lag %v: zone %d s, want %d s", c.lag, got, c.want)
		}
	}
}

// TestMixedZones: each kind of line of a service gets its own zone: logrus states
// it, klog is in local time like the framing.
func TestMixedZones(t *testing.T) {
	f := &parse.File{Path: "k3s"}
	b := lines(t, f,
		[2]string{"03-09T10:00:00", "2026-03-09T09:00:00Z"},
		[2]string{"03-09T10:00:05", "03-09T10:00:05.5"},
		[2]string{"03-09T10:00:09", "2026-03-09T09:00:09Z"})
	Resolve(b, Options{})
	at, arrived := times(b)
	for i, want := range []string{"2026-03-09T09:00:00", "2026-03-09T09:00:05", "2026-03-09T09:00:09"} {
		if at[i] != want || arrived[i] != want {
			t.Errorf("line %d at %s, arrived %s, want %s", i+1, at[i], arrived[i], want)
		}
	}
	if z := b.Clocks[0].Header; z.Name != "+01:00" {
		t.Errorf("messages without a zone are said to be in %+v", z)
	}
}

// TestJumpsOfSections: in a file assembled from several logs, programs other than
// the kubelet may use another zone or start over; that is not a clock step of the
// node.
func TestJumpsOfSections(t *testing.T) {
	for source, want := range map[parse.Source]int{parse.SrcKubelet: 1, parse.SrcUnknown: 0} {
		b := lines(t, &parse.File{Path: "minikube.log"}, [2]string{"", "2022-03-04T18:40:24Z"}, [2]string{"", "2022-03-04T10:18:10Z"})
		for _, e := range b.Events {
			e.Origin.Source = source
		}
		Resolve(b, Options{})
		if got := len(b.Clocks[0].Jumps); got != want {
			t.Errorf("%q: %d steps, want %d", source, got, want)
		}
	}
}

// TestVeryManySteps: of very many clock steps the largest are kept and all are
// counted, with a warning; the file is not taken for parts in the wrong order.
func TestVeryManySteps(t *testing.T) {
	const n = parse.Many + 100
	var in [][2]string
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		back := 10 * time.Second
		if i == n/2 {
			back = 20 * time.Minute
		}
		at = at.Add(9 * time.Second)
		in = append(in, [2]string{"", at.Format(time.RFC3339)})
		at = at.Add(-back)
		in = append(in, [2]string{"", at.Format(time.RFC3339)})
	}
	b := lines(t, &parse.File{Path: "kubelet.log"}, in...)
	for _, e := range b.Events {
		e.Origin.Source = parse.SrcKubelet
	}
	Resolve(b, Options{})
	c := &b.Clocks[0]
	if len(c.Jumps) != parse.Many || c.Stepped != n || len(b.Warnings) != 1 || !strings.HasPrefix(b.Warnings[0].Msg, "10100 clock steps: 10000 are kept") {
		t.Errorf("%d of %d steps, want %d of %d; %v", len(c.Jumps), c.Stepped, parse.Many, n, b.Warnings)
	}
	if !slices.ContainsFunc(c.Jumps, func(j parse.Jump) bool { return j.Step == -int64(20*time.Minute) }) {
		t.Error("the largest step is lost")
	}
}

// TestZoneElsewhere wants lines that state no zone read in the one that the others
// state, if that is where they come next to them.
func TestZoneElsewhere(t *testing.T) {
	stated := func(s string, east int8) parse.Clock {
		c := reading(t, s)
		c.East = east
		return c
	}
	for name, c := range map[string]struct {
		klog   string
		stated []parse.Clock
		want   string
	}{
		"local time":            {"02-07T10:36:49", []parse.Clock{stated("2023-02-07T08:36:47Z", 8), stated("2023-02-07T08:36:48Z", 8)}, "+02:00"},
		"local time, far apart": {"02-07T13:30:49", []parse.Clock{stated("2023-02-07T08:36:47Z", 8)}, "+02:00"},
		"UTC in a container":    {"02-07T08:36:49", []parse.Clock{stated("2023-02-07T08:36:47Z", 8)}, "UTC"},
		"two zones":             {"02-07T10:36:49", []parse.Clock{stated("2023-02-07T08:36:47Z", 8), stated("2023-02-07T08:36:48Z", 0)}, "UTC"},
	} {
		f := &parse.File{Path: "paste.txt"}
		b := &parse.Bundle{Files: []*parse.File{f}}
		mark := func(line uint32, c parse.Clock) parse.Mark {
			return parse.Mark{Pos: parse.Pos{File: f, Offset: int64(line), Line: line}, Raw: c, Envelope: parse.Clock{}}
		}
		b.Coverage = append(b.Coverage, &parse.Coverage{Origin: &parse.Origin{Source: parse.SrcKubelet}, File: f, FirstLine: mark(1, reading(t, c.klog)), LastLine: mark(1, reading(t, c.klog))})
		for i, x := range c.stated {
			b.Coverage = append(b.Coverage, &parse.Coverage{Origin: &parse.Origin{Source: parse.SrcContainerd}, File: f, FirstLine: mark(uint32(i+2), x), LastLine: mark(uint32(i+2), x)})
		}
		Resolve(b, Options{})
		if got := b.Clocks[0].Header.Name; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestStatedOffset: a stamp in a line that states the offset of the process gives the zone, however late the line
// comes; of stamps with several offsets the first is only assumed.
func TestStatedOffset(t *testing.T) {
	with := func(until ...string) *parse.Bundle {
		clocks := [][2]string{{"", "07-23T09:47:42"}, {"", "07-23T10:47:42"}}[:len(until)]
		b := lines(t, &parse.File{Path: "k"}, clocks...)
		for i, u := range until {
			sig := &parse.SigSet{Sigs: []*parse.Sig{{ID: parse.SigRetry, Extract: func(_ string, dst []parse.Field) []parse.Field {
				return append(dst, parse.Field{Name: "until", Value: u}, parse.Field{Name: "after", Value: "0s"})
			}}}}
			b.Events[i].EventKind = &parse.EventKind{File: b.Events[i].File, Origin: b.Events[i].Origin, Sigs: sig}
		}
		Resolve(b, Options{})
		return b
	}
	for _, c := range []struct {
		until   []string
		zone    string
		assumed bool
	}{
		{[]string{"2019-07-23 09:47:42 +0545"}, "+05:45", false},
		{[]string{"2019-07-23 09:47:10 +0545"}, "+05:45", false},
		{[]string{"2019-07-23 09:47:42 -0500", "2019-07-23 10:47:42 -0400"}, "-05:00", true},
	} {
		b := with(c.until...)
		z := b.Clocks[0].Header
		if z.Name == "" {
			z = b.Clocks[0].Envelope
		}
		if z.Name != c.zone || strings.HasPrefix(z.Basis, "assumed") != c.assumed {
			t.Errorf("%v: zone %s, %s", c.until, z.Name, z.Basis)
		}
	}
}

// TestInUse: only offsets that zones have are inferred from what happens at the same time.
func TestInUse(t *testing.T) {
	for off, want := range map[int]bool{0: true, -5 * 3600: true, 5*3600 + 1800: true, 5*3600 + 2700: true, 900: false, -1800: false, 15 * 3600: false} {
		if inUse(off) != want {
			t.Errorf("%d: %v", off, !want)
		}
	}
}
