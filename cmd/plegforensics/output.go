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

// outputsKey is the metadata key of the outputs of a run.
const outputsKey = "outputs"

// outputsOf returns the outputs claimed by flags so far.
func outputsOf(app *cli.App) *output.Set { return app.Metadata[outputsKey].(*output.Set) }

// target is one --output: a format and its destination.
type target struct {
	format *report.Format
	file   *output.File
}

// targets parses --output and claims the destinations.
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

// begin checks the output flags before any work: formats, destinations, that no input would be
// overwritten, and terminal options.
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

// otherInputs returns the files and directories that flags name as further inputs.
func otherInputs(c *cli.Context) []string {
	out := append(c.StringSlice("rules"), c.StringSlice("alert-rules")...)
	if path := c.String("manifest"); path != "" {
		out = append(out, path)
	}
	return out
}

// rebound returns the same targets with formats that are bound to the result.
func rebound(ts []target, formats []report.Format) []target {
	var out []target
	for _, t := range ts {
		out = append(out, target{report.Lookup(formats, t.format.Name), t.file})
	}
	return out
}

// claim reserves a path for an output. name is what the user typed.
func claim(c *cli.Context, name, path string, private bool) (*output.File, error) {
	f, err := outputsOf(c.App).Claim(name, path, private)
	if err != nil {
		return nil, usage(claimHint(err), "%v", err)
	}
	return f, nil
}

// claimFlag reserves the path given by a flag; it returns nil if the flag is not given.
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

// spare returns an error if an output would overwrite an input: a file named, or a file in a
// directory named that is not an earlier report.
func spare(c *cli.Context, inputs ...string) error {
	for _, in := range inputs {
		st, err := inputStat(c, in)
		if err != nil {
			continue // reading it reports the error
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
	case path == "": // a descriptor: find the name of the file it writes to
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

// named returns the path of a file below dir, "" if it is not there.
func named(file fs.FileInfo, dir string) string {
	found := ""
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	_ = filepath.WalkDir(real, func(path string, e fs.DirEntry, err error) error { // reading the input reports its errors
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

// within reports whether path is below dir, with links resolved.
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
		if t.file.Stdout() && r != nil { // query has formats of its own
			opt.Link = linker(c)
		}
		if err := t.write(c, func(w io.Writer) error { return t.format.Write(w, r, opt) }); err != nil {
			return err
		}
	}
	return nil
}

// write writes to the target, through the pager if that is standard output.
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

// mark returns the line that identifies an output in a line-based format as ours.
func mark(c *cli.Context, format string) string {
	command, _, _ := strings.Cut(commandPath(c.Command.HelpName), " ") // batch merge has the same mark as batch
	return report.Mark(format, c.App.Version, command)
}

// told prints the names of the files written to standard error.
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

// fileWidth is the width in columns of text that does not go to a terminal.
const fileWidth = 120

// fileOptions returns the options for output to files.
func fileOptions(c *cli.Context) (report.Options, error) {
	opt := report.Options{Width: fileWidth, Verbose: c.Bool("verbose")}
	var err error
	opt.Zone, err = zone("display-tz", c.String("display-tz"))
	return opt, err
}

// options returns the options of the target.
func (t *target) options(c *cli.Context) (report.Options, error) {
	if t.file.Stdout() {
		return terminal(c)
	}
	return fileOptions(c)
}

// mostColumns is the width in columns that nothing is wider than: lines of a timeline and of tables fill it.
const mostColumns = 1000

// columns returns the width that COLUMNS gives, or else the given one.
func columns(width int) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); n >= 40 && (err == nil || errors.Is(err, strconv.ErrRange)) {
		return min(n, mostColumns)
	}
	return width
}

// terminal returns the options for standard output, with its width and color.
func terminal(c *cli.Context) (report.Options, error) {
	opt, err := fileOptions(c)
	if err != nil {
		return opt, err
	}
	tty := onTerminal(c)
	if tty {
		if w, _, err := term.GetSize(int(stdoutFile(c).Fd())); err == nil {
			opt.Width = min(w, mostColumns)
		}
	}
	opt.Width = columns(opt.Width)
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

// stdoutFile returns standard output as a file, nil if it is not one.
func stdoutFile(c *cli.Context) *os.File {
	f, _ := c.App.Writer.(*stdout).Writer.(*os.File)
	return f
}

// stdout is standard output. It keeps the first write error, because not every caller checks it.
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

// Stat returns the file info of standard output.
func (o *stdout) Stat() (fs.FileInfo, error) {
	if f, isFile := o.Writer.(*os.File); isFile {
		return f.Stat()
	}
	return nil, errors.ErrUnsupported
}
