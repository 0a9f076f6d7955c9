package metrics

import "bytes"

// wholeLines returns a page without its last line if that has no line end: endpoints end each line, and a value of which
// digits are cut off is another value. A single line, and whatever is neither a sample nor about one, is kept.
func (p *Part) wholeLines(data []byte, firstLine uint32) []byte {
	from := bytes.LastIndexByte(data, '\n') + 1
	last := bytes.TrimSpace(data[from:])
	if from == 0 || !looksLikeSample(last) && !bytes.HasPrefix(last, []byte("# HELP ")) && !bytes.HasPrefix(last, []byte("# TYPE ")) {
		return data
	}
	p.warnCut(firstLine+uint32(bytes.Count(data[:from], []byte("\n"))), "within this line, which is not used")
	return data[:from]
}

// parts counts the samples of a histogram or summary by their kind, to tell whether a page ends within it.
type parts struct {
	name               string // "": the last family is neither
	infs, sums, counts int
}

// see counts a sample.
func (f *parts) see(key []byte) {
	rest, ok := bytes.CutPrefix(key, []byte(f.name))
	switch {
	case !ok:
		f.name = ""
	case bytes.HasPrefix(rest, []byte("_sum")):
		f.sums++
	case bytes.HasPrefix(rest, []byte("_count")):
		f.counts++
	case bytes.HasPrefix(rest, []byte("_bucket{")) && bytes.Contains(rest, []byte(`le="+Inf"`)):
		f.infs++
	}
}

// torn reports whether a series of the family lacks parts that others have: each has all or none.
func (f *parts) torn() bool {
	return f.name != "" && (f.sums != f.counts || f.infs > f.counts)
}

// cutWithin warns if the page ends within a family.
func (d *textDecoder) cutWithin() {
	if s := d.part.current(); s == nil || s.ended || !d.tail.torn() {
		return
	}
	d.part.warnCut(d.lastLine, "here, within "+clip([]byte(d.tail.name), 80))
}
