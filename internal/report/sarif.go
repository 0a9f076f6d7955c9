package report

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/internal/report/timeline"
	"github.com/plegforensics/plegforensics/rules"
)

// Limits of the largest consumer of SARIF, GitHub's code scanning. It takes
// 25,000 results and shows 5,000 of them; it refuses a file of more than 10 MB
// compressed. What is beyond is dropped there without a word or fails the job,
// so we keep the gravest and say what we left out.
const (
	sarifResults   = 5000
	sarifLocations = 1000     // of a result
	sarifFlowSteps = 10_000   // of a result, over all its flows
	sarifBytes     = 10 << 20 // compressed; a tenth stays free, because compressors differ
)

// The types below are the part of SARIF 2.1.0 that we write.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string        `json:"id"`
		Short   sarifMessage  `json:"shortDescription"`
		Full    *sarifMessage `json:"fullDescription,omitempty"`
		Help    *sarifMessage `json:"help,omitempty"`
		HelpURI string        `json:"helpUri,omitempty"`
		Default sarifDefault  `json:"defaultConfiguration"`
	}
	sarifDefault struct {
		Level string `json:"level"`
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
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine  uint32        `json:"startLine,omitempty"`
		ByteOffset *int64        `json:"byteOffset,omitempty"`
		ByteLength *int          `json:"byteLength,omitempty"`
		Snippet    *sarifMessage `json:"snippet,omitempty"`
	}
	sarifFlow struct {
		Message     sarifMessage  `json:"message"`
		ThreadFlows []sarifThread `json:"threadFlows"`
	}
	sarifThread struct {
		Locations []sarifStep `json:"locations"`
	}
	sarifStep struct {
		Location      sarifLocation `json:"location"`
		ExecutionTime string        `json:"executionTimeUtc,omitempty"`
		Importance    string        `json:"importance,omitempty"`
	}
)

// writeSARIF writes breaches and causes as results; those that belong to an
// episode carry its timeline as a code flow.
func writeSARIF(w io.Writer, r *model.Report, _ Options) error {
	all := findings(r)
	run := newSARIF(r.Tool.Version)
	index := map[string]int{}
	run.Tool.Driver.Rules = sarifRules(all, index)
	for i := range all[:min(len(all), sarifResults)] {
		x := sarifResultOf(&all[i], index)
		if len(x.Locations) == 0 { // consumers refuse a result without a place
			x.Locations = []sarifLocation{{Physical: &sarifPhysical{Artifact: sarifArtifact{fileURI(inputPath(r))}}}}
		}
		run.Results = append(run.Results, x)
	}
	run.note(len(all) - len(run.Results))
	run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotes(r)...)
	return run.write(w, sarifBytes)
}

// sarifNotes are the problems of the inputs.
func sarifNotes(r *model.Report) []sarifNotification {
	var out []sarifNotification
	for i, w := range r.Warnings {
		if i == sarifLocations {
			out = append(out, sarifNotification{Level: "warning", Message: sarifMessage{fmt.Sprintf("and %d more input problems", len(r.Warnings)-i)}})
			break
		}
		n := sarifNotification{Level: "warning", Message: sarifMessage{w.Message}}
		if w.Where != "" {
			n.Locations = []sarifLocation{{Physical: &sarifPhysical{Artifact: sarifArtifact{fileURI(w.File)}}}}
		}
		out = append(out, n)
	}
	return out
}

// sarifRules lists every breach rule and the causes that were found, and fills
// index with their places.
func sarifRules(all []finding, index map[string]int) []sarifRule {
	var out []sarifRule
	add := func(x sarifRule) {
		if _, have := index[x.ID]; !have {
			index[x.ID] = len(out)
			out = append(out, x)
		}
	}
	for _, r := range rules.BreachRules() {
		x := sarifRule{ID: r.ID, Short: sarifMessage{r.Title}, Full: &sarifMessage{r.Doc}, Default: sarifDefault{sarifLevel(r.Severity)}}
		x.help(r.Remediation, r.References)
		add(x)
	}
	found := slices.Clone(all)
	slices.SortStableFunc(found, func(a, b finding) int { return strings.Compare(a.rule, b.rule) })
	for _, f := range found {
		x := sarifRule{ID: f.rule, Short: sarifMessage{f.title}, Default: sarifDefault{sarifLevel(f.severity)}}
		if f.cause != nil {
			x.Default.Level = "warning"
			x.help(f.cause.Remediation, f.cause.References)
		}
		add(x)
	}
	return out
}

