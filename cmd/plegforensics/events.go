package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/rules/query"
)

func eventsCommand() *cli.Command {
	return &cli.Command{
		Name:      "events",
		Usage:     "PLEG event sequences per pod: observed, replayed, and the difference",
		ArgsUsage: "INPUT...",
		Description: "Each event has a status. observed: a \"SyncLoop (PLEG)\" line, and no log of the container\n" +
			"runtime to hold it against. With such a log: matched, the log explains it; late, so, but\n" +
			"more than 10s after the change; unexpected, the log contradicts it; missing, every schedule\n" +
			"of relists that fits the evidence sends it, and no line shows it. discarded: the kubelet\n" +
			"says that its event channel was full.",
		Flags: join(outputFlags(report.EventFormats), redactFlags(), inputFlags()),
		Action: func(c *cli.Context) error {
			return reportOn(c, report.EventFormats, query.Asks{}, func(r *model.Analysis) { warnOfRules(c, r) })
		},
	}
}

// warnOfRules warns of kubelets newer or older than any known, whose rules are those of another
// version: CSV has no place for that note. For --kubelet-version the warning was printed already.
func warnOfRules(c *cli.Context, r *model.Analysis) {
	if c.Bool("quiet") || c.IsSet("kubelet-version") {
		return
	}
	for i := range r.Nodes {
		v := r.Nodes[i].Kubelet.Version
		if rules := pleg.Beyond(v); rules != "" {
			fmt.Fprintf(c.App.ErrWriter, "plegforensics: warning: kubelet %s: %s\n", v, rules)
		}
	}
}
