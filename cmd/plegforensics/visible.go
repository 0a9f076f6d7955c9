package main

import (
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// stderr is standard error. Each Write is a one-line message. Hidden characters that file names,
// flag values and input lines bring into it are escaped here and nowhere else.
type stderr struct{ io.Writer }

// Write implements io.Writer.
func (e *stderr) Write(p []byte) (int, error) {
	line, end := strings.CutSuffix(string(p), "\n")
	model.In(&line)
	if end {
		line += "\n"
	}
	_, err := io.WriteString(e.Writer, line)
	return len(p), err
}

// shownLines writes text that quotes outside content, such as rule files, but is part of no
// document: each line is escaped.
type shownLines struct{ io.Writer }

// Write implements io.Writer.
func (l shownLines) Write(p []byte) (int, error) {
	all := strings.Split(string(p), "\n")
	for i := range all {
		model.In(&all[i])
	}
	_, err := io.WriteString(l.Writer, strings.Join(all, "\n"))
	return len(p), err
}

// screen returns standard error if it is a terminal and not redacted, else nil.
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
