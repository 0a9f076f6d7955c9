package journal

import (
	"bytes"
	"unicode"
)

// maxIdent is the maximum length of the prefix "host ident[pid]: " of a line.
const maxIdent = 384

// writer reads the writer from the text at i, after the timestamp:
// "host ident[pid]: msg", without host, without PID, or nothing at all.
func (p *Parser) writer(rec []byte, i int, form Form, e *Entry) bool {
	e.Form = form
	if i > len(rec) {
		i = len(rec)
	}
	b := rec[i:]
	if r := p.recentWriter(b); r != nil {
		n := len(r.prefix)
		e.Who, e.Off, e.Msg = r.who, i+n, b[n:]
		return true
	}
	n, w := splitWho(b)
	if n == 0 {
		if kernelText(b) {
			p.kernel(rec, i, e)
			e.Form = form
			return true
		}
		if number, rest, ok := bytes.Cut(b[:min(len(b), 16)], []byte("]: ")); ok && len(number) > 1 && number[0] == '[' && len(bytes.Trim(number[1:], "0123456789")) == 0 {
			i += len(b[:min(len(b), 16)]) - len(rest) // "[17]: ", of a program whose name was removed
		}
		e.Off, e.Msg = i, rec[i:]
		return true
	}
	e.Off, e.Msg = i+n, b[n:]
	e.Who = p.known(b[:n], w)
	return true
}

// known interns the writer of a prefix.
func (p *Parser) known(prefix []byte, w prefixWho) *Who {
	got := p.prefixes[string(prefix)]
	if got == nil {
		got = p.intern(w.who())
		p.remember(prefix, got)
	}
	if prefix[len(prefix)-1] == ' ' {
		r := &p.recent[p.oldest]
		r.prefix, r.who = append(r.prefix[:0], prefix...), got
		p.oldest = (p.oldest + 1) % len(p.recent)
	}
	return got
}

// writerOf is a prefix, "host id[pid]: ", and the writer it names.
type writerOf struct {
	prefix []byte
	who    *Who
}

// recentWriter returns the recent writer whose prefix b begins with, or nil: a few
// daemons write most of a journal, in turns.
func (p *Parser) recentWriter(b []byte) *writerOf {
	for i := range p.recent {
		if r := &p.recent[i]; len(r.prefix) > 0 && bytes.HasPrefix(b, r.prefix) {
			return r
		}
	}
	return nil
}

// prefixWho holds the parts of a prefix, as slices of the line.
type prefixWho struct {
	host, ident []byte
	pid         int
}

func (w prefixWho) who() Who {
	ident := w.ident[:min(len(w.ident), maxName)]
	if i := bytes.LastIndexByte(w.host, '@'); i >= 0 { // "source@host" of syslog-ng
		w.host = w.host[i+1:]
	}
	out := Who{Host: string(w.host[:min(len(w.host), maxName)]), Ident: string(ident), PID: w.pid}
	if bytes.HasSuffix(ident, []byte(".service")) || bytes.HasSuffix(ident, []byte(".scope")) {
		out.Unit = out.Ident // journalctl -o with-unit
	}
	return out
}

// splitWho reads "host ident[pid]: " or "ident[pid]: ", with or without PID. It
// returns the length of the prefix including the blank, 0 if there is none.
func splitWho(b []byte) (n int, w prefixWho) {
	win := b[:min(len(b), maxIdent)]
	i := bytes.IndexByte(win, ' ')
	if i < 0 {
		// A line may end after its tag; its message is empty.
		if n := len(win); n > 1 && n == len(b) && win[n-1] == ':' && tag(win[:n-1], &w) {
			return n, w
		}
		return 0, w
	}
	if i > 1 && win[i-1] == ':' && tag(win[:i-1], &w) {
		return i + 1, w
	}
	if i == 0 {
		return hostless(b)
	}
	host := win[:i]
	if host[i-1] == ']' {
		return 0, w // a caller
	}
	if m := placeholder(win); m > 0 {
		n, w = splitWho(b[m:])
		if n == 0 || len(w.host) > 0 || w.pid == 0 && !plainTags[string(w.ident)] {
			return 0, prefixWho{}
		}
		return m + n, w
	}
	if bytes.IndexFunc(host, isAlnum) < 0 || kernelText(win) { // a bullet or a heading in prose
		return 0, w
	}
	if clockTime(host) { // the timestamp without its date
		if n, w = splitWho(b[i+1:]); n > 0 && (len(w.host) == 0 || w.pid > 0 || plainTags[string(w.ident)]) {
			return i + 1 + n, w
		}
		return 0, prefixWho{}
	}
	rest := win[i+1:]
	j := bytes.IndexByte(rest, ' ')
	switch {
	case j > 1 && rest[j-1] == ':' && tag(rest[:j-1], &w):
		if w.pid == 0 && (levelWord(host) || prose(host, w.ident)) {
			return 0, prefixWho{}
		}
		w.host = host
		return i + 1 + j + 1, w
	case j < 0 && len(win) == len(b) && len(rest) > 1 && rest[len(rest)-1] == ':' && tag(rest[:len(rest)-1], &w):
		if w.pid == 0 && prose(host, w.ident) {
			return 0, prefixWho{}
		}
		w.host = host
		return len(b), w
	}
	return spacedIdent(win, i, w)
}

