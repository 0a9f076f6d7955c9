package logs

import (
	"bytes"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// datedLooks is how much of the beginning of a file is searched for a date in the text of a line, in bytes.
const datedLooks = 64 << 10

// datedIn returns the line whose stamp lacks the year and whose text states the latest date less than a day from it.
func (d *Decoder) datedIn(head []byte) (best parse.Mark) {
	if d.framing.Kind == journal.Blocks || d.framing.Objects {
		return best // each record states its time
	}
	var p *journal.Parser // made when it is needed, as most files state no such date
	var e journal.Entry
	var latest time.Time
	line := uint32(0)
	all := head[:min(len(head), datedLooks)]
	for at := 0; at < len(all); {
		rec, _, _ := bytes.Cut(all[at:], newline)
		from := at
		at += len(rec) + 1
		line++
		if !mayDate(rec) {
			continue
		}
		dates := parse.DatesIn(string(clip(rec)))
		if len(dates) == 0 {
			continue
		}
		if p == nil {
			p = journal.NewParser(d.framing)
			defer p.Release()
		}
		p.Parse(rec, &e)
		clock := e.Clock
		if !clock.Set {
			clock = e.Header.Clock
		}
		if !clock.Set || clock.Lack&parse.LackYear == 0 {
			continue
		}
		read := time.Unix(0, clock.NS).UTC()
		for _, t := range dates {
			same := time.Date(t.Read.Year(), read.Month(), read.Day(), read.Hour(), read.Minute(), read.Second(), 0, time.UTC)
			if same.Sub(t.Read).Abs() < 24*time.Hour && t.Read.After(latest) {
				latest = t.Read
				best = parse.Mark{Pos: parse.Pos{File: d.file, Offset: int64(from), Line: line}, Raw: e.Header.Clock, Envelope: e.Clock, Text: parse.PlainText(string(clip(rec)))}
				if !best.Raw.Set {
					best.Raw = e.Clock
				}
			}
		}
	}
	return best
}

// mayDate reports whether a line has signs where those of a date stand, behind the stamp of the line.
func mayDate(line []byte) bool {
	for i := 1; i+len(time.DateTime) <= len(line); i++ {
		if line[i+4] == '-' && line[i+7] == '-' && line[i+13] == ':' {
			return true
		}
	}
	return false
}
