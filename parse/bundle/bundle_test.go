package bundle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/plegforensics/plegforensics/parse"
)

// keepAll is a line decoder that keeps every line as an event, to see exactly
// what reached the decoder and with which position.
type keepAll struct {
	f    *parse.File
	part *parse.LogPart
}

func newKeepAll(f *parse.File, head []byte) lineDecoder { return keepAll{f, new(parse.LogPart)} }

func (k keepAll) Cut(buf []byte, eof bool) int {
	if eof {
		return len(buf)
	}
	return bytes.LastIndexByte(buf, '\n') + 1
}

func (k keepAll) CutsAnywhere() bool { return true }

func (k keepAll) Decode(r run) (any, int) {
	var out []*parse.Event
	off, line := r.offset, uint32(1)
	for len(r.data) > 0 {
		l, rest, _ := bytes.Cut(r.data, newline)
		out = append(out, parse.NewEvent(&parse.EventKind{File: k.f, Sigs: &parse.SigSet{}, Origin: &parse.Origin{}}, r.keep.Keep(l), parse.Event{Offset: off, Line: line}))
		off += int64(len(r.data) - len(rest))
		line++
		r.data = rest
	}
	return out, len(out)
}

func (k keepAll) Join(result any, before uint32) {
	for _, e := range result.([]*parse.Event) {
		e.Line += before
		k.part.Events = append(k.part.Events, e)
	}
}

func (k keepAll) Finish() parse.LogPart {
	k.part.Lines = len(k.part.Events)
	return *k.part
}

// testLog returns n lines that look like a kubelet log.
func testLog(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "Mar 13 15:%02d:%02d node-1 kubelet[1234]: I0313 15:%02d:%02d.%06d    1234 generic.go:%d] line %d\n",
			i/60%60, i%60, i/60%60, i%60, i%1000000, i%400, i)
	}
	return b.Bytes()
}

func load(t testing.TB, opt Options, inputs ...string) *parse.Bundle {
	t.Helper()
	if opt.newLines == nil {
		opt.newLines = newKeepAll
	}
	b, err := Load(context.Background(), inputs, opt)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// dump returns the events and warnings of a bundle with their positions, for
// comparison.
func dump(b *parse.Bundle, paths bool) string {
	var s strings.Builder
	for _, e := range b.Events {
		if paths {
			s.WriteString(e.File.Path)
		}
		fmt.Fprintf(&s, ":%d@%d %s\n", e.Line, e.Offset, e.Text())
	}
	for _, w := range b.Warnings {
		fmt.Fprintf(&s, "warning %v\n", w)
	}
	return s.String()
}

func gz(t testing.TB, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func zst(t testing.TB, data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(data, nil)
}

func lz(t testing.TB, data []byte) []byte {
	var b bytes.Buffer
	w := lz4.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// pipe compresses data with an external tool; the test is skipped if it is not
// installed.
func pipe(t testing.TB, data []byte, tool string, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		t.Skip(tool, "is not installed")
	}
	cmd := exec.Command(tool, args...)
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(tool, err)
	}
	return out
}

type entry struct {
	name string
	data []byte
}

func tarOf(t testing.TB, entries ...entry) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if err := w.WriteHeader(&tar.Header{Name: e.name, Size: int64(len(e.data)), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		w.Write(e.data)
	}
	w.Close()
	return b.Bytes()
}

func zipOf(t testing.TB, entries ...entry) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		f, err := w.Create(e.name)
		if err != nil {
			t.Fatal(err)
		}
		f.Write(e.data)
	}
	w.Close()
	return b.Bytes()
}

func utf16Of(data []byte, big bool) []byte {
	out := []byte{0xff, 0xfe}
	if big {
		out = []byte{0xfe, 0xff}
	}
	for _, c := range data {
		if big {
			out = append(out, 0, c)
		} else {
			out = append(out, c, 0)
		}
	}
	return out
}

