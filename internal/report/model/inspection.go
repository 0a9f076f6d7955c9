package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
)

// inspection is what a bundle holds, as inspect tells it. Nothing in it is
// inferred from the kubelet's behaviour.
type inspection struct {
	files  []fileView // used ones, by input and path
	unused []fileView
	prefix string    // what the paths of all files begin with
	gaps   []gapView // silences of a source, longest first
	lost   []lossView
}

// fileView is a file and what it gave.
type fileView struct {
	*parse.File
	lines   int
	records int
	from    int64
	to      int64
	clock   *parse.FileClock
	sources []parse.Source
	copies  int                // records that another file holds too, and gives
	journal *parse.JournalFile // of a binary journal
}

// repeats says how much of the file other files hold too, "" when nothing.
func (v *fileView) repeats() string {
	if j := v.journal; j != nil && j.Copies > 0 {
		return fmt.Sprintf("%d of %d entries also appear in %s", j.Copies, j.Entries, j.CopyOf.Path)
	}
	if v.copies > 0 {
		return fmt.Sprintf("%d of %s also appear in another file", v.copies, records(v.records))
	}
	return ""
}

// gapView is a silence of one origin.
type gapView struct {
	file   *parse.File
	source parse.Source
	from   parse.Mark
	to     parse.Mark
}

func (g gapView) length() time.Duration { return time.Duration(g.to.At - g.from.At) }

// lossView is a place where something was lost before the bundle was made.
type lossView struct {
	what string
	rec  parse.Record
	n    int // messages, if the line tells
}

// inspect takes the bundles apart.
func inspect(a *Analysis) inspection {
	var x inspection
	for _, b := range a.Bundles {
		x.add(b)
	}
	slices.SortStableFunc(x.gaps, func(a, b gapView) int { return cmp.Compare(b.length(), a.length()) })
	slices.SortStableFunc(x.files, func(a, b fileView) int { return cmp.Compare(roleRank(a.Role), roleRank(b.Role)) })
	x.prefix = commonTop(append(slices.Clone(x.files), x.unused...))
	return x
}

// roleOrder is the order in which inspect lists files: what tells most first.
var roleOrder = []parse.Role{
	parse.RoleKubeletLog, parse.RoleLog, parse.RoleJournal, parse.RoleRuntimeLog, parse.RoleKernelLog, parse.RoleMetrics, parse.RoleTSDB,
	parse.RoleSnapshots, parse.RoleCRI, parse.RoleStacks, parse.RoleObjects, parse.RoleManifest, parse.RoleFacts, parse.RoleRules,
}

func roleRank(r parse.Role) int {
	if i := slices.Index(roleOrder, r); i >= 0 {
		return i
	}
	return len(roleOrder)
}

// commonTop is the directory, or archive and directory, that all files lie in,
// with its separator.
func commonTop(files []fileView) string {
	if len(files) < 2 {
		return ""
	}
	top := files[0].Path
	for _, f := range files[1:] {
		n := 0
		for n < len(top) && n < len(f.Path) && top[n] == f.Path[n] {
			n++
		}
		top = top[:n]
	}
	return top[:strings.LastIndexAny(top, "/!")+1]
}

func (x *inspection) add(b *parse.Bundle) {
	views := make(map[*parse.File]*fileView, len(b.Files))
	var order []*fileView
	for _, f := range b.Files {
		if views[f] == nil {
			v := &fileView{File: f}
			views[f] = v
			order = append(order, v)
		}
	}
	count(b, views)
	countCopies(b, views)
	for i := range b.Clocks {
		if v := views[b.Clocks[i].File]; v != nil {
			v.clock = &b.Clocks[i]
		}
	}
	for _, v := range order {
		switch {
		case v.Unused != "":
			x.unused = append(x.unused, *v)
		case v.lines+v.records == 0:
			v.Unused = nothingIn(v)
			x.unused = append(x.unused, *v)
		default:
			x.files = append(x.files, *v)
		}
	}
	x.silences(b)
	x.losses(b)
}

