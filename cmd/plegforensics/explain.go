package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/docs"
	"github.com/plegforensics/plegforensics/internal/spell"
	"github.com/plegforensics/plegforensics/rules"
)

// pageWidth is the width of runbook pages, which are read in terminals and pasted into tickets.
const pageWidth = 80

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:        "explain",
		Usage:       "the page of a cause or breach rule, or of a topic of how PLEG works",
		ArgsUsage:   "ID|TOPIC...",
		Description: "ID is what a report names: a cause such as runtime-hang-global, or a breach rule such as\nrelist-threshold-exceeded. Without one all are listed. Names of code, events, gates and metrics\nlead to their topic (generateEvents, ContainerDied, EventedPLEG). Topics are:\n\n" + topicHelp(),
		Flags:       join(packFlags(), []cli.Flag{stringFlag(catRules, "kubelet-version", "what differs between versions: only what kubelet `V` (v1.28.0) does")}),
		Action: func(c *cli.Context) error {
			pack, err := rulePack(c)
			if err != nil {
				return err
			}
			if !c.Args().Present() {
				p := page{width: listWidth(c.App.Writer)}
				for _, t := range docs.Topics() {
					p.item(0, idColumn, t.Name, "topic: "+t.Heading)
				}
				if _, err := io.WriteString(c.App.Writer, p.String()); err != nil {
					return err
				}
				return listRules(c.App.Writer, pack)
			}
			for i, id := range c.Args().Slice() {
				page, ok := explained(pack, id, c.String("kubelet-version"))
				if !ok {
					return unlike(id, pack)
				}
				if i > 0 {
					fmt.Fprintln(c.App.Writer)
				}
				if _, err := fmt.Fprint(shownLines{c.App.Writer}, page); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// explained returns the page of a cause or rule with its topics, or that of a topic.
func explained(pack *rules.Pack, id, version string) (string, bool) {
	if page, ok := pack.Page(id, pageWidth); ok {
		if about := docs.About(id); len(about) > 0 {
			page += "\nTopics\n  " + strings.Join(about, ", ") + "\n"
		}
		return page, true
	}
	if t := docs.Find(id); t != nil {
		return t.Text(version, pageWidth), true
	}
	return "", false
}

// nearMisses is the maximum number of suggestions for an unknown ID.
const nearMisses = 5

// unlike returns an error for an ID without a page, with similar IDs as a hint.
func unlike(id string, pack *rules.Pack) error {
	known := topicNames()
	for _, t := range docs.Topics() {
		known = append(known, t.Aliases...)
	}
	known = append(known, pack.IDs()...)
	hint := "plegforensics explain lists all"
	if near := spell.Close(id, known, nearMisses); len(near) > 0 {
		hint = "did you mean " + alternatives(near) + "?"
	}
	return usage(hint, "unknown cause, rule or topic %q", id)
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
		fmt.Fprintf(&b, "  %-16s  %s\n", t.Name, t.Heading)
	}
	return strings.TrimRight(b.String(), "\n")
}
