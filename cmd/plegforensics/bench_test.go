package main

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/internal/genlog"
)

// BenchmarkAnalyze is the main job, from the arguments to the report, on what
// people bring. The compiler is told which paths are hot by a profile of it,
// default.pgo, which is made anew after a change of them:
//
//	go test ./cmd/plegforensics -run '^$' -bench Analyze -benchtime 40x -cpuprofile cmd/plegforensics/default.pgo
func BenchmarkAnalyze(b *testing.B) {
	dir := b.TempDir()
	journal := func(opt genlog.Options) func(io.Writer) error {
		return func(w io.Writer) error { return genlog.Write(w, opt) }
	}
	for _, in := range []struct {
		name  string
		write func(w io.Writer) error
	}{
		{"journal.log", journal(genlog.Options{Bytes: 64 << 20, Seed: 1, Errors: 2})},
		{"errors.log", journal(genlog.Options{Bytes: 24 << 20, Seed: 2, Errors: 19})},
		{"journal.log.gz", func(w io.Writer) error {
			z := gzip.NewWriter(w)
			defer z.Close()
			return genlog.Write(z, genlog.Options{Bytes: 24 << 20, Seed: 3, Errors: 2})
		}},
		{"sosreport.tar", func(w io.Writer) error {
			return genlog.WriteSosreport(w, genlog.Options{Bytes: 24 << 20, Seed: 4, Errors: 2})
		}},
	} {
		b.Run(strings.ReplaceAll(in.name, ".", "-"), func(b *testing.B) {
			path := filepath.Join(dir, in.name)
			f, err := os.Create(path)
			if err != nil {
				b.Fatal(err)
			}
			if err := in.write(f); err != nil {
				b.Fatal(err)
			}
			if err := f.Close(); err != nil {
				b.Fatal(err)
			}
			if s, err := os.Stat(path); err == nil {
				b.SetBytes(s.Size())
			}
			for b.Loop() {
				args := []string{"plegforensics", "analyze", "--quiet", "-o", "json", path}
				if code := run(context.Background(), args, strings.NewReader(""), io.Discard, io.Discard); code > exitFindings {
					b.Fatalf("status %d", code)
				}
			}
		})
	}
}
