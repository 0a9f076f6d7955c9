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

// Writer is an output being written. A regular file gets its name on Commit.
type Writer struct {
	f    *File
	to   io.Writer
	file *os.File // nil for standard output and if buffered in memory
	buf  *bytes.Buffer
	err  error
}

// Write writes the whole output, or returns an error that names it and leaves what was there
// before.
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

// Create begins the output. It must be ended by Commit or Abandon.
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

// openWait opens a FIFO or device for writing. Opening a FIFO blocks until it has a reader or ctx
// is done.
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

// Abandon discards the output. After Commit it does nothing.
func (w *Writer) Abandon() {
	if w.file != nil {
		_ = w.file.Close() // an earlier error is being reported
		w.file = nil
	}
	w.f.discard()
}

// discard removes the temporary file.
func (f *File) discard() {
	if f.temp != "" {
		_ = os.Remove(f.temp) // best effort
		f.temp = ""
	}
}

// Discard removes all temporary files; the program is about to exit.
func (s *Set) Discard() {
	for _, f := range s.files {
		f.discard()
	}
}

// syncFile syncs a file to disk before it is renamed: a power failure must not leave an empty file.
// Tests replace it to check the order.
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

// copyOver copies the temporary file into the existing file.
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

// overwrite overwrites an existing file.
func overwrite(path string, from io.Reader) error {
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, syncFile(to), to.Close())
}

// keepsMode reports whether the mode is not just determined by the umask.
func (f *File) keepsMode() bool { return f.private || f.info != nil }

// settle gives the temporary file the mode and owner of the file it replaces.
func (f *File) settle(to *os.File) error {
	if !f.keepsMode() {
		return nil
	}
	if f.info != nil {
		keepOwner(to, f.info)
	}
	return to.Chmod(f.mode())
}

// mode returns the final mode of the file: 0600 for private files, else that of the file it
// replaces.
func (f *File) mode() fs.FileMode {
	if f.private || f.info == nil {
		return 0o600
	}
	return f.info.Mode().Perm()
}

// beside creates the temporary file for f.
func (f *File) beside() (*os.File, error) {
	mode := fs.FileMode(0o666) // minus the umask
	if f.keepsMode() {
		mode = 0o600 // until it is complete
	}
	dir, base := filepath.Split(f.target)
	return createTemp(dir, base, mode)
}

// createTemp creates a hidden file whose name begins with that of its final file.
func createTemp(dir, base string, mode fs.FileMode) (*os.File, error) {
	base = base[:min(len(base), 200)] // file names are at most 255 bytes long
	for {
		f, err := os.OpenFile(filepath.Join(dir, "."+base+"."+rand.Text()[:8]+".tmp"), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// syncDir makes a rename durable if the system supports it.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = errors.Join(d.Sync(), d.Close()) // some file systems cannot sync directories
	}
}
