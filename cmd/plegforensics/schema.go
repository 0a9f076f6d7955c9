package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

func schemaCommand() *cli.Command {
	return &cli.Command{
		Name:        "schema",
		Usage:       "print the JSON Schema of a kind of JSON document",
		ArgsUsage:   "[" + strings.Join(model.Kinds(), "|") + "]",
		Description: "Every JSON document names its kind and version in its field \"schema\". The default is\nreport, what analyze writes; fleet is what batch writes, the others what the command\nof that name writes.",
		Action: func(c *cli.Context) error {
			kind := "report"
			if c.Args().Present() {
				kind = c.Args().First()
			}
			text := model.Schema(kind)
			if text == nil {
				return unknown("schema", kind, model.Kinds())
			}
			_, err := c.App.Writer.Write(text)
			return err
		},
	}
}
