package main

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/plegforensics/plegforensics/internal/genlog"
	"github.com/plegforensics/plegforensics/internal/genmetrics"
)

// BenchmarkAnalyze measures analyze, from the arguments to the report, on typical inputs.
// scripts/profile.sh collects the profile for profile-guided optimization from it.
func BenchmarkAnalyze(b *testing.B) {
	dir := b.TempDir()
	journal := func(opt genlog.Options) func(io.Writer) error {
		return func(w io.Writer) error { return genlog.Write(w, opt) }
	}
	inputs := []struct {
		name  string
		write func(w io.Writer) error
	}{
		{"journal.log", journal(genlog.Options{Bytes: 64 << 20, Seed: 1, Errors: 2})},
		{"errors.log", journal(genlog.Options{Bytes: 24 << 20, Seed: 2, Errors: 19})},
		{"journal.log.gz", func(w io.Writer) error { return squeezed(gzip.NewWriter(w), 3) }},
		{"journal.log.zst", func(w io.Writer) error {
			z, err := zstd.NewWriter(w)
			if err != nil {
				return err
			}
			return squeezed(z, 5)
		}},
		{"journal.log.xz", func(w io.Writer) error {
			xz := exec.Command("xz", "-T1", "-3", "-c") // there is no maintained encoder in Go
			xz.Stdout = w
			in, err := xz.StdinPipe()
			if err == nil {
				err = xz.Start()
			}
			if err != nil {
				return err
			}
			return errors.Join(squeezed(in, 6), xz.Wait())
		}},
		{"sosreport.tar", func(w io.Writer) error {
			return genlog.WriteSosreport(w, genlog.Options{Bytes: 24 << 20, Seed: 4, Errors: 2})
		}},
	}
	for _, in := range inputs {
		path := filepath.Join(dir, in.name)
		f, err := os.Create(path)
		if err != nil {
			b.Fatal(err)
		}
		if err := in.write(f); errors.Is(err, exec.ErrNotFound) {
			b.Logf("%s is left out: %v", in.name, err)
			continue
		} else if err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		b.Run(strings.ReplaceAll(in.name, ".", "-"), func(b *testing.B) { benchmarkAnalyze(b, path) })
	}
	snapshots := filepath.Join(dir, "snapshots")
	if err := os.Mkdir(snapshots, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := genmetrics.Snapshots(snapshots, genmetrics.Options{Scrapes: 100, Series: 3000}); err != nil {
		b.Fatal(err)
	}
	b.Run("snapshots", func(b *testing.B) { benchmarkAnalyze(b, snapshots) })
	b.Run("packed", func(b *testing.B) { // includes a binary journal and xz
		benchmarkAnalyze(b, "../../samples/restart-in-hang", "../../samples/hang-list/metrics.tar.xz")
	})
}

// squeezed writes a journal through a compressor.
func squeezed(z io.WriteCloser, seed uint64) error {
	err := genlog.Write(z, genlog.Options{Bytes: 24 << 20, Seed: seed, Errors: 2})
	return errors.Join(err, z.Close())
}

func benchmarkAnalyze(b *testing.B, inputs ...string) {
	args := append([]string{"plegforensics", "analyze", "--quiet", "-o", "json"}, inputs...)
	if s, err := os.Stat(inputs[0]); err == nil && !s.IsDir() {
		b.SetBytes(s.Size())
	}
	for b.Loop() {
		if code := run(context.Background(), args, strings.NewReader(""), io.Discard, io.Discard); code > exitFindings {
			b.Fatalf("status %d", code)
		}
	}
}
