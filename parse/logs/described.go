package logs

import (
	"bytes"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// described is a position where a text begins to describe a node, or, if who is
// nil, ends.
type described struct {
	at  int64 // offset in the file
	who *journal.Who
}

// describes returns where a text about several nodes describes which one. kubectl
// describe lists one after the other, or one next to a table of several. It returns
// nil if the text is about a single node.
func describes(head []byte) (out []described) {
	if !bytes.Contains(head, []byte("LastHeartbeatTime")) {
		return nil
	}
	names, rows := map[string]bool{}, 0
	begin, name, node, table := 0, "", false, false
	end := func(at int) {
		if node && name != "" {
			names[name] = true
			out = append(out, described{int64(begin), &journal.Who{Host: name, Ident: parse.IdentAbout}}, described{at: int64(at)})
		}
		begin, name, node = at, "", false
	}
	for at := 0; at < len(head); {
		line, _, _ := bytes.Cut(head[at:], []byte("\n"))
		f := bytes.Fields(line)
		switch {
		case len(f) == 2 && string(f[0]) == "Name:" && line[0] == 'N':
			end(at)
			name = string(f[1])
		case len(f) > 0 && string(f[0]) == "$":
			end(at)
		case bytes.Contains(line, []byte("LastHeartbeatTime")):
			node = true
		}
		if table = len(f) > 3 && (string(f[0]) == "NAME" && string(f[1]) == "STATUS" || table && bytes.Contains(f[1], []byte("Ready"))); table {
			rows++
		}
		at += len(line) + 1
	}
	if end(len(head)); len(names) < 2 && rows < 3 {
		return nil // the rest of the input is about the same node
	}
	return out
}

// belong assigns a condition or event row to the node described at its position.
func (s *scanner) belong() {
	if len(s.d.described) == 0 || s.entry.Form != journal.Condition && s.entry.Form != journal.EventRow {
		return
	}
	at := s.offset()
	i, found := slices.BinarySearchFunc(s.d.described, at, func(d described, at int64) int { return int(d.at - at) })
	if !found {
		i--
	}
	if i >= 0 && s.d.described[i].who != nil {
		s.entry.Who = s.d.described[i].who
	}
}
