package model

import (
	"math"
	"slices"
	"strconv"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/age"
	"github.com/plegforensics/plegforensics/replay/blame"
	"github.com/plegforensics/plegforensics/replay/simulate"
	"github.com/plegforensics/plegforensics/rules"
	"github.com/plegforensics/plegforensics/rules/advice"
)

// Fill builds the report of an analysis. If names is not nil, it replaces the names of the cluster.
func Fill(a *Analysis, names Names) *Report {
	c := NewCleaner(names)
	r := &Report{Schema: SchemaName("report"), Tool: Tool{a.Version}, Inputs: []Input{}, Nodes: []*Node{},
		Correlations: []Correlation{}, Alerts: list(a.Alerts, c.alert), Findings: a.Findings(), Warnings: c.warnings(a.Warnings)}
	for i, in := range a.Inputs {
		r.Inputs = append(r.Inputs, c.input(in, i, a.Warnings))
	}
	for i := range a.Nodes {
		n := c.node(&a.Nodes[i])
		r.Nodes = append(r.Nodes, n)
		for k := range n.Conflicts {
			r.Warnings = append(r.Warnings, n.Conflicts[k].warning())
		}
	}
	r.Inspect = func() *Inspect {
		x := c.inspect(a)
		x.Missing, x.Warnings = c.needList(slices.Concat(needsOfNodes(a), needsBeside(a))), c.warnings(a.Warnings)
		return x
	}
	return r
}

// Tell tells names everything that the report of an analysis says, and keeps none of it: the report
// of many nodes is large. It leaves out warnings, and what inspect wants of a node, of which the
// report says the same but for the time.
func Tell(a *Analysis, names Names) {
	c := NewCleaner(names)
	for i := range a.Alerts {
		c.alert(a.Alerts[i])
	}
	for _, in := range a.Inputs {
		c.held(in)
	}
	for i := range a.Nodes {
		c.node(&a.Nodes[i])
	}
	c.inspect(a)
	c.needList(needsBeside(a))
	for i := range a.Nodes {
		for _, e := range a.Nodes[i].Audit.Events.All() {
			c.event(e)
		}
		for _, q := range a.Nodes[i].Requests.All() {
			c.request(q)
		}
	}
}

func (c *Cleaner) input(in parse.Input, i int, ws []parse.Warning) Input {
	out := Input{Held: c.held(in)}
	out.Warnings = func(yield func(Warning) bool) { // there may be a million
		for _, w := range ws {
			if (w.File != nil && w.File.Input == i || w.File == nil && i == 0) && !yield(c.warning(w, out.Path)) {
				return
			}
		}
	}
	return out
}

func (c *Cleaner) held(in parse.Input) Held {
	in.Path = c.inputPath(in.Path)
	return Held(in)
}

func (c *Cleaner) warnings(ws []parse.Warning) []Warning {
	return list(ws, func(w parse.Warning) Warning { return c.warning(w, "") })
}

// warning converts a warning; one without a file is attributed to input.
func (c *Cleaner) warning(w parse.Warning, input string) Warning {
	out := Warning{File: input, Line: w.Line, Offset: w.Offset, Message: c.text(w.Msg)}
	if w.File != nil {
		out.File, out.placed = c.path(w.File.Path), true
	}
	return out
}

func (c *Cleaner) node(n *Analyzed) *Node {
	run := advice.CommandsFor(n.Node, n.Breaches)
	cause := func(x rules.Cause) Cause { return c.cause(&x, run) }
	out := &Node{
		Name: c.name(n.Name), Kubelet: c.kubelet(&n.Kubelet), Status: n.Status, Summary: c.text(n.Summary), Silent: n.Silent,
		Window:   Window{Time(n.Window.Start), Time(n.Window.End), c.text(n.Window.Timezone), c.text(n.Window.TimezoneBasis), c.text(n.Window.YearBasis), Given(n.Window.Step != 0, Seconds(n.Window.Step)), Given(n.Window.Lines.From > n.Window.Start || n.Window.Lines.To != 0 && n.Window.Lines.To < n.Window.End, Span{Time(n.Window.Lines.From), Time(n.Window.Lines.To)})},
		Breaches: list(n.Breaches, c.breach), Crossed: n.Crossed, Operations: list(n.Ops, c.operation), Events: c.counts(n),
		Blame:  list(n.Blame, func(b blame.Blame) Blame { return c.blame(&b, n.Relists) }),
		Causes: list(n.Causes, cause), LookAlikes: list(n.LookAlikes, cause), Unjudged: list(n.Unjudged, c.unjudged), Undecided: list(n.Undecided, func(u rules.Undecided) Undecided { return Undecided{u.Rule, c.text(u.Reason)} }), WhatIf: list(n.WhatIf, c.answer), Conflicts: list(n.Contradictions, c.conflict),
		History: c.history(n), Audited: c.audited(n), Collect: c.needList(advice.OfNode(n.Node, &n.Result, run)), Sources: list(covered, func(r coveredRow) SourceCover { return cover(n.Node, r) }),
		Kernel: c.lastFact(n.Facts, facts.KeyKernel), OS: c.lastFact(n.Facts, facts.KeyOS),
	}
	h := out.History
	h.Counts, out.Episodes, out.Worst, out.Health, out.Gaps = out.Events, h.Told, rules.WorstEpisode(n.Episodes), h.Health, h.Gaps
	h.Conflicts, out.Audited.Conflicts = out.Conflicts, out.Conflicts
	out.Relists = c.relistStats(n.Node)
	out.Relists.Counted, out.Relists.OnDemand = c.counted(replay.CountedRelists(n.Series)), h.OnDemand
	if note := out.Kubelet.Note(); note != "" {
		h.Notes = []string{note}
		out.Audited.Audit.Notes = append(out.Audited.Audit.Notes, note)
	}
	return out
}

