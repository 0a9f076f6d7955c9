package journal

import (
	"bytes"

	"github.com/plegforensics/plegforensics/parse"
)

// jsonFields holds the raw values of the members that are used, for one JSON or export
// record. Raw JSON strings keep their quotes.
type jsonFields struct {
	message, source, realtime, mono    []byte
	host, ident, comm, pid, syslogPID  []byte
	unit, userUnit, boot, transport    []byte
	log, stream, time, text, timestamp []byte
	logName, node, msg, plain          []byte
	hasMessage                         bool
}

// set stores a member by its journal field name.
func (f *jsonFields) set(key, value []byte) {
	switch string(key) {
	case "MESSAGE":
		if !f.hasMessage {
			f.message, f.hasMessage = value, true
		}
	case "_SOURCE_REALTIME_TIMESTAMP":
		f.source = value
	case "__REALTIME_TIMESTAMP":
		f.realtime = value
	case "__MONOTONIC_TIMESTAMP":
		f.mono = value
	case "_HOSTNAME":
		f.host = value
	case "SYSLOG_IDENTIFIER":
		f.ident = value
	case "_COMM":
		f.comm = value
	case "_PID":
		f.pid = value
	case "SYSLOG_PID":
		f.syslogPID = value
	case "_SYSTEMD_UNIT":
		f.unit = value
	case "_SYSTEMD_USER_UNIT":
		f.userUnit = value
	case "_BOOT_ID":
		f.boot = value
	case "_TRANSPORT":
		f.transport = value
	}
}

// setOther stores a member of container logs and log services.
func (f *jsonFields) setOther(key, value []byte) {
	switch string(key) {
	case "log":
		f.log = value
	case "stream":
		f.stream = value
	case "time", "@timestamp":
		f.time = value
	case "textPayload":
		f.text = value
	case "timestamp":
		f.timestamp = value
	case "logName":
		f.logName = value
	case "msg":
		f.msg = value
	case "message":
		f.plain = value
	}
}

// json reads a line or block that is a JSON object. It reports whether the object
// is a known framing.
func (p *Parser) json(b []byte, off int, e *Entry) bool {
	o, ok := openObject(b[off:])
	if !ok {
		return false
	}
	f := &p.fields
	*f = jsonFields{}
	for {
		key, value, ok := o.next()
		if !ok {
			break
		}
		f.set(key, value)
		f.setOther(key, value)
		if len(value) > 0 && value[0] == '{' {
			f.nested(key, value)
		}
	}
	e.Torn = !o.closed()
	switch {
	case f.hasMessage && (f.realtime != nil || f.host != nil || f.ident != nil || f.boot != nil || f.timestamp != nil):
		return p.jsonJournal(b, e)
	case f.timestamp != nil && (f.text != nil || f.logName != nil):
		return p.jsonText(b, f.text, f.timestamp, Cloud, e)
	case f.log != nil && f.log[0] == '"' && (f.time != nil || f.stream != nil):
		return p.jsonText(b, f.log, f.time, Docker, e)
	case f.msg == nil && f.plain != nil && f.time != nil:
		return p.jsonText(b, f.plain, f.time, Docker, e)
	}
	e.Torn = false
	return false
}

// nested reads an inner object: the journal fields of a LogEntry's jsonPayload, or
// the node of its resource.
func (f *jsonFields) nested(key, value []byte) {
	switch string(key) {
	case "jsonPayload", "fields":
		each(value, f.set)
		each(value, func(k, v []byte) {
			if string(k) == "message" && !f.hasMessage {
				f.message, f.hasMessage = v, true
			}
		})
	case "resource":
		each(value, func(k, v []byte) {
			if string(k) == "labels" {
				each(v, f.label)
			}
		})
	case "labels":
		each(value, f.label)
	}
}

func (f *jsonFields) label(k, v []byte) {
	if string(k) == "node_name" {
		f.node = v
	}
}

func each(raw []byte, do func(key, value []byte)) {
	o, ok := openObject(raw)
	for ok {
		var k, v []byte
		if k, v, ok = o.next(); ok {
			do(k, v)
		}
	}
}

