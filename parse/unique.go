package parse

import (
	"cmp"
	"slices"
	"strings"
)

// Unique drops lines that several files contain: a support bundle has the same
// journal in the output of several commands and in binary files. events must be in
// time order. Lines are equal if their time, writer, source location and message
// are equal; a line that one file contains twice is two lines.
//
// If a line states a time and a source location, the process is ignored and only
// the first line of its message is compared: JSON states no process, and a framing
// may append other lines to the message. Framings truncate timestamps to the
// second, so the times of lines with no clock but the framing's only need to agree
// to the second; in return, their hosts must match. A line of --logging-format=json is
// also compared with those of klog's text format that are at most 1 µs away: see SameMessage.
//
// The copies kept are those of the file that has most of them, then the one with
// the finest timestamps, then the one with the most lines, so that other files can
// be dropped entirely, then the first by path.
func Unique(events []*Event) []*Event {
	if !severalFiles(events) {
		return events
	}
	u := &uniquer{lines: map[*File]int{}, who: map[writer]int32{}, kinds: map[*EventKind]kindWriter{}, first: map[writerKey]*File{}, several: map[writerKey]int{}, differ: map[writerKey]int{}, bySum: map[sumKey]lineKey{}, texts: map[writerKey][]*Event{}, numbers: map[lineKey]int32{}, copies: map[copyKey]int32{}}
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

// writerKey is the writer and time of a line. Lines with different keys are never
// equal.
type writerKey struct {
	at  int64 // 0: any time in the second
	who int32
}

// writer identifies the writer of a line, as far as copies of it agree.
type writer struct {
	source Source
	host   string // set if the time is too coarse by itself
	pid    int
	caller string
}

// kindWriter is the numbered writer of an event kind.
type kindWriter struct {
	who    int32
	coarse bool // only the second of its lines is compared
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
		host = e.File.Node // dmesg does not name the host
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

// lineKey identifies a line by its message or, where only its first line counts, by
// that. As long as the messages of a writer and time have few different checksums,
// checksum and length stand for the message: two different lines that agree in both
// do not occur in practice, unless very many lines share the time. However many
// files have a copy, its text is then read at most once.
type lineKey struct {
	writerKey
	sum, length uint32
	message     string
}

// sumKey is what checksums tell of a line.
type sumKey struct {
	writerKey
	sum, length uint32
}

// ownPlace reports whether lines of this kind state both their time and their
// source location.
func (e *EventKind) ownPlace() bool { return e.Headed && e.Caller != "" }

// mostBySum is the maximum number of different checksums per writer and time up to
// which equal checksums mean equal lines.
const mostBySum = 32

func (u *uniquer) lineOf(w writerKey, e *Event) lineKey {
	k := sumKey{w, e.messageSum(), uint32(e.messageLen())}
	alike := u.differ[w] <= mostBySum
	if differ := u.differ[w] > 1 && e.ownPlace(); alike && !differ {
		return lineKey{writerKey: w, sum: k.sum, length: k.length}
	}
	if line, known := u.bySum[k]; alike && known {
		return line
	}
	message := e.Message()
	if e.ownPlace() {
		message, _, _ = strings.Cut(message, "\n")
	}
	line := lineKey{writerKey: w, message: message}
	u.bySum[k] = line
	return line
}

// lineCopies is the copies of a line in one file.
type lineCopies struct {
	line int32 // its number
	file *File
	n    int
	res  int64
}

// copyKey is a line, by number, in one file.
type copyKey struct {
	line int32
	file *File
}

// uniquer drops copies, one second at a time, and reuses its memory for the next.
// Thousands of files may contain the same line, so no step loops over all of them
// per file.
type uniquer struct {
	lines   map[*File]int // total per file
	who     map[writer]int32
	kinds   map[*EventKind]kindWriter
	writers []writerKey
	first   map[writerKey]*File
	texts   map[writerKey][]*Event // lines in klog's text format, with different checksums, if there are lines in JSON
	inText  []*Event               // per event: the line in klog's text format that it is in JSON, or nil
	several map[writerKey]int      // for writers with lines in several files: number of lines from the second file on
	differ  map[writerKey]int      // for the same writers: number of different checksums, counted up to one more than mostBySum
	bySum   map[sumKey]lineKey     // the lines whose text was read
	numbers map[lineKey]int32
	copies  map[copyKey]int32 // index in all
	all     []lineCopies
	line    []int32 // line number per event, -1 if no other file can contain it
	best    []int32 // per line: the index in all of the copies kept
}

// unique appends the events of one second without the copies in other files.
func (u *uniquer) unique(out, same []*Event) []*Event {
	if len(same) == 1 || !severalFiles(same) {
		return append(out, same...)
	}
	clear(u.first)
	clear(u.several)
	u.writers = u.writers[:0]
	for _, e := range same {
		u.writers = append(u.writers, u.writerOf(e))
	}
	u.findInText(same)
	for i, e := range same {
		k := u.writers[i]
		if f := u.first[k]; f == nil {
			u.first[k] = e.File
		} else if u.several[k] > 0 || f != e.File {
			u.several[k]++
		}
	}
	if len(u.several) == 0 {
		return append(out, same...)
	}
	clear(u.differ)
	clear(u.bySum)
	for i, e := range same {
		if w := u.writers[i]; u.several[w] > 0 && u.differ[w] <= mostBySum {
			of := cmp.Or(u.inText[i], e)
			k := sumKey{w, of.messageSum(), uint32(of.messageLen())}
			if _, known := u.bySum[k]; !known {
				u.bySum[k] = lineKey{}
				u.differ[w]++
			}
		}
	}
	clear(u.bySum)
	clear(u.numbers)
	clear(u.copies)
	u.all, u.line, u.best = u.all[:0], u.line[:0], u.best[:0]
	for i, e := range same {
		line := int32(-1)
		if w := u.writers[i]; u.several[w] > 0 {
			of := cmp.Or(u.inText[i], e)
			line = u.count(u.lineOf(w, of), e, of.Res)
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

// findInText finds the lines in klog's text format that others are in JSON, which then
// have the same writer key.
func (u *uniquer) findInText(same []*Event) {
	u.inText = append(u.inText[:0], make([]*Event, len(same))...)
	json := func(e *Event) bool { return e.JSON && e.ownPlace() }
	if !slices.ContainsFunc(same, json) {
		return
	}
	clear(u.texts)
	for i, e := range same {
		if e.JSON || !e.ownPlace() {
			continue
		}
		texts := u.texts[u.writers[i]]
		if len(texts) < mostBySum && !slices.ContainsFunc(texts, func(t *Event) bool { return t.messageSum() == e.messageSum() }) {
			u.texts[u.writers[i]] = append(texts, e)
		}
	}
	for i, e := range same {
		if !json(e) {
			continue
		}
		for _, at := range [...]int64{0, 1, -1} {
			k := writerKey{(e.At/1e3 + at) * 1e3, u.writers[i].who}
			if n := slices.IndexFunc(u.texts[k], func(t *Event) bool { return SameMessage(t, e) }); n >= 0 {
				u.inText[i], u.writers[i] = u.texts[k][n], k
				break
			}
		}
	}
}

// count adds e to the copies of its line, with a time of resolution res, and returns the
// line's number.
func (u *uniquer) count(k lineKey, e *Event, res Resolution) int32 {
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
		u.all = append(u.all, lineCopies{line: line, file: e.File, res: int64(res.Duration())})
	}
	u.all[at].n++
	return line
}

// prefer reports whether copies c of a line are preferred over d.
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