func (c *Cleaner) breach(b rules.Breach) Breach {
	return Breach{b.Rule, string(b.Severity), Time(b.Start), Time(b.End), Number(b.Value), b.Slack, b.Least, Seconds(b.StartSlack), Seconds(b.EndSlack), Number(b.Threshold), c.text(b.Unit), c.text(b.Subject), c.Proof(b.Evidence)}
}

func (c *Cleaner) unjudged(u rules.Unjudged) Unjudged {
	return Unjudged{c.text(u.ID), c.text(u.Title), c.texts(u.Needs)}
}

// conflict builds a Conflict whose message quotes both lines.
func (c *Cleaner) conflict(x replay.Contradiction) Conflict {
	out := Conflict{Evidence: c.Proof(x.Evidence), Against: c.Proof(x.Against)}
	quote := func(p Proof) string {
		e := p.Best()
		if e == nil {
			return "what follows from others"
		}
		return strconv.Quote(Cut(e.Message(), 160)) + " (" + e.Where() + ")"
	}
	out.Message = c.text(x.What) + ": " + quote(out.Evidence) + " against " + quote(out.Against) + ", which counts"
	switch {
	case len(x.Against) == 0: // it contradicts itself
		out.Message = c.text(x.What) + ": " + quote(out.Evidence)
	case x.Equal:
		out.Message = c.text(x.What) + ": " + quote(out.Evidence) + " and " + quote(out.Against)
	}
	return out
}

// lastFact returns the value of the last fact with the key, or "".
func (c *Cleaner) lastFact(fs []*parse.Fact, key string) string {
	for i := len(fs) - 1; i >= 0; i-- {
		if fs[i].Key == key {
			return c.text(fs[i].Value)
		}
	}
	return ""
}

func (c *Cleaner) kubelet(k *replay.Kubelet) Kubelet {
	return Kubelet{Version: c.known(k.Version), VersionMin: c.text(k.VersionMin), VersionMax: c.text(k.VersionMax), Runtime: c.known(k.Runtime),
		Rules: pleg.Beyond(k.Version), PLEG: k.PLEG, Period: Longer(k.Period), Threshold: Longer(k.Threshold), RPCTimeout: Longer(k.CallTimeout()),
		Verbosity: count(k.Verbosity), Basis: c.text(k.Basis), Evidence: c.Proof(k.Evidence)}
}

func (c *Cleaner) episodes(n *Analyzed, ages func() []age.Span) []Episode {
	out := list(n.Episodes, func(e replay.Episode) Episode { return c.episode(&e, n) })
	for i := range out {
		b := n.Bounds(i)
		if out[i].Recovered != 0 {
			out[i].RecoveredSlack = Long(n.RecoveredSlack(i))
		}
		out[i].FirstBreach, out[i].RecoveredFrom, out[i].RecoveredBy = Time(b.FromEarliest), Time(b.ToEarliest), Time(b.ToLatest)
	}
	for i, peak := range age.Peaks(n.Node, ages) {
		out[i].OldestAge = Longer(peak)
	}
	return out
}

func (c *Cleaner) episode(e *replay.Episode, n *Analyzed) Episode {
	out := Episode{
		ID: e.ID, LastRelistStart: Time(e.LastStart.At), Breach: Time(e.Breach), FirstReport: Time(e.FirstReport), LastReport: Time(e.LastReport),
		Recovered: Time(e.Recovered.At), RecoveredSlack: slack(e.Recovered), Skipped: e.Stepped, RecoveredBasis: c.text(e.RecoveredBasis), Threshold: Seconds(e.Threshold),
		Reports: e.Reports, NeverRelisted: e.Never, Uncertainty: slack(e.LastStart), StuckStep: string(e.StuckStep), StuckStepBasis: c.text(e.StepBasis),
		PeakAge: Longer(e.PeakAge), Causes: []string{}, Evidence: c.Proof(e.Evidence),
	}
	earlier := n.Earlier(e)
	if out.AtLatest = earlier != 0; earlier > 0 {
		out.Earlier = Long(earlier)
	}
	if len(e.LastStarts) > 1 {
		out.LastStarts = list(e.LastStarts, func(s replay.Instant) Time { return Time(s.At) })
	}
	if u := n.UnreadyIn(e); u != nil {
		out.NotReady = &Unready{Span{Time(u.From), Time(u.To)}, c.text(u.Why)}
	}
	for i := range n.Causes {
		if slices.Contains(n.Causes[i].Episodes, e.ID) {
			out.Causes = append(out.Causes, n.Causes[i].ID)
		}
	}
	return out
}

