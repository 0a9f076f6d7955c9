package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/report"
)

func schemaCommand() *cli.Command {
	return &cli.Command{
		Name:        "schema",
		Usage:       "print the JSON Schema of a kind of JSON document",
		ArgsUsage:   "[KIND]",
		Description: "JSON documents, and lines of NDJSON, name their kind and version in their field \"schema\",\nbut for those in formats of others. The default is report, what analyze writes; the title\nof each schema says who writes it. KIND is one of " + strings.Join(report.Documents.Kinds(), ", ") + ".",
		Action: func(c *cli.Context) error {
			kind := "report"
			if c.Args().Present() {
				kind = c.Args().First()
			}
			text := report.Documents.Schema(kind)
			if text == nil {
				return unknown("schema", kind, report.Documents.Kinds())
			}
			_, err := c.App.Writer.Write(text)
			return err
		},
	}
}
