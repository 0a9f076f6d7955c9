package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden reports under samples/")

// samples is the folder of sample inputs, absolute because scripts run
// elsewhere.
var samples = func() string {
	dir, err := filepath.Abs("../../samples")
	if err != nil {
		panic(err)
	}
	return dir
}()

// goldens are the reports kept beside each sample: every sample times every
// one of these.
var goldens = []struct {
	file string
	args []string
}{
	{"analyze.txt", []string{"analyze"}},
	{"report.json", []string{"analyze", "-o", "json"}},
	{"timeline.txt", []string{"timeline"}},
	{"postmortem.md", []string{"analyze", "-o", "markdown"}},
}

// sampleNames are the folders of samples/ that hold a want folder or inputs.
func sampleNames(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(samples)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != "ci" {
			names = append(names, e.Name())
		}
	}
	return names
}

// inputsOf are the inputs of a sample: everything but its goldens.
func inputsOf(t *testing.T, name string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(samples, name, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var in []string
	for _, p := range all {
		if filepath.Base(p) != "want" && filepath.Base(p) != "README.md" {
			in = append(in, p)
		}
	}
	return in
}

// output runs the command and returns what it printed, paths of this machine
// cut to the sample's own.
func output(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(context.Background(), append([]string{"plegforensics"}, args...), strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("%s: exit %d: %s", strings.Join(args, " "), code, errs.String())
	}
	return bytes.ReplaceAll(out.Bytes(), []byte(samples+string(filepath.Separator)), []byte("samples/"))
}

// TestSamples compares every report of every sample with the one kept; look at
// the difference with your own eyes before you keep a new one with -update.
func TestSamples(t *testing.T) {
	for _, name := range sampleNames(t) {
		in := inputsOf(t, name)
		for _, g := range goldens {
			t.Run(name+"/"+g.file, func(t *testing.T) {
				got := output(t, append(append(append([]string{}, g.args...), "--tz", "UTC", "--year", "2026"), in...)...)
				path := filepath.Join(samples, name, "want", g.file)
				if *update {
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, got, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("differs from %s at %s", path, firstDifference(got, want))
				}
			})
		}
	}
}

func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			old := "(end)"
			if i < len(w) {
				old = w[i]
			}
			return "line " + strconv.Itoa(i+1) + ":\n got  " + g[i] + "\n want " + old
		}
	}
	return "the end: the kept one is longer"
}

// TestSameBytes: workers do not show in the output.
func TestSameBytes(t *testing.T) {
	for _, name := range sampleNames(t) {
		in := inputsOf(t, name)
		want := output(t, append([]string{"analyze", "-o", "json", "--tz", "UTC", "--year", "2026", "-j", "1"}, in...)...)
		for _, jobs := range []string{"2", "7"} {
			got := output(t, append([]string{"analyze", "-o", "json", "--tz", "UTC", "--year", "2026", "-j", jobs}, in...)...)
			if !bytes.Equal(got, want) {
				t.Errorf("%s: -j %s differs at %s", name, jobs, firstDifference(got, want))
			}
		}
	}
}
