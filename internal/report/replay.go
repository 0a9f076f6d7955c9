package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/simulate"
)

// ReplayWriter writes a replay while it runs: relists one by one, then the
// rest. Errors are kept and returned by End.
type ReplayWriter interface {
	Relist(*simulate.Relist)
	End(*ReplayEnd) error
}

// ReplayEnd is what is known once a replay is over.
type ReplayEnd struct {
	Totals      simulate.Totals
	Machine     *pleg.Machine
	Answer      *simulate.Answer // nil without --what-if
	Assumptions []string
	Warnings    []parse.Warning
}

// ReplayFormat is an output format of replay.
type ReplayFormat struct {
	Name  string
	About string
	New   func(w io.Writer, p pleg.Profile, showFiltered bool) ReplayWriter
}

// ReplayFormats are the output formats of replay.
var ReplayFormats = []ReplayFormat{
	{"text", "events, health and the answer, for people", newReplayText},
	{"json", "one object, schema plegforensics/replay/v1", newReplayJSON},
}

// The types below mirror schema plegforensics/replay/v1.
type (
	jsonProfile struct {
		Version    *string  `json:"kubelet_version"`
		Assumed    bool     `json:"assumed"`
		Family     string   `json:"family"`
		PLEG       string   `json:"pleg"`
		Period     float64  `json:"relist_period_seconds"`
		Threshold  float64  `json:"relist_threshold_seconds"`
		RPCTimeout float64  `json:"runtime_request_timeout_seconds"`
		Capacity   int      `json:"channel_capacity"`
		Parallel   int      `json:"parallel_inspect"`
		Behaviour  []string `json:"behaviour"`
	}
	jsonSimRelist struct {
		Start     *string        `json:"start"`
		End       *string        `json:"end"`
		Outcome   string         `json:"outcome"`
		LastSeen  *string        `json:"last_seen"`
		Healthy   bool           `json:"healthy"`
		Events    []jsonSimEvent `json:"events"`
		Inspected []string       `json:"inspected"`
		Failed    []string       `json:"inspect_failed"`
		Reinspect []string       `json:"reinspect"`
		Blocked   bool           `json:"blocked,omitempty"`
		Stream    bool           `json:"stream,omitempty"`
	}
	jsonSimEvent struct {
		Pod       string `json:"pod"`
		Type      string `json:"type"`
		Data      string `json:"data"`
		Delivered bool   `json:"delivered"`
		ExitCode  *int   `json:"exit_code,omitempty"`
	}
	jsonSimEnd struct {
		Unhealthy   []jsonUnhealthy    `json:"unhealthy"`
		Metrics     jsonSimMetrics     `json:"metrics"`
		WhatIf      *jsonAnswer        `json:"what_if,omitempty"`
		Assumptions []string           `json:"assumptions"`
		Exposed     []simulate.Exposed `json:"exposed"`
		Warnings    []jsonWarning      `json:"warnings"`
	}
	jsonUnhealthy struct {
		jsonSpan
		Never bool `json:"never_relisted,omitempty"`
	}
	jsonSimMetrics struct {
		Relists   int     `json:"relists"`
		Failed    int     `json:"relists_failed"`
		Discarded int     `json:"discarded_events"`
		Duration  float64 `json:"duration_seconds_sum"`
		Intervals int     `json:"interval_seconds_count"`
		Interval  float64 `json:"interval_seconds_sum"`
	}
	jsonAnswer struct {
		Changes  []string        `json:"changes"`
		Sentence string          `json:"answer"`
		Table    []jsonAnswerRow `json:"table"`
	}
	jsonAnswerRow struct {
		Measure string  `json:"measure"`
		Unit    string  `json:"unit"`
		Was     float64 `json:"was"`
		Would   float64 `json:"would"`
	}
)

type replayJSON struct {
	w        *bufio.Writer
	err      error
	n        int
	filtered bool
}

func newReplayJSON(w io.Writer, p pleg.Profile, showFiltered bool) ReplayWriter {
	j := &replayJSON{w: bufio.NewWriterSize(w, 1<<16), filtered: showFiltered}
	j.text("{\"schema\":\"plegforensics/replay/v1\",\n\"profile\":")
	j.value(profileJSON(p))
	j.text(",\n\"relists\":[")
	return j
}

