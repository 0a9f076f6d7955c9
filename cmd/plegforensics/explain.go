package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/docs"
)

// pageWidth is the width of runbook pages: they are read in terminals and
// pasted into tickets.
const pageWidth = 80

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:        "explain",
		Usage:       "the page of a cause or breach rule, or of a topic of how PLEG works",
		ArgsUsage:   "ID|TOPIC...",
		Description: "ID is what a report names: a cause such as runtime-hang-global, or a breach rule such as\nrelist-threshold-exceeded. Without one all are listed. Topics are:\n\n" + topicHelp(),
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
					page, ok = docs.Text(id)
				}
				if !ok {
					return unknown("cause, rule or topic", id, append(pack.IDs(), topicNames()...))
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

func topicNames() []string {
	var out []string
	for _, t := range docs.Topics() {
		out = append(out, t.Name)
	}
	return out
}

func topicHelp() string {
	var b strings.Builder
	for _, t := range docs.Topics() {
		fmt.Fprintf(&b, "  %-14s  %s\n", t.Name, t.Heading)
	}
	return strings.TrimRight(b.String(), "\n")
}
