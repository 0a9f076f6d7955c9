package parse

import "strconv"

// Role says what a file is good for, whatever its name.
type Role string

// Roles of files. A file that mixes sources (a whole journal, an issue excerpt)
// has RoleLog, and each line's Origin says who wrote it.
const (
	RoleUnknown    Role = ""
	RoleLog        Role = "log"         // text log of one or several sources
	RoleKubeletLog Role = "kubelet-log" // log of the kubelet alone
	RoleRuntimeLog Role = "runtime-log" // containerd, CRI-O, dockerd, podman
	RoleKernelLog  Role = "kernel-log"  // dmesg, serial console, kern.log
	RoleJournal    Role = "journal"     // binary journal
	RoleMetrics    Role = "metrics"     // exposition text, OpenMetrics, protobuf, API JSON
	RoleTSDB       Role = "tsdb"        // part of a Prometheus TSDB directory
	RoleCRI        Role = "cri-snapshot"
	RoleSnapshots  Role = "snapshots" // recorded listings, plegforensics/snapshots/v1
	RoleFacts      Role = "facts"     // command output, /proc, configuration
	RoleObjects    Role = "objects"   // Kubernetes objects: nodes, pods, events
	RoleStacks     Role = "stacks"    // goroutine dumps, /proc/PID/stack
	RoleManifest   Role = "manifest"  // what the collector says about itself
	RoleRules      Role = "rules"     // Prometheus rule files
)

// File is one file of an input, or one member of an archive in it.
type File struct {
	// Path is the path inside the input, archives and their members joined
	// by '!': "sosreport-x.tar.xz!sosreport-x/var/log/messages.1.gz". Plain
	// compression has no members and adds nothing: a lone kubelet.log.xz is
	// "kubelet.log.xz". This is what evidence cites, names verbatim as the
	// archive spells them. A lone file is its base name, standard input is
	// "-", a file below a directory argument is relative to that directory.
	Path   string
	Input  int    // index of the input that holds it
	Role   Role   // by layout or, failing that, by content
	Layout string // name of the layout that recognised it, "" if none
	Node   string // node by layout (a path element), "" if unknown
	Unused string // why no decoder took the file, "" if one did
	// ModTime is the modification time that the archive or file system
	// states, Unix nanoseconds, 0 if unknown. It may lie.
	ModTime int64
	Size    int64 // bytes after decompression, -1 while unknown
	// Export says that the log was laid out anew, as package exports does. Its
	// records are quoted by their messages, which stand on the lines cited;
	// offsets only order them.
	Export bool
}

// Pos is a position in a file. The zero Pos is nowhere.
type Pos struct {
	File   *File
	Offset int64  // byte offset of the line in the decompressed file
	Line   uint32 // 1-based; 0 when the file has no lines
}

// IsValid reports whether p names a file.
func (p Pos) IsValid() bool { return p.File != nil }

// String returns "path:line".
func (p Pos) String() string {
	if p.File == nil {
		return "?"
	}
	if p.Line == 0 {
		return p.File.Path
	}
	return p.File.Path + ":" + strconv.FormatUint(uint64(p.Line), 10)
}

// Before orders positions by path, then offset, then line.
func (p Pos) Before(q Pos) bool {
	if p.File != q.File {
		if p.File == nil || q.File == nil {
			return p.File == nil
		}
		if p.File.Input != q.File.Input {
			return p.File.Input < q.File.Input
		}
		if p.File.Path != q.File.Path {
			return p.File.Path < q.File.Path
		}
	}
	if p.Offset != q.Offset {
		return p.Offset < q.Offset
	}
	return p.Line < q.Line
}

// Text is the verbatim text of a line. A line of high-volume kind is kept
// packed and unpacked on demand, so that memory follows what was found.
type Text struct {
	arena  *Arena
	off, n uint32
}

// Arena is where a TextStore is found. A store has its arena within itself, as a
// Text has room for one pointer: a log may have millions of lines.
type Arena struct {
	Store TextStore
	// Reread says that the store reads the input again, which may have changed.
	// Whoever quotes such a text must know it again.
	Reread bool
}

// TextStore gives back text that was put away in it.
type TextStore interface {
	// Slice returns n bytes at off. It never fails: the store holds what
	// was put into it. One that reads the input again returns what stands
	// there now.
	Slice(off, n uint32) string
}

// AppendStore is a TextStore that need not make a string of a text.
type AppendStore interface {
	TextStore
	// Append appends what Slice returns to dst.
	Append(dst []byte, off, n uint32) []byte
}

// FieldStore is a TextStore that keeps also the fields of lines: rows of a Shape
// and one value for each of its names.
type FieldStore interface {
	TextStore
	// Row returns what begins with the row of that number, which the store gave.
	Row(n uint32) (Row, *Symbols)
}

// TextWriter puts a line away and returns its handle. The line may be reused
// afterwards. The store gives back any range within a kept line. A TextWriter is
// used by one goroutine at a time.
type TextWriter interface{ Keep(line []byte) Text }

// PlaceWriter is a TextWriter that need not copy what stands in the run as it is.
type PlaceWriter interface {
	TextWriter
	// KeepPlace returns a handle on n bytes at from of the run. Their text may
	// be read again: see Arena.
	KeepPlace(from, n int) Text
	// KeepLine is KeepPlace for a line that the store itself shall know again:
	// when it was changed, the text says so.
	KeepLine(from int, line []byte) Text
}

// FieldWriter is a TextWriter that can keep the fields of a line with its text.
type FieldWriter interface {
	TextWriter
	// Symbols is where the numbers of names and values come from.
	Symbols() *Symbols
	// KeepRow puts away a row for the line kept last: a Shape and its
	// values. It returns the number of the row in the store of that line.
	// values are the same as texts, as far as they are known. The store need
	// not hold twice those that are part of the line that it was given.
	KeepRow(row []Sym, values [][]byte) uint32
}

// NewText returns a handle on n bytes at off of the store on the arena.
func NewText(arena *Arena, off, n uint32) Text { return Text{arena, off, n} }

// PlainText returns a handle on a string held in memory.
func PlainText(s string) Text { return Text{&Arena{Store: stringStore(s)}, 0, uint32(len(s))} }

type stringStore string

func (s stringStore) Slice(off, n uint32) string { return string(s[off : off+n]) }

// append appends the text to dst.
func (t Text) append(dst []byte) []byte {
	if t.arena == nil {
		return dst
	}
	if s, ok := t.arena.Store.(AppendStore); ok {
		return s.Append(dst, t.off, t.n)
	}
	return append(dst, t.arena.Store.Slice(t.off, t.n)...)
}

// Sub returns a handle on n bytes of what was kept together with t, beginning
// at i; i may lie behind t. The caller knows that so much was kept.
func (t Text) Sub(i, n int) Text { return Text{t.arena, t.off + uint32(i), uint32(n)} }

// Len is the length in bytes.
func (t Text) Len() int { return int(t.n) }

// fields returns the store that the text lies in, if that keeps fields.
func (t Text) fields() (FieldStore, bool) {
	if t.arena == nil {
		return nil, false
	}
	f, ok := t.arena.Store.(FieldStore)
	return f, ok
}

// reread reports whether the text may have changed since it was decoded.
func (t Text) reread() bool { return t.arena != nil && t.arena.Reread }

// String returns the text. It is the raw line: writers escape it.
func (t Text) String() string {
	if t.arena == nil {
		return ""
	}
	return t.arena.Store.Slice(t.off, t.n)
}
