package pleg

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// A hintVector is a history of an evented kubelet from 1.37 on, derived from the
// published semantics: KEP-3386 as of kubernetes#139262, and its unit tests.
type hintVector struct {
	Name     string
	Versions []string
	Steps    []struct {
		Relist    []string // a global relist of these pods, in the shorthand of sighting
		Stream    string   // "TYPE uid container": a message of the runtime
		NoSandbox bool     // its sandbox status is missing
		Pod       *string  // what listing the pod then returns, "" if it is gone
		Errors    int      // number of stream errors
		Events    *string
		Inspected *string
		Ignored   int
		FellBack  bool
		Relists   *int // relists forced by stream errors
	}
}

func TestHintVectors(t *testing.T) {
	f, err := os.Open("testdata/evented/hints.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for sc := bufio.NewScanner(f); sc.Scan(); n++ {
		var v hintVector
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		for _, version := range v.Versions {
			t.Run(version+" "+v.Name, func(t *testing.T) { runHints(t, &v, version) })
		}
	}
	if n < 9 {
		t.Errorf("%d vectors read", n)
	}
}

func runHints(t *testing.T, v *hintVector, version string) {
	p, err := New(version)
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEvented(p)
	if err != nil {
		t.Fatal(err)
	}
	if e.Generic.Period != time.Second || e.Generic.Threshold != 3*time.Minute {
		t.Errorf("period %v, threshold %v", e.Generic.Period, e.Generic.Threshold)
	}
	r := &rig{Machine: e.Generic, t: t, known: make(map[string]bool), ips: make(map[string][]string)}
	for i, s := range v.Steps {
		events, inspected := "", ""
		switch {
		case s.Stream != "":
			events, inspected = message(t, e, r, s.Stream, *s.Pod, s.NoSandbox)
		case s.Errors > 0:
			for range s.Errors {
				if e.StreamError() {
					t.Error("a broken stream forces a relist")
				}
			}
		default:
			events = r.list(s.Relist...)
			inspected = strings.Join(r.last.Inspected, " ")
		}
		if s.Events != nil && events != *s.Events || s.Inspected != nil && inspected != *s.Inspected {
			t.Errorf("step %d: events %q, inspected %q", i, events, inspected)
		}
		if e.Ignored < s.Ignored || s.FellBack && !e.FellBack || s.Relists != nil && e.Relists != *s.Relists {
			t.Errorf("step %d: ignored %d, gave up %v, %d relists", i, e.Ignored, e.FellBack, e.Relists)
		}
	}
	if e.HealthText() != "" || e.Generic.Period != time.Second {
		t.Error("evented PLEG has a health check or a period of its own")
	}
}

// message passes a stream message to e and serves the relists it requests.
func message(t *testing.T, e *Evented, r *rig, text, pod string, noSandbox bool) (events, inspected string) {
	t.Helper()
	f := strings.Fields(text)
	r.now += 1e8
	in := StreamEvent{At: r.now, Type: StreamType(f[0]), UID: f[1], Container: f[2], Pod: &Pod{UID: f[1]}}
	if noSandbox {
		in.Pod = nil
	}
	if got := e.Receive(in); got != nil {
		t.Errorf("%s: evented PLEG itself sends %v", text, got)
	}
	for _, res := range e.RelistPods(r.now+1e6, func(uid string) (*Pod, Inspection) {
		s, bad := strings.CutSuffix(pod, "!")
		if s == "" {
			return nil, Inspection{}
		}
		if bad {
			return sighting(t, s), Inspection{Err: "inspection failed"}
		}
		return sighting(t, s), Inspection{}
	}) {
		events, inspected = events+sent(res.Events), inspected+strings.Join(res.Inspected, " ")
	}
	return events, inspected
}

// TestHintQueue: requests beyond the capacity of the queue are dropped and counted.
func TestHintQueue(t *testing.T) {
	p := profileOf(t, 37)
	e, err := NewEvented(p)
	if err != nil {
		t.Fatal(err)
	}
	for range RequestQueue + 5 {
		e.Receive(StreamEvent{At: 1, Type: StreamStopped, UID: "p", Container: "c", Pod: &Pod{UID: "p"}})
	}
	if e.Hints != RequestQueue || e.HintsLost != 5 {
		t.Errorf("%d asked for, %d lost", e.Hints, e.HintsLost)
	}
}