func (j *replayJSON) text(s string) {
	if j.err == nil {
		_, j.err = j.w.WriteString(s)
	}
}

func (j *replayJSON) value(v any) {
	b, err := compact(v)
	if err != nil && j.err == nil {
		j.err = err
	}
	j.text(string(b))
}

// compact is one line of JSON with < and > as they are.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Relist implements ReplayWriter.
func (j *replayJSON) Relist(r *simulate.Relist) {
	if j.n++; j.n > 1 {
		j.text(",")
	}
	j.text("\n")
	out := jsonSimRelist{Start: stamp(r.Start), Outcome: string(replay.OutcomeOK), LastSeen: stamp(r.LastSeen),
		Healthy: r.Healthy, Events: []jsonSimEvent{}, Inspected: visibleAll(r.Inspected), Failed: visibleAll(r.Failed),
		Reinspect: visibleAll(r.Reinspect), Blocked: r.Blocked, Stream: r.Stream}
	if !r.OK() {
		out.Outcome = string(replay.OutcomeListFailed)
	}
	if !r.Blocked {
		out.End = stamp(r.End)
	}
	for _, e := range r.Events {
		if e.Filtered() && !j.filtered {
			continue
		}
		out.Events = append(out.Events, jsonSimEvent{Visible(e.Pod), string(e.Type), Visible(e.Data), e.Delivered, e.ExitCode})
	}
	j.value(out)
}

// End implements ReplayWriter.
func (j *replayJSON) End(end *ReplayEnd) error {
	out := jsonSimEnd{Unhealthy: []jsonUnhealthy{}, Metrics: simMetrics(&end.Totals), Exposed: simulate.Exposition(end.Machine, &end.Totals),
		Assumptions: end.Assumptions, Warnings: []jsonWarning{}}
	for _, u := range end.Totals.Unhealthy {
		out.Unhealthy = append(out.Unhealthy, jsonUnhealthy{jsonSpan{stamp(u.From), stamp(u.To)}, u.Never})
	}
	if end.Answer != nil {
		out.WhatIf = answerJSON(end.Answer)
		out.Assumptions = end.Answer.Assumptions
	}
	for _, w := range end.Warnings {
		out.Warnings = append(out.Warnings, warningJSON(w))
	}
	b, err := compact(out)
	if err != nil && j.err == nil {
		j.err = err
	}
	j.text("\n],\n")
	if len(b) > 1 {
		j.text(string(b[1:])) // the fields of out stand beside "relists"
	}
	j.text("\n")
	if j.err != nil {
		return j.err
	}
	return j.w.Flush()
}

func warningJSON(w parse.Warning) jsonWarning {
	j := jsonWarning{Line: w.Line, Offset: w.Offset, Message: Visible(w.Msg)}
	if w.File != nil {
		j.File = Visible(w.File.Path)
	}
	return j
}

func profileJSON(p pleg.Profile) jsonProfile {
	j := jsonProfile{Assumed: p.Assumed, Family: p.Family, PLEG: "generic", Period: seconds(p.Period),
		Threshold: seconds(p.Threshold), RPCTimeout: seconds(p.RPCTimeout), Capacity: p.Capacity, Parallel: p.Parallel,
		Behaviour: []string{}}
	if p.Version != "" {
		v := Visible(p.Version)
		j.Version = &v
	}
	if p.Evented {
		j.PLEG = "evented"
	}
	for _, s := range p.Switches() {
		j.Behaviour = append(j.Behaviour, string(s))
	}
	return j
}

func simMetrics(t *simulate.Totals) jsonSimMetrics {
	return jsonSimMetrics{t.Duration.Count, t.Failed, t.Discarded, seconds(t.Duration.Sum), t.Interval.Count, seconds(t.Interval.Sum)}
}

func answerJSON(a *simulate.Answer) *jsonAnswer {
	j := &jsonAnswer{Changes: visibleAll(a.Changes), Sentence: Visible(a.Sentence)}
	for _, r := range a.Rows {
		j.Table = append(j.Table, jsonAnswerRow{r.Measure, r.Unit, r.Was, r.Would})
	}
	return j
}

// visibleAll is Visible over a list, never nil.
func visibleAll(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = Visible(s)
	}
	return out
}

// clockText is a moment as the replay text prints it.
func clockText(ns int64) string {
	if ns == 0 {
		return "never"
	}
	return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05.000Z")
}
