package journal

import (
	"bytes"
	"math"
	"sync"

	"github.com/plegforensics/plegforensics/parse"
)

// Parser reads the records of one file. It caches what adjacent lines have in
// common and interns writers. It must not be used concurrently. The results of
// Parse do not depend on the cache.
type Parser struct {
	framing  *Framing
	prefixes map[string]*Who // by prefix, verbatim
	who      map[Who]*Who

	recent  [4]writerOf // writers of the last lines, unordered
	oldest  int         // index in recent to replace next
	layouts layouts

	second  []byte // timestamp of the last line, up to the seconds
	secNS   int64
	kind    stampKind // kind of second
	secHead head      // second followed by a blank, if its length permits
	klog    [2]uint64 // klogSecond of the last klog header
	klogNS  int64
	callers callers
	iso     head // "2006-01-02T15:04:05" of the last logrus header
	isoSec  int64

	fields jsonFields
	key    []byte

	fieldWriters [16]fieldWriter // cache for entries of a binary journal, by slot
	fieldSecond  int64           // Unix second of fieldStamp
	fieldStamp   []byte          // the second as AppendLine writes it; entries often share one

	buf []byte // decoded text
}

// maxPrefixes limits the memory of a Parser: beyond it the tables are cleared,
// which happens in files where nearly every line has a new writer.
const maxPrefixes = 4096

// idleParsers pools released parsers: one takes about 30 KiB, and an archive may
// hold very many small files.
var idleParsers = sync.Pool{New: func() any { return &Parser{prefixes: map[string]*Who{}, who: map[Who]*Who{}} }}

// NewParser returns a parser for a file with framing f.
func NewParser(f *Framing) *Parser {
	p := idleParsers.Get().(*Parser)
	p.framing = f
	p.klog[0] = math.MaxUint64 // not a header: the two words overlap
	return p
}

// Release returns the parser to the pool. Neither the parser nor an Entry that it
// filled may be used afterwards.
func (p *Parser) Release() {
	clear(p.prefixes)
	clear(p.who)
	*p = Parser{prefixes: p.prefixes, who: p.who}
	idleParsers.Put(p)
}

// Parse reads one record: a line without its newline, or a block of lines in forms
// that have blocks. It always fills e; a line whose framing is not recognized is
// all message.
func (p *Parser) Parse(rec []byte, e *Entry) {
	switch p.framing.Kind {
	case Blocks:
		p.block(rec, e)
		return
	case Table:
		p.row(rec, e)
		return
	}
	rec = trimLine(rec)
	if p.layouts.n > 0 && p.repeat(rec, e) {
		p.about(e)
		return
	}
	*e = Entry{Who: nobody, Msg: rec}
	if p.stamped(rec, 0, e) {
		p.inner(e)
	} else {
		p.unstamped(rec, e)
	}
	p.learn(rec, e)
	p.about(e)
}

// trimLine strips carriage returns, and NULs left by a crash, from the end. Leading
// NULs are the caller's responsibility, because offsets count from the start.
func trimLine(b []byte) []byte {
	for n := len(b); n > 0 && (b[n-1] == '\r' || b[n-1] == 0); n-- {
		b = b[:n-1]
	}
	return b
}

// inner reads what is inside the framing: the message's own header, a component
// word before it, or a marker.
func (p *Parser) inner(e *Entry) {
	p.relayed(e)
	if !ReadHeader(e.Msg, &e.Header) && p.component(e) {
		return
	}
	if e.Header.Kind == NoHeader || e.Header.Kind == JSONLog || e.Header.Kind == Logrus {
		e.Marker = messageMark(e.Who, e.Msg)
	}
}

// relayed reads a syslog message that a relay such as logger wrapped entirely in a
// line of its own. It states year and zone, which the line of the relay lacks.
func (p *Parser) relayed(e *Entry) {
	if e.Form != BSD || e.Off < 0 || !bytes.HasPrefix(e.Msg, []byte("<")) {
		return
	}
	outer := *e
	if !p.priority(e.Msg, 0, e) || e.Form != Syslog5424 || !e.Clock.Set {
		*e = outer
		return
	}
	e.Off += outer.Off
	if w := *e.Who; w.Host == "" || !isWord(w.Host[0]) {
		w.Host = outer.Who.Host
		e.Who = p.intern(w)
	}
}

// maxComponent is the maximum length of text before a klog header.
const maxComponent = 80

