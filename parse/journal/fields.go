package journal

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Fields are the fields of an entry as journald's own files hold them: values
// without any escaping. Nil is an absent field.
type Fields struct {
	Message, Source, Host, Ident, Comm, PID, SyslogPID, Unit, Container, Transport []byte

	Realtime int64  // when journald received the entry, µs since the epoch
	Mono     int64  // the same since boot, µs
	Boot     string // 32 hex digits

	second int64  // Unix, of stamp
	stamp  []byte // the second as AppendLine writes it: entries come many a second
}

// ident is the writer's name: as it states it, else its program. For kubelets
// in containers, whose writer is the container runtime, it is the container.
func (f *Fields) ident() []byte {
	switch {
	case len(f.Container) > 0 && f.Ident != nil:
		return f.Container
	case f.Ident != nil:
		return f.Ident
	case f.Comm != nil:
		return f.Comm
	case string(f.Transport) == "kernel":
		return []byte("kernel")
	}
	return nil
}

func (f *Fields) pid() []byte {
	if f.PID != nil {
		return f.PID
	}
	return f.SyslogPID
}

// micros is the time that text forms of journalctl print: the stamp of the
// source if there is one.
func (f *Fields) micros() int64 {
	if us, _, _ := decimal(f.Source); us > 0 && us < 1<<53 {
		return us
	}
	return f.Realtime
}

// AppendLine appends the entry as "journalctl -o short-iso-precise --utc"
// prints it, and returns where the message begins behind len(dst).
func (f *Fields) AppendLine(dst []byte) (line []byte, off int) {
	from := len(dst)
	dst = f.appendStamp(dst)
	dst = append(append(dst, ' '), f.Host...)
	ident := f.ident()
	if len(ident) == 0 {
		ident = []byte("unknown")
	}
	dst = append(append(dst, ' '), ident...)
	if pid := f.pid(); len(pid) > 0 {
		dst = append(append(append(dst, '['), pid...), ']')
	}
	dst = append(dst, ": "...)
	off = len(dst) - from
	return append(dst, f.Message...), off
}

// appendStamp appends the time in UTC with microseconds.
func (f *Fields) appendStamp(dst []byte) []byte {
	us := f.micros()
	second := us / 1e6
	if f.stamp == nil || second != f.second {
		f.second = second
		f.stamp = time.Unix(second, 0).UTC().AppendFormat(f.stamp[:0], "2006-01-02T15:04:05")
	}
	dst = append(append(dst, f.stamp...), '.')
	us -= second * 1e6
	for unit := int64(1e5); unit > 0; unit /= 10 {
		dst = append(dst, byte('0'+us/unit%10))
	}
	return append(dst, "+0000"...)
}

// Envelope fills e with what the fields say beside the message: who wrote it
// and when.
func (p *Parser) Envelope(f *Fields, e *Entry) {
	*e = Entry{Form: BinaryFile, Who: p.whoOf(f), Mono: f.Mono * 1000}
	e.Clock = parse.Clock{NS: f.micros() * 1000, Res: microsecond, Set: true}
}

// Message reads the message of an entry that Envelope filled. line is what
// AppendLine made of the entry and off where the message begins in it.
func (p *Parser) Message(line []byte, off int, e *Entry) {
	e.Msg, e.Off, e.At = trimLine(line[off:]), off, off
	p.inner(e)
}

// whoOf interns the writer.
func (p *Parser) whoOf(f *Fields) *Who {
	p.key = p.key[:0]
	for _, v := range [...][]byte{f.Host, f.ident(), f.pid(), f.Unit} {
		p.key = append(append(p.key, v...), 0)
	}
	p.key = append(p.key, f.Boot...)
	if w := p.prefixes[string(p.key)]; w != nil {
		return w
	}
	n, _, _ := decimal(f.pid())
	w := p.intern(Who{Host: name(f.Host), Ident: name(f.ident()), Unit: name(f.Unit), Boot: f.Boot, PID: clampPID(n)})
	p.remember(p.key, w)
	return w
}

func name(b []byte) string { return string(b[:min(len(b), maxName)]) }
