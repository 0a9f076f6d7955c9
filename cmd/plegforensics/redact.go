package main

import (
	"io"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/cmd/plegforensics/internal/output"
	"github.com/plegforensics/plegforensics/internal/fleet"
	"github.com/plegforensics/plegforensics/internal/indent"
	"github.com/plegforensics/plegforensics/internal/redact"
	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/simulate"
)

// redactFlags belong to every command that writes names.
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

// newRedactor makes a redactor with the key of the flags.
func newRedactor(c *cli.Context) *redact.Redactor {
	var key []byte
	if k := c.String("redact-key"); k != "" {
		key = []byte(k)
	}
	return redact.New(key)
}

// hush is the redactor of a run. What goes to standard error passes through it,
// as it may name inputs, nodes, and files inside of bundles.
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

// hushed puts redaction before standard error where the flags ask for it. The
// names of inputs are taken for names.
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

// redactorOf is the redactor that all outputs of this run share, so that what
// standard error says agrees with the report.
func redactorOf(c *cli.Context) *redact.Redactor {
	if h, ok := c.App.ErrWriter.(*hush); ok {
		return h.red
	}
	return newRedactor(c)
}

// fill makes the report of an analysis, with the names replaced where the flags
// ask for it; red is nil where they do not. The names that were replaced are
// known when the report is written: see writeMap.
func fill(c *cli.Context, a *model.Analysis) (r *model.Report, red *redact.Redactor) {
	if redacting(c) {
		red = redactorOf(c)
	}
	return fillWith(a, red), red
}

func fillWith(a *model.Analysis, red *redact.Redactor) *model.Report {
	var names model.Names
	if red != nil {
		red.Analysis(a)
		names = red
	}
	r := model.Fill(a, names)
	fleet.Correlate(r)
	return r
}

// cleanerFor makes what is said of nodes fit to be shown, with the names replaced
// where the flags ask for it; red is nil where they do not.
func cleanerFor(c *cli.Context, ns []*replay.Node) (clean *model.Cleaner, red *redact.Redactor) {
	if !redacting(c) {
		return model.NewCleaner(nil), nil
	}
	red = redactorOf(c)
	red.Nodes(ns)
	return model.NewCleaner(red), red
}

// replaySink makes what is simulated fit to be shown and writes it. It learns
// names as they come: a recording is read once.
type replaySink struct {
	report.ReplayWriter
	clean *model.Cleaner
	red   *redact.Redactor // nil without --redact
}

// replayTo opens the writer of a replay of a kubelet.
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

// learn notes the names of texts; red is nil without --redact.
func learn(red *redact.Redactor, texts ...string) {
	if red == nil {
		return
	}
	for _, t := range texts {
		red.Learn(t)
	}
	red.Settle()
}

// mapKey is where the claimed place of the redaction map is kept.
const mapKey = "redact-map"

// claimMap reserves the place of --redact-map.
func claimMap(c *cli.Context) error {
	f, err := claimFlag(c, "redact-map", true)
	if f != nil {
		c.App.Metadata[mapKey] = f
	}
	return err
}

// writeMap writes what was replaced.
func writeMap(c *cli.Context, red *redact.Redactor) error {
	f, wanted := c.App.Metadata[mapKey].(*output.File)
	if !wanted || red == nil {
		return nil
	}
	return f.Write(c.Context, func(w io.Writer) error {
		return indent.Encode(w, red.Replacements())
	})
}
