package cuts

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mikelolasagasti/xz"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse/bundle"
	"github.com/plegforensics/plegforensics/parse/clock"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/age"
	"github.com/plegforensics/plegforensics/rules"
)

var (
	cutsOf    = flag.Int("cuts", 4, "random cuts of each log that TestCuts holds against what really was")
	cutSeed   = flag.Uint64("cutseed", 1, "seed of the first of them")
	cutsKept  = flag.String("cutskept", "", "folder for the cuts that claim too much")
	cutsOnly  = flag.String("cutsonly", "", "only inputs whose name matches")
	cutsWhole = flag.Bool("cutswhole", true, "hold the claims against those of the whole too")
)

// source is a log, with snapshots of the metrics where there are any, and what the
// kubelet that wrote it really did.
type source struct {
	name  string
	files map[string]string
	truth *truth // nil: not recorded
}

var pack = func() *rules.Pack { p, _ := rules.Builtin(); return p }()

// TestCuts: of logs and metrics that were cut down at random nothing is claimed that
// is not so. What the whole does not support is counted and told: most of it is true.
//
// More of them: go test ./internal/cuts -run TestCuts -v -args -cuts 100 -cutseed 1000
func TestCuts(t *testing.T) {
	sources := append(sampleSources(t), captureSources(t)...)
	classes := map[string]int{}
	tried := 0
	for _, s := range sources {
		if ok, _ := regexp.MatchString(*cutsOnly, s.name); !ok {
			continue
		}
		whole := s.claims(t, s.files)
		for _, f := range s.truth.falsehoods(whole) {
			classes["whole: "+f.class]++
			t.Errorf("%s, whole: %s: %s", s.name, f.class, f.text)
		}
		for seed := *cutSeed; seed < *cutSeed+uint64(*cutsOf); seed++ {
			h := fnv.New64a()
			io.WriteString(h, s.name)
			r := rand.New(rand.NewPCG(seed, h.Sum64()))
			files, how := s.cut(r)
			if len(files) == 0 {
				continue
			}
			tried++
			part := s.claims(t, files)
			found := s.truth.falsehoods(part)
			if *cutsWhole {
				found = append(found, beyond(part, whole)...)
			}
			for _, f := range found {
				classes[f.class]++
				tell := t.Errorf
				if strings.HasSuffix(f.class, " beyond") {
					tell = t.Logf
				}
				tell("%s, seed %d (%s): %s: %s", s.name, seed, how, f.class, f.text)
			}
			if len(found) > 0 && *cutsKept != "" {
				put(t, filepath.Join(*cutsKept, fmt.Sprintf("%s-%d", s.name, seed)), files)
			}
		}
	}
	for _, c := range slices.Sorted(maps.Keys(classes)) {
		t.Logf("%5d %s", classes[c], c)
	}
	t.Logf("%5d cuts of %d inputs", tried, len(sources))
}

func put(t testing.TB, dir string, files map[string]string) {
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// claims is what an analysis tells of the node of some files; nil of none.
func (s *source) claims(t testing.TB, files map[string]string) *model.Analyzed {
	dir := t.TempDir()
	put(t, dir, files)
	defer os.RemoveAll(dir)
	b, err := bundle.Load(context.Background(), []string{dir}, bundle.Options{Jobs: 1, Limits: bundle.Limits{Bytes: 1 << 30, Files: 10000, Depth: 6, Whole: 64 << 20, Random: 64 << 20, Dict: 1 << 20, Time: time.Minute},
		Clock: clock.Options{Zone: time.UTC, Year: 2026, Now: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)}})
	if err != nil {
		return nil
	}
	for _, n := range replay.Build(b, replay.Options{}) {
		x := model.Analyze(n, nil)
		x.Judge(rules.EvalAtOnce(n, &x.Audit, pack, nil))
		return x
	}
	return nil
}

