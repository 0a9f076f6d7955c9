package parse

import (
	"slices"
	"sort"
	"time"
)

// Repeat describes the lines of a file that are copies of earlier lines in it.
type Repeat struct {
	First Pos // first copied line
	Lines int
	spans []posSpan // ranges in which all comparable lines are copies, in file order
}

// posSpan is a range of lines in a file, inclusive.
type posSpan struct{ first, last Pos }

// Holds reports whether the line at p is a copy or lies only between copies.
func (r *Repeat) Holds(p Pos) bool {
	i := sort.Search(len(r.spans), func(i int) bool { return !r.spans[i].last.Before(p) })
	return i < len(r.spans) && !p.Before(r.spans[i].first)
}

// Behind reports whether the last range of copies begins at or after p.
func (r *Repeat) Behind(p Pos) bool {
	return len(r.spans) > 0 && !r.spans[len(r.spans)-1].first.Before(p)
}

// repeatMin is the minimum number of distinct timestamps in a row of repeated lines
// for the file to count as copied into itself. A process may well write the same
// line twice at one time, but not so many in a row.
const repeatMin = 8

// Repeats drops lines that one file contains twice because a part of it was
// appended to itself, parts of it overlap, or each line was written twice. events
// must be in time order, with ties in file order. Lines are equal if their time,
// writer and message are equal. Lines with a resolution of a second or coarser are
// not compared.
func Repeats(events []*Event) (kept []*Event, of map[*File]*Repeat) {
	later, earlier := repeated(events)
	if len(later) < repeatMin {
		return events, nil
	}
	files := map[*File][]*Event{}
	for e := range later {
		files[e.File] = nil
	}
	for _, e := range events {
		if es, some := files[e.File]; some && exact(e) {
			files[e.File] = append(es, e)
		}
	}
	of = map[*File]*Repeat{}
	for f, es := range files {
		slices.SortFunc(es, func(a, b *Event) int {
			switch {
			case a.Where().Before(b.Where()):
				return -1
			case b.Where().Before(a.Where()):
				return 1
			}
			return 0
		})
		var r Repeat
		for len(es) > 0 {
			n := slices.IndexFunc(es, func(e *Event) bool { return !later[e] && !earlier[e] })
			if n < 0 {
				n = len(es)
			}
			r.add(es[:n], later)
			es = es[min(n+1, len(es)):]
		}
		if r.Lines > 0 {
			of[f] = &r
		}
	}
	kept = make([]*Event, 0, len(events))
	for _, e := range events {
		if later[e] {
			if r := of[e.File]; r != nil && r.Holds(e.Where()) {
				continue
			}
		}
		kept = append(kept, e)
	}
	return kept, of
}

// add records the copies in a row of lines that are all copies or have copies, if
// there are enough of them.
func (r *Repeat) add(row []*Event, later map[*Event]bool) {
	moments := map[int64]bool{}
	var spans []posSpan
	lines := 0
	for i, e := range row {
		if !later[e] {
			continue
		}
		if lines++; i == 0 || !later[row[i-1]] {
			spans = append(spans, posSpan{first: e.Where()})
		}
		spans[len(spans)-1].last = e.Where()
		moments[e.At] = true
	}
	if len(moments) < repeatMin {
		return
	}
	if r.Lines == 0 {
		r.First = spans[0].first
	}
	r.Lines += lines
	r.spans = append(r.spans, spans...)
}

// exact reports whether the resolution of a line is finer than a second.
func exact(e *Event) bool { return e.Basis != NoTime && e.Res.Duration() < time.Second }

// repeated returns the lines that equal an earlier one in their file, and the lines
// that a later one equals.
func repeated(events []*Event) (later, earlier map[*Event]bool) {
	type line struct {
		file        *File
		who         *Origin
		sum, length uint32
	}
	later, earlier = map[*Event]bool{}, map[*Event]bool{}
	for i := 0; i < len(events); {
		j := i + 1
		for j < len(events) && events[j].At == events[i].At {
			j++
		}
		if j > i+1 {
			first := map[line]*Event{}
			for _, e := range events[i:j] {
				if !exact(e) {
					continue
				}
				k := line{e.File, e.Origin, e.messageSum(), uint32(e.messageLen())}
				if was := first[k]; was != nil {
					later[e], earlier[was] = true, true
				} else {
					first[k] = e
				}
			}
		}
		i = j
	}
	return later, earlier
}