// slack returns the uncertainty of an instant in seconds, nil if the instant is unknown.
func slack(i replay.Instant) *float64 {
	if !i.Known() {
		return nil
	}
	return Long(i.Slack)
}

func (c *Cleaner) operation(o replay.Operation) Operation {
	out := Operation{Operation: c.text(o.Name), Calls: count(o.Calls), Errors: o.Errors, ErrorsUnknown: o.ErrorsUnknown, P50: Long(o.P50), P99: Long(o.P99), Total: Long(o.Total),
		Evidence: c.Proof(o.Evidence)}
	if o.ShareOfRelist >= 0 {
		out.Share = Number(o.ShareOfRelist)
	}
	return out
}

// onDemand returns nil if nothing in the input mentions relists of single pods.
func (c *Cleaner) onDemand(n *replay.Node) *OnDemand {
	d := &n.OnDemand
	x := &OnDemand{Counted: c.counted(replay.CountedPodRelists(n.Series)), Begun: Given(len(d.Begun) > 0, len(d.Begun)), Failed: len(d.Failed), Dropped: len(d.Dropped)}
	for _, ev := range [][]replay.Evidence{d.Begun, d.Dropped, d.Failed} {
		if len(ev) > 0 {
			x.Evidence = c.Proof(ev)
		}
	}
	if x.Counted == nil && x.Begun == nil && x.Failed+x.Dropped == 0 {
		return nil
	}
	return x
}

// counted returns what the kubelet's own counters say of its relists, nil if !ok.
func (c *Cleaner) counted(x replay.Counted, ok bool) *Counted {
	if !ok {
		return nil
	}
	return &Counted{Metric: c.text(x.Metric), Count: x.Count, Total: Long(x.Total), P50: Long(x.P50), P99: Long(x.P99), Recent: x.Recent,
		Rate: Given(x.Rate >= 0, x.Rate), Long: Given(x.Edge > 0, x.Long), Edge: Longer(x.Edge), Evidence: c.Proof(x.Evidence)}
}

func (c *Cleaner) counts(n *Analyzed) EventCounts {
	a := &n.Audit
	out := EventCounts{Observed: n.Observed.Len(), Discarded: a.Discarded, ShortLived: len(a.ShortLived), Notes: c.texts(a.Notes)}
	if a.Audited {
		out.Replayed, out.Missing, out.Late, out.Unexpected = &a.Replayed, &a.Missing, &a.Late, &a.Unexpected
	}
	return out
}

func (c *Cleaner) blame(b *blame.Blame, relists []replay.Relist) Blame {
	out := Blame{Total: Seconds(b.Total), List: Long(b.List), Inspect: Long(b.Inspect), ByOperation: c.shares(b.ByOperation, c.text),
		ByPod: c.shares(b.ByPod, c.name), Unexplained: Seconds(b.Unexplained), Notes: c.texts(b.Notes)}
	if b.Relist >= 0 && b.Relist < len(relists) {
		out.Start = Time(relists[b.Relist].Start.At)
	}
	return out
}

func (c *Cleaner) shares(ss []blame.Share, what func(string) string) []Share {
	return list(ss, func(s blame.Share) Share {
		return Share{what(s.What), c.text(s.ID), Seconds(s.Took), s.AtMost, s.Calls, c.Proof(s.Evidence)}
	})
}

func (c *Cleaner) cause(x *rules.Cause, run advice.Commands) Cause {
	return Cause{ID: x.ID, Kind: string(x.Kind), Title: c.text(x.Title), Level: string(x.Level), Confidence: math.Round(x.Confidence*100) / 100, Episodes: append([]int{}, x.Episodes...),
		For: c.Proof(x.For), Against: c.Proof(x.Against), Missing: list(x.Missing, func(m rules.Missing) string { return c.text(m.Text) }), Explanation: c.text(x.Explanation), Path: c.texts(x.Path),
		Remediation: c.texts(x.Remediation), References: c.texts(x.References), Objects: list(x.Objects, func(o rules.Object) Object { return Object{o.Kind, c.name(o.Name), Time(o.At)} }),
		Commands: slices.DeleteFunc(list(x.Commands, func(s string) string { return c.text(run.Fill(s)) }), func(s string) bool { return s == "" })}
}

// answer converts the answer to a what-if.
func (c *Cleaner) answer(a *simulate.Answer) WhatIf {
	return WhatIf{SimAnswer{c.texts(a.Changes), c.text(a.Sentence), append([]AnswerRow{}, a.Rows...)}, c.texts(a.Assumptions), c.text(a.Change), a.AtLeast}
}
