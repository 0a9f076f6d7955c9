package clock

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// TestConstant: each line of a long file gets its time, wherever year, zone or form
// change.
func TestConstant(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no zone data")
	}
	from, to := time.Date(2023, 10, 1, 0, 0, 30, 0, time.UTC), time.Date(2024, 11, 1, 0, 0, 0, 0, time.UTC)
	zone := berlin
	local := func(at time.Time) parse.Clock {
		at = at.In(zone)
		ns := time.Date(parse.YearUnknown, at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC).UnixNano()
		return parse.Clock{NS: ns, Res: time.Second, Lack: parse.LackYear | parse.LackZone, Set: true}
	}
	stated := func(at time.Time) parse.Clock {
		return parse.Clock{NS: at.UnixNano(), Res: time.Microsecond, Set: true}
	}
	forms := []func(at time.Time) parse.RawClocks{
		func(at time.Time) parse.RawClocks { return parse.RawClocks{Envelope: local(at), Header: local(at)} },
		func(at time.Time) parse.RawClocks { return parse.RawClocks{Header: local(at)} },
		func(at time.Time) parse.RawClocks { return parse.RawClocks{Envelope: local(at)} },
		func(at time.Time) parse.RawClocks { return parse.RawClocks{Envelope: local(at), Header: stated(at)} },
		func(at time.Time) parse.RawClocks { return parse.RawClocks{Envelope: stated(at), Header: local(at)} },
	}
	for _, pick := range [][]int{{0}, {1}, {2}, {0, 2}, {1, 2}, {3}, {4}} {
		if pick[0] == 3 {
			zone = time.UTC // the year of a clock beside a stated one is chosen as the closest
		}
		f := &parse.File{Path: "k", ModTime: to.UnixNano()}
		b, kind := &parse.Bundle{}, parse.EventKind{File: f, Sigs: sigs, Origin: &parse.Origin{Source: parse.SrcKubelet}}
		var want []time.Time
		for at := from; at.Before(to); at = at.Add(23 * time.Minute) {
			e := parse.NewEvent(&kind, parse.Text{}, parse.Event{Offset: int64(len(want))})
			e.SetRaw(forms[pick[len(want)/7%len(pick)]](at))
			b.Events, want = append(b.Events, e), append(want, at)
		}
		Resolve(b, Options{Zone: berlin})
		for i, e := range b.Events {
			ambiguous := want[i].Month() == time.October && want[i].Day() >= 27 && want[i].Hour() < 2
			if !e.Time().Equal(want[i]) && !ambiguous {
				t.Fatalf("forms %v: line %d at %v, want %v", pick, i, e.Time(), want[i])
			}
			if e.Arrived != 0 && e.Arrived != e.At && !ambiguous {
				t.Fatalf("forms %v: line %d arrived at %d, written at %d", pick, i, e.Arrived, e.At)
			}
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	const n = 100_000
	kind := parse.EventKind{File: &parse.File{Path: "k"}, Sigs: sigs, Origin: &parse.Origin{Source: parse.SrcKubelet}}
	at := time.Date(parse.YearUnknown, 3, 9, 0, 0, 0, 0, time.UTC).UnixNano()
	lack := parse.LackZone | parse.LackYear
	for b.Loop() {
		b.StopTimer()
		x := &parse.Bundle{}
		for i := range n {
			now := at + int64(i)*200e6
			e := parse.NewEvent(&kind, parse.Text{}, parse.Event{Offset: int64(i)})
			e.SetRaw(parse.RawClocks{Envelope: parse.Clock{NS: now / 1e9 * 1e9, Res: time.Second, Lack: lack, Set: true}, Header: parse.Clock{NS: now, Res: time.Microsecond, Lack: lack, Set: true}})
			x.Events = append(x.Events, e)
		}
		b.StartTimer()
		Resolve(x, Options{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/event")
}
