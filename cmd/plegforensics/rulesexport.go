package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/cmd/plegforensics/internal/output"
	"github.com/plegforensics/plegforensics/rules/alerts"
)

// rulesShow prints built-in alerts and recording rules by name, and for anything else the page that
// explain prints.
func rulesShow(c *cli.Context) error {
	if g, r, ok := alerts.BuiltinRule(c.Args().First()); ok && c.NArg() == 1 {
		_, err := fmt.Fprint(c.App.Writer, alerts.Page(g, r))
		return err
	}
	return explainCommand().Action(c)
}

func rulesExportCommand() *cli.Command {
	return &cli.Command{
		Name: "export", Usage: "write the built-in alerts for a Prometheus server", ArgsUsage: "prometheus",
		Description: "Writes a rule file, a PrometheusRule, unit tests for \"promtool test rules\" and a Grafana\n" +
			"dashboard into --dir; without it, what --as says to standard output. The alerts tell of a\n" +
			"hung relist within a minute of PLEG becoming unhealthy.",
		Flags: []cli.Flag{
			stringFlag(catRules, "dir", "write all files into the directory `PATH`, which is made if need be"),
			&cli.StringFlag{Name: "as", Value: "rules", Usage: "`WHAT` to print: rules, prometheusrule, tests, dashboard", EnvVars: envName("as"), Category: catRules},
			boolFlag(catRules, "warnings", "also the alerts that are no outage: slow relists, lost events"),
			stringFlag(catRules, "runbook-url", "annotation runbook_url: `URL` with the name of the page appended"),
		},
		Action: rulesExport,
	}
}

func rulesExport(c *cli.Context) error {
	if c.NArg() != 1 || c.Args().First() != "prometheus" {
		return usage("rules export prometheus", "export needs the name of what the rules are for: prometheus")
	}
	if c.String("dir") != "" && c.IsSet("as") {
		return usage("--dir writes all files", "--dir and --as exclude each other")
	}
	files := alerts.Export(alerts.ExportOptions{Warnings: c.Bool("warnings"), Runbook: c.String("runbook-url")})
	dir := c.String("dir")
	if dir == "" {
		var kinds []string
		for _, f := range files {
			if f.Kind == c.String("as") {
				_, err := c.App.Writer.Write(f.Data)
				return err
			}
			kinds = append(kinds, f.Kind)
		}
		return unknown("kind of file", c.String("as"), kinds)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return usage("", "--dir %s", plainly(err))
	}
	var claimed []*output.File
	for _, f := range files {
		out, err := claim(c, "--dir "+dir, filepath.Join(dir, f.Name), false)
		if err != nil {
			return err
		}
		claimed = append(claimed, out)
	}
	for i, f := range files {
		err := claimed[i].Write(c.Context, func(w io.Writer) error {
			_, err := w.Write(f.Data)
			return err
		})
		if err != nil {
			return err
		}
	}
	told(c)
	return nil
}
