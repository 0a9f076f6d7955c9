package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/urfave/cli/v2"
)

// paging reports whether standard output goes through a pager: only if requested and on a terminal.
func paging(c *cli.Context) bool { return c.Bool("pager") && onTerminal(c) }

// paged writes to standard output, through the pager if wanted. The pager's exit status does not
// matter: the exit status is that of the analysis. Leaving the pager early is not an error. If no
// pager can be started, the report is written directly.
func paged(c *cli.Context, write func(io.Writer) error) error {
	if !paging(c) {
		return write(c.App.Writer)
	}
	cmd := pagerCommand(os.Getenv)
	cmd.Stdout, cmd.Stderr = stdoutFile(c), c.App.ErrWriter
	if e, ours := cmd.Stderr.(*stderr); ours {
		cmd.Stderr = e.Writer // the pager writes unfiltered
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

// pagerCommand runs PAGER in a shell, or less. The options FRX make less quit if all fits the
// screen, show colors, and leave the report on the screen.
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
