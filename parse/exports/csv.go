package exports

import (
	"bytes"
	"strings"
)

// table reads a CSV file, with commas, tabs or semicolons as delimiters.
type table struct {
	*source
	delim   byte
	columns []string // normalized names, see columnName
	utc     bool     // the header says that times are UTC
	row     []string // cells of the current row
	parts   parts    // of the current row
}

// maxColumns bounds the columns read.
const maxColumns = 256

// newTable returns a table with the given header line, nil if it has no columns for
// messages and times.
func newTable(line []byte) *table {
	line = bytes.TrimRight(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), "\r\n")
	if len(line) > 16<<10 {
		return nil
	}
	for _, delim := range []byte(",\t;") {
		if bytes.IndexByte(line, delim) < 0 {
			continue
		}
		t := &table{delim: delim, utc: bytes.Contains(line, []byte(" [UTC]")), parts: parts{}}
		cells := t.cells(line)
		if len(cells) < 2 {
			continue
		}
		p := parts{}
		for _, c := range cells {
			name := columnName(c)
			t.columns = append(t.columns, name)
			p.put(name, name)
		}
		_, message := p.first(messageNames)
		_, time := p.first(timeNames)
		if message == "" || time == "" {
			continue
		}
		return t
	}
	return nil
}

// columnName returns a column title in the form of record member names: lower case,
// with underscores, and without the " [UTC]" of "TimeGenerated [UTC]".
func columnName(cell string) string {
	name := strings.ToLower(strings.TrimSpace(cell))
	name = strings.TrimSuffix(name, " [utc]")
	return strings.ReplaceAll(name, " ", "_")
}

func (t *table) step() {
	n := t.rowLen()
	row := t.win[:n]
	if cut := n > 0 && row[n-1] != '\n' && len(bytes.TrimSpace(row)) > 0; cut && bytes.Count(row, []byte{t.delim}) < len(t.columns)-1 {
		t.damaged(0, n, whyCut)
	}
	if bytes.IndexByte(row, t.delim) < 0 && bytes.IndexByte(row, '{') < 0 { // not a record: that has two cells, a message and a time, or is an object
		t.level(t.line)
		t.skip(max(n, 1))
		return
	}
	cells := t.cells(bytes.TrimRight(row, "\r\n"))
	p := t.parts
	clear(p)
	for i, c := range cells {
		if i < len(t.columns) && t.columns[i] != "" {
			p.put(t.columns[i], c)
		}
	}
	r, ok := p.record()
	r.utc = r.utc || t.utc
	if ok && stamp(r.time, r.utc) != "" {
		if i := bytes.IndexByte(row, '\n'); i >= 0 && i < n-1 {
			r.line, r.broken = t.lineOf(row, r.message), true
		}
		t.write(&r)
	} else {
		t.level(t.line)
	}
	t.skip(max(n, 1))
}

// lineOf returns the line of a row, from 0, on which its message begins.
func (t *table) lineOf(row []byte, message string) int {
	head, _, _ := strings.Cut(message[:min(len(message), 24)], "\"")
	head, _, _ = strings.Cut(head, "\n")
	return max(bytes.Count(row[:max(bytes.Index(row, []byte(head)), 0)], newline), 0)
}

// maxRowLines bounds the lines of a row, and so the lines lost to a quote that is
// never closed.
const maxRowLines = 1000

// rowLen returns the length of the row at the start of the window: a line, or
// several if quotes contain line breaks.
func (t *table) rowLen() int {
	quoted, lines, first := false, 0, 0
	for i := 0; ; i++ {
		c := t.at(i)
		switch {
		case c == 0 && i >= len(t.win), i > maxRecord:
			if quoted {
				t.damaged(0, i, whyCut)
			}
			if quoted && first > 0 {
				return first
			}
			return min(i, len(t.win))
		case c == '"':
			quoted = !quoted
		case c == '\n':
			if lines++; first == 0 {
				first = i + 1
			}
			if !quoted {
				return i + 1
			}
			if lines >= maxRowLines {
				t.damaged(0, first, whyInvalid)
				return first
			}
		}
	}
}

// cells splits a row into the texts of its cells, which are valid until the next row.
func (t *table) cells(row []byte) []string {
	t.row = t.row[:0]
	for len(t.row) < maxColumns {
		n := cellLen(row, t.delim)
		t.row = append(t.row, cellText(row[:n]))
		if n >= len(row) {
			break
		}
		row = row[n+1:]
	}
	return t.row
}

func cellLen(b []byte, delim byte) int {
	quoted := false
	for i, c := range b {
		switch {
		case c == '"':
			quoted = !quoted
		case c == delim && !quoted:
			return i
		}
	}
	return len(b)
}

func cellText(cell []byte) string {
	s := string(cell)
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return strings.ReplaceAll(s[1:len(s)-1], `""`, `"`)
	}
	return s
}
