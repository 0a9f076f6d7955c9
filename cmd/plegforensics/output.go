package main

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/plegforensics/plegforensics/internal/report"
)

// target is one --output: a format and where it goes, "" for standard output.
type target struct {
	format *report.Format
	path   string
}

// targets reads --output. At most one format may go to standard output.
func targets(c *cli.Context, formats []report.Format) ([]target, error) {
	words := c.StringSlice("output")
	if len(words) == 0 {
		words = []string{"text"}
	}
	var out []target
	stdout := 0
	for _, w := range words {
		name, path, _ := strings.Cut(w, "=")
		f := report.Lookup(formats, name)
		if f == nil {
			return nil, unknown("output format", name, report.Names(formats))
		}
		if path == "" {
			stdout++
		}
		out = append(out, target{f, path})
	}
	if stdout > 1 {
		return nil, usage("give the others a file: --output html=report.html", "two formats cannot share standard output")
	}
	return out, nil
}

// emit writes the report to every target.
func emit(c *cli.Context, ts []target, r *report.Report) error {
	for _, t := range ts {
		if t.path == "" {
			opt, err := terminal(c)
			if err != nil {
				return err
			}
			if r != nil { // query writes formats of its own
				opt.Link = linker(c, r.Inputs)
			}
			if err := paged(c, func(w io.Writer) error { return t.format.Write(w, r, opt) }); err != nil {
				return err
			}
			continue
		}
		write := func(w io.Writer) error {
			return t.format.Write(w, r, report.Options{Width: 120, Verbose: c.Bool("verbose")})
		}
		if err := writeFile(t.path, write); err != nil {
			return &exitError{code: exitUsage, msg: err.Error()}
		}
	}
	return nil
}

// writeFile writes beside path and renames, so that no partial file stays.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails harmlessly after the rename
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// terminal decides width and colour of standard output.
func terminal(c *cli.Context) (report.Options, error) {
	opt := report.Options{Width: 120, Verbose: c.Bool("verbose")}
	tty := onTerminal(c)
	if tty {
		if w, _, err := term.GetSize(int(c.App.Writer.(*os.File).Fd())); err == nil {
			opt.Width = w
		}
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n >= 40 {
		opt.Width = n
	}
	switch when := c.String("color"); when {
	case "always":
		opt.Color = true
	case "never":
	case "auto", "":
		opt.Color = tty && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	default:
		return opt, unknown("value of --color", when, []string{"auto", "always", "never"})
	}
	if _, err := linksWanted(c); err != nil {
		return opt, err
	}
	return opt, nil
}

// onTerminal reports whether standard output is a terminal.
func onTerminal(c *cli.Context) bool {
	f, isFile := c.App.Writer.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}
