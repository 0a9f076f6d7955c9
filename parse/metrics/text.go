package metrics

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/plegforensics/plegforensics/parse"
)

// Sizes in bytes of the pieces passed to Prometheus' parser. After a damaged line
// the size drops to smallPiece and then doubles, so that the work stays linear in
// the size of the file however much is damaged.
const (
	bigPiece   = 256 << 10
	smallPiece = 256
)

// textDecoder reads exposition text and OpenMetrics.
//
// Positions come from the parser itself: it returns subslices of its input, so the
// capacity of a subslice gives its offset. locate verifies this for each entry; if
// a later version of the parser copies instead, the decoder falls back to feeding
// single lines, whose positions it knows.
type textDecoder struct {
	part     *Part
	data     []byte // ends in '\n', without CRLF
	symbols  *labels.SymbolTable
	single   bool // feed single lines
	open     bool // OpenMetrics rather than text
	lineOff  int  // offset of the start of, or within, the line numbered line
	line     uint32
	num      []byte
	lastName []byte
	tail     parts  // of the last family
	lastLine uint32 // that held a sample
	bad      int    // lines rejected by the parser
}

func newTextDecoder(p *Part, data []byte, firstLine uint32) *textDecoder {
	return &textDecoder{part: p, data: data, symbols: labels.NewSymbolTable(), line: firstLine}
}

// next continues with the lines that follow. done must have been called for those
// before.
func (d *textDecoder) next(data []byte) {
	d.data, d.lineOff = data, 0
	d.symbols = labels.NewSymbolTable() // the old one holds every label of the file
}

// done releases the lines read so far.
func (d *textDecoder) done() {
	d.line = d.lineAt(len(d.data))
	d.data = nil
}

func decodeText(p *Part, data []byte, firstLine uint32) {
	if data = p.wholeLines(data, firstLine); len(data) == 0 {
		return
	}
	if data[len(data)-1] != '\n' {
		data = append(data[:len(data):len(data)], '\n')
	}
	if p.rows == nil { // a sample line is rarely shorter than 32 bytes
		p.rows = make([]row, 0, min(bytes.Count(data, []byte("\n")), len(data)/32)+1)
		p.text = make([]byte, 0, len(data))
	}
	d := newTextDecoder(p, data, firstLine)
	for from := 0; from < len(data); {
		to, eof := nextEOFLine(data, from)
		switch {
		case composite(data[from:to]):
			d.openMetrics2(from, to)
		default:
			d.open = eof || openMetrics(data[from:to])
			d.section(from, to)
		}
		if eof {
			if s := p.current(); s != nil {
				s.ended = true
			}
			to += bytes.IndexByte(data[to:], '\n') + 1
		}
		from = to
	}
	d.cutWithin()
}

// overwritten warns of zeros in a comment at off, which may stand in place of samples too.
func (d *textDecoder) overwritten(text []byte, off int) {
	if bytes.IndexByte(text, 0) >= 0 {
		d.part.warnLine(d.lineAt(off), "zeros stand in place of what was written")
	}
}

// nextEOFLine returns the offset of the next "# EOF" line at or after from, or the
// end of data and false.
func nextEOFLine(data []byte, from int) (int, bool) {
	mark := []byte("# EOF")
	for i := from; ; {
		j := bytes.Index(data[i:], mark)
		if j < 0 {
			return len(data), false
		}
		i += j
		if (i == 0 || data[i-1] == '\n') && data[i+len(mark)] == '\n' {
			return i, true
		}
		i += len(mark)
	}
}

// openMetrics reports whether lines are OpenMetrics without the final "# EOF":
// there is a UNIT line, an exemplar, or a timestamp with a decimal point
// (OpenMetrics uses seconds). It looks at no more than the first 500 samples.
func openMetrics(data []byte) bool {
	const enough = 500
	for samples := 0; len(data) > 0 && samples < enough; {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		switch {
		case bytes.HasPrefix(line, []byte("# UNIT ")):
			return true
		case len(line) == 0, line[0] == '#':
			continue
		}
		value, exemplar, ok := bytes.Cut(line[labelsLen(line):], []byte(" # {"))
		if ok && bytes.IndexByte(exemplar, '}') >= 0 {
			return true
		}
		if f := bytes.Fields(value); len(f) >= 2 && isNumber(f[0]) {
			return bytes.IndexByte(f[1], '.') > 0
		}
		samples++
	}
	return false
}