// component reads "word I0820 …": MicroShift writes the component before the header
// ("???" if unknown), file tailers write the file, log services the host, or the
// host and the program.
func (p *Parser) component(e *Entry) bool {
	win := e.Msg[:min(len(e.Msg), maxComponent)]
	i := bytes.IndexByte(win, ' ')
	if i < 1 {
		return false
	}
	last := 0
	if !isKlog(e.Msg[i+1:]) {
		// If nothing else names the writer, two words may.
		if last = i + 1; e.Form < BSD || e.Form > Full || e.Who.Ident != "" || !known(e.Msg[last:]) {
			return false
		}
		n := bytes.IndexByte(win[last:], ' ')
		if i = last + n; n < 1 || !isKlog(e.Msg[i+1:]) {
			return false
		}
	}
	if !readKlog(e.Msg[i+1:], &e.Header) {
		return false
	}
	before := e.Msg[:i]
	if bytes.ContainsAny(before, `:[]|"=`) || !isWord(before[0]) {
		e.Header = Header{}
		return false // a tag or punctuation
	}
	e.Msg = e.Msg[i+1:]
	if e.Off >= 0 {
		e.Off += i + 1
	}
	p.names(e, before, last)
	return true
}

func isWord(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '?' || c-'0' <= 9 }

// names assigns the words before a klog header to the host or the program. If there
// are two, the last one, which begins at last, is the program.
func (p *Parser) names(e *Entry, before []byte, last int) {
	word, host := before[last:], before[:max(last-1, 0)]
	w := *e.Who
	switch {
	case string(word) == "???":
	case len(host) > 0 || known(word) || w.Ident != "":
		if w.Unit == "" {
			w.Unit = w.Ident
		}
		w.Ident = string(word)
	case e.Form == BSD || e.Form == Full || e.Form == ISO:
		host = word
	}
	if len(host) > 0 && w.Host == "" {
		w.Host = string(host)
	}
	if w != *e.Who {
		e.Who = p.intern(w)
	}
}

// programs are prefixes of the names of programs that use klog, and of their log
// files.
var programs = [...]string{"kube", "hyperkube", "etcd", "openshift", "containerd", "crio", "k3s", "k0s", "rke2", "microshift", "cloud-controller", "coredns"}

// known reports whether b begins with the name of such a program.
func known(b []byte) bool {
	for _, p := range programs {
		if bytes.HasPrefix(b, []byte(p)) {
			return true
		}
	}
	return false
}

// unstamped reads a line that does not begin with a timestamp.
func (p *Parser) unstamped(rec []byte, e *Entry) {
	switch {
	case len(rec) == 0:
		e.Form = Blank
		return
	case ReadHeader(rec, &e.Header):
		if rec[0] == '{' && p.json(rec, 0, e) {
			e.Header = Header{}
			p.inner(e)
		}
		if e.Header.Kind == Klog && carrier(e.Header.Caller) {
			p.carried(rec, e)
		}
		return
	case rec[0] == '{':
		if p.json(rec, 0, e) {
			p.inner(e)
		}
		return
	case p.control(rec, e), section(rec, e):
		return
	}
	p.decorated(rec, e)
}

// carrier reports whether a klog caller is that with which minikube repeats problems that it found in logs of
// the node.
func carrier(caller []byte) bool { return bytes.HasPrefix(caller, []byte("logs.go:")) }

// carried reads a whole line of a journal behind a phrase that ends in a colon, "Found kubelet problem: ".
// That line is the record; who repeats it runs elsewhere, in another zone, so that the time of a line that was
// cut says nothing.
func (p *Parser) carried(rec []byte, e *Entry) {
	text := rec[e.Header.Body:]
	if !bytes.HasPrefix(text, []byte("Found ")) {
		return
	}
	i := bytes.Index(text[:min(len(text), maxComponent)], []byte(": ")) + len(": ")
	if i < len(": ") {
		e.Header.Clock = parse.Clock{}
		return
	}
	inner := Entry{Who: nobody, Msg: rec}
	if at := e.Header.Body + i; p.stamped(rec, at, &inner) && inner.Form >= BSD && inner.Form <= Full && inner.Who.Host != "" && inner.Who.Ident != "" {
		*e = inner
		p.inner(e)
	}
}

