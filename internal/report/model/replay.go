package model

import (
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/scenario"
	"github.com/plegforensics/plegforensics/replay/simulate"
)

// Replay is plegforensics/replay/v1, what replay writes. The relists are
// written while they are simulated, the rest at the end.
type Replay struct {
	Schema  string      `json:"schema"`
	Profile Profile     `json:"profile"`
	Relists []SimRelist `json:"relists"`
	ReplayEnd
}

// Profile is the kubelet that was simulated.
type Profile struct {
	Version    *string  `json:"kubelet_version"`
	Assumed    bool     `json:"assumed"`
	Rules      string   `json:"rules,omitempty"` // of a version newer than any known: whose rules were used
	Family     string   `json:"family"`
	PLEG       string   `json:"pleg"`
	Period     float64  `json:"relist_period_seconds"`
	Threshold  float64  `json:"relist_threshold_seconds"`
	RPCTimeout *float64 `json:"runtime_request_timeout_seconds"`
	Capacity   int      `json:"channel_capacity"`
	Parallel   int      `json:"parallel_inspect"`
	Behaviour  []string `json:"behaviour"`
}

// SimRelist is one simulated relist.
type SimRelist struct {
	Start     Time       `json:"start"`
	End       Time       `json:"end"` // unknown where it is blocked
	Outcome   string     `json:"outcome"`
	LastSeen  Time       `json:"last_seen"`
	Healthy   bool       `json:"healthy"`          // of a log: proven so
	Health    string     `json:"health,omitempty"` // of a log: healthy, unhealthy, unknown, …
	Events    []SimEvent `json:"events"`
	Inspected []string   `json:"inspected"`
	Failed    []string   `json:"inspect_failed"`
	Reinspect []string   `json:"reinspect"`
	Blocked   bool       `json:"blocked,omitempty"`
	Stream    bool       `json:"stream,omitempty"`
	Assumed   bool       `json:"assumed,omitempty"` // nothing dates it

	Pods      int     `json:"-"` // listed, -1 unknown
	ListError string  `json:"-"`
	Discarded int     `json:"-"`
	Took      float64 `json:"-"` // seconds
}

// SimEvent is an event that the simulated PLEG made.
type SimEvent struct {
	Pod       string `json:"pod"`
	Type      string `json:"type"`
	Data      string `json:"data"`
	Delivered bool   `json:"delivered"`
	ExitCode  *int   `json:"exit_code,omitempty"`

	Filtered bool `json:"-"` // the kubelet keeps it to itself
}

// ReplayEnd is what is known once a replay is over.
type ReplayEnd struct {
	Unhealthy   []SimUnhealthy `json:"unhealthy"`
	Health      []Health       `json:"health,omitempty"`   // of a log: as timeline tells it
	Episodes    []Episode      `json:"episodes,omitempty"` // of a log: as analyze tells them
	Metrics     SimMetrics     `json:"metrics"`
	WhatIf      *SimAnswer     `json:"what_if,omitempty"`
	Assumptions []string       `json:"assumptions"`
	Exposed     []Exposed      `json:"exposed"`
	Warnings    []Warning      `json:"warnings"`
	Scenario    *SimScenario   `json:"scenario,omitempty"`

	Longest   float64 `json:"-"` // seconds
	LongestAt Time    `json:"-"`
	Sent      int     `json:"-"` // events
}

// SimUnhealthy is a stretch in which the simulated PLEG was unhealthy.
type SimUnhealthy struct {
	Span
	Never bool `json:"never_relisted,omitempty"`
}

// SimMetrics sums up a replay.
type SimMetrics struct {
	Relists   int     `json:"relists"`
	Failed    int     `json:"relists_failed"`
	Discarded int     `json:"discarded_events"`
	Duration  float64 `json:"duration_seconds_sum"`
	Intervals int     `json:"interval_seconds_count"`
	Interval  float64 `json:"interval_seconds_sum"`
}

// SimAnswer is the answer to --what-if.
type SimAnswer struct {
	Changes  []string    `json:"changes"`
	Sentence string      `json:"answer"`
	Table    []AnswerRow `json:"table"`
}