// labelsLen returns the length of the name and labels of a sample line.
func labelsLen(line []byte) int {
	i := 0
	for i < len(line) && line[i] != ' ' && line[i] != '\t' && line[i] != '{' {
		i++
	}
	if j := i + len(line[i:]) - len(bytes.TrimLeft(line[i:], " \t")); j < len(line) && line[j] == '{' {
		if n := dumpLabelsLen(line[j:]); n > 0 {
			return j + n
		}
	}
	return i
}

// section parses data[from:to], which is in one format.
func (d *textDecoder) section(from, to int) {
	size := bigPiece
	for from < to {
		end := d.cut(from, to, size)
		next := d.piece(from, end)
		bad := skipBlank(d.data, next, end)
		switch {
		case bad >= end:
			from, size = end, min(2*size, bigPiece)
			continue
		case bad > next: // OpenMetrics does not allow blank lines, but files have them
			from = bad
			continue
		}
		from, size = d.skipBad(bad, end), smallPiece
		if d.bad > maxBad {
			d.part.warnLine(d.lineAt(from), "too many damaged lines: the rest of the file is skipped")
			return
		}
	}
}

// skipBad handles the damaged line at off and following lines that do not even look
// like samples. It returns the offset of the next line.
func (d *textDecoder) skipBad(off, end int) int {
	for {
		eol := off + bytes.IndexByte(d.data[off:], '\n')
		d.bad++
		d.unparsed(off, eol)
		off = skipBlank(d.data, eol+1, end)
		if off >= end || d.data[off] == '#' {
			return off
		}
		eol = off + bytes.IndexByte(d.data[off:], '\n')
		if looksLikeSample(bytes.TrimSpace(d.data[off:eol])) {
			return off
		}
	}
}

// cut returns the end of a piece of whole lines of about size bytes.
func (d *textDecoder) cut(from, to, size int) int {
	if d.single {
		size = 1
	}
	if from+size >= to {
		return to
	}
	return from + size + bytes.IndexByte(d.data[from+size-1:], '\n')
}

// skipBlank returns the offset of the first non-blank line in data[from:to], or to.
func skipBlank(data []byte, from, to int) int {
	for from < to {
		eol := from + bytes.IndexByte(data[from:], '\n')
		if len(bytes.TrimSpace(data[from:eol])) > 0 {
			return from
		}
		from = eol + 1
	}
	return to
}

// piece parses the whole lines data[from:end] up to the first error and returns the
// offset of the first line not consumed.
func (d *textDecoder) piece(from, end int) int {
	p := d.parser(from, end)
	next := from
	for {
		entry, err := p.Next()
		if err != nil { // io.EOF or an error: the caller looks at what is left
			return next
		}
		off := d.entry(p, entry, next, end)
		if off < 0 {
			return next
		}
		eol := off + bytes.IndexByte(d.data[off:], '\n')
		next = eol + 1
	}
}

// parser returns Prometheus' parser for data[from:end]. The text parser appends a
// line feed to its input. It gets the piece without its last one, so that it
// overwrites that byte with the same value and need not copy.
func (d *textDecoder) parser(from, end int) textparse.Parser {
	if d.open {
		return textparse.NewOpenMetricsParser(d.data[from:end], d.symbols)
	}
	return textparse.NewPromParser(d.data[from:end-1], d.symbols, false)
}

// entry processes one entry and returns the offset at which it begins, -1 if it is
// to be treated as unread.
func (d *textDecoder) entry(p textparse.Parser, e textparse.Entry, from, end int) int {
	switch e {
	case textparse.EntrySeries:
		return d.series(p, from, end)
	case textparse.EntryType:
		name, typ := p.Type()
		off := d.locate(name, from, end)
		if off >= 0 {
			d.family(string(name), d.lineAt(off))
			d.part.types[string(name)] = string(typ)
			if d.tail = (parts{}); typ == "histogram" || typ == "summary" {
				d.tail.name = string(name)
			}
		}
		return off
	case textparse.EntryHelp:
		name, help := p.Help()
		off := d.locate(name, from, end)
		if off >= 0 {
			d.family(string(name), d.lineAt(off))
			d.overwritten(help, off)
		}
		return off
	case textparse.EntryUnit:
		name, _ := p.Unit()
		return d.locate(name, from, end)
	case textparse.EntryComment:
		off := d.locate(p.Comment(), from, end)
		if off >= 0 {
			d.comment(p.Comment(), d.lineAt(off))
			d.overwritten(p.Comment(), off)
		}
		return off
	}
	return -1
}

