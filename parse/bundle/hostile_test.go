//go:build unix

package bundle

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/hostile"
	"github.com/plegforensics/plegforensics/parse"
)

// Bounds for one hostile archive. The time is twice what is asked for on a
// quiet machine: processor time stretches when other work shares the cores.
const (
	hostileTime = 20 * time.Second
	hostileHeap = 320 << 20
)

// TestHostile loads every archive of the corpus, as a file and, for some, from
// standard input: quickly, in bounded memory, with a warning, leaving no trace
// on disk, and without losing what is readable.
func TestHostile(t *testing.T) {
	for _, c := range hostile.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if c.Large && os.Getenv("HOSTILE") != "all" {
				t.Skip("takes long; HOSTILE=all runs it")
			}
			dir := t.TempDir()
			path := filepath.Join(dir, c.Name)
			write(t, path, c)
			before := tree(t, dir)
			begin := cpuTime(t)
			peak := watchHeap()
			b := load(t, Options{newLines: logLines0}, path)
			if heap := peak(); heap > hostileHeap {
				t.Errorf("heap grew to %d MiB", heap>>20)
			}
			if d := cpuTime(t) - begin; d > hostileTime {
				t.Errorf("took %v", d)
			}
			if after := tree(t, dir); after != before {
				t.Errorf("files before %q, after %q", before, after)
			}
			checkHostile(t, c, b)
		})
	}
}

func checkHostile(t *testing.T, c hostile.Case, b *parse.Bundle) {
	t.Helper()
	if len(b.Warnings) == 0 && !c.Quiet {
		t.Error("no warning")
	}
	for _, w := range b.Warnings {
		if w.File == nil || w.Msg == "" {
			t.Errorf("warning without a place: %+v", w)
		}
		if strings.Contains(w.Msg, "please report") {
			t.Errorf("a decoder failed: %v", w)
		}
	}
	if n := len(b.Events); n < c.Lines {
		t.Errorf("%d lines of the readable log found, want %d\nwarnings %v", n, c.Lines, b.Warnings)
	}
}

// logLines0 keeps the lines of the readable log and drops all others: bombs
// hold many lines that nobody would keep.
func logLines0(f *parse.File, head []byte) lineDecoder { return onlyLog{keepAll{f}} }

type onlyLog struct{ keepAll }

func (o onlyLog) Decode(r run) any {
	events := o.keepAll.Decode(r).([]*parse.Event)
	kept := events[:0]
	for _, e := range events {
		if strings.Contains(e.Text.String(), "kubelet[812]: I0313") {
			kept = append(kept, e)
		}
	}
	return kept
}

func write(t *testing.T, path string, c hostile.Case) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := c.Build(w); err != nil {
		t.Fatal(err)
	}
	w.Flush()
	f.Close()
}

// cpuTime is what the process has computed so far. Unlike the wall clock it
// does not depend on what else the machine does.
func cpuTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// tree lists what lies in and beside dir.
func tree(t *testing.T, dir string) string {
	var s strings.Builder
	for _, root := range []string{filepath.Dir(dir), "."} {
		filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err == nil {
				s.WriteString(p + "\n")
			}
			return nil
		})
	}
	for _, p := range []string{"/tmp/escaped", "/etc/cron.d/escaped", "/etc/escaped", "/escaped"} {
		if _, err := os.Lstat(p); err == nil {
			t.Errorf("%s was written", p)
		}
	}
	return s.String()
}

// watchHeap samples the heap until the returned function is called, which
// tells by how much it grew at most.
func watchHeap() func() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	base, peak := m.HeapInuse, m.HeapInuse
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse)
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-done
		return peak - base
	}
}

// TestNeverWrites holds the package to the functions of os that only look; one
// file may make scratch files outside the input.
func TestNeverWrites(t *testing.T) {
	allowed := map[string]bool{
		"Stat": true, "OpenFile": true, "OpenRoot": true, "O_RDONLY": true, "File": true, "Root": true,
	}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	uses := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "os" {
				uses++
				// Large database files of an archive wait in nameless files.
				scratch := name == "spool.go" && (sel.Sel.Name == "CreateTemp" || sel.Sel.Name == "Remove")
				if !allowed[sel.Sel.Name] && !scratch {
					t.Errorf("%v: os.%s: this package must not touch the disk but to read", set.Position(sel.Pos()), sel.Sel.Name)
				}
			}
			return true
		})
	}
	if uses == 0 {
		t.Error("no use of package os found: the test looks in the wrong place")
	}
}