// SimScenario is what was simulated in place of an input.
type SimScenario struct {
	Text       string     `json:"scenario"`
	Calibrated []string   `json:"calibrated,omitempty"` // what was measured for it
	From       Time       `json:"calibrated_from,omitzero"`
	To         Time       `json:"calibrated_to,omitzero"`
	Used       []Span     `json:"calibrated_stretches,omitempty"` // of that time, those measured by
	Found      []SimFound `json:"found,omitempty"`
	Longest    float64    `json:"longest_relist_seconds"`
	Sent       int        `json:"events_sent"`
	Cut        bool       `json:"cut,omitempty"` // ended early: too many relists
}

// SimFound is the answer to --find.
type SimFound scenario.Found

// Exposed is one sample of the simulated kubelet's own metrics.
type Exposed = simulate.Exposed

// Profile describes a simulated kubelet.
func (c *Cleaner) Profile(p pleg.Profile) Profile {
	out := Profile{Version: c.known(p.Version), Assumed: p.Assumed, Rules: p.Beyond(), Family: p.Family, PLEG: "generic", Period: Seconds(p.Period),
		Threshold: Seconds(p.Threshold), RPCTimeout: Longer(p.RPCTimeout), Capacity: p.Capacity, Parallel: p.Parallel,
		Behaviour: list(p.Switches(), func(s pleg.Switch) string { return string(s) })}
	if p.Evented {
		out.PLEG = "evented"
	}
	return out
}

// SimRelist cleans a simulated relist.
func (c *Cleaner) SimRelist(r *simulate.Relist) SimRelist {
	out := SimRelist{Start: Time(r.Start), Outcome: string(replay.OutcomeOK), LastSeen: Time(r.LastSeen), Healthy: r.Healthy, Events: list(r.Events, c.simEvent),
		Inspected: list(r.Inspected, c.name), Failed: list(r.Failed, c.name), Reinspect: list(r.Reinspect, c.name), Blocked: r.Blocked, Stream: r.Stream, Health: string(r.Health), Assumed: r.Assumed,
		Pods: r.Pods, ListError: c.text(r.ListErr), Discarded: r.Discarded, Took: float64(r.End-r.Start) / 1e9}
	switch {
	case !r.OK():
		out.Outcome = string(replay.OutcomeListFailed)
	case r.Unsure && r.Open:
		out.Outcome = string(replay.OutcomeHung)
	case r.Unsure:
		out.Outcome = string(replay.OutcomeUnknown)
	}
	if !r.Blocked && !r.Open && !r.Assumed {
		out.End = Time(r.End)
	}
	if r.Undated {
		out.Start, out.End, out.LastSeen = 0, 0, 0
	}
	return out
}

func (c *Cleaner) simEvent(e pleg.Event) SimEvent {
	return SimEvent{c.name(e.Pod), string(e.Type), c.text(e.Data), e.Delivered, e.ExitCode, e.Filtered()}
}

// Simulated is what is known once a replay is over.
type Simulated struct {
	Totals      simulate.Totals
	Machine     *pleg.Machine    // nil: its metrics are not those of the kubelet
	Node        *Analyzed        // whose history was replayed as it was; nil
	Answer      *simulate.Answer // nil without --what-if
	Scenario    *SimScenario     // nil where something was recorded
	Assumptions []string
	Warnings    []parse.Warning
}

// ReplayEnd cleans the end of a replay.
func (c *Cleaner) ReplayEnd(s *Simulated) ReplayEnd {
	t := &s.Totals
	out := ReplayEnd{Assumptions: c.texts(s.Assumptions), Exposed: []Exposed{}, Warnings: c.warnings(s.Warnings),
		Unhealthy: list(t.Unhealthy, func(u simulate.Unhealthy) SimUnhealthy { return SimUnhealthy{Span{Time(u.From), Time(u.To)}, u.Never} }),
		Metrics:   SimMetrics{t.Duration.Count, t.Failed, t.Discarded, Seconds(t.Duration.Sum), t.Interval.Count, Seconds(t.Interval.Sum)},
		Longest:   Seconds(t.Longest), LongestAt: Time(t.LongestAt), Sent: t.Events}
	if s.Machine != nil {
		out.Exposed = simulate.Exposition(s.Machine, t)
	}
	if s.Scenario != nil {
		made := *s.Scenario
		made.Text, made.Longest, made.Sent = c.text(made.Text), out.Longest, out.Sent
		out.Scenario = &made
	}
	if s.Node != nil {
		out.Health, out.Episodes = list(s.Node.Health, healthOf), c.episodes(s.Node)
	}
	if s.Answer != nil {
		a := c.answer(s.Answer)
		out.WhatIf, out.Assumptions = &a.SimAnswer, a.Assumptions
	}
	return out
}