// cut takes lines, files and snapshots away, in one or two ways that a person or a
// tool has of doing so.
func (s *source) cut(r *rand.Rand) (map[string]string, string) {
	out, how := maps.Clone(s.files), []string{}
	shots := slices.DeleteFunc(slices.Sorted(maps.Keys(out)), func(name string) bool { return !strings.HasPrefix(name, "metrics/") })
	switch r.IntN(6) {
	case 0, 1, 2:
		for _, name := range shots {
			delete(out, name)
		}
	case 3:
		maps.DeleteFunc(out, func(name, _ string) bool { return !strings.HasPrefix(name, "metrics/") })
		how = append(how, "no log")
		fallthrough
	case 4:
		if len(shots) == 0 {
			break
		}
		k, n := r.IntN(len(shots)), 1+r.IntN(1+r.IntN(len(shots)))
		every := 1 + r.IntN(4)
		for i, name := range shots {
			if i < k || i >= k+n || (i-k)%every != 0 {
				delete(out, name)
			}
		}
		how = append(how, fmt.Sprintf("snapshots %d to %d of %d, every %d", k, k+n, len(shots), every))
	}
	for range 1 + r.IntN(2) {
		what, cut := lineCut(r)
		how = append(how, what)
		for _, name := range slices.Sorted(maps.Keys(out)) {
			if strings.HasPrefix(name, "metrics/") {
				continue
			}
			kept := cut(strings.SplitAfter(out[name], "\n"))
			if out[name] = strings.Join(kept, ""); out[name] == "" {
				delete(out, name)
			}
		}
	}
	return out, strings.Join(how, "; ")
}

var cutGreps = []string{"PLEG", "(?i)pleg", "PLEG|rpc error|SyncLoop|NotReady|not ready", "^E", "^[EW]|\"ts\".*\"err\"", "error|failed|Error|Failed",
	"PLEG|NotReady", "kubelet.go|generic.go", "SyncLoop|Skipping|skipping", "Ready", "generic.go", "last seen|Relisting|retrieve pods", "kubelet", "^[^V]*$"}

var cutCaller = regexp.MustCompile(`[a-z_0-9]+\.go:\d+`)

// lineCut chooses a way to leave lines out.
func lineCut(r *rand.Rand) (string, func([]string) []string) {
	keep := func(want func(i, n int, line string) bool) func([]string) []string {
		return func(lines []string) (out []string) {
			for i, l := range lines {
				if want(i, len(lines), l) {
					out = append(out, l)
				}
			}
			return out
		}
	}
	switch r.IntN(12) {
	case 0, 1:
		p := []float64{.002, .01, .05, .1, .3, .5, .8, .95}[r.IntN(8)]
		return fmt.Sprintf("%g of the lines missing", p), keep(func(int, int, string) bool { return r.Float64() >= p })
	case 2, 3, 4:
		type hole struct{ from, to float64 }
		var holes []hole
		for range 1 + r.IntN(4) {
			from := r.Float64()
			holes = append(holes, hole{from, from + .3*r.Float64()*r.Float64()})
		}
		return fmt.Sprintf("holes %.3f", holes), keep(func(i, n int, _ string) bool {
			return !slices.ContainsFunc(holes, func(h hole) bool { return float64(i) >= h.from*float64(n) && float64(i) < h.to*float64(n) })
		})
	case 5:
		to := r.Float64()
		return fmt.Sprintf("head to %.3f", to), keep(func(i, n int, _ string) bool { return float64(i) < to*float64(n) })
	case 6:
		from := r.Float64()
		return fmt.Sprintf("tail from %.3f", from), keep(func(i, n int, _ string) bool { return float64(i) >= from*float64(n) })
	case 7:
		from, most := r.Float64(), 20+r.IntN(600)
		return fmt.Sprintf("%d lines from %.3f", most, from), keep(func(i, n int, _ string) bool {
			return float64(i) >= from*float64(n) && float64(i) < from*float64(n)+float64(most)
		})
	case 8, 9:
		g := cutGreps[r.IntN(len(cutGreps))]
		around := []int{0, 0, 0, 1, 5, 20}[r.IntN(6)]
		re := regexp.MustCompile(g)
		return fmt.Sprintf("grep -C%d %s", around, g), func(lines []string) []string {
			want := make([]bool, len(lines))
			for i, l := range lines {
				if re.MatchString(l) {
					for k := max(0, i-around); k <= min(len(lines)-1, i+around); k++ {
						want[k] = true
					}
				}
			}
			var out []string
			for i, l := range lines {
				if want[i] {
					if around > 0 && i > 0 && !want[i-1] && len(out) > 0 {
						out = append(out, "--\n")
					}
					out = append(out, l)
				}
			}
			return out
		}
	default: // grep -v of some places in the code
		p := []float64{.03, .1, .3, .6}[r.IntN(4)]
		salt := r.Uint64()
		return fmt.Sprintf("%g of the callers missing", p), keep(func(_, _ int, l string) bool {
			h := fnv.New64a()
			fmt.Fprint(h, salt, cutCaller.FindString(l))
			return float64(h.Sum64()%1000) >= p*1000
		})
	}
}

