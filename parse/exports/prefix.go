package exports

import (
	"bytes"

	"github.com/plegforensics/plegforensics/parse/journal"
)

// maxPrefix is the maximum length of a prefix before a log line, in bytes.
const maxPrefix = 200

// place is where a log line begins within a line: after a prefix, which may contain
// a timestamp of its own.
type place struct {
	at      int  // -1: there is no log line; 0: no prefix
	stacked bool // a full timestamp precedes one of the log line itself
	whole   bool // the log line begins with that timestamp
}

// start finds the log line within a line. If printed is set, timestamps before log
// lines were added when these were printed and are a part of the prefix.
func (l *prefixFinder) start(line []byte, printed bool) place {
	if l.native(line) {
		return l.within(line, printed)
	}
	win := line[:min(len(line), maxPrefix)]
	for i := 1; i < len(win); i++ {
		if !before(win[i-1]) || !l.begins(line[i:]) {
			continue
		}
		if line[i] == '2' && l.entry.Form == journal.Stamped {
			p := place{at: i, stacked: true, whole: true}
			if printed {
				p.at += l.entry.Off
			}
			return p
		}
		return place{at: i, stacked: len(outer(line[:i])) > 0}
	}
	return place{at: -1}
}

// within looks for a log line inside a line that package journal has just parsed,
// which did not look after the timestamp or took a stream name for a component.
func (l *prefixFinder) within(line []byte, printed bool) place {
	e := &l.entry
	off := e.Off
	switch {
	case off <= 0:
	case e.Form == journal.Bare && e.Header.Kind == journal.Klog && len(bytes.Trim(line[:off], "0123456789 ")) == 0:
		return place{at: off} // a line number
	case e.Form == journal.Dmesg && line[0] == '[' && len(outer(line[:off])) > 0 && l.begins(line[off:]):
		return place{at: off, stacked: true}
	case e.Form == journal.Stamped && e.Header.Kind == journal.Klog && len(e.Who.Ident) > 0 && !bytes.Contains([]byte(e.Who.Ident), []byte("kube")):
		return place{at: off, stacked: true}
	case e.Form == journal.Stamped && e.Header.Kind == journal.Klog:
		if p := (place{stacked: true, whole: true}); !printed {
			return p
		}
		return place{at: off, stacked: true}
	}
	return place{}
}

// before reports whether c may precede a log line.
func before(c byte) bool { return bytes.IndexByte([]byte(" \t:|]>\"'`-)"), c) >= 0 }

// outer returns the full timestamp in a prefix, nil if there is none.
func outer(prefix []byte) []byte {
	for i := range prefix {
		if _, n := journal.ReadISO(prefix[i:]); n > 19 {
			return prefix[i : i+n]
		}
	}
	return nil
}

// taken returns the log line without its prefix. A timestamp in the prefix replaces
// one in the line that is less complete.
func (p place) taken(line []byte, printed bool) []byte {
	rest := unquoted(line, p.at)
	if !p.stacked || p.whole || printed || len(rest) > 0 && rest[0] == '{' {
		return rest
	}
	stamp := outer(line[:p.at])
	own := 0
	if shortStamp(rest) {
		if rest[8] == '-' {
			return rest // has the year already
		}
		if own = bytes.IndexByte(rest[8:], ' ') + 8; own < 8 {
			return rest
		}
	}
	out := append([]byte(nil), stamp...)
	if own == 0 {
		out = append(out, ' ')
	}
	return append(out, rest[own:]...)
}

// begins reports whether a log line certainly begins with b.
func (l *prefixFinder) begins(b []byte) bool {
	if len(b) < 20 {
		return false
	}
	switch c := b[0]; {
	case c == 'I' || c == 'W' || c == 'E' || c == 'F':
		var h journal.Header
		return journal.ReadHeader(b, &h) || shortStamp(b) && l.named(b)
	case c == 't':
		return bytes.HasPrefix(b, []byte(`time="20`))
	case c == '{':
		return bytes.HasPrefix(b, []byte(`{"`)) && l.native(b)
	case c == '2' || c >= 'A' && c <= 'Z':
		return (shortStamp(b) || c == '2') && l.named(b)
	}
	return false
}

// shortStamp recognizes "Nov 20 23:28:59" and "Fri 2026-11-20 23:28:59" by shape.
func shortStamp(b []byte) bool {
	return len(b) > 12 && b[3] == ' ' && (b[6] == ' ' && b[9] == ':' && b[12] == ':' || b[8] == '-' && b[11] == '-')
}

// named reports whether a line begins with a timestamp and a source, or with a
// header of its own.
func (l *prefixFinder) named(b []byte) bool {
	l.parser.Parse(b, &l.entry)
	e := &l.entry
	switch e.Form {
	case journal.BSD, journal.Full, journal.ISO:
		return e.Off > 0 && (e.Who.PID > 0 || e.Header.Kind == journal.Klog || e.Who.Ident == "kernel")
	case journal.Stamped, journal.CRI:
		return e.Header.Kind != journal.NoHeader || e.Form == journal.CRI
	}
	return false
}
