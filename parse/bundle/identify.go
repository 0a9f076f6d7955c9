package bundle

import (
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// identity is what the path of a member says about it.
type identity struct {
	Layout string
	Role   parse.Role // RoleUnknown: the content decides, unless Why is set
	Node   string     // "" if the path does not say
	Why    string     // why the member is of no use, "" if it may be
}

// identifier recognizes the layouts of one input as its members are seen. It is not
// safe for concurrent use.
type identifier struct {
	roots []root
	tries int // paths in which no layout was recognized
}

// Even an input of a hundred thousand files shows its layout early; the bounds keep
// hostile input from costing a table search for each name.
const (
	maxTries = 100000
	maxRoots = 1000
)

// root is the top directory of a recognized layout.
type root struct {
	archive string   // path of the innermost archive that holds it
	top     []string // elements of its path
	layout  *compiled
}

// elements splits a path into its elements; an archive counts as a directory.
func elements(path string) []string {
	parts := strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == '!' })
	out := parts[:0]
	for _, p := range parts {
		if p != "." {
			out = append(out, p)
		}
	}
	return out
}

// identify returns the identity of a member by its path. A member that comes before
// the first sign of its layout has none yet; finish fills it in.
func (x *identifier) identify(path string) identity {
	elems := elements(path)
	archive := path[:strings.LastIndexByte(path, '!')+1]
	r := x.rootOf(archive, elems)
	if r == nil {
		return identity{}
	}
	below := elems[len(r.top):]
	if r.layout.packs {
		below = unpacked(below)
	}
	return r.layout.of(below)
}

// unpacked rewrites a path through DIR.tar, which replaces a directory, as if the
// directory were not packed. Names in the archive may be relative to the root of
// the layout, to the parent of the directory, or to the directory.
func unpacked(elems []string) []string {
	for i, e := range elems {
		name, ok := strings.CutSuffix(e, ".tar")
		if !ok || name == "" || i+1 >= len(elems) {
			continue
		}
		dir := append(append([]string(nil), elems[:i]...), name)
		rest := elems[i+1:]
		if hasPrefix(rest, dir) {
			rest = rest[len(dir):]
		} else if rest[0] == name {
			rest = rest[1:]
		}
		return append(dir, rest...)
	}
	return elems
}

// clone returns a copy of x that learns independently.
func (x *identifier) clone() identifier {
	return identifier{roots: append([]root(nil), x.roots...)}
}

// top returns the path of the layout root above a member and the layout, nil if
// there is none.
func (x *identifier) top(path string) (string, *compiled) {
	elems := elements(path)
	r := x.rootOf(path[:strings.LastIndexByte(path, '!')+1], elems)
	if r == nil {
		return "", nil
	}
	return strings.Join(r.top, "/"), r.layout
}

// finish fills in layout and node of files that were seen before the first sign of
// their layout.
func (x *identifier) finish(files []*parse.File) {
	for _, f := range files {
		if f.Layout != "" && f.Node != "" {
			continue
		}
		id := x.identify(f.Path)
		if f.Layout == "" {
			f.Layout = id.Layout
		}
		if f.Node == "" {
			f.Node = id.Node
		}
	}
}

