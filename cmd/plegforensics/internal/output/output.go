// Package output writes the outputs of a run, and nothing else. Every flag that names a path claims
// it here before any work is done, so that a missing directory, an output that would overwrite an
// input, or two outputs to one path are found before anything is lost.
//
// A regular file is written next to its path, synced and renamed, so that no reader ever sees a
// partial file. What exists and is not a regular file (a device, a FIFO, a socket, a descriptor
// such as /dev/fd/63 of a process substitution) is opened and written in place: renaming over it
// would replace it.
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

// Set holds the outputs of one run.
type Set struct {
	stdout io.Writer
	files  []*File
}

// NewSet returns a set that writes "-" to stdout.
func NewSet(stdout io.Writer) *Set { return &Set{stdout: stdout} }

// kind is the way a file is written.
type kind int

const (
	regular    kind = iota // written next to the path, then renamed
	standard               // standard output
	descriptor             // an open descriptor of this process
	inPlace                // a device, FIFO or socket: opened and written
)

// File is a claimed output.
type File struct {
	name    string // flag and path as the user typed them, for error messages
	path    string // the path as the user typed it
	kind    kind
	target  string      // path with symlinks resolved
	info    fs.FileInfo // of the existing file; nil if there is none
	fd      int         // if kind is descriptor
	dup     *os.File    // duplicate of the descriptor, held open from the claim on
	private bool
	only    bool // no file can be created in the directory: overwrite this one
	own     bool // not named by the user: a symlink of that name is replaced, not followed
	set     *Set
	temp    string // temporary file being written, "" if none
	written bool
}

// Error is a failure to write an output.
type Error struct {
	Name string // flag and path as the user typed them
	Err  error
}

// Error returns what the user typed and the cause.
func (e *Error) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Claim reserves a path. name is the flag and the path as the user typed them; every error begins
// with it. A private file is readable by its owner only.
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

// Replace writes a file that no flag names, such as one of many in a directory that a flag names. A
// symlink of that name is replaced: whoever filled the directory must not choose what is
// overwritten.
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

// Written reports whether the output was written completely.
func (f *File) Written() bool { return f.written }

// Regular returns the path of a regular file as the user typed it, "" for anything else.
func (f *File) Regular() string {
	if f.kind == regular {
		return f.path
	}
	return ""
}

// Resolved returns the path with symlinks resolved, "" if the output has no name of its own, and
// the info of what exists there now, nil if nothing does.
func (f *File) Resolved() (string, fs.FileInfo) { return f.target, f.stat() }

// Files returns the outputs claimed so far.
func (s *Set) Files() []*File { return s.files }

// Refuse returns an error that says why the output must not be written.
func (f *File) Refuse(why string) error { return f.wrap(errors.New(why)) }

func (f *File) wrap(err error) error { return &Error{f.name, bare(err)} }

// bare removes operation and path from an error: the message has what the user typed.
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

// resolve determines the kind of the output and its target.
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
	case err == nil && info.Mode()&fs.ModeSymlink != 0: // a symlink of an own file: the rename replaces it
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

// open takes over descriptor n of this process.
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

// follow returns a path with all symlinks resolved. The file itself need not exist, its directory
// must.
func follow(path string) (string, error) {
	for range 40 { // Linux's limit on nested links
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
			return path, nil // other errors appear when the file is created
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

// probe checks that the file can be written, and leaves nothing behind. A file that is not writable
// must not be replaced either, even if the directory permits that.
func (f *File) probe() error {
	if err := f.writable(); err != nil {
		return err
	}
	t, err := f.beside()
	if err == nil {
		return errors.Join(t.Close(), os.Remove(t.Name()))
	}
	// No file can be created here, but the existing one may be writable: a file mounted into a
	// container, for example.
	f.only = f.info != nil
	if f.only {
		return nil
	}
	return err
}

// writable returns why the existing file cannot be written, nil if it can or does not exist. Root
// can write to any file, but must not accidentally overwrite a write-protected one.
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

// same reports whether two outputs have the same destination.
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

// stat returns the info of what the output is now, nil if it does not exist yet.
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

// isNull reports whether a file is the null device, which any number of outputs may share.
func isNull(info fs.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}
