package report

import (
	"encoding/json"
	"io"
	"math"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// The types below mirror schema plegforensics/report/v1. Fields may be added,
// never renamed or given another meaning.
type (
	jsonReport struct {
		Schema       string            `json:"schema"`
		Tool         jsonTool          `json:"tool"`
		Inputs       []jsonInput       `json:"inputs"`
		Nodes        []jsonNode        `json:"nodes"`
		Correlations []jsonCorrelation `json:"correlations"`
		Alerts       []jsonAlert       `json:"alerts,omitempty"`
		Findings     jsonFindings      `json:"findings"`
	}
	jsonTool struct {
		Version string `json:"version"`
	}
	jsonInput struct {
		Path      string        `json:"path"`
		Kind      string        `json:"kind"`
		Files     int           `json:"files"`
		FilesUsed int           `json:"files_used"`
		Bytes     int64         `json:"bytes"`
		Partial   bool          `json:"partial"`
		Warnings  []jsonWarning `json:"warnings"`
	}
	jsonWarning struct {
		File    string `json:"file"`
		Line    uint32 `json:"line,omitempty"`
		Offset  int64  `json:"offset"`
		Message string `json:"message"`
	}
	jsonEvidence struct {
		File   string  `json:"file"`
		Line   uint32  `json:"line,omitempty"`
		Offset *int64  `json:"offset,omitempty"` // nil in an export that was laid out
		Time   *string `json:"time"`
		Text   string  `json:"text"`
		Source string  `json:"source"`
		Note   string  `json:"note,omitempty"`
	}
	jsonNode struct {
		Name       string          `json:"name"`
		Kubelet    jsonKubelet     `json:"kubelet"`
		Window     jsonWindow      `json:"window"`
		Status     string          `json:"status"`
		Summary    string          `json:"summary"`
		Episodes   []jsonEpisode   `json:"episodes"`
		Breaches   []jsonBreach    `json:"breaches"`
		Relists    jsonRelists     `json:"relists"`
		Operations []jsonOperation `json:"operations"`
		Events     jsonEvents      `json:"events"`
		Blame      []jsonBlame     `json:"blame,omitempty"`
		Causes     []jsonCause     `json:"causes"`
		LookAlikes []jsonCause     `json:"look_alikes,omitempty"`
		WhatIf     []jsonWhatIf    `json:"what_if,omitempty"`
		Gaps       []jsonGap       `json:"gaps,omitempty"`
	}
	jsonKubelet struct {
		Version    *string        `json:"version"`
		VersionMin string         `json:"version_min,omitempty"`
		VersionMax string         `json:"version_max,omitempty"`
		Runtime    *string        `json:"runtime"`
		PLEG       string         `json:"pleg"`
		Period     *float64       `json:"relist_period_seconds"`
		Threshold  *float64       `json:"relist_threshold_seconds"`
		RPCTimeout *float64       `json:"runtime_request_timeout_seconds"`
		Verbosity  *int           `json:"verbosity"`
		Basis      string         `json:"basis"`
		Evidence   []jsonEvidence `json:"evidence,omitempty"`
	}
	jsonWindow struct {
		Start         *string `json:"start"`
		End           *string `json:"end"`
		Timezone      string  `json:"timezone"`
		TimezoneBasis string  `json:"timezone_basis"`
	}
	jsonSpan struct {
		From *string `json:"from"`
		To   *string `json:"to"`
	}
	jsonEpisode struct {
		ID              int            `json:"id"`
		LastRelistStart *string        `json:"last_relist_start"`
		LastStarts      []string       `json:"last_relist_starts,omitempty"`
		Breach          *string        `json:"breach"`
		FirstReport     *string        `json:"first_report"`
		LastReport      *string        `json:"last_report"`
		Recovered       *string        `json:"recovered"`
		RecoveredSlack  *float64       `json:"recovered_uncertainty_seconds,omitempty"`
		RecoveredBasis  string         `json:"recovered_basis"`
		PeakAge         *float64       `json:"peak_age_seconds"`
		Threshold       float64        `json:"threshold_seconds"`
		Reports         int            `json:"reports"`
		NeverRelisted   bool           `json:"never_relisted,omitempty"`
		Uncertainty     *float64       `json:"uncertainty_seconds"`
		StuckStep       string         `json:"stuck_step"`
		StuckStepBasis  string         `json:"stuck_step_basis,omitempty"`
		NotReady        *jsonSpan      `json:"node_not_ready"`
		Causes          []string       `json:"causes"`
		Evidence        []jsonEvidence `json:"evidence"`
	}
	jsonBreach struct {
		Rule      string         `json:"rule"`
		Severity  string         `json:"severity"`
		Start     *string        `json:"start"`
		End       *string        `json:"end"`
		Value     *float64       `json:"value"`
		Threshold *float64       `json:"threshold"`
		Unit      string         `json:"unit"`
		Subject   string         `json:"subject,omitempty"`
		Evidence  []jsonEvidence `json:"evidence"`
	}
	jsonRelists struct {
		Proven  int          `json:"proven"`
		Bounded int          `json:"bounded"`
		P50     *float64     `json:"p50_seconds"`
		P99     *float64     `json:"p99_seconds"`
		Max     *float64     `json:"max_seconds"`
		Longest []jsonRelist `json:"longest"`
	}
	jsonRelist struct {
		Start      *string        `json:"start"`
		StartSlack *float64       `json:"start_uncertainty_seconds"`
		End        *string        `json:"end"`
		EndSlack   *float64       `json:"end_uncertainty_seconds"`
		Duration   *float64       `json:"duration_seconds,omitempty"`
		Outcome    string         `json:"outcome"`
		Listed     *bool          `json:"listed"`
		Basis      []string       `json:"basis"`
		Evidence   []jsonEvidence `json:"evidence"`
	}
	jsonOperation struct {
		Operation string         `json:"operation"`
		Calls     *int           `json:"calls"`
		Errors    int            `json:"errors"`
		P50       *float64       `json:"p50_seconds"`
		P99       *float64       `json:"p99_seconds"`
		Total     *float64       `json:"total_seconds"`
		Share     *float64       `json:"share_of_relist"`
		Evidence  []jsonEvidence `json:"evidence,omitempty"`
	}
	jsonEvents struct {
		Observed   int      `json:"observed"`
		Replayed   *int     `json:"replayed"`
		Missing    *int     `json:"missing"`
		Late       *int     `json:"late"`
		Unexpected *int     `json:"unexpected"`
		Discarded  int      `json:"discarded"`
		ShortLived int      `json:"short_lived,omitempty"`
		Notes      []string `json:"notes,omitempty"`
	}
	jsonBlame struct {
		Start       *string     `json:"relist_start"`
		Total       float64     `json:"total_seconds"`
		List        *float64    `json:"list_seconds"`
		Inspect     *float64    `json:"inspect_seconds"`
		ByOperation []jsonShare `json:"by_operation"`
		ByPod       []jsonShare `json:"by_pod"`
		Unexplained float64     `json:"unexplained_seconds"`
		Notes       []string    `json:"notes,omitempty"`
	}
	jsonShare struct {
		What     string         `json:"what"`
		ID       string         `json:"id,omitempty"`
		Seconds  float64        `json:"seconds"`
		Calls    int            `json:"calls,omitempty"`
		Evidence []jsonEvidence `json:"evidence"`
	}
	jsonCause struct {
		ID          string         `json:"id"`
		Title       string         `json:"title"`
		Level       string         `json:"level"`
		Confidence  float64        `json:"confidence"`
		Episodes    []int          `json:"episodes"`
		For         []jsonEvidence `json:"for"`
		Against     []jsonEvidence `json:"against"`
		Missing     []string       `json:"missing"`
		Explanation string         `json:"explanation"`
		Path        []string       `json:"path,omitempty"`
		Remediation []string       `json:"remediation"`
		Commands    []string       `json:"commands,omitempty"`
		References  []string       `json:"references"`
	}
	jsonGap struct {
		jsonSpan
		Why string `json:"why"`
	}
	jsonCorrelation struct {
		Kind     string         `json:"kind"`
		Summary  string         `json:"summary"`
		Nodes    []string       `json:"nodes"`
		Start    *string        `json:"start"`
		End      *string        `json:"end"`
		Cause    string         `json:"cause,omitempty"`
		Evidence []jsonEvidence `json:"evidence"`
	}
	jsonFindings struct {
		Critical int `json:"critical"`
		Warning  int `json:"warning"`
		Info     int `json:"info"`
	}
)

func writeJSON(w io.Writer, r *Report, _ Options) error {
	j := toJSON(r)
	return encode(w, &j)
}

// encode writes one JSON document, given by pointer: strings made visible, but
// no HTML escaping.
func encode(w io.Writer, v any) error {
	scrub(v)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func toJSON(r *Report) jsonReport {
	c := r.Findings()
	out := jsonReport{
		Schema:       "plegforensics/report/v1",
		Tool:         jsonTool{r.Version},
		Inputs:       []jsonInput{},
		Nodes:        []jsonNode{},
		Correlations: []jsonCorrelation{},
		Findings:     jsonFindings(c),
	}
	for i := range r.Alerts {
		out.Alerts = append(out.Alerts, alertJSON(&r.Alerts[i]))
	}
	for i, in := range r.Inputs {
		j := jsonInput{Path: Visible(in.Path), Kind: in.Kind, Files: in.Files, FilesUsed: in.FilesUsed,
			Bytes: in.Bytes, Partial: in.Partial, Warnings: []jsonWarning{}}
		for _, w := range r.Warnings {
			if w.File != nil && w.File.Input == i || w.File == nil && i == 0 {
				j.Warnings = append(j.Warnings, jsonWarning{warningFile(w, in), w.Line, w.Offset, Visible(w.Msg)})
			}
		}
		out.Inputs = append(out.Inputs, j)
	}
	for _, n := range r.Nodes {
		out.Nodes = append(out.Nodes, nodeJSON(n))
	}
	for _, c := range r.Correlations {
		out.Correlations = append(out.Correlations, jsonCorrelation{c.Kind, c.Summary, list(c.Nodes),
			stamp(c.Start), stamp(c.End), c.Cause, evidenceJSON(c.Evidence)})
	}
	return out
}

// warningFile is the member that w is about, the input itself if it names none.
func warningFile(w parse.Warning, in parse.Input) string {
	if w.File == nil {
		return Visible(in.Path)
	}
	return Visible(w.File.Path)
}

func nodeJSON(n Node) jsonNode {
	j := jsonNode{
		Name:       Visible(n.Name),
		Kubelet:    kubeletJSON(n.Kubelet),
		Window:     jsonWindow{stamp(n.Window.Start), stamp(n.Window.End), n.Window.Timezone, n.Window.TimezoneBasis},
		Status:     n.Status,
		Summary:    Visible(n.Summary),
		Episodes:   []jsonEpisode{},
		Breaches:   []jsonBreach{},
		Relists:    relistsJSON(n.Node),
		Operations: []jsonOperation{},
		Events:     eventsJSON(n.Audit, n.Observed.Len()),
		Causes:     causesJSON(n.Causes),
	}
	for i := range n.Episodes {
		j.Episodes = append(j.Episodes, episodeJSON(&n.Episodes[i], n.Causes))
	}
	for _, b := range n.Breaches {
		j.Breaches = append(j.Breaches, jsonBreach{b.Rule, string(b.Severity), stamp(b.Start), stamp(b.End),
			number(b.Value), number(b.Threshold), b.Unit, b.Subject, evidenceJSON(b.Evidence)})
	}
	for _, o := range n.Ops {
		j.Operations = append(j.Operations, operationJSON(o))
	}
	for _, b := range n.Node.Blame {
		j.Blame = append(j.Blame, blameJSON(n.Node, b))
	}
	j.WhatIf = whatIfJSON(n.WhatIf)
	if len(n.LookAlikes) > 0 {
		j.LookAlikes = causesJSON(n.LookAlikes)
	}
	for _, g := range n.Gaps {
		j.Gaps = append(j.Gaps, jsonGap{jsonSpan{stamp(g.From), stamp(g.To)}, g.Why})
	}
	return j
}

func kubeletJSON(k replay.Kubelet) jsonKubelet {
	j := jsonKubelet{Version: known(k.Version), VersionMin: k.VersionMin, VersionMax: k.VersionMax,
		Runtime: known(k.Runtime), PLEG: k.PLEG, Period: positive(k.Period), Threshold: positive(k.Threshold),
		RPCTimeout: positive(k.RPCTimeout), Basis: k.Basis, Evidence: evidenceJSON(k.Evidence)}
	if k.Verbosity >= 0 {
		j.Verbosity = &k.Verbosity
	}
	return j
}

func episodeJSON(e *replay.Episode, causes []rules.Cause) jsonEpisode {
	j := jsonEpisode{
		ID: e.ID, LastRelistStart: stamp(e.LastStart.At), Breach: stamp(e.Breach),
		FirstReport: stamp(e.FirstReport), LastReport: stamp(e.LastReport),
		Recovered: stamp(e.Recovered.At), RecoveredBasis: e.RecoveredBasis,
		Threshold: seconds(e.Threshold), Reports: e.Reports, NeverRelisted: e.Never,
		StuckStep: string(e.StuckStep), StuckStepBasis: e.StepBasis,
		Causes: []string{}, Evidence: evidenceJSON(e.Evidence),
	}
	if e.PeakAge > 0 {
		j.PeakAge = number(seconds(e.PeakAge))
	}
	if e.LastStart.Known() {
		j.Uncertainty = number(seconds(e.LastStart.Slack))
	}
	if e.Recovered.Known() {
		j.RecoveredSlack = number(seconds(e.Recovered.Slack))
	}
	if len(e.LastStarts) > 1 {
		for _, s := range e.LastStarts {
			j.LastStarts = append(j.LastStarts, *stamp(s.At))
		}
	}
	if e.NotReady != nil {
		j.NotReady = &jsonSpan{stamp(e.NotReady.From), stamp(e.NotReady.To)}
	}
	for _, c := range causes {
		for _, id := range c.Episodes {
			if id == e.ID {
				j.Causes = append(j.Causes, c.ID)
			}
		}
	}
	return j
}

func relistsJSON(n *replay.Node) jsonRelists {
	s := Durations(n)
	j := jsonRelists{Proven: len(n.Relists), Bounded: len(n.Bounded), Longest: []jsonRelist{}}
	if len(s.Sorted) > 0 {
		j.P50, j.P99, j.Max = number(seconds(s.P50)), number(seconds(s.P99)), number(seconds(s.Max))
	}
	for _, i := range s.Longest {
		j.Longest = append(j.Longest, relistJSON(&n.Relists[i]))
	}
	return j
}

func relistJSON(r *replay.Relist) jsonRelist {
	j := jsonRelist{Start: stamp(r.Start.At), End: stamp(r.End.At), Outcome: string(r.Outcome),
		Listed: r.Listed, Basis: list(r.Basis), Evidence: evidenceJSON(r.Evidence)}
	if r.Start.Known() {
		j.StartSlack = number(seconds(r.Start.Slack))
	}
	if r.End.Known() {
		j.EndSlack = number(seconds(r.End.Slack))
	}
	if d, ok := r.Duration(); ok {
		j.Duration = number(seconds(d))
	}
	return j
}

func operationJSON(o replay.Operation) jsonOperation {
	j := jsonOperation{Operation: o.Name, Errors: o.Errors, P50: notNegative(o.P50), P99: notNegative(o.P99),
		Total: notNegative(o.Total), Evidence: evidenceJSON(o.Evidence)}
	if o.Calls >= 0 {
		j.Calls = &o.Calls
	}
	if o.ShareOfRelist >= 0 {
		j.Share = number(o.ShareOfRelist)
	}
	return j
}

func eventsJSON(a replay.Audit, observed int) jsonEvents {
	j := jsonEvents{Observed: observed, Discarded: a.Discarded, ShortLived: len(a.ShortLived), Notes: a.Notes}
	if a.Audited {
		j.Replayed, j.Missing, j.Late, j.Unexpected = &a.Replayed, &a.Missing, &a.Late, &a.Unexpected
	}
	return j
}

func blameJSON(n *replay.Node, b replay.Blame) jsonBlame {
	j := jsonBlame{Total: seconds(b.Total), List: notNegative(b.List), Inspect: notNegative(b.Inspect),
		ByOperation: sharesJSON(b.ByOperation), ByPod: sharesJSON(b.ByPod),
		Unexplained: seconds(b.Unexplained), Notes: b.Notes}
	if b.Relist >= 0 && b.Relist < len(n.Relists) {
		j.Start = stamp(n.Relists[b.Relist].Start.At)
	}
	return j
}

func sharesJSON(ss []replay.Share) []jsonShare {
	out := []jsonShare{}
	for _, s := range ss {
		out = append(out, jsonShare{Visible(s.What), s.ID, seconds(s.Took), s.Calls, evidenceJSON(s.Evidence)})
	}
	return out
}

func causesJSON(cs []rules.Cause) []jsonCause {
	out := []jsonCause{}
	for _, c := range cs {
		eps := c.Episodes
		if eps == nil {
			eps = []int{}
		}
		out = append(out, jsonCause{c.ID, c.Title, string(c.Level), round2(c.Confidence), eps,
			evidenceJSON(c.For), evidenceJSON(c.Against), list(c.Missing), c.Explanation, c.Path,
			list(c.Remediation), c.Commands, list(c.References)})
	}
	return out
}

func evidenceJSON(es []replay.Evidence) []jsonEvidence {
	out := []jsonEvidence{}
	for _, e := range es {
		if e.Record == nil {
			continue
		}
		p := e.Where()
		j := jsonEvidence{Line: p.Line, Text: Quote(e.Quote()), Source: string(e.From()), Note: Visible(e.Note)}
		if p.File != nil {
			j.File = Visible(p.File.Path)
		}
		if p.File == nil || !p.File.Export {
			j.Offset = &p.Offset
		}
		if s := e.When(); s.Basis > 0 {
			j.Time = stamp(s.At)
		}
		out = append(out, j)
	}
	return out
}

// stamp formats Unix ns as RFC 3339 with nanoseconds in UTC, nil for unknown.
func stamp(at int64) *string {
	if at == 0 {
		return nil
	}
	s := time.Unix(0, at).UTC().Format("2006-01-02T15:04:05.000000000Z")
	return &s
}

func known(s string) *string {
	if s == "" {
		return nil
	}
	s = Visible(s)
	return &s
}

func number(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

func positive(d time.Duration) *float64 {
	if d <= 0 {
		return nil
	}
	return number(seconds(d))
}

func notNegative(d time.Duration) *float64 {
	if d < 0 {
		return nil
	}
	return number(seconds(d))
}

func round2(f float64) float64 { return math.Round(f*100) / 100 }

// list is xs made visible, never null.
func list(xs []string) []string {
	out := []string{}
	for _, x := range xs {
		out = append(out, Visible(x))
	}
	return out
}
