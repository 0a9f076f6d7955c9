package clock

import (
	"math"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// TestSinceBoot: dmesg lines are dated by the best available evidence of the boot
// time.
func TestSinceBoot(t *testing.T) {
	boot := time.Date(2026, 3, 9, 8, 0, 0, 0, time.UTC)
	kernel := &parse.Origin{Source: parse.SrcKernel}
	dmesg, journal := &parse.File{Path: "dmesg", Role: parse.RoleKernelLog}, &parse.File{Path: "journal"}
	bundle := func() *parse.Bundle {
		b := &parse.Bundle{}
		for i, text := range []string{"[   12.000000] a", "<6>[ 1000.500000] nfs: server 10.0.0.1 not responding, still trying", "[ 2000.000000] b"} {
			b.Events = append(b.Events, parse.NewEvent(&parse.EventKind{File: dmesg, Sigs: sigs, Origin: kernel}, parse.PlainText(text), parse.Event{Line: uint32(i + 1), Offset: int64(i)}))
		}
		b.Coverage = []*parse.Coverage{{File: dmesg, Origin: kernel, FirstLine: parse.Mark{Pos: b.Events[0].Where(), Text: b.Events[0].Text()}}}
		return b
	}
	number := func(key string, v float64) *parse.Fact {
		return &parse.Fact{Pos: parse.Pos{File: &parse.File{Path: key}}, Key: key, Num: v}
	}
	uptime := number(keyUptime, 7200)
	uptime.Raw = parse.Clock{NS: boot.Add(2 * time.Hour).UnixNano(), Res: time.Second, Set: true}
	text := "nfs: server 10.0.0.1 not responding, still trying"
	said := parse.NewEvent(&parse.EventKind{File: journal, Sigs: sigs, Origin: kernel}, parse.PlainText(text), parse.Event{Line: 7})
	said.SetRaw(parse.RawClocks{Envelope: parse.Clock{NS: boot.Add(1003 * time.Second).UnixNano(), Res: time.Microsecond, Set: true}})
	for _, c := range []struct {
		name string
		add  func(b *parse.Bundle)
		want time.Time // time of the second line
		most time.Duration
	}{
		{"nothing", func(*parse.Bundle) {}, time.Time{}, 0},
		{"uptime", func(b *parse.Bundle) { b.Facts = append(b.Facts, uptime) }, boot.Add(1000500 * time.Millisecond), 61 * time.Second},
		{"time of boot", func(b *parse.Bundle) { b.Facts = append(b.Facts, uptime, number(keyBootTime, float64(boot.Unix()))) },
			boot.Add(1000500 * time.Millisecond), 1100 * time.Millisecond},
		{"the same line", func(b *parse.Bundle) {
			b.Facts = append(b.Facts, uptime)
			b.Events = append(b.Events, new(*said))
		}, boot.Add(1003 * time.Second), time.Millisecond},
		{"not a number", func(b *parse.Bundle) { b.Facts = append(b.Facts, number(keyBootTime, math.NaN())) }, time.Time{}, 0},
	} {
		b := bundle()
		c.add(b)
		Resolve(b, Options{})
		e := b.Events[1]
		if !e.Time().Equal(c.want) || e.Res.Duration() > c.most {
			t.Errorf("%s: %v ± %v, want %v ± %v", c.name, e.Time(), e.Res.Duration(), c.want, c.most)
		}
		if c.want.IsZero() {
			continue
		}
		if e.Basis != parse.SinceBoot || b.Coverage[0].FirstLine.At != b.Events[0].At {
			t.Errorf("%s: basis %v, first line at %v, event at %v", c.name, e.Basis, b.Coverage[0].FirstLine.Time(), b.Events[0].Time())
		}
		for _, x := range b.Clocks {
			if x.File == dmesg && x.Envelope.Name != "time since boot" {
				t.Errorf("%s: said to be %+v", c.name, x.Envelope)
			}
		}
	}
}
