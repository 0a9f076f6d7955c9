package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules/alerts"
	"github.com/plegforensics/plegforensics/rules/query"
)

func analyzeCommand() *cli.Command {
	return &cli.Command{
		Name:      "analyze",
		Usage:     "the main job: everything found on each node, as one report",
		ArgsUsage: "INPUT...",
		Description: "INPUT is a file, a directory, an archive, or - for standard input. Compression and\n" +
			"format are found by content. Inputs that belong to one node are merged.",
		Flags: join(outputFlags(report.Formats), redactFlags(), inputFlags(), ruleFlags(), []cli.Flag{
			onFlag(catRules, "alerts", "tell which of the commonly deployed alerts would have fired, where the input holds metrics of a kubelet; --alerts=false leaves it out"),
			listFlag(catRules, "alert-rules", "tell also which alerts of the Prometheus rule file or directory `PATH` would have fired; repeatable"),
		}),
		Action: func(c *cli.Context) error {
			groups, err := alertRules(c)
			if err != nil {
				return err
			}
			var builtin []alerts.Group
			if c.Bool("alerts") {
				builtin = alerts.Builtin()
			}
			asks := alerts.Asks(slices.Concat(builtin, groups))
			return reportOn(c, report.Formats, asks, func(r *model.Analysis) { auditReport(c, r, builtin, groups) })
		},
	}
}

func timelineCommand() *cli.Command {
	return &cli.Command{
		Name:      "timeline",
		Usage:     "the relist timeline alone: each relist that evidence proves or bounds, health changes, gaps",
		ArgsUsage: "INPUT...",
		Flags:     join(outputFlags(report.TimelineFormats), redactFlags(), inputFlags()),
		Action: func(c *cli.Context) error {
			return reportOn(c, report.TimelineFormats, query.Asks{}, nil)
		},
	}
}

// auditReport adds the audit of the alerts to the report. Built-in alerts are audited only if the
// input has metrics of a kubelet.
func auditReport(c *cli.Context, r *model.Analysis, builtin, groups []alerts.Group) {
	var ns []*replay.Node
	var watched []alerts.Watched
	for i := range r.Nodes {
		n := &r.Nodes[i]
		ns = append(ns, n.Node)
		watched = append(watched, alerts.Watched{Node: n.Node, Breaches: n.Breaches})
	}
	if slices.ContainsFunc(ns, kubeletMetrics) {
		groups = slices.Concat(builtin, groups)
	}
	if len(groups) == 0 {
		return
	}
	if s := query.NewStore(ns); len(ns) > 0 {
		r.Alerts = alerts.Evaluate(c.Context, query.Open(s), groups, watched)
		refused := refusedRules(r.Alerts)
		warn(c.App.ErrWriter, refused)
		r.Warnings = append(r.Warnings, refused...)
	}
}

// kubeletMetrics reports whether a node has metrics of its kubelet.
func kubeletMetrics(n *replay.Node) bool {
	return slices.ContainsFunc(n.Series, func(s *parse.Series) bool { return strings.HasPrefix(s.Name, "kubelet_") })
}

// reportOn loads the inputs and writes the report in the requested formats. more, if not nil, adds
// to the analysis; asks are the metrics that it reads.
func reportOn(c *cli.Context, formats []report.Format, asks query.Asks, more func(*model.Analysis)) error {
	ts, err := begin(c, formats)
	if err != nil {
		return err
	}
	gates, err := gatesOf(c, causeIDs(c))
	if err != nil {
		return err
	}
	r, err := build(c, asks)
	if err != nil {
		return err
	}
	if more != nil {
		more(r)
	}
	empty := nothing(r)
	if empty != nil { // an empty report must not replace an existing file
		ts = slices.DeleteFunc(ts, func(t target) bool { return !t.file.Stdout() })
		r.Nodes = nil // nothing that was read is of a node
	}
	shown, red := fill(c, r)
	if red != nil && !c.Bool("quiet") {
		warn(c.App.ErrWriter, r.Warnings)
	}
	if err := emit(c, ts, shown); err != nil || empty != nil {
		return cmp.Or(err, empty)
	}
	if err := writeMap(c, red); err != nil {
		return err
	}
	told(c)
	return verdict(c, r, gates)
}