// finding is a claim that does not hold.
type finding struct{ class, text string }

type findings []finding

func (f *findings) add(class, format string, args ...any) {
	*f = append(*f, finding{class, fmt.Sprintf(format, args...)})
}

// beyond lists what a part of the evidence claims and the whole does not.
func beyond(part, whole *model.Analyzed) (out findings) {
	if part == nil || whole == nil {
		return nil
	}
	of := func(n *model.Analyzed, from, to int64, state replay.HealthState) (sum float64) {
		for _, h := range n.Health {
			if h.State == state {
				sum += max(0, float64(min(to, h.To)-max(from, h.From))/1e9)
			}
		}
		return sum
	}
	for _, h := range part.Health {
		bad := of(whole, h.From, h.To, replay.HealthUnknown)
		if h.State == replay.Healthy && bad > 1 {
			out.add("health beyond", "%.1f s from %s, by %s", bad, at(h.From), h.Proof)
		}
		if h.State == replay.Unhealthy && bad > 1 {
			out.add("trouble beyond", "%.1f s from %s", bad, at(h.From))
		}
	}
	for _, r := range part.Relists {
		d, ok := r.Duration()
		if !ok || d < 10*time.Second {
			continue
		}
		if !slices.ContainsFunc(whole.Relists, func(w replay.Relist) bool {
			e, ok := w.Duration()
			return ok && abs(e-d) <= max(time.Second, r.TookSlack+w.TookSlack+r.Start.Slack+r.End.Slack+w.Start.Slack+w.End.Slack) && abs(time.Duration(w.Start.At-r.Start.At)) <= r.Start.Slack+w.Start.Slack+time.Second
		}) {
			out.add("relist beyond", "%v at %s ±%v", d, at(r.Start.At), r.Start.Slack)
		}
	}
	conf := map[string]float64{}
	for _, c := range whole.Causes {
		conf[c.ID] = c.Confidence
	}
	for _, c := range part.Causes {
		if c.Confidence >= .5 && conf[c.ID] < c.Confidence-.05 {
			out.add("cause beyond", "%s %.2f, whole %.2f", c.ID, c.Confidence, conf[c.ID])
		}
	}
	return out
}

func at(ns int64) string { return time.Unix(0, ns).UTC().Format("15:04:05.000") }

func abs(d time.Duration) time.Duration { return max(d, -d) }

// truth is what a kubelet did.
type truth struct {
	relists []ranRelist
	starts  []int64 // of processes after the first
	evented bool
	limit   time.Duration
	causes  []string // that may be named; nil: not known
	version string
	since   []agePoint
}

// ranRelist is one that really ran; the list returned within [listLo, listHi], end is
// 0 where the process ended before.
type ranRelist struct {
	start, listLo, listHi, end int64
	ok                         bool
}

// agePoint says that from at on the last relist that listed began at since, 0 that none
// had; sure is false where it may still be the one before.
type agePoint struct {
	at, since int64
	sure      bool
}

func (w *truth) ages() []agePoint {
	if w.since == nil {
		for _, r := range w.relists {
			if r.ok {
				if r.listHi > r.listLo {
					w.since = append(w.since, agePoint{r.listLo, r.start, false})
				}
				w.since = append(w.since, agePoint{r.listHi, r.start, true})
			}
		}
		for _, t := range w.starts {
			w.since = append(w.since, agePoint{t, 0, false})
		}
		slices.SortStableFunc(w.since, func(a, b agePoint) int { return cmp.Compare(a.at, b.at) })
	}
	return w.since
}

// state of PLEG over time: 1 healthy, -1 unhealthy, 0 not sure.
type stateSpan struct {
	from, to int64
	state    int
}

