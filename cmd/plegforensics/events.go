package main

import (
	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/report"
)

func eventsCommand() *cli.Command {
	return &cli.Command{
		Name:      "events",
		Usage:     "PLEG event sequences per pod: observed, replayed, and the difference",
		ArgsUsage: "INPUT...",
		Description: "Each event has a status. observed: a \"SyncLoop (PLEG)\" line, and no log of the container\n" +
			"runtime to hold it against. matched, late, unexpected: the same with such a log. missing:\n" +
			"the runtime's history must have led to the event and no line shows it. discarded: the\n" +
			"kubelet says that its event channel was full.",
		Flags: join(outputFlags(report.EventFormats), redactFlags(), inputFlags()),
		Action: func(c *cli.Context) error {
			return reportOn(c, report.EventFormats, nil)
		},
	}
}
