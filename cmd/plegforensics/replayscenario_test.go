package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mikelolasagasti/xz"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// TestScenarioOfCaptures: calibrated by the quieter half of a recorded kubelet's metrics, a
// scenario of the faults injected into its runtime predicts its longest relist within a fifth. The
// faults are read from the recording: latencies added to calls, containers killed, and in how many
// batches the kubelet found new pods. A latency that lasted through the quieter half is measured
// there and not stated.
func TestScenarioOfCaptures(t *testing.T) {
	const captures = "../../../shared/data/kubelets/"
	if _, err := os.Stat(captures); err != nil {
		t.Skip("no captures here")
	}
	for _, dir := range []string{"v1.15.5-05-churn-slow", "v1.15.5-03-slow-status-v4", "v1.15.5-14-slow-list"} {
		t.Run(dir, func(t *testing.T) {
			dir := filepath.Join(captures, dir)
			quiet := calibratedRun(t, dir, "for=10m")
			text, truth := experiment(t, dir, quiet.Used)
			made := calibratedRun(t, dir, text)
			t.Logf("%s: foretold %.1f s, recorded %.1f s; calibrated: %q", text, made.Longest, truth, made.Calibrated)
			if len(made.Calibrated) == 0 || math.Abs(made.Longest-truth) > truth/5 {
				t.Errorf("foretold %.1f s, recorded %.1f s", made.Longest, truth)
			}
		})
	}
}

func calibratedRun(t *testing.T, dir, text string) model.SimScenario {
	t.Helper()
	out := must(t, "replay", "--quiet", "--calibrate", dir, "--scenario", text, "-o", "json")
	var doc struct{ Scenario model.SimScenario }
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Scenario
}

// experiment returns the scenario of the faults injected into a node that was quiet in some spans,
// and the duration in seconds of the longest relist recorded meanwhile.
func experiment(t *testing.T, dir string, quiet []model.Span) (text string, longest float64) {
	t.Helper()
	type fault struct {
		ID, RPC       string
		Delay, Jitter int // ms
		from, to      time.Time
	}
	var faults []*fault
	var keys []string
	var start, end time.Time
	containers := 0
	burst := false
	lines(t, filepath.Join(dir, "actions.jsonl.xz"), func(x struct {
		TS     time.Time
		Do     string
		N      int
		Spec   struct{ At, Count, Containers int }
		Action struct {
			ID, RPC string
			Delay   int `json:"delay_ms"`
			Jitter  int `json:"jitter_ms"`
		}
	}) {
		a := x.Action
		switch end = x.TS; x.Do {
		case "pods_written":
			containers = x.Spec.Containers
			burst = burst || x.Spec.At > 0
		case "kubelet_start":
			start = x.TS
		case "fault":
			faults = append(faults, &fault{a.ID, a.RPC, a.Delay, a.Jitter, x.TS, time.Time{}})
		case "clear":
			for _, f := range faults {
				if a.ID == "" || a.ID == f.ID {
					f.to = x.TS
				}
			}
		case "killed":
			keys = append(keys, fmt.Sprintf("changed=%d", x.N/containers))
		}
	})
	for _, f := range faults {
		if f.to.IsZero() {
			f.to = end
		}
		var all, within time.Duration
		for _, q := range quiet {
			from, to := time.Unix(0, int64(q.From)), time.Unix(0, int64(q.To))
			all += to.Sub(from)
			if from.Before(f.from) {
				from = f.from
			}
			if to.After(f.to) {
				to = f.to
			}
			within += max(0, to.Sub(from))
		}
		if within > all/2 {
			continue
		}
		key := map[string]string{"ListPodSandbox|ListContainers": "list", "PodSandboxStatus|ContainerStatus": "status"}[f.RPC]
		keys = append(keys, fmt.Sprintf("%s=+%dms-%dms", key, f.Delay, f.Delay+f.Jitter), "for="+f.to.Sub(f.from).Round(time.Second).String())
	}
	var begin time.Time
	told := map[string]bool{}
	lines(t, filepath.Join(dir, "relist_trace.jsonl.xz"), func(x struct {
		TS      time.Time
		Ev, Pod string
	}) {
		switch x.Ev {
		case "relist_begin":
			begin = x.TS
			clear(told)
		case "event":
			told[x.Pod] = true
		case "relist_end":
			longest = max(longest, x.TS.Sub(begin).Seconds())
			if burst && len(told) > 0 {
				keys = append(keys, fmt.Sprintf("new=%d@%s", len(told), begin.Sub(start)))
			}
		}
	})
	if burst {
		keys = append(keys, fmt.Sprintf("containers=%d", containers))
	}
	return strings.Join(keys, ","), longest
}

// lines calls do for each object of a JSON Lines file.
func lines[T any](t *testing.T, path string, do func(T)) {
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
	for d := json.NewDecoder(r); ; {
		var x T
		if err := d.Decode(&x); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		do(x)
	}
}
