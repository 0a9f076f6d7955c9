package main

import (
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// visible makes a string that comes from outside safe for a terminal.
func visible(s string) string { return model.NewCleaner(nil).Text(s) }

// stderr is standard error. Each Write is a message of one line: what names of
// files, values of flags and lines of inputs bring into it is made visible here,
// and nowhere else.
type stderr struct{ io.Writer }

// Write implements io.Writer.
func (e *stderr) Write(p []byte) (int, error) {
	line, end := strings.CutSuffix(string(p), "\n")
	line = visible(line)
	if end {
		line += "\n"
	}
	_, err := io.WriteString(e.Writer, line)
	return len(p), err
}

// screen is standard error as it is, where it is a terminal and not redacted; else
// nil.
func screen(c *cli.Context) *os.File {
	e, _ := c.App.ErrWriter.(*stderr)
	if e == nil {
		return nil
	}
	f, isFile := e.Writer.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return f
}
