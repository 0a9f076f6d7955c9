package parse

import "strconv"

// Role is the kind of content of a file, independent of its name.
type Role string

// Roles of files. A file with lines from several sources (a whole journal, an issue
// excerpt) has RoleLog, and the Origin of each line tells its writer.
const (
	RoleUnknown    Role = ""
	RoleLog        Role = "log"         // text log of one or more sources
	RoleKubeletLog Role = "kubelet-log" // log of the kubelet only
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
	RoleManifest   Role = "manifest"  // what the collector states about itself
	RoleRules      Role = "rules"     // Prometheus rule files
)

// File is one file of an input, or one member of an archive in it.
type File struct {
	// Path is the path inside the input, with archives and their members joined by
	// '!': "sosreport-x.tar.xz!sosreport-x/var/log/messages.1.gz". Plain
	// compression has no members and adds nothing: a single kubelet.log.xz is
	// "kubelet.log.xz". Evidence cites this path; names are spelled as in the
	// archive. A single file is cited by its base name, standard input as "-", and
	// a file in a directory argument by its path relative to that directory.
	Path   string
	Input  int    // index of the input that holds it
	Role   Role   // from the layout or else from the content
	Layout string // name of the layout that recognized it, "" if none
	Node   string // node from the layout (a path element), "" if unknown
	Unused string // why no decoder read the file, "" if one did
	// Container is the container that wrote the log, "" if none did or if it may run a kubelet. Whatever the
	// lines of others quote, they are the container's own.
	Container string
	// ModTime is the modification time stated by the archive or file system, in
	// Unix nanoseconds, 0 if unknown. It may be wrong.
	ModTime int64
	Size    int64 // bytes after decompression, -1 while unknown
	// Export means that the log was rewritten by package exports. Its records are
	// quoted by their messages, which are on the cited lines; offsets only give
	// their order.
	Export bool
}

// Pos is a position in a file. The zero Pos means no position.
type Pos struct {
	File   *File
	Offset int64  // byte offset of the line in the decompressed file
	Line   uint32 // 1-based; 0 if the file has no lines
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

// Before orders positions by input, path, offset and line.
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

// Text is a handle on the verbatim text of a line. The text may be stored packed or
// re-read on demand, so that memory use is proportional to the number of records.
type Text struct {
	arena  *Arena
	off, n uint32
}

// Arena holds a TextStore. Each store embeds its own Arena, so that a Text needs
// only one pointer: a log may have millions of lines.
type Arena struct {
	Store TextStore
	// Reread means that the store reads the input again, which may have changed.
	// Quoting such a text requires a check that it is unchanged.
	Reread bool
}

// TextStore returns text that was stored in it.
type TextStore interface {
	// Slice returns n bytes at off. It never fails, because the store holds what
	// was put into it. A store that reads the input again returns the current
	// content.
	Slice(off, n uint32) string
}

// AppendStore is a TextStore that can return text without allocating a string.
type AppendStore interface {
	TextStore
	// Append appends the result of Slice to dst.
	Append(dst []byte, off, n uint32) []byte
}

// FieldStore is a TextStore that also keeps the fields of lines, as rows: a Shape
// followed by one value per name.
type FieldStore interface {
	TextStore
	// Row returns a reader of the row with the given number, which KeepRow
	// returned.
	Row(n uint32) (Row, *StringTable)
}

// TextWriter stores a line and returns a handle on it. The caller may reuse the
// line afterwards. Any range within a stored line can be read back. A TextWriter
// must not be used concurrently.
type TextWriter interface{ Keep(line []byte) Text }

// PlaceWriter is a TextWriter that need not copy text that is verbatim in the run.
type PlaceWriter interface {
	TextWriter
	// KeepPlace returns a handle on n bytes at offset from of the run. Their text
	// may be read again: see Arena.
	KeepPlace(from, n int) Text
	// KeepLine is KeepPlace for a line that the store itself checks when it is
	// read: if it was changed, the text says so.
	KeepLine(from int, line []byte) Text
}

// FieldWriter is a TextWriter that can keep the fields of a line with its text.
type FieldWriter interface {
	TextWriter
	// StringTable returns the table that interns names and values.
	Interned() *StringTable
	// KeepRow stores a row, a Shape and its values, for the line stored last. It
	// returns the number of the row in the store of that line. values are the same
	// values as texts, as far as they are known; the store need not duplicate those
	// that are part of the line.
	KeepRow(row []StringID, values [][]byte) uint32
}

// NewText returns a handle on n bytes at off in the store of the arena.
func NewText(arena *Arena, off, n uint32) Text { return Text{arena, off, n} }

// PlainText returns a handle on a string in memory.
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

// Sub returns a handle on n bytes at offset i of what was stored together with t; i
// may lie beyond the end of t. The caller must know that so much was stored.
func (t Text) Sub(i, n int) Text { return Text{t.arena, t.off + uint32(i), uint32(n)} }

// Len returns the length in bytes.
func (t Text) Len() int { return int(t.n) }

// fields returns the store of the text if it is a FieldStore.
func (t Text) fields() (FieldStore, bool) {
	if t.arena == nil {
		return nil, false
	}
	f, ok := t.arena.Store.(FieldStore)
	return f, ok
}

// reread reports whether the text is read again and may have changed since it was
// decoded.
func (t Text) reread() bool { return t.arena != nil && t.arena.Reread }

// String returns the raw text, which writers must escape.
func (t Text) String() string {
	if t.arena == nil {
		return ""
	}
	return t.arena.Store.Slice(t.off, t.n)
}
