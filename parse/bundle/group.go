package bundle

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/metrics/tsdb"
)

// groupKey identifies members that are decoded together.
type groupKey struct {
	input int
	role  parse.Role
	key   string
}

// group collects the members with one key until the last member was seen.
type group struct {
	d     *decoder
	files []groupMember
}

type groupMember struct {
	GroupFile
	slot   *slot
	open   func() (*opened, error) // reopens a plain file, else nil
	remove func()                  // deletes the temporary file of a spooled member, else nil
}

// grouped adds a member to its group: a plain file is reopened when the group is
// decoded; a member of an archive is kept in memory or, if large, spooled.
func (w *walker) grouped(s *slot, d *decoder, m member, buf *buffer, eof bool, err error) error {
	gm := groupMember{GroupFile: GroupFile{File: s.file, Size: m.size}, slot: s}
	if m.at != nil {
		w.l.give(buf)
		gm.open = w.u.open
	} else if d.spool && !eof {
		gm.At, gm.Size, gm.remove, err = w.spooled(s, m, buf)
		if gm.At == nil {
			return err
		}
	} else {
		var data []byte
		if data, err = w.keepForGroup(s, m, buf, eof, err); data == nil {
			return err
		}
		gm.At, gm.Size = bytes.NewReader(data), int64(len(data))
	}
	s.file.Size = gm.Size
	w.u.bytes += gm.Size
	w.l.addToGroup(groupKey{w.u.input, d.role, d.key(m.path)}, d, gm)
	return err
}

// keepForGroup returns a copy of the member, nil if it would exceed Limits.Group.
func (w *walker) keepForGroup(s *slot, m member, buf *buffer, eof bool, err error) ([]byte, error) {
	data := bytes.Clone(buf.data())
	w.l.give(buf)
	if !eof {
		var out bytes.Buffer
		out.Write(data)
		_, err = io.Copy(&out, io.LimitReader(m.r, w.b.lim.Group-int64(len(data))+1))
		data = out.Bytes()
	}
	if w.u.held += int64(len(data)); w.u.held > w.b.lim.Group {
		w.u.held -= int64(len(data))
		w.u.cut(parse.Pos{File: s.file}, "skipped: members that are decoded together exceed the %d bytes held in memory; give the unpacked directory to have all of them read, or raise the limit by --max-held", w.b.lim.Group)
		return nil, err
	}
	return data, err
}

func (l *loader) addToGroup(k groupKey, d *decoder, m groupMember) {
	l.groupMu.Lock()
	defer l.groupMu.Unlock()
	g := l.groups[k]
	if g == nil {
		g = &group{d: d}
		l.groups[k] = g
	}
	g.files = append(g.files, m)
}

// collect decodes the groups and returns one slot for each, ordered by input, role
// and key.
func (l *loader) collect() []*slot {
	keys := make([]groupKey, 0, len(l.groups))
	for k := range l.groups {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b groupKey) int {
		return cmp.Or(cmp.Compare(a.input, b.input), strings.Compare(string(a.role), string(b.role)), strings.Compare(a.key, b.key))
	})
	var out []*slot
	for _, k := range keys {
		g := l.groups[k]
		if of, ok := tsdb.SnapshotOf(k.key); ok && k.role == parse.RoleTSDB && l.groups[groupKey{k.input, k.role, of}] != nil {
			out = append(out, g.leaveOut("a snapshot of the database in whose directory it lies: what it holds counts once, as that database has it"))
			continue
		}
		out = append(out, g.decode())
	}
	return out
}

// leaveOut skips the group and records why.
func (g *group) leaveOut(why string) *slot {
	for _, m := range g.files {
		if m.remove != nil {
			m.remove()
		}
		m.File.Unused = why
	}
	s := &slot{file: g.files[0].File}
	s.part.Warnings = []parse.Warning{{Pos: parse.Pos{File: s.file}, Msg: "left out: " + why}}
	return s
}

func (g *group) decode() *slot {
	slices.SortStableFunc(g.files, func(a, b groupMember) int { return strings.Compare(a.File.Path, b.File.Path) })
	s := &slot{file: g.files[0].File}
	var files []GroupFile
	var lost []parse.Warning
	for _, m := range g.files {
		if m.remove != nil {
			defer m.remove()
		}
		if m.open != nil {
			o, err := m.open()
			if err != nil {
				lost = append(lost, parse.Warning{Pos: parse.Pos{File: m.File}, Msg: "skipped: " + err.Error()})
				continue
			}
			defer o.close()
			m.At = o.at
		}
		files = append(files, m.GroupFile)
	}
	defer s.survive()
	s.part = g.d.group(files)
	s.part.Warnings = append(lost, s.part.Warnings...)
	if !s.part.Empty() {
		for _, m := range g.files {
			m.slot.used = true
		}
	}
	return s
}
