package bundle

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb"

	"github.com/plegforensics/plegforensics/parse"
)

// makeDatabase creates a database whose write-ahead log is larger than what a group
// keeps in memory.
func makeDatabase(t *testing.T) string {
	dir := t.TempDir()
	db, err := tsdb.Open(dir, promslog.NewNopLogger(), nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i := range 400 {
		app := db.Appender(context.Background())
		for k := range 300 {
			ls := labels.FromStrings("__name__", "m_total", "k", fmt.Sprint(k, strings.Repeat("x", 40)))
			if _, err := app.Append(0, ls, 1_795_217_460_000+int64(i)*15_000, float64(i*i*k)+0.1); err != nil {
				t.Fatal(err)
			}
		}
		if err := app.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func tarOfDir(t *testing.T, dir, prefix string) string {
	name := filepath.Join(t.TempDir(), "prometheus.tar")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(f)
	err = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: prefix + filepath.ToSlash(rel), Mode: 0o644, Size: int64(len(data))}); err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	if err != nil || w.Close() != nil || f.Close() != nil {
		t.Fatal(err)
	}
	return name
}

func chunkBytes(b *parse.Bundle) (series, bytes int) {
	for _, s := range b.Series {
		for _, c := range s.Chunks {
			bytes += len(c.Data)
		}
	}
	return len(b.Series), bytes
}

func TestDatabaseInDirectoryAndTar(t *testing.T) {
	dir := makeDatabase(t)
	before := listing(t, dir)
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	plain, err := Load(context.Background(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	packed, err := Load(context.Background(), []string{tarOfDir(t, dir, "./")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s1, n1 := chunkBytes(plain)
	s2, n2 := chunkBytes(packed)
	if s1 != 300 || s2 != 300 || n1 == 0 || n1 != n2 {
		t.Errorf("directory %d series %d bytes, tar %d series %d bytes; warnings %v %v", s1, n1, s2, n2, plain.Warnings, packed.Warnings)
	}
	if after := listing(t, dir); after != before {
		t.Errorf("the database was changed:\n%s\n%s", before, after)
	}
	if left := listing(t, scratch); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

func listing(t *testing.T, dir string) string {
	var b bytes.Buffer
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			st, _ := d.Info()
			fmt.Fprintln(&b, p, st.Size(), st.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDatabaseWithItsSnapshot loads a data directory that contains an API snapshot
// of itself, and one that contains a plain copy of itself: each sample counts once.
func TestDatabaseWithItsSnapshot(t *testing.T) {
	dir := makeDatabase(t)
	alone, err := Load(context.Background(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"snapshot": "snapshots/20261120T233100Z-0a1b2c3d4e5f6071", "copy": "copy"} {
		t.Run(name, func(t *testing.T) {
			both := filepath.Join(t.TempDir(), "data")
			for _, at := range []string{both, filepath.Join(both, to)} {
				if err := os.CopyFS(at, os.DirFS(dir)); err != nil {
					t.Fatal(err)
				}
			}
			b, err := Load(context.Background(), []string{both}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := samplesOf(b), samplesOf(alone); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if said := strings.Contains(fmt.Sprint(b.Warnings), "a snapshot of the database"); said != (name == "snapshot") {
				t.Errorf("%v", b.Warnings)
			}
		})
	}
}

func samplesOf(b *parse.Bundle) string {
	n := 0
	for _, s := range b.Series {
		for range s.Samples() {
			n++
		}
	}
	return fmt.Sprintf("%d series, %d samples", len(b.Series), n)
}

// TestMetricsCostAsManyAsThereAre loads snapshots of 40,000 to 160,000 series:
// memory allocated grows linearly with their number, within a fifth, whether all of
// them are asked for or none.
func TestMetricsCostAsManyAsThereAre(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large files")
	}
	for _, asked := range []bool{false, true} {
		opt := Options{Jobs: 1, Limits: Limits{Series: 1 << 20}, Asked: func(string) bool { return asked }}
		var bytes, objects [3]float64
		for i := range bytes {
			n := 40_000 << i
			name := filepath.Join(t.TempDir(), "20261120T233100Z.prom")
			if err := os.WriteFile(name, seriesText(n), 0o600); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			b, err := Load(context.Background(), []string{name}, opt)
			if err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			bytes[i], objects[i] = float64(after.TotalAlloc-before.TotalAlloc), float64(after.Mallocs-before.Mallocs)
			if held := len(b.Series); asked && held != n || !asked && held >= n || b.Scrapes[0].Samples != n || len(b.Warnings) > 0 {
				t.Fatalf("%d series of %d, %d samples, %v", held, n, b.Scrapes[0].Samples, b.Warnings)
			}
		}
		first, second := (bytes[1]-bytes[0])/40_000, (bytes[2]-bytes[1])/80_000
		t.Logf("asked %v: %.0f bytes a series up to 80,000, %.0f beyond", asked, first, second)
		if second > 1.2*max(first, 100) { // 100 bytes is about the line itself
			t.Errorf("asked %v: a series costs %.0f bytes up to 80,000 and %.0f beyond", asked, first, second)
		}
		if each := (objects[2] - objects[1]) / 80_000; each > 1 {
			t.Errorf("asked %v: a series takes %.1f objects, at each of which a collection looks by itself", asked, each)
		}
	}
}

// seriesText returns a snapshot of n series of one metric.
func seriesText(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "workqueue_depth{name=\"queue_%d\",host=\"10.0.0.%d\"} %d\n", i, i%250, i%7)
	}
	return b.Bytes()
}
