package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/cuts"
	"github.com/plegforensics/plegforensics/internal/genlog"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse/bundle"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// nodeIn returns the analysis of the node in an input.
func nodeIn(t testing.TB, path string) *model.Analyzed {
	t.Helper()
	return firstNode(analysisWithin(t, bundle.Limits{Bytes: 1 << 30, Files: 1000, Depth: 6, Whole: 64 << 20, Random: 64 << 20, Dict: 1 << 20, Time: time.Minute}, nil, path))
}

func firstNode(a *model.Analysis) *model.Analyzed {
	if len(a.Nodes) == 0 {
		return nil
	}
	return &a.Nodes[0]
}

func nodeOf(t testing.TB, log string) *model.Analyzed {
	return nodeIn(t, fileOf(t, t.TempDir(), "kubelet.log", []byte(log)))
}

// TestLessIsWeaker: removing lines never yields a stronger claim about health, recovery, the
// duration of a relist, or the confidence of a cause.
func TestLessIsWeaker(t *testing.T) {
	for seed := range uint64(4) {
		var b bytes.Buffer
		if err := genlog.Write(&b, genlog.Options{Bytes: 24 << 20, Seed: seed + 1, Errors: 2}); err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(b.String(), "\n")
		whole := nodeOf(t, b.String())
		if seed == 0 && len(whole.Episodes) == 0 {
			t.Fatal("the generated log shows no episode")
		}
		for name, text := range lessOf(lines, rand.New(rand.NewPCG(seed, 7))) {
			for _, f := range cuts.Beyond(nodeOf(t, text), whole) {
				t.Errorf("seed %d, %s: %v", seed, name, f)
			}
		}
	}
}

// TestFirstLineAfterHole: a loop that skips says so every five seconds; before that, silence after
// a hole proves nothing.
func TestFirstLineAfterHole(t *testing.T) {
	lines := strings.SplitAfter(readSample(t, "stuck-pods"), "\n")
	part := nodeOf(t, strings.Join(lines[:360], "")+strings.Join(lines[400:], ""))
	for _, f := range cuts.Beyond(part, nodeOf(t, strings.Join(lines, ""))) {
		t.Error(f)
	}
	if !slices.ContainsFunc(part.Health, func(h replay.HealthSpan) bool { return h.State == replay.Healthy }) {
		t.Error("nothing is proven healthy")
	}
}

func readSample(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(samples, name, "kubelet.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// lessOf returns shortened versions of a log, cut in the ways people cut logs.
func lessOf(lines []string, r *rand.Rand) map[string]string {
	keep := func(want func(i int, line string) bool) string {
		var s strings.Builder
		for i, l := range lines {
			if want(i, l) {
				s.WriteString(l)
			}
		}
		return s.String()
	}
	n := len(lines)
	end, hole := n/4+r.IntN(n/2), r.IntN(n*3/4)
	return map[string]string{
		"cut":     keep(func(i int, _ string) bool { return i < end }),
		"tail":    keep(func(i int, _ string) bool { return i >= end }),
		"hole":    keep(func(i int, _ string) bool { return i < hole || i > hole+n/5 }),
		"third":   keep(func(int, string) bool { return r.IntN(3) > 0 }),
		"tenth":   keep(func(int, string) bool { return r.IntN(10) > 0 }),
		"grep":    keep(func(_ int, l string) bool { return strings.Contains(l, "PLEG") || strings.Contains(l, "pleg") }),
		"errors":  keep(func(_ int, l string) bool { return strings.Contains(l, "]: E") || strings.HasPrefix(l, "E") }),
		"kubelet": keep(func(_ int, l string) bool { return strings.Contains(l, "kubelet") }),
	}
}

// TestLessFilesAreWeaker is TestLessIsWeaker for logs of verbosity 2, 4 and 5 with snapshots of the
// metrics: without a file, without the metrics or the log, with a few snapshots or one, with fewer
// lines.
func TestLessFilesAreWeaker(t *testing.T) {
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	shot := func(name string) bool { return strings.HasPrefix(name, "metrics/") }
	for seed := range seeds {
		for _, verbosity := range []int{2, 4, 5} {
			w := newWorld(seed+1, verbosity)
			r := rand.New(rand.NewPCG(seed, 9))
			var shots []string
			for name := range w.files {
				if shot(name) {
					shots = append(shots, name)
				}
			}
			slices.Sort(shots)
			k := r.IntN(len(shots) - 12)
			of := func(names ...string) func(string) bool {
				return func(name string) bool { return slices.Contains(names, name) }
			}
			whole := nodeIn(t, w.put(t, func(string) bool { return true }, nil))
			parts := map[string]string{
				"the log alone":          w.put(t, of("kubelet.log", "kubelet.log.1"), nil),
				"the older log":          w.put(t, of("kubelet.log.1"), nil),
				"the newer log":          w.put(t, of("kubelet.log"), nil),
				"no older log":           w.put(t, func(name string) bool { return name != "kubelet.log.1" }, nil),
				"no newer log":           w.put(t, func(name string) bool { return name != "kubelet.log" }, nil),
				"the metrics alone":      w.put(t, shot, nil),
				"one snapshot":           w.put(t, of(shots[k]), nil),
				"two snapshots":          w.put(t, of(shots[k], shots[k+1]), nil),
				"twelve snapshots":       w.put(t, of(shots[k:k+12]...), nil),
				"a log, one snapshot":    w.put(t, of("kubelet.log", "kubelet.log.1", shots[k]), nil),
				"every third snapshot":   w.put(t, func(name string) bool { return !shot(name) || slices.Index(shots, name)%3 == 0 }, nil),
				"some snapshots missing": w.put(t, func(name string) bool { return !shot(name) || r.IntN(4) > 0 }, nil),
			}
			for _, way := range []string{"cut", "hole", "third", "tenth", "grep", "errors"} {
				parts["lines: "+way] = w.put(t, func(string) bool { return true }, func(name, text string) string {
					if shot(name) {
						return text
					}
					return lessOf(strings.SplitAfter(text, "\n"), r)[way]
				})
			}
			for name, dir := range parts {
				part := nodeIn(t, dir)
				if strings.Contains(name, "line") || strings.Contains(name, "er log") {
					// What is left out may be evidence against a cause, such as the other half of
					// an incident. The cause is then likely at most.
					part.Causes = slices.DeleteFunc(part.Causes, func(c rules.Cause) bool { return c.Confidence < .85 })
				}
				for _, f := range cuts.Beyond(part, whole) {
					t.Errorf("seed %d, v%d, %s: %v", seed+1, verbosity, name, f)
				}
			}
		}
	}
}

// TestOneSnapshotTellsOfItsMoment: a single snapshot of the metrics proves the health of PLEG at
// its moment only.
func TestOneSnapshotTellsOfItsMoment(t *testing.T) {
	w := newWorld(1, 2)
	first := ""
	for name := range w.files {
		if strings.HasPrefix(name, "metrics/") && (first == "" || name < first) {
			first = name
		}
	}
	n := nodeIn(t, w.put(t, func(name string) bool { return name == first }, nil))
	if n.Status == "healthy" || !strings.Contains(n.Summary, "PLEG was within its threshold at ") || !strings.Contains(n.Summary, "nothing tells of the time before or after") {
		t.Errorf("%s: %s", n.Status, n.Summary)
	}
}
