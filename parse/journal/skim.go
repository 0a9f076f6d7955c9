package journal

import (
	"bytes"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Brief is what Skim tells of a line: all that its coverage needs.
type Brief struct {
	Kind   HeaderKind // Klog, Logrus or NoHeader
	Form   Form
	Who    *Who
	Other  int // the pid of the writer where it is not that of Who, else 0
	PID    int // of the klog header
	caller int // of the klog header, where it begins and ends
	until  int
	Off    int // of the message, its header included
	Body   int // of the text that is searched, up to End
	End    int
	Clock  parse.Clock // of the framing
	Header parse.Clock
	Layout int // the same for lines of one process, as a rule; below MaxLayouts
	level  int // of what follows the stamp of logrus
}

// MaxLayouts bounds Brief.Layout.
const MaxLayouts = maxLayouts

// Skim reads a line that looks like one of the last lines of the file but for
// its stamps and text. It is Parse at a fraction of the cost, for the lines that
// turn out to mean nothing; false means nothing but that Parse must read it.
func (p *Parser) Skim(rec []byte, b *Brief) bool {
	if p.layouts.n == 0 || p.framing.Kind == Blocks || p.framing.Kind == Table {
		return false
	}
	rec = trimLine(rec)
	b.End = len(rec)
	return p.skim(rec, b, true)
}

// repeat reads a line of a known layout. What it fills in is what Parse would
// have; it reports false when there is no such layout.
func (p *Parser) repeat(rec []byte, e *Entry) bool {
	var b Brief
	if !p.skim(rec, &b, false) {
		return false
	}
	b.Entry(rec, e)
	return true
}

// Caller returns the caller that the klog header of the line names.
func (b *Brief) Caller(rec []byte) []byte { return rec[b.caller:b.until] }

// Severity returns the severity that the header of the line states.
func (b *Brief) Severity(rec []byte) byte {
	if b.Kind == Klog {
		return rec[b.Off]
	}
	var h Header
	readLevel(rec[b.Off+b.level:b.End], &h)
	return h.Severity
}

// Entry fills in what Parse would have for the line that was skimmed, unless it
// is of another process.
func (b *Brief) Entry(rec []byte, e *Entry) {
	msg := trimLine(rec)[b.Off:]
	*e = Entry{Form: b.Form, Off: b.Off, Who: b.Who, Msg: msg, Clock: b.Clock}
	switch h := &e.Header; b.Kind {
	case Klog:
		*h = Header{Kind: Klog, Severity: msg[0], PID: b.PID, Caller: b.Caller(rec), Body: b.Body - b.Off, Clock: b.Header}
	case Logrus:
		*h = Header{Kind: Logrus, Clock: b.Header}
		readLevel(msg[b.level:], h)
	}
}

// skim reads the stamp and finds the layout. With others, a line may be of
// another process than those seen.
func (p *Parser) skim(rec []byte, b *Brief, others bool) bool {
	k := len(p.second)
	if k < len(rec) {
		i := p.layouts.likely(rec[k:])
		l := &p.layouts.list[i]
		if l.ticks == p.ticks && begins(rec, l.head) && p.message(rec, len(l.head), l, b) {
			b.Other, b.Layout = 0, i
			p.date(l, 0, time.Second, b)
			return true
		}
	}
	var kind stampKind
	ns, res, at := int64(0), time.Second, 0
	if k > 0 && len(rec) > k && (begins(rec, p.second) || p.tick(rec[:k])) {
		kind, at = p.stampNow(), k
		if rec[k] != ' ' {
			n := 0
			ns, res, n = fraction(rec[k:])
			at += n
		}
	}
	rest := rec[at:]
	likely := p.layouts.likely(rest)
	if p.skimAs(likely, kind, rec, at, b) {
		p.date(&p.layouts.list[likely], ns, res, b)
		return true
	}
	for i := range p.layouts.list[:p.layouts.n] {
		if i != likely && p.layouts.list[i].mayFit(rest) && p.skimAs(i, kind, rec, at, b) {
			p.date(&p.layouts.list[i], ns, res, b)
			return true
		}
	}
	for i := range p.layouts.list[:p.layouts.n] {
		l := &p.layouts.list[i]
		if !others || l.stamp != kind {
			continue
		}
		if pid, n := l.fitsOther(rest); n > 0 && !isKlog(rest[n:]) && p.message(rec, at+n, l, b) {
			b.Other, b.Layout = pid, i
			p.date(l, ns, res, b)
			return true
		}
	}
	return false
}

// skimAs reads a line whose stamp ends at at as one of the i-th layout.
func (p *Parser) skimAs(i int, kind stampKind, rec []byte, at int, b *Brief) bool {
	l := &p.layouts.list[i]
	if l.stamp != kind || !begins(rec[at:], l.mid) || !p.message(rec, at+len(l.mid), l, b) {
		return false
	}
	b.Other, b.Layout = 0, i
	if at == len(p.second) && (kind.form == Bare || len(l.mid) > 0 && l.mid[0] != '.' && l.mid[0] != ',') {
		l.head, l.ticks = append(append(l.head[:0], p.second...), l.mid...), p.ticks
	}
	return true
}

// date fills in the clock of the framing: ns of the second in p, to the precision
// of res.
func (p *Parser) date(l *layout, ns int64, res time.Duration, b *Brief) {
	if l.stamp.form == Bare {
		b.Clock = parse.Clock{}
		return
	}
	b.Clock.NS, b.Clock.Res, b.Clock.Lack, b.Clock.Set = p.secNS*1e9-l.zone+ns, res, l.lack, true
}

// message reads the message of the layout, which begins at i.
func (p *Parser) message(rec []byte, i int, l *layout, b *Brief) bool {
	b.Form, b.Who, b.Off = l.form, l.who, i
	msg := rec[i:]
	if len(msg) >= klogHeader && klogSecond(msg) == p.klog && klogLetter(msg[0]) {
		return p.skimKlog(msg, l, b)
	}
	if isKlog(msg) {
		return p.klogTick(msg) && p.skimKlog(msg, l, b)
	}
	if !l.plain || len(msg) == 0 {
		return false
	}
	b.PID, b.caller, b.until, b.Body = 0, 0, 0, i
	if string(msg[:min(len(msg), 5)]) == "time=" {
		if !p.skimLogrus(msg, b) {
			return false
		}
	} else {
		b.Kind, b.Header = NoHeader, parse.Clock{}
		if !headless(msg) {
			return false
		}
	}
	return !l.marks || messageMark(l.who, msg) == Mark{}
}

// skimKlog reads the header of a klog line of the layout's process and of the
// second that was read last.
func (p *Parser) skimKlog(msg []byte, l *layout, b *Brief) bool {
	us, ok := micros(msg[15:])
	n := 21 + len(l.pid)
	if !ok || n == 21 || !l.hasPID(msg, n) {
		return false
	}
	end := p.callers.end(msg, n)
	if end < 0 {
		return false
	}
	b.Kind, b.PID = Klog, l.num
	b.caller, b.until, b.Body = b.Off+n, b.Off+end, b.Off+skipBlank(msg, end+1)
	b.Header = parse.Clock{NS: p.klogNS + us*1e3, Res: microsecond, Lack: yearless, Set: true}
	return true
}

// skimLogrus reads the stamp of a logrus line.
func (p *Parser) skimLogrus(msg []byte, b *Brief) bool {
	i := len("time=")
	if len(msg) > i && msg[i] == '"' {
		i++
	}
	if len(msg) < i+19 {
		return false
	}
	if iso := (*[19]byte)(msg[i:]); p.iso[4] != '-' || !begins(iso[:], p.iso[:]) {
		sec, ok := isoSeconds(iso[:])
		if !ok {
			return false
		}
		p.iso, p.isoSec = *iso, sec
	}
	c, n := isoTail(p.isoSec, msg[i+19:])
	b.Kind, b.Header, b.level = Logrus, c, i+19+n
	return true
}

// headless reports whether a message has for certain neither header nor
// component; false means that it must be looked at.
func headless(msg []byte) bool {
	switch msg[0] {
	case '{', '2', 't', 'l':
		return false
	}
	i := bytes.IndexByte(msg[:min(len(msg), maxCaller)], ' ')
	return i < 1 || msg[i-1] != ']' && !isKlog(msg[i+1:])
}

// tick moves the stamp to another second.
func (p *Parser) tick(stamp []byte) bool {
	var sec int64
	switch k := len(stamp); p.secForm {
	case BSD:
		s, n := bsdSeconds(stamp)
		if n != k {
			return false
		}
		sec = s
	case ISO, Full:
		s, ok := isoSeconds(stamp[k-19:])
		if !ok || stamp[k-9] != p.second[k-9] || string(stamp[:k-19]) != string(p.second[:k-19]) {
			return false
		}
		sec = s
	default:
		return false
	}
	p.cache(stamp, p.secForm, sec)
	return true
}

// klogSecond returns what a klog header says up to its seconds, the severity
// aside, as two numbers that overlap: they are compared at once.
func klogSecond(msg []byte) [2]uint64 {
	return [2]uint64{eight(msg[1:]), eight(msg[7:])}
}

// klogTick moves the klog header's clock to another second.
func (p *Parser) klogTick(msg []byte) bool {
	month, day, tod := two(msg[1:]), two(msg[3:]), timeOfDay(msg[6:])
	if !validDate(month, day) || tod < 0 {
		return false
	}
	p.klog = klogSecond(msg)
	p.klogNS = ((monthStart[month]+int64(day)-1)*86400 + tod) * 1e9
	return true
}

const microsecond = time.Microsecond
