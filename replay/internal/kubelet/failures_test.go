package kubelet

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// TestFailureDetails checks that a failure with interned details returns the same as an unpacked one, and that
// the layers of one call are merged without loss.
func TestFailureDetails(t *testing.T) {
	interned := parse.NewStringTable()
	of := interned.OfString
	at := func(caller string) *parse.Event {
		return parse.NewEvent(&parse.EventKind{Caller: caller}, parse.Text{}, parse.Event{Stamp: parse.Stamp{At: 1767323046e9, Basis: parse.Stated}})
	}
	calls := []Call{
		{Line: at("a.go:1"), Name: of("ContainerStatus"), id: of("c1"), err: of("it broke")},
		{Line: at("b.go:1"), Name: of("ContainerStatus"), code: of("Unknown"), uid: of("u1"), pod: host.PodID{NS: of("ns"), Name: of("web")}},
	}
	fs := FailuresOf(calls, interned, time.Minute)
	if len(fs) != 1 || len(fs[0].Evidence) != 2 {
		t.Fatalf("%d failures, want the one of two layers", len(fs))
	}
	f := &fs[0]
	u := f.Unpacked().(Failure)
	want := FailureDetails{Err: "it broke", ObjectID: "c1", PodUID: "u1"}
	if u.Details == nil || *u.Details != want {
		t.Errorf("details %+v, want %+v", u.Details, want)
	}
	for _, f := range []*Failure{f, &u} {
		if got := (FailureDetails{f.Err(), f.ObjectID(), f.PodUID()}); got != want || f.Code != "Unknown" || f.Pod != "ns/web" {
			t.Errorf("%+v, code %q of pod %q", got, f.Code, f.Pod)
		}
		for id, about := range map[string]bool{"c1": true, "c2": false} {
			if f.About(of(id), of("u2"), interned) != about {
				t.Errorf("about %s: %v", id, !about)
			}
		}
	}
	u.Details = nil
	if rest := (FailureDetails{u.Err(), u.ObjectID(), u.PodUID()}); !reflect.ValueOf(rest).IsZero() {
		t.Errorf("an unpacked failure still knows %+v", rest)
	}
}

// TestFailureWords checks that the number of distinct call names is limited, whatever the lines contain.
func TestFailureWords(t *testing.T) {
	interned := parse.NewStringTable()
	var calls []Call
	for i := range 3 * mostWords {
		line := parse.NewEvent(&parse.EventKind{}, parse.Text{}, parse.Event{Stamp: parse.Stamp{At: int64(i+1) * 1e9, Basis: parse.Stated}})
		calls = append(calls, Call{Line: line, Name: interned.OfString(fmt.Sprint("Call", i))})
	}
	named := map[string]int{}
	fs := FailuresOf(calls, interned, time.Minute)
	for _, f := range fs {
		named[f.Call]++
	}
	if len(fs) != len(calls) || len(named) > mostWords || named["Call0"] != 1 || named["other"] < mostWords {
		t.Errorf("%d failures of %d calls, %d others", len(fs), len(named), named["other"])
	}
}

// TestImmediate checks that a socket without a listener fails immediately, and that a closed connection or a
// truncated error does not tell how long the call took.
func TestImmediate(t *testing.T) {
	for err, want := range map[string]bool{
		`rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing dial unix /run/x.sock: connect: connection refused"`: true,
		"cannot connect to Docker endpoint":                                   true,
		"rpc error: code = Unavailable desc = error reading from server: EOF": false,
		"rpc error: code = Unavailable desc = connection error:  ":            false,
	} {
		if got := immediate(err); got != want {
			t.Errorf("%s: %v", err, got)
		}
	}
}
