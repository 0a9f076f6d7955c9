package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/internal/fleet"
)

// TestOutDirBusy: concurrent runs in one --out-dir are refused, shards of one run are not, and a
// finished run leaves the directory free.
func TestOutDirBusy(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no locks")
	}
	dir, out := fleetOf(t, 2), t.TempDir()
	one := func(want int, args ...string) {
		t.Helper()
		cmd := process(append([]string{"batch", dir, "--quiet", "-o", "json", "--report", "json", "--out-dir", out}, args...)...)
		msg, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("%v: exit %d, want %d: %v %.200s", args, code, want, err, msg)
		}
		if want != 0 && !strings.Contains(string(msg), "is at work there") {
			t.Errorf("%v: %s", args, msg)
		}
	}
	held, err := holdOutDir(out, fleet.Shard{})
	if err != nil {
		t.Fatal(err)
	}
	one(exitUsage)
	one(exitUsage, "--shard", "1/2")
	held.free()
	one(0)
	if held, err = holdOutDir(out, fleet.Shard{Index: 1, Of: 2}); err != nil {
		t.Fatal(err)
	}
	one(exitUsage)
	one(exitUsage, "--shard", "1/2")
	one(0, "--shard", "2/2")
	held.free()
	one(0)
}

// TestOutDirHalves: the next run removes half-written files of a killed run.
func TestOutDirHalves(t *testing.T) {
	out := t.TempDir()
	halves := []string{".node-0001.html.ABCDEF23.tmp", ".records/.0123.json.ABCDEFGH.tmp"}
	if err := os.MkdirAll(filepath.Join(out, ".records"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(halves, ".mine.tmp", "notes.tmp") {
		if err := os.WriteFile(filepath.Join(out, name), []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "batch", fleetOf(t, 1), "-o", "json", "--report", "json", "--out-dir", out)
	for _, name := range halves {
		if _, err := os.Stat(filepath.Join(out, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s stays: %v", name, err)
		}
	}
	for _, name := range []string{".mine.tmp", "notes.tmp"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Errorf("%s is gone, which no run wrote", name)
		}
	}
}

// TestOutDirMade: outputs may be in a directory that the run creates; a refused run leaves no
// directory behind.
func TestOutDirMade(t *testing.T) {
	bundles, top := fleetOf(t, 1), t.TempDir()
	out := filepath.Join(top, "a", "b")
	refused := []string{"batch", "--quiet", bundles, "--out-dir", out, "-o", "html=" + filepath.Join(out, "no", "fleet.html")}
	if code, _, errs := status(t, refused...); code != exitUsage || !strings.Contains(errs, "does not exist") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if left, _ := os.ReadDir(top); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	must(t, "batch", "--quiet", bundles, "--out-dir", out, "-o", "html="+filepath.Join(out, "fleet.html"), "-o", "json="+filepath.Join(top, "a", "fleet.json"))
	for _, name := range []string{"b/fleet.html", "fleet.json"} {
		if _, err := os.Stat(filepath.Join(top, "a", name)); err != nil {
			t.Error(err)
		}
	}
}

// TestReportLost: each report that cannot be written is named with its path, and the run ends with
// exitOutput whatever a gate says; the other reports are written. TestOutputsAsRoot does the same
// on a full disk.
func TestReportLost(t *testing.T) {
	bundles, out := fleetOf(t, 3), t.TempDir()
	args := []string{"batch", bundles, "--report", "json", "--out-dir", out, "--fail-on", "episodes>0"}
	status(t, args...)
	reports := glob(t, out, "*.json")
	if len(reports) != 3 {
		t.Fatalf("reports: %v", reports)
	}
	for i, path := range reports {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if i < 2 {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	code, _, errs := status(t, args...)
	if code != exitOutput || !strings.Contains(errs, "not written: 2 files") {
		t.Errorf("exit %d: %s", code, errs)
	}
	for _, path := range reports[:2] {
		if !strings.Contains(errs, filepath.Base(path)+": is a directory") {
			t.Errorf("%s is not named: %s", path, errs)
		}
	}
	if st, err := os.Stat(reports[2]); err != nil || st.Size() == 0 {
		t.Errorf("the report that could be written: %v", err)
	}
}

// TestOutDirLinks: symbolic links in an out-dir are not followed: a report replaces a link, also
// with --resume, and a .records or lock file that is a link is refused.
func TestOutDirLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	bundles, out := fleetOf(t, 1), t.TempDir()
	args := []string{"batch", "--quiet", bundles, "--report", "json", "-o", "json", "--out-dir", out}
	must(t, args...)
	report := glob(t, out, "*.json")[0]
	written, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	precious := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(precious, []byte("precious"), 0o640); err != nil {
		t.Fatal(err)
	}
	link := func(to, path string) {
		t.Helper()
		if err := errors.Join(os.RemoveAll(path), os.Symlink(to, path)); err != nil {
			t.Fatal(err)
		}
	}
	for _, more := range [][]string{nil, {"--resume"}} {
		for _, path := range []string{report, glob(t, out, ".records/*.json")[0]} {
			link(precious, path)
			must(t, append(args, more...)...)
			if got, _ := os.ReadFile(precious); string(got) != "precious" {
				t.Errorf("%v: written through the link %s: %.100s", more, path, got)
			}
			if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() {
				t.Errorf("%v: %s is no file: %v", more, path, err)
			}
			if got, _ := os.ReadFile(report); string(got) != string(written) {
				t.Errorf("%v: the report has %d bytes, want %d", more, len(got), len(written))
			}
		}
	}
	for _, name := range []string{".records/lock", ".records"} {
		elsewhere := t.TempDir()
		to := elsewhere
		if name != ".records" {
			to = filepath.Join(elsewhere, "new")
		}
		link(to, filepath.Join(out, name))
		if code, _, errs := status(t, args...); code != exitUsage || !strings.Contains(errs, "is a link") {
			t.Errorf("%s: exit %d: %s", name, code, errs)
		}
		if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
			t.Errorf("%s: written through it: %v", name, left)
		}
	}
}

// TestResumeCut: a bundle whose report has changed since it was written is analyzed again.
func TestResumeCut(t *testing.T) {
	bundles, out := fleetOf(t, 2), t.TempDir()
	args := []string{"batch", bundles, "--report", "json", "-o", "json", "--out-dir", out}
	must(t, args...)
	report := glob(t, out, "*.json")[0]
	whole, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(report, 500); err != nil {
		t.Fatal(err)
	}
	if _, _, errs := status(t, append(args, "--resume")...); !strings.Contains(errs, ", 1 of them by an earlier run") {
		t.Errorf("with a report that is cut: %s", errs)
	}
	if got, _ := os.ReadFile(report); string(got) != string(whole) {
		t.Errorf("the report has %d bytes, want %d", len(got), len(whole))
	}
	if _, _, errs := status(t, append(args, "--resume")...); !strings.Contains(errs, ", 2 of them by an earlier run") {
		t.Errorf("with whole reports: %s", errs)
	}
}