func (w *truth) states() (out []stateSpan) {
	p := w.ages()
	for i := range p {
		to := w.relists[len(w.relists)-1].end
		if i+1 < len(p) {
			to = p[i+1].at
		}
		breach := p[i].since + int64(w.limit)
		if p[i].since == 0 { // a new process
			out = append(out, stateSpan{p[i].at, to, 0})
			continue
		}
		older := breach
		if !p[i].sure {
			older = 0
			if i > 0 && p[i-1].since != 0 {
				older = p[i-1].since + int64(w.limit)
			}
		}
		// healthy as long as the older one allows, unhealthy from when the newer one does not
		add := func(a, b int64, st int) {
			if a, b = max(a, p[i].at), min(b, to); b > a {
				out = append(out, stateSpan{a, b, st})
			}
		}
		add(p[i].at, older, 1)
		add(max(older, p[i].at), breach, 0)
		add(breach, to, -1)
	}
	return out
}

func overlapOf(spans []stateSpan, from, to int64, state int) (sum time.Duration, where int64) {
	for _, s := range spans {
		if s.state == state && min(to, s.to) > max(from, s.from) {
			sum += time.Duration(min(to, s.to) - max(from, s.from))
			if where == 0 {
				where = max(from, s.from)
			}
		}
	}
	return sum, where
}

// unsureOf is how long the state is not known about a moment.
func unsureOf(states []stateSpan, at int64) time.Duration {
	d, _ := overlapOf(states, at-int64(near), at+int64(near), 0)
	return d
}

// falsehoods lists the claims that are not so.
func (w *truth) falsehoods(n *model.Analyzed) (out findings) {
	if w == nil || n == nil {
		return nil
	}
	states := w.states()
	const near = 50 * time.Millisecond
	if !w.evented {
		for _, h := range n.Health {
			switch h.State {
			case replay.Healthy:
				if d, t := overlapOf(states, h.From, h.To, -1); d > near {
					out.add("false health", "%v from %s, by %s in %s to %s", d, at(t), h.Proof, at(h.From), at(h.To))
				}
			case replay.Unhealthy:
				if d, t := overlapOf(states, h.From, h.To, 1); d > near {
					out.add("false trouble", "%v from %s, in %s to %s", d, at(t), at(h.From), at(h.To))
				}
			case replay.NeverRelisted:
				if d, t := overlapOf(states, h.From, h.To, 1); d > near {
					out.add("false never", "%v from %s, in %s to %s", d, at(t), at(h.From), at(h.To))
				}
			}
		}
		w.episodes(n, states, &out)
		w.agesOf(n, &out)
	}
	for i := range n.Relists {
		w.relist(n, &n.Relists[i], &out)
	}
	for _, b := range n.Bounded {
		least, most := 0, 0
		for _, r := range w.relists {
			if r.start < b.To+int64(time.Second) && (r.end == 0 || r.end > b.From-int64(time.Second)) {
				most++
				if r.start > b.From+int64(time.Second) && r.end != 0 && r.end < b.To-int64(time.Second) {
					least++
				}
			}
		}
		if b.CountMin > most || b.CountMax < least {
			out.add("false count", "%d to %d from %s to %s, %d to %d really", b.CountMin, b.CountMax, at(b.From), at(b.To), least, most)
		}
	}
	if n.Kubelet.Version != "" && w.version != "" && n.Kubelet.Version != w.version {
		out.add("false version", "%s", n.Kubelet.Version)
	}
	if w.causes != nil {
		least := .85
		if slices.ContainsFunc(states, func(s stateSpan) bool { return s.state < 0 }) {
			least = .5
		}
		for _, c := range n.Causes {
			if c.Confidence >= least && !slices.Contains(w.causes, c.ID) {
				out.add("false cause", "%s %.2f", c.ID, c.Confidence)
			}
		}
	}
	return out
}

