// Package inventory summarizes what bundles hold, file by file: what each file
// contributed, how it was dated, where its sources were silent, and what was lost
// before the bundle was made. Nothing in it is inferred from the behavior of the
// kubelet.
package inventory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
)

// Inventory is the content of bundles.
type Inventory struct {
	Files  []File // files that contributed something, by role; then the others
	Prefix string // common prefix of all paths
	Gaps   []Gap  // silences of a source, longest first
	Lost   []Loss // in the order of the bundle
}

// File is a file and what it contributed.
type File struct {
	*parse.File
	Why      string // why it is not used, "" if it is
	Lines    int
	Records  int
	From, To int64 // Unix ns
	Clock    *parse.FileClock
	Sources  []parse.Source
	Copies   int         // records that another file holds too and that count there
	CopyOf   *parse.File // for a binary journal: the file with the copies
	entries  int         // for a binary journal: number of entries
}

// Repeats says how many records of the file other files hold too, "" if none.
func (f *File) Repeats() string {
	all, also := parse.Plural(f.Records, "record"), "another file"
	if f.CopyOf != nil {
		all, also = fmt.Sprint(f.entries, " entries"), f.CopyOf.Path
	}
	switch f.Copies {
	case 0:
		return ""
	case 1:
		return "1 of " + all + " also appears in " + also
	}
	return fmt.Sprintf("%d of %s also appear in %s", f.Copies, all, also)
}

// Gap is a silence of one source.
type Gap struct {
	File     *parse.File
	Source   parse.Source
	From, To parse.Mark
}

// Length returns how long the source was silent.
func (g *Gap) Length() time.Duration { return time.Duration(g.To.At - g.From.At) }

// Loss is a place where something was lost before the bundle was made.
type Loss struct {
	What   string
	Record parse.Record
	N      int // number of messages lost, if stated
}

// Of returns the inventory of bundles.
func Of(bundles []*parse.Bundle) Inventory {
	var x Inventory
	for _, b := range bundles {
		x.add(b)
	}
	slices.SortStableFunc(x.Gaps, func(a, b Gap) int { return cmp.Compare(b.Length(), a.Length()) })
	slices.SortStableFunc(x.Files, func(a, b File) int { return cmp.Compare(a.rank(), b.rank()) })
	x.Prefix = commonTop(x.Files)
	return x
}

// roleOrder is the order in which inspect lists files: most informative first.
var roleOrder = []parse.Role{
	parse.RoleKubeletLog, parse.RoleLog, parse.RoleJournal, parse.RoleRuntimeLog, parse.RoleKernelLog, parse.RoleMetrics, parse.RoleTSDB,
	parse.RoleSnapshots, parse.RoleCRI, parse.RoleStacks, parse.RoleObjects, parse.RoleManifest, parse.RoleFacts, parse.RoleRules,
}

// rank orders files by role; unused files come last.
func (f *File) rank() int {
	if f.Why != "" {
		return len(roleOrder) + 1
	}
	if i := slices.Index(roleOrder, f.Role); i >= 0 {
		return i
	}
	return len(roleOrder)
}

