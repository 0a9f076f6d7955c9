package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/fleet"
	"github.com/plegforensics/plegforensics/internal/report"
)

func schemaCommand() *cli.Command {
	return &cli.Command{
		Name:        "schema",
		Usage:       "print the JSON Schema of the JSON documents",
		ArgsUsage:   "[report|fleet]",
		Description: "report, the default, is what analyze and timeline write; fleet is what batch writes.",
		Action: func(c *cli.Context) error {
			text := report.Schema
			switch which := c.Args().First(); which {
			case "", "report":
			case "fleet":
				text = fleet.SchemaJSON
			default:
				return unknown("schema", which, []string{"report", "fleet"})
			}
			_, err := fmt.Fprint(c.App.Writer, text)
			return err
		},
	}
}
