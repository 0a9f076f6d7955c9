package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay/scenario"
	"github.com/plegforensics/plegforensics/replay/simulate"
	"github.com/plegforensics/plegforensics/rules/query"
)

func scenarioHelp() string {
	var b strings.Builder
	for _, k := range scenario.Keys {
		fmt.Fprintf(&b, "  %-11s %s: %s\n", k.Key, k.Value, k.About)
	}
	return strings.TrimRight(b.String(), "\n")
}

// madeUp reports whether a scenario is run instead of an input.
func madeUp(c *cli.Context) bool {
	return c.IsSet("scenario") || c.IsSet("calibrate") || c.IsSet("find")
}

// scenarioAction runs a scenario instead of an input.
func scenarioAction(c *cli.Context) error {
	switch {
	case c.NArg() > 0:
		return usage("--calibrate INPUT takes what is not stated from an input", "--scenario makes a node up and reads no input")
	case len(c.StringSlice("what-if")) > 0:
		return usage("state it in the scenario: workers=16, timeout=1m, load=×2", "--what-if changes what was recorded, not a scenario")
	case c.IsSet("export-snapshots"):
		return usage("leave one of them out", "a scenario has no recorded relists to export")
	}
	p, what, err := replayProfile(c)
	if err != nil {
		return err
	}
	r := &replayRun{c: c, what: what}
	if err := r.claimReplay(); err != nil {
		return err
	}
	defer r.abandon()
	made := &model.SimScenario{}
	spec := scenario.Default()
	if path := c.String("calibrate"); path != "" {
		if spec, p, err = calibrated(c, path, p, made); err != nil {
			return err
		}
	}
	if text := c.String("scenario"); text != "" {
		if spec, err = scenario.Parse(spec, text); err != nil {
			return usage("keys are "+strings.Join(scenarioKeys(), ", "), "--scenario: %v", err)
		}
	}
	made.Text = spec.String()
	if key := c.String("find"); key != "" {
		found, err := scenario.Find(spec, p, key)
		if err != nil {
			return unknown("value of --find", key, scenario.Questions())
		}
		for _, f := range found {
			made.Found = append(made.Found, model.SimFound(f))
		}
	}
	w, err := r.begin(spec.Profile(p))
	if err != nil {
		return err
	}
	out := scenario.Run(spec, p, func(x *simulate.Relist) { w.relist(x) })
	made.Cut = out.Cut
	if err := w.end(&model.Simulated{Totals: out.Totals, Machine: out.Machine, Scenario: made, Assumptions: scenario.Assumptions(&spec)}); err != nil {
		return err
	}
	return r.commit()
}

func scenarioKeys() []string {
	var out []string
	for _, k := range scenario.Keys {
		out = append(out, k.Key)
	}
	return out
}

// calibrated takes what the metrics of the one node of an input say, from its quieter half or all
// of the window given by flags. Its kubelet is used for the scenario unless flags state another.
func calibrated(c *cli.Context, path string, p pleg.Profile, made *model.SimScenario) (scenario.Spec, pleg.Profile, error) {
	spec := scenario.Default()
	bundles, err := load(c, []string{path}, query.Asks{}.Has, nil)
	if err != nil {
		return spec, p, err
	}
	var ns []model.Analyzed
	for _, b := range bundles {
		more, err := audited(c, b, nil)
		if err != nil {
			return spec, p, err
		}
		ns = append(ns, more...)
	}
	if len(ns) != 1 {
		return spec, p, usage("name one with --node NAME", "--calibrate wants one node, the input holds %d", len(ns))
	}
	n := ns[0].Node
	if c.String("kubelet-version") == "" {
		if q, err := simulate.NodeProfile(n); err == nil {
			p = q
		}
	}
	cal, err := scenario.Calibrate(spec, n, c.IsSet("since") || c.IsSet("until"))
	if err != nil {
		return spec, p, &exitError{exitNothing, "nothing to calibrate by: " + err.Error(), "it takes several snapshots of the kubelet's /metrics, or a TSDB"}
	}
	made.Calibrated = cal.Basis
	for _, u := range cal.Used {
		made.Used = append(made.Used, model.Span{From: model.Time(u.From), To: model.Time(u.To)})
	}
	made.From, made.To = made.Used[0].From, made.Used[len(made.Used)-1].To
	return cal.Spec, p, nil
}
