package output

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	got := make(chan string, 1)
	go func() {
		b, err := os.ReadFile(path)
		got <- fmt.Sprint(string(b), err)
	}()
	put(t, path, "through the pipe", false)
	if s := <-got; s != "through the pipe<nil>" {
		t.Errorf("the reader got %q", s)
	}
	if modeOf(t, path)&fs.ModeNamedPipe == 0 {
		t.Error("the FIFO was replaced")
	}
}

// TestFIFOWithoutReader: waiting for a reader ends with the context.
func TestFIFOWithoutReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	f, err := NewSet(io.Discard).Claim("--output text="+path, path, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer stop()
	if err := f.Write(ctx, text("x")); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestDescriptor: /dev/fd/N is written at its current offset, whatever it refers to; claiming it
// twice is refused.
func TestDescriptor(t *testing.T) {
	file, err := os.OpenFile(filepath.Join(t.TempDir(), "x"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString("head "); err != nil {
		t.Fatal(err)
	}
	put(t, fmt.Sprintf("/dev/fd/%d", file.Fd()), "tail", false)
	holds(t, file.Name(), "head tail")

	s := NewSet(io.Discard)
	for i, path := range []string{fmt.Sprintf("/dev/fd/%d", file.Fd()), fmt.Sprintf("/proc/self/fd/%d", file.Fd()), file.Name()} {
		if _, err := s.Claim("--output text="+path, path, false); (err == nil) != (i == 0) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestDevices: a device that cannot be written gives an error, and is never replaced.
func TestDevices(t *testing.T) {
	null, full := device(t, 3), device(t, 7)
	put(t, null, "gone", false)
	if modeOf(t, null)&fs.ModeDevice == 0 {
		t.Fatal("the null device was replaced")
	}
	f, err := NewSet(io.Discard).Claim("--output text="+full, full, false)
	if err != nil {
		t.Fatal(err)
	}
	var e *Error
	if err := f.Write(context.Background(), text("x")); !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &e) {
		t.Errorf("a full disk: %v", err)
	} else if e.Error() != "--output text="+full+": no space left on device" {
		t.Error(e)
	}
	s := NewSet(io.Discard)
	for range 2 { // it may be shared
		if _, err := s.Claim("--output text="+os.DevNull, os.DevNull, false); err != nil {
			t.Error(err)
		}
	}
}

// device returns a memory device: a private copy for root, who could otherwise damage the machine.
func device(t *testing.T, minor int) string {
	t.Helper()
	if os.Geteuid() != 0 {
		return map[int]string{3: "/dev/null", 7: "/dev/full"}[minor]
	}
	path := filepath.Join(t.TempDir(), "device")
	if err := syscall.Mknod(path, syscall.S_IFCHR|0o666, 1<<8|minor); err != nil {
		t.Skip(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err) // a file system without devices
	}
	f.Close()
	return path
}
