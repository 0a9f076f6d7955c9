package rules

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestCallsDuring: a step of the metrics that all but ended when a relist began tells of
// calls before it; of the others the last one with long calls is quoted first.
func TestCallsDuring(t *testing.T) {
	at := func(s int) int64 { return 1767323045e9 + int64(s)*1e9 }
	step := func(from, to int, sum time.Duration) replay.CallStep {
		return replay.CallStep{Operation: "list_podsandbox", From: at(from), To: at(to), Calls: 1, Sum: sum, Evidence: []replay.Evidence{{Record: &parse.Sample{Point: parse.Point{At: at(to)}}}}}
	}
	n := &replay.Node{Calls: []replay.CallStep{step(0, 15, 40*time.Second), step(90, 105, time.Minute), step(105, 120, time.Second), step(125, 140, 2*time.Minute)}}
	got := (&subject{view: &view{n: n}}).callsDuring(&slowTime{from: at(12), to: at(132)}, listOps)
	if len(got) != 1 || got[0].calls != 3 || got[0].sum != 3*time.Minute+time.Second {
		t.Fatalf("%+v", got)
	}
	if p := got[0].evidence[0].Record.(*parse.Sample); p.At != at(140) {
		t.Errorf("quotes the step to %d first", p.At)
	}
}
