package clock

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Where daylight saving time ends, the clocks show an hour twice. The order of the lines
// tells which of the two an item is of: where their time goes back within the hour, the
// second begins. Without such a step, lines that go on from those before the hour are
// of the first, and lines that those after it go on from are of the second.

// piece is a range of items.
type piece struct{ from, to int }

// goesOn is how long lines may pause and still go on: much less than an hour.
const goesOn = int64(10 * time.Minute)

// repeated finds the items of the second pass through such hours.
func (f *file) repeated() {
	z := f.header
	if z.loc == nil {
		z = f.envelope
	}
	if z.loc == nil {
		return
	}
	r := reader{zone: z}
	first, stepped := -1, false // index of the first item in the hour; the second pass has begun
	second := 0
	var entered, last int64 // time of the last item before the hour; of the last item
	turns, year := f.turns, 0
	see := func(i int, it item) {
		for len(turns) > 0 && turns[0].index <= i {
			year, turns = turns[0].year+f.shift, turns[1:]
		}
		c := it.lead()
		if !c.Set || c.Lack&parse.LackZone == 0 || c.Lack&parse.LackDate != 0 {
			return
		}
		now := c.NS
		if c.Lack&parse.LackYear != 0 {
			now = f.cal.moved(now, year)
		}
		early, late := 0, 0
		if !r.holds(now) {
			early, late = offsets(now, z.loc)
			r.at(now)
		}
		switch inside := early != late; {
		case inside && first < 0:
			first, second, stepped, entered = i, i, false, last
		case inside && now < last-jumpMin:
			second, stepped = i, true
		case !inside && first >= 0:
			before := f.localOf(first)
			comes, goes := entered != 0 && before-entered <= goesOn && before >= entered, now-last <= goesOn && now >= last
			switch {
			case stepped:
				f.second = append(f.second, piece{second, i})
			case goes && !comes:
				f.second = append(f.second, piece{first, i})
			case goes == comes && !f.doubtful.IsValid():
				f.doubtful = f.item(first).pos()
			}
			first = -1
		}
		last = now
	}
	for i, x := range f.stretches() {
		for k, e := range x.events {
			see(i+k, item{event: e})
		}
		if x.mark != nil {
			see(i+len(x.events), *x.mark)
		}
	}
	switch before := int64(0); {
	case first < 0:
	case stepped:
		f.second = append(f.second, piece{second, f.len()})
	default:
		if before = f.localOf(first); (entered == 0 || before-entered > goesOn || before < entered) && !f.doubtful.IsValid() {
			f.doubtful = f.item(first).pos()
		}
	}
}

// localOf returns the reading of an item in its year.
func (f *file) localOf(i int) int64 {
	c := f.item(i).lead()
	if c.Lack&parse.LackYear != 0 {
		return f.cal.moved(c.NS, f.yearAt(i))
	}
	return c.NS
}
