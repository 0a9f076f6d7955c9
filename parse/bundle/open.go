package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// expand turns an argument of the command line into units. An argument that
// cannot be opened is a unit that says so.
func (l *loader) expand(index int, path string) []*unit {
	if path == "-" {
		l.opened++
		return []*unit{l.stdin(index)}
	}
	fi, err := os.Stat(path) // a link given by name is meant
	switch {
	case err != nil:
		return []*unit{failed(index, path, cause(err))}
	case fi.IsDir():
		return l.directory(index, path)
	case !fi.Mode().IsRegular():
		return []*unit{failed(index, path, notFile(fi.Mode()))}
	}
	u := &unit{input: index, path: filepath.Base(path), lone: true}
	u.open = func() (*opened, error) {
		f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		return regular(f, err)
	}
	// Opening tells early that no input can be read at all.
	o, err := u.open()
	if err != nil {
		return []*unit{failed(index, path, cause(err))}
	}
	l.opt.Progress.Total.Add(o.size)
	o.close()
	l.opened++
	return []*unit{u}
}

func failed(index int, path string, err error) *unit {
	return &unit{input: index, path: path, lone: true, open: func() (*opened, error) { return nil, err }}
}

func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "something special"
}

// regular vets a file after opening it: what was a file when it was looked at
// may be a FIFO by now.
func regular(f *os.File, err error) (*opened, error) {
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = errors.New("is not a regular file")
	}
	if err == nil {
		Impatient(f, fi)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &opened{r: f, at: f, size: fi.Size(), mtime: fi.ModTime().UnixNano(), close: func() { f.Close() }}, nil
}

// patience is how long a file without a size may take to be read: the kernel
// makes up its contents, and some of those files never end.
const patience = 5 * time.Second

// Impatient sets the time in which a file that has no size must have been read.
// What has a size, or cannot be waited for, is not concerned.
func Impatient(f *os.File, fi fs.FileInfo) {
	if fi.Size() == 0 {
		_ = f.SetReadDeadline(time.Now().Add(patience)) // an ordinary file knows no deadlines and needs none
	}
}

// Told words the errors of reading whose usual words say too little.
func Told(err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("gave no end within %s, as files do that the kernel makes up (/proc/kmsg): give what a command such as dmesg prints", patience)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return errors.New("too many open files: the limit (ulimit -n) is reached")
	case errors.Is(err, syscall.ENOMEM):
		return errors.New("cannot allocate memory: the limit (ulimit -v, a cgroup) is reached")
	}
	return err
}

// OpenFile opens a file to be read from its beginning, and refuses devices and
// the like as Load does.
func OpenFile(path string) (*os.File, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, Told(cause(err))
	}
	if fi.Mode()&fs.ModeDevice != 0 {
		return nil, notFile(fi.Mode())
	}
	f, err := os.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, Told(cause(err))
	}
	Impatient(f, fi)
	return f, nil
}

func notFile(m fs.FileMode) error {
	return fmt.Errorf("is %s, not a file; to read a stream give - and redirect standard input", kindOf(m))
}

func (l *loader) stdin(index int) *unit {
	u := &unit{input: index, path: "-", lone: true}
	u.open = func() (*opened, error) {
		if l.opt.Stdin == nil {
			return nil, errors.New("there is no standard input")
		}
		return &opened{r: l.opt.Stdin, size: -1, close: func() {}}, nil
	}
	return u
}

// directory lists the files below dir; of links see dirlinks.go.
func (l *loader) directory(index int, dir string) []*unit {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return []*unit{failed(index, dir, cause(err))}
	}
	l.opened++
	note := &unit{input: index, path: dir}
	note.close = func() { root.Close() }
	d := dirWalk{l: l, root: root, note: note, input: index, dir: dir, links: newDirLinks(dir)}
	fs.WalkDir(root.FS(), ".", d.visit)
	d.links.rename(d.units, d.ids.identify)
	d.links.report(note, index, len(d.units) == 0)
	d.report()
	for _, u := range d.units {
		u.id = d.ids.identify(u.path) // again, now that all signs were seen
		u.ids = d.ids.clone()
		u.only = len(d.units) == 1
	}
	return append(d.units, note)
}

type dirWalk struct {
	l       *loader
	root    *os.Root
	note    *unit // carries the warnings about the directory
	input   int
	dir     string // as named
	links   dirLinks
	ids     identifier
	units   []*unit
	special int
	first   string
}

func (d *dirWalk) visit(path string, e fs.DirEntry, err error) error {
	if d.l.ctx.Err() != nil {
		return fs.SkipAll
	}
	pos := parse.Pos{File: &parse.File{Path: path, Input: d.input}}
	switch {
	case err != nil:
		d.note.warn(pos, "cannot be read: %v", cause(err))
		if e != nil && e.IsDir() {
			return fs.SkipDir
		}
		return nil
	case e.IsDir():
		return nil
	case isLink(e):
		d.links.add(d.root, d.dir, path)
		return nil
	case !e.Type().IsRegular():
		if d.special++; d.special == 1 {
			d.first = path
		}
		return nil
	case len(d.units) >= d.l.opt.Limits.Files:
		d.note.warn(pos, "directory holds more than the limit of %d files (max-files): the rest is skipped", d.l.opt.Limits.Files)
		return fs.SkipAll
	}
	d.add(path, e)
	return nil
}

func (d *dirWalk) add(path string, e fs.DirEntry) {
	if fi, err := e.Info(); err == nil {
		d.l.opt.Progress.Total.Add(fi.Size())
	}
	u := &unit{input: d.input, path: path, id: d.ids.identify(path)}
	u.open = func() (*opened, error) {
		f, err := d.root.OpenFile(filepath.FromSlash(path), os.O_RDONLY|syscall.O_NONBLOCK, 0)
		return regular(f, err)
	}
	d.units = append(d.units, u)
}

func (d *dirWalk) report() {
	if d.special > 0 {
		d.note.note(parse.Pos{File: &parse.File{Path: d.first, Input: d.input}}, "%d devices, FIFOs or sockets are skipped, this is the first", d.special)
	}
}

func closeRoots(units []*unit) {
	for _, u := range units {
		if u.close != nil {
			u.close()
		}
	}
}
