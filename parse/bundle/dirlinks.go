package bundle

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// dirLinks are the symbolic links below a directory that was named. What one
// points to inside the directory is read once, where it lies; where that is a
// store in a hidden directory, as the objects of git-annex are, it is read
// under the name of the link, which says what it is. What lies outside of the
// directory was not named by the user and is not read.
type dirLinks struct {
	top     string // the directory itself, with no link in its path
	stored  []storedLink
	outside tally
	nowhere tally
}

type storedLink struct{ path, target string }

// tally counts things of one kind and keeps the first.
type tally struct {
	n           int
	path, first string // of the first: the link, and what it says
}

func (t *tally) add(path, to string) {
	if t.n++; t.n == 1 {
		t.path, t.first = path, to
	}
}

func newDirLinks(dir string) dirLinks {
	top, err := filepath.EvalSymlinks(dir)
	if err == nil {
		top, err = filepath.Abs(top)
	}
	if err != nil {
		top = "" // then nothing lies inside
	}
	return dirLinks{top: top}
}

// add takes a link; dir is the directory as it was named and root the same, path
// is relative to it.
func (l *dirLinks) add(root *os.Root, dir, path string) {
	full := filepath.Join(dir, filepath.FromSlash(path))
	to, err := root.Readlink(filepath.FromSlash(path))
	if err != nil {
		to = "?"
	}
	target, err := filepath.EvalSymlinks(full)
	if err == nil {
		target, err = filepath.Abs(target)
	}
	if err != nil {
		l.nowhere.add(path, to)
		return
	}
	rel, err := filepath.Rel(l.top, target)
	if l.top == "" || err != nil || !filepath.IsLocal(rel) {
		l.outside.add(path, to)
		return
	}
	if rel = filepath.ToSlash(rel); hidden(rel) && !hidden(path) {
		l.stored = append(l.stored, storedLink{path, rel})
	}
}

// hidden reports whether a directory of the path is hidden.
func hidden(path string) bool {
	dir, _ := filepath.Split(path)
	return slices.ContainsFunc(strings.Split(dir, "/"), func(e string) bool { return strings.HasPrefix(e, ".") && e != "." })
}

// rename gives what lies in a store the name of the first link to it.
func (l *dirLinks) rename(units []*unit, learn func(path string) identity) {
	if len(l.stored) == 0 {
		return
	}
	at := map[string]*unit{}
	for _, u := range units {
		at[u.path] = u
	}
	for _, s := range l.stored {
		if u := at[s.target]; u != nil {
			u.path, u.id = s.path, learn(s.path)
			delete(at, s.target)
		}
	}
}

// report tells of links that were not followed. They are a loss where the
// directory holds nothing else.
func (l *dirLinks) report(note *unit, input int, alone bool) {
	say := note.note
	if alone {
		say = note.warn
	}
	pos := func(t *tally) parse.Pos { return parse.Pos{File: &parse.File{Path: t.path, Input: input}} }
	if t := &l.outside; t.n > 0 {
		say(pos(t), "%s out of the directory and %s not followed, this is the first (to %s): name the directory that it leads to as well", counted(t.n), isAre(t.n), t.first)
	}
	if t := &l.nowhere; t.n > 0 {
		say(pos(t), "%s to nothing, this is the first (to %s)", counted(t.n), t.first)
	}
}

func counted(n int) string {
	if n == 1 {
		return "1 symbolic link leads"
	}
	return strconv.Itoa(n) + " symbolic links lead"
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// isLink reports whether an entry is a symbolic link.
func isLink(e fs.DirEntry) bool { return e.Type()&fs.ModeSymlink != 0 }
