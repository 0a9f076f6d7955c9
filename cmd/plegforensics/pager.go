package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/urfave/cli/v2"
)

// paging reports whether standard output goes through a pager: only where it
// is asked for and somebody sits at a terminal.
func paging(c *cli.Context) bool { return c.Bool("pager") && onTerminal(c) }

// paged writes to standard output, through the pager where one is wanted. How
// the pager ends does not matter: the exit status is that of the analysis. A
// reader who leaves early has seen enough, which is no error either; where no
// pager can be started the report comes straight.
func paged(c *cli.Context, write func(io.Writer) error) error {
	if !paging(c) {
		return write(c.App.Writer)
	}
	cmd := pagerCommand(os.Getenv)
	cmd.Stdout, cmd.Stderr = stdoutFile(c), c.App.ErrWriter
	if e, ours := cmd.Stderr.(*stderr); ours {
		cmd.Stderr = e.Writer // the pager's own
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return write(c.App.Writer)
	}
	if err := cmd.Start(); err != nil {
		return write(c.App.Writer)
	}
	err = write(in)
	if brokenPipe(err) {
		err = nil
	}
	_ = errors.Join(in.Close(), cmd.Wait())
	return err
}

// pagerCommand is PAGER as the shell understands it, or less. less quits by
// itself when all fits the screen, shows colours, and leaves the report on the
// screen.
func pagerCommand(env func(string) string) *exec.Cmd {
	name, less := env("PAGER"), env("LESS")
	if less == "" {
		less = "FRX"
	}
	shell, flag := "sh", "-c"
	if name == "" {
		name = "less"
	}
	if runtime.GOOS == "windows" {
		shell, flag = "cmd", "/c"
		if env("PAGER") == "" {
			name = "more"
		}
	}
	cmd := exec.Command(shell, flag, name)
	cmd.Env = append(os.Environ(), "LESS="+less)
	return cmd
}