// jsonJournal fills e from journal fields in JSON.
func (p *Parser) jsonJournal(b []byte, e *Entry) bool {
	f := &p.fields
	e.Form = JSON
	p.journalClock(e)
	if f.timestamp != nil {
		e.Form = Cloud
		if !e.Clock.Set {
			e.Clock, _ = ReadISO(unquoted(f.timestamp))
		}
	}
	if f.host == nil {
		f.host = f.node
	}
	if f.ident == nil {
		f.ident = f.logIdent()
	}
	e.Who = p.whoOfFields()
	if isNull(f.message) {
		e.Lost, e.Off, e.At = true, -1, cap(b)-cap(f.message)
		return true
	}
	p.setText(b, f.message, e)
	return true
}

// logIdent returns the writer named by the last part of a LogEntry's log name:
// "projects/x/logs/kubelet".
func (f *jsonFields) logIdent() []byte {
	name := unquoted(f.logName)
	return name[bytes.LastIndexByte(name, '/')+1:]
}

// jsonText fills e from a text and a timestamp.
func (p *Parser) jsonText(b, text, stamp []byte, form Form, e *Entry) bool {
	f := &p.fields
	e.Form = form
	if len(stamp) > 0 {
		e.Clock, _ = ReadISO(unquoted(stamp))
	}
	f.host, f.ident = f.node, nil
	if form == Cloud {
		f.ident = f.logIdent()
	}
	e.Who = p.whoOfFields()
	p.setText(b, text, e)
	for n := len(e.Msg); n > 0 && (e.Msg[n-1] == '\n' || e.Msg[n-1] == '\r'); n-- {
		e.Msg = e.Msg[:n-1]
	}
	return true
}

// setText sets the message to a raw value of b, as a slice of b if nothing in it is
// escaped.
func (p *Parser) setText(b, raw []byte, e *Entry) {
	e.At = cap(b) - cap(raw)
	if len(raw) > 1 && raw[0] == '"' {
		s := unquoted(raw)
		if bytes.IndexByte(s, '\\') < 0 {
			e.Msg, e.Off = s, cap(b)-cap(s)
			return
		}
	}
	p.buf = appendText(p.buf[:0], raw)
	e.Msg, e.Off = p.buf, -1
}

// journalClock reads the clocks of journal fields. It prefers the timestamp of the
// message's source, which the text forms print, over the time at which the journal
// received the message.
func (p *Parser) journalClock(e *Entry) {
	f := &p.fields
	stamp := f.source
	if stamp == nil {
		stamp = f.realtime
	}
	if us, _, _ := decimal(unquoted(stamp)); us > 0 && us < 1<<62/1000 {
		e.Clock = parse.Clock{NS: us * 1000, Res: microsecond, Set: true}
	}
	if us, _, _ := decimal(unquoted(f.mono)); us > 0 && us < 1<<62/1000 {
		e.Mono = us * 1000
	}
}

// whoOfFields interns the writer that the fields name.
func (p *Parser) whoOfFields() *Who {
	f := &p.fields
	ident := f.ident
	if ident == nil {
		ident = f.comm
	}
	if len(ident) == 0 && string(unquoted(f.transport)) == "kernel" {
		ident = []byte("kernel")
	}
	pid := f.pid
	if pid == nil {
		pid = f.syslogPID
	}
	unit := f.unit
	if unit == nil {
		unit = f.userUnit
	}
	p.key = p.key[:0]
	for _, v := range [...][]byte{f.host, ident, pid, unit, f.boot} {
		p.key = append(append(p.key, v...), 0)
	}
	if w := p.prefixes[string(p.key)]; w != nil {
		return w
	}
	n, _, _ := decimal(first(pid))
	w := p.intern(Who{Host: text(f.host), Ident: text(ident), Unit: text(unit), Boot: text(f.boot), PID: clampPID(n)})
	p.remember(p.key, w)
	return w
}

// first returns the first string of an array, or the value itself, without quotes.
func first(raw []byte) []byte {
	if len(raw) > 0 && raw[0] == '[' {
		o := object{b: raw, i: 1}
		o.blanks()
		raw = raw[o.i:valueEnd(raw, o.i)]
	}
	return unquoted(raw)
}

// maxName is the maximum length in bytes of names that are kept.
const maxName = 256

func text(raw []byte) string {
	s := first(raw)
	if isNull(raw) {
		return ""
	}
	s = appendUnescaped(nil, s[:min(len(s), maxName)])
	return string(s)
}

func clampPID(n int64) int {
	if n < 0 || n > 1<<31-1 {
		return 0
	}
	return int(n)
}
