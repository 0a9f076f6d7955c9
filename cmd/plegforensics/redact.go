package main

import (
	"io"
	"os"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/cmd/plegforensics/internal/output"
	"github.com/plegforensics/plegforensics/internal/fleet"
	"github.com/plegforensics/plegforensics/internal/redact"
	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/simulate"
)

// redactFlags belong to every command that outputs names.
func redactFlags() []cli.Flag {
	return []cli.Flag{
		boolFlag(catOutput, "redact", "replace names of pods, namespaces, nodes, images, IPs, UIDs, and what is no word that systems write, by stable pseudonyms, and remove credentials, in every output"),
		stringFlag(catOutput, "redact-key", "`SECRET` that makes the pseudonyms of several reports agree; implies --redact"),
		stringFlag(catOutput, "redact-map", "write what was replaced by what to `PATH`, readable by you alone; implies --redact"),
	}
}

func redacting(c *cli.Context) bool {
	return c.Bool("redact") || c.String("redact-key") != "" || c.String("redact-map") != ""
}

// newRedactor returns a redactor with the key given by flags.
func newRedactor(c *cli.Context) *redact.Redactor {
	var key []byte
	if k := c.String("redact-key"); k != "" {
		key = []byte(k)
	}
	return redact.New(key)
}

// hush redacts standard error, which may contain names of inputs, nodes, and files in bundles. It
// holds the redactor of the run.
type hush struct {
	mu  sync.Mutex
	red *redact.Redactor
	w   io.Writer
}

// Write implements io.Writer for whole messages.
func (h *hush) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, err := io.WriteString(h.w, h.text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (h *hush) text(s string) string {
	h.red.Learn(s)
	h.red.Settle()
	return h.red.Text(s)
}

// hushed redacts standard error if requested by flags. The names of inputs are treated as names.
func hushed(c *cli.Context) error {
	if !redacting(c) {
		return nil
	}
	if _, again := c.App.ErrWriter.(*hush); again {
		return nil
	}
	h := &hush{red: newRedactor(c), w: c.App.ErrWriter}
	for _, arg := range c.Args().Slice() {
		h.red.Path(arg)
	}
	c.App.ErrWriter = h
	return nil
}

// hushedLate redacts standard error after an error in the command line, for which no command ran
// and hushed was not called. Whatever was typed may be a name.
func hushedLate(app *cli.App, args []string) {
	if _, again := app.ErrWriter.(*hush); again || !asksToRedact(args) {
		return
	}
	h := &hush{red: redact.New(nil), w: app.ErrWriter}
	known := map[string]bool{}
	for _, c := range app.Commands {
		known[c.Name] = true
		for _, f := range c.Flags {
			for _, name := range f.Names() {
				known[name] = true
			}
		}
	}
	for _, arg := range args[1:] {
		word, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !known[word] {
			h.red.Path(word)
		}
		h.red.Path(value)
	}
	app.ErrWriter = h
}

// asksToRedact reports whether a command line that may be invalid, or the environment, asks for
// redaction.
func asksToRedact(args []string) bool {
	for _, flag := range redactFlags() {
		name := flag.Names()[0]
		for _, variable := range flag.(cli.DocGenerationFlag).GetEnvVars() {
			if v := os.Getenv(variable); v != "" && v != "false" && v != "0" {
				return true
			}
		}
		for _, arg := range args[min(1, len(args)):] {
			if word, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), "="); word != arg && word == name && value != "false" {
				return true
			}
		}
	}
	return false
}

// shownNodes returns the names of nodes as a message may show them. Given as names, even those that
// are ordinary words are replaced.
func shownNodes(c *cli.Context, names ...string) []string {
	if !redacting(c) {
		return names
	}
	red := redactorOf(c)
	red.Hosts(names...)
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = red.Name(name)
	}
	return out
}

