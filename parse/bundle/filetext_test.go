package bundle

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/hostile"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/logs"
)

// longHostile returns 40 copies of a log with many matching lines, each an hour
// after the one before.
func longHostile() (out []byte) {
	for i := range 40 {
		head := []byte(fmt.Sprintf("Mar %02d %02d:", 13+i/24, i%24))
		log := bytes.ReplaceAll(hostile.Log(), []byte("Mar 13 15:"), head)
		out = append(out, bytes.ReplaceAll(log, []byte("I0313 15:"), []byte(fmt.Sprintf("I03%02d %02d:", 13+i/24, i%24)))...)
	}
	return out
}

// loadPlaced loads a log with the built-in signatures so that its lines are read
// again from the file.
func loadPlaced(t testing.TB, path string) *parse.Bundle {
	t.Helper()
	return load(t, Options{plainRun: 500, placesLeast: 1, newLines: textLogs(logs.Builtin())}, path)
}

func reread(e *parse.Event) bool { return strings.Contains(e.Quote(), "was changed") }

// TestPlacedChanges changes a log after it was read: lines that are unchanged are
// quoted, all others are reported as changed.
func TestPlacedChanges(t *testing.T) {
	log := longHostile()
	path := file(t, "kubelet.log", log)
	changed := bytes.Clone(log)
	for name, write := range map[string]func(){
		"grows":      func() { os.WriteFile(path, append(bytes.Clone(log), "more\n"...), 0o644) },
		"is cut":     func() { os.Truncate(path, int64(len(log)/2)) },
		"is written": func() { copy(changed[len(log)/2:], log[1:]); os.WriteFile(path, changed, 0o644) },
		"is emptied": func() { os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			os.WriteFile(path, log, 0o644)
			b := loadPlaced(t, path)
			write()
			now, _ := os.ReadFile(path)
			lost := 0
			for _, e := range b.Events {
				want := log[e.Offset : e.Offset+int64(e.Text().Len())]
				if e.Offset+int64(len(want)) <= int64(len(now)) && bytes.Equal(want, now[e.Offset:][:len(want)]) {
					if e.Quote() != string(want) || !strings.HasSuffix(string(want), e.Message()) {
						t.Fatalf("%v is quoted %q, message %q", e.Where(), e.Quote(), e.Message())
					}
					continue
				}
				lost++
				if !reread(e) || e.Message() != e.Quote() || !strings.Contains(e.Quote(), "kubelet.log") {
					t.Fatalf("%v is quoted %q, but %q was decoded", e.Where(), e.Quote(), want)
				}
			}
			for _, c := range b.Coverage {
				for _, m := range []parse.Mark{c.FirstLine, c.LastLine} {
					want := string(log[m.Offset : m.Offset+int64(m.Text.Len())])
					there := m.Offset+int64(len(want)) <= int64(len(now)) && want == string(now[m.Offset:][:len(want)])
					if got := m.Text.String(); got != want && there || !strings.Contains(got, "was changed") && !there {
						t.Errorf("%v is quoted %q", m.Pos, got)
					}
				}
			}
			if lost == len(b.Events) != (name == "is emptied") || lost == 0 != (name == "grows") {
				t.Errorf("%d of %d lines cannot be quoted", lost, len(b.Events))
			}
		})
	}
}

// TestPlacedOrders reads the lines of a log in several orders.
func TestPlacedOrders(t *testing.T) {
	log := longHostile()
	b := loadPlaced(t, file(t, "kubelet.log", log))
	check := func(i int) {
		if e := b.Events[i]; !bytes.HasPrefix(log[e.Offset:], []byte(e.Quote())) || e.Text().Len() == 0 {
			t.Errorf("%v is quoted %q", e.Where(), e.Quote())
		}
	}
	n := len(b.Events)
	for i := range n {
		check(i)
	}
	for i := range n {
		check(n - 1 - i)
	}
	for i := range n {
		check(i * 7919 % n)
	}
}

// openFiles counts the open file descriptors of the process below dir.
func openFiles(t *testing.T, dir string) (n int) {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", fd.Name())); err == nil && strings.HasPrefix(to, dir) {
			n++
		}
	}
	return n
}

// TestPlacedClose loads more logs than may be open: lines of the excess logs are
// kept in memory, and all files are closed once no text refers to them.
func TestPlacedClose(t *testing.T) {
	dir := t.TempDir()
	for i := range maxOpen + 10 {
		os.WriteFile(filepath.Join(dir, "kubelet.log."+string(rune('A'+i))), bytes.Repeat(hostile.Log(), 3), 0o644)
	}
	os.WriteFile(filepath.Join(dir, "quiet.log"), bytes.Repeat([]byte("Nov 20 23:58:43 node-7 systemd[1]: Started Session 4 of user root.\n"), 1000), 0o644)
	waitClosed(t) // files of other tests
	b := loadPlaced(t, dir)
	if n := openFiles(t, dir); n == 0 || n > maxOpen {
		t.Errorf("%d files are open", n)
	}
	for _, e := range b.Events {
		if reread(e) {
			t.Fatal(e.Quote())
		}
	}
	b = nil
	waitClosed(t)
	if n := openFiles(t, dir); n > 0 {
		t.Errorf("%d files stay open", n)
	}
}

// waitClosed waits until no log is open any more.
func waitClosed(t *testing.T) {
	t.Helper()
	for begin := time.Now(); openLogs.Load() > 0; runtime.GC() {
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("%d logs stay open", openLogs.Load())
		}
	}
}
