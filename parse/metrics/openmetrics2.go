package metrics

import (
	"bytes"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

// composite reports whether lines are OpenMetrics 2.0: a line has the value of a
// whole histogram or summary in braces, or a sample has a start time.
func composite(data []byte) bool {
	for _, mark := range []string{" {count:", " {schema:", " st@"} {
		for i := 0; ; {
			j := bytes.Index(data[i:], []byte(mark))
			if j < 0 {
				break
			}
			i += j
			from := bytes.LastIndexByte(data[:i], '\n') + 1
			if data[from] != '#' && i >= from+labelsLen(data[from:]) {
				return true
			}
			i += len(mark)
		}
	}
	return false
}

// openMetrics2 reads OpenMetrics 2.0 line by line; the parser turns a line with a
// whole histogram into several series. A line depends only on the type of its
// family, so each is parsed with the last TYPE line before it.
func (d *textDecoder) openMetrics2(from, to int) {
	var typ, buf []byte
	for from < to {
		eol := from + bytes.IndexByte(d.data[from:], '\n')
		line := d.data[from:eol]
		no := d.lineAt(from)
		from = eol + 1
		switch {
		case len(bytes.TrimSpace(line)) == 0:
		case line[0] == '#':
			if f := bytes.Fields(line); len(f) >= 3 && (string(f[1]) == "TYPE" || string(f[1]) == "HELP") {
				d.family(string(f[2]), no)
				if string(f[1]) == "TYPE" && len(f) == 4 {
					typ = line
					d.part.types[string(f[2])] = string(f[3])
				}
			} else {
				d.comment(line, no)
			}
		default:
			buf = append(append(append(append(buf[:0], typ...), '\n'), line...), "\n# EOF\n"...)
			if len(typ) == 0 {
				buf = buf[1:]
			}
			if !d.openMetrics2Line(buf, line, no) {
				d.unparsed(eol-len(line), eol)
			}
		}
	}
}

// openMetrics2Line parses text, which is a sample line after the TYPE line of its
// family, and reports whether it is valid.
func (d *textDecoder) openMetrics2Line(text, line []byte, no uint32) bool {
	p := textparse.NewOpenMetrics2Parser(text, d.symbols, textparse.ParserOptions{KeepClassicOnClassicAndNativeHistograms: true})
	for {
		e, err := p.Next()
		if err != nil {
			return isEOF(err)
		}
		if e != textparse.EntrySeries && e != textparse.EntryHistogram {
			continue
		}
		var ls labels.Labels
		p.Labels(&ls)
		key := keyOf(nil, ls)
		if !d.part.room(key, no) {
			continue
		}
		if e == textparse.EntryHistogram {
			_, ts, h, fh := p.Histogram()
			if h != nil {
				fh = h.ToFloat(nil)
			}
			s := d.snapshot(key, stampOf(ts), no)
			d.part.addHistogram(s, key, fh.Copy(), stampOf(ts), no)
			continue
		}
		_, ts, v := p.Series()
		s := d.snapshot(key, stampOf(ts), no)
		d.part.add(s, key, v, stampOf(ts), no)
		s.fromText = true
		d.note(s, key, v)
		d.part.keepOdd(s, no, line)
	}
}
