package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/internal/compare"
	"github.com/plegforensics/plegforensics/internal/fleet"
	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/parse/bundle"
)

// ownCommands returns all commands that write about an input, with their formats.
func ownCommands() map[string][]string {
	var fleets, compares []string
	for _, f := range fleet.Formats {
		fleets = append(fleets, f.Name)
	}
	for _, f := range compare.Formats {
		compares = append(compares, f.Name)
	}
	return map[string][]string{
		"analyze": report.Names(report.Formats), "timeline": report.Names(report.TimelineFormats),
		"events": report.Names(report.EventFormats), "inspect": report.Names(report.InspectFormats),
		"query --list": report.Names(report.MetricFormats(nil)), "query --alerts": report.Names(report.AlertFormats(nil)),
		"query --expr=plegforensics_pleg_unhealthy": report.Names(report.QueryFormats(nil)),
		"batch": fleets, "compare": compares,
	}
}

// TestOwnOutputs writes every format of every command about every sample next to the sample. The
// next report on the sample must not change by a byte.
func TestOwnOutputs(t *testing.T) {
	for _, name := range sampleNames(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(samples, name))); err != nil {
				t.Fatal(err)
			}
			said := func(dir string) []byte {
				_, out, _ := status(t, "analyze", "--quiet", "-o", "json", "--tz", "UTC", "--year", "2026", dir)
				return bytes.ReplaceAll([]byte(out), []byte(dir), nil)
			}
			want, outputs := said(dir), t.TempDir()
			for command, formats := range ownCommands() {
				writeOwn(t, command, formats, outputs, inputsOf(t, name))
			}
			for _, f := range report.ReplayFormats { // one at a time
				writeOwn(t, "replay", []string{f.Name}, outputs, inputsOf(t, name))
			}
			if err := os.CopyFS(dir, os.DirFS(outputs)); err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(said(dir), want) {
				return
			}
			for _, path := range glob(t, outputs, "*") { // find out which one it was
				one := t.TempDir()
				if err := os.CopyFS(one, os.DirFS(filepath.Join(samples, name))); err != nil {
					t.Fatal(err)
				}
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(one, filepath.Base(path)), data, 0o600); err != nil {
					t.Fatal(err)
				}
				if got := said(one); !bytes.Equal(got, want) {
					t.Errorf("%s is read as input: %s", filepath.Base(path), firstDifference(got, want))
				}
			}
		})
	}
}

// TestOwnPasted: an output pasted after a page of notes, or appended to a log, is not read as a log
// either, and what precedes it is read as usual.
func TestOwnPasted(t *testing.T) {
	const name = "hang-list"
	log, err := os.ReadFile(filepath.Join(samples, name, "kubelet.log"))
	if err != nil {
		t.Fatal(err)
	}
	outputs := t.TempDir()
	for command, formats := range ownCommands() {
		writeOwn(t, command, formats, outputs, inputsOf(t, name))
	}
	for _, f := range report.ReplayFormats { // one at a time
		writeOwn(t, "replay", []string{f.Name}, outputs, inputsOf(t, name))
	}
	writeOwn(t, "analyze --verbose", []string{"text", "ndjson"}, outputs, inputsOf(t, name))
	container := func(text []byte) []byte { // the log of a container that ran this program
		const at = "2026-11-20T23:36:00.000000000Z stdout F "
		lines := bytes.ReplaceAll(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"), []byte("\n"+at))
		return append([]byte(at), append(lines, '\n')...)
	}
	notes := bytes.Repeat([]byte("What we looked at, and what plegforensics found about it, as far as we know.\n"), 400)
	want, none := eventsOf(t, log), eventsOf(t, notes)
	large := bytes.Repeat(log, 12) // more than one chunk of the parallel decoder
	wantLarge := eventsOf(t, large)
	if len(none) > 0 || len(want) < 10 {
		t.Fatalf("%d events of notes, %d of the log", len(none), len(want))
	}
	for _, path := range glob(t, outputs, "*") {
		out, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for how, tt := range map[string]struct {
			text []byte
			want []string
		}{
			"behind notes":       {append(bytes.Clone(notes), out...), nil},
			"behind a log":       {append(bytes.Clone(log), out...), want},
			"behind a large log": {append(bytes.Clone(large), out...), wantLarge},
			"from a container":   {container(out), nil},
		} {
			if got := eventsOf(t, tt.text); !slices.Equal(got, tt.want) {
				t.Errorf("%s %s: %d events, want %d: %.3q", filepath.Base(path), how, len(got), len(tt.want), got[min(len(tt.want), len(got)):])
			}
		}
	}
}

// eventsOf returns the events of a file with their lines.
func eventsOf(t *testing.T, text []byte) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Load(t.Context(), []string{path}, bundle.Options{})
	if err != nil && !errors.Is(err, bundle.ErrNoInput) {
		t.Fatal(err)
	}
	var out []string
	for i := range b.Events {
		e := b.Events[i]
		out = append(out, fmt.Sprintf("%d %s", e.Line, e.Text()))
	}
	return out
}

// writeOwn writes all formats of a command into a directory.
func writeOwn(t *testing.T, command string, formats []string, dir string, inputs []string) {
	t.Helper()
	args := append(strings.Fields(command), "--quiet")
	for _, f := range formats {
		args = append(args, "-o", f+"="+filepath.Join(dir, fileName(command+"."+f)))
	}
	if command == "compare" {
		inputs = []string{inputs[0], filepath.Join(samples, "healthy")}
	}
	if command == "batch" {
		args = append(args, "--tz", "UTC")
	}
	if code, _, errs := status(t, append(args, inputs...)...); code != exitOK && code != exitNothing {
		t.Fatalf("%v: exit %d: %s", args, code, errs)
	}
	for _, path := range glob(t, dir, "*.gitlab") {
		if data, _ := os.ReadFile(path); string(bytes.TrimSpace(data)) == "[]" {
			_ = os.Remove(path) // no findings, so nothing that could be marked
		}
	}
}
