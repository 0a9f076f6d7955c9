package journal

import (
	"bytes"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Brief is the result of Skim: writer, timestamps and message bounds, enough to
// count a line without parsing it. Offsets are relative to the record.
type Brief struct {
	Kind   HeaderKind // Klog, Logrus or NoHeader
	Form   Form
	Who    *Who
	Other  int // PID of the writer if it differs from that of Who, else 0
	PID    int // from the klog header
	caller int // bounds of the caller in the klog header, with until
	until  int
	Off    int // start of the message, header included
	Body   int // start of the text to search, which ends at End
	End    int
	Clock  parse.Clock // clock of the framing
	Header parse.Clock
	Layout uint8 // usually the same for all lines of a process; below MaxLayouts
	level  int   // offset in the message of what follows the logrus timestamp
}

// MaxLayouts is an exclusive upper bound of Brief.Layout.
const MaxLayouts = maxLayouts

// Skim reads a line that matches a recent line of the file except for timestamps
// and text. It agrees with Parse at a fraction of the cost and serves the many
// lines that turn out to be irrelevant. Nil only means that the line must be
// parsed. The result is valid until the next call of Skim or Parse.
func (p *Parser) Skim(rec []byte) *Brief {
	if p.layouts.n == 0 || p.framing.Kind != Lines {
		return nil
	}
	return p.skim(trimLine(rec), true)
}

// repeat reads a line of a known layout into e, exactly as Parse would. It returns
// false if there is no such layout.
func (p *Parser) repeat(rec []byte, e *Entry) bool {
	b := p.skim(rec, false)
	if b == nil {
		return false
	}
	b.Entry(rec, e)
	return true
}

// Caller returns the caller in the klog header of the line.
func (b *Brief) Caller(rec []byte) []byte { return rec[b.caller:b.until] }

// Severity returns the severity in the header of the line, 0 if unknown.
func (b *Brief) Severity(rec []byte) byte {
	if b.Kind == Klog {
		return rec[b.Off]
	}
	var h Header
	readLevel(rec[b.Off+b.level:b.End], &h)
	return h.Severity
}

// Entry fills e with what Parse would return for the skimmed line. It must not be
// used if Other is set.
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

// skim reads the timestamp and finds the layout. If others is set, the line may be
// from another process than those seen. Most lines have a timestamp without a
// fraction and match the likely layout. For these, fixed-size words are compared at
// once, including bytes beyond len(rec), up to its capacity, which do not affect
// the result.
func (p *Parser) skim(rec []byte, others bool) *Brief {
	k, all := len(p.second), rec[:cap(rec)]
	if len(rec) <= k || len(all) < k+maxHead || p.secHead.n == 0 {
		return p.skimLong(rec, others)
	}
	if !p.secHead.begins((*[maxHead]byte)(all)) && (rec[k] != ' ' || !p.tick(rec[:k])) {
		return p.skimLong(rec, others)
	}
	rest := all[k:]
	l := &p.layouts.list[p.layouts.likely(rest)]
	at := k + int(l.midHead.n)
	if at == k || at >= len(rec) || !l.midHead.begins((*[maxHead]byte)(rest)) || l.stamp != p.kind {
		return p.skimLong(rec, others)
	}
	b := &l.brief
	b.Clock.NS, b.Clock.Res = p.secNS*1e9-l.zone, time.Second
	if !p.message(rec, at, l) {
		return p.skimLong(rec, others)
	}
	return b
}

// klogRoom is enough for a klog header with a cached caller.
const klogRoom = klogTime + maxHead + 1

// skimAlike reads a klog header of which everything except the microseconds is
// cached. The message begins at at in a line of n bytes.
func (p *Parser) skimAlike(w *[klogRoom]byte, l *layout, at, n int) bool {
	if klogSecond(w[:]) != p.klog || !klogLetter(w[0]) {
		return false
	}
	us, ok := micros(w[15:])
	from := klogTime + len(l.pid)
	if !ok || from > 31 {
		return false
	}
	t := p.callers.of(eight(w[from&31:]), eight(w[from&31+8:]))
	until := klogTime - 1 + int(t.n)
	if t.n == 0 || t.pid != l.num || t.from != from || at+until >= n || !t.begins((*[maxHead]byte)(w[klogTime:])) {
		return false
	}
	b := &l.brief
	b.klog(l)
	b.Other, b.Off, b.End = 0, at, n
	b.caller, b.until, b.Body = at+from, at+until, at+until+1
	if w[until+1] == ' ' && at+until+1 < n {
		b.Body++
	}
	b.Header.NS = p.klogNS + us*1e3
	return true
}

// klog sets the fields that all klog headers of the layout share.
func (b *Brief) klog(l *layout) {
	if b.Kind != Klog {
		b.Kind, b.PID = Klog, l.num
		b.Header = parse.Clock{Res: microsecond, Lack: yearless, Set: true}
	}
}

// skimLong is the general form of skim.
func (p *Parser) skimLong(rec []byte, others bool) *Brief {
	var kind stampKind
	ns, res, at := int64(0), time.Second, 0
	if k := len(p.second); k > 0 && len(rec) > k && (bytes.HasPrefix(rec, p.second) || p.tick(rec[:k])) {
		kind, at = p.kind, k
		if c := rec[k]; c == '.' || c == ',' {
			n := 0
			ns, res, n = fraction(rec[k:])
			at += n
		}
	}
	rest := rec[at:]
	likely := p.layouts.likely(rest)
	if l := &p.layouts.list[likely]; l.stamp == kind && bytes.HasPrefix(rest, l.mid) && p.message(rec, at+len(l.mid), l) {
		return p.date(l, ns, res)
	}
	for i := range p.layouts.list[:p.layouts.n] {
		l := &p.layouts.list[i]
		if i != likely && l.stamp == kind && l.mayFit(rest) && bytes.HasPrefix(rest, l.mid) && p.message(rec, at+len(l.mid), l) {
			return p.date(l, ns, res)
		}
	}
	for i := range p.layouts.list[:p.layouts.n] {
		l := &p.layouts.list[i]
		if !others || l.stamp != kind {
			continue
		}
		if pid, n := l.fitsOther(rest); n > 0 && !isKlog(rest[n:]) && p.message(rec, at+n, l) {
			l.brief.Other = pid
			return p.date(l, ns, res)
		}
	}
	return nil
}

// date sets the clock of the framing: ns nanoseconds after the cached second, with
// granularity res.
func (p *Parser) date(l *layout, ns int64, res time.Duration) *Brief {
	b := &l.brief
	if l.stamp.form != Bare {
		b.Clock.NS, b.Clock.Res = p.secNS*1e9-l.zone+ns, res
	}
	return b
}

// message reads the message of a line with the given layout, which begins at i.
func (p *Parser) message(rec []byte, i int, l *layout) bool {
	if all := rec[:cap(rec)]; i+klogRoom <= len(all) && p.skimAlike((*[klogRoom]byte)(all[i:]), l, i, len(rec)) {
		return true
	}
	b := &l.brief
	b.Other, b.Off, b.End = 0, i, len(rec)
	msg := rec[i:]
	if isKlog(msg) {
		return (klogSecond(msg) == p.klog || p.klogTick(msg)) && p.skimKlog(msg, l)
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

// skimKlog reads the header of a klog line that is from the layout's process and in
// the cached second.
func (p *Parser) skimKlog(msg []byte, l *layout) bool {
	us, ok := micros(msg[15:])
	n := klogTime + len(l.pid)
	if !ok || len(l.pid) == 0 || !l.hasPID(msg, n) {
		return false
	}
	end := callerEnd(msg, n)
	if end < 0 || carrier(msg[n:]) {
		return false
	}
	p.callers.learn(msg, n, end, l.num)
	b := &l.brief
	b.klog(l)
	b.caller, b.until, b.Body = b.Off+n, b.Off+end, b.Off+skipBlank(msg, end+1)
	b.Header.NS = p.klogNS + us*1e3
	return true
}

// skimLogrus reads the timestamp of a logrus line.
func (p *Parser) skimLogrus(msg []byte, b *Brief) bool {
	i := len("time=")
	if len(msg) > i && msg[i] == '"' {
		i++
	}
	if len(msg) < i+maxHead || p.iso.n == 0 || !p.iso.begins((*[maxHead]byte)(msg[i:])) {
		sec, ok := isoSeconds(msg[min(i, len(msg)):])
		if !ok {
			return false
		}
		p.iso.set(msg[i : i+19])
		p.isoSec = sec
	}
	c, n := isoTail(p.isoSec, msg[i+19:])
	b.Kind, b.Header, b.level = Logrus, c, i+19+n
	return true
}

// headless reports whether a message certainly has neither header nor component;
// false means that it must be parsed.
func headless(msg []byte) bool {
	switch msg[0] {
	case '{', '0', '1', '2', 't', 'l', '<':
		return false
	case 'I', 'E', 'W', 'F':
		if TornHeader(msg) {
			return false
		}
	}
	i := bytes.IndexByte(msg[:min(len(msg), maxCaller)], ' ')
	return i < 1 || msg[i-1] != ']' && !isKlog(msg[i+1:])
}

// tick updates the cached timestamp to another second. It returns false if stamp is
// of another form.
func (p *Parser) tick(stamp []byte) bool {
	var sec int64
	switch k := len(stamp); p.kind.form {
	case BSD:
		s, n := bsdSeconds(stamp)
		if n != k {
			return false
		}
		sec = s
	case ISO, Full:
		s, ok := isoSeconds(stamp[k-19:])
		if !ok || s > parse.LastSecond || stamp[k-9] != p.second[k-9] || string(stamp[:k-19]) != string(p.second[:k-19]) {
			return false
		}
		sec = s
	default:
		return false
	}
	p.cache(stamp, p.kind.form, sec)
	return true
}

// klogSecond returns a klog header from the date to the seconds as two overlapping
// words, which can be compared at once.
func klogSecond(msg []byte) [2]uint64 {
	return [2]uint64{eight(msg[1:]), eight(msg[7:])}
}

// klogTick updates the cached klog second.
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
