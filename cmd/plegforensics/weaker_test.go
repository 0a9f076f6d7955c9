package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/internal/genlog"
)

// claims are what analyze and timeline claim of an input.
type claims struct {
	story
	slack  map[float64]float64 // of the starts of relists
	length map[float64]float64 // of their lengths
	causes map[string]float64  // confidence by id
}

func claimsOf(t *testing.T, log string) claims {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubelet.log")
	if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	return claimsAt(t, path)
}

func claimsAt(t *testing.T, path string) claims {
	t.Helper()
	common := []string{"-o", "json", "--quiet", "--tz", "UTC", "--year", "2026", path}
	code, out, _ := status(t, append([]string{"timeline"}, common...)...)
	if code != 0 {
		return claims{}
	}
	c := claims{story: timelineStory(t, []byte(out)), slack: map[float64]float64{}, length: map[float64]float64{}, causes: map[string]float64{}}
	for _, r := range parsed(t, []byte(out)).list("nodes")[0].list("relists") {
		c.slack[r.when("start")] = r.num("start_uncertainty_seconds")
		c.length[r.when("start")] = r.num("start_uncertainty_seconds") + r.num("end_uncertainty_seconds")
	}
	report := []byte(must(t, append([]string{"analyze"}, common...)...))
	c.episodes = analyzeStory(t, report).episodes
	for _, x := range parsed(t, report).list("nodes")[0].list("causes") {
		c.causes[x.text("id")] = x.num("confidence")
	}
	return c
}

// overlap is for how long a stretch overlaps those of a state.
func (c *claims) overlap(from, to float64, state string) (sum float64) {
	for _, h := range c.health {
		if h.state == state {
			sum += max(0, min(to, h.to)-max(from, h.from))
		}
	}
	return sum
}

// stronger lists what part claims beyond what whole does.
func stronger(part, whole *claims) (out []string) {
	out = contrary(part, whole)
	for _, h := range part.health {
		if bad := whole.overlap(h.from, h.to, "unknown"); h.state == "healthy" && bad > 1 {
			out = append(out, fmt.Sprintf("healthy for %.1f s of which the whole log proves nothing: %v", bad, h))
		}
		if bad := whole.overlap(h.from, h.to, "healthy"); h.state == "unhealthy" && bad > 0.5 {
			out = append(out, fmt.Sprintf("unhealthy for %.1f s in which the whole log shows it healthy: %v", bad, h))
		}
		if bad := whole.overlap(h.from, h.to, "unknown"); h.state == "unhealthy" && bad > 1 {
			out = append(out, fmt.Sprintf("unhealthy for %.1f s of which the whole log proves nothing: %v", bad, h))
		}
	}
	for id, conf := range part.causes {
		if w := whole.causes[id]; conf > w+0.005 && conf >= 0.5 {
			out = append(out, fmt.Sprintf("%s with %.2f, whole %.2f", id, conf, w))
		}
	}
	return out
}

// contrary lists what part claims that cannot be if whole is right.
func contrary(part, whole *claims) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, h := range part.health {
		if bad := whole.overlap(h.from, h.to, "unhealthy"); h.state == "healthy" && bad > 0.5 {
			add("healthy for %.1f s in which the whole log shows it unhealthy: %v", bad, h)
		}
	}
	for _, e := range part.episodes {
		again := slices.ContainsFunc(part.episodes, func(x strip) bool { return math.Abs(x.from-e.to) < 1 }) // it was healthy for a while before
		if bad := whole.overlap(e.to+5, e.to+15, "unhealthy"); e.to != 0 && bad > 1 && !again {
			add("recovered at %.1f, and the whole log shows it unhealthy then", e.to)
		}
	}
	for _, r := range part.relists {
		found := r.state == "open" // no length is claimed
		for _, w := range whole.relists {
			near := math.Abs(w.from-r.from) <= max(2, w.to/5, part.slack[r.from]+whole.slack[w.from])
			found = found || near && math.Abs(w.to-r.to) <= max(2, w.to/5, part.length[r.from])
		}
		if !found {
			add("a relist of %.1f±%.1f s at %.1f±%.1f that the whole log does not show: %v", r.to, part.length[r.from], r.from, part.slack[r.from], whole.relists)
		}
	}
	return out
}

// TestLessIsWeaker: removing lines never yields a stronger claim: no health, no
// recovery, no length of a relist, no confidence of a cause.
func TestLessIsWeaker(t *testing.T) {
	for seed := range uint64(4) {
		var b bytes.Buffer
		if err := genlog.Write(&b, genlog.Options{Bytes: 24 << 20, Seed: seed + 1, Errors: 2}); err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(b.String(), "\n")
		whole := claimsOf(t, b.String())
		if seed == 0 && len(whole.episodes) == 0 {
			t.Fatal("the generated log shows no episode")
		}
		for name, text := range lessOf(lines, rand.New(rand.NewPCG(seed, 7))) {
			part := claimsOf(t, text)
			for _, s := range stronger(&part, &whole) {
				t.Errorf("seed %d, %s: %s", seed, name, s)
			}
		}
	}
}

// TestFirstLineAfterHole: a loop that skips says so every five seconds; before
// that, silence behind a hole proves nothing.
func TestFirstLineAfterHole(t *testing.T) {
	lines := strings.SplitAfter(readSample(t, "stuck-pods"), "\n")[288:464]
	whole := claimsOf(t, strings.Join(lines, ""))
	part := claimsOf(t, strings.Join(lines[:72], "")+strings.Join(lines[112:], ""))
	for _, s := range stronger(&part, &whole) {
		t.Error(s)
	}
	if part.overlap(part.health[0].from, part.health[len(part.health)-1].to, "healthy") == 0 {
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

// lessOf is a log with fewer lines, in the ways in which people cut logs.
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

// TestLessFilesAreWeaker: the same of logs of verbosity 2, 4 and 5 with snapshots of
// the metrics beside them: without a file, without the metrics or the log, with a few
// snapshots or one, with fewer lines.
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
			whole := claimsAt(t, w.put(t, func(string) bool { return true }, nil))
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
				part := claimsAt(t, dir)
				if strings.Contains(name, "line") || strings.Contains(name, "er log") {
					part.causes = nil // the lines that are left out spoke against some
				}
				for _, s := range stronger(&part, &whole) {
					t.Errorf("seed %d, v%d, %s: %s", seed+1, verbosity, name, s)
				}
			}
		}
	}
}
