package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mikelolasagasti/xz"
)

// TestScenarioOfCaptures: calibrated by the quieter half of a recorded kubelet's
// metrics, a scenario of what was done to its runtime foretells its longest relist
// within a fifth.
func TestScenarioOfCaptures(t *testing.T) {
	const captures = "../../../shared/data/kubelets/"
	if _, err := os.Stat(captures); err != nil {
		t.Skip("no captures here")
	}
	for _, c := range []struct {
		dir, scenario string // %d: the pods with events in the longest relist
	}{
		// The latencies of the slow runtime are measured; what changed in one relist is
		// given, because it is the kubelet that starts the pods in several goes.
		{"v1.15.5-05-churn-slow", "pods=40,containers=7,new=%d"},
		{"v1.15.5-03-slow-status-v4", "status=120ms-260ms,changed=60"},
		{"v1.15.5-14-slow-list", "list=3s-9s,for=230s"},
	} {
		t.Run(c.dir, func(t *testing.T) {
			truth, pods := longestRelist(t, filepath.Join(captures, c.dir, "relist_trace.jsonl.xz"))
			text := c.scenario
			if pods > 0 && c.dir == "v1.15.5-05-churn-slow" {
				text = fmt.Sprintf(text, pods)
			}
			out := must(t, "replay", "--quiet", "--calibrate", filepath.Join(captures, c.dir), "--scenario", text, "-o", "json")
			var doc struct {
				Scenario struct {
					Longest    float64  `json:"longest_relist_seconds"`
					Calibrated []string `json:"calibrated"`
				} `json:"scenario"`
			}
			if err := json.Unmarshal([]byte(out), &doc); err != nil {
				t.Fatal(err)
			}
			got := doc.Scenario.Longest
			t.Logf("%s: foretold %.1f s, recorded %.1f s; calibrated: %q", text, got, truth, doc.Scenario.Calibrated)
			if len(doc.Scenario.Calibrated) == 0 || math.Abs(got-truth) > truth/5 {
				t.Errorf("foretold %.1f s, recorded %.1f s", got, truth)
			}
		})
	}
}

// longestRelist is the length of the longest recorded relist, and of how many pods it
// sent events.
func longestRelist(t *testing.T, path string) (seconds float64, pods int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := xz.NewReader(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	var begin time.Time
	told := map[string]bool{}
	for d := json.NewDecoder(r); ; {
		var x struct {
			TS      time.Time
			Ev, Pod string
		}
		if err := d.Decode(&x); err == io.EOF {
			return seconds, pods
		} else if err != nil {
			t.Fatal(err)
		}
		switch x.Ev {
		case "relist_begin":
			begin = x.TS
			clear(told)
		case "event":
			told[x.Pod] = true
		case "relist_end":
			if s := x.TS.Sub(begin).Seconds(); !begin.IsZero() && s > seconds {
				seconds, pods = s, len(told)
			}
		}
	}
}
