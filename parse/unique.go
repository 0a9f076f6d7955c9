package parse

import "strings"

// Unique drops lines that several files hold: a support bundle keeps the same
// journal in several commands, and its binary files beside them. Events are in
// order of time. Lines are the same when moment, writer, place in the source and
// message are; a line that one file holds twice is two lines. Of a line with a clock
// and a place of its own the first line counts and no process: JSON states none, and
// a framing may take lines of others for the rest of it. Framings cut
// their stamp to the second, so lines that have no clock but the framing's need
// only agree in that and in the host. The copy of the file that has most of
// them is kept, then that of the finest stamps, then that of the file with most
// lines, so that the others can go altogether, then the first by path.
func Unique(events []*Event) []*Event {
	if !severalFiles(events) {
		return events
	}
	u := &uniquer{lines: map[*File]int{}, who: map[writer]int32{}, kinds: map[*EventKind]kindWriter{}, first: map[writerKey]*File{}, several: map[writerKey]int{}, sums: map[writerKey]uint32{}, differ: map[writerKey]bool{}, numbers: map[lineKey]int32{}, copies: map[copyKey]int32{}}
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
	if e.ownPlace() {
		w.pid = 0
	}
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
// not happen in practice, unless its moments hold very many lines. In a second there
// may be thousands, and there are few writers without a clock of their own.
type lineKey struct {
	writerKey
	sum, length uint32
	message     string
}

// ownPlace reports whether the lines of a kind state both when and where in the source
// they were written.
func (e *EventKind) ownPlace() bool { return e.Headed && e.Caller != "" }

// mostBySum is how many lines of a writer and a moment are told apart by sums.
const mostBySum = 32

func (u *uniquer) lineOf(w writerKey, e *Event) lineKey {
	if w.at == 0 || u.several[w] > mostBySum || u.differ[w] && e.ownPlace() {
		message := e.Message()
		if e.ownPlace() {
			message, _, _ = strings.Cut(message, "\n")
		}
		return lineKey{writerKey: w, message: message}
	}
	return lineKey{writerKey: w, sum: e.messageSum(), length: uint32(e.messageLen())}
}

// lineCopies is the copies of a line in one file.
type lineCopies struct {
	line int32 // by its number
	file *File
	n    int
	res  int64
}

// copyKey is a line, by its number, in one file.
type copyKey struct {
	line int32
	file *File
}

// uniquer drops copies, second by second. What it needs for one is used again for
// the next. Thousands of files may hold the same line: no step looks at all of
// them for each.
type uniquer struct {
	lines   map[*File]int // of each file
	who     map[writer]int32
	kinds   map[*EventKind]kindWriter
	writers []writerKey
	first   map[writerKey]*File
	several map[writerKey]int // writers with lines in several files: how many from the second file on
	sums    map[writerKey]uint32
	differ  map[writerKey]bool // writers whose messages do
	numbers map[lineKey]int32
	copies  map[copyKey]int32 // index of them in all
	all     []lineCopies
	line    []int32 // of each event, -1 where no other file can hold it
	best    []int32 // of each line: the index of those that are kept
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
		} else if u.several[k] > 0 || f != e.File {
			u.several[k]++
		}
	}
	if len(u.several) == 0 {
		return append(out, same...)
	}
	clear(u.sums)
	clear(u.differ)
	for i, e := range same {
		if w := u.writers[i]; u.several[w] > 0 && !u.differ[w] {
			first, sum := u.sums[w], e.messageSum()
			u.sums[w], u.differ[w] = sum, first != 0 && first != sum
		}
	}
	clear(u.numbers)
	clear(u.copies)
	u.all, u.line, u.best = u.all[:0], u.line[:0], u.best[:0]
	for i, e := range same {
		line := int32(-1)
		if w := u.writers[i]; u.several[w] > 0 {
			line = u.count(u.lineOf(w, e), e)
		}
		u.line = append(u.line, line)
	}
	for i, c := range u.all {
		if best := &u.best[c.line]; *best < 0 || u.prefer(c, u.all[*best]) {
			*best = int32(i)
		}
	}
	for i, e := range same {
		if line := u.line[i]; line < 0 || u.all[u.best[line]].file == e.File {
			out = append(out, e)
		}
	}
	return out
}

// count counts e among the copies of its line, whose number it returns.
func (u *uniquer) count(k lineKey, e *Event) int32 {
	line, known := u.numbers[k]
	if !known {
		line = int32(len(u.best))
		u.numbers[k] = line
		u.best = append(u.best, -1)
	}
	at, known := u.copies[copyKey{line, e.File}]
	if !known {
		at = int32(len(u.all))
		u.copies[copyKey{line, e.File}] = at
		u.all = append(u.all, lineCopies{line: line, file: e.File, res: int64(e.Res.Duration())})
	}
	u.all[at].n++
	return line
}

// prefer reports whether the copies c of a line are kept rather than d.
func (u *uniquer) prefer(c, d lineCopies) bool {
	switch {
	case c.n != d.n:
		return c.n > d.n
	case c.res != d.res:
		return c.res < d.res
	case u.lines[c.file] != u.lines[d.file]:
		return u.lines[c.file] > u.lines[d.file]
	}
	return Pos{File: c.file}.Before(Pos{File: d.file})
}
