package clock

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// TestBeside: parallel processing gives the same result as sequential for all clock
// formats, late headers, clock steps, year changes and several files. Short parts
// have many seams; the default size is tested too.
func TestBeside(t *testing.T) {
	for seed := range uint64(3000) {
		besideAsAlone(t, seed, 7+int(seed%19), 120)
	}
	for seed := range uint64(6) {
		besideAsAlone(t, seed, 0, 2*leastBeside+500)
	}
}

func besideAsAlone(t *testing.T, seed uint64, stretch, n int) {
	t.Helper()
	calls := 0
	inTurn := func(tasks ...func()) {
		calls++
		for i := range tasks {
			tasks[len(tasks)-1-i]()
		}
	}
	alone, beside := manyEvents(seed, n), manyEvents(seed, n)
	want := Resolve(alone, Options{})
	if got := Resolve(beside, Options{Parallel: inTurn, stretch: stretch}); got != want {
		t.Errorf("seed %d: ordered %v, want %v", seed, got, want)
	}
	if calls == 0 {
		t.Errorf("seed %d: nothing was run beside another", seed)
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

// heartbeats are signatures of lines whose text is a heartbeat time.
var heartbeats = &parse.SigSet{Sigs: []*parse.Sig{{ID: parse.SigNotReady, Extract: func(msg string, dst []parse.Field) []parse.Field {
	return append(dst, parse.Field{Name: "heartbeat", Value: msg})
}}}}

// manyEvents returns a bundle of one or two files of n events each. Most lines have
// one clock form, others occur now and then, in some bundles on every second line.
func manyEvents(seed uint64, n int) *parse.Bundle {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := &parse.Bundle{}
	files := []*parse.File{{Path: "a", ModTime: time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC).UnixNano()}, {Path: "b"}}[:1+rng.IntN(2)]
	for _, f := range files {
		var kinds []*parse.EventKind
		for range 1 + rng.IntN(3) {
			kinds = append(kinds, &parse.EventKind{File: f, Sigs: sigs, Origin: &parse.Origin{Source: parse.SrcKubelet}})
		}
		at := time.Date(2023, 11, 9, 0, 0, 0, 0, time.UTC).UnixNano()
		clock := func(late time.Duration, lack parse.Lack) parse.Clock {
			ns := (at - int64(late)) / 1e9 * 1e9
			if lack&parse.LackYear != 0 {
				day := time.Unix(0, ns).UTC()
				ns += time.Date(parse.YearUnknown, day.Month(), day.Day(), 0, 0, 0, 0, time.UTC).Unix()*1e9 - day.Truncate(24*time.Hour).Unix()*1e9
			}
			return parse.Clock{NS: ns, Res: time.Second, Lack: lack, Set: true}
		}
		late := func() time.Duration { return time.Duration(rng.IntN(90)) * time.Second }
		const local = parse.LackYear | parse.LackZone
		forms := []func() parse.RawClocks{
			func() parse.RawClocks { return parse.RawClocks{Envelope: clock(0, local)} },
			func() parse.RawClocks {
				return parse.RawClocks{Envelope: clock(0, local), Header: clock(late(), local)}
			},
			func() parse.RawClocks { return parse.RawClocks{Envelope: clock(0, local), Header: clock(late(), 0)} },
			func() parse.RawClocks { return parse.RawClocks{Header: clock(0, parse.LackDate|parse.LackYear)} },
			func() parse.RawClocks { return parse.RawClocks{Header: clock(late(), 0), Envelope: clock(0, 0)} },
			func() parse.RawClocks { return parse.RawClocks{} },
			func() parse.RawClocks { return parse.RawClocks{Header: clock(0, parse.LackZone)} },
		}
		rng.Shuffle(len(forms), func(i, j int) { forms[i], forms[j] = forms[j], forms[i] })
		forms = forms[:1+rng.IntN(len(forms))]
		often := []int{2, 20, 1000}[rng.IntN(3)]
		back, turn := []int{0, 15, 60}[rng.IntN(3)], []int{0, 0, 50}[rng.IntN(3)]
		for i := range n {
			switch d := int64(rng.IntN(200)) * 1e9; {
			case back > 0 && rng.IntN(back) == 0:
				at -= d
			case turn > 0 && rng.IntN(turn) == 0:
				at -= int64(300 * 24 * time.Hour) // the year changes
			default:
				at += d
			}
			kind, text := kinds[rng.IntN(len(kinds))], parse.Text{}
			if rng.IntN(often) == 0 && n < 1000 {
				alive := *kind
				alive.Sigs, text = heartbeats, parse.PlainText(time.Unix(0, at).UTC().Format(time.RFC3339))
				kind = &alive
			}
			line := i + 1
			if back > 0 && rng.IntN(often) == 0 {
				line -= rng.IntN(5) // a file whose events are out of order
			}
			e := parse.NewEvent(kind, text, parse.Event{Offset: int64(line), Line: uint32(line)})
			form := 0
			if rng.IntN(often) == 0 {
				form = rng.IntN(len(forms))
			}
			e.SetRaw(forms[form]())
			b.Events = append(b.Events, e)
			if i == n/2 {
				mark := parse.Mark{Pos: parse.Pos{File: f, Offset: int64(i), Line: uint32(i + 1)}, Envelope: clock(0, local)}
				b.Coverage = append(b.Coverage, &parse.Coverage{File: f, Origin: kinds[0].Origin, FirstLine: mark, LastLine: mark})
			}
		}
	}
	return b
}
