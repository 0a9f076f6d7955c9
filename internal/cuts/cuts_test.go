package cuts

import (
	"context"
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
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse/bundle"
	"github.com/plegforensics/plegforensics/parse/clock"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

var (
	cutsOf    = flag.Int("cuts", 4, "random cuts of each log that TestCuts holds against what really was")
	cutSeed   = flag.Uint64("cutseed", 1, "seed of the first of them")
	cutsKept  = flag.String("cutskept", "", "folder for the cuts that claim too much")
	cutsOnly  = flag.String("cutsonly", "", "only inputs whose name matches")
	cutsReal  = flag.Bool("cutsreal", false, "cut all captures of real runtimes, which are held against their whole alone")
	cutsWhole = flag.Bool("cutswhole", true, "hold the claims against those of the whole too")
)

// source is a log, with snapshots of the metrics if there are any, and the recorded behavior of its
// kubelet.
type source struct {
	name  string
	files map[string]string
	truth *truth // nil if not recorded
}

// mended are seeds whose cuts once led to false claims.
var mended = map[string][]uint64{
	"v1.36.3-25-hang-getpod":         {2020011, 3110002},
	"v1.15.5-04-stuck-two-pods":      {3220001, 9400003},
	"v1.15.5-02-hang-all-v5":         {9400009, 12000014},
	"v1.15.5-09-event-overflow-b":    {9400011},
	"ds-f-churn-40":                  {9400014},
	"v1.28.0-13-near-threshold-flap": {301011, 14000006},
	"rn-e-cpu-quota":                 {500025},
	"stuck-pods":                     {7100004},
	"v1.15.5-14-slow-list":           {340002},
	"v1.28.0-03-slow-status":         {7100001, 7100011},
	"rn-a-sigstop-containerd":        {7100006, 7100008, 9700001},
	"v1.33.13-02-hang-list-v5":       {9600003, 14000014, 15000011},
	"rn-c-cni-hang":                  {9200012},
	"ds-h-dockerd-cpu-quota":         {9200008},
	"v1.28.0-11-json-hang":           {9700006},
	"ds-c-cni-hang":                  {9700006},
	"v1.28.0-12-kubelet-restart":     {9000004, 9000006, 11000003, 13000015},
}

var pack = func() *rules.Pack { p, _ := rules.Builtin(); return p }()

// TestCuts: randomly reduced logs and metrics lead to no claim that is false or not supported by
// the whole.
//
// For more cuts: go test ./internal/cuts -run TestCuts -v -args -cuts 100 -cutseed 1000
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
			classes["whole: "+f.Class]++
			t.Errorf("%s, whole: %v", s.name, f)
		}
		seeds := slices.Clone(mended[s.name])
		for i := range *cutsOf {
			seeds = append(seeds, *cutSeed+uint64(i))
		}
		for _, seed := range seeds {
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
				found = append(found, Beyond(part, whole)...)
			}
			for _, f := range found {
				classes[f.Class]++
				t.Errorf("%s, seed %d (%s): %v", s.name, seed, how, f)
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

// claims returns the analysis of the node in some files; nil if there is none.
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
