package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

type windowed struct {
	Nodes []struct {
		Status   string
		Summary  string
		Window   struct{ Start, End time.Time }
		Breaches []struct {
			Rule       string
			Start, End *time.Time
		}
		Episodes []struct {
			Breach    *time.Time
			Recovered *time.Time
		}
	}
}

// TestWindowsHold cuts every sample into thirds: nothing reported for a third lies entirely outside
// of it, and no finding in a third is missing from the whole.
func TestWindowsHold(t *testing.T) {
	for _, name := range sampleNames(t) {
		in := inputsOf(t, name)
		look := func(flags ...string) (w windowed, code int) {
			code, out, errs := status(t, append(append([]string{"analyze", "--quiet", "-o", "json", "--tz", "UTC", "--year", "2026"}, flags...), in...)...)
			if code != exitOK && code != exitNothing {
				t.Fatalf("%s %v: exit %d: %s", name, flags, code, errs)
			}
			if code == exitOK {
				if err := json.Unmarshal([]byte(out), &w); err != nil {
					t.Fatal(err)
				}
			}
			return w, code
		}
		whole, _ := look()
		from, to := whole.Nodes[0].Window.Start, whole.Nodes[0].Window.End
		rules := map[string]bool{}
		for _, b := range whole.Nodes[0].Breaches {
			rules[b.Rule] = true
		}
		third := to.Sub(from) / 3
		for i := range 3 {
			since, until := from.Add(time.Duration(i)*third), from.Add(time.Duration(i+1)*third)
			part, code := look("--since", since.Format(time.RFC3339Nano), "--until", until.Format(time.RFC3339Nano))
			if code != exitOK {
				continue
			}
			n := part.Nodes[0]
			if n.Window.Start.Before(since) || n.Window.End.After(until) {
				t.Errorf("%s, third %d: window %v to %v", name, i+1, n.Window.Start, n.Window.End)
			}
			for _, b := range n.Breaches {
				if b.Start != nil && b.Start.After(until) || b.End != nil && b.End.Before(since) {
					t.Errorf("%s, third %d: %s from %v to %v", name, i+1, b.Rule, b.Start, b.End)
				}
				if !rules[b.Rule] {
					t.Errorf("%s, third %d: %s is not of the whole", name, i+1, b.Rule)
				}
			}
			if n.Status == "healthy" && !strings.Contains(n.Summary, ", proven by ") {
				t.Errorf("%s, third %d: healthy, and no word of a proof: %s", name, i+1, n.Summary)
			}
			for _, e := range n.Episodes {
				if e.Breach != nil && e.Breach.After(until) || e.Recovered != nil && e.Recovered.Before(since) {
					t.Errorf("%s, third %d: episode from %v to %v", name, i+1, e.Breach, e.Recovered)
				}
			}
		}
	}
}