// hostless reads " ident[pid]: " of a line from which the host was removed.
func hostless(b []byte) (int, prefixWho) {
	if len(b) < 2 || b[1] == ' ' {
		return 0, prefixWho{}
	}
	n, w := splitWho(b[1:])
	if n == 0 || len(w.host) > 0 || w.pid == 0 {
		return 0, prefixWho{}
	}
	return n + 1, w
}

// maxPlaceholder is the maximum length of what stands in place of a host that was taken out.
const maxPlaceholder = 64

// placeholder returns the length, with the blank, of words in brackets, or of signs, that stand in the
// place of a host: "<hostname omitted> ", "[REDACTED NAME] ", "*** "; 0 if b does not begin like that. A
// single word in brackets is taken for a name as it is.
func placeholder(b []byte) int {
	win := b[:min(len(b), maxPlaceholder)]
	shut := byte(0)
	switch win[0] {
	case '<':
		shut = '>'
	case '[':
		shut = ']'
	case '(':
		shut = ')'
	case '{':
		shut = '}'
	case '*', '#':
		if n := len(win) - len(bytes.TrimLeft(win, string(win[:1]))); n > 1 && n < len(win) && win[n] == ' ' {
			return n + 1
		}
		return 0
	default:
		return 0
	}
	end := bytes.IndexByte(win, shut)
	if end < 0 || end+1 >= len(win) || win[end+1] != ' ' || bytes.IndexByte(win[:end], ' ') < 0 || bytes.ContainsAny(win[:end], `:="`) {
		return 0
	}
	return end + 2
}

// subsystems are names with which messages of the kernel about a device begin, before its address or name.
var subsystems = map[string]bool{"sd": true, "sr": true, "st": true, "sg": true, "scsi": true, "nvme": true, "usb": true, "hub": true,
	"pci": true, "pcieport": true, "pci_bus": true, "ata": true, "input": true, "aufs": true, "mmc": true, "ttyS": true, "rtc": true}

// kernelText reports whether b is the beginning of a message of the kernel about a device, before which no
// host and tag stand: "sd 0:0:2:0: ", "e1000e 0000:00:1f.6: ", "usb 1-1: ", "nvme nvme0: ", and
// "module function:line:command[pid]: ".
func kernelText(b []byte) bool {
	word, rest, _ := bytes.Cut(b[:min(len(b), maxIdent)], []byte(" "))
	device, _, _ := bytes.Cut(rest, []byte(" "))
	device, ok := bytes.CutSuffix(device, []byte(":"))
	if !ok || len(word) == 0 || len(device) == 0 {
		return false
	}
	if deviceAddress(device) || placeInSource(device) {
		return true
	}
	digit := bytes.ContainsAny(device, "0123456789")
	return subsystems[string(word)] && digit && bytes.IndexByte(device, '[') < 0
}

// deviceAddress reports whether a word is the address of a device: "0:0:2:0" (SCSI) or "0000:00:1f.6" (PCI).
func deviceAddress(b []byte) bool {
	colons := bytes.Count(b, []byte(":"))
	return (colons == 3 || colons == 2 && bytes.IndexByte(b, '.') > 0) && len(bytes.Trim(b, "0123456789abcdef:.")) == 0 && b[0] != ':'
}