func file(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFormats reads the same log through every wrapping, as a file and from
// standard input, and expects the same lines at the same positions.
func TestFormats(t *testing.T) {
	log := testLog(8000)
	half := bytes.Index(log[len(log)/2:], newline) + len(log)/2 + 1
	want := dump(load(t, Options{}, file(t, "kubelet.log", log)), false)
	if n := strings.Count(want, "\n"); n != 8000 {
		t.Fatalf("%d lines", n)
	}
	tests := []struct {
		name string
		data func(t *testing.T) []byte
		path string // of the member, below the file
	}{
		{"plain", func(t *testing.T) []byte { return log }, ""},
		{"gzip", func(t *testing.T) []byte { return gz(t, log) }, ""},
		{"gzip members", func(t *testing.T) []byte { return append(gz(t, log[:half]), gz(t, log[half:])...) }, ""},
		{"xz", func(t *testing.T) []byte { return pipe(t, log, "xz", "-1", "-c") }, ""},
		{"xz blocks", func(t *testing.T) []byte { return pipe(t, log, "xz", "-1", "--block-size=100000", "-c") }, ""},
		{"xz streams", func(t *testing.T) []byte {
			return append(append(pipe(t, log[:half], "xz", "-c"), 0, 0, 0, 0), pipe(t, log[half:], "xz", "--block-size=200000", "-c")...)
		}, ""},
		{"zstd", func(t *testing.T) []byte { return zst(t, log) }, ""},
		{"zstd frames", func(t *testing.T) []byte { return append(zst(t, log[:half]), zst(t, log[half:])...) }, ""},
		{"bzip2", func(t *testing.T) []byte { return pipe(t, log, "bzip2", "-c") }, ""},
		{"lz4", func(t *testing.T) []byte { return lz(t, log) }, ""},
		{"UTF-16LE", func(t *testing.T) []byte { return utf16Of(log, false) }, ""},
		{"UTF-16BE", func(t *testing.T) []byte { return utf16Of(log, true) }, ""},
		{"tar", func(t *testing.T) []byte { return tarOf(t, entry{"a/k.log", log}) }, "!a/k.log"},
		{"tar.gz", func(t *testing.T) []byte { return gz(t, tarOf(t, entry{"./a/k.log", log})) }, "!./a/k.log"},
		{"zip", func(t *testing.T) []byte { return zipOf(t, entry{"a/k.log", log}) }, "!a/k.log"},
		{"gz in tar in zst", func(t *testing.T) []byte { return zst(t, tarOf(t, entry{"k.gz", gz(t, log)})) }, "!k.gz"},
		{"tar.xz in zip in tar.gz", func(t *testing.T) []byte {
			return gz(t, tarOf(t, entry{"n.zip", zipOf(t, entry{"s.txz", pipe(t, tarOf(t, entry{"k", log}), "xz", "-c")})}))
		}, "!n.zip!s.txz!k"},
		{"zip in gz", func(t *testing.T) []byte { return gz(t, zipOf(t, entry{"k", log})) }, "!k"},
		{"UTF-16 in zip", func(t *testing.T) []byte { return zipOf(t, entry{"k", utf16Of(log, false)}) }, "!k"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := tt.data(t)
			b := load(t, Options{}, file(t, "in", data))
			if got := dump(b, false); got != want {
				t.Errorf("file: %d lines differ from the plain file's:\n%.500s", len(b.Events), got)
			}
			if got := b.Files[0].Path; got != "in"+tt.path {
				t.Errorf("path %q, want %q", got, "in"+tt.path)
			}
			b = load(t, Options{Stdin: bytes.NewReader(data), Jobs: 3}, "-")
			if got := dump(b, false); got != want {
				t.Errorf("standard input: %d lines differ from the plain file's:\n%.500s", len(b.Events), got)
			}
			if got := b.Files[0].Path; got != "-"+tt.path {
				t.Errorf("path %q, want %q", got, "-"+tt.path)
			}
		})
	}
}
