package tsdb

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/metrics"
)

// File is one file of a database.
type File struct {
	File *parse.File
	At   io.ReaderAt
	Size int64
}

// Options bound memory use. Zero fields take the default in parentheses.
type Options struct {
	Packed   int64 // bytes of packed chunks (256 MiB)
	Unpacked int   // samples of relist series that are unpacked (100,000)
	Index    int64 // bytes of one index (512 MiB)
	Series   int   // series (2,000,000)
}

func (o Options) withDefaults() Options {
	o.Packed = cmp.Or(o.Packed, 256<<20)
	o.Unpacked = cmp.Or(o.Unpacked, 100_000)
	o.Index = cmp.Or(o.Index, 512<<20)
	o.Series = cmp.Or(o.Series, 2_000_000)
	return o
}

// Root returns the directory of the database that a path belongs to. ok is false
// if, by its name, it is not a file of a Prometheus database.
func Root(p string) (root string, ok bool) {
	dir, base := cut(p)
	above, parent := cut(dir)
	switch {
	case isULID(parent) && (base == "index" || base == "meta.json" || base == "tombstones"):
		return above, true
	case parent == "chunks" && isNumber(base, 6):
		above, parent = cut(above)
		return above, isULID(parent)
	case (parent == "wal" || parent == "wbl") && isNumber(base, 8), parent == "chunks_head" && isNumber(base, 6):
		return above, true
	case strings.HasPrefix(parent, "checkpoint.") && isNumber(base, 8):
		above, parent = cut(above)
		return above, parent == "wal" || parent == "wbl"
	}
	return "", false
}

// SnapshotOf returns the database of which root is a snapshot according to its
// path. The server's API makes snapshots as DATA/snapshots/TIME-HASH.
func SnapshotOf(root string) (data string, ok bool) {
	above, name := cut(root)
	data, dir := cut(above)
	stamp, _, dashed := strings.Cut(name, "-")
	return data, dir == "snapshots" && dashed && len(stamp) > 8 && stamp[0] >= '0' && stamp[0] <= '9'
}

// cut splits off the last element of a path. The name of an archive stays with its
// '!' at the end of above, so that two archives are two databases.
func cut(p string) (above, last string) {
	i := strings.LastIndexAny(p, "/!")
	if i < 0 {
		return "", p
	}
	if p[i] == '!' {
		return p[:i+1], p[i+1:]
	}
	return p[:i], p[i+1:]
}

func isULID(s string) bool {
	if len(s) != 26 {
		return false
	}
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

func isNumber(s string, least int) bool {
	if len(s) < least {
		return false
	}
	_, err := strconv.ParseUint(s, 10, 63)
	return err == nil
}

// Read reads the files of one database, in any order. It never fails: damage
// becomes a warning and the rest is read.
func Read(files []File, opt Options) parse.Part {
	r := &reader{opt: opt.withDefaults(), series: map[string]*entry{}, strings: map[string]string{}}
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.File.Path, b.File.Path) })
	var logs []File
	blocks := map[string][]File{}
	var order []string
	for _, f := range files {
		dir, _ := cut(f.File.Path)
		if above, last := cut(dir); last == "chunks" {
			dir = above
		}
		if _, last := cut(dir); !isULID(last) {
			logs = append(logs, f)
			continue
		}
		if blocks[dir] == nil {
			order = append(order, dir)
		}
		blocks[dir] = append(blocks[dir], f)
	}
	for _, dir := range order {
		r.guard(blocks[dir][0], func() { r.block(blocks[dir]) })
	}
	r.logs(logs)
	return r.finish()
}

// reader collects the content of a database.
type reader struct {
	opt      Options
	series   map[string]*entry // by canonical labels
	strings  map[string]string
	scrapes  []*parse.Scrape
	warnings []parse.Warning
	packed   int64
	dropped  int           // chunks dropped because of Options.Packed
	over     *parse.Scrape // of the first of them
}

// entry is a series being collected.
type entry struct {
	*parse.Series
	rank    int
	deleted []interval // intervals deleted on the server before the copy was taken
}

// guard turns a panic of a library on damaged data into a warning.
func (r *reader) guard(f File, read func()) {
	defer func() {
		if p := recover(); p != nil {
			r.warn(f.File, 0, "damaged, the rest of it is skipped: %v", p)
		}
	}()
	read()
}

func (r *reader) warn(f *parse.File, off int64, format string, args ...any) {
	const most = 200
	if len(r.warnings) < most {
		r.warnings = append(r.warnings, parse.Warning{Pos: parse.Pos{File: f, Offset: off}, Msg: fmt.Sprintf(format, args...)})
	}
}

