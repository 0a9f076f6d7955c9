package model

import (
	"runtime"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// deaf are names that are told, and not replaced.
type deaf struct{ texts int }

func (d *deaf) Text(s string) string { d.texts++; return s }
func (d *deaf) Name(s string) string { d.texts++; return s }
func (d *deaf) Path(s string) string { d.texts++; return s }

// TestWarningsOnDemand: the warnings of an input are made when they are written, and none where names
// are only told. There may be a million.
func TestWarningsOnDemand(t *testing.T) {
	const many = 100_000
	f := &parse.File{Path: "a.yaml"}
	a := &Analysis{Inputs: []parse.Input{{Path: "a.yaml"}}, Warnings: make([]parse.Warning, many)}
	for i := range a.Warnings {
		a.Warnings[i] = parse.Warning{Pos: parse.Pos{File: f, Line: uint32(i) + 1}, Msg: "left out"}
	}
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	var r *Report
	if n := allocated(func() { Tell(a, &deaf{}) }); n > many {
		t.Errorf("%d bytes to tell names", n)
	}
	if n := allocated(func() { r = Fill(a, &deaf{}) }); n > 80*many {
		t.Errorf("%d bytes for a report", n)
	}
	n := 0
	r.Inputs[0].Warnings.Each(func(w Warning) {
		if n++; w.String() != r.Warnings[n-1].String() || n == 7 && w.Where() != "a.yaml:7" {
			t.Fatalf("%s, want %s", w.String(), r.Warnings[n-1].String())
		}
	})
	if n != many {
		t.Errorf("%d warnings", n)
	}
	whole := Warning{File: "a.yaml", Message: "is cut"}
	if whole.Where() != "" || whole.String() != "is cut" {
		t.Errorf("%q", whole.String())
	}
}
