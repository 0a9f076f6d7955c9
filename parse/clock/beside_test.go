package clock

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// TestBeside wants the same of a bundle whose events are looked at in stretches,
// with clocks of all forms, steps, turns of the year, and several files.
func TestBeside(t *testing.T) {
	calls := 0
	inTurn := func(tasks ...func()) {
		calls++
		for i := range tasks {
			tasks[len(tasks)-1-i]()
		}
	}
	for seed := range uint64(12) {
		alone, beside := manyEvents(seed), manyEvents(seed)
		want := Resolve(alone, Options{})
		if got := Resolve(beside, Options{Parallel: inTurn}); got != want {
			t.Errorf("seed %d: ordered %v, want %v", seed, got, want)
		}
		if !reflect.DeepEqual(beside.Clocks, alone.Clocks) {
			t.Errorf("seed %d: got %+v, want %+v", seed, beside.Clocks, alone.Clocks)
		}
		for i, c := range beside.Coverage {
			if c.FirstLine.Stamp != alone.Coverage[i].FirstLine.Stamp {
				t.Errorf("seed %d: mark %d is of %v, want %v", seed, i, c.FirstLine.Stamp, alone.Coverage[i].FirstLine.Stamp)
			}
		}
		for i, e := range beside.Events {
			if x := alone.Events[i]; e.Stamp != x.Stamp || e.Arrived != x.Arrived {
				t.Fatalf("seed %d: event %d is of %v, want %v", seed, i, e.Stamp, x.Stamp)
			}
		}
	}
	if calls == 0 {
		t.Error("nothing was run beside another")
	}
}

// manyEvents is a bundle of events of one or two files that need several stretches.
func manyEvents(seed uint64) *parse.Bundle {
	const part = leastBeside + 100
	rng := rand.New(rand.NewPCG(seed, 1))
	b := &parse.Bundle{}
	files := []*parse.File{{Path: "a", ModTime: time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC).UnixNano()}, {Path: "b"}}[:1+seed%2]
	for _, f := range files {
		var kinds []*parse.EventKind
		for range 3 {
			kinds = append(kinds, &parse.EventKind{File: f, Sigs: sigs, Origin: &parse.Origin{Source: parse.SrcKubelet}})
		}
		at := time.Date(2023, 11, 9, 0, 0, 0, 0, time.UTC).UnixNano()
		bare := func(lack parse.Lack) parse.Clock {
			ns := at / 1e9 * 1e9
			if lack&parse.LackYear != 0 {
				day := time.Unix(0, ns).UTC()
				ns += time.Date(parse.YearUnknown, day.Month(), day.Day(), 0, 0, 0, 0, time.UTC).Unix()*1e9 - day.Truncate(24*time.Hour).Unix()*1e9
			}
			return parse.Clock{NS: ns, Res: time.Second, Lack: lack, Set: true}
		}
		forms := []func() parse.RawClocks{
			func() parse.RawClocks { return parse.RawClocks{Envelope: bare(parse.LackYear | parse.LackZone)} },
			func() parse.RawClocks {
				return parse.RawClocks{Envelope: bare(parse.LackYear | parse.LackZone), Header: bare(parse.LackYear | parse.LackZone)}
			},
			func() parse.RawClocks { return parse.RawClocks{Header: bare(parse.LackDate | parse.LackYear)} },
			func() parse.RawClocks { return parse.RawClocks{Header: bare(0), Envelope: bare(0)} },
			func() parse.RawClocks { return parse.RawClocks{} },
			func() parse.RawClocks { return parse.RawClocks{Header: bare(parse.LackZone)} },
		}[:1+rng.IntN(6)]
		for i := range 4*part + 4000 {
			switch d := time.Duration(rng.IntN(200)) * time.Second; {
			case i%part == 0 && seed%4 == 1:
				at -= int64(d)
			case i%part == 0 && seed%4 >= 2 || i%9973 == 0 && seed > 8:
				at -= int64(300 * 24 * time.Hour) // the year turns
			default:
				at += int64(d)
			}
			e := parse.NewEvent(kinds[rng.IntN(len(kinds))], parse.Text{}, parse.Event{Offset: int64(i), Line: uint32(i + 1)})
			form := 0
			if rng.IntN(1000) == 0 || i%part <= 1 {
				form = rng.IntN(len(forms))
			}
			e.SetRaw(forms[form]())
			b.Events = append(b.Events, e)
			if i%(4*part) == 0 {
				mark := parse.Mark{Pos: parse.Pos{File: f, Offset: int64(i), Line: uint32(i + 1)}, Envelope: bare(parse.LackYear | parse.LackZone)}
				b.Coverage = append(b.Coverage, &parse.Coverage{File: f, Origin: kinds[0].Origin, FirstLine: mark, LastLine: mark})
			}
		}
	}
	return b
}
