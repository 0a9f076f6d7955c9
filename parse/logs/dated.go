package logs

import (
	"bytes"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// datedLooks is how much of the beginning of a file is searched for a date in the text of a line, in bytes.
const datedLooks = 64 << 10

// datedIn returns the line whose stamp lacks the year and whose text states the latest date less than a day from it. Lines
// without a stamp date the stamps beside them: see headed. Their mark has the clock of the stamp that they date.
func (d *Decoder) datedIn(head []byte) (best parse.Mark) {
	if d.framing.Kind == journal.Blocks || d.framing.Objects {
		return best // each record states its time
	}
	head = head[:min(len(head), datedLooks)]
	may := false
	for rec := range bytes.SplitSeq(head, newline) {
		may = may || mayDate(rec)
	}
	if !may {
		return best // as most files
	}
	var latest time.Time
	take := func(m parse.Mark, dates []parse.Date) {
		clock := m.Envelope
		if !clock.Set {
			clock = m.Raw
		}
		if !clock.Set || clock.Lack&parse.LackYear == 0 {
			return
		}
		read := time.Unix(0, clock.NS).UTC()
		for _, t := range dates {
			same := time.Date(t.Read.Year(), read.Month(), read.Day(), read.Hour(), read.Minute(), read.Second(), 0, time.UTC)
			if same.Sub(t.Read).Abs() < 24*time.Hour && t.Read.After(latest) {
				latest, best = t.Read, m
			}
		}
	}
	p := journal.NewParser(d.framing)
	defer p.Release()
	var e journal.Entry
	var stamp, heading parse.Mark // the last line with a stamp, the last without one that states a date
	line := uint32(0)
	for at := 0; at < len(head); {
		rec, _, _ := bytes.Cut(head[at:], newline)
		m := parse.Mark{Pos: parse.Pos{File: d.file, Offset: int64(at)}}
		at += len(rec) + 1
		line++
		m.Line = line
		p.Parse(rec, &e)
		dates := []parse.Date(nil)
		if mayDate(rec) {
			m.Text = parse.PlainText(string(clip(rec)))
			dates = parse.DatesIn(m.Text.String())
		}
		if m.Raw, m.Envelope = e.Header.Clock, e.Clock; !m.Raw.Set {
			m.Raw = m.Envelope
		}
		switch {
		case m.Raw.Set:
			take(m, dates)
			if heading.File != nil {
				heading.Raw, heading.Envelope = m.Raw, m.Envelope
				take(heading, parse.DatesIn(heading.Text.String()))
			}
			stamp, heading = m, parse.Mark{}
		case len(dates) > 0 && headed(m.Text.String()):
			heading = m
			m.Raw, m.Envelope = stamp.Raw, stamp.Envelope
			take(m, dates)
		}
	}
	return best
}

// headed reports whether a line without a stamp states a date of those beside it: with numbers, in words as a heading, or
// as the day that a command asks for.
func headed(line string) bool {
	if _, ok := parse.HeadingDate(line); ok || isoDate([]byte(line)) {
		return true
	}
	_, ok := parse.AskedDay(line)
	return ok
}

// mayDate reports whether a line has signs of a date: behind the stamp of the line, or in words.
func mayDate(line []byte) bool {
	if isoDate(line) {
		return true
	}
	for i := 0; i+len(time.DateTime) <= len(line); i++ {
		if line[i+3] == ' ' && line[i]-'A' < 26 && parse.DayNamed(string(line[i:i+5])) {
			return true
		}
	}
	return bytes.Contains(line, []byte("--since")) || bytes.Contains(line, []byte("--until")) || bytes.Contains(line, []byte("sec:")) || bytes.Contains(line, []byte("wall:")) || bytes.Contains(line, []byte("audit("))
}

// isoDate reports whether a date with numbers stands behind the beginning of a line.
func isoDate(line []byte) bool {
	for i := 1; i+len(time.DateTime) <= len(line); i++ {
		if line[i+4] == '-' && line[i+7] == '-' && line[i+13] == ':' {
			return true
		}
	}
	return false
}
