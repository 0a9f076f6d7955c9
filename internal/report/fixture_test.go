package report

import (
	"fmt"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/audit"
	"github.com/plegforensics/plegforensics/replay/blame"
	"github.com/plegforensics/plegforensics/replay/simulate"
	"github.com/plegforensics/plegforensics/rules"
)

// Report is the input of a report.
type Report = model.Analysis

// Node is one node of a Report.
type Node = model.Analyzed

// fill makes a report of an analysis and adds a correlation if it has a node.
func fill(a *Report) *model.Report {
	r := model.Fill(a, nil)
	if len(r.Nodes) > 0 {
		n := r.Nodes[0]
		r.Correlations = append(r.Correlations, model.Correlation{Kind: "breaches-together", Summary: n.Name, Nodes: []string{n.Name}, Start: n.Window.Start, Cause: n.Name})
	}
	return r
}

// fixture returns an analysis of one node with something in every field. Every string that would
// come from an input is name, so that a test can look for it.
func fixture(name string, events int) *Report {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano()
	at := func(s float64) int64 { return start + int64(s*1e9) }
	file := &parse.File{Path: name + "/kubelet.log", Node: name}
	sigs := &parse.SigSet{Sigs: []*parse.Sig{{ID: parse.SigRPC}}}
	line := uint32(0)
	event := func(s float64, src parse.Source) *parse.Event {
		line++
		return parse.NewEvent(&parse.EventKind{File: file, Sigs: sigs, Severity: 'E', Origin: &parse.Origin{Source: src, Host: name}}, parse.PlainText(name+" "+fmt.Sprint(line)), parse.Event{Line: line, Offset: int64(line) * 100, Stamp: parse.Stamp{At: at(s), Res: parse.ResolutionOf(time.Microsecond), Basis: parse.Stated}})
	}
	proof := func(s float64) []replay.Evidence {
		return []replay.Evidence{{Record: event(s, parse.SrcKubelet), Note: name}}
	}
	yes, no := true, false
	exit := 137
	n := &replay.Node{
		Records: replay.Records{Name: name, Have: map[parse.Source]bool{parse.SrcKubelet: true}},
		Kubelet: replay.Kubelet{Version: name, Runtime: name, PLEG: "generic", Period: time.Second, Threshold: 3 * time.Minute,
			RPCTimeout: 2 * time.Minute, Verbosity: 2, Basis: name, Evidence: proof(0)},
		Window: replay.Window{Start: at(0), End: at(900), Timezone: name, TimezoneBasis: name},
		Runs:   []replay.Run{{PID: 7, Start: replay.Instant{At: at(1)}, First: at(1), Last: at(900), Version: name, Evidence: proof(1)}},
		Relists: []replay.Relist{
			{Start: replay.Instant{At: at(100), Slack: time.Millisecond}, End: replay.Instant{At: at(100.2)}, Outcome: replay.OutcomeOK, Listed: &yes, Basis: []string{replay.BasisLastSeen}, Evidence: proof(290)},
			{Start: replay.Instant{At: at(101.2), Slack: 50 * time.Millisecond}, End: replay.Instant{At: at(221.2)}, Outcome: replay.OutcomeListFailed, Listed: &no, Basis: []string{replay.BasisListError}, Evidence: proof(221)},
			{Start: replay.Instant{At: at(222.2), Slack: 2 * time.Second}, Outcome: replay.OutcomeHung, Basis: []string{replay.BasisNextStart}},
		},
		Bounded: []replay.Bounded{{From: at(0), To: at(100), CountMin: 10, CountMax: 99}},
		Episodes: []replay.Episode{{ID: 1, LastStart: replay.Instant{At: at(100), Slack: time.Millisecond}, Breach: at(280), FirstReport: at(281), LastReport: at(340),
			Recovered: replay.Instant{At: at(342), Slack: time.Second}, RecoveredBasis: name, Threshold: 3 * time.Minute, PeakAge: 240 * time.Second,
			Reports: 16, StuckStep: replay.StepList, StepBasis: name, NotReady: &replay.Span{From: at(285), To: at(350)}, Evidence: proof(281)}},
		Health: []replay.HealthSpan{{Span: replay.Span{From: at(0), To: at(280)}, State: replay.Healthy}, {Span: replay.Span{From: at(280), To: at(341)}, State: replay.Unhealthy}, {Span: replay.Span{From: at(341), To: at(342)}, State: replay.HealthUnknown}, {Span: replay.Span{From: at(342), To: at(900)}, State: replay.Healthy}},
		Ready:  []replay.ReadyChange{{At: at(5), Ready: true, Reason: name}, {At: at(285), Reason: name, Evidence: proof(285)[0]}, {At: at(350), Ready: true, Evidence: proof(350)[0]}},
		Gaps:   []replay.LogGap{{Span: replay.Span{From: at(400), To: at(430)}, Why: "silence", Evidence: proof(400)}},
		Failures: []replay.Failure{{Call: "ListPodSandbox", Scope: "all", Code: "DeadlineExceeded", Details: &replay.FailureDetails{Err: name, ObjectID: name, PodUID: name}, Pod: name,
			End: at(221.2), Start: replay.Instant{At: at(101.2)}, Evidence: proof(221)}},
		Requests: replay.ListOf(replay.Request{Op: "stop", ID: name, Pod: name, Start: at(120), End: at(130), Err: name, Ended: proof(130)[0].Record}, replay.Request{Op: "create", Sandbox: true, Pod: name, Start: at(125), Begun: proof(125)[0].Record}),
		Ops:      []replay.Operation{{Name: "list_podsandbox", Calls: -1, Errors: 2, P50: -1, P99: -1, Total: -1, ShareOfRelist: -1, Evidence: proof(221)}},
	}
	var seen []replay.PodEvent
	for i := range events {
		e := replay.PodEvent{At: at(float64(i) * 900 / float64(events)), PodUID: name, Pod: fmt.Sprintf("%s/pod-%d", name, i%300), Type: "ContainerStarted",
			Data: fmt.Sprintf("%064x", i), Status: []string{"matched", "observed", "late", "missing"}[min(i%40, 3)], RuntimeTime: at(1), Lag: time.Second, HasLag: true, ExitCode: &exit}
		e.Line = event(float64(i)*900/float64(events), parse.SrcKubelet)
		seen = append(seen, e)
	}
	n.Observed = replay.ListOf(seen...)
	for i := range 50 {
		n.Events = append(n.Events, event(float64(i*18), []parse.Source{parse.SrcKubelet, parse.SrcKernel, parse.SrcContainerd}[i%3]))
	}
	n.Series = []*parse.Series{relistSeries(file, "_sum", at, func(i int) float64 { return float64(i) * 1.5 }), relistSeries(file, "_count", at, func(i int) float64 { return float64(i * 14) })}
	cause := rules.Cause{ID: "runtime-hang-global", Title: "Whole runtime does not answer", Level: rules.Likely, Confidence: 0.87, Episodes: []int{1},
		For: proof(221), Against: proof(222), Missing: []rules.Missing{{Text: name, Lacks: []string{"x"}}}, Explanation: name, Path: []string{name}, Remediation: []string{name}, Commands: []string{name}, References: []string{name}}
	return &Report{Version: "test", Inputs: []parse.Input{{Path: name, Kind: "sosreport", Files: 3, FilesUsed: 2, Bytes: 12345, Partial: true}},
		Warnings: []parse.Warning{{Pos: parse.Pos{File: file, Offset: 77}, Msg: name}},
		Nodes: []Node{{Node: n, Blame: []blame.Blame{{Relist: 1, Total: 120 * time.Second, List: 120 * time.Second, Inspect: -1, ByPod: []blame.Share{{What: name, ID: name, Took: time.Minute, Calls: 1, Evidence: proof(221)}}, Notes: []string{name}}},
			Audit: audit.Result{Counts: audit.Counts{Audited: true, Observed: events, Replayed: events, Missing: 1, Notes: []string{name}}, Events: n.Observed,
				ShortLived: []audit.ShortLived{{ID: name, Pod: name, Started: at(1), Ended: at(2), Evidence: proof(2)}}}, WhatIf: []*simulate.Answer{{Changes: []string{name}, Change: name, Sentence: name, Assumptions: []string{name},
				Rows: []simulate.AnswerRow{{Measure: "stretches unhealthy", Unit: "count", Was: 1, Would: 0}, {Measure: "time unhealthy", Unit: "seconds", Was: 62}}}}, Result: rules.Result{Status: "unhealthy", Summary: name, Unready: []rules.Unready{{From: at(285), To: at(350), Why: name}}, Causes: []rules.Cause{cause}, LookAlikes: []rules.Cause{cause},
				Breaches: []rules.Breach{{Rule: "relist-threshold-exceeded", Severity: rules.Critical, Start: at(280), End: at(342), Value: 240, Threshold: 180, Unit: "seconds", Evidence: proof(281)}}}}},
	}
}

func relistSeries(file *parse.File, suffix string, at func(float64) int64, v func(int) float64) *parse.Series {
	s := &parse.Series{Name: "kubelet_pleg_relist_duration_seconds" + suffix}
	src := &parse.Scrape{File: file}
	for i := range 60 {
		s.Points = append(s.Points, parse.Point{At: at(float64(i) * 15), V: v(i), Src: src, Line: uint32(i + 1)})
	}
	return s
}
