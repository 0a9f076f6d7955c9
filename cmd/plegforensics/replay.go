package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/cmd/plegforensics/internal/output"
	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/internal/spell"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/bundle"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/listings"
	"github.com/plegforensics/plegforensics/replay/past"
	"github.com/plegforensics/plegforensics/replay/scenario"
	"github.com/plegforensics/plegforensics/replay/simulate"
	"github.com/plegforensics/plegforensics/replay/stream"
	"github.com/plegforensics/plegforensics/replay/timeout"
	"github.com/plegforensics/plegforensics/rules/query"
)

// catReplay is the category of replay's own flags.
const catReplay = "Replay"

func replayCommand() *cli.Command {
	return &cli.Command{
		Name:      "replay",
		Usage:     "run the reference PLEG over recorded listings, and ask what if",
		ArgsUsage: "[INPUT...]",
		Description: "INPUT is a file of recorded relists (plegforensics/snapshots/v1), a bundle, or - for\n" +
			"standard input. --what-if changes the history:\n\n" + whatIfHelp() +
			"\n\n--scenario runs a node that is made up, KEY=VALUE,KEY=VALUE, and needs no INPUT:\n\n" + scenarioHelp(),
		Flags: join([]cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "text", Usage: "`FORMAT` or FORMAT=PATH; one of text, json", EnvVars: envName("output"), Category: catOutput},
			listFlag(catReplay, "what-if", "change the history: `KEY=VALUE`, repeatable"),
			stringFlag(catReplay, "scenario", "run a made-up node instead of an input: `KEY=VALUE,...`"),
			stringFlag(catReplay, "calibrate", "take latencies, pods and restarts of the scenario from the quieter half of the metrics in `INPUT`"),
			stringFlag(catReplay, "find", "what turns PLEG unhealthy in the scenario: `KEY`, one of "+strings.Join(scenario.Questions(), ", ")),
			boolFlag(catReplay, "show-filtered", "show ContainerChanged events, which the kubelet keeps to itself"),
			stringFlag(catReplay, "export-snapshots", "also write what was replayed to `PATH`, as plegforensics/snapshots/v1"),
		}, redactFlags()[:2], inputFlags()),
		Action: replayAction,
	}
}

func whatIfHelp() string {
	var b strings.Builder
	for _, k := range simulate.WhatIfKeys {
		fmt.Fprintf(&b, "  %-32s %s\n", k.Key+"="+k.Value, k.About)
	}
	return strings.TrimRight(b.String(), "\n")
}

// replayRun is one call of replay: what to change, and where the output goes.
type replayRun struct {
	c          *cli.Context
	what       simulate.WhatIf
	format     *report.ReplayFormat
	file       *output.File
	exportFile *output.File   // nil without --export-snapshots
	out        *output.Writer // nil until there is something to write
	export     *output.Writer // likewise
	writer     simulate.Exporter
	player     *stream.Player // for recorded container events; nil without
	tell       func(*simulate.Relist)
	inWindow   func(start int64) bool // for recorded relists; nil means all
	listed     []*simulate.Snapshot   // listings of container tools, in place of relists
	left       int                    // number of lines outside the window
}

func replayAction(c *cli.Context) error {
	if madeUp(c) {
		return scenarioAction(c)
	}
	if c.NArg() == 0 {
		return usage("name a file of recorded relists, a bundle, or -", "no input given")
	}
	profile, what, err := replayProfile(c)
	if err != nil {
		return err
	}
	r := &replayRun{c: c, what: what}
	if err := r.claimReplay(); err != nil {
		return err
	}
	defer r.abandon()
	if err := r.input(profile); err != nil {
		return err
	}
	return r.commit()
}

