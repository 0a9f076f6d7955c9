package tsdb

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/plegforensics/plegforensics/parse"
)

const baseMS = int64(1_795_217_460_000)

// options returns options of a database with unlimited retention and an
// out-of-order window.
func options() *tsdb.Options {
	o := tsdb.DefaultOptions()
	o.RetentionDuration = 0
	o.OutOfOrderTimeWindow = (2 * time.Hour).Milliseconds()
	return o
}

// write appends n samples of each series, 15 s apart, to a database.
func write(t testing.TB, dir string, from, n int, series ...labels.Labels) {
	t.Helper()
	db, err := tsdb.Open(dir, promslog.NewNopLogger(), nil, options(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.DisableCompactions()
	for i := from; i < from+n; i++ {
		app := db.Appender(context.Background())
		for k, ls := range series {
			if _, err := app.Append(0, ls, baseMS+int64(i)*15_000, float64(i*(k+1))); err != nil {
				t.Fatal(err)
			}
		}
		if err := app.Commit(); err != nil {
			t.Fatal(err)
		}
	}
}

func lset(name string, kv ...string) labels.Labels {
	return labels.FromStrings(append([]string{"__name__", name}, kv...)...)
}

// files returns the files of a database as package bundle would pass them.
func files(t testing.TB, dir string) []File {
	t.Helper()
	var out []File
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, p)
		if err != nil || d.IsDir() {
			return err
		}
		if _, ok := Root(filepath.ToSlash(rel)); !ok {
			return nil
		}
		data, err := os.ReadFile(p)
		out = append(out, File{&parse.File{Path: filepath.ToSlash(rel)}, bytes.NewReader(data), int64(len(data))})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// samplesOf returns all float samples of a series, packed or not.
func samplesOf(t testing.TB, x *parse.Series) map[int64]float64 {
	out := map[int64]float64{}
	for _, p := range x.Points {
		out[p.At/1e6] = p.V
	}
	for _, c := range x.Chunks {
		ch, err := chunkenc.FromData(chunkenc.Encoding(c.Encoding), c.Data)
		if err != nil {
			t.Fatal(err)
		}
		it := ch.Iterator(nil)
		for it.Next() == chunkenc.ValFloat {
			at, v := it.At()
			if at*1e6 < c.Min || at*1e6 > c.Max {
				t.Errorf("%s: sample at %d outside its chunk", x, at)
			}
			out[at] = v
		}
	}
	return out
}

// oracle reads a copy of a database with Prometheus itself.
func oracle(t testing.TB, dir string) map[string]map[int64]float64 {
	t.Helper()
	own := t.TempDir() // opening changes the files
	if err := os.CopyFS(own, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	db, err := tsdb.Open(own, promslog.NewNopLogger(), nil, options(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	q, err := db.Querier(math.MinInt64, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	out := map[string]map[int64]float64{}
	set := q.Select(context.Background(), false, nil, labels.MustNewMatcher(labels.MatchRegexp, "__name__", ".+"))
	for set.Next() {
		m := map[int64]float64{}
		it := set.At().Iterator(nil)
		for k := it.Next(); k != chunkenc.ValNone; k = it.Next() {
			if k == chunkenc.ValFloat {
				at, v := it.At()
				m[at] = v
			}
		}
		out[set.At().Labels().String()] = m
	}
	return out
}

func same(t *testing.T, got parse.Part, want map[string]map[int64]float64) {
	t.Helper()
	total := 0
	for _, x := range got.Series {
		kv := []string{}
		for _, l := range x.Labels {
			kv = append(kv, l.Name, l.Value)
		}
		name := lset(x.Name, kv...).String()
		have := samplesOf(t, x)
		if fmt.Sprint(have) != fmt.Sprint(want[name]) {
			t.Errorf("%s: %d samples, want %d", name, len(have), len(want[name]))
		}
		total += len(have)
	}
	if len(got.Series) != len(want) || total == 0 {
		t.Errorf("%d series, want %d; %d samples", len(got.Series), len(want), total)
	}
}

func TestWriteAheadLog(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, 0, 500, lset("kubelet_pleg_last_seen_seconds", "instance", "a"), lset("node_load1", "instance", "a"), lset("x", "v", strings.Repeat("é", 3000)))
	got := Read(files(t, dir), Options{})
	if len(got.Warnings) > 0 {
		t.Error(got.Warnings)
	}
	same(t, got, oracle(t, dir))
	for _, x := range got.Series {
		if unpacked := len(x.Points) > 0; unpacked != (x.Name == "kubelet_pleg_last_seen_seconds") {
			t.Errorf("%s unpacked: %v", x.Name, unpacked)
		}
	}
}

// compacted creates a database with blocks, a log that continues after them, and
// head chunks.
func compacted(t testing.TB) string {
	dir := t.TempDir()
	db, err := tsdb.Open(dir, promslog.NewNopLogger(), nil, options(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	series := []labels.Labels{lset("a_total", "instance", "n1"), lset("b_x", "instance", "n2"), lset("kubelet_pleg_discard_events", "instance", "n1")}
	for i := range 1500 { // 6 h 15 min
		app := db.Appender(context.Background())
		for k, ls := range series {
			if _, err := app.Append(0, ls, baseMS+int64(i)*15_000, float64(i*(k+1))); err != nil {
				t.Fatal(err)
			}
		}
		if i > 100 && i%50 == 0 { // late samples go to the out-of-order log
			if _, err := app.Append(0, series[1], baseMS+int64(i-20)*15_000+7, -1); err != nil {
				t.Fatal(err)
			}
		}
		if err := app.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Compact(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := db.Delete(context.Background(), baseMS+600_000, baseMS+900_000, labels.MustNewMatcher(labels.MatchEqual, "__name__", "a_total")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestBlocksAndHead(t *testing.T) {
	dir := compacted(t)
	blocks, _ := filepath.Glob(filepath.Join(dir, "*", "index"))
	if len(blocks) == 0 {
		t.Fatal("no block was made")
	}
	got := Read(files(t, dir), Options{})
	if len(got.Warnings) > 0 {
		t.Error(got.Warnings)
	}
	want := oracle(t, dir)
	same(t, got, want)
	if n := len(want[`{__name__="a_total", instance="n1"}`]); n != 1500-21 {
		t.Errorf("the database itself has %d samples", n)
	}
}

func TestNativeHistograms(t *testing.T) {
	dir := t.TempDir()
	db, err := tsdb.Open(dir, promslog.NewNopLogger(), nil, options(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		app := db.Appender(context.Background())
		h := &histogram.Histogram{Schema: 1, Count: uint64(2 * i), Sum: float64(i), PositiveSpans: []histogram.Span{{Offset: 0, Length: 2}}, PositiveBuckets: []int64{int64(i), 0}}
		if _, err := app.AppendHistogram(0, lset("h"), baseMS+int64(i)*15_000, h, nil); err != nil {
			t.Fatal(err)
		}
		if err := app.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	got := Read(files(t, dir), Options{})
	if len(got.Series) != 1 || len(got.Series[0].Histograms) != 50 || got.Series[0].Histograms[49].H.(*histogram.FloatHistogram).Count != 98 {
		t.Errorf("%d series, warnings %v", len(got.Series), got.Warnings)
	}
}

// TestDamage damages or truncates a file and expects a warning and most of the
// rest.
func TestDamage(t *testing.T) {
	dir := compacted(t)
	whole := Read(files(t, dir), Options{})
	count := func(p parse.Part) (n int) {
		for _, x := range p.Series {
			n += len(samplesOf(t, x))
		}
		return n
	}
	full := count(whole)
	tests := []struct {
		name, file string
		harm       func([]byte) []byte
		least      float64 // share of samples that must survive
		want       string
	}{
		{"index header", "index", func(b []byte) []byte { b[0] ^= 0xff; return b }, 0.1, "damaged index"},
		{"index cut", "index", func(b []byte) []byte { return b[:len(b)/2] }, 0.1, "damaged index"},
		{"index empty", "index", func(b []byte) []byte { return nil }, 0.1, "damaged index"},
		{"chunk", "chunks/000001", func(b []byte) []byte { b[len(b)/2] ^= 0xff; return b }, 0.8, "1 damaged or missing chunks"},
		{"chunks cut", "chunks/000001", func(b []byte) []byte { return b[:len(b)/2] }, 0.3, "damaged or missing chunks"},
		{"log", "wal/", func(b []byte) []byte { b[len(b)/2] ^= 0xff; return b }, 0.4, "damaged places in the log"},
		{"log cut", "wal/", func(b []byte) []byte { return b[:len(b)*2/3+3] }, 0.4, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fs := files(t, dir)
			hit := false
			for i, f := range fs {
				if hit || !strings.HasSuffix(f.File.Path, tt.file) && !(strings.HasSuffix(tt.file, "/") && strings.HasPrefix(f.File.Path, tt.file) && f.Size > 1000) {
					continue
				}
				hit = true
				b := make([]byte, f.Size)
				f.At.ReadAt(b, 0)
				b = tt.harm(b)
				fs[i].At, fs[i].Size = bytes.NewReader(b), int64(len(b))
			}
			got := Read(fs, Options{})
			if n := count(got); !hit || float64(n) < tt.least*float64(full) || n > full+21 { // the log still holds what was deleted from the block
				t.Errorf("%v: %d of %d samples left", hit, n, full)
			}
			if !strings.Contains(fmt.Sprint(got.Warnings), tt.want) {
				t.Errorf("warnings %v", got.Warnings)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, 0, 500, lset("kubelet_runtime_operations_total"), lset("x"), lset("y"), lset("z"))
	got := Read(files(t, dir), Options{Packed: 2000})
	if !strings.Contains(fmt.Sprint(got.Warnings), "left out") {
		t.Errorf("warnings %v", got.Warnings)
	}
}

func TestRoot(t *testing.T) {
	const ulid = "01M7XZZ6FBJ9G5ABPE6Q4BSHVM"
	for p, want := range map[string]string{
		"data/" + ulid + "/index": "data", ulid + "/chunks/000001": "", "x.tar!./" + ulid + "/meta.json": "x.tar!.",
		"a.tar!" + ulid + "/index": "a.tar!", "p/wal/00000012": "p", "p/wal/checkpoint.00000011/00000000": "p", "p/chunks_head/000003": "p", "p/wbl/00000000": "p",
	} {
		if got, ok := Root(p); !ok || got != want {
			t.Errorf("%s: %q %v, want %q", p, got, ok, want)
		}
	}
	for _, p := range []string{"index", "x/index", "wal/notes.txt", ulid + "/other", "chunks/000001"} {
		if _, ok := Root(p); ok {
			t.Errorf("%s taken for a database", p)
		}
	}
}

func FuzzSegment(f *testing.F) {
	dir := f.TempDir()
	write(f, dir, 0, 20, lset("a"), lset("b"))
	for _, x := range files(f, dir) {
		if strings.HasPrefix(x.File.Path, "wal/") && x.Size < 1<<20 {
			b := make([]byte, x.Size)
			x.At.ReadAt(b, 0)
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		Read([]File{{&parse.File{Path: "wal/00000000"}, bytes.NewReader(data), int64(len(data))}}, Options{})
		Read([]File{{&parse.File{Path: "chunks_head/000001"}, bytes.NewReader(data), int64(len(data))}}, Options{})
	})
}

func FuzzBlock(f *testing.F) {
	dir := compacted(f)
	var chunk []byte
	for _, x := range files(f, dir) {
		b := make([]byte, x.Size)
		x.At.ReadAt(b, 0)
		switch {
		case strings.HasSuffix(x.File.Path, "/index"):
			f.Add(b)
		case strings.HasSuffix(x.File.Path, "chunks/000001"):
			chunk = b
		}
	}
	const ulid = "01M7XZZ6FBJ9G5ABPE6Q4BSHVM"
	f.Fuzz(func(t *testing.T, data []byte) {
		Read([]File{{&parse.File{Path: ulid + "/index"}, bytes.NewReader(data), int64(len(data))},
			{&parse.File{Path: ulid + "/chunks/000001"}, bytes.NewReader(chunk), int64(len(chunk))},
			{&parse.File{Path: ulid + "/tombstones"}, bytes.NewReader(data), int64(len(data))}}, Options{})
	})
}
