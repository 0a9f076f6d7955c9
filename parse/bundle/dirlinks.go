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

// dirLinks collects the symbolic links below an input directory. A file inside the
// directory is read once, at its own path; if that lies in a hidden directory, such
// as the objects of git-annex, it is read under the name of the link, which says
// what it is. Targets outside the directory were not named by the user and are not
// read.
type dirLinks struct {
	top     string // absolute path of the directory, symlinks resolved
	stored  []storedLink
	outside tally
	nowhere tally
}

type storedLink struct{ path, target string }

// tally counts links of one kind and keeps the first of them.
type tally struct {
	n     int
	named []storedLink
}

// linksNamed is how many links of each kind a warning names; the rest are counted.
const linksNamed = 20

func (t *tally) add(path, to string) {
	if t.n++; t.n <= linksNamed {
		t.named = append(t.named, storedLink{path, to})
	}
}

// list returns the links with their targets, for a message.
func (t *tally) list() string {
	var b strings.Builder
	for i, l := range t.named {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(l.path + " (to " + l.target + ")")
	}
	if more := t.n - len(t.named); more > 0 {
		b.WriteString(" and " + strconv.Itoa(more) + " more")
	}
	return b.String()
}

func newDirLinks(dir string) dirLinks {
	top, err := filepath.EvalSymlinks(dir)
	if err == nil {
		top, err = filepath.Abs(top)
	}
	if err != nil {
		top = "" // then no target counts as inside
	}
	return dirLinks{top: top}
}

// add records a link. dir is the directory as the user named it, root the same
// opened; path is relative to it.
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

// hidden reports whether any directory in path is hidden.
func hidden(path string) bool {
	dir, _ := filepath.Split(path)
	return slices.ContainsFunc(strings.Split(dir, "/"), func(e string) bool { return strings.HasPrefix(e, ".") && e != "." })
}

// rename gives a file in a hidden store the path of the first link to it.
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

// report reports the links that were not followed: as a warning if the directory
// holds nothing else, otherwise as a note.
func (l *dirLinks) report(note *unit, input int, alone bool) {
	say := note.note
	if alone {
		say = note.warn
	}
	pos := func(t *tally) parse.Pos { return parse.Pos{File: &parse.File{Path: t.named[0].path, Input: input}} }
	if t := &l.outside; t.n > 0 {
		say(pos(t), "%s out of the directory and %s not followed, name the directory that holds the files as well: %s", counted(t.n), isAre(t.n), t.list())
	}
	if t := &l.nowhere; t.n > 0 {
		say(pos(t), "%s to nothing: %s", counted(t.n), t.list())
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