// scrape returns a new Scrape that represents a part of the database as the source
// of samples.
func (r *reader) scrape(f *parse.File) *parse.Scrape {
	s := &parse.Scrape{File: f, Why: "time stamps of the samples", Stamp: parse.Stamp{Res: parse.ResolutionOf(time.Millisecond), Basis: parse.Stated}}
	r.scrapes = append(r.scrapes, s)
	return s
}

// get returns the series of a label set, making it if necessary; nil if it has no
// name or Options.Series is reached.
func (r *reader) get(ls labels.Labels) *entry {
	key := ls.String()
	if e := r.series[key]; e != nil {
		return e
	}
	if len(r.series) >= r.opt.Series {
		return nil
	}
	x := &parse.Series{Name: r.intern(ls.Get(nameLabel))}
	if x.Name == "" {
		return nil
	}
	ls.Range(func(l labels.Label) {
		if l.Name != nameLabel {
			x.Labels = append(x.Labels, parse.Field{Name: r.intern(l.Name), Value: r.intern(l.Value)})
		}
	})
	x.Type = metrics.TypeOf(x.Name, nil)
	e := &entry{Series: x, rank: rank(x.Name)}
	r.series[key] = e
	return e
}

func (r *reader) intern(v string) string {
	if old, ok := r.strings[v]; ok {
		return old
	}
	v = strings.Clone(v)
	r.strings[v] = v
	return v
}

// Ranks of series: relists are unpacked, and other is dropped first if memory is
// short.
const (
	relists = iota // series from which relists are rebuilt
	useful
	other
)

func rank(name string) int {
	switch {
	case strings.HasPrefix(name, "kubelet_pleg_"), name == "process_start_time_seconds", name == "kubelet_node_name", name == "up",
		strings.HasPrefix(name, "kubelet_evented_pleg_"), strings.HasPrefix(name, "kubelet_running_"):
		return relists
	case strings.HasPrefix(name, "kubelet_"), strings.HasPrefix(name, "node_"), strings.HasPrefix(name, "kube_node_"),
		strings.HasPrefix(name, "container_runtime_"), strings.HasPrefix(name, "containerd_"), strings.HasPrefix(name, "crio_"), strings.HasPrefix(name, "ALERTS"):
		return useful
	}
	return other
}

// keep adds a packed chunk, unless that exceeds Options.Packed. A quarter of the
// limit is reserved for ranks above other.
func (r *reader) keep(e *entry, c parse.Chunk) {
	limit := r.opt.Packed
	if e.rank == other {
		limit = limit * 3 / 4
	}
	if r.packed+int64(len(c.Data)) > limit {
		r.dropped++
		r.over = cmp.Or(r.over, c.Src)
		return
	}
	r.packed += int64(len(c.Data))
	e.Chunks = append(e.Chunks, c)
	seen(c.Src, c.Min)
	seen(c.Src, c.Max)
}

// seen extends the time span of a part of the database.
func seen(src *parse.Scrape, at int64) {
	src.At = max(src.At, at)
	if src.Since == 0 || at < src.Since {
		src.Since = at
	}
}

// finish applies deletions, unpacks the relist series and sorts the result.
func (r *reader) finish() parse.Part {
	var out parse.Part
	for _, e := range r.series {
		if len(e.deleted) > 0 {
			r.drop(e)
		}
		if len(e.Chunks)+len(e.Points)+len(e.Histograms) > 0 {
			e.Unpack = unpacked
			slices.SortStableFunc(e.Chunks, func(a, b parse.Chunk) int { return cmp.Or(cmp.Compare(a.Min, b.Min), cmp.Compare(a.Max, b.Max)) })
			out.Series = append(out.Series, e.Series)
		}
	}
	slices.SortFunc(out.Series, metrics.CompareSeries)
	metrics.NameNodes(out.Series)
	budget := r.opt.Unpacked
	for _, x := range out.Series {
		if rank(x.Name) == relists {
			budget -= r.unpack(x, budget)
		}
	}
	for _, s := range r.scrapes {
		if s.At != 0 {
			out.Scrapes = append(out.Scrapes, s)
		}
	}
	if r.dropped > 0 {
		r.warn(r.over.File, 0, "%d chunks do not fit into the %d bytes held in memory for a database and are left out", r.dropped, r.opt.Packed)
	}
	out.Warnings = r.warnings
	return out
}