// commonTop returns the directory, or archive and directory, that contains all
// files, with a trailing separator; "" if there is none.
func commonTop(files []File) string {
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

func (x *Inventory) add(b *parse.Bundle) {
	views := make(map[*parse.File]*File, len(b.Files))
	var order []*File
	for _, f := range b.Files {
		if views[f] == nil {
			v := &File{File: f, Why: f.Unused}
			views[f] = v
			order = append(order, v)
		}
	}
	count(b, views)
	countCopies(b, views)
	for i := range b.Clocks {
		if v := views[b.Clocks[i].File]; v != nil {
			v.Clock = &b.Clocks[i]
		}
	}
	for _, v := range order {
		if v.Why == "" && v.Lines+v.Records == 0 {
			v.Why = nothingIn(v)
		}
		x.Files = append(x.Files, *v)
	}
	x.silences(b)
	x.losses(b)
}

// countCopies counts the records that another file of the bundle holds too.
func countCopies(b *parse.Bundle, views map[*parse.File]*File) {
	for f, n := range b.Copies {
		if v := views[f]; v != nil {
			v.Copies = n
			v.Records += n
		}
	}
	for _, j := range b.Journals {
		if v := views[j.File]; v != nil && j.Copies > 0 {
			v.Copies, v.CopyOf, v.entries = j.Copies, j.CopyOf, j.Entries
		}
	}
}

// nothingIn says why a file that was decoded contributed nothing.
func nothingIn(v *File) string {
	if v.Size == 0 {
		return "empty"
	}
	return "read; nothing relevant to the kubelet"
}

// count sums up lines, records and time span by file.
func count(b *parse.Bundle, views map[*parse.File]*File) {
	see := func(f *parse.File, at parse.Stamp, records, lines int) {
		v := views[f]
		if v == nil {
			return
		}
		v.Records += records
		v.Lines += lines
		if at.Basis > parse.FileTime {
			v.span(at.At)
		}
	}
	for _, c := range b.Coverage {
		see(c.File, c.FirstLine.Stamp, 0, c.Lines)
		for _, m := range []*parse.Mark{&c.LastLine, &c.Low, &c.High} {
			see(c.File, m.Stamp, 0, 0)
		}
		if v := views[c.File]; v != nil && c.Origin.Source != "" && !slices.Contains(v.Sources, c.Origin.Source) {
			v.Sources = append(v.Sources, c.Origin.Source)
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
		if f.Raw.Set { // otherwise it holds at the time of the file
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

func (v *File) span(at int64) {
	if v.From == 0 || at < v.From {
		v.From = at
	}
	v.To = max(v.To, at)
}

// longGap is the shortest silence of a kubelet or runtime that inspect shows; a
// healthy kubelet writes more often.
const longGap = 5 * time.Minute

// silences collects the long gaps of kubelets and runtimes, except where a search left lines out.
func (x *Inventory) silences(b *parse.Bundle) {
	searched := map[*parse.File]bool{}
	for _, m := range b.Markers {
		if m.Kind == parse.MarkExcerpt {
			searched[m.File] = true
		}
	}
	for _, c := range b.Coverage {
		switch c.Origin.Source {
		case parse.SrcKubelet, parse.SrcContainerd, parse.SrcCRIO, parse.SrcDockerd:
		default:
			continue
		}
		if searched[c.File] {
			continue
		}
		for _, g := range c.Gaps {
			v := Gap{c.File, c.Origin.Source, g.Last, g.Next}
			if g.Last.Basis != parse.NoTime && g.Next.Basis != parse.NoTime && v.Length() >= longGap {
				x.Gaps = append(x.Gaps, v)
			}
		}
	}
}

// losses collects the places where messages or output were lost.
func (x *Inventory) losses(b *parse.Bundle) {
	words := map[parse.MarkerKind]string{
		parse.MarkSuppressed: "messages dropped by the rate limit of the log",
		parse.MarkNull:       "message left out of the JSON export because of its length",
		parse.MarkExcerpt:    "a search left lines out",
		parse.MarkHole:       "damage, as zeros that a crash leaves, in place of what was written here or before this line",
		parse.MarkTruncated:  "cut by the collector or the upload",
		parse.MarkClock:      "the clock was changed",
		parse.MarkReboot:     "another boot",
		parse.MarkEmpty:      "the log holds no entries",
	}
	for _, m := range b.Markers {
		if what := words[m.Kind]; what != "" {
			x.Lost = append(x.Lost, Loss{what, m, m.N})
		}
	}
	for _, f := range b.Facts {
		switch f.Key {
		case facts.KeyKilled:
			x.Lost = append(x.Lost, Loss{"a command of the collector did not end", f, 0})
		case facts.KeyTruncated:
			x.Lost = append(x.Lost, Loss{"the collector kept only part of an output", f, 0})
		case facts.KeySkipped:
			x.Lost = append(x.Lost, Loss{"the collector left something out", f, 0})
		}
	}
}

// Dating says how the timestamps of the file were dated, "" if there are none.
func (f *File) Dating() string {
	c := f.Clock
	if c == nil {
		return ""
	}
	var out []string
	zone := f.Zone()
	if zone.Name != "" && zone.Basis != "" {
		out = append(out, zone.Name+", "+zone.Basis)
	}
	if c.Header.Name != "" && c.Envelope.Name != "" && c.Header.Offset != c.Envelope.Offset {
		out = append(out, "messages "+c.Header.Name+", "+c.Header.Basis)
	}
	if c.Year > 1970 && c.YearBasis != "" && c.YearBasis != zone.Basis { // 1970: only times since boot
		out = append(out, fmt.Sprintf("%d: %s", c.Year, c.YearBasis))
	}
	if c.Reversed {
		out = append(out, "newest line first")
	}
	if n := c.Stepped; n > 0 {
		out = append(out, fmt.Sprintf("clock steps: %d", n))
	}
	if c.Moved > 0 {
		out = append(out, "lines from before the clock was set moved to where the boot's own clock has them")
	}
	return strings.Join(out, "; ")
}

// Zone returns the zone of the envelope, else that of the header. f.Clock must not
// be nil.
func (f *File) Zone() parse.ZoneInfo {
	if z := f.Clock.Envelope; z.Name != "" {
		return z
	}
	return f.Clock.Header
}
