//go:build unix

package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/hostile"
	"github.com/plegforensics/plegforensics/parse"
)

// tree1 creates a directory with logs of several kinds and sizes, some compressed.
func tree1(t testing.TB) string {
	dir := t.TempDir()
	put := func(name string, data []byte) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("node/kubelet.log", hostile.Log())
	put("node/long.log", testLog(7000))
	put("node/old.log.gz", gz(t, testLog(3000)))
	put("node/more.zip", zipOf(t, entry{"b.log", testLog(900)}, entry{"a.log", hostile.Log()}))
	put("node/metrics.prom", []byte("# TYPE kubelet_pleg_last_seen_seconds gauge\nkubelet_pleg_last_seen_seconds 1.795217455e+09\n"))
	put("junk.bin", []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 14, 15, 16})
	return dir
}

// TestJobs: the bundle is the same for any number of workers, with the built-in
// signatures.
func TestJobs(t *testing.T) {
	dir := tree1(t)
	var want string
	for _, jobs := range []int{1, 2, 7} {
		b, err := Load(context.Background(), []string{dir}, Options{Jobs: jobs})
		if err != nil {
			t.Fatal(err)
		}
		got := whole(b)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%d workers: the bundle differs from that of one", jobs)
		}
	}
	if !strings.Contains(want, "last seen active") {
		t.Error("nothing was decoded")
	}
}

// TestWrapped: a log gives the same records as a file, in a tar.gz, and from
// standard input.
func TestWrapped(t *testing.T) {
	log := append(testLog(6000), hostile.Log()...)
	get := func(opt Options, in string) string {
		b, err := Load(context.Background(), []string{in}, opt)
		if err != nil {
			t.Fatal(err)
		}
		return dump(b, false)
	}
	plain := get(Options{}, file(t, "kubelet.log", log))
	if plain == "" {
		t.Fatal("no events")
	}
	if got := get(Options{}, file(t, "x.tar.gz", gz(t, tarOf(t, entry{"kubelet.log", log})))); got != plain {
		t.Error("from a tar.gz: other events")
	}
	if got := get(Options{Stdin: bytes.NewReader(log)}, "-"); got != plain {
		t.Error("from standard input: other events")
	}
}

// whole formats the records of a bundle, for comparison.
func whole(b *parse.Bundle) string {
	var s strings.Builder
	for _, in := range b.Inputs {
		fmt.Fprintf(&s, "%+v\n", in)
	}
	for _, f := range b.Files {
		fmt.Fprintf(&s, "%s %s %d\n", f.Path, f.Role, f.Size)
	}
	for _, e := range b.Events {
		fmt.Fprintf(&s, "%v %d %s\n", e.Where(), e.At, e.Text())
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&s, "%s %+v %d\n", c.File.Path, *c.Origin, c.Lines)
	}
	for _, x := range b.Series {
		fmt.Fprintf(&s, "%v %d\n", x, len(x.Points))
	}
	for _, w := range b.Warnings {
		fmt.Fprintln(&s, w)
	}
	return s.String()
}

// TestBadInputs loads inputs that are not readable files.
func TestBadInputs(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Skip(err)
	}
	locked := filepath.Join(dir, "locked")
	os.Mkdir(locked, 0)
	tests := []struct {
		name, input, want string
		none              bool // no input could be opened
	}{
		{"missing", filepath.Join(dir, "nowhere"), "no such file", true},
		{"FIFO", fifo, "is a FIFO", true},
		{"device", "/dev/zero", "is a device", true},
		{"empty", file(t, "empty.log", nil), "is empty", false},
		{"noise", file(t, "noise", []byte{0, 1, 2, 0xff, 0xfe, 0, 0, 0, 1, 1, 1, 1}), "not a recognized format", false},
		{"directory", dir, "skipped", false},
		{"no standard input", "-", "no standard input", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := Load(context.Background(), []string{tt.input}, Options{})
			if errors.Is(err, ErrNoInput) != tt.none {
				t.Fatalf("error %v", err)
			}
			if s := fmt.Sprint(b.Warnings); !strings.Contains(s, tt.want) {
				t.Errorf("warnings %s do not say %q", s, tt.want)
			}
		})
	}
	if os.Getuid() != 0 {
		b := load(t, Options{}, dir)
		if s := fmt.Sprint(b.Warnings); !strings.Contains(s, "permission denied") {
			t.Errorf("warnings %s say nothing about the locked directory", s)
		}
	}
}

