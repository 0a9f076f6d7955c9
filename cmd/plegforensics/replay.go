package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
)

func replayCommand() *cli.Command {
	return &cli.Command{
		Name:      "replay",
		Usage:     "run the reference PLEG over recorded listings, and ask what if",
		ArgsUsage: "INPUT...",
		Description: "INPUT is a file of recorded relists (plegforensics/snapshots/v1), a bundle, or - for\n" +
			"standard input. --what-if changes the history:\n\n" + whatIfHelp(),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "text", Usage: "text or json, or FORMAT=PATH", EnvVars: []string{"PLEGFORENSICS_OUTPUT"}},
			&cli.StringSliceFlag{Name: "what-if", Usage: "change the history: KEY=VALUE, repeatable", EnvVars: []string{"PLEGFORENSICS_WHAT_IF"}},
			&cli.BoolFlag{Name: "show-filtered", Usage: "show ContainerChanged events, which the kubelet keeps to itself", EnvVars: []string{"PLEGFORENSICS_SHOW_FILTERED"}},
			&cli.StringFlag{Name: "kubelet-version", Usage: "kubelet version, vX.Y.Z", EnvVars: []string{"PLEGFORENSICS_KUBELET_VERSION"}},
			&cli.DurationFlag{Name: "relist-threshold", Usage: "threshold of the kubelet as it was", EnvVars: []string{"PLEGFORENSICS_RELIST_THRESHOLD"}},
			&cli.DurationFlag{Name: "relist-period", Usage: "relist period of the kubelet as it was", EnvVars: []string{"PLEGFORENSICS_RELIST_PERIOD"}},
		},
		Action: replayAction,
	}
}

func whatIfHelp() string {
	var b strings.Builder
	for _, k := range replay.WhatIfKeys {
		fmt.Fprintf(&b, "  %-32s %s\n", k.Key+"="+k.Value, k.About)
	}
	return strings.TrimRight(b.String(), "\n")
}

func replayAction(c *cli.Context) error {
	if c.NArg() == 0 {
		return usage("name a file of recorded relists, a bundle, or -", "no input")
	}
	profile, what, err := replayProfile(c)
	if err != nil {
		return err
	}
	format, out, err := openReplayOutput(c)
	if err != nil {
		return err
	}
	defer out.abandon()
	for _, path := range c.Args().Slice() {
		in, name, err := openInput(c, path)
		if err != nil {
			return err
		}
		err = replaySnapshots(c, in, name, format, out, profile, what)
		in.Close()
		if err != nil {
			return err
		}
	}
	return out.commit()
}

// replayProfile reads the flags that say which kubelet it was and what is to
// change.
func replayProfile(c *cli.Context) (pleg.Profile, replay.WhatIf, error) {
	var what replay.WhatIf
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
	for _, k := range replay.WhatIfKeys {
		if k.Key == key {
			return usage("give "+k.Key+"="+k.Value, "%v", err)
		}
		keys = append(keys, k.Key)
	}
	hint := "one of " + strings.Join(keys, ", ")
	if best := nearest(key, keys); best != "" {
		hint = fmt.Sprintf("did you mean %q?", best)
	}
	return usage(hint, "%v", err)
}

// openInput opens a plain file or standard input.
func openInput(c *cli.Context, path string) (io.ReadCloser, string, error) {
	if path == "-" {
		return io.NopCloser(c.App.Reader), "-", nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, "", &exitError{exitNothing, err.Error(), ""}
	}
	return f, filepath.Base(path), nil
}

// maxSnapshotLine bounds one line: 100,000 containers take some 15 MB.
const maxSnapshotLine = 256 << 20

// replaySnapshots streams recorded relists through the simulation.
func replaySnapshots(c *cli.Context, in io.Reader, name string, format *report.ReplayFormat, out io.Writer, p pleg.Profile, what replay.WhatIf) error {
	sim, err := replay.NewSimulation(p, what)
	if err != nil {
		return usage("", "%v", err)
	}
	w := format.New(out, p, c.Bool("show-filtered"))
	var feed replay.Feed
	relists := 0
	step := func(s *replay.Snapshot) {
		for _, r := range sim.Step(s) {
			relists++
			w.Relist(r)
		}
	}
	file := &parse.File{Path: name, Role: parse.RoleSnapshots, Size: -1}
	err = eachLine(in, func(text []byte, line uint32, offset int64) error {
		feed.Line(text, parse.Pos{File: file, Line: line, Offset: offset}, step)
		return c.Context.Err()
	})
	if err != nil {
		return err
	}
	feed.End(step)
	rest, totals, answer := sim.Finish()
	for _, r := range rest {
		relists++
		w.Relist(r)
	}
	for _, warn := range feed.Decoder.Warnings {
		fmt.Fprintf(c.App.ErrWriter, "plegforensics: warning: %s\n", visible(warn.String()))
	}
	if relists == 0 {
		return &exitError{exitNothing, name + ": no recorded relist in it", "lines of plegforensics/snapshots/v1 are expected"}
	}
	return w.End(&report.ReplayEnd{Totals: totals, Machine: sim.Machine(), Answer: answer,
		Assumptions: sim.Assumptions(), Warnings: feed.Decoder.Warnings})
}

// eachLine reads lines of any length up to maxSnapshotLine; longer ones are
// cut there, which makes them half lines that the decoder warns of.
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

// readLine returns the next line without its end and how many bytes it took.
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

// outputFile is standard output, or a file that takes its name only when it
// is whole.
type outputFile struct {
	io.Writer
	f    *os.File
	path string
}

func openReplayOutput(c *cli.Context) (*report.ReplayFormat, *outputFile, error) {
	name, path, toFile := strings.Cut(c.String("output"), "=")
	var names []string
	var format *report.ReplayFormat
	for i := range report.ReplayFormats {
		names = append(names, report.ReplayFormats[i].Name)
		if report.ReplayFormats[i].Name == name {
			format = &report.ReplayFormats[i]
		}
	}
	if format == nil {
		return nil, nil, unknown("output format", name, names)
	}
	if !toFile {
		return format, &outputFile{Writer: c.App.Writer}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, nil, &exitError{exitNothing, err.Error(), ""}
	}
	return format, &outputFile{f, f, path}, nil
}

func (o *outputFile) commit() error {
	if o.f == nil {
		return nil
	}
	if err := errors.Join(o.f.Chmod(0o644), o.f.Close()); err != nil {
		return err
	}
	err := os.Rename(o.f.Name(), o.path)
	o.f = nil
	return err
}

// abandon removes a file that was not committed.
func (o *outputFile) abandon() {
	if o.f != nil {
		_ = errors.Join(o.f.Close(), os.Remove(o.f.Name()))
	}
}
