package parse

import "strings"

// Unique drops lines that several files hold: a support bundle keeps the same
// journal in several commands, and its binary files beside them. Events are in
// order of time. Lines are the same when moment, writer, place in the source and
// message are; a line that one file holds twice is two lines. Framings cut
// their stamp to the second, so lines that have no clock but the framing's need
// only agree in that and in the host. The copy of the file that has most of
// them is kept, then that of the finest stamps, then that of the file with most
// lines, so that the others can go altogether, then the first by path.
func Unique(events []*Event) []*Event {
	if !severalFiles(events) {
		return events
	}
	lines := map[*File]int{}
	for _, e := range events {
		lines[e.File]++
	}
	out := make([]*Event, 0, len(events))
	for i := 0; i < len(events); {
		j, second := i+1, events[i].At/1e9
		for j < len(events) && events[j].At/1e9 == second && events[j].Basis != NoTime {
			j++
		}
		out = append(out, unique(events[i:j], lines)...)
		i = j
	}
	return out
}

func severalFiles(events []*Event) bool {
	for _, e := range events {
		if e.File != events[0].File {
			return true
		}
	}
	return false
}

// writerKey tells who wrote a line and when; lines of different keys need not
// be compared.
type writerKey struct {
	at     int64 // 0: anywhere in the second
	source Source
	host   string // where the moment alone is too coarse
	pid    int
	caller string
}

func writerOf(e *Event) writerKey {
	k := writerKey{e.At, e.Origin.Source, "", e.Origin.PID, e.Caller}
	host := e.Origin.Host
	if host == "" {
		host = e.File.Node // dmesg names none
	}
	if !e.Headed && host != "" {
		k.at = 0
		k.host, _, _ = strings.Cut(host, ".")
	}
	return k
}

// lineKey is a line and lineCopies its copies in one file.
type (
	lineKey struct {
		writerKey
		message string
	}
	lineCopies struct {
		file *File
		n    int
		res  int64
	}
)

// unique returns the events of one second without the copies of other files.
func unique(same []*Event, lines map[*File]int) []*Event {
	if len(same) == 1 || !severalFiles(same) {
		return same
	}
	writers := make([]writerKey, len(same))
	first, several := map[writerKey]*File{}, map[writerKey]bool{}
	for i, e := range same {
		k := writerOf(e)
		writers[i] = k
		if f := first[k]; f == nil {
			first[k] = e.File
		} else if f != e.File {
			several[k] = true
		}
	}
	if len(several) == 0 {
		return same
	}
	keys, best := make([]lineKey, len(same)), map[lineKey][]lineCopies{}
	for i, e := range same {
		if several[writers[i]] {
			keys[i] = lineKey{writers[i], e.Message()}
			best[keys[i]] = counted(best[keys[i]], e)
		}
	}
	out := same[:0:0]
	for i, e := range same {
		if !several[writers[i]] || preferred(best[keys[i]], lines) == e.File {
			out = append(out, e)
		}
	}
	return out
}

// counted counts e among the copies of its line.
func counted(all []lineCopies, e *Event) []lineCopies {
	for i := range all {
		if all[i].file == e.File {
			all[i].n++
			return all
		}
	}
	return append(all, lineCopies{e.File, 1, int64(e.Res)})
}

// preferred is the file whose copies of a line are kept.
func preferred(all []lineCopies, lines map[*File]int) *File {
	best := all[0]
	for _, c := range all[1:] {
		switch {
		case c.n != best.n:
			if c.n > best.n {
				best = c
			}
		case c.res != best.res:
			if c.res < best.res {
				best = c
			}
		case lines[c.file] != lines[best.file]:
			if lines[c.file] > lines[best.file] {
				best = c
			}
		case (Pos{File: c.file}).Before(Pos{File: best.file}):
			best = c
		}
	}
	return best.file
}
