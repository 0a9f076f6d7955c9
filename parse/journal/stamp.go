package journal

import (
	"bytes"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// stamped reads a line with a timestamp at off, followed by the writer.
func (p *Parser) stamped(rec []byte, off int, e *Entry) bool {
	b := rec[off:]
	if len(b) < 8 {
		return false
	}
	if k := len(p.second); k > 0 && len(b) > k && bytes.HasPrefix(b, p.second) && !(b[k]-'0' <= 9) {
		return p.afterSecond(rec, off, k, p.kind.form, p.secNS, e)
	}
	switch c := b[0]; {
	case c-'0' <= 9:
		return p.digits(rec, off, e)
	case c == '[':
		return p.bracket(rec, off, e)
	case c == '<':
		return p.priority(rec, off, e)
	}
	return p.words(rec, off, e)
}

// words reads timestamps that begin with the name of a month or weekday.
func (p *Parser) words(rec []byte, off int, e *Entry) bool {
	b := rec[off:]
	if c := b[0]; c == ' ' || c == '\t' || c == '{' || c == '-' || c == '=' {
		return false
	}
	if sec, n := bsdSeconds(b); n > 0 {
		p.cache(b[:n], BSD, sec)
		return p.afterSecond(rec, off, n, BSD, sec, e)
	}
	// "Fri 2026-11-20 23:28:59", the weekday in any language.
	i := bytes.IndexByte(b[:min(len(b), 16)], ' ')
	if i < 2 || b[i-1] == ':' || len(b) < i+21 { // "date:" is not a weekday
		return false
	}
	sec, ok := isoSeconds(b[i+1:])
	if !ok {
		return false
	}
	p.cache(b[:i+20], Full, sec)
	return p.afterSecond(rec, off, i+20, Full, sec, e)
}

// digits reads timestamps that begin with a digit.
func (p *Parser) digits(rec []byte, off int, e *Entry) bool {
	b := rec[off:]
	if sec, ok := isoSeconds(b); ok {
		p.cache(b[:19], ISO, sec)
		return p.afterSecond(rec, off, 19, ISO, sec, e)
	}
	if c, n := unixStamp(b); n > 0 {
		e.Clock = c
		return p.writer(rec, off+n, Unix, e)
	}
	if sec, n := bsdSeconds(b); n > 0 { // months of East Asian locales
		p.cache(b[:n], BSD, sec)
		return p.afterSecond(rec, off, n, BSD, sec, e)
	}
	return false
}

func (p *Parser) cache(stamp []byte, form Form, sec int64) {
	if sec > parse.LastSecond {
		return
	}
	n := len(stamp)
	p.second = append(append(p.second[:0], stamp...), ' ')
	p.secHead.set(p.second)
	p.second, p.secNS, p.kind = p.second[:n], sec, stampKind{form: form}
	if n >= 9 {
		p.kind.sep = stamp[n-9]
	}
}

// afterSecond reads what follows the first k bytes of the line at off, a timestamp
// up to its seconds.
func (p *Parser) afterSecond(rec []byte, off, k int, form Form, sec int64, e *Entry) bool {
	rest := rec[off+k:]
	switch form {
	case BSD:
		ns, res, n := fraction(rest)
		if off > 0 && rec[off-1] == '*' && bytes.HasPrefix(rest[n:], []byte("** ")) { // in bold type
			n += 2
		}
		if n >= len(rest) || rest[n] != ' ' && rest[n] != ':' {
			return false
		}
		e.Clock = parse.Clock{NS: sec*1e9 + ns, Res: res, Lack: yearless, Set: true}
		n += yearAfter(rest[n:], &e.Clock)
		return p.writer(rec, off+k+n+1, BSD, e)
	case Full:
		c, n := fullTail(sec, rest)
		e.Clock = c
		if n >= len(rest) {
			return false
		}
		return p.writer(rec, off+k+n, Full, e)
	}
	return p.isoLine(rec, off, k, sec, e)
}

// yearAfter reads a year that some syslog daemons print after the time.
func yearAfter(b []byte, c *parse.Clock) int {
	if len(b) < 6 || b[0] != ' ' || b[5] != ' ' || two(b[1:]) < 19 || two(b[1:]) > 21 || two(b[3:]) < 0 {
		return 0
	}
	year := two(b[1:])*100 + two(b[3:])
	c.NS += (unixDay(year, 1, 1) - unixDay(parse.YearUnknown, 1, 1)) * 86400e9
	if t := time.Unix(0, c.NS).UTC(); !leap(year) && t.YearDay() > 60 && c.NS > 0 {
		// YearUnknown has a February 29.
		c.NS -= 86400e9
	}
	c.Lack &^= parse.LackYear
	return 5
}

func leap(year int) bool { return unixDay(year, 3, 1)-unixDay(year, 2, 28) == 2 }

// fullTail reads fraction and zone of short-full and verbose timestamps: " UTC ",
// " +0530 ", " CEST ". Some abbreviations, such as CST, are ambiguous and determine no
// offset. A word that is in fact the writer is left alone.
func fullTail(sec int64, b []byte) (c parse.Clock, n int) {
	if sec > parse.LastSecond {
		_, n = fullTail(0, b)
		return outOfRange, n
	}
	ns, res, n := fraction(b)
	c = parse.Clock{NS: sec*1e9 + ns, Res: res, Lack: parse.LackZone, Set: true}
	if n >= len(b) || b[n] != ' ' {
		return c, n
	}
	n++
	word := b[n:]
	if i := bytes.IndexByte(word, ' '); i >= 0 {
		word = word[:i]
	}
	off, m := zone(word)
	switch {
	case m == len(word) && m >= 3:
		c.NS -= int64(off) * 1e9
		c.Lack = 0
	case !zoneName(word):
		return c, n
	default:
		inZone(&c, word)
	}
	return c, min(n+len(word)+1, len(b))
}

// inZone moves a clock from the zone with that abbreviation to UTC. If the abbreviation is
// ambiguous, the clock still lacks its zone.
func inZone(c *parse.Clock, word []byte) {
	if off, _, ok := parse.ZoneOffset(string(word)); ok {
		c.NS -= int64(off) * 1e9
		c.Lack &^= parse.LackZone
	}
}

// zoneName reports whether a word looks like a zone abbreviation: CEST, EDT.
func zoneName(word []byte) bool {
	if len(word) < 2 || len(word) > 5 {
		return false
	}
	for _, c := range word {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}

// isoLine reads a line that begins with an ISO timestamp, of which k bytes have
// been read.
func (p *Parser) isoLine(rec []byte, off, k int, sec int64, e *Entry) bool {
	c, n := isoTail(sec, rec[off+k:])
	i := off + k + n
	if i >= len(rec) || rec[i] != ' ' {
		return false
	}
	i++
	if n := zoneApart(rec[off:], i-off, &c); n < 0 {
		return false
	} else if i += n; i >= len(rec) {
		return false
	}
	if zoneName(bytes.TrimRight(rec[i:min(len(rec), i+8)], " \r")) && len(rec) <= i+8 {
		return false // a time alone
	}
	if c.Lack != 0 {
		n := zoneUnread(rec[i:])
		inZone(&c, rec[i:max(i+n-1, i)])
		i += n
	}
	e.Clock = c
	if criStream(rec[i:], e) {
		e.Form = CRI
		e.Off = min(i+len("stdout F "), len(rec))
		e.Msg = rec[e.Off:]
		return true
	}
	var h Header
	if c.Lack == 0 && (ReadHeader(rec[i:], &h) || rec[off+10] == 'T' && !named(rec[i:])) {
		e.Form, e.Off, e.Msg = Stamped, i, rec[i:]
		return true
	}
	return p.writer(rec, i, ISO, e)
}

// zoneApart reads the zone of "2006-01-02 15:04:05 -0700 " or "… UTC " at i, which
// some log services separate by a blank, into c. It returns the number of bytes
// read, or -1 if the text is the Go time that begins one of podman's own lines,
// which is their header.
func zoneApart(b []byte, i int, c *parse.Clock) int {
	off, n := zone(b[i:])
	if bytes.HasPrefix(b[i:], []byte("UTC")) || bytes.HasPrefix(b[i:], []byte("GMT")) {
		off, n = 0, 3
	} else if n < 5 || b[i] == 'Z' {
		return 0
	}
	if b[10] != ' ' || c.Lack == 0 || i+n >= len(b) || b[i+n] != ' ' {
		return 0
	}
	var h Header
	if readPodman(b, &h) {
		return -1
	}
	if c.Set {
		c.NS, c.Lack = c.NS-int64(off)*1e9, 0
	}
	return n + 1
}

// zoneUnread returns the length of a word after a timestamp, including a blank,
// that is meant as a zone but does not determine an offset: "CST ", which is
// ambiguous, or "+99:99 ". Otherwise it would be taken for the host and name a
// node. A word in capitals may be a host, so it counts as a zone only if host and
// process, or a header, follow.
func zoneUnread(b []byte) int {
	n := bytes.IndexByte(b[:min(len(b), 16)], ' ')
	if n < 3 {
		return 0
	}
	word, rest := b[:n], b[n+1:]
	if (word[0] == '+' || word[0] == '-') && word[1]-'0' <= 9 {
		return n + 1
	}
	if !zoneName(word) {
		return 0
	}
	var h Header
	if _, w := splitWho(rest); len(w.host) > 0 && w.pid > 0 || ReadHeader(rest, &h) {
		return n + 1
	}
	return 0
}

// criStream reads "stdout F " or "stderr P ".
func criStream(b []byte, e *Entry) bool {
	if len(b) < 8 || string(b[:6]) != "stdout" && string(b[:6]) != "stderr" || b[6] != ' ' {
		return false
	}
	if len(b) > 8 && b[8] != ' ' && b[8] != ':' || b[7] != 'F' && b[7] != 'P' {
		return false
	}
	e.Partial = b[7] == 'P'
	return true
}

// unixStamp reads "1795217339.991937 ".
func unixStamp(b []byte) (parse.Clock, int) {
	i := 0
	for i < len(b) && i < 11 && b[i]-'0' <= 9 {
		i++
	}
	if i < 9 || i+8 > len(b) || b[i] != '.' || b[i+7] != ' ' {
		return parse.Clock{}, 0
	}
	whole, _, _ := decimal(b[:i])
	us, ok := six(b[i+1:])
	if !ok || whole > parse.LastSecond {
		return parse.Clock{}, 0
	}
	return parse.Clock{NS: whole*1e9 + us*1e3, Res: microsecond, Set: true}, i + 8
}

// bracket reads timestamps in square brackets: monotonic seconds, with or without a
// difference, and those of dmesg.
func (p *Parser) bracket(rec []byte, off int, e *Entry) bool {
	b := rec[off:]
	end := bytes.IndexByte(b[:min(len(b), 64)], ']')
	if end < 0 {
		return false
	}
	in := bytes.Trim(b[1:end], " ")
	i := off + end + 1
	if i < len(rec) && rec[i] == ' ' {
		i++
	}
	if in = bytes.TrimSpace(in); len(in) > 0 && in[0] == '+' && i < len(rec) && rec[i] == '[' { // the difference, and then the stamp
		if next := bytes.IndexByte(rec[i:min(len(rec), i+64)], ']'); next > 0 {
			if c, ok := dmesgStamp(bytes.TrimSpace(rec[i+1 : i+next])); ok {
				i = min(i+next+2, len(rec))
				e.Clock = c
				return p.kernel(rec, i+callerLen(rec[i:]), e)
			}
		}
	}
	i += callerLen(rec[i:])
	if mono, ok := monotonic(in); ok {
		e.Mono = mono
		if p.named(rec, i, e) {
			e.Form = Monotonic
			return true
		}
		return p.kernel(rec, i, e)
	}
	c, ok := dmesgStamp(in)
	if !ok || readLevelled(b, &Header{}) {
		return false
	}
	e.Clock = c
	return p.kernel(rec, i, e)
}

// callerLen returns the length of "[      T1] ", the task or CPU that the kernel
// writes after the timestamp (CONFIG_PRINTK_CALLER), or 0 if b does not begin like
// that.
func callerLen(b []byte) int {
	end := bytes.IndexByte(b[:min(len(b), 16)], ']')
	if end < 3 || b[0] != '[' || end+1 >= len(b) || b[end+1] != ' ' {
		return 0
	}
	in := bytes.TrimLeft(b[1:end], " ")
	if len(in) < 2 || in[0] != 'T' && in[0] != 'C' || len(bytes.Trim(in[1:], "0123456789")) > 0 {
		return 0
	}
	return end + 2
}

func (p *Parser) kernel(rec []byte, i int, e *Entry) bool {
	e.Form, e.Off, e.Msg = Dmesg, i, rec[min(i, len(rec)):]
	e.Who = p.intern(Who{Ident: "kernel"})
	return true
}

// monotonic reads "39.798436", "39.798436 <    0.000126 >" and dmesg's relative
// "+0.000001", whose absolute time is unknown.
func monotonic(in []byte) (ns int64, ok bool) {
	if len(in) > 0 && in[0] == '+' {
		_, _, digits := decimal(in[1:])
		return 0, digits == 6
	}
	whole, _, digits := decimal(in)
	if whole < 0 || digits != 6 || whole > parse.LastSecond {
		return 0, false
	}
	dot := bytes.IndexByte(in, '.')
	us, ok := six(in[dot+1:])
	return whole*1e9 + us*1e3, ok
}

// dmesgStamp reads "Fri Nov  3 13:31:21 2017" (-T), "Nov 3 13:31" (-H) and ISO.
func dmesgStamp(in []byte) (parse.Clock, bool) {
	if c, n := ReadISO(in); n > 0 {
		return c, n == len(in)
	}
	if i := bytes.IndexByte(in[:min(len(in), 12)], ' '); i >= 2 {
		if sec, n := bsdSeconds(in[i+1:]); n > 0 && i+1+n+5 <= len(in) {
			c := parse.Clock{NS: sec * 1e9, Res: time.Second, Lack: yearless, Set: true}
			pad := append(append([]byte{}, in[i+1+n:]...), ' ')
			return c, yearAfter(pad, &c) > 0
		}
	}
	month, n := readMonth(in)
	rest := bytes.TrimLeft(in[n:], " ")
	if month == 0 || len(rest) < 7 {
		return parse.Clock{}, false
	}
	day, i := number(rest, 0)
	if len(rest) != i+5 || rest[i+2] != ':' || !validDate(month, day) {
		return parse.Clock{}, false
	}
	h, m := two(rest[i:]), two(rest[i+3:])
	if h < 0 || h > 23 || m < 0 || m > 59 {
		return parse.Clock{}, false
	}
	sec := (monthStart[month]+int64(day)-1)*86400 + int64(h*3600+m*60)
	return parse.Clock{NS: sec * 1e9, Res: time.Minute, Lack: yearless, Set: true}, true
}

// priority reads lines that begin with a syslog priority: RFC 5424, RFC 3164 as
// sent over the wire, and raw dmesg.
func (p *Parser) priority(rec []byte, off int, e *Entry) bool {
	b := rec[off:]
	end := bytes.IndexByte(b[:min(len(b), 6)], '>')
	if end < 2 || b[1]-'0' > 9 {
		return false
	}
	i := off + end + 1
	if bytes.HasPrefix(rec[i:], []byte("1 ")) {
		return p.rfc5424(rec, i+2, e)
	}
	if i < len(rec) && rec[i] != '<' {
		return p.stamped(rec, i, e)
	}
	return false
}

// rfc5424 reads "stamp host app procid msgid [sd] msg".
func (p *Parser) rfc5424(rec []byte, i int, e *Entry) bool {
	c, n := ReadISO(rec[i:])
	if n == 0 && !bytes.HasPrefix(rec[i:], []byte("- ")) {
		return false
	}
	e.Clock = c
	var f [5][]byte // stamp, host, app, procid, msgid
	for k := range f {
		end := bytes.IndexByte(rec[i:], ' ')
		if end < 0 {
			return false
		}
		f[k] = rec[i : i+end]
		i += end + 1
	}
	i += structured(rec[i:])
	i = min(i, len(rec))
	if bytes.HasPrefix(rec[i:], []byte("\xef\xbb\xbf")) {
		i += 3
	}
	pid, _, _ := decimal(f[3])
	e.Who = p.intern(Who{Host: nilValue(f[1]), Ident: nilValue(f[2]), PID: clampPID(pid)})
	e.Form, e.Off, e.Msg = Syslog5424, i, rec[i:]
	return true
}

func nilValue(b []byte) string {
	if string(b) == "-" {
		return ""
	}
	return string(b[:min(len(b), maxName)])
}

// structured returns the length of the structured data and the blank after it; 0 if
// the sender omitted it.
func structured(b []byte) int {
	if len(b) > 0 && b[0] == '-' {
		return min(2, len(b))
	}
	if len(b) == 0 || b[0] != '[' {
		return 0
	}
	i := 0
	for i < len(b) && b[i] == '[' {
		for i++; i < len(b) && b[i] != ']'; i++ {
			switch b[i] {
			case '\\':
				i++
			case '"':
				i = min(stringEnd(b, i), len(b)) - 1
			}
		}
		i = min(i+1, len(b))
	}
	return min(i+1, len(b))
}
