package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestTimesketch(t *testing.T) {
	var out bytes.Buffer
	if err := writeTimesketch(&out, fixture("node", 20), Options{}); err != nil {
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
	if err := writeIntervals(&out, fixture("node", 20), Options{}); err != nil {
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

// TestPerfetto checks the fields that the Trace Event format documents.
func TestPerfetto(t *testing.T) {
	var out bytes.Buffer
	if err := writePerfetto(&out, fixture("node", 20), Options{}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		TraceEvents []map[string]any
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	phases := map[string]int{}
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
			}
		case "i":
			if e["s"] != "t" {
				t.Errorf("instant without scope: %v", e)
			}
		case "C":
			if _, ok := e["args"].(map[string]any)["seconds"].(float64); !ok {
				t.Errorf("counter without a number: %v", e)
			}
		case "M":
			if e["args"].(map[string]any)["name"] == "" {
				t.Errorf("metadata without a name: %v", e)
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
}
