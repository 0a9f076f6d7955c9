package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestImpatient: a file of size 0 that never ends times out with an error that says
// so.
func TestImpatient(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe() // no data ever comes
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	fi, err := r.Stat()
	if err != nil {
		t.Fatal(err)
	}
	Impatient(r, fi)
	stuck := time.AfterFunc(2*patience, func() { w.Close() })
	defer stuck.Stop()
	if _, err = io.ReadAll(r); err == nil || !strings.Contains(Told(err).Error(), "gave no end within 5s") {
		t.Errorf("a file that gives nothing: %v", err)
	}
}

// TestKernelLog reads /proc/kmsg, a regular file that never ends.
func TestKernelLog(t *testing.T) {
	t.Parallel()
	const endless = "/proc/kmsg"
	f, err := os.OpenFile(endless, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Skip(err)
	}
	f.Close()
	ctx, stop := context.WithTimeout(t.Context(), 4*patience)
	defer stop()
	b, err := Load(ctx, []string{endless}, Options{})
	// Kernel messages read until then are decoded and may give warnings.
	if err != nil || strings.Count(fmt.Sprint(b.Warnings), "gave no end within 5s") != 1 {
		t.Errorf("%v, %v", err, b.Warnings)
	}
}

// TestOpenFile: files besides the inputs that never begin or never end are given up, and
// a FIFO with a writer is read.
func TestOpenFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if f, err := OpenFile(path); err == nil || !strings.Contains(err.Error(), "nobody opened for writing") {
		t.Errorf("a FIFO without a writer: %v, %v", f, err)
	}
	for _, ends := range []bool{true, false} {
		w, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		f, err := OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fmt.Fprint(w, "line")
		if ends {
			w.Close()
		}
		if b, err := io.ReadAll(f); string(b) != "line" || ends != (err == nil) || err != nil && !strings.Contains(Told(err).Error(), "gave no end") {
			t.Errorf("ends %v: %q, %v", ends, b, err)
		}
	}
	if _, err := OpenFile(os.DevNull); err == nil || !strings.Contains(err.Error(), "is a device") {
		t.Errorf("a device: %v", err)
	}
}

// TestToldLimits: errors from process limits name the limit.
func TestToldLimits(t *testing.T) {
	for err, want := range map[error]string{syscall.EMFILE: "ulimit -n", syscall.ENFILE: "ulimit -n", syscall.ENOMEM: "ulimit -v"} {
		if got := Told(&os.PathError{Op: "open", Path: "x", Err: err}).Error(); !strings.Contains(got, want) {
			t.Errorf("%v: %s", err, got)
		}
	}
	if other := errors.New("other"); Told(other) != other {
		t.Error("another error is worded anew")
	}
}