// placeInSource reports whether a word is "function:line:command[pid]", which parts of the kernel write
// before a message; no identifier of syslog is like that.
func placeInSource(b []byte) bool {
	_, rest, _ := bytes.Cut(b, []byte(":"))
	line, command, ok := bytes.Cut(rest, []byte(":"))
	return ok && len(line) > 0 && len(command) > 0 && len(bytes.Trim(line, "0123456789")) == 0
}

func isAlnum(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// clockTime reports whether a word is "15:04:05", with or without a fraction.
func clockTime(b []byte) bool {
	return (len(b) == 8 || len(b) > 9 && b[8] == '.') && b[2] == ':' && b[5] == ':' && b[0]-'0' < 3 && b[7]-'0' < 10
}

// levelWord reports whether a word is a level as written after the timestamp by
// loggers without host and tag: the text before the next colon is then prose.
func levelWord(b []byte) bool {
	switch string(b) {
	case "INFO", "WARN", "WARNING", "ERROR", "ERR", "DEBUG", "TRACE", "NOTICE", "CRIT", "CRITICAL", "FATAL":
		return true
	}
	return false
}

// prose reports whether the words before a colon are rather the beginning of a message, as
// in `Generic (PLEG): ` and `"SyncLoop (PLEG): `.
func prose(host, ident []byte) bool {
	if plainTags[string(ident)] {
		return false
	}
	capital := host[0] >= 'A' && host[0] <= 'Z' && bytes.ContainsAny(host, "abcdefghijklmnopqrstuvwxyz")
	return capital || ident[0] == '(' || bytes.ContainsAny(host, `"'=[{<,(`)
}

// spacedIdent reads identifiers that contain blanks, which are accepted only if a
// PID follows closely.
func spacedIdent(win []byte, i int, w prefixWho) (int, prefixWho) {
	rest := win[i+1 : min(len(win), i+65)]
	j := bytes.Index(rest, []byte("]: "))
	if j < 0 || bytes.IndexByte(rest[:j], ':') >= 0 || !tag(rest[:j+1], &w) || w.pid == 0 {
		return 0, prefixWho{}
	}
	w.host = win[:i]
	return i + 1 + j + 3, w
}

// tag reads "ident[pid]" or "ident".
func tag(b []byte, w *prefixWho) bool {
	if n := len(b); b[n-1] == ']' {
		open := bytes.LastIndexByte(b, '[')
		if open < 1 {
			return false
		}
		pid, _, digits := decimal(b[open+1 : n-1])
		if pid < 0 || digits > 0 {
			return false
		}
		w.ident, w.pid = b[:open], clampPID(pid)
		return true
	}
	if bytes.ContainsAny(b, `"'=[{<,`) {
		return false
	}
	w.ident, w.pid = b, 0
	return true
}

// named reports whether b begins with an unmistakable writer.
func named(b []byte) bool {
	n, w := splitWho(b)
	return n > 0 && (w.pid > 0 || len(w.host) > 0)
}

// plainTags are identifiers that are accepted without PID and timestamp; other
// words before a colon are prose.
var plainTags = map[string]bool{"kernel": true, "kubelet": true, "systemd": true, "crio": true,
	"containerd": true, "dockerd": true, "kubenswrapper": true, "k3s": true, "kern": true}

// named reads a line whose date, and possibly host, was removed: "kubelet[17]: …".
func (p *Parser) named(rec []byte, i int, e *Entry) bool {
	b := rec[min(i, len(rec)):]
	if r := p.recentWriter(b); r != nil && r.who.PID > 0 {
		n := len(r.prefix)
		e.Form, e.Who, e.Off, e.Msg = Ident, r.who, i+n, b[n:]
		return true
	}
	n, w := splitWho(b)
	if n == 0 {
		return false
	}
	if w.pid == 0 && !plainTags[string(w.ident)] {
		var h Header
		if !isKlog(b[n:]) || !readKlog(b[n:], &h) {
			return false
		}
	}
	e.Form, e.Who, e.Off, e.Msg = Ident, p.known(b[:n], w), i+n, b[n:]
	return true
}
