package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// goldens are the reports kept under samples/want for every sample.
var goldens = []struct {
	file string
	args []string
}{
	{"analyze.txt", []string{"analyze"}},
	{"report.json", []string{"analyze", "-o", "json"}},
	{"timeline.txt", []string{"timeline"}},
	{"postmortem.md", []string{"analyze", "-o", "markdown"}},
}

// sampleNames returns the directories of samples/ that contain inputs.
func sampleNames(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(samples)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != "ci" && e.Name() != "want" {
			names = append(names, e.Name())
		}
	}
	return names
}

// inputsOf returns the inputs of a sample.
func inputsOf(t *testing.T, name string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(samples, name, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSamples compares every report of every sample with the one kept. Review the difference before
// you accept a new one with -update.
func TestSamples(t *testing.T) {
	for _, name := range sampleNames(t) {
		in := inputsOf(t, name)
		for _, g := range goldens {
			t.Run(name+"/"+g.file, func(t *testing.T) {
				got := printed(t, append(append(append([]string{}, g.args...), "--tz", "UTC", "--year", "2026"), in...)...)
				path := filepath.Join(samples, "want", name, g.file)
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

// TestSameBytes: the output does not depend on the number of workers.
func TestSameBytes(t *testing.T) {
	for _, name := range sampleNames(t) {
		in := inputsOf(t, name)
		want := printed(t, append([]string{"analyze", "-o", "json", "--tz", "UTC", "--year", "2026", "-j", "1"}, in...)...)
		for _, jobs := range []string{"2", "7"} {
			got := printed(t, append([]string{"analyze", "-o", "json", "--tz", "UTC", "--year", "2026", "-j", jobs}, in...)...)
			if !bytes.Equal(got, want) {
				t.Errorf("%s: -j %s differs at %s", name, jobs, firstDifference(got, want))
			}
		}
	}
}

// TestEvidence looks up every line that a report of a sample cites: its text must be there.
func TestEvidence(t *testing.T) {
	for _, name := range sampleNames(t) {
		for _, in := range inputsOf(t, name) {
			if filepath.Ext(in) != ".log" {
				continue
			}
			data, err := os.ReadFile(in)
			if err != nil {
				t.Fatal(err)
			}
			var doc any
			if err := json.Unmarshal(printed(t, "analyze", "-o", "json", "--tz", "UTC", "--year", "2026", in), &doc); err != nil {
				t.Fatal(err)
			}
			n := citations(t, doc, filepath.Base(in), strings.Split(string(data), "\n"))
			if n == 0 {
				t.Errorf("%s: no evidence at all", name)
			}
		}
	}
}

// citations checks all evidence below v and returns its number.
func citations(t *testing.T, v any, file string, lines []string) int {
	n := 0
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			n += citations(t, x, file, lines)
		}
	case map[string]any:
		line, isLine := v["line"].(float64)
		text, isText := v["text"].(string)
		if isLine && isText && v["file"] == file {
			n++
			want := strings.Split(strings.TrimSuffix(text, "…"), `\n`)[0]
			if i := int(line) - 1; i >= len(lines) || !strings.HasPrefix(lines[i], want) {
				t.Errorf("%s:%d does not hold %q", file, int(line), text)
			}
		}
		for _, x := range v {
			n += citations(t, x, file, lines)
		}
	}
	return n
}
