package journal

import (
	"bytes"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// columns holds the indices of the needed columns in a CSV of Windows events
// (Get-WinEvent | Export-Csv), -1 if missing.
type columns struct{ message, created, provider, machine, pid int }

var columnNames = []struct {
	name string
	at   func(*columns) *int
}{
	{"Message", func(c *columns) *int { return &c.message }},
	{"TimeCreated", func(c *columns) *int { return &c.created }},
	{"ProviderName", func(c *columns) *int { return &c.provider }},
	{"MachineName", func(c *columns) *int { return &c.machine }},
	{"ProcessId", func(c *columns) *int { return &c.pid }},
}

// read finds the header line among the first three lines.
func (c *columns) read(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for range 3 {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		if c.headLine(line) {
			return true
		}
		head = rest
	}
	return false
}

func (c *columns) headLine(line []byte) bool {
	*c = columns{-1, -1, -1, -1, -1}
	if !bytes.Contains(line, []byte("TimeCreated")) || !bytes.Contains(line, []byte("Message")) {
		return false
	}
	cells := splitCSV(bytes.TrimRight(line, "\r"))
	for i, cell := range cells {
		for _, n := range columnNames {
			if string(cell) == n.name {
				*n.at(c) = i
			}
		}
	}
	return c.message >= 0 && c.created >= 0
}

// maxCells is the maximum number of columns of a row.
const maxCells = 64

// splitCSV splits a line into cells without their outer quotes. Doubled quotes
// remain doubled.
func splitCSV(line []byte) [][]byte {
	var cells [][]byte
	for len(cells) < maxCells {
		n := cellLen(line)
		cells = append(cells, unquoted(line[:n]))
		if n >= len(line) {
			break
		}
		line = line[n+1:]
	}
	return cells
}

func cellLen(b []byte) int {
	quoted := false
	for i, c := range b {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			return i
		}
	}
	return len(b)
}

// row reads one line of a table. The header line and continuation lines of
// multi-line cells have no timestamp.
func (p *Parser) row(rec []byte, e *Entry) {
	rec = trimLine(rec)
	*e = Entry{Who: nobody, Msg: rec}
	c := &p.framing.columns
	cells := splitCSV(rec)
	if len(cells) <= max(c.message, c.created) || len(rec) == 0 {
		p.unstamped(rec, e)
		return
	}
	clock, ok := windowsTime(cells[c.created])
	if !ok {
		e.Form, e.Marker.Kind = Control, parse.MarkHeader
		return
	}
	e.Form, e.Clock = EventLog, clock
	e.Msg = cells[c.message]
	e.Off = cap(rec) - cap(e.Msg)
	if bytes.Contains(e.Msg, []byte(`""`)) {
		p.buf = append(p.buf[:0], bytes.ReplaceAll(e.Msg, []byte(`""`), []byte(`"`))...)
		e.Msg, e.Off = p.buf, -1
	}
	w := Who{}
	if i := c.machine; i >= 0 && i < len(cells) {
		w.Host = text(cells[i])
	}
	if i := c.provider; i >= 0 && i < len(cells) {
		w.Ident = text(cells[i])
	}
	e.Who = p.intern(w)
	p.inner(e)
}

// windowsTime reads "8/20/2019 8:28:26 PM", "20.08.2019 20:28:26" and ISO dates,
// all in local time. With slashes the month comes first, with dots the day.
func windowsTime(b []byte) (parse.Clock, bool) {
	if c, n := ReadISO(b); n > 0 {
		return c, true
	}
	var v [6]int
	i := 0
	for k := range v {
		start := i
		v[k], i = number(b, i)
		if i == start || k < 5 && i >= len(b) {
			return parse.Clock{}, false
		}
		if k < 5 && bytes.IndexByte([]byte("/.-:,"), b[i]) >= 0 {
			i++
		}
	}
	month, day := v[0], v[1]
	if bytes.IndexByte(b, '.') > 0 {
		month, day = day, month
	}
	switch rest := bytes.TrimSpace(b[min(i, len(b)):]); {
	case bytes.EqualFold(rest, []byte("PM")) && v[3] < 12:
		v[3] += 12
	case bytes.EqualFold(rest, []byte("AM")) && v[3] == 12:
		v[3] = 0
	}
	if !validDate(month, day) || v[2] < 1970 || v[2] > 2200 || v[3] > 23 || v[4] > 59 || v[5] > 60 {
		return parse.Clock{}, false
	}
	sec := unixDay(v[2], month, day)*86400 + int64(v[3]*3600+v[4]*60+v[5])
	return parse.Clock{NS: sec * 1e9, Res: time.Second, Lack: parse.LackZone, Set: true}, true
}
