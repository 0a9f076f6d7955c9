package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

// pageWidth is the width of runbook pages: they are read in terminals and
// pasted into tickets.
const pageWidth = 80

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:        "explain",
		Usage:       "the runbook page of a cause or breach rule: meaning, impact, proof, diagnosis, remediation",
		ArgsUsage:   "ID",
		Description: "ID is what a report names: a cause such as runtime-hang-global, or a breach rule such as\nrelist-threshold-exceeded. Without ID all are listed.",
		Flags:       packFlags(),
		Action: func(c *cli.Context) error {
			pack, err := rulePack(c)
			if err != nil {
				return err
			}
			if !c.Args().Present() {
				return listRules(c.App.Writer, pack)
			}
			for i, id := range c.Args().Slice() {
				page, ok := pack.Page(id, pageWidth)
				if !ok {
					return unknown("cause or rule", id, pack.IDs())
				}
				if i > 0 {
					fmt.Fprintln(c.App.Writer)
				}
				if _, err := fmt.Fprint(c.App.Writer, page); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