// TestLinks: no symbolic link inside a directory is followed out of it.
func TestLinks(t *testing.T) {
	secret := file(t, "secret.log", hostile.Log())
	dir := t.TempDir()
	os.Symlink(secret, filepath.Join(dir, "kubelet.log"))
	os.Symlink(filepath.Dir(secret), filepath.Join(dir, "up"))
	os.Symlink(".", filepath.Join(dir, "self"))
	os.WriteFile(filepath.Join(dir, "real.log"), testLog(10), 0o644)
	b := load(t, Options{}, dir)
	if len(b.Files) != 1 || len(b.Events) != 10 {
		t.Errorf("%d files, %d lines", len(b.Files), len(b.Events))
	}
	// A link named by the user is followed.
	b = load(t, Options{}, filepath.Join(dir, "kubelet.log"))
	if len(b.Events) != hostile.LogLines {
		t.Errorf("%d lines through a link given by name", len(b.Events))
	}
}

// stuck is a standard input that blocks until done is closed.
type stuck struct{ done chan bool }

func (s stuck) Read([]byte) (int, error) { <-s.done; return 0, io.EOF }

// endless is a standard input without end.
type endless struct{ line []byte }

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for n+len(e.line) <= len(p) {
		n += copy(p[n:], e.line)
	}
	return n, nil
}

func TestCancel(t *testing.T) {
	done := make(chan bool)
	defer close(done)
	for name, in := range map[string]io.Reader{"stuck": stuck{done}, "endless": endless{testLog(1)}} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			begin := time.Now()
			_, err := Load(ctx, []string{"-"}, Options{Stdin: in})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			if d := time.Since(begin); d > time.Second+100*time.Millisecond {
				t.Errorf("took %v to stop", d)
			}
		})
	}
}

// TestLongLine: an overlong line gives a warning with its position, and the lines
// around it are read.
func TestLongLine(t *testing.T) {
	log := testLog(10)
	data := append(append(append([]byte(nil), log...), bytes.Repeat([]byte("x"), 10<<20)...), '\n')
	data = append(data, log...)
	b := load(t, Options{}, file(t, "k.log", data))
	if len(b.Events) != 21 {
		t.Errorf("%d lines, want 10, the cut one, and 10", len(b.Events))
	}
	if last := b.Events[len(b.Events)-1]; last.Line != 21 || last.Offset != int64(len(data)-len(log)/10) {
		t.Errorf("last line at %v, offset %d", last.Where(), last.Offset)
	}
	if len(b.Warnings) != 1 || b.Warnings[0].Line != 11 || b.Warnings[0].Offset != int64(len(log)) || !b.Inputs[0].Partial {
		t.Errorf("warnings %v, input %+v", b.Warnings, b.Inputs[0])
	}
}

// TestLimits hits each limit.
func TestLimits(t *testing.T) {
	log := testLog(2000)
	up := []byte("# TYPE kubelet_pleg_relist_errors_total counter\nkubelet_pleg_relist_errors_total 1\n")
	tests := []struct {
		name  string
		lim   Limits
		data  []byte
		want  string
		lines int // at least
	}{
		{"bytes", Limits{Bytes: 100000}, gz(t, log), "max-bytes", 500},
		{"files", Limits{Files: 1}, tarOf(t, entry{"a", log}, entry{"b", log}), "max-files", 2000},
		{"logs", Limits{Logs: 2}, tarOf(t, entry{"a", log}, entry{"x", []byte("{}")}, entry{"b", log}, entry{"c", log}, entry{"d", log}), "2 logs are left out", 4000},
		{"snapshots", Limits{Logs: 10}, tarOf(t, entry{"a", log}, entry{"x", up}, entry{"y", up}, entry{"z", up}), "1 files of metrics are left out", 2000},
		{"depth", Limits{Depth: 1}, gz(t, gz(t, log)), "max-depth", 0},
		{"ratio", Limits{Ratio: 3, RatioFree: 1 << 20}, gz(t, bytes.Repeat(log, 200)), "expands more than 3 times", 10000},
		{"time", Limits{Time: 1}, gz(t, log), "time limit", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := load(t, Options{Limits: tt.lim}, file(t, "in", tt.data))
			if s := fmt.Sprint(b.Warnings); !strings.Contains(s, tt.want) {
				t.Errorf("warnings %s do not say %q", s, tt.want)
			}
			if !b.Inputs[0].Partial {
				t.Error("the input does not count as read in part")
			}
			if len(b.Events) < tt.lines {
				t.Errorf("%d lines", len(b.Events))
			}
		})
	}
}

