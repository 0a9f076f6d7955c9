package clock

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// jumpMin is the smallest backward step, in ns, that counts as a clock step;
// smaller ones come from concurrent writers.
const jumpMin = int64(2 * time.Second)

// told returns the clock steps that the log itself reports.
func (f *file) told() []parse.Jump {
	var out []parse.Jump
	for _, m := range f.markers {
		if m.Kind == parse.MarkClock {
			out = append(out, parse.Jump{At: parse.Mark{Pos: m.Pos, Stamp: m.Stamp, Raw: m.Raw, Text: m.Text}})
		}
	}
	return out
}

// step is a clock step seen in the timestamps of one writer.
type step struct {
	before *parse.Event
	by     int64
}

// steps records the clock steps. If there are very many, the first, the last and
// the largest of each kind are kept.
func (f *file) steps(seen []step) {
	f.jumps = f.told()
	f.stepped = len(f.jumps) + len(seen)
	f.jumps = parse.Weightiest(f.jumps, parse.Many, func(*parse.Jump) int64 { return 0 })
	for _, s := range parse.Weightiest(seen, parse.Many, func(s *step) int64 { return max(s.by, -s.by) }) {
		f.jumps = append(f.jumps, parse.Jump{At: parse.Mark{Pos: s.before.Where(), Stamp: s.before.Stamp, Text: parse.PlainText(s.before.Quote())}, Step: s.by})
	}
}

// writers tracks the latest time of each writer of a file.
type writers struct {
	newest map[*parse.Origin]*int64
	first  map[*parse.Origin]int64 // initial value of newest
	last   [2]writer               // cache: most lines come from two writers; the current one is first
}

// join adds the state of the events that follow and returns true. If a writer
// stepped back in between, it does nothing and returns false.
func (w *writers) join(later *writers) bool {
	for who := range later.newest {
		if before := w.newest[who]; before != nil && later.first[who] < *before {
			return false
		}
	}
	if w.newest == nil {
		w.newest, w.first = map[*parse.Origin]*int64{}, map[*parse.Origin]int64{}
	}
	for who, at := range later.newest {
		if before := w.newest[who]; before != nil {
			*before = *at
		} else {
			w.newest[who], w.first[who] = at, later.first[who]
		}
	}
	return true
}

// writer is a writer and its latest time.
type writer struct {
	who *parse.Origin
	at  *int64
}

// step returns by how much the writer's time steps back at an event (negative), 0
// if it does not.
func (w *writers) step(e *parse.Event) int64 {
	if e.Origin != w.last[0].who {
		w.turnTo(e)
	}
	at := w.last[0].at
	step := e.At - *at
	if step >= -jumpMin && step < 0 {
		return 0
	}
	*at = e.At
	return min(step, 0)
}

func (w *writers) turnTo(e *parse.Event) {
	if w.last[0], w.last[1] = w.last[1], w.last[0]; w.last[0].who == e.Origin {
		return
	}
	if w.newest == nil {
		w.newest, w.first = map[*parse.Origin]*int64{}, map[*parse.Origin]int64{}
	}
	at := w.newest[e.Origin]
	if at == nil {
		at = new(e.At)
		w.newest[e.Origin], w.first[e.Origin] = at, e.At
	}
	w.last[0] = writer{e.Origin, at}
}