func (x *sarifRule) help(do, refs []string) {
	if len(do) > 0 {
		x.Help = &sarifMessage{strings.Join(do, " ")}
	}
	for _, ref := range refs {
		if u, err := url.Parse(ref); err == nil && u.IsAbs() {
			x.HelpURI = u.String()
			return
		}
	}
}

func sarifLevel(s rules.Severity) string {
	switch s {
	case rules.Critical:
		return "error"
	case rules.Warning:
		return "warning"
	}
	return "note"
}

func sarifResultOf(f *finding, index map[string]int) sarifResult {
	x := sarifResult{RuleID: f.rule, RuleIndex: index[f.rule], Level: sarifLevel(f.severity), Message: sarifMessage{f.message},
		Locations: []sarifLocation{}, Fingerprints: map[string]string{"plegforensics/v1": f.fingerprint()},
		Properties: sarifProperties{Node: f.node.Name, Start: f.start, Episodes: f.episodes}}
	if f.cause != nil {
		x.Properties.Confidence = &f.cause.Confidence
	}
	for _, e := range f.evidence.First(sarifLocations) {
		if l := sarifPlace(&e); l.Physical != nil {
			x.Locations = append(x.Locations, l)
		}
	}
	room := sarifFlowSteps
	for _, id := range f.episodes {
		if flow := sarifFlowOf(f.node, id, room); flow != nil {
			room -= len(flow.ThreadFlows[0].Locations)
			x.Flows = append(x.Flows, *flow)
		}
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
	l.Physical = &sarifPhysical{Artifact: sarifArtifact{fileURI(e.File)}}
	snippet := &sarifMessage{e.Text}
	if e.Line > 0 {
		l.Physical.Region = &sarifRegion{StartLine: e.Line, Snippet: snippet}
	} else if e.Offset != nil && *e.Offset >= 0 {
		l.Physical.Region = &sarifRegion{ByteOffset: e.Offset, ByteLength: &e.Length, Snippet: snippet}
	}
	return l
}

// fileURI is a path as a relative URI reference: drive letters and colons must
// not look like a scheme.
func fileURI(path string) string {
	path = strings.TrimLeft(strings.ReplaceAll(path, `\`, "/"), "/")
	u := url.URL{Path: path}
	return u.String()
}

// sarifFlowOf tells an episode as a thread flow of at most room steps: relists,
// failed calls, health and readiness, oldest first. Nil when the node has no
// such episode or there is no room.
func sarifFlowOf(n *model.Node, id, room int) *sarifFlow {
	for i := range n.Episodes {
		e := &n.Episodes[i]
		if e.ID != id {
			continue
		}
		from, to := e.LastRelistStart, e.Recovered
		if from == 0 {
			from = e.FirstReport
		}
		if to == 0 {
			to = max(n.Window.End, e.LastReport)
		}
		steps := sarifSteps(n, from, to, room)
		if len(steps) == 0 {
			return nil
		}
		return &sarifFlow{sarifMessage{fmt.Sprintf("timeline of episode %d on %s", id, orNode(n.Name))}, []sarifThread{{steps}}}
	}
	return nil
}

func sarifSteps(n *model.Node, from, to model.Time, room int) []sarifStep {
	var ms []moment
	for _, m := range moments(n) {
		if m.at >= from && m.at <= to {
			ms = append(ms, m)
		}
	}
	for m := range timeline.Relists(n.History) {
		if m.Kind == timeline.Relist && m.Start >= from && m.Start <= to {
			ms = append(ms, moment{m.Start, relistWords(&m), m.Proof})
		}
	}
	slices.SortStableFunc(ms, func(a, b moment) int { return int(max(min(a.at-b.at, 1), -1)) })
	if len(ms) > room { // both ends tell more than the middle
		ms = append(ms[:room-room/2:room-room/2], ms[len(ms)-room/2:]...)
	}
	var out []sarifStep
	for _, m := range ms {
		out = append(out, sarifStepOf(m))
	}
	return out
}

func relistWords(m *timeline.Mark) string {
	s := "relist starts"
	if m.StartSlack != nil {
		s += " ±" + span(m.StartSlack)
	}
	s += ": " + m.State
	if m.Seconds != nil {
		s += " after " + span(m.Seconds)
	}
	return s
}

func sarifStepOf(m moment) sarifStep {
	s := sarifStep{ExecutionTime: m.at.UTC().Format(time.RFC3339Nano), Importance: "important"}
	if m.ev.Len() > 0 {
		e := m.ev.At(0)
		s.Location = sarifPlace(&e)
	}
	s.Location.Message = &sarifMessage{strings.TrimSpace(m.what)}
	return s
}