// kind returns the name of the outermost layout, the first recognized if there are
// several; "" if there is none.
func (x *identifier) kind() string {
	best := -1
	for i, r := range x.roots {
		if best < 0 || len(r.top) < len(x.roots[best].top) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return x.roots[best].layout.name
}

// rootOf returns the innermost root above the member. If its archive has none yet,
// it tries to recognize one.
func (x *identifier) rootOf(archive string, elems []string) *root {
	var best *root
	for i := range x.roots {
		r := &x.roots[i]
		if hasPrefix(elems, r.top) && (best == nil || len(r.top) > len(best.top)) {
			best = r
		}
	}
	if best != nil && best.archive == archive {
		return best
	}
	from := 0
	if best != nil {
		from = len(elements(archive)) // another layout may begin in this archive
	}
	if x.tries >= maxTries || len(x.roots) >= maxRoots {
		return best
	}
	if l, at := recognise(elems, from); l != nil {
		x.roots = append(x.roots, root{archive, append([]string(nil), elems[:at]...), l})
		best = &x.roots[len(x.roots)-1]
	} else {
		x.tries++
	}
	return best
}

func hasPrefix(elems, top []string) bool {
	if len(elems) < len(top) {
		return false
	}
	for i, t := range top {
		if elems[i] != t {
			return false
		}
	}
	return true
}

// maxTop is the maximum depth of the root of a layout.
const maxTop = 12

// compiled is a layout with its patterns split into elements.
type compiled struct {
	*layout
	signs, paths [][]string
}

// table is the compiled form of layouts.
var table = compile(layouts)

func compile(ls []layout) []compiled {
	out := make([]compiled, len(ls))
	for i := range ls {
		out[i].layout = &ls[i]
		for _, s := range ls[i].signs {
			out[i].signs = append(out[i].signs, strings.Split(s, "/"))
		}
		for _, r := range ls[i].files {
			out[i].paths = append(out[i].paths, strings.Split(r.path, "/"))
		}
	}
	return out
}

// recognise returns the first layout of the table with a sign in the path, and the
// depth of its root.
func recognise(elems []string, from int) (*compiled, int) {
	for i := range table {
		if at := topOf(table[i].tops, elems, from); at > 0 {
			return &table[i], at
		}
		for _, sign := range table[i].signs {
			for at := from; at < min(len(elems), maxTop); at++ {
				if _, ok := match(sign, elems[at:]); ok {
					return &table[i], at
				}
			}
		}
	}
	return nil, 0
}

// topOf returns the depth of a member's path below the innermost directory that
// matches one of the names, 0 if there is none. Innermost, because the archive
// often has the name of the directory.
func topOf(names, elems []string, from int) int {
	top := 0
	for _, name := range names {
		for at := from; at < min(len(elems)-1, maxTop); at++ {
			if glob(name, elems[at]) {
				top = max(top, at+1)
			}
		}
	}
	return top
}

// of returns the identity of the member at a path relative to the layout root.
func (l *compiled) of(elems []string) identity {
	id := identity{Layout: l.name}
	for i := range l.files {
		r := &l.files[i]
		node, ok := match(l.paths[i], elems)
		if !ok {
			continue
		}
		id.Node, id.Why = node, r.why
		if r.role != nodeOnly {
			id.Role = r.role
		}
		return id
	}
	return id
}

// match matches path elements against a pattern and returns the text that {node}
// matched.
func match(pattern, elems []string) (node string, ok bool) {
	for i, p := range pattern {
		if p == "**" {
			return matchRest(pattern[i+1:], elems[min(i, len(elems)):], node)
		}
		if i >= len(elems) {
			return "", false
		}
		n, ok := matchElement(p, elems[i])
		if !ok {
			return "", false
		}
		if n != "" {
			node = n
		}
	}
	return node, len(pattern) == len(elems)
}

// matchRest matches the part of a pattern that follows a "**".
func matchRest(pattern, elems []string, node string) (string, bool) {
	if len(pattern) == 0 {
		return node, len(elems) > 0
	}
	for i := range elems {
		if n, ok := match(pattern, elems[i:]); ok {
			if n != "" {
				node = n
			}
			return node, true
		}
	}
	return "", false
}

// matchElement matches one path element. A pattern element holds at most one
// {node}.
func matchElement(p, s string) (node string, ok bool) {
	before, after, has := strings.Cut(p, "{node}")
	if !has {
		return "", glob(p, s)
	}
	if len(s) <= len(before)+len(after) || !strings.HasPrefix(s, before) || !strings.HasSuffix(s, after) {
		return "", false
	}
	return s[len(before) : len(s)-len(after)], true
}

// glob matches "*" as any text and "?" as any byte. It takes O(len(p)*len(s)) time.
func glob(p, s string) bool {
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == s[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
