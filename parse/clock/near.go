package clock

import (
	"cmp"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// datedFile is a file of an input whose years are stated or follow from what it says itself, or several that overlap.
type datedFile struct {
	input     int
	stretchOf        // the lines, in readings with the year
	why       string // how the years are known
}

// joinYears sorts the dated files and joins those that overlap: an input may have thousands.
func (a *anchors) joinYears() {
	slices.SortStableFunc(a.dated, func(x, y datedFile) int { return cmp.Or(cmp.Compare(x.input, y.input), cmp.Compare(x.from, y.from)) })
	kept := a.dated[:0]
	for _, d := range a.dated {
		if n := len(kept) - 1; n >= 0 && kept[n].input == d.input && d.from <= kept[n].to {
			kept[n].to = max(kept[n].to, d.to)
			continue
		}
		kept = append(kept, d)
	}
	a.dated = kept
}

// ends returns the first and the last item that is a line, -1 if there is none. Headings state other times.
func (f *file) ends() (first, last int) {
	first, last = 0, f.len()-1
	for ; first <= last && !f.isLine(first); first++ {
	}
	for ; last >= first && !f.isLine(last); last-- {
	}
	if first > last {
		return -1, -1
	}
	return first, last
}

func (f *file) isLine(i int) bool {
	it := f.item(i)
	c := it.lead()
	return it.marker == nil && c.Set && c.Lack&parse.LackDate == 0
}

// lines returns the stretch of the lines of a file, with shift added to the relative years.
func (f *file) lines(first, last, shift int) (s stretchOf) {
	at := func(i int) int64 {
		c := f.item(i).lead()
		if c.Lack&parse.LackYear != 0 {
			c.NS = f.cal.moved(c.NS, f.yearOf(i)+shift)
		}
		return c.NS
	}
	s.from = at(first)
	s.to = s.from
	s.add(at(last))
	return s
}

// noteYears records a file that tells its own years.
func (a *anchors) noteYears(f *file) {
	first, last := f.ends()
	if first < 0 {
		return
	}
	d := datedFile{input: f.Input, why: "full stamp in " + f.item(last).pos().String()}
	shift := 0
	if f.lastBare >= 0 {
		ok := false
		if shift, d.why, ok = f.anchorInFile(); !ok {
			if shift, d.why, ok = f.quotedYear(); !ok {
				return
			}
		}
	}
	d.stretchOf = f.lines(first, last, shift)
	a.dated = append(a.dated, d)
}

// nearYear derives the year from other files of the input: the one in which the lines of the file are less than a day from
// theirs, if there is only one.
func (f *file) nearYear(a *anchors) (shift int, why string, ok bool) {
	first, last := f.ends()
	if first < 0 {
		return 0, "", false
	}
	from, _ := slices.BinarySearchFunc(a.dated, f.Input, func(d datedFile, input int) int { return cmp.Compare(d.input, input) })
	dated := a.dated[from:]
	to, _ := slices.BinarySearchFunc(dated, f.Input+1, func(d datedFile, input int) int { return cmp.Compare(d.input, input) })
	if dated = dated[:to]; to == 0 {
		return 0, "", false
	}
	for y := f.cal.yearOf(dated[0].from) - 1; y <= f.cal.yearOf(dated[to-1].to)+1; y++ {
		s := y - f.yearOf(last)
		if f.leap >= 0 && !leapYear(f.yearOf(f.leap)+s) {
			continue
		}
		lines := f.lines(first, last, s)
		i, _ := slices.BinarySearchFunc(dated, lines.from-day, func(d datedFile, at int64) int { return cmp.Compare(d.to, at+1) })
		if i == to || dated[i].apart(lines) >= day {
			continue
		}
		if ok {
			return 0, "", false
		}
		shift, why, ok = s, dated[i].why, true
	}
	return shift, why, ok
}
