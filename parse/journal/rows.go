package journal

import (
	"bytes"
)

// kubectlRow reads a row of kubectl's tables of events and node conditions.
func kubectlRow(rec []byte, e *Entry) bool {
	b := bytes.TrimLeft(rec, " \t")
	if len(b) == 0 {
		return false
	}
	off := len(rec) - len(b)
	if c, ok := conditionRow(b); ok {
		e.Form, e.Off, e.Msg, e.Header.Clock = Condition, off, b, c
		return true
	}
	if describedEvent(b) || listedEvent(b) || eventHead(b) {
		e.Form, e.Off, e.Msg = EventRow, off, b
		return true
	}
	return false
}

// IsRow reports whether a line is a row of kubectl's tables of events and node conditions.
func IsRow(line []byte) bool {
	var e Entry
	return kubectlRow(line, &e) && !eventHead(e.Msg)
}

// word splits off the first word and the blanks after it.
func word(b []byte) (w, rest []byte) {
	w, rest, _ = bytes.Cut(b, []byte(" "))
	return w, bytes.TrimLeft(rest, " ")
}

// describedEvent recognizes "Warning  Failed   3m13s (x3 over 7m57s)  kubelet  …".
func describedEvent(b []byte) bool {
	kind, rest := word(b)
	if !eventType(kind) {
		return false
	}
	reason, rest := word(rest)
	return camel(reason) && ageLen(rest) > 0
}

// listedEvent recognizes "15m  Normal  Scheduled  pod/x  …", with or without a
// namespace before it.
func listedEvent(b []byte) bool {
	n := ageLen(b)
	if n == 0 {
		_, rest := word(b)
		if n = ageLen(rest); n == 0 {
			return false
		}
		b = rest
	}
	kind, rest := word(bytes.TrimLeft(b[n:], " "))
	reason, rest := word(rest)
	object, _ := word(rest)
	return eventType(kind) && camel(reason) && bytes.IndexByte(object, '/') > 0
}

func eventType(w []byte) bool { return string(w) == "Normal" || string(w) == "Warning" }

// camel reports whether a word can be the reason of an event.
func camel(w []byte) bool {
	if len(w) < 3 || w[0] < 'A' || w[0] > 'Z' {
		return false
	}
	for _, c := range w {
		if !(c|0x20 >= 'a' && c|0x20 <= 'z' || c-'0' <= 9) {
			return false
		}
	}
	return true
}

// ageLen returns the length of an age as kubectl prints it, such as
// "3m13s (x3 over 7m57s)", "4d20h" or "<unknown>", or 0 if b does not begin with
// one.
func ageLen(b []byte) int {
	if bytes.HasPrefix(b, []byte("<unknown>")) || bytes.HasPrefix(b, []byte("<invalid>")) {
		return 9
	}
	n := 0
	for n < len(b) && b[n]-'0' <= 9 {
		for n < len(b) && b[n]-'0' <= 9 {
			n++
		}
		if n >= len(b) || bytes.IndexByte([]byte("smhdy"), b[n]) < 0 {
			return 0
		}
		n++
	}
	if n == 0 || n < len(b) && b[n] != ' ' {
		return 0
	}
	if bytes.HasPrefix(b[n:], []byte(" (x")) {
		if end := bytes.IndexByte(b[n:], ')'); end > 0 && end < 40 {
			n += end + 1
		}
	}
	return n
}

var eventHeads = [][]string{
	{"Type", "Reason", "Age", "From", "Message"},
	{"FirstSeen", "LastSeen", "Count", "From"},
	{"LAST", "SEEN", "TYPE", "REASON", "OBJECT"},
	{"NAMESPACE", "LAST", "SEEN", "TYPE", "REASON"},
	{"----", "------", "----", "----", "-------"},
}

func eventHead(b []byte) bool {
	if string(b) == "Events:" {
		return true
	}
	for _, head := range eventHeads {
		rest := b
		ok := true
		for _, want := range head {
			var w []byte
			w, rest = word(rest)
			ok = ok && string(w) == want
		}
		if ok {
			return true
		}
	}
	return false
}
