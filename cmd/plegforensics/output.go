package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/plegforensics/plegforensics/cmd/plegforensics/internal/output"
	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse/bundle"
)

// outputsKey is where the outputs of a run are kept in the metadata of the app.
const outputsKey = "outputs"

// outputsOf returns the outputs that the flags have claimed so far.
func outputsOf(app *cli.App) *output.Set { return app.Metadata[outputsKey].(*output.Set) }

// target is one --output: a format and where it goes.
type target struct {
	format *report.Format
	file   *output.File
}

// targets reads --output and claims the places it names.
func targets(c *cli.Context, formats []report.Format) ([]target, error) {
	words := c.StringSlice("output")
	if len(words) == 0 {
		words = []string{"text"}
	}
	var out []target
	for _, w := range words {
		name, path, toFile := strings.Cut(w, "=")
		f := report.Lookup(formats, name)
		if f == nil {
			return nil, unknown("output format", name, report.Names(formats))
		}
		if !toFile {
			path = "-"
		}
		file, err := claim(c, "--output "+w, path, false)
		if err != nil {
			return nil, err
		}
		out = append(out, target{f, file})
	}
	return out, nil
}

// begin checks what the flags say of outputs before any work: formats, places,
// that no input would be overwritten, and how to show them on a terminal.
func begin(c *cli.Context, formats []report.Format) ([]target, error) {
	ts, err := targets(c, formats)
	if err != nil {
		return nil, err
	}
	if err := claimMap(c); err != nil {
		return nil, err
	}
	if _, err := terminal(c); err != nil {
		return nil, err
	}
	return ts, spare(c, append(c.Args().Slice(), otherInputs(c)...)...)
}

// otherInputs are the files and directories that flags say to read.
func otherInputs(c *cli.Context) []string {
	out := append(c.StringSlice("rules"), c.StringSlice("alert-rules")...)
	if path := c.String("manifest"); path != "" {
		out = append(out, path)
	}
	return out
}

// rebound are the same places with the formats of what is known by now.
func rebound(ts []target, formats []report.Format) []target {
	var out []target
	for _, t := range ts {
		out = append(out, target{report.Lookup(formats, t.format.Name), t.file})
	}
	return out
}

// claim reserves a path for what the run writes. Name is what the user typed.
func claim(c *cli.Context, name, path string, private bool) (*output.File, error) {
	f, err := outputsOf(c.App).Claim(name, path, private)
	if err != nil {
		return nil, usage(claimHint(err), "%v", err)
	}
	return f, nil
}

// claimFlag reserves the path of a flag that takes nothing else; nil where the
// flag is not given.
func claimFlag(c *cli.Context, flag string, private bool) (*output.File, error) {
	if c.String(flag) == "" {
		return nil, nil
	}
	return claim(c, "--"+flag+" "+c.String(flag), c.String(flag), private)
}

func claimHint(err error) string {
	if strings.Contains(err.Error(), "standard output takes one") {
		return "give the others a file: --output html=report.html"
	}
	return ""
}

// spare refuses outputs that would overwrite what is about to be read: one of
// the files named, or a file in one of the directories named that is not an
// earlier report.
func spare(c *cli.Context, inputs ...string) error {
	for _, in := range inputs {
		st, err := inputStat(c, in)
		if err != nil {
			continue // reading it says why
		}
		for _, f := range outputsOf(c.App).Files() {
			if why := overwrites(f, in, st); why != "" {
				return usage("the input is the evidence: write somewhere else", "%v", f.Refuse(why))
			}
		}
	}
	return nil
}

func inputStat(c *cli.Context, path string) (fs.FileInfo, error) {
	if path != "-" {
		return os.Stat(path)
	}
	if f, isFile := c.App.Reader.(*os.File); isFile {
		return f.Stat()
	}
	return nil, fs.ErrNotExist
}

// overwrites says why an output would destroy an input, "" if it would not.
func overwrites(f *output.File, input string, st fs.FileInfo) string {
	path, there := f.Resolved()
	switch {
	case there == nil || !there.Mode().IsRegular():
		return ""
	case os.SameFile(there, st):
		return "is an input"
	case !st.IsDir() || there.Size() == 0:
		return ""
	case path == "": // a descriptor: it has no name, but the file that it writes to has
		if path = named(there, input); path == "" {
			return ""
		}
	case !within(path, input):
		return ""
	}
	if own, err := bundle.OwnReport(path); own && err == nil {
		return ""
	}
	return "is a file of the input " + input
}

