package journal

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// HeaderKind is the kind of header of a message.
type HeaderKind uint8

// Kinds of headers.
const (
	NoHeader HeaderKind = iota
	Klog                // I1120 23:50:39.261028   26980 main.go:6] text
	KlogBare            // kubelet.go:1821] text: the timestamp was lost in copying
	KlogJSON            // {"ts":1795218639515.8633,"caller":…,"msg":…}
	Logrus              // time="…" level=info msg="…"
	JSONLog             // {"level":"info","ts":"…","msg":…} of zap and logrus
	Podman              // 2025-05-12 04:54:37.94 +0000 UTC m=+0.02 container create …
	Levelled            // [2024/04/28 01:00:55] [error] text, of fluent-bit and other programs; 2017-09-14 00:54:03.436317 I | text
)

// Header is the metadata at the beginning of a message.
type Header struct {
	Kind     HeaderKind
	Severity byte // 'I', 'W', 'E', 'F' or 0 if unknown
	PID      int  // klog only, 0 if none
	Body     int  // offset of the text in the message; 0 if the header is part of the text
	Caller   []byte
	Clock    parse.Clock
}

// klogHeader is the length of the shortest header: severity, date, time of day in
// µs, PID, caller.
const klogHeader = len("I1120 23:50:39.261028 1 a:1]")

// klogTime is the length of the part before the PID.
const klogTime = len("I1120 23:50:39.261028")

// isKlog is a cheap test for the fixed part of a klog header.
func isKlog(b []byte) bool {
	return len(b) >= klogHeader && b[5] == ' ' && b[8] == ':' && b[11] == ':' && b[14] == '.' && klogLetter(b[0])
}

// klogLetter reports whether c is the letter of a severity.
func klogLetter(c byte) bool { return c == 'I' || c == 'E' || c == 'W' || c == 'F' }

// readKlog reads a klog header: "Lmmdd hh:mm:ss.uuuuuu PPPPPPP file.go:line] ", in
// the kubelet's local time, without year (klog v1.0.0 to v2.140.0).
func readKlog(b []byte, h *Header) bool {
	if !isKlog(b) {
		return false
	}
	month, day, tod := two(b[1:]), two(b[3:]), timeOfDay(b[6:])
	us, ok := micros(b[15:])
	if !validDate(month, day) || tod < 0 || !ok {
		return false
	}
	pid, i := number(b, klogTime)
	end := callerEnd(b, i)
	if end < 0 {
		return false
	}
	*h = Header{Kind: Klog, Severity: b[0], PID: pid, Caller: b[i:end], Body: skipBlank(b, end+1)}
	sec := (monthStart[month]+int64(day)-1)*86400 + tod
	h.Clock = parse.Clock{NS: sec*1e9 + us*1e3, Res: time.Microsecond, Lack: yearless, Set: true}
	return true
}

// micros reads the first six bytes of b as digits, all at once. b must have at
// least eight bytes.
func micros(b []byte) (n int64, ok bool) {
	v := binary.LittleEndian.Uint64(b)<<16 | 0x3030 // as if preceded by two zeros
	if v&0xF0F0F0F0F0F0F0F0 != 0x3030303030303030 || (v+0x0606060606060606)&0xF0F0F0F0F0F0F0F0 != 0x3030303030303030 {
		return 0, false
	}
	return joinDigits(v & 0x0F0F0F0F0F0F0F0F), true
}

