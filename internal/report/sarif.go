package report

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/rules"
)

// Limits of GitHub code scanning, the largest consumer of SARIF. It accepts 25,000 results, shows
// 5,000 of them, and refuses files of more than 10 MB compressed. Excess is dropped silently or
// fails the job, so we keep the most severe results and say what we left out.
const (
	sarifResults   = 5000
	sarifLocations = 1000     // per result
	sarifFlowSteps = 10_000   // per result, over all its flows
	sarifBytes     = 10 << 20 // compressed; we use nine tenths, because compressors differ
)

// The types below are the part of SARIF 2.1.0 that we use.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string            `json:"id"`
		Short   sarifMessage      `json:"shortDescription"`
		Full    *sarifMessage     `json:"fullDescription,omitempty"`
		Help    *sarifMessage     `json:"help,omitempty"`
		HelpURI string            `json:"helpUri,omitempty"`
		Default map[string]string `json:"defaultConfiguration"` // level
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Flows        []sarifFlow       `json:"codeFlows,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   sarifProperties   `json:"properties"`
	}
	sarifProperties struct {
		Node       string     `json:"node"`
		Start      model.Time `json:"start,omitempty"`
		Episodes   []int      `json:"episodes,omitempty"`
		Confidence *float64   `json:"confidence,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Message  *sarifMessage  `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact map[string]string `json:"artifactLocation"` // uri
		Region   *sarifRegion      `json:"region,omitempty"`
	}
	sarifRegion struct {
		StartLine  uint32        `json:"startLine,omitempty"`
		ByteOffset *int64        `json:"byteOffset,omitempty"`
		ByteLength *int          `json:"byteLength,omitempty"`
		Snippet    *sarifMessage `json:"snippet,omitempty"`
	}
	sarifFlow struct {
		Message     sarifMessage              `json:"message"`
		ThreadFlows [1]map[string][]sarifStep `json:"threadFlows"` // locations
	}
	sarifStep struct {
		Location      sarifLocation `json:"location"`
		ExecutionTime string        `json:"executionTimeUtc,omitempty"`
		Importance    string        `json:"importance,omitempty"`
	}
)

// writeSARIF writes breaches and causes as results; those that belong to an episode have its
// timeline as a code flow.
func writeSARIF(w io.Writer, r *model.Report, _ Options) error {
	var notes []string
	for _, n := range r.Nodes {
		notes = append(notes, Open(n.Name, n.Undecided)...)
	}
	return WriteSARIF(w, r.Tool.Version, items(r), inputPath(r), r.Warnings, notes)
}

// inputPath returns the path at which a finding without a file is placed.
func inputPath(r *model.Report) string {
	if len(r.Inputs) > 0 && r.Inputs[0].Path != "" {
		return r.Inputs[0].Path
	}
	return "input"
}

// WriteSARIF writes items as results, as many as the limits allow; items must be sorted most severe
// first. notes say what the results do not tell. A result without a location is placed at fallback, because consumers refuse it otherwise.
func WriteSARIF(w io.Writer, version string, items []Item, fallback string, warnings []model.Warning, notes []string) error {
	run := newSARIF(version, items, fallback)
	for _, x := range notes[:min(len(notes), sarifLocations)] {
		run.warn("%s", x).Level = "note"
	}
	for i, x := range warnings {
		if i == sarifLocations {
			run.warn("and %d more input problems", len(warnings)-i)
			break
		}
		note := run.warn("%s", x.Message)
		if x.Where() != "" {
			note.Locations = []sarifLocation{sarifFile(x.File)}
		}
	}
	return run.write(w, sarifBytes)
}

func newSARIF(version string, items []Item, fallback string) *sarifRun {
	run := &sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}, Invocations: []sarifInvocation{{Successful: true}}}
	run.Tool.Driver = sarifDriver{Name: "plegforensics", Version: version, InformationURI: "https://github.com/plegforensics/plegforensics"}
	index := run.rules(items)
	for i := range items[:min(len(items), sarifResults)] {
		x := sarifResultOf(&items[i], index)
		if len(x.Locations) == 0 {
			x.Locations = []sarifLocation{sarifFile(fallback)}
		}
		run.Results = append(run.Results, x)
	}
	if left := len(items) - len(run.Results); left > 0 {
		run.warn("%d results of lower severity were left out: consumers keep %d", left, sarifResults)
	}
	return run
}

func (run *sarifRun) warn(format string, args ...any) *sarifNotification {
	all := append(run.Invocations[0].Notifications, sarifNotification{Level: "warning", Message: sarifMessage{fmt.Sprintf(format, args...)}})
	run.Invocations[0].Notifications = all
	return &all[len(all)-1]
}