func (w *truth) episodes(n *model.Analyzed, states []stateSpan, out *findings) {
	for _, e := range n.Episodes {
		if e.Breach == 0 || e.Never {
			continue
		}
		slack := int64(e.LastStart.Slack + near)
		if e.LastStart.Known() && !slices.ContainsFunc(w.relists, func(r ranRelist) bool { return r.start >= e.LastStart.At-slack && r.start <= e.LastStart.At+slack }) {
			out.add("false episode", "no relist at %s ±%v", at(e.LastStart.At), e.LastStart.Slack)
		} else if d, _ := overlapOf(states, e.Breach-slack-int64(near), e.Breach+slack+int64(near), -1); d == 0 && unsureOf(states, e.Breach) == 0 {
			out.add("false episode", "breach at %s", at(e.Breach))
		}
		if e.Recovered.Known() {
			// It was healthy again at a moment within the bounds that are told.
			from, to := e.Recovered.At-int64(e.Recovered.Slack)-int64(near), e.Recovered.At+int64(e.Recovered.Slack)+int64(near)
			well, _ := overlapOf(states, from, to, 1)
			unsure, _ := overlapOf(states, from, to, 0)
			if well+unsure == 0 {
				out.add("false recovery", "%s −%v, by %q", at(e.Recovered.At), e.Recovered.Slack, e.RecoveredBasis)
			}
		}
	}
}

const near = 50 * time.Millisecond

func (w *truth) agesOf(n *model.Analyzed, out *findings) {
	p := w.ages()
	told := 0
	for _, s := range age.Of(n.Node) {
		for _, x := range []struct {
			t         int64
			low, high time.Duration
		}{{s.From + int64(near), s.Low0, s.High0}, {s.To - int64(near), s.Low1, s.High1}} {
			if x.t <= s.From || x.t >= s.To {
				continue
			}
			i, _ := slices.BinarySearchFunc(p, x.t, func(a agePoint, t int64) int { return cmp.Compare(a.at, t) })
			if i--; i < 0 || p[i].since == 0 || told > 3 {
				continue
			}
			young, old := time.Duration(x.t-p[i].since), time.Duration(x.t-p[i].since)
			if !p[i].sure {
				if i == 0 || p[i-1].since == 0 {
					continue
				}
				old = time.Duration(x.t - p[i-1].since)
			}
			const off = 400 * time.Millisecond
			if x.low != age.Unknown && x.low > old+off {
				out.add("false age", "at least %v at %s, really %v", x.low, at(x.t), old)
				told++
			}
			if x.high != age.Unknown && x.high < young-off {
				out.add("false age", "at most %v at %s, really %v", x.high, at(x.t), young)
				told++
			}
		}
	}
}

// relist holds one against the true ones: one of these must fit all that is claimed.
func (w *truth) relist(n *model.Analyzed, r *replay.Relist, out *findings) {
	if !r.Start.Known() {
		return
	}
	slack := int64(r.Start.Slack + near)
	why := "no relist began then"
	for i := range w.relists {
		x := &w.relists[i]
		if x.start < r.Start.At-slack || x.start > r.Start.At+slack {
			continue
		}
		miss := ""
		off := func(d time.Duration) time.Duration { return d + 100*time.Millisecond }
		switch {
		case r.Listed != nil && *r.Listed != x.ok && (x.end != 0 || *r.Listed):
			miss = fmt.Sprintf("listed %v", x.ok)
		case r.End.Known() && x.end == 0:
			miss = "it never ended"
		case r.End.Known() && abs(time.Duration(r.End.At-x.end)) > off(r.End.Slack):
			miss = fmt.Sprintf("its end was %s", at(x.end))
		case r.Took != 0 && x.end != 0 && abs(r.Took-time.Duration(x.end-x.start)) > off(r.TookSlack):
			miss = fmt.Sprintf("it took %v", time.Duration(x.end-x.start))
		case r.ListEnd.Known() && x.ok && (r.ListEnd.At+int64(off(r.ListEnd.Slack)) < x.listLo || r.ListEnd.At-int64(off(r.ListEnd.Slack)) > x.listHi):
			miss = fmt.Sprintf("its list returned by %s", at(x.listHi))
		case r.Outcome == replay.OutcomeHung && x.end != 0 && x.end < r.Start.At+int64(10*time.Second):
			miss = fmt.Sprintf("it ended at %s", at(x.end))
		}
		if miss == "" {
			return
		}
		why = miss
	}
	out.add("false relist", "%s ±%v to %s ±%v, took %v ±%v, listed %v at %s ±%v, %s, by %v: %s", at(r.Start.At), r.Start.Slack, at(r.End.At), r.End.Slack, r.Took, r.TookSlack,
		r.Listed != nil && *r.Listed, at(r.ListEnd.At), r.ListEnd.Slack, r.Outcome, r.Basis, why)
}

