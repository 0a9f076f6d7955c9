package main

import (
	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/rules/query"
)

func inspectCommand() *cli.Command {
	return &cli.Command{
		Name:      "inspect",
		Usage:     "what a bundle holds: layout, files and their roles, time span and zone, gaps, what is missing",
		ArgsUsage: "INPUT...",
		Description: "Tells which layout was recognized, which files were used and why others were not, how\n" +
			"each file's stamps were dated, where lines were lost before the bundle was made, and\n" +
			"which command would collect what a better answer needs.",
		Flags: join(outputFlags(report.InspectFormats), redactFlags(), inputFlags()),
		Action: func(c *cli.Context) error {
			return reportOn(c, report.InspectFormats, query.Asks{}, nil)
		},
	}
}
