package bundle

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal/binary"
)

// A setting of the clock moves all entries behind it, damage only the entry that is
// damaged. So entries behind which the clocks go on as before are dated by those around
// them, which is right too if the clock was set for a moment and set back.

// clocks are when an entry was received, in µs: since boot, and Unix time.
type clocks struct{ mono, wall int64 }

func clocksOf(e *binary.Entry) clocks { return clocks{e.Monotonic, e.Realtime} }

// follows reports whether the wall clock was not set from a to c.
func (c clocks) follows(a clocks) bool { return !stepped(c.mono-a.mono, c.wall-a.wall) }

// between returns the clocks of an entry between a and b, by that of its own which is
// between theirs.
func (c clocks) between(a, b clocks) clocks {
	switch {
	case c.wall >= a.wall && c.wall <= b.wall:
		return a.atWall(c.wall)
	case c.mono >= a.mono && c.mono <= b.mono:
		return a.atMono(c.mono)
	}
	return a
}

// beside returns the clocks of an entry that is the first or the last of its boot, by that
// of its own which is nearer to its neighbour's: a flipped bit rather leads far away.
func (c clocks) beside(a clocks, first bool) clocks {
	mono, wall := c.mono-a.mono, c.wall-a.wall
	if first {
		mono, wall = -mono, -wall
	}
	switch {
	case mono < 0 && wall < 0:
		return a
	case mono < 0 || wall >= 0 && wall < mono:
		return a.atWall(c.wall)
	}
	return a.atMono(c.mono)
}

func (c clocks) atWall(t int64) clocks { return clocks{c.mono + t - c.wall, t} }
func (c clocks) atMono(t int64) clocks { return clocks{t, c.wall + t - c.mono} }

const (
	// mostOdd is how many entries with damaged clocks may follow one another. If there
	// are more, the clock may as well have been set time and again.
	mostOdd = 16
	// mostOddTold is how many of a file are told one by one.
	mostOddTold = 100
)

// mender yields the entries of a journal, those with damaged clocks with the clocks that
// their neighbours give them. It holds entries back behind a step of the clock.
type mender struct {
	file *parse.File
	told []parse.Warning
	more int
	boot binary.ID
	last clocks // of the last entry that was yielded
	n    int    // entries up to that without a step
	held []*binary.Entry
}

func (m *mender) mended(entries iter.Seq[*binary.Entry]) iter.Seq[*binary.Entry] {
	return func(yield func(*binary.Entry) bool) {
		for e := range entries {
			if !m.take(e, false, yield) {
				return
			}
		}
		for len(m.held) > 0 {
			if !m.release(yield) {
				return
			}
		}
	}
}

// take yields e, with those held before it, or holds it. An entry that is not kept is
// valid until the next only.
func (m *mender) take(e *binary.Entry, kept bool, yield func(*binary.Entry) bool) bool {
	for c := clocksOf(e); ; {
		same := m.n > 0 && e.Boot == m.boot
		switch {
		case same && c.follows(m.last) && m.n+1 > len(m.held):
			var before clocks
			for i, h := range m.held {
				was := clocksOf(h)
				set := i > 0 && was.follows(before) || i+1 < len(m.held) && clocksOf(m.held[i+1]).follows(was)
				before = was
				m.mend(h, was.between(m.last, c), set)
				if !yield(h) {
					return false
				}
			}
			m.held = m.held[:0]
			m.last, m.n = c, m.n+1
			return yield(e)
		case same && !c.follows(m.last) && len(m.held) < mostOdd:
			if !kept {
				e = e.Clone()
			}
			m.held = append(m.held, e)
			return true
		case len(m.held) == 0:
			m.boot, m.last, m.n = e.Boot, c, 1
			return yield(e)
		}
		if !m.release(yield) {
			return false
		}
	}
}

// release yields the first of the entries that are held as it is, and takes the others
// anew: the clock was set there.
func (m *mender) release(yield func(*binary.Entry) bool) bool {
	held := m.held
	m.held = nil
	m.last, m.n = clocksOf(held[0]), 1
	if !yield(held[0]) {
		return false
	}
	for _, h := range held[1:] {
		if !m.take(h, true, yield) {
			return false
		}
	}
	return true
}

// mend gives e other clocks and tells it; set says that the next to it agree with those it has.
func (m *mender) mend(e *binary.Entry, to clocks, set bool) {
	apart := (to.wall - to.mono) - (e.Realtime - e.Monotonic)
	set = set && to.wall != e.Realtime
	e.Monotonic, e.Realtime = to.mono, to.wall
	if len(m.told) == mostOddTold {
		m.more++
		return
	}
	w := oddClocks(m.file, e.Number, e.Offset, apart)
	if set {
		w.Msg = strings.Replace(w.Msg, "are damaged:", "are damaged, or the clock was set and soon set back:", 1)
	}
	m.told = append(m.told, w)
}