// locate returns the offset of s, a subslice of d.data, or -1 if it is not one;
// then it switches to single lines.
func (d *textDecoder) locate(s []byte, from, end int) int {
	off := cap(d.data) - cap(s)
	if len(s) > 0 && off >= from && off+len(s) <= end && &d.data[off] == &s[0] {
		return off
	}
	if d.single || len(s) == 0 {
		return skipBlank(d.data, from, end)
	}
	d.single = true
	return -1
}

// lineAt returns the line number at an offset. Offsets must not decrease between
// calls.
func (d *textDecoder) lineAt(off int) uint32 {
	if off > d.lineOff {
		d.line += uint32(bytes.Count(d.data[d.lineOff:off], []byte("\n")))
		d.lineOff = off
	}
	return d.line
}

// series adds one sample.
func (d *textDecoder) series(p textparse.Parser, from, end int) int {
	raw, stamp, v := p.Series()
	off := d.locate(raw, from, end)
	if off < 0 || bytes.IndexByte(raw, '\n') >= 0 {
		return -1 // an unclosed quote swallowed a line
	}
	key := bytes.TrimLeft(raw, " \t")
	line := d.lineAt(off)
	if d.lastLine = line; d.tail.name != "" {
		d.tail.see(key)
	}
	if !utf8.Valid(key) || !d.part.room(key, line) {
		if !utf8.Valid(key) {
			d.part.warnLine(line, "skipped: label value is not UTF-8")
		}
		return off
	}
	at := int64(noStamp)
	if stamp != nil && *stamp >= firstTime {
		at = *stamp * 1e6
	}
	s := d.snapshot(key, at, line)
	if !d.part.fits(s, key) {
		return off
	}
	d.part.add(s, key, v, at, line)
	s.fromText = true
	d.note(s, key, v)
	d.checkVerbatim(s, raw, key, off, line, v)
	return off
}

// snapshot returns the snapshot that a sample belongs to: a new one if the first,
// unstamped series of the current one occurs again.
func (d *textDecoder) snapshot(key []byte, at int64, line uint32) *snapshot {
	s := d.part.open(line)
	if at == noStamp && s.samples() > 0 && string(key) == s.firstKey {
		s = d.part.begin(line)
	}
	if s.samples() == 0 {
		s.firstKey, d.lastName = string(key), d.lastName[:0]
	}
	return s
}

// family processes a HELP or TYPE line: a family that occurred before, with others
// in between, starts a new snapshot.
func (d *textDecoder) family(name string, line uint32) {
	s := d.part.open(line)
	if name == s.family {
		return
	}
	if _, again := s.families[name]; again && s.samples() > 0 {
		s = d.part.begin(line)
	}
	s.family = name
	s.families[name] = struct{}{}
}

// note extracts clues about exporter and time from a sample. Only the first of
// consecutive samples of a name is looked at.
func (d *textDecoder) note(s *snapshot, key []byte, v float64) {
	name := nameOf(key)
	if len(name) == 0 || bytes.Equal(name, d.lastName) && !bytes.Equal(name, []byte("container_last_seen")) {
		return
	}
	d.lastName = append(d.lastName[:0], name...)
	s.learn(name, key, v)
}

// checkVerbatim keeps the line if it cannot be rebuilt from series and value.
func (d *textDecoder) checkVerbatim(s *snapshot, raw, key []byte, off int, line uint32, v float64) {
	eol := off + bytes.IndexByte(d.data[off:], '\n')
	d.num = appendValue(append(d.num[:0], ' '), v)
	if len(raw) == len(key) && bytes.Equal(d.data[off+len(raw):eol], d.num) {
		return
	}
	d.part.keepOdd(s, line, d.data[off:eol])
}

func appendValue(b []byte, v float64) []byte {
	if v == 0 && 1/v > 0 {
		return append(b, '0')
	}
	if v-v != 0 { // not finite
		return append(b, parse.FormatValue(v)...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}
