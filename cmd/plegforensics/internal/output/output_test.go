package output

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// put claims and writes one output.
func put(t *testing.T, path, s string, private bool) {
	t.Helper()
	f, err := NewSet(io.Discard).Claim("--output text="+path, path, private)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(context.Background(), text(s)); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s: %q, %v; want %q", path, got, err, want)
	}
}

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	st, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st.Mode()
}

// TestSynced: data is synced to disk before the file is renamed, and a file that could not be
// synced is not renamed.
func TestSynced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	put(t, path, "old", false)
	defer func() { syncFile = (*os.File).Sync }()
	synced := 0
	syncFile = func(f *os.File) error {
		synced++
		holds(t, path, "old")
		holds(t, f.Name(), "new")
		return nil
	}
	put(t, path, "new", false)
	holds(t, path, "new")
	if synced != 1 {
		t.Errorf("synced %d times", synced)
	}
	broken := errors.New("broken disk")
	syncFile = func(*os.File) error { return broken }
	f, err := NewSet(io.Discard).Claim("--output text="+path, path, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(context.Background(), text("newer")); !errors.Is(err, broken) {
		t.Errorf("a disk that breaks: %v", err)
	}
	holds(t, path, "new")
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	dir := t.TempDir()
	plain, old, secret, leak := filepath.Join(dir, "plain"), filepath.Join(dir, "old"), filepath.Join(dir, "secret"), filepath.Join(dir, "leak")
	probe := filepath.Join(dir, "probe")
	for path, mode := range map[string]fs.FileMode{probe: 0o666, old: 0o640, leak: 0o644} {
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(old, 0o640); err != nil {
		t.Fatal(err)
	}
	put(t, plain, "a", false)
	put(t, old, "b", false)
	put(t, secret, "c", true)
	put(t, leak, "d", true)
	for path, want := range map[string]fs.FileMode{plain: modeOf(t, probe), old: 0o640, secret: 0o600, leak: 0o600} {
		if got := modeOf(t, path); got != want {
			t.Errorf("%s: mode %v, want %v", filepath.Base(path), got, want)
		}
	}
	holds(t, old, "b")
}

func TestSymlinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"there": "real/there", "dangling": "real/new", "folder": "real"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	put(t, filepath.Join(dir, "real", "there"), "old", false)
	put(t, filepath.Join(dir, "there"), "a", false)
	put(t, filepath.Join(dir, "dangling"), "b", false)
	put(t, filepath.Join(dir, "folder", "c"), "c", false)
	holds(t, filepath.Join(dir, "real", "there"), "a")
	holds(t, filepath.Join(dir, "real", "new"), "b")
	holds(t, filepath.Join(dir, "real", "c"), "c")
	for _, link := range []string{"there", "dangling", "folder"} {
		if modeOf(t, filepath.Join(dir, link))&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", link)
		}
	}
}

// TestRefused: what cannot be written is found when it is claimed, and the error names it as the
// user did.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("sub", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("x", "alias"); err != nil {
		t.Skip(err)
	}
	s := NewSet(io.Discard)
	if _, err := s.Claim("--output json="+"x", "x", false); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim("--partial -", "-", false); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"":            "--output html=: no path given",
		"sub":         "--output html=sub: is a directory",
		"sub/":        "--output html=sub/: is a directory",
		"no/where":    "--output html=no/where: the directory no does not exist",
		"new/":        "--output html=new/: names a directory that does not exist",
		"x":           "--output html=x: --output json=x writes to the same place",
		"./sub/../x":  "--output html=./sub/../x: --output json=x writes to the same place",
		"alias":       "--output html=alias: --output json=x writes to the same place",
		"-":           "--output html=-: standard output takes one output, and --partial - has it",
		"/dev/stdout": "--output html=/dev/stdout: standard output takes one output, and --partial - has it",
	} {
		if strings.HasPrefix(path, "/dev") && runtime.GOOS == "windows" {
			continue
		}
		_, err := s.Claim("--output html="+path, path, false)
		var e *Error
		if !errors.As(err, &e) || err.Error() != want {
			t.Errorf("%q: %v, want %s", path, err, want)
		}
	}
	if left, _ := os.ReadDir("."); len(left) != 2 {
		t.Errorf("claims left %v", left)
	}
}

// TestNothingHalf: a failed output leaves the old file, and no temporary one.
func TestNothingHalf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	put(t, path, "whole", false)
	f, err := NewSet(io.Discard).Claim("--output text="+path, path, false)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err = f.Write(context.Background(), func(w io.Writer) error {
		_ = text("half")(w) // succeeds
		return broken
	})
	if !errors.Is(err, broken) || f.Written() {
		t.Errorf("error %v, written %v", err, f.Written())
	}
	holds(t, path, "whole")
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestReadOnlyDirectory: a writable file in a read-only directory is overwritten in place.
func TestReadOnlyDirectory(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("everything may be written")
	}
	path := filepath.Join(t.TempDir(), "x")
	put(t, path, "something long", false)
	if err := os.Chmod(filepath.Dir(path), 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Dir(path), 0o755) // so that it can be removed
	put(t, path, "short", false)
	holds(t, path, "short")
	if _, err := NewSet(io.Discard).Claim("--output text="+path+"2", path+"2", false); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a new file: %v", err)
	}
}