// redactorOf returns the redactor shared by all outputs of this run, so that standard error agrees
// with the report.
func redactorOf(c *cli.Context) *redact.Redactor {
	if h, ok := c.App.ErrWriter.(*hush); ok {
		return h.red
	}
	return newRedactor(c)
}

// fill makes the report of an analysis, redacted if requested; red is nil if not. The replaced
// names are known once the report is written; see writeMap.
func fill(c *cli.Context, a *model.Analysis) (r *model.Report, red *redact.Redactor) {
	if redacting(c) {
		red = redactorOf(c)
	}
	return fillWith(a, red), red
}

func fillWith(a *model.Analysis, red *redact.Redactor) *model.Report {
	var names model.Names
	if red != nil {
		roomForNames(a)
		red.Analysis(a)
		names = red
	}
	r := model.Fill(a, names)
	fleet.Correlate(r)
	return r
}

// cleanerFor returns a Cleaner for output about nodes, with redaction if requested; red is nil if
// not.
func cleanerFor(c *cli.Context, ns []*replay.Node) (clean *model.Cleaner, red *redact.Redactor) {
	if !redacting(c) {
		return model.NewCleaner(nil), nil
	}
	red = redactorOf(c)
	red.Nodes(ns)
	return model.NewCleaner(red), red
}

// replaySink cleans and writes a replay. It learns names as they come, because a recording is read
// only once.
type replaySink struct {
	report.ReplayWriter
	clean *model.Cleaner
	red   *redact.Redactor // nil without --redact
}

// replayTo starts the output of a replay.
func replayTo(c *cli.Context, f *report.ReplayFormat, w io.Writer, p pleg.Profile, what *simulate.WhatIf) *replaySink {
	s := &replaySink{clean: model.NewCleaner(nil)}
	if redacting(c) {
		s.red = redactorOf(c)
		s.clean = model.NewCleaner(s.red)
		for _, pod := range what.Without {
			s.red.Pod(pod, pod)
		}
	}
	s.ReplayWriter = f.New(w, s.clean.Profile(p), c.Bool("show-filtered"), madeUp(c))
	return s
}

func (s *replaySink) relist(x *simulate.Relist) {
	if s.red != nil {
		for _, e := range x.Events {
			s.red.Pod("", e.Pod)
		}
		for _, uids := range [][]string{x.Inspected, x.Failed, x.Reinspect} {
			for _, uid := range uids {
				s.red.Pod("", uid)
			}
		}
		learn(s.red, x.ListErr)
	}
	s.Relist(s.clean.SimRelist(x))
}

func (s *replaySink) end(x *model.Simulated) error {
	if s.red != nil {
		if a := x.Answer; a != nil {
			learn(s.red, append(append([]string{a.Sentence, a.Change}, a.Changes...), a.Assumptions...)...)
		}
		if x.Node != nil {
			s.red.Nodes([]*replay.Node{x.Node.Node})
		}
		learn(s.red, x.Assumptions...)
		for _, w := range x.Warnings {
			learn(s.red, w.String())
		}
	}
	return s.End(s.clean.ReplayEnd(x))
}

// learn lets red collect names from texts; red may be nil.
func learn(red *redact.Redactor, texts ...string) {
	if red == nil {
		return
	}
	for _, t := range texts {
		red.Learn(t)
	}
	red.Settle()
}

// mapKey is the metadata key of the output for the redaction map.
const mapKey = "redact-map"

// claimMap reserves the path of --redact-map.
func claimMap(c *cli.Context) error {
	f, err := claimFlag(c, "redact-map", true)
	if f != nil {
		c.App.Metadata[mapKey] = f
	}
	return err
}

// writeMap writes the redaction map, if requested.
func writeMap(c *cli.Context, red *redact.Redactor) error {
	f, wanted := c.App.Metadata[mapKey].(*output.File)
	if !wanted || red == nil {
		return nil
	}
	return f.Write(c.Context, func(w io.Writer) error {
		return report.Encode(w, red.Replacements())
	})
}
