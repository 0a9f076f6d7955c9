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
	u := &uniquer{lines: map[*File]int{}, who: map[writer]int32{}, kinds: map[*EventKind]kindWriter{}, first: map[writerKey]*File{}, several: map[writerKey]bool{}, heads: map[lineKey]int32{}}
	for _, e := range events {
		u.lines[e.File]++
	}
	out := make([]*Event, 0, len(events))
	for i := 0; i < len(events); {
		j, second := i+1, events[i].At/1e9
		for j < len(events) && events[j].At/1e9 == second && events[j].Basis != NoTime {
			j++
		}
		out = u.unique(out, events[i:j])
		i = j
	}
	return out
}

func severalFiles(events []*Event) bool {
	for _, e := range events {
		if e.EventKind != events[0].EventKind && e.File != events[0].File {
			return true
		}
	}
	return false
}

// writerKey tells who wrote a line and when; lines of different keys need not
// be compared.
type writerKey struct {
	at  int64 // 0: anywhere in the second
	who int32
}

// writer is who wrote a line, as far as copies of it agree.
type writer struct {
	source Source
	host   string // where the moment alone is too coarse
	pid    int
	caller string
}

// kindWriter is the writer of a kind of events, by number.
type kindWriter struct {
	who    int32
	coarse bool // of its lines the second alone counts
}

func (u *uniquer) writerOf(e *Event) writerKey {
	k, known := u.kinds[e.EventKind]
	if !known {
		k = u.number(e.EventKind)
		u.kinds[e.EventKind] = k
	}
	if k.coarse {
		return writerKey{0, k.who}
	}
	return writerKey{e.At, k.who}
}

func (u *uniquer) number(e *EventKind) (k kindWriter) {
	w := writer{e.Origin.Source, "", e.Origin.PID, e.Caller}
	host := e.Origin.Host
	if host == "" {
		host = e.File.Node // dmesg names none
	}
	if k.coarse = !e.Headed && host != ""; k.coarse {
		w.host, _, _ = strings.Cut(host, ".")
	}
	who, known := u.who[w]
	if !known {
		who = int32(len(u.who))
		u.who[w] = who
	}
	k.who = who
	return k
}

// lineKey is a line. Where the moment is exact a sum and the length stand for the
// message: that a writer wrote two lines in one moment which agree in them does
// not happen in practice. In a second there may be thousands of lines, and there
// are few writers without a clock of their own.
type lineKey struct {
	writerKey
	sum, length uint32
	message     string
}

func lineOf(w writerKey, e *Event) lineKey {
	if w.at == 0 {
		return lineKey{writerKey: w, message: e.Message()}
	}
	return lineKey{writerKey: w, sum: e.messageSum(), length: uint32(e.messageLen())}
}

// lineCopies is the copies of a line in one file.
type lineCopies struct {
	file *File
	n    int
	res  int64
	next int32 // index of those in another file, -1 for none
}

// uniquer drops copies, second by second. What it needs for one is used again for
// the next.
type uniquer struct {
	lines   map[*File]int // of each file
	who     map[writer]int32
	kinds   map[*EventKind]kindWriter
	writers []writerKey
	first   map[writerKey]*File
	several map[writerKey]bool // writers with lines in several files
	keys    []lineKey
	heads   map[lineKey]int32 // the first copies of a line in all
	all     []lineCopies
}

// unique appends the events of one second without the copies of other files.
func (u *uniquer) unique(out, same []*Event) []*Event {
	if len(same) == 1 || !severalFiles(same) {
		return append(out, same...)
	}
	clear(u.first)
	clear(u.several)
	u.writers = u.writers[:0]
	for _, e := range same {
		k := u.writerOf(e)
		u.writers = append(u.writers, k)
		if f := u.first[k]; f == nil {
			u.first[k] = e.File
		} else if f != e.File {
			u.several[k] = true
		}
	}
	if len(u.several) == 0 {
		return append(out, same...)
	}
	clear(u.heads)
	u.keys, u.all = u.keys[:0], u.all[:0]
	for i, e := range same {
		k := lineKey{writerKey: u.writers[i]}
		if u.several[k.writerKey] {
			k = lineOf(k.writerKey, e)
			u.count(k, e)
		}
		u.keys = append(u.keys, k)
	}
	for i, e := range same {
		if !u.several[u.writers[i]] || u.preferred(u.keys[i]) == e.File {
			out = append(out, e)
		}
	}
	return out
}

// count counts e among the copies of its line.
func (u *uniquer) count(k lineKey, e *Event) {
	head, ok := u.heads[k]
	if !ok {
		head = -1
	}
	for i := head; i >= 0; i = u.all[i].next {
		if u.all[i].file == e.File {
			u.all[i].n++
			return
		}
	}
	u.heads[k] = int32(len(u.all))
	u.all = append(u.all, lineCopies{e.File, 1, int64(e.Res.Duration()), head})
}

// preferred is the file whose copies of a line are kept.
func (u *uniquer) preferred(k lineKey) *File {
	best := u.all[u.heads[k]]
	for i := best.next; i >= 0; i = u.all[i].next {
		c := u.all[i]
		switch {
		case c.n != best.n:
			if c.n > best.n {
				best = c
			}
		case c.res != best.res:
			if c.res < best.res {
				best = c
			}
		case u.lines[c.file] != u.lines[best.file]:
			if u.lines[c.file] > u.lines[best.file] {
				best = c
			}
		case (Pos{File: c.file}).Before(Pos{File: best.file}):
			best = c
		}
	}
	return best.file
}
