package bundle

import "github.com/plegforensics/plegforensics/parse"

// sortEvents sorts events by time, then position; it is stable. The events of each
// file are mostly in order already, so it merges ascending runs: one pass for a
// single file, two for two files.
func sortEvents(events []*parse.Event) {
	ends := ascents(events)
	if len(ends) < 2 {
		return
	}
	from, to := events, make([]*parse.Event, len(events))
	for len(ends) > 1 {
		begin, joined := 0, ends[:0]
		for i := 0; i < len(ends); i += 2 {
			mid, end := ends[i], ends[min(i+1, len(ends)-1)]
			mergeTo(to[begin:end], from[begin:mid], from[mid:end])
			joined, begin = append(joined, end), end
		}
		from, to, ends = to, from, joined
	}
	copy(events, from)
}

// ascents splits events into ascending runs and returns their ends.
func ascents(events []*parse.Event) (ends []int) {
	for i := 1; i < len(events); i++ {
		if byTime(events[i-1], events[i]) > 0 {
			ends = append(ends, i)
		}
	}
	return append(ends, len(events))
}

// mergeTo merges two sorted runs into out; of equal events those of a come first.
func mergeTo(out, a, b []*parse.Event) {
	for i := range out {
		if len(b) == 0 || len(a) > 0 && byTime(a[0], b[0]) <= 0 {
			out[i], a = a[0], a[1:]
		} else {
			out[i], b = b[0], b[1:]
		}
	}
}
