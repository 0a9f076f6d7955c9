package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

func TestTimesketch(t *testing.T) {
	var out bytes.Buffer
	if err := writeTimesketch(&out, fill(fixture("node", 20)), Options{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) < 20 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, l := range lines {
		var x map[string]any
		if err := json.Unmarshal([]byte(l), &x); err != nil {
			t.Fatal(err)
		}
		for _, k := range []string{"message", "datetime", "timestamp_desc"} {
			if s, _ := x[k].(string); s == "" {
				t.Errorf("line without %s: %s", k, l)
			}
		}
		if at, err := time.Parse("2006-01-02T15:04:05.000000-07:00", x["datetime"].(string)); err != nil || float64(at.UnixMicro()) != x["timestamp"].(float64) {
			t.Errorf("datetime and timestamp disagree: %s (%v)", l, err)
		}
	}
}

func TestIntervals(t *testing.T) {
	var out bytes.Buffer
	if err := writeIntervals(&out, fill(fixture("node", 20)), Options{}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Items []struct {
			Level    string
			From, To time.Time
			Locator  struct{ Keys map[string]string }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	levels := map[string]int{}
	for _, i := range doc.Items {
		levels[i.Level]++
		if i.To.Before(i.From) || i.Locator.Keys["node"] != "node" {
			t.Errorf("bad interval %+v", i)
		}
	}
	if levels["Error"] == 0 || levels["Warning"] == 0 || levels["Info"] == 0 {
		t.Errorf("levels %v", levels)
	}
}

// TestIntervalsView: OpenShift's viewer spans the time from the start of the first interval to the
// end of the last one. It drops intervals that end before or begin after that (to the millisecond),
// and shows those with the display flag right away. So nothing of the report may be dropped, and
// only single pod events lack the flag.
func TestIntervalsView(t *testing.T) {
	var out bytes.Buffer
	if err := writeIntervals(&out, fill(fixture("node", 200)), Options{}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Items []struct {
			From, To time.Time
			Display  bool
			Source   string
		}
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil || len(doc.Items) < 200 {
		t.Fatalf("%d items, %v", len(doc.Items), err)
	}
	ms := func(at time.Time) int64 { return at.UnixMilli() }
	start, end := ms(doc.Items[0].From), ms(doc.Items[len(doc.Items)-1].To)
	for _, i := range doc.Items {
		if ms(i.To) < start || ms(i.From) > end {
			t.Errorf("not in the window: %+v", i)
		}
		if !i.Display && i.Source != "PLEGEvent" {
			t.Errorf("hidden: %+v", i)
		}
	}
}

// TestPerfetto checks the fields documented for the Trace Event format.
func TestPerfetto(t *testing.T) {
	var out bytes.Buffer
	r := fixture("node", 20)
	n := r.Nodes[0].Node
	again := n.Failures[0] // overlaps the first without being nested in it
	again.Start.At, again.End = again.Start.At+1e9, again.End+1e9
	n.Failures = append(n.Failures, again)
	if err := writePerfetto(&out, fill(r), Options{}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		TraceEvents []map[string]any
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	phases, lanes, ends := map[string]int{}, map[string]bool{}, map[float64]float64{}
	for _, e := range doc.TraceEvents {
		ph, _ := e["ph"].(string)
		phases[ph]++
		if e["name"] == "" || e["pid"] == nil || e["tid"] == nil {
			t.Errorf("event lacks a field: %v", e)
		}
		switch ph {
		case "X":
			if d, ok := e["dur"].(float64); !ok || d < 0 {
				t.Errorf("complete event without a duration: %v", e)
			} else if ts := e["ts"].(float64); ts < ends[e["tid"].(float64)] {
				t.Errorf("event overlaps the one before it on its track: %v", e)
			} else {
				ends[e["tid"].(float64)] = ts + d
			}
		case "i":
			if e["s"] != "t" {
				t.Errorf("instant without scope: %v", e)
			}
		case "C":
			for _, v := range e["args"].(map[string]any) {
				if _, ok := v.(float64); !ok {
					t.Errorf("counter without a number: %v", e)
				}
			}
		case "M":
			switch args := e["args"].(map[string]any); e["name"] {
			case "process_name", "thread_name":
				if name, _ := args["name"].(string); name == "" {
					t.Errorf("metadata without a name: %v", e)
				} else {
					lanes[name] = true
				}
			case "thread_sort_index":
				if _, ok := args["sort_index"].(float64); !ok {
					t.Errorf("sort index without a number: %v", e)
				}
			default:
				t.Errorf("unknown metadata: %v", e)
			}
		default:
			t.Errorf("unknown phase %q", ph)
		}
	}
	for _, ph := range []string{"X", "i", "C", "M"} {
		if phases[ph] == 0 {
			t.Errorf("no event of phase %s", ph)
		}
	}
	for _, lane := range []string{"node Ready", "PLEG health", "relists", "CRI failures", "kubelet process", "no log", "episodes", "undated relists", "kubelet", "kernel", "containerd"} {
		if !lanes[lane] {
			t.Errorf("no lane %q", lane)
		}
	}
}

// TestBreachBounds: the flat formats state the uncertainty of a breach, as JSON does.
func TestBreachBounds(t *testing.T) {
	n := &model.Node{Name: "n1", History: &model.History{}, Breaches: []model.Breach{{Rule: "relist-interval-long", Severity: "warning", Start: 1e18, End: 1e18 + 1e11,
		Value: new(90.0), Slack: 0.25, Least: true, StartSlack: 5, EndSlack: 6, Unit: "seconds"}}}
	r := &model.Report{Nodes: []*model.Node{n}}
	var lines, table bytes.Buffer
	if err := errors.Join(writeNDJSON(&lines, r, Options{}), writeCSV(&table, r, Options{})); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"start_uncertainty_seconds":5`, `"end_uncertainty_seconds":6`, `"value_uncertainty":0.25`, `"value_is_least":true`} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("no %s in %s", want, lines.String())
		}
	}
	if rows := table.String(); !strings.HasSuffix(rows, ",5,6,,,,,0.25,true\n") {
		t.Error(rows)
	}
}
