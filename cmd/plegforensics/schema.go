package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/report"
)

func schemaCommand() *cli.Command {
	return &cli.Command{
		Name:      "schema",
		Usage:     "print the JSON Schema of the JSON report",
		ArgsUsage: " ",
		Action: func(c *cli.Context) error {
			_, err := fmt.Fprint(c.App.Writer, report.Schema)
			return err
		},
	}
}