// decorated reads lines with a foreign prefix: quoting, comments, indentation, the
// separators of json-seq and json-sse, the address that talosctl prints. It accepts
// only lines that are unmistakable after the prefix.
func (p *Parser) decorated(rec []byte, e *Entry) {
	if p.talosDmesg(rec, e) {
		return
	}
	if n := facilityLen(rec); n > 0 && p.bracket(rec, n, e) {
		return
	}
	if n := nameTagLen(rec); n > 0 && p.digits(rec, n, e) {
		p.inner(e)
		return
	}
	if n := addressLen(rec); n > 0 {
		p.addressed(rec, n, e)
		return
	}
	if n := nodeNameLen(rec); n > 0 && p.object(rec, n, e) {
		p.from(rec[:n-2], e)
		return
	}
	if kubectlRow(rec, e) || p.component(e) {
		return
	}
	if grepLen(rec) == 0 && p.named(rec, 0, e) {
		p.inner(e)
		return
	}
	i := max(prefixLen(rec), grepLen(rec))
	if i == 0 {
		return
	}
	if i == len(rec) {
		if len(bytes.TrimLeft(rec, " \t")) == 0 {
			e.Form = Blank
		}
		return
	}
	if p.control(rec[i:], e) {
		return
	}
	if section(rec[i:], e) || kubectlRow(rec[i:], e) {
		e.Off += i
		return
	}
	if rec[i] == '{' && p.json(rec, i, e) || p.stamped(rec, i, e) || p.named(rec, i, e) {
		p.inner(e)
		return
	}
	var h Header
	if ReadHeader(rec[i:], &h) && h.Kind != Podman {
		e.Header, e.Msg, e.Off = h, rec[i:], i
	}
}

// addressed reads a line that talosctl prefixed with the address of the node.
func (p *Parser) addressed(rec []byte, n int, e *Entry) {
	switch {
	case ReadHeader(rec[n:], &e.Header):
		e.Msg, e.Off = rec[n:], n
	case p.json(rec, n, e) || p.stamped(rec, n, e) || p.named(rec, n, e):
		p.inner(e)
	default:
		e.Msg, e.Off = rec[n:], n
	}
	p.from(rec[:n-2], e)
}

// talosDmesg reads a line of talosctl dmesg:
// "10.0.0.7: kern:    info: [STAMP]: text".
func (p *Parser) talosDmesg(rec []byte, e *Entry) bool {
	head, rest, ok := bytes.Cut(rec[:min(len(rec), maxNodeName+80)], []byte(": ["))
	if !ok || len(rest) == 0 || rest[0] != '2' {
		return false
	}
	head, level := cutLast(head)
	host, facility := cutLast(head)
	c, n := ReadISO(rest)
	if n == 0 || !bytes.HasPrefix(rest[n:], []byte("]: ")) || !talosLevels[string(level)] || len(facility) == 0 {
		return false
	}
	off := len(rec[:min(len(rec), maxNodeName+80)]) - len(rest) + n + len("]: ")
	w := Who{Host: string(host), Ident: string(facility)}
	if w.Ident == "kern" {
		w.Ident = "kernel"
	}
	e.Form, e.Clock, e.Off, e.Msg, e.Who = Dmesg, c, off, rec[off:], p.intern(w)
	return true
}

// facilityLen returns the length of the facility and level that dmesg -x puts before a line,
// "kern  :err   : ", or 0.
func facilityLen(rec []byte) int {
	head, rest, ok := bytes.Cut(rec[:min(len(rec), 24)], []byte(": ["))
	facility, level, both := bytes.Cut(head, []byte(":"))
	if !ok || !both || len(rest) == 0 || !dmesgFacilities[string(bytes.TrimSpace(facility))] || !dmesgLevels[string(bytes.TrimSpace(level))] {
		return 0
	}
	return len(head) + len(": ")
}

// nameTagLen returns the length of a name in square brackets, or of a level, that a program puts before a line that
// begins with a date, "[talos] 2024/02/06 17:46:18 ", "WARNING: 2019/02/05 00:18:13 " (logger of gRPC for Go), or 0.
func nameTagLen(rec []byte) int {
	if level, rest, ok := bytes.Cut(rec[:min(len(rec), 16)], []byte(": 2")); ok && len(rest) >= 4 && (rest[3] == '/' || rest[3] == '-') && dateLevels[string(level)] {
		return len(level) + len(": ")
	}
	name, rest, ok := bytes.Cut(rec[:min(len(rec), 40)], []byte("] "))
	if !ok || len(name) < 2 || name[0] != '[' || len(rest) < 5 || rest[0] != '2' || rest[4] != '/' && rest[4] != '-' {
		return 0
	}
	for _, c := range name[1:] {
		if c|0x20-'a' > 25 && c != '-' && c != '_' {
			return 0
		}
	}
	return len(name) + len("] ")
}

