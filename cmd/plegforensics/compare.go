package main

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/compare"
	"github.com/plegforensics/plegforensics/internal/report"
)

func compareCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "what differs between two bundles: durations, latencies, event rates, errors, configuration, causes",
		ArgsUsage: "BASELINE INCIDENT",
		Description: "Each input may carry a name: good=a.tar.xz bad=b.tar.xz. What chance explains is called\n" +
			"noise and shown only with --verbose.",
		Flags:  join(outputFlags(compareFormats()), redactFlags(), inputFlags()),
		Action: compareAction,
	}
}

// compareFormats gives the formats of comparisons the shape that the flags and
// files of all commands share.
func compareFormats() []report.Format {
	var out []report.Format
	for _, f := range compare.Formats {
		out = append(out, report.Format{Name: f.Name})
	}
	return out
}

func compareAction(c *cli.Context) error {
	if c.NArg() != 2 {
		return usage("plegforensics compare BASELINE INCIDENT", "compare wants two inputs, got %d", c.NArg())
	}
	ts, err := targets(c, compareFormats())
	if err != nil {
		return err
	}
	var labels [2]string
	var reports [2]*report.Report
	for i, arg := range c.Args().Slice() {
		label, path := []string{"baseline", "incident"}[i], arg
		if name, rest, ok := strings.Cut(arg, "="); ok && name != "" && !strings.ContainsAny(name, `/\`) {
			label, path = name, rest
		}
		r, err := buildOf(c, []string{path})
		if err != nil {
			return err
		}
		if reports[i], err = redacted(c, r); err != nil {
			return err
		}
		labels[i] = label
	}
	res := compare.Reports(labels[0], reports[0], labels[1], reports[1])
	for _, t := range ts {
		if err := writeComparison(c, t, res); err != nil {
			return err
		}
	}
	return nil
}

func writeComparison(c *cli.Context, t target, res compare.Result) error {
	for _, f := range compare.Formats {
		if f.Name != t.format.Name {
			continue
		}
		write := func(w io.Writer) error { return f.Write(w, res, c.Bool("verbose")) }
		if t.path == "" {
			return paged(c, write)
		}
		return writeFile(t.path, write)
	}
	return nil
}
