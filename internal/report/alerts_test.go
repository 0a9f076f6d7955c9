package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/rules/alerts"
)

// TestAlertsInReports: the reports for people and the JSON contain the audit of alerts if one was
// made, and do not mention it otherwise.
func TestAlertsInReports(t *testing.T) {
	r := fixture("n1", 3)
	const heading = "Would alerts have fired?"
	for _, name := range []string{"text", "json", "markdown", "html"} {
		var b bytes.Buffer
		if err := Lookup(Formats, name).Write(&b, fill(r), Options{}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), heading) || strings.Contains(b.String(), `"alerts"`) {
			t.Errorf("%s tells of alerts where none was audited", name)
		}
	}
	at := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)
	r.Alerts = []alerts.Audit{
		{Alert: "Old\x1b[31m", Outcome: alerts.Fired, Firings: []alerts.Firing{{From: at, Peak: 200}}},
		{Alert: "Slow", Outcome: alerts.Blind, Reasons: []string{"no sample"}, Missed: []alerts.Missed{{Node: "n1", Episode: 1, From: at.UnixNano()}}},
		{File: alerts.BuiltinFile, Alert: "Quiet", Outcome: alerts.Never},
	}
	for name, want := range map[string][]string{
		"text":     {heading, "would have fired from 2026-03-04 10:00:00 UTC", "Slow was blind", "Quiet would not have fired"},
		"markdown": {"## " + heading, "would have fired from", "Slow was blind", "1 alert stayed silent"},
		"html":     {heading, "would have fired from", "Slow was blind", "1 alert stayed silent"},
	} {
		var b bytes.Buffer
		if err := Lookup(Formats, name).Write(&b, fill(r), Options{Width: 200, Verbose: name == "text"}); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(b.String(), w) {
				t.Errorf("%s lacks %q", name, w)
			}
		}
		if strings.Contains(b.String(), "Old\x1b") || name != "text" && strings.Contains(b.String(), "Quiet") {
			t.Errorf("%s passes an escape or tells of a quiet alert", name)
		}
	}
	var b bytes.Buffer
	if err := Lookup(Formats, "json").Write(&b, fill(r), Options{}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Alerts []struct {
			Outcome, Sentence string
			Missed            []struct{ Node string } `json:"missed_episodes"`
		}
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil || len(doc.Alerts) != 3 {
		t.Fatalf("%d alerts, %v", len(doc.Alerts), err)
	}
	if a := doc.Alerts[1]; a.Outcome != "blind" || len(a.Missed) != 1 || a.Sentence == "" {
		t.Errorf("alert %+v", a)
	}
}
