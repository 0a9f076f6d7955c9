// Command plegforensics reconstructs what the kubelet's Pod Lifecycle Event
// Generator did from the files in a support bundle: when relists ran, which one
// hung and in which step, what pod events were produced, lost or late, and what
// most probably caused it. It needs no cluster and no network.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // time zones by name in minimal containers and on Windows

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/cmd/plegforensics/internal/output"
	_ "github.com/plegforensics/plegforensics/cmd/plegforensics/internal/ulimit" // exits if resource limits are too low
)

func main() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	governHeap()
	// When the reader of a pipe goes away we end quietly: the write error tells.
	signal.Ignore(syscall.SIGPIPE)
	out := &stdout{Writer: os.Stdout}
	app := newApp(os.Stdin, out, os.Stderr)
	go endSoon(ctx, app)
	os.Exit(runApp(ctx, app, os.Args, out))
}

// endSoon ends the program within a second of an interrupt if something that cannot be interrupted,
// such as a blocked reader, keeps it from ending by itself.
func endSoon(ctx context.Context, app *cli.App) {
	<-ctx.Done()
	time.Sleep(800 * time.Millisecond)
	outputsOf(app).Discard()
	os.Exit(exitInterrupted)
}

// commands returns every subcommand, in the order of --help.
func commands() []*cli.Command {
	return []*cli.Command{
		analyzeCommand(),
		timelineCommand(),
		eventsCommand(),
		replayCommand(),
		queryCommand(),
		compareCommand(),
		batchCommand(),
		rulesCommand(),
		explainCommand(),
		inspectCommand(),
		schemaCommand(),
		completionCommand(),
		manCommand(),
		helpCommand(),
		versionCommand(),
	}
}

// run is main without the process: it returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdoutW, stderrW io.Writer) int {
	out := &stdout{Writer: stdoutW}
	return runApp(ctx, newApp(stdin, out, stderrW), args, out)
}

func runApp(ctx context.Context, app *cli.App, args []string, out *stdout) int {
	if completing(app, args, out) {
		return finish(app, nil, out.err)
	}
	arranged, err := arrange(app, args)
	if err == nil {
		err = app.RunContext(ctx, arranged)
	}
	if ctx.Err() != nil && err != nil {
		return exitInterrupted
	}
	if err != nil {
		hushedLate(app, args)
	}
	return finish(app, err, out.err)
}

func newApp(stdin io.Reader, out *stdout, errs io.Writer) *cli.App {
	name := "plegforensics"
	if strings.HasPrefix(baseName(os.Args[0]), "kubectl-") {
		name = "kubectl plegforensics"
	}
	app := &cli.App{
		Name:    name,
		Usage:   "find out what the kubelet's PLEG did, from the files in a support bundle",
		Version: buildVersion(),
		Description: "Reads kubelet logs, journals, sosreports, must-gathers, EKS log bundles and metric\n" +
			"snapshots as they are; needs no cluster and opens no network connection.",
		Commands:               commands(),
		Reader:                 stdin,
		Writer:                 out,
		ErrWriter:              &stderr{errs},
		Metadata:               map[string]any{outputsKey: output.NewSet(out)},
		Suggest:                true,
		UseShortOptionHandling: false,
		Flags:                  []cli.Flag{cli.HelpFlag}, // having our own help command keeps cli from adding the flag
		HideHelpCommand:        true,
		ExitErrHandler:         func(*cli.Context, error) {},
		OnUsageError:           onUsageError,
		CommandNotFound:        nil,
		Action:                 noCommand,
	}
	cli.HelpPrinter = printHelp
	cli.VersionPrinter = func(c *cli.Context) { fmt.Fprintln(c.App.Writer, versionLine(c.App)) }
	for _, c := range app.Commands {
		setUsageError(c)
	}
	return app
}

func setUsageError(c *cli.Command) {
	c.OnUsageError = onUsageError
	c.HideHelpCommand = true
	c.Before, c.After = before, after
	for _, s := range c.Subcommands {
		setUsageError(s)
	}
}

// noCommand handles a call without a known subcommand.
func noCommand(c *cli.Context) error {
	if !c.Args().Present() {
		return cli.ShowAppHelp(c)
	}
	return unknown("command", c.Args().First(), append(commandNames(c.App.Commands), "help", "version"))
}

func commandNames(cs []*cli.Command) []string {
	var names []string
	for _, c := range cs {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

// baseName returns the last element of a path with slashes of either kind.
func baseName(p string) string { return p[strings.LastIndexAny(p, `/\`)+1:] }

// brokenPipe reports whether err is a write to a reader that went away.
func brokenPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}
