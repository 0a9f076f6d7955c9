package journal

import (
	"bytes"

	"github.com/plegforensics/plegforensics/parse"
)

// pattern is what the klog lines of one process have in common under one
// framing: everything but the stamps and what follows the header's pid.
type pattern struct {
	set    bool
	form   Form
	second []byte // stamp up to its seconds, as last seen; empty without a stamp
	base   int64  // its reading, ns, zone taken off
	zone   int64  // what was taken off, ns
	lack   parse.Lack
	mid    []byte // between the fraction of the stamp and the header
	who    *Who
	klog   [14]byte // "1120 23:50:39." as last seen
	klogNS int64
	pid    []byte // "   26980 "
	pidNum int
}

// learn remembers the pattern of a line that Parse has read.
func (p *Parser) learn(rec []byte, e *Entry) {
	if e.Header.Kind != Klog || e.Partial || e.Off < 0 || len(e.Msg) != len(rec)-e.Off {
		return
	}
	q := &p.pattern
	start := 0
	q.second = q.second[:0]
	switch e.Form {
	case BSD, ISO, Full, CRI, Stamped:
		k := len(p.second)
		if k == 0 || !bytes.HasPrefix(rec, p.second) {
			q.set = false
			return
		}
		ns, _, n := fraction(rec[k:])
		q.second = append(q.second, p.second...)
		q.base, q.lack = e.Clock.NS-ns, e.Clock.Lack
		q.zone = p.secNS*1e9 - q.base
		start = k + n
	case Bare, Ident:
	default:
		q.set = false
		return
	}
	h := e.Msg
	_, end := number(h, 21)
	if end < 23 || h[end-1] != ' ' || h[end-2] == ' ' {
		q.set = false
		return
	}
	q.set, q.form, q.who = true, e.Form, e.Who
	q.mid = append(q.mid[:0], rec[start:e.Off]...)
	q.klog, q.klogNS = [14]byte(h[1:15]), e.Header.Clock.NS/1e9*1e9
	q.pid, q.pidNum = append(q.pid[:0], h[21:end]...), e.Header.PID
}

// Brief is what Skim tells of a line: all that its coverage needs.
type Brief struct {
	Form   Form
	Who    *Who
	PID    int // of the klog header
	Off    int // of the message, its header included
	Body   int // of the text behind the header
	Caller []byte
	Clock  parse.Clock // of the framing
	Header parse.Clock
}

// Skim reads a line that looks like the last klog line of the file but for its
// stamps and text. It is Parse at a fraction of the cost, for the lines that
// turn out to mean nothing; false means nothing but that Parse must read it.
func (p *Parser) Skim(rec []byte, b *Brief) bool {
	if !p.pattern.set || p.framing.Kind == Blocks || p.framing.Kind == Table {
		return false
	}
	return p.skim(trimLine(rec), b)
}

// repeat reads a line of the pattern. What it fills in is what Parse would
// have; it reports false when the line is not of the pattern.
func (p *Parser) repeat(rec []byte, e *Entry) bool {
	var b Brief
	if !p.skim(rec, &b) {
		return false
	}
	b.Entry(rec, e)
	return true
}

// Entry fills in what Parse would have for the line that was skimmed.
func (b *Brief) Entry(rec []byte, e *Entry) {
	msg := trimLine(rec)[b.Off:]
	*e = Entry{Form: b.Form, Off: b.Off, Who: b.Who, Msg: msg, Clock: b.Clock, Header: Header{
		Kind: Klog, Severity: msg[0], PID: b.PID, Caller: b.Caller, Body: b.Body - b.Off, Clock: b.Header}}
}

func (p *Parser) skim(rec []byte, b *Brief) bool {
	q := &p.pattern
	i := 0
	clock := parse.Clock{}
	if k := len(q.second); k > 0 {
		if len(rec) <= k || string(rec[:k]) != string(q.second) && !q.tick(rec[:k]) {
			return false
		}
		ns, res, n := fraction(rec[k:])
		clock = parse.Clock{NS: q.base + ns, Res: res, Lack: q.lack, Set: true}
		i = k + n
	}
	if m := len(q.mid); len(rec) < i+m+klogHeader || string(rec[i:i+m]) != string(q.mid) {
		return false
	}
	i += len(q.mid)
	msg := rec[i:]
	if !isKlog(msg) || [14]byte(msg[1:15]) != q.klog && !q.klogTick(msg) {
		return false
	}
	us, ok := six(msg[15:21])
	n := 21 + len(q.pid)
	if !ok || len(msg) < n || string(msg[21:n]) != string(q.pid) {
		return false
	}
	end := callerEnd(msg, n)
	if end < 0 {
		return false
	}
	b.Form, b.Who, b.PID = q.form, q.who, q.pidNum
	b.Off, b.Body, b.Caller = i, i+skipBlank(msg, end+1), msg[n:end]
	b.Clock, b.Header = clock, parse.Clock{NS: q.klogNS + us*1e3, Res: microsecond, Lack: yearless, Set: true}
	return true
}

// tick moves the pattern to another second of the framing's clock.
func (q *pattern) tick(stamp []byte) bool {
	var sec int64
	switch {
	case q.second[len(q.second)-9] == 'T':
		s, ok := isoSeconds(stamp)
		if !ok || len(stamp) != 19 {
			return false
		}
		sec = s
	case q.form == BSD && q.lack&parse.LackYear != 0:
		s, n := bsdSeconds(stamp)
		if n != len(stamp) {
			return false
		}
		sec = s
	default:
		return false
	}
	q.second = append(q.second[:0], stamp...)
	q.base = sec*1e9 - q.zone
	return true
}

// klogTick moves the pattern to another second of the header's clock.
func (q *pattern) klogTick(msg []byte) bool {
	month, day, tod := two(msg[1:]), two(msg[3:]), timeOfDay(msg[6:])
	if !validDate(month, day) || tod < 0 {
		return false
	}
	q.klog = [14]byte(msg[1:15])
	q.klogNS = ((monthStart[month]+int64(day)-1)*86400 + tod) * 1e9
	return true
}