// countCopies counts the records that another file of the bundle holds too.
func countCopies(b *parse.Bundle, views map[*parse.File]*fileView) {
	for f, n := range b.Copies {
		if v := views[f]; v != nil {
			v.copies = n
			v.records += n
		}
	}
	for _, j := range b.Journals {
		if v := views[j.File]; v != nil {
			v.journal = j
		}
	}
}

// nothingIn says of a file that a decoder took why it gave nothing.
func nothingIn(v *fileView) string {
	if v.Size == 0 {
		return "empty"
	}
	return "read; nothing relevant to the kubelet"
}

// count counts lines and records by file, and the span that they cover.
func count(b *parse.Bundle, views map[*parse.File]*fileView) {
	see := func(f *parse.File, at parse.Stamp, records, lines int) {
		v := views[f]
		if v == nil {
			return
		}
		v.records += records
		v.lines += lines
		if at.Basis > parse.FileTime {
			v.span(at.At)
		}
	}
	for _, c := range b.Coverage {
		see(c.File, c.FirstLine.Stamp, 0, c.Lines)
		see(c.File, c.LastLine.Stamp, 0, 0)
		if v := views[c.File]; v != nil && c.Origin.Source != "" && !slices.Contains(v.sources, c.Origin.Source) {
			v.sources = append(v.sources, c.Origin.Source)
		}
	}
	for _, e := range b.Events {
		see(e.File, e.Stamp, 1, 0)
	}
	for _, m := range b.Markers {
		see(m.File, parse.Stamp{}, 1, 0)
	}
	for _, f := range b.Facts {
		at := parse.Stamp{}
		if f.Raw.Set { // else it holds at the time of the file
			at = f.Stamp
		}
		see(f.File, at, 1, 0)
	}
	for _, o := range b.Objects {
		see(o.File, o.Stamp, 1, 0)
	}
	for _, c := range b.Containers {
		see(c.File, c.Stamp, 1, 0)
	}
	for i := range b.Listings {
		see(b.Listings[i].File, b.Listings[i].Stamp, 1, 0)
	}
	for _, s := range b.Scrapes {
		see(s.File, s.Stamp, 1, 0)
	}
}

func (v *fileView) span(at int64) {
	if v.from == 0 || at < v.from {
		v.from = at
	}
	v.to = max(v.to, at)
}

// longGap is the shortest silence of a kubelet or runtime that inspect shows:
// a healthy kubelet writes more often than that.
const longGap = 5 * time.Minute

// silences collects the long gaps of the programs that matter.
func (x *inspection) silences(b *parse.Bundle) {
	for _, c := range b.Coverage {
		switch c.Origin.Source {
		case parse.SrcKubelet, parse.SrcContainerd, parse.SrcCRIO, parse.SrcDockerd:
		default:
			continue
		}
		for _, g := range c.Gaps {
			v := gapView{c.File, c.Origin.Source, g.Last, g.Next}
			if g.Last.Basis != parse.NoTime && g.Next.Basis != parse.NoTime && v.length() >= longGap {
				x.gaps = append(x.gaps, v)
			}
		}
	}
}

// losses collects the places where messages or output were lost.
func (x *inspection) losses(b *parse.Bundle) {
	words := map[parse.MarkerKind]string{
		parse.MarkSuppressed: "messages dropped by the rate limit of the log",
		parse.MarkNull:       "message left out of the JSON export because of its length",
		parse.MarkTruncated:  "cut by the collector or the upload",
		parse.MarkClock:      "the clock was changed",
		parse.MarkReboot:     "another boot",
		parse.MarkEmpty:      "the log holds no entries",
	}
	for _, m := range b.Markers {
		if what := words[m.Kind]; what != "" {
			x.lost = append(x.lost, lossView{what, m, m.N})
		}
	}
	for _, f := range b.Facts {
		switch f.Key {
		case facts.KeyKilled:
			x.lost = append(x.lost, lossView{"a command of the collector did not end", f, 0})
		case facts.KeyTruncated:
			x.lost = append(x.lost, lossView{"the collector kept only part of an output", f, 0})
		case facts.KeySkipped:
			x.lost = append(x.lost, lossView{"the collector left something out", f, 0})
		}
	}
}
