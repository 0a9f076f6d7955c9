package report

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

func newSARIF(version string) *sarifRun {
	run := &sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}, Invocations: []sarifInvocation{{Successful: true}}}
	run.Tool.Driver = sarifDriver{Name: "plegforensics", Version: version, InformationURI: "https://github.com/plegforensics/plegforensics"}
	return run
}

// note says how many results were left out.
func (run *sarifRun) note(left int) {
	if left > 0 {
		run.warn("%d results of lower severity were left out: consumers keep %d", left, sarifResults)
	}
}

func (run *sarifRun) warn(format string, args ...any) {
	inv := &run.Invocations[0]
	inv.Notifications = append(inv.Notifications, sarifNotification{Level: "warning", Message: sarifMessage{fmt.Sprintf(format, args...)}})
}

// write writes the log within most compressed bytes. Where it would be longer,
// first the results of lower severity lose their code flows, half of those that
// have some at a time, then the results themselves go.
func (run *sarifRun) write(w io.Writer, most int) error {
	flows, results := len(run.Results), len(run.Results)
	notes := len(run.Invocations[0].Notifications)
	for {
		var b bytes.Buffer
		if err := Encode(&b, &sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{*run}}); err != nil {
			return err
		}
		if fit := most - most/10; b.Len() <= fit || len(run.Results) == 0 || compressed(b.Bytes()) <= fit {
			_, err := w.Write(b.Bytes())
			return err
		}
		if flows > 0 {
			flows /= 2
			for i := range run.Results[flows:] {
				run.Results[flows+i].Flows = nil
			}
		} else {
			run.Results = run.Results[:len(run.Results)/2]
		}
		run.Invocations[0].Notifications = run.Invocations[0].Notifications[:notes]
		run.warn("the results from the %d. on carry no timeline and %d results were left out: the file would be longer than consumers take", flows+1, results-len(run.Results))
	}
}

// compressed is how long data is after gzip.
func compressed(data []byte) int {
	var n counter
	z := gzip.NewWriter(&n)
	if _, err := z.Write(data); err != nil {
		return len(data)
	}
	if err := z.Close(); err != nil {
		return len(data)
	}
	return int(n)
}

// counter counts what is written.
type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

// WriteSARIF writes items as results, the gravest of them; items come gravest
// first.
func WriteSARIF(w io.Writer, version string, items []Item) error {
	run := newSARIF(version)
	index := map[string]int{}
	var all []finding
	for i := range items {
		all = append(all, finding{rule: items[i].Rule, title: items[i].Title, severity: items[i].Severity})
	}
	run.Tool.Driver.Rules = sarifRules(all, index)
	for i := range items[:min(len(items), sarifResults)] {
		run.Results = append(run.Results, sarifItem(&items[i], index))
	}
	run.note(len(items) - len(run.Results))
	return run.write(w, sarifBytes)
}

func sarifItem(x *Item, index map[string]int) sarifResult {
	out := sarifResult{RuleID: x.Rule, RuleIndex: index[x.Rule], Level: sarifLevel(x.Severity), Message: sarifMessage{x.Message},
		Locations: []sarifLocation{}, Fingerprints: map[string]string{"plegforensics/v1": x.Fingerprint},
		Properties: sarifProperties{Node: x.Node, Start: model.Time(x.Start)}}
	for _, p := range x.Places[:min(len(x.Places), sarifLocations)] {
		out.Locations = append(out.Locations, sarifLocation{Physical: p.sarif()})
	}
	if len(out.Locations) == 0 { // consumers refuse a result without a place
		out.Locations = []sarifLocation{{Physical: &sarifPhysical{Artifact: sarifArtifact{"fleet"}}}}
	}
	var steps []sarifStep
	for _, s := range x.Steps[:min(len(x.Steps), sarifFlowSteps)] {
		step := sarifStep{ExecutionTime: time.Unix(0, s.At).UTC().Format(time.RFC3339Nano), Importance: "important"}
		step.Location.Message = &sarifMessage{s.What}
		if s.Place != nil {
			step.Location.Physical = s.Place.sarif()
		}
		steps = append(steps, step)
	}
	if len(steps) > 0 {
		out.Flows = []sarifFlow{{sarifMessage{x.Title}, []sarifThread{{steps}}}}
	}
	return out
}

func (p Place) sarif() *sarifPhysical {
	out := &sarifPhysical{Artifact: sarifArtifact{fileURI(p.File)}}
	if p.Line > 0 {
		out.Region = &sarifRegion{StartLine: p.Line, Snippet: &sarifMessage{p.Text}}
	}
	return out
}
