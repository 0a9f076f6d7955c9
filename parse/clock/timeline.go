package clock

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"github.com/plegforensics/plegforensics/parse"
)

// item is one dated record of a file; exactly one of its pointers is set. It holds
// no clock of its own, since a log may have millions of items.
type item struct {
	event  *parse.Event
	mark   *parse.Mark
	marker *parse.Marker
}

func (it item) pos() parse.Pos {
	switch {
	case it.event != nil:
		return it.event.Where()
	case it.mark != nil:
		return it.mark.Pos
	}
	return it.marker.Pos
}

// clocks returns the clock in the message and that of the framing.
func (it item) clocks() (header, envelope parse.Clock) {
	switch {
	case it.event != nil:
		raw := it.event.Raw()
		return raw.Header, raw.Envelope
	case it.mark == nil:
		return parse.Clock{}, it.marker.Raw
	case it.mark.Raw != it.mark.Envelope:
		return it.mark.Raw, it.mark.Envelope
	}
	return parse.Clock{}, it.mark.Envelope
}

// lead returns the clock that orders the file.
func (it item) lead() parse.Clock { return leading(it.clocks()) }

// leading returns the framing's clock if set, else the message's.
func leading(header, envelope parse.Clock) parse.Clock {
	if envelope.Set {
		return envelope
	}
	return header
}

func (it item) set(s parse.Stamp, arrived int64) {
	switch {
	case it.event != nil:
		it.event.Resolve(s, arrived)
	case it.mark != nil:
		it.mark.Stamp = s
	default:
		it.marker.Stamp = s
	}
}

func (it item) stamp() parse.Stamp {
	switch {
	case it.event != nil:
		return it.event.Stamp
	case it.mark != nil:
		return it.mark.Stamp
	}
	return it.marker.Stamp
}

// shift moves the item's timestamps by ns.
func (it item) shift(by int64) {
	switch {
	case it.event != nil && it.event.Basis > parse.NoTime:
		it.event.At += by
		if it.event.Arrived != 0 {
			it.event.Arrived += by
		}
	case it.mark != nil && it.mark.Basis > parse.NoTime:
		it.mark.At += by
	case it.marker != nil && it.marker.Basis > parse.NoTime:
		it.marker.At += by
	}
}

// timeline holds all dated items of one file, oldest first. Its events share the
// bundle's slice if that is in order.
type timeline struct {
	events   []*parse.Event
	marks    []item // all items that are not events
	at       []int  // index of each mark among all items
	reversed bool   // the file is newest line first
	loose    bool   // the events are not in file order
	shared   bool   // events is a subslice of the bundle's
}

// addEvents adds events that are consecutive in the bundle.
func (t *timeline) addEvents(es []*parse.Event, ordered bool) {
	t.loose = t.loose || !ordered
	if t.shared = len(t.events) == 0; t.shared {
		t.events = es
		return
	}
	t.loose = t.loose || byPos(t.events[len(t.events)-1], es[0]) > 0
	t.events = append(t.events, es...)
}

// addMarks adds the marks of one origin.
func (t *timeline) addMarks(c *parse.Coverage) {
	t.addMark(&c.FirstLine)
	t.addMark(&c.LastLine)
	t.addMark(&c.Low)
	t.addMark(&c.High)
	t.addMark(&c.Dated)
	if c.HasLag {
		t.addMark(&c.MaxLagAt)
	}
	for i := range c.Gaps {
		t.addMark(&c.Gaps[i].Last)
		t.addMark(&c.Gaps[i].Next)
	}
}

// addMark adds a mark, unless it has no clock.
func (t *timeline) addMark(m *parse.Mark) {
	if m.Raw.Set || m.Envelope.Set {
		t.marks = append(t.marks, item{mark: m})
	}
}

// order sorts the items in file order, marks before the event of the same line, and
// reverses a newest-first file.
func (t *timeline) order() {
	if t.shared && (t.loose || t.reversed) {
		t.events = slices.Clone(t.events)
	}
	if t.loose {
		slices.SortStableFunc(t.events, byPos)
	}
	slices.SortStableFunc(t.marks, func(a, b item) int { return comparePos(a.pos(), b.pos()) })
	t.at = make([]int, len(t.marks))
	for i, m := range t.marks {
		before, _ := slices.BinarySearchFunc(t.events, m.pos(), func(e *parse.Event, p parse.Pos) int { return comparePos(e.Where(), p) })
		t.at[i] = before + i
	}
	if t.reversed {
		slices.Reverse(t.events)
		slices.Reverse(t.marks)
		slices.Reverse(t.at)
		for i := range t.at {
			t.at[i] = t.len() - 1 - t.at[i]
		}
	}
}

func (t *timeline) len() int { return len(t.events) + len(t.marks) }

// item returns the item at index i.
func (t *timeline) item(i int) item {
	m := sort.SearchInts(t.at, i)
	if m < len(t.at) && t.at[m] == i {
		return t.marks[m]
	}
	return item{event: t.events[i-m]}
}

// stretch is a sequence of consecutive events and the mark that follows them.
type stretch struct {
	events []*parse.Event
	mark   *item // nil for the last stretch
}

// stretches iterates over the items, oldest first, with the index of the first item
// of each stretch.
func (t *timeline) stretches() iter.Seq2[int, stretch] {
	return func(yield func(int, stretch) bool) {
		from := 0 // events before the stretch
		for m := range t.marks {
			to := t.at[m] - m
			if !yield(from+m, stretch{t.events[from:to], &t.marks[m]}) {
				return
			}
			from = to
		}
		yield(from+len(t.marks), stretch{t.events[from:], nil})
	}
}

func byPos(a, b *parse.Event) int {
	return comparePlace(a.Offset, b.Offset, a.Line, b.Line)
}

// comparePos compares two positions in one file.
func comparePos(a, b parse.Pos) int {
	return comparePlace(a.Offset, b.Offset, a.Line, b.Line)
}

func comparePlace(aOffset, bOffset int64, aLine, bLine uint32) int {
	if aOffset != bOffset {
		return cmp.Compare(aOffset, bOffset)
	}
	return cmp.Compare(aLine, bLine)
}
