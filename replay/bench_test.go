package replay

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// bulk makes n events of a kubelet at verbosity 5: a relist about every second, with two lines each, pod
// events, and one stall per hour.
func bulk(n int) *parse.Bundle {
	d := newTestLog()
	f := &parse.File{Path: "kubelet.log", Role: parse.RoleKubeletLog}
	o := d.origin("node", 4242)
	const age = `"Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m4.5s ago; threshold is 3m0s"`
	msgs := []string{`"GenericPLEG: Relisting"`, `"Retrieved pods from runtime" all=true`,
		`"SyncLoop (PLEG): event for pod" pod="ns/p" event={"ID":"1","Type":"ContainerStarted","Data":"abc"}`,
		`"Housekeeping took longer than expected" err="x" expected="1s" actual="1.2s"`}
	at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC).UnixNano()
	b := &parse.Bundle{Files: []*parse.File{f}}
	for i := range n {
		msg := msgs[i%4]
		if i%14400 > 14390 {
			msg = age
		}
		at += int64(260 * time.Millisecond)
		b.Events = append(b.Events, parse.NewEvent(&parse.EventKind{File: f, Sigs: d.match(msg), Origin: o, Headed: true, Severity: 'I'}, parse.PlainText(msg), parse.Event{Line: uint32(i + 1), Stamp: parse.Stamp{At: at, Res: parse.ResolutionOf(time.Microsecond), Basis: parse.Stated}}))
	}
	return b
}

// BenchmarkBuild rebuilds a node from a million events, about three days of a kubelet at verbosity 5.
func BenchmarkBuild(b *testing.B) {
	in := bulk(1_000_000)
	b.SetBytes(int64(len(in.Events)) * 160)
	b.ReportAllocs()
	for b.Loop() {
		Build(in, Options{})
	}
	b.ReportMetric(float64(len(in.Events))*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// TestBuildIsLinear compares the cost of a log with that of one four times as long; a quadratic step would cost
// sixteen times as much.
func TestBuildIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	cost := func(n int) time.Duration {
		in, best := bulk(n), time.Duration(1<<62)
		for range 3 {
			t0 := time.Now()
			Build(in, Options{})
			best = min(best, time.Since(t0))
		}
		return best
	}
	small, large := cost(20_000), cost(80_000)
	if large > 12*small && large > time.Second {
		t.Errorf("20,000 events cost %v, 80,000 cost %v: more than linear", small, large)
	}
}