// TestLogsOfDirectory: the limit of logs applies to all files of a directory
// together, including archives, and the same logs are read for any number of
// walkers.
func TestLogsOfDirectory(t *testing.T) {
	dir, log := t.TempDir(), testLog(40)
	for i := range 60 {
		name, data := fmt.Sprintf("%02d.log", i), log
		switch {
		case i == 3:
			name, data = "03.tar", tarOf(t, entry{"a", testLog(9000)}, entry{"b", log}, entry{"c", log})
		case i == 7:
			name, data = "07.json", []byte("{}")
		case i%9 == 5:
			data = gz(t, log)[:200] // truncated: gives a warning if it is read
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, most := range []int{1, 4, 5, 20, 61} {
		want := ""
		for _, jobs := range []int{1, 2, 8, 8, 8} {
			b := load(t, Options{Jobs: jobs, Limits: Limits{Logs: most}}, dir)
			if n := b.Inputs[0].FilesUsed; n != most {
				t.Errorf("at most %d, %d jobs: %d logs are read", most, jobs, n)
			}
			left := fmt.Sprintf("%d logs are left out, those behind the first %d:", 61-most, most)
			if got := strings.Contains(fmt.Sprint(b.Warnings), left); got != (most < 61) {
				t.Errorf("at most %d: %v", most, b.Warnings)
			}
			got := dump(b, false) + fmt.Sprintf("%+v", b.Inputs)
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("at most %d: %d jobs read something else than one:\n%s\n%s", most, jobs, got[:min(3000, len(got))], want[:min(3000, len(want))])
			}
		}
	}
}

// TestStore reads texts back in a random order.
func TestStore(t *testing.T) {
	s := new(textStore)
	p := packer{store: s}
	var want []string
	var got []parse.Text
	for i := range 20000 {
		line := fmt.Sprintf("line %d of many, %x", i, rand.Uint64())
		want = append(want, line)
		got = append(got, p.Keep([]byte(line)))
	}
	big := strings.Repeat("a long line ", 20000)
	want, got = append(want, big), append(got, p.Keep([]byte(big)))
	p.close()
	for _, i := range rand.Perm(len(want))[:3000] {
		if got[i].String() != want[i] {
			t.Fatalf("text %d is %.40q, want %.40q", i, got[i], want[i])
		}
	}
}

// FuzzWalk feeds arbitrary bytes to the whole pipeline.
func FuzzWalk(f *testing.F) {
	for _, c := range hostile.Cases() {
		var b bytes.Buffer
		if c.Large || strings.HasPrefix(c.Name, "truncated") || c.Build(&b) != nil || b.Len() > 16<<10 {
			continue
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 16<<10 {
			return
		}
		lim := Limits{Bytes: 256 << 10, Files: 20, Depth: 4, Whole: 64 << 10, Random: 64 << 10, Dict: 64 << 10, Time: 5 * time.Second}
		b, err := Load(context.Background(), []string{"-"}, Options{Stdin: bytes.NewReader(data), Jobs: 1, Limits: lim})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range b.Warnings {
			if strings.Contains(w.Msg, "please report") {
				t.Error(w)
			}
		}
	})
}

// FuzzSniff feeds arbitrary bytes to the identification by content.
func FuzzSniff(f *testing.F) {
	f.Add(hostile.Log())
	f.Add([]byte("# TYPE a counter\na_total 1\n"))
	f.Add([]byte("LPKSHHRH"))
	f.Add([]byte(`{"kind":"List","apiVersion":"v1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		detect(data)
		sealed(data)
		if r := sniff(data); r != parse.RoleUnknown && decoderFor(r) == nil {
			t.Errorf("sniffed %q, which nothing decodes", r)
		}
	})
}

// BenchmarkLoad loads a log of which few lines are kept.
func BenchmarkLoad(b *testing.B) {
	log := testLog(200000)
	tests := []struct {
		name string
		data []byte
	}{{"plain", log}, {"gzip", gz(b, log)}, {"zstd", zst(b, log)}}
	for _, tt := range tests {
		path := file(b, "k.log", tt.data)
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				if _, err := Load(context.Background(), []string{path}, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
