package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestImpatient: what has no size and gives no end is given up, and told.
func TestImpatient(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe() // open at the other end, and nothing comes
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

// TestKernelLog reads what never ends but is a file.
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
	// What the kernel had to say until then is read too, and may be warned of.
	if err != nil || strings.Count(fmt.Sprint(b.Warnings), "gave no end within 5s") != 1 {
		t.Errorf("%v, %v", err, b.Warnings)
	}
}

// TestToldLimits: the limits of a process are named where they are hit.
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
