package main

import (
	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/report"
)

func analyzeCommand() *cli.Command {
	return &cli.Command{
		Name:      "analyze",
		Usage:     "the main job: everything found on each node, as one report",
		ArgsUsage: "INPUT...",
		Description: "INPUT is a file, a directory, an archive, or - for standard input. Compression and\n" +
			"format are found by content. Inputs that belong to one node are merged.",
		Flags: join(outputFlags(report.Formats), redactFlags(), inputFlags(), ruleFlags()),
		Action: func(c *cli.Context) error {
			return reportOn(c, report.Formats)
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
			return reportOn(c, report.TimelineFormats)
		},
	}
}

// reportOn loads the inputs and writes the report in the formats asked for.
func reportOn(c *cli.Context, formats []report.Format) error {
	ts, err := targets(c, formats)
	if err != nil {
		return err
	}
	if _, err := terminal(c); err != nil {
		return err
	}
	r, err := build(c)
	if err != nil {
		return err
	}
	shown, err := redacted(c, r)
	if err != nil {
		return err
	}
	if err := emit(c, ts, shown); err != nil {
		return err
	}
	return verdict(c, r)
}
