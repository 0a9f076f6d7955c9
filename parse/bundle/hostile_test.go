//go:build unix

package bundle

import (
	"bufio"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/hostile"
	"github.com/plegforensics/plegforensics/parse"
)

// Bounds for one hostile archive, read by a separate process. CPU time is used
// because wall time grows when other work shares the cores.
const (
	hostileTime = 10 * time.Second
	hostileRSS  = 512 << 10 // KiB, peak resident size
)

// hostileInput is the environment variable with the archive that TestHostileChild
// reads. The child prints hostileResult, the number of events and its peak memory.
const (
	hostileInput  = "PLEGFORENSICS_HOSTILE"
	hostileResult = "result:"
)

// TestHostile loads every archive of the corpus, in bounded time and memory, with a
// warning, without writing to disk and without losing readable content.
func TestHostile(t *testing.T) {
	for _, c := range hostile.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if c.Large && testing.Short() {
				t.Skip("takes long")
			}
			dir := t.TempDir()
			path := filepath.Join(dir, c.Name)
			write(t, path, c)
			before := tree(t, dir)
			if !testing.Short() {
				checkCost(t, c, path)
			}
			checkHostile(t, c, load(t, Options{newLines: logLines0}, path))
			if after := tree(t, dir); after != before {
				t.Errorf("files before %q, after %q", before, after)
			}
		})
	}
}

// checkCost reads the archive in another process, with the built-in signatures, and
// checks its cost against the bounds.
func checkCost(t *testing.T, c hostile.Case, path string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHostileChild$")
	cmd.Env = append(os.Environ(), hostileInput+"="+path)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var events, rss int64
	_, result, _ := strings.Cut(string(out), hostileResult)
	if n, _ := fmt.Sscan(result, &events, &rss); n != 2 {
		t.Fatalf("no result: %s", out)
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t.Logf("%v of processor time, %d MiB resident", cpu, rss>>10)
	if !raceDetector && (cpu > hostileTime || rss > hostileRSS) {
		t.Errorf("more than %v or %d MiB", hostileTime, hostileRSS>>10)
	}
	if events == 0 && c.Lines == hostile.LogLines {
		t.Errorf("nothing of the readable log was analysed: %s", out)
	}
}

// TestHostileChild is the process that TestHostile measures.
func TestHostileChild(t *testing.T) {
	path := os.Getenv(hostileInput)
	if path == "" {
		t.Skip("started by TestHostile")
	}
	b, err := Load(context.Background(), []string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(hostileResult, len(b.Events), peakRSS())
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

// logLines0 keeps the lines of the readable log and drops all others; bombs hold
// many lines.
func logLines0(f *parse.File, head []byte) lineDecoder { return onlyLog{newKeepAll(f, head).(keepAll)} }

type onlyLog struct{ keepAll }

func (o onlyLog) Decode(r run) (any, int) {
	res, lines := o.keepAll.Decode(r)
	events := res.([]*parse.Event)
	kept := events[:0]
	for _, e := range events {
		if strings.Contains(e.Text().String(), "kubelet[812]: I0313") {
			kept = append(kept, e)
		}
	}
	return kept, lines
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

// tree lists the files in and beside dir.
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

// TestNeverWrites checks that the package uses only reading functions of package
// os; one file may create temporary files outside the input.
func TestNeverWrites(t *testing.T) {
	allowed := map[string]bool{
		"Open": true,
		"Stat": true, "OpenFile": true, "OpenRoot": true, "O_RDONLY": true, "ErrDeadlineExceeded": true, "File": true, "Root": true,
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
				// Large database files of an archive are spooled to unlinked files.
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