// six reads six digits; b must have at least six bytes.
func six(b []byte) (n int64, ok bool) {
	for _, c := range b[:6] {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// number skips blanks and reads a decimal number and one blank after it.
func number(b []byte, i int) (n, next int) {
	for i < len(b) && b[i] == ' ' {
		i++
	}
	start := i
	for i < len(b) && b[i]-'0' <= 9 && i-start < 10 {
		n = n*10 + int(b[i]-'0')
		i++
	}
	if i < len(b) && b[i] == ' ' && i > start {
		i++
	}
	return n, i
}

// maxCaller limits the search for the end of a caller. With --add-dir-header the
// caller includes one directory.
const maxCaller = 128

// callerEnd returns the index of the ']' that closes the caller at i, or -1 if
// b[i:] does not begin with "file:line]".
func callerEnd(b []byte, i int) int {
	win := b[i:min(len(b), i+maxCaller)]
	end := bytes.IndexByte(win, ']')
	if end < 3 || bytes.IndexByte(win[:end], ' ') >= 0 {
		return -1
	}
	colon := end - 1
	for colon > 0 && win[colon]-'0' <= 9 {
		colon--
	}
	if colon < 1 || colon == end-1 || win[colon] != ':' {
		return -1
	}
	return i + end
}

// skipBlank skips one blank after a header.
func skipBlank(b []byte, i int) int {
	if i < len(b) && b[i] == ' ' {
		return i + 1
	}
	return i
}

// readBare reads "file.go:123] text", a klog line copied without its timestamp.
func readBare(b []byte, h *Header) bool {
	end := bytes.IndexByte(b[:min(len(b), maxCaller)], ' ') - 1
	if end < 5 || b[end] != ']' || callerEnd(b, 0) != end || !bytes.Contains(b[:end], []byte(".go:")) {
		return false
	}
	*h = Header{Kind: KlogBare, Caller: b[:end], Body: skipBlank(b, end+1)}
	return true
}

// readDateless reads "23:50:39.261028   26980 file.go:123] text", a klog line copied without its
// first column. Its time of day has no date, so it is left out.
func readDateless(b []byte, h *Header) bool {
	const tod = len("23:50:39.261028")
	if len(b) < tod+8 || b[2] != ':' || b[8] != '.' || b[tod] != ' ' || timeOfDay(b) < 0 {
		return false
	}
	pid, i := number(b, tod)
	end := callerEnd(b, i)
	if pid == 0 || end < 0 {
		return false
	}
	*h = Header{Kind: KlogBare, PID: pid, Caller: b[i:end], Body: skipBlank(b, end+1)}
	return true
}

// ReadHeader reads the header of a message. If there is none, it returns false and
// leaves h empty.
func ReadHeader(msg []byte, h *Header) bool {
	*h = Header{}
	if len(msg) == 0 {
		return false
	}
	switch c := msg[0]; {
	case c == 'I' || c == 'E' || c == 'W' || c == 'F':
		return readKlog(msg, h) || readTerminal(msg, h)
	case c == 'D':
		return readTerminal(msg, h)
	case c == 't' || c == 'l':
		return readLogrus(msg, h) || readBare(msg, h)
	case c == '{':
		return readJSONHeader(msg, h)
	case c == '[':
		return readLevelled(msg, h)
	case c >= '0' && c <= '2':
		return readDateless(msg, h) || readPodman(msg, h) || readCapnslog(msg, h)
	case c >= 'a' && c <= 'z':
		return readBare(msg, h)
	}
	return false
}

// readLogrus reads `time="…" level=…`. The text is the whole line, because msg is
// one key among others.
func readLogrus(b []byte, h *Header) bool {
	rest, ok := bytes.CutPrefix(b, []byte("time="))
	if !ok {
		return bytes.HasPrefix(b, []byte("level=")) && readLevel(b, h)
	}
	rest = bytes.TrimPrefix(rest, []byte(`"`))
	c, n := ReadISO(rest)
	if n == 0 {
		return false
	}
	*h = Header{Kind: Logrus, Clock: c}
	readLevel(rest[n:], h)
	h.Kind = Logrus
	return true
}

// readTerminal reads "INFO[2022-03-21T12:38:02+08:00] …", as dockerd and containerd
// write to a terminal.
func readTerminal(b []byte, h *Header) bool {
	if len(b) < 6 || b[4] != '[' {
		return false
	}
	c, n := ReadISO(b[5:])
	if n == 0 || 5+n >= len(b) || b[5+n] != ']' {
		return false
	}
	*h = Header{Kind: Logrus, Clock: c, Severity: severity(b)}
	return true
}

// readLevel reads the first level= within the next 64 bytes.
func readLevel(b []byte, h *Header) bool {
	i := bytes.Index(b[:min(len(b), 64)], []byte("level="))
	if i < 0 {
		return false
	}
	h.Kind, h.Severity = Logrus, severity(b[i+len("level="):])
	return true
}

// severity maps a level name to a klog letter.
func severity(level []byte) byte {
	level = bytes.TrimPrefix(level, []byte(`"`))
	if len(level) == 0 {
		return 0
	}
	switch level[0] | 0x20 {
	case 'i', 'd', 't', 'n':
		return 'I'
	case 'w':
		return 'W'
	case 'e':
		return 'E'
	case 'f', 'p', 'c', 'a':
		return 'F'
	}
	return 0
}

// readLevelled reads a date with year in square brackets and the name of a level after it, in brackets or in
// capitals, or its letter. The kernel, whose messages have such a date in the output of some collectors, puts none there.
func readLevelled(b []byte, h *Header) bool {
	c, n := ReadISO(b[1:])
	if n == 0 || n+2 >= len(b) || b[n+1] != ']' {
		return false
	}
	rest := bytes.TrimLeft(b[n+2:], " ")
	word, _, _ := bytes.Cut(rest, []byte(" "))
	if in, _, ok := bytes.Cut(bytes.TrimPrefix(rest, []byte("[")), []byte("]")); ok && rest[0] == '[' {
		word = bytes.ToUpper(bytes.TrimSpace(in[:min(len(in), 16)]))
	}
	letter := len(word) == 1 && bytes.IndexByte([]byte("TDINWECAM"), word[0]) >= 0 && bytes.HasPrefix(rest[1:], []byte(" [")) // of GlusterFS, before the place in its source
	if !letter && !levelWord(word) {
		return false
	}
	*h = Header{Kind: Levelled, Severity: severity(word), Clock: c}
	return true
}

// readCapnslog reads "2017-09-14 00:54:03.436317 I | text", as etcd and flannel write (coreos/pkg capnslog).
func readCapnslog(b []byte, h *Header) bool {
	c, n := ReadISO(b)
	if n == 0 || n+5 > len(b) || b[n] != ' ' || string(b[n+2:n+5]) != " | " {
		return false
	}
	*h = Header{Kind: Levelled, Severity: severity(b[n+1:]), Clock: c}
	return true
}

// readPodman reads the timestamp of podman's event lines. They begin with the text
// of a Go time.Time including its monotonic reading.
func readPodman(b []byte, h *Header) bool {
	c, n := ReadGoTime(b)
	if n < 25 || !bytes.HasPrefix(b[n:], []byte(" UTC m=")) && !bytes.Contains(b[n:min(len(b), n+16)], []byte(" m=")) {
		return false
	}
	*h = Header{Kind: Podman, Severity: 'I', Clock: c}
	return true
}