var (
	dmesgFacilities = map[string]bool{"kern": true, "user": true, "mail": true, "daemon": true, "auth": true, "syslog": true, "lpr": true, "news": true, "cron": true}
	dmesgLevels     = map[string]bool{"emerg": true, "alert": true, "crit": true, "err": true, "warn": true, "notice": true, "info": true, "debug": true}
)

// dateLevels are levels that stand before a date.
var dateLevels = map[string]bool{"TRACE": true, "DEBUG": true, "INFO": true, "NOTICE": true, "WARN": true, "WARNING": true, "ERROR": true, "FATAL": true}

// talosLevels are the priorities in such lines.
var talosLevels = map[string]bool{"emerg": true, "alert": true, "crit": true, "err": true, "warning": true, "notice": true, "info": true, "debug": true}

// cutLast splits b at its last colon and trims the part after it.
func cutLast(b []byte) (before, word []byte) {
	i := bytes.LastIndexByte(b, ':')
	return b[:max(i, 0)], bytes.TrimSpace(b[i+1:])
}

// object reads the object at n, which is either a message or the framing of one.
func (p *Parser) object(rec []byte, n int, e *Entry) bool {
	if ReadHeader(rec[n:], &e.Header) {
		e.Msg, e.Off = rec[n:], n
		return true
	}
	if p.json(rec, n, e) {
		p.inner(e)
		return true
	}
	return false
}

// from sets the host of a line that does not name one itself.
func (p *Parser) from(host []byte, e *Entry) {
	if e.Who.Host == "" {
		w := *e.Who
		w.Host = string(host)
		e.Who = p.intern(w)
	}
}

// prefixLen returns the length of the foreign prefix of a line.
func prefixLen(b []byte) int {
	i := 0
	for i < len(b) {
		switch c := b[i]; {
		case c == ' ', c == '\t', c == '>', c == '|', c == '`', c == 0x1e, c == '*':
			i++
		case c == '/' && i+1 < len(b) && b[i+1] == '/', c == '-' && i+1 < len(b) && b[i+1] == ' ':
			i += 2
		case c == '#' && i+1 < len(b) && b[i+1] == ' ':
			i += 2
		case i == 0 && c == '+': // a line that a diff adds
			i++
		case i == 0 && bytes.HasPrefix(b, []byte("data: ")):
			i = 6
		case c-'0' <= 9: // the number of a line, before a header
			n := i + 1
			for n < len(b) && b[n]-'0' <= 9 {
				n++
			}
			if !bytes.HasPrefix(b[n:], []byte(". -- ")) {
				return i
			}
			i = n + len(". ")
		default:
			return i
		}
	}
	return i
}

// grepLen returns the length of what grep writes before a line with a full date,
// the file name and the line number, or 0 if b does not begin like that.
func grepLen(b []byte) int {
	for i, c := range b[:min(len(b), maxName)] {
		if c == ' ' {
			break
		}
		if c == ':' && i+len(":2006-01-02T") < len(b) && b[i+5] == '-' && b[i+11] == 'T' {
			return i + 1
		}
	}
	return 0
}

// addressLen returns the length of "10.0.0.1: ", or 0 if b does not begin like
// that.
func addressLen(b []byte) int {
	dots, i := 0, 0
	for i < len(b) && (b[i]-'0' <= 9 || b[i] == '.') {
		if b[i] == '.' {
			dots++
		}
		i++
	}
	if dots != 3 || i+1 >= len(b) || b[i] != ':' || b[i+1] != ' ' {
		return 0
	}
	return i + 2
}

// maxNodeName is the maximum length of a DNS name.
const maxNodeName = 253

// nodeNameLen returns the length of "node-1.example.net: " before a JSON object, or
// 0. A name without a domain might be a program and is not accepted.
func nodeNameLen(b []byte) int {
	i := bytes.Index(b[:min(len(b), maxNodeName+3)], []byte(": {"))
	if i <= 0 || bytes.IndexByte(b[:i], '.') <= 0 {
		return 0
	}
	for _, c := range b[:i] {
		if c|0x20-'a' > 25 && c-'0' > 9 && c != '-' && c != '.' {
			return 0
		}
	}
	return i + 2
}

// intern returns the unique pointer for w.
func (p *Parser) intern(w Who) *Who {
	if got := p.who[w]; got != nil {
		return got
	}
	if len(p.who) >= maxPrefixes {
		clear(p.who)
	}
	got := &w
	p.who[w] = got
	return got
}

// remember maps a prefix to its writer.
func (p *Parser) remember(prefix []byte, w *Who) {
	if len(p.prefixes) >= maxPrefixes {
		clear(p.prefixes)
	}
	p.prefixes[string(prefix)] = w
}
