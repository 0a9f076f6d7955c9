// Package output writes what the command line was told to write, and nothing
// else. Every flag that names a path claims it here before any work is done, so
// that a directory that is not there, an output that would overwrite an input,
// or two outputs to one path are found while nothing is lost.
//
// A regular file is written beside its path, synced and renamed, so that no
// reader ever sees half of it. What exists and is no regular file (a device, a
// FIFO, a socket, a descriptor such as the /dev/fd/63 of a process substitution)
// is opened and written in place: renaming over it would replace the device.
package output

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Set is the outputs of one run.
type Set struct {
	stdout io.Writer
	files  []*File
}

// NewSet returns a set whose "-" is stdout.
func NewSet(stdout io.Writer) *Set { return &Set{stdout: stdout} }

// kind is the way in which a file is written.
type kind int

const (
	regular    kind = iota // beside, then renamed
	standard               // standard output
	descriptor             // an open descriptor of this process
	inPlace                // opened and written: device, FIFO, socket
)

// File is one output, claimed and not yet written.
type File struct {
	name    string // flag and path as the user typed them, for messages
	path    string // the path as the user typed it
	kind    kind
	target  string      // where it lies, symlinks resolved
	info    fs.FileInfo // of what is there now; nil if nothing is
	fd      int         // of a descriptor
	dup     *os.File    // the descriptor, held open from the claim on
	private bool
	only    bool // the directory admits no other file: overwrite this one
	own     bool // the user did not name it: a link that has its name is replaced, not followed
	set     *Set
	temp    string // being written
	written bool
}

// Error is a failure to write an output. It names what the user typed.
type Error struct {
	Name string // flag and path
	Err  error
}

func (e *Error) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Claim reserves a path. Name is the flag and the path as the user typed them:
// every error begins with it. A private file is readable by its owner alone.
func (s *Set) Claim(name, path string, private bool) (*File, error) {
	return s.claim(&File{name: name, path: path, private: private, set: s})
}

func (s *Set) claim(f *File) (*File, error) {
	if err := f.resolve(); err != nil {
		return nil, f.wrap(err)
	}
	for _, other := range s.files {
		if f.same(other) {
			f.release()
			if f.kind == standard {
				return nil, f.wrap(errors.New("standard output takes one output, and " + other.name + " has it"))
			}
			return nil, f.wrap(errors.New(other.name + " writes to the same place"))
		}
	}
	s.files = append(s.files, f)
	return f, nil
}

// Replace writes a file that no flag names, such as one of many in a directory
// that a flag names. A link that has its name is replaced: whoever filled the
// directory does not choose what is written over.
func Replace(ctx context.Context, path string, write func(io.Writer) error) error {
	s := NewSet(nil)
	f, err := s.claim(&File{name: path, path: path, own: true, set: s})
	if err != nil {
		return err
	}
	return f.Write(ctx, write)
}

// Stdout reports whether the output is standard output.
func (f *File) Stdout() bool { return f.kind == standard }

// Written reports whether the output was written whole.
func (f *File) Written() bool { return f.written }

// Regular returns the path of a regular file as the user typed it; "" for
// anything else.
func (f *File) Regular() string {
	if f.kind == regular {
		return f.path
	}
	return ""
}

// Resolved returns where a file lies, "" for what has no name of its own, and what
// is there now, nil if nothing is.
func (f *File) Resolved() (string, fs.FileInfo) { return f.target, f.stat() }

// Files returns the outputs claimed so far.
func (s *Set) Files() []*File { return s.files }

// Refuse returns the error of an output that must not be written.
func (f *File) Refuse(why string) error { return f.wrap(errors.New(why)) }

func (f *File) wrap(err error) error { return &Error{f.name, bare(err)} }

// bare is an error without operation and path: the message has what was typed.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}

// resolve finds out what the path is.
func (f *File) resolve() error {
	switch {
	case f.path == "":
		return errors.New("no path given")
	case f.path == "-":
		f.kind = standard
		return nil
	}
	if n, ok := descriptorOf(f.path); ok {
		return f.open(n)
	}
	stat := os.Stat
	if f.own {
		stat = os.Lstat
	}
	info, err := stat(f.path)
	switch {
	case err == nil && info.Mode()&fs.ModeSymlink != 0: // one of its own: the rename replaces it
	case err == nil && info.IsDir():
		return errors.New("is a directory")
	case err == nil && !info.Mode().IsRegular():
		f.kind, f.info = inPlace, info
		return nil
	case err == nil:
		f.info = info
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if f.own {
		f.target = f.path
	} else if f.target, err = follow(f.path); err != nil {
		return err
	}
	return f.probe()
}

// open takes a descriptor of this process.
func (f *File) open(n int) error {
	if n == 1 {
		f.kind = standard
		return nil
	}
	dup, err := duplicate(n, f.path)
	if err != nil {
		return err
	}
	f.kind, f.fd, f.dup = descriptor, n, dup
	return nil
}

func (f *File) release() {
	if f.dup != nil {
		_ = f.dup.Close() // nothing was written
	}
}

// follow returns the path of a file with all symlinks resolved. The file itself
// need not exist, its directory must.
func follow(path string) (string, error) {
	for range 40 { // as many links as Linux follows
		if strings.HasSuffix(path, string(filepath.Separator)) {
			return "", errors.New("names a directory that does not exist")
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if errors.Is(err, fs.ErrNotExist) {
			return "", errors.New("the directory " + filepath.Dir(path) + " does not exist")
		}
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, filepath.Base(path))
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil // errors show when the file is made
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return "", errors.New("too many levels of symbolic links")
}

// probe makes sure that the file can be written, and leaves nothing behind. What
// may not be written may not be replaced either, although the directory would
// admit it.
func (f *File) probe() error {
	if err := f.writable(); err != nil {
		return err
	}
	t, err := f.beside()
	if err == nil {
		return errors.Join(t.Close(), os.Remove(t.Name()))
	}
	// No file may be made here, but the one that is there may be written: a
	// file that is mounted into a container, for example.
	f.only = f.info != nil
	if f.only {
		return nil
	}
	return err
}

// writable reports why what is there may not be written, nil where nothing is.
// Root may write everything, but not by accident what nobody may.
func (f *File) writable() error {
	switch {
	case f.info == nil:
		return nil
	case f.info.Mode().Perm()&0o222 == 0:
		return errors.New("is write-protected, mode " + f.info.Mode().Perm().String())
	}
	old, err := os.OpenFile(f.target, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return old.Close()
}

// same reports whether two outputs go to one place.
func (f *File) same(g *File) bool {
	switch {
	case f.kind == standard && g.kind == standard:
		return true
	case f.kind == descriptor && g.kind == descriptor && f.fd == g.fd:
		return true
	case f.kind == regular && g.kind == regular && f.target == g.target:
		return true
	}
	a, b := f.stat(), g.stat()
	return a != nil && b != nil && os.SameFile(a, b) && !isNull(a)
}

// stat is what the output is now, nil if it is nothing yet.
func (f *File) stat() fs.FileInfo {
	out, isFile := f.set.stdout.(interface{ Stat() (fs.FileInfo, error) })
	switch {
	case f.dup != nil:
		out = f.dup
	case f.kind != standard || !isFile:
		return f.info
	}
	info, err := out.Stat()
	if err != nil {
		return nil
	}
	return info
}

// isNull reports whether a file is the null device, which swallows any number
// of outputs.
func isNull(info fs.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}