// sampleSources are the samples; what their kubelets did is not recorded beside them.
func sampleSources(t *testing.T) (out []*source) {
	logs, _ := filepath.Glob("../../samples/*/kubelet.log")
	if len(logs) == 0 {
		t.Fatal("no samples")
	}
	for _, log := range logs {
		data, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, &source{name: filepath.Base(filepath.Dir(log)), files: map[string]string{"kubelet.log": string(data)}})
	}
	return out
}

// captureSources are the captures of real kubelets, where they are.
func captureSources(t *testing.T) (out []*source) {
	dirs, _ := filepath.Glob("../../../shared/data/kubelets/*")
	if testing.Short() {
		dirs = nil
	}
	for _, dir := range dirs {
		if s := captureSource(t, dir); s != nil {
			out = append(out, s)
		}
	}
	return out
}

func captureSource(t *testing.T, dir string) *source {
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			if data, err = os.ReadFile(filepath.Join(dir, name+".xz")); err != nil {
				return ""
			}
			r, err := xz.NewReader(bytes.NewReader(data), 0)
			if err != nil {
				t.Fatal(err)
			}
			if data, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
		return string(data)
	}
	s := &source{name: filepath.Base(dir), files: map[string]string{"kubelet.log": read("kubelet.log")}}
	if len(s.files["kubelet.log"]) > 8<<20 {
		return nil
	}
	if ok, _ := regexp.MatchString(*cutsOnly, s.name); !ok {
		return nil
	}
	if pack := read("metrics.tar"); pack != "" {
		for r := tar.NewReader(strings.NewReader(pack)); ; {
			h, err := r.Next()
			if err != nil {
				break
			}
			if strings.HasSuffix(h.Name, ".prom") {
				data, _ := io.ReadAll(r)
				s.files["metrics/"+filepath.Base(h.Name)] = string(data)
			}
		}
	}
	var told struct {
		Causes  []string
		Version string
	}
	json.Unmarshal([]byte(read("truth.json")), &told)
	w := &truth{limit: 3 * time.Minute, causes: told.Causes, version: told.Version, evented: strings.Contains(s.name, "evented")}
	if len(w.causes) == 0 {
		w.causes = nil
	}
	var cur *ranRelist
	close := func() {
		if cur != nil {
			w.relists = append(w.relists, *cur)
		}
		cur = nil
	}
	for line := range strings.Lines(read("relist_trace.jsonl")) {
		var e struct {
			Ev        string
			TS, Start time.Time
		}
		if json.Unmarshal([]byte(line), &e) != nil {
			continue
		}
		switch e.Ev {
		case "relist_begin":
			close()
			start := e.TS
			if !e.Start.IsZero() {
				start = e.Start
			}
			cur = &ranRelist{start: start.UnixNano()}
		case "getpods_ok":
			if cur != nil {
				cur.listLo, cur.listHi, cur.ok = e.TS.UnixNano(), e.TS.UnixNano(), true
			}
		case "getpods_err", "relist_getpods_error":
			if cur != nil {
				cur.listLo, cur.listHi, cur.ok = e.TS.UnixNano(), e.TS.UnixNano(), false
			}
		case "relist_end":
			if cur != nil {
				if cur.end = e.TS.UnixNano(); cur.listHi == 0 {
					cur.listLo, cur.listHi, cur.ok = cur.start, cur.end, true
				}
			}
			close()
		}
	}
	close()
	s.truth = w
	for line := range strings.Lines(s.files["kubelet.log"]) {
		if strings.Contains(line, "ubelet version") || strings.Contains(line, "] Version: v") {
			if at := lineTime(line); at != 0 {
				w.starts = append(w.starts, at)
			}
		}
	}
	if len(w.starts) > 0 {
		w.starts = w.starts[1:]
	}
	return s
}

var lineStamp = regexp.MustCompile(`^[IWEF](\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d{6})|^\{"ts":(\d+)`)

func lineTime(line string) int64 {
	m := lineStamp.FindStringSubmatch(line)
	if m == nil {
		return 0
	}
	if m[4] != "" {
		var ms int64
		fmt.Sscan(m[4], &ms)
		return ms * 1e6
	}
	x, _ := time.Parse("2006-01-02T15:04:05.000000", "2026-"+m[1]+"-"+m[2]+"T"+m[3])
	return x.UnixNano()
}
