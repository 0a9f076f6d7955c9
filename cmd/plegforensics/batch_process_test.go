package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/fixtures"
)

// process returns a command that runs the program in a process of its own.
func process(args ...string) *exec.Cmd {
	cmd := exec.Command("plegforensics", args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	return cmd
}

// TestBatchKilled kills runs at random times and resumes them. The final report must equal that of
// an undisturbed run byte for byte, and no finished bundle may be analyzed again.
func TestBatchKilled(t *testing.T) {
	dir, _ := deadServer(t)
	if err := os.WriteFile(filepath.Join(dir, "broken.tar.gz"), []byte("\x1f\x8b\x08 no"), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"batch", dir, "-o", "json", "--quiet", "-j", "2", "--report", "junit", "--report", "json", "--out-dir"}
	whole := t.TempDir()
	began := time.Now()
	want, err := process(append(args, whole)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	seeds, kills := uint64(3), 5
	if testing.Short() {
		seeds, kills = 1, 2
	}
	for seed := range seeds {
		out := t.TempDir()
		r := rand.New(rand.NewPCG(seed, 8))
		done := map[string]fs.FileInfo{}
		for range kills {
			cmd := process(append(args, out, "--resume")...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(r.Int64N(int64(took))))
			_ = cmd.Process.Kill() // may have exited already
			_ = cmd.Wait()
			unchanged(t, out, done)
		}
		got, err := process(append(args, out, "--resume")...).Output()
		if err != nil {
			t.Fatal(err)
		}
		unchanged(t, out, done)
		if !bytes.Equal(got, want) {
			t.Errorf("seed %d: the report differs:\n%s\nwant\n%s", seed, got, want)
		}
		if len(done) != 21 {
			t.Errorf("seed %d: %d records", seed, len(done))
		}
		sameReports(t, whole, out)
	}
}

// unchanged adds the records of finished bundles to done, and checks that those already there are
// still the same files.
func unchanged(t *testing.T, out string, done map[string]fs.FileInfo) {
	t.Helper()
	for _, path := range glob(t, out, ".records/*.json") {
		if strings.HasPrefix(filepath.Base(path), ".") {
			continue // was being written when the run was killed
		}
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if old := done[path]; old != nil && (!os.SameFile(old, st) || !old.ModTime().Equal(st.ModTime())) {
			t.Errorf("%s was analysed twice", path)
		}
		done[path] = st
	}
}

// sameReports checks that the reports of each bundle are equal in both directories.
func sameReports(t *testing.T, a, b string) {
	t.Helper()
	names := glob(t, a, "[a-z]*")
	if len(names) != 42 {
		t.Errorf("%d reports", len(names))
	}
	for _, path := range names {
		x, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		y, err := os.ReadFile(filepath.Join(b, filepath.Base(path)))
		if err != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs: %v", filepath.Base(path), err)
		}
	}
}

// TestBatchInterrupted: an interrupt ends a run quickly, with the documented exit status and
// without partial files.
func TestBatchInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupts between processes")
	}
	dir, out := fleetOf(t, 200), t.TempDir()
	path := filepath.Join(out, "fleet.json")
	cmd := process("batch", dir, "-o", "json="+path, "--quiet", "-j", "1", "--report", "html", "--out-dir", out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if len(glob(t, out, "*.html")) > 2 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	sent := time.Now()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
	if took := time.Since(sent); took > 10*time.Second { // a second on an idle machine
		t.Errorf("it took %s", took)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a fleet report of a part of the fleet was written")
	}
	if left := glob(t, out, ".[a-z]*.*"); len(left) > 1 { // .records
		t.Errorf("left behind: %v", left)
	}
}

// fleetOf writes n unrelated bundles and returns their directory.
func fleetOf(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		name := fmt.Sprintf("node-%04d", i)
		inc := fixtures.Incident{Node: name, Version: "v1.28.4", PID: 1200 + i, Zone: time.UTC, Start: time.Date(2026, 3, 1, 12, i, 0, 0, time.UTC)}
		log := inc.Log(fixtures.Short)
		if i%4 != 0 {
			log = well(log)
		}
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "messages"), []byte(log), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