// warnings returns what to tell of the file.
func (m *mender) warnings() []parse.Warning {
	if m.more > 0 {
		w := m.told[len(m.told)-1]
		w.Msg = fmt.Sprintf("the clocks of %d more entries behind it are damaged", m.more)
		return append(m.told, w)
	}
	return m.told
}

// oddClocks is the warning about an entry whose clocks are apart by that many µs from
// those of its neighbours.
func oddClocks(f *parse.File, line uint32, offset, apart int64) parse.Warning {
	by := (time.Duration(max(apart, -apart)) * time.Microsecond).Round(time.Millisecond)
	return parse.Warning{Pos: parse.Pos{File: f, Line: line, Offset: offset},
		Msg: fmt.Sprintf("the clocks of the entry at byte %d are damaged: they are %v apart from those of the entries around it, by which it is dated", offset, by)}
}

// bootFile holds the spans of one boot in one journal file, in file order.
type bootFile struct {
	slot  *slot
	spans []*parse.JournalSpan
}

// mendEnds mends the clocks of an entry that alone differs from all of its boot, at the
// beginning or the end of what a file holds of the boot. The entry has a neighbour on one
// side only, so that the clock may also have been set there, with no other entry to tell
// it; nothing else is moved either way.
func mendEnds(files []bootFile) {
	for _, f := range files {
		for _, i := range []int{0, len(f.spans) - 1} {
			s := f.spans[i]
			if s.N != 1 || backed(s, files) {
				continue
			}
			var near *parse.JournalSpan
			switch {
			case i > 0:
				near = f.spans[i-1]
			case len(f.spans) > 1:
				near = f.spans[1]
			default:
				near = longest(files)
			}
			if near == nil || near == s || near.N == 1 && !backed(near, files) {
				continue
			}
			first := i == 0 && (len(f.spans) > 1 || near.Wall > s.Wall)
			was := clocks{s.Mono, s.Wall}
			var to clocks
			if first {
				to = was.beside(clocks{near.Mono, near.Wall}, true)
			} else {
				to = was.beside(clocks{near.EndMono, near.EndWall}, false)
			}
			f.slot.mend(s, to)
			w := oddClocks(f.slot.file, s.Line, s.Offset, (to.wall-to.mono)-(was.wall-was.mono))
			if first && was.mono <= near.Mono && was.wall <= near.Wall && near.Mono < firstSync {
				w.Msg = fmt.Sprintf("the clock was set behind the entry at byte %d, or the clocks of that entry are damaged; it is dated by the entries behind it", s.Offset)
				w.Note = true
			}
			f.slot.lose(w)
		}
	}
}

// backed reports whether another span of the boot agrees with s.
func backed(s *parse.JournalSpan, files []bootFile) bool {
	begin, end := clocks{s.Mono, s.Wall}, clocks{s.EndMono, s.EndWall}
	for _, f := range files {
		for _, x := range f.spans {
			if x != s && (begin.follows(clocks{x.EndMono, x.EndWall}) || (clocks{x.Mono, x.Wall}).follows(end)) {
				return true
			}
		}
	}
	return false
}

// longest returns the span of the boot with the most entries.
func longest(files []bootFile) (most *parse.JournalSpan) {
	for _, f := range files {
		for _, x := range f.spans {
			if most == nil || x.N > most.N {
				most = x
			}
		}
	}
	return most
}

// mend gives the only entry of a span, and all that was read of it, other clocks.
func (s *slot) mend(span *parse.JournalSpan, to clocks) {
	was, by := span.Wall*1000, (to.wall-span.Wall)*1000
	span.Mono, span.Wall, span.EndMono, span.EndWall = to.mono, to.wall, to.mono, to.wall
	mark := func(m *parse.Mark) bool {
		if m.Line != span.Line || m.Envelope.NS != was {
			return false
		}
		if m.Raw == m.Envelope {
			m.Raw.NS += by
		}
		m.Envelope.NS += by
		return true
	}
	for _, e := range s.part.Events {
		if e.Line == span.Line && e.Raw().Envelope.NS == was {
			e.Arrived += by
		}
	}
	for _, m := range s.part.Markers {
		if m.Line == span.Line && m.Raw.NS == was {
			m.Raw.NS += by
		}
	}
	for _, c := range s.part.Coverage {
		found := false
		for _, m := range []*parse.Mark{&c.FirstLine, &c.LastLine, &c.Low, &c.High, &c.Dated} {
			found = mark(m) || found
		}
		for i := range c.Gaps {
			found = mark(&c.Gaps[i].Last) || found
			found = mark(&c.Gaps[i].Next) || found
		}
		if found {
			c.HasLag = false
		}
	}
}