// rules lists every breach rule and the rules of all items. It returns their index by ID.
func (run *sarifRun) rules(items []Item) (index map[string]int) {
	index = map[string]int{}
	add := func(x sarifRule, level string, do, refs []string) {
		if _, have := index[x.ID]; have {
			return
		}
		x.Default = map[string]string{"level": level}
		if len(do) > 0 {
			x.Help = &sarifMessage{strings.Join(do, " ")}
		}
		for _, ref := range refs {
			if u, err := url.Parse(ref); err == nil && u.IsAbs() && x.HelpURI == "" {
				x.HelpURI = u.String()
			}
		}
		index[x.ID] = len(run.Tool.Driver.Rules)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, x)
	}
	for _, r := range rules.BreachRules() {
		add(sarifRule{ID: r.ID, Short: sarifMessage{r.Title}, Full: &sarifMessage{r.Doc}}, levelsOf(r.Severity).sarif, r.Remediation, r.References)
	}
	found := slices.Clone(items)
	slices.SortStableFunc(found, func(a, b Item) int { return strings.Compare(a.Rule, b.Rule) })
	for i := range found {
		x := &found[i]
		level := levelsOf(x.Severity).sarif
		if x.Confidence != nil {
			level = "warning"
		}
		add(sarifRule{ID: x.Rule, Short: sarifMessage{x.Title}}, level, x.Do, x.References)
	}
	return index
}

func sarifResultOf(f *Item, index map[string]int) sarifResult {
	x := sarifResult{RuleID: f.Rule, RuleIndex: index[f.Rule], Level: levelsOf(f.Severity).sarif, Message: sarifMessage{f.Message},
		Locations: []sarifLocation{}, Fingerprints: map[string]string{"plegforensics/v1": f.Fingerprint},
		Properties: sarifProperties{Node: f.Node, Start: f.Start, Episodes: f.Episodes, Confidence: f.Confidence}}
	for _, e := range f.Proof.First(sarifLocations) {
		if l := sarifPlace(&e); l.Physical != nil {
			x.Locations = append(x.Locations, l)
		}
	}
	if f.Flows == nil {
		return x
	}
	for _, flow := range f.Flows(sarifFlowSteps) {
		var steps []sarifStep
		for _, s := range flow.Steps {
			step := sarifStep{ExecutionTime: s.At.UTC().Format(time.RFC3339Nano), Importance: "important"}
			if e := s.Proof.Best(); e != nil {
				step.Location = sarifPlace(e)
			}
			step.Location.Message = &sarifMessage{s.What}
			steps = append(steps, step)
		}
		x.Flows = append(x.Flows, sarifFlow{sarifMessage{flow.Title}, [1]map[string][]sarifStep{{"locations": steps}}})
	}
	return x
}

func sarifPlace(e *model.Evidence) sarifLocation {
	var l sarifLocation
	if e.Note != "" {
		l.Message = &sarifMessage{e.Note}
	}
	if e.File == "" {
		return l
	}
	l.Physical = sarifFile(e.File).Physical
	snippet := &sarifMessage{e.Text}
	if e.Line > 0 {
		l.Physical.Region = &sarifRegion{StartLine: e.Line, Snippet: snippet}
	} else if e.Offset != nil && *e.Offset >= 0 {
		l.Physical.Region = &sarifRegion{ByteOffset: e.Offset, ByteLength: &e.Length, Snippet: snippet}
	}
	return l
}

// sarifFile refers to a file by a relative URI reference, in which drive letters and colons do not
// look like a scheme.
func sarifFile(path string) sarifLocation {
	u := url.URL{Path: strings.TrimLeft(strings.ReplaceAll(path, `\`, "/"), "/")}
	return sarifLocation{Physical: &sarifPhysical{Artifact: map[string]string{"uri": u.String()}}}
}

// write writes the log so that it has at most most bytes compressed. To make it fit, it first
// removes code flows, from the half of lowest severity at a time, and then results.
func (run *sarifRun) write(w io.Writer, most int) error {
	flows, results := len(run.Results), len(run.Results)
	notes := len(run.Invocations[0].Notifications)
	for {
		var b bytes.Buffer
		if err := Encode(&b, &sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{*run}}); err != nil {
			return err
		}
		if fit := most - most/10; b.Len() <= fit || len(run.Results) == 0 || len(packed(b.Bytes(), gzip.DefaultCompression)) <= fit {
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

// packed returns data compressed by gzip; level must be valid.
func packed(data []byte, level int) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, level)
	_, _ = z.Write(data) // writes to memory with a valid level cannot fail
	_ = z.Close()
	return b.Bytes()
}
