package rules

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestCallsDuring tests that a metrics step that lies mostly before a relist is ignored,
// and that among the others the last step with long calls is quoted first.
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

// TestHungListIsNotSerial tests that the mean of lists of which one hung is not multiplied by the number of
// pods, and that the mean of many slow ones is.
func TestHungListIsNotSerial(t *testing.T) {
	at := func(s int) int64 { return 1767323045e9 + int64(s)*1e9 }
	for name, lists := range map[string]replay.CallStep{
		"one hung": {Calls: 16, Sum: 122 * time.Second, Long: 1, LongMean: 120 * time.Second},
		"all slow": {Calls: 160, Sum: 120 * time.Second},
	} {
		lists.Operation, lists.From, lists.To = "list_podsandbox", at(0), at(125)
		lists.Evidence = []replay.Evidence{{Record: &parse.Sample{Point: parse.Point{At: at(125)}}}}
		status := replay.CallStep{Operation: "podsandbox_status", From: at(0), To: at(125), Calls: 160, Sum: time.Second, Evidence: lists.Evidence}
		n := &replay.Node{
			Kubelet: replay.Kubelet{Version: "v1.33.1"},
			Calls:   []replay.CallStep{lists, status},
			Relists: []replay.Relist{{Start: replay.Instant{At: at(2)}, End: replay.Instant{At: at(122)}, Took: 120 * time.Second, Evidence: lists.Evidence}},
		}
		s := &subject{view: &view{n: n}, from: at(0), end: at(200)}
		if got, want := evalSerialCalls(s, nil).state == Found, name == "all slow"; got != want {
			t.Errorf("%s: found %v, want %v", name, got, want)
		}
	}
}

// TestPartOfRelist tests that no part is reported as larger than the whole.
func TestPartOfRelist(t *testing.T) {
	slow := slowTime{took: 10400 * time.Millisecond, what: func() string { return "the 10.4s relist" }, evidence: []replay.Evidence{{}}}
	for sum, want := range map[time.Duration]string{
		8 * time.Second:          "8s of the 10.4s relist",
		10500 * time.Millisecond: "all of the 10.4s relist",
		12000 * time.Millisecond: "12s, calls of others included, for the 10.4s relist",
	} {
		if got := slow.explained([]callSum{{op: "container_status", calls: 100, sum: sum}}).vars["share"]; got != want {
			t.Errorf("%v: %q, want %q", sum, got, want)
		}
	}
}

// TestSlowTimesOfMany checks that the slow relists of an episode cost no more for all those long before it.
func TestSlowTimesOfMany(t *testing.T) {
	at := func(s int) int64 { return 1767323045e9 + int64(s)*1e9 }
	n := &replay.Node{}
	for i := range 1000 {
		start := at(60 * i)
		n.Relists = append(n.Relists, replay.Relist{Start: replay.Instant{At: start}, End: replay.Instant{At: start + int64(30*time.Second)}, Took: 30 * time.Second})
	}
	s := &subject{view: &view{n: n}, ep: &replay.Episode{}, from: at(60*990) - lookBack, end: at(60 * 1001)}
	if slow := s.slowTimes(); len(slow) == 0 || len(slow) > 20 {
		t.Fatalf("%d slow times", len(slow))
	}
	if got := testing.AllocsPerRun(5, func() { s.slowTimes() }); got > 100 {
		t.Errorf("%.0f allocations", got)
	}
}
