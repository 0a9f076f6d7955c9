package output

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Writer is an output that is being written. A regular file takes its name when
// it is committed.
type Writer struct {
	f    *File
	to   io.Writer
	file *os.File // nil for standard output and for a copy in memory
	buf  *bytes.Buffer
	err  error
}

// Write writes the output whole, or returns an error that names it and leaves
// what was there before.
func (f *File) Write(ctx context.Context, write func(io.Writer) error) error {
	w, err := f.Create(ctx)
	if err != nil {
		return err
	}
	if err := write(w); err != nil {
		w.Abandon()
		if w.err != nil && !f.Stdout() {
			return f.wrap(err)
		}
		return err
	}
	return w.Commit()
}

// Create begins the output. End it with Commit or Abandon.
func (f *File) Create(ctx context.Context) (*Writer, error) {
	w := &Writer{f: f}
	var err error
	switch {
	case f.kind == standard:
		w.to = f.set.stdout
		return w, nil
	case f.kind == descriptor:
		w.file = f.dup
	case f.kind == inPlace:
		w.file, err = openWait(ctx, f.path)
	case f.only:
		w.buf = &bytes.Buffer{}
		w.to = w.buf
		return w, nil
	default:
		if w.file, err = f.beside(); err == nil {
			f.temp = w.file.Name()
		}
	}
	if err != nil {
		return nil, f.wrap(err)
	}
	w.to = w.file
	return w, nil
}

// openWait opens a FIFO or device for writing. A FIFO waits for its reader, as
// long as nobody interrupts.
func openWait(ctx context.Context, path string) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if err != nil {
		w.err = err
	}
	return n, err
}

// Abandon drops what was written. Calling it after Commit does nothing.
func (w *Writer) Abandon() {
	if w.file != nil {
		_ = w.file.Close() // the error that led here is the one to tell
		w.file = nil
	}
	w.f.discard()
}

// discard removes the file that was being written.
func (f *File) discard() {
	if f.temp != "" {
		_ = os.Remove(f.temp) // best effort, on the way out
		f.temp = ""
	}
}

// Discard removes the files that are being written: the program is about to
// end.
func (s *Set) Discard() {
	for _, f := range s.files {
		f.discard()
	}
}

// syncFile brings a file to the disk before it gets its name: a power failure
// must not leave an empty file under it. Tests look at the order.
var syncFile = (*os.File).Sync

// Commit ends the output and gives a regular file its name.
func (w *Writer) Commit() error {
	if err := w.commit(); err != nil {
		w.Abandon()
		return w.f.wrap(err)
	}
	w.f.written = true
	return nil
}

func (w *Writer) commit() error {
	f := w.f
	switch {
	case f.kind == standard:
		return nil
	case w.buf != nil:
		return overwrite(f.target, w.buf)
	case f.kind != regular:
		file := w.file
		w.file = nil
		return file.Close()
	}
	if err := f.settle(w.file); err != nil {
		return err
	}
	err := errors.Join(syncFile(w.file), w.file.Close())
	w.file = nil
	if err != nil {
		return err
	}
	err = os.Rename(f.temp, f.target)
	if errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV) { // the file is a mount point
		err = f.copyOver()
	}
	if err != nil {
		return err
	}
	f.temp = ""
	syncDir(filepath.Dir(f.target))
	return nil
}

// copyOver writes what lies beside a file into it.
func (f *File) copyOver() error {
	from, err := os.Open(f.temp)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := overwrite(f.target, from); err != nil {
		return err
	}
	return os.Remove(f.temp)
}

// overwrite writes into a file that is there.
func overwrite(path string, from io.Reader) error {
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, syncFile(to), to.Close())
}

// keepsMode reports whether the umask does not decide on the mode alone.
func (f *File) keepsMode() bool { return f.private || f.info != nil }

// settle gives a file the mode and owner of the one whose name it takes.
func (f *File) settle(to *os.File) error {
	if !f.keepsMode() {
		return nil
	}
	if f.info != nil {
		keepOwner(to, f.info)
	}
	return to.Chmod(f.mode())
}

// mode is that of the file when it is done: what it was, and for private files
// nothing for anybody but the owner.
func (f *File) mode() fs.FileMode {
	if f.private || f.info == nil {
		return 0o600
	}
	return f.info.Mode().Perm()
}

// beside makes the file that will take the name of f.
func (f *File) beside() (*os.File, error) {
	mode := fs.FileMode(0o666) // less the umask
	if f.keepsMode() {
		mode = 0o600 // until it is whole
	}
	dir, base := filepath.Split(f.target)
	return createTemp(dir, base, mode)
}

// createTemp makes a hidden file, whose name begins with that of the one it is
// to become.
func createTemp(dir, base string, mode fs.FileMode) (*os.File, error) {
	base = base[:min(len(base), 200)] // names have 255 bytes at most
	for {
		f, err := os.OpenFile(filepath.Join(dir, "."+base+"."+rand.Text()[:8]+".tmp"), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// syncDir makes a rename durable where the system can.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = errors.Join(d.Sync(), d.Close()) // some file systems know no sync of directories
	}
}
