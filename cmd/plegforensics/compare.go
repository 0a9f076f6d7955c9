package main

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/compare"
	"github.com/plegforensics/plegforensics/internal/redact"
	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/rules/query"
)

func compareCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "what differs between two bundles: durations, latencies, event rates, errors, configuration, causes",
		ArgsUsage: "BASELINE INCIDENT",
		Description: "Each input may carry a name: good=a.tar.xz bad=b.tar.xz. What chance explains is called\n" +
			"noise and shown only with --verbose. --fail-on looks at the findings of INCIDENT.",
		Flags:  join(outputFlags(compareFormats()), redactFlags(), inputFlags(), ruleFlags()),
		Action: compareAction,
	}
}

// compareFormats returns the formats of comparisons in the form shared by all commands.
func compareFormats() []report.Format {
	var out []report.Format
	for _, f := range compare.Formats {
		out = append(out, report.Format{Name: f.Name, Ext: f.Ext, About: f.About})
	}
	return out
}

func compareAction(c *cli.Context) error {
	if c.NArg() != 2 {
		return usage("plegforensics compare BASELINE INCIDENT", "compare needs two inputs, got %d", c.NArg())
	}
	var labels, paths [2]string
	for i, arg := range c.Args().Slice() {
		labels[i], paths[i] = labeled(arg, []string{"baseline", "incident"}[i])
	}
	ts, err := begin(c, compareFormats())
	if err != nil {
		return err
	}
	if err := spare(c, paths[:]...); err != nil {
		return err
	}
	gates, err := gatesOf(c, causeIDs(c))
	if err != nil {
		return err
	}
	var reports [2]*model.Analysis
	for i, path := range paths {
		if reports[i], err = buildOf(c, []string{path}, query.Asks{}); err == nil {
			err = nothing(reports[i])
		}
		if err != nil {
			return err
		}
	}
	var red *redact.Redactor
	var names model.Names
	if redacting(c) {
		red = redactorOf(c)
		red.Analysis(reports[0])
		red.Analysis(reports[1])
		names = red
	}
	found := compare.Reports(labels[0], reports[0], labels[1], reports[1])
	res := found.Document(model.NewCleaner(names))
	for _, t := range ts {
		if err := writeComparison(c, t, res); err != nil {
			return err
		}
	}
	if err := writeMap(c, red); err != nil {
		return err
	}
	told(c)
	return held(gates, findingsOf(reports[1]))
}

// labeled splits NAME=PATH; a path without a name gets the given label.
func labeled(arg, label string) (string, string) {
	if name, path, ok := strings.Cut(arg, "="); ok && name != "" && !strings.ContainsAny(name, `/\`) {
		return name, path
	}
	return label, arg
}

func writeComparison(c *cli.Context, t target, res *model.Comparison) error {
	for _, f := range compare.Formats {
		if f.Name != t.format.Name {
			continue
		}
		opt, err := t.options(c)
		if err == nil {
			err = t.write(c, func(w io.Writer) error { return f.Write(w, res, opt) })
		}
		return err
	}
	return nil
}