// named finds a file below a directory, "" if it is not there.
func named(file fs.FileInfo, dir string) string {
	found := ""
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	_ = filepath.WalkDir(real, func(path string, e fs.DirEntry, err error) error { // reading the directory tells its errors
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if info, err := e.Info(); err == nil && os.SameFile(info, file) {
			found = path
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

// within reports whether a file lies below a directory.
func within(path, dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	if real, err = filepath.Abs(real); err != nil {
		return false
	}
	if path, err = filepath.Abs(path); err != nil {
		return false
	}
	rel, err := filepath.Rel(real, path)
	return err == nil && filepath.IsLocal(rel)
}

// emit writes the report to every target.
func emit(c *cli.Context, ts []target, r *model.Report) error {
	for _, t := range ts {
		opt, err := t.options(c)
		if err != nil {
			return err
		}
		if t.file.Stdout() && r != nil { // query writes formats of its own
			opt.Link = linker(c)
		}
		if err := t.write(c, func(w io.Writer) error { return t.format.Write(w, r, opt) }); err != nil {
			return err
		}
	}
	return nil
}

// write writes to the target, through the pager where that is standard output.
func (t *target) write(c *cli.Context, write func(io.Writer) error) error {
	marked := func(w io.Writer) error {
		if _, err := io.WriteString(w, mark(c, t.format.Name)); err != nil {
			return err
		}
		return write(w)
	}
	if t.file.Stdout() {
		return paged(c, marked)
	}
	return t.file.Write(c.Context, marked)
}

// mark is the line by which an output of plain lines is known to be ours.
func mark(c *cli.Context, format string) string {
	command, _, _ := strings.Cut(commandPath(c.Command.HelpName), " ") // a merge gives what the batch would have
	return report.Mark(format, c.App.Version, command)
}

// told says on standard error which files were written.
func told(c *cli.Context) {
	if c.Bool("quiet") {
		return
	}
	var names []string
	for _, f := range outputsOf(c.App).Files() {
		if f.Regular() != "" && f.Written() {
			names = append(names, f.Regular())
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(c.App.ErrWriter, "plegforensics: wrote %s\n", strings.Join(names, ", "))
	}
}

// fileWidth is how many columns text has that goes to no terminal.
const fileWidth = 120

// fileOptions are the options of what goes to a file.
func fileOptions(c *cli.Context) (report.Options, error) {
	opt := report.Options{Width: fileWidth, Verbose: c.Bool("verbose")}
	var err error
	opt.Zone, err = zone("display-tz", c.String("display-tz"))
	return opt, err
}

// options are those of the target.
func (t *target) options(c *cli.Context) (report.Options, error) {
	if t.file.Stdout() {
		return terminal(c)
	}
	return fileOptions(c)
}

// terminal decides width and colour of standard output.
func terminal(c *cli.Context) (report.Options, error) {
	opt, err := fileOptions(c)
	if err != nil {
		return opt, err
	}
	tty := onTerminal(c)
	if tty {
		if w, _, err := term.GetSize(int(stdoutFile(c).Fd())); err == nil {
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
		return opt, unknown("value of --color", when, whenWords)
	}
	if _, err := linksWanted(c); err != nil {
		return opt, err
	}
	return opt, nil
}

// onTerminal reports whether standard output is a terminal.
func onTerminal(c *cli.Context) bool {
	f := stdoutFile(c)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// stdoutFile is standard output as a file, nil if it is none.
func stdoutFile(c *cli.Context) *os.File {
	f, _ := c.App.Writer.(*stdout).Writer.(*os.File)
	return f
}

// stdout is standard output. It remembers that something could not be written:
// not everybody who prints looks at the error.
type stdout struct {
	io.Writer
	err error
}

// Write implements io.Writer.
func (o *stdout) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// Stat tells which file standard output is.
func (o *stdout) Stat() (fs.FileInfo, error) {
	if f, isFile := o.Writer.(*os.File); isFile {
		return f.Stat()
	}
	return nil, errors.ErrUnsupported
}