// input replays recorded relists while they are read, and anything else as a bundle.
func (r *replayRun) input(p pleg.Profile) error {
	if r.c.NArg() == 1 {
		in, name, err := openInput(r.c, r.c.Args().First())
		if err != nil {
			return err
		}
		defer in.Close()
		head := bufio.NewReaderSize(in, 1<<20)
		if looksRecorded(head) {
			if r.inWindow, err = recordedWindow(r.c); err != nil {
				return err
			}
			if b, _ := head.Peek(64 << 10); stream.Is(b) {
				if !p.Has(pleg.EventedAvailable) || !r.what.Empty() {
					return usage("evented PLEG exists from 1.26; --what-if does not change recorded container events", "the input holds recorded container events")
				}
				p, r.player = p.UseEvented(), &stream.Player{}
			}
			return r.stream(head, name, p)
		}
		if name == "-" {
			r.c.App.Reader = head
		}
	}
	return r.bundle(p)
}

// looksRecorded reports whether one of the first ten lines is a recorded relist.
func looksRecorded(head *bufio.Reader) bool {
	b, _ := head.Peek(64 << 10) // a short input is not an error
	for i, line := range bytes.Split(b, []byte("\n")) {
		if i == 10 {
			break
		}
		line = bytes.TrimSpace(line[:min(len(line), 4096)])
		if bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"time"`)) &&
			(bytes.Contains(line, []byte(`"pods":[`)) || bytes.Contains(line, []byte(`"pods": [`)) || bytes.Contains(line, []byte(`"list_error"`))) {
			return true
		}
	}
	return false
}

// bundle replays what a bundle contains: recorded listings, listings of container tools, the
// history logged by the runtime, or the relists proven by the kubelet log.
func (r *replayRun) bundle(p pleg.Profile) error {
	bundles, err := load(r.c, r.c.Args().Slice(), query.Asks{}.Has, nil)
	if err != nil {
		return err
	}
	var ns []model.Analyzed
	for _, b := range bundles {
		if len(b.Listings) > 0 {
			return r.listings(b, p)
		}
		more, err := audited(r.c, b, nil)
		if err != nil {
			return err
		}
		ns = append(ns, more...)
	}
	if len(ns) > 1 {
		var names []string
		for _, n := range ns {
			names = append(names, n.Name)
		}
		return usage("add --node NAME: "+strings.Join(shownNodes(r.c, names...), ", "), "the input holds %d nodes", len(ns))
	}
	if len(ns) == 0 {
		return nothingToReplay()
	}
	return r.node(&ns[0], p)
}

func nothingToReplay() error {
	return &exitError{exitNothing, "nothing to replay in the input", "give recorded relists, a kubelet or runtime log, or container listings"}
}

// listings replays recorded relists found in a bundle.
func (r *replayRun) listings(b *parse.Bundle, p pleg.Profile) error {
	var err error
	if r.inWindow, err = recordedWindow(r.c); err != nil {
		return err
	}
	return r.simulate(nil, p, func(feed *simulate.Feed, step func(*simulate.Snapshot)) error {
		for _, l := range b.Listings {
			if r.wanted(l.Raw) {
				feed.Line(l.Raw, l.Pos, step)
			}
		}
		return nil
	})
}

// node replays one node. Without changes that is its history as it was. What-if questions about
// time are answered from the proven relists, those about the channel from the events.
func (r *replayRun) node(n *model.Analyzed, p pleg.Profile) error {
	counter, err := simulate.NewCounterfactual(n.Node, n.Blame)
	if err != nil {
		return usage("", "%v", err)
	}
	if q := counter.Was; r.c.String("kubelet-version") == "" {
		p = q
	}
	if len(n.Events) == 0 && len(n.Containers) > 0 {
		r.listed = listings.Snapshots(n.Containers)
		return r.toolListings(n, p)
	}
	history := past.New(n.Node, n.Blame)
	if !history.Known {
		if r.exportFile != nil {
			return &exitError{exitNothing, "no container history to export", historyWanted}
		}
		if r.what.Capacity != 0 {
			return &exitError{exitNothing, "the input does not show what became of containers: whether events fit a channel is not known", historyWanted}
		}
	}
	if !r.what.Empty() && r.what.Capacity == 0 {
		if err := r.exportAll(history.Snapshots()); err != nil {
			return err
		}
		return r.ask(n, counter, p)
	}
	if history.Relists == 0 && (!r.what.Empty() || len(n.Episodes) == 0 && !proven(n.Node)) {
		return nothingToReplay()
	}
	if history.Assumed > 0 && !r.c.Bool("quiet") {
		fmt.Fprintf(r.c.App.ErrWriter, "plegforensics: note: %d of %d relists are assumed: the log does not date them\n", history.Assumed, history.Relists)
	}
	if !r.what.Empty() {
		n = nil
	}
	return r.snapshots(n, p, history.Snapshots())
}

// toolListings replays listings of container tools, each like a relist.
func (r *replayRun) toolListings(n *model.Analyzed, p pleg.Profile) error {
	undated := slices.ContainsFunc(r.listed, func(s *simulate.Snapshot) bool { return s.Undated })
	switch recorded := "recorded relists (plegforensics/snapshots/v1) would tell"; {
	case !r.what.Empty():
		return &exitError{exitNothing, "the listings of container tools do not show which relists the kubelet made", recorded}
	case undated && r.exportFile != nil:
		return &exitError{exitNothing, "nothing dates the listings: they cannot be exported", ""}
	}
	return r.snapshots(n, p, slices.Values(r.listed))
}

// historyWanted says which input has the history of containers.
const historyWanted = "the input needs a runtime log, or a kubelet log with -v=4"

// proven reports whether anything about the health of PLEG is proven.
func proven(n *replay.Node) bool {
	return slices.ContainsFunc(n.Health, func(h replay.HealthSpan) bool { return h.State != replay.HealthUnknown })
}

// snapshots replays snapshots, for n together with its history if n is not nil.
func (r *replayRun) snapshots(n *model.Analyzed, p pleg.Profile, ss iter.Seq[*simulate.Snapshot]) error {
	return r.simulate(n, p, func(_ *simulate.Feed, step func(*simulate.Snapshot)) error {
		for s := range ss {
			step(s)
		}
		return nil
	})
}

// ask answers a what-if from the proven relists, if these suffice.
func (r *replayRun) ask(n *model.Analyzed, l *simulate.Counterfactual, p pleg.Profile) error {
	var relists []*simulate.Relist
	var end model.Simulated
	if why, wanted := l.Unproven(&r.what); why == "" {
		var err error
		if relists, end.Totals, end.Answer, err = l.Ask(r.what); err != nil {
			return usage("evented PLEG exists from 1.26", "%v", err)
		}
	} else if end.Answer = timeout.Bound(n.Node, n.Blame, l.Was, &r.what, why); end.Answer == nil {
		return &exitError{exitNothing, why, wanted}
	} else { // bounds do not determine the health of PLEG
		end.Node = &model.Analyzed{Node: &replay.Node{Health: []replay.HealthSpan{{Span: replay.Span{From: n.Window.Start, To: n.Window.End}, State: replay.HealthUnknown}}}}
	}
	w, err := r.begin(p)
	if err != nil {
		return err
	}
	for _, x := range relists {
		w.relist(x)
	}
	return w.end(&end)
}

// exportAll exports snapshots without replaying them.
func (r *replayRun) exportAll(ss iter.Seq[*simulate.Snapshot]) error {
	if err := r.beginExport(); err != nil {
		return err
	}
	none := true
	for s := range ss {
		none = false
		if err := r.exportLine(s); err != nil {
			return err
		}
	}
	if r.export != nil && none {
		return &exitError{exitNothing, "no container history to export", "the input needs a runtime log, or a kubelet log with -v=4"}
	}
	return nil
}

func (r *replayRun) exportLine(s *simulate.Snapshot) error {
	if r.export == nil {
		return nil
	}
	line, err := r.writer.Line(s)
	if err == nil {
		_, err = r.export.Write(line)
	}
	return err
}

// replayProfile parses the flags that state the kubelet and the changes.
func replayProfile(c *cli.Context) (pleg.Profile, simulate.WhatIf, error) {
	var what simulate.WhatIf
	for _, arg := range c.StringSlice("what-if") {
		if err := what.Set(arg); err != nil {
			return pleg.Profile{}, what, whatIfUsage(arg, err)
		}
	}
	p, err := pleg.New(c.String("kubelet-version"))
	if err != nil {
		return p, what, usage("for example --kubelet-version v1.28.0", "%v", err)
	}
	if _, err := what.Profile(p); err != nil {
		return p, what, usage("evented PLEG exists from 1.26", "%v", err)
	}
	if d := c.Duration("relist-threshold"); d > 0 {
		p.Threshold = d
	}
	if d := c.Duration("relist-period"); d > 0 {
		p.Period = d
	}
	return p, what, nil
}

func whatIfUsage(arg string, err error) error {
	key, _, _ := strings.Cut(arg, "=")
	var keys []string
	for _, k := range simulate.WhatIfKeys {
		if k.Key == key {
			return usage("give "+k.Key+"="+k.Value, "%v", err)
		}
		keys = append(keys, k.Key)
	}
	hint := "one of " + strings.Join(keys, ", ")
	if best := spell.Nearest(key, keys); best != "" {
		hint = fmt.Sprintf("did you mean %q?", best)
	}
	return usage(hint, "%v", err)
}

// openInput opens a plain file or standard input.
func openInput(c *cli.Context, path string) (io.ReadCloser, string, error) {
	if path == "-" {
		return io.NopCloser(c.App.Reader), "-", endless(c)
	}
	f, err := bundle.OpenFile(path)
	if err != nil {
		return nil, "", &exitError{exitNothing, path + ": " + err.Error(), ""}
	}
	return f, filepath.Base(path), nil
}

// maxSnapshotLine is the maximum length of a line: 100,000 containers take some 15 MB.
const maxSnapshotLine = 256 << 20

// stream replays recorded relists while they are read.
func (r *replayRun) stream(in io.Reader, name string, p pleg.Profile) error {
	file := &parse.File{Path: name, Role: parse.RoleSnapshots, Size: -1}
	return r.simulate(nil, p, func(feed *simulate.Feed, step func(*simulate.Snapshot)) error {
		return eachLine(in, func(text []byte, line uint32, offset int64) error {
			pos := parse.Pos{File: file, Line: line, Offset: offset}
			switch {
			case !r.wanted(text):
			case r.player != nil && stream.Is(text):
				feed.End(step) // process the relists before it first
				x, err := r.player.Play(text)
				if err != nil {
					feed.Decoder.Warnings = append(feed.Decoder.Warnings, parse.Warning{Pos: pos, Msg: err.Error()})
				} else if x != nil {
					r.tell(x)
				}
			default:
				feed.Line(text, pos, step)
			}
			return r.c.Context.Err()
		})
	})
}

// simulate runs the reference PLEG over what source yields. If n is not nil, only events are
// simulated; the times of the relists and the health are those of its history.
func (r *replayRun) simulate(n *model.Analyzed, p pleg.Profile, source func(*simulate.Feed, func(*simulate.Snapshot)) error) error {
	sim, err := simulate.NewSimulation(p, r.what)
	if err != nil {
		return usage("evented PLEG exists from 1.26", "%v", err)
	}
	w, err := r.begin(p)
	if err != nil {
		return err
	}
	var feed simulate.Feed
	var failed error
	relists := 0
	tell := func(x *simulate.Relist) {
		relists++
		if n != nil {
			simulate.Witness(n.Node, x)
		}
		w.relist(x)
	}
	if r.tell = tell; r.player != nil {
		r.player = stream.NewPlayer(sim)
	}
	step := func(s *simulate.Snapshot) {
		if err := r.exportLine(s); err != nil && failed == nil {
			failed = err
		}
		for _, x := range sim.Step(s) {
			tell(x)
		}
	}
	if err := source(&feed, step); err != nil {
		return err
	}
	feed.End(step)
	rest, totals, answer := sim.Finish()
	for _, x := range rest {
		tell(x)
	}
	if !r.c.Bool("quiet") && !redacting(r.c) {
		warn(r.c.App.ErrWriter, feed.Decoder.Warnings)
	}
	if failed != nil {
		return failed
	}
	if relists == 0 && r.left > 0 {
		return &exitError{exitNothing, "no recorded relist in the window", "--since and --until leave out all of " + parse.Plural(r.left, "line")}
	}
	end := &model.Simulated{Totals: totals, Machine: sim.Machine(), Answer: answer, Assumptions: sim.Assumptions(), Warnings: feed.Decoder.Warnings}
	if r.player != nil {
		end.Totals.Events += r.player.Sent
		end.Totals.Discarded += r.player.Discarded
		end.Assumptions = append(end.Assumptions, r.player.Notes()...)
	}
	switch {
	case n != nil:
		end.Totals.Witness(n.Node)
		end.Node, end.Machine, end.Assumptions = n, nil, simulate.HistoryAssumptions(n.Node, r.listed != nil)
	case relists == 0:
		return nothingToReplay()
	}
	err = w.end(end)
	if err == nil && r.c.Bool("strict") && len(feed.Decoder.Warnings) > 0 {
		return &exitError{exitPartial, "some lines could not be replayed", "the warnings above say which"}
	}
	return err
}

// eachLine calls do for each line up to maxSnapshotLine bytes; longer ones are cut there, and the
// decoder warns of the fragments.
func eachLine(in io.Reader, do func(text []byte, line uint32, offset int64) error) error {
	r := bufio.NewReaderSize(in, 1<<20)
	var long []byte
	var offset int64
	for line := uint32(1); ; line++ {
		text, n, err := readLine(r, &long)
		if n > 0 {
			if err := do(text, line, offset); err != nil {
				return err
			}
		}
		offset += int64(n)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// readLine returns the next line without its end, and the number of bytes read.
func readLine(r *bufio.Reader, long *[]byte) ([]byte, int, error) {
	text, err := r.ReadSlice('\n')
	n := len(text)
	if err == nil || !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.TrimSuffix(text, []byte("\n")), n, err
	}
	*long = append((*long)[:0], text...)
	for errors.Is(err, bufio.ErrBufferFull) {
		text, err = r.ReadSlice('\n')
		n += len(text)
		if len(*long) < maxSnapshotLine {
			*long = append(*long, text...)
		}
	}
	return bytes.TrimSuffix(*long, []byte("\n")), n, err
}

// claimReplay parses the output flags and claims the paths they name.
func (r *replayRun) claimReplay() error {
	name, path, toFile := strings.Cut(r.c.String("output"), "=")
	var names []string
	for i := range report.ReplayFormats {
		names = append(names, report.ReplayFormats[i].Name)
		if report.ReplayFormats[i].Name == name {
			r.format = &report.ReplayFormats[i]
		}
	}
	if r.format == nil {
		return unknown("output format", name, names)
	}
	if !toFile {
		path = "-"
	}
	var err error
	if r.file, err = claim(r.c, "--output "+r.c.String("output"), path, false); err != nil {
		return err
	}
	if r.exportFile, err = claimFlag(r.c, "export-snapshots", false); err != nil {
		return err
	}
	if r.exportFile != nil && redacting(r.c) {
		return usage("leave one of them out", "--export-snapshots writes the names that --redact hides")
	}
	return spare(r.c, r.c.Args().Slice()...)
}

// begin opens the outputs once there is something to write.
func (r *replayRun) begin(p pleg.Profile) (*replaySink, error) {
	if err := r.beginExport(); err != nil {
		return nil, err
	}
	var err error
	if r.out, err = r.file.Create(r.c.Context); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(r.out, mark(r.c, r.format.Name)); err != nil {
		return nil, err
	}
	return replayTo(r.c, r.format, r.out, p, &r.what), nil
}

func (r *replayRun) beginExport() (err error) {
	if r.exportFile != nil && r.export == nil {
		r.export, err = r.exportFile.Create(r.c.Context)
	}
	return err
}

// commit commits the outputs.
func (r *replayRun) commit() error {
	for _, w := range []*output.Writer{r.export, r.out} {
		if w == nil {
			continue
		}
		if err := w.Commit(); err != nil {
			return err
		}
	}
	told(r.c)
	return nil
}

// abandon discards outputs that are not committed.
func (r *replayRun) abandon() {
	for _, w := range []*output.Writer{r.export, r.out} {
		if w != nil {
			w.Abandon()
		}
	}
}
