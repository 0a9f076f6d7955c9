package journal

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Fields are the fields of an entry as stored in journald's own files: values
// without any escaping. Nil means the field is absent.
type Fields struct {
	Message, Source, Host, Ident, Comm, PID, SyslogPID, Unit, Container, Transport []byte

	Realtime int64  // when journald received the entry, µs since the epoch
	Mono     int64  // the same since boot, µs
	Boot     string // 32 hex digits
}

// ident returns the writer's name: as stated by the writer, else its program. For a
// kubelet in a container, whose writer is the container runtime, it is the
// container name.
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

// micros returns the time that text forms of journalctl print, in µs: that of the
// source if there is one.
func (f *Fields) micros() int64 {
	if us, _, _ := decimal(f.Source); us > 0 && us < 1<<53 {
		return us
	}
	return f.Realtime
}

// Envelope is everything of a binary journal entry except its message.
type Envelope struct {
	Who  *Who
	Time int64 // Unix, ns
	Mono int64 // since boot, ns
}

// AppendLine appends the entry as "journalctl -o short-iso-precise --utc" prints
// it. off is the offset of the message after len(dst).
func (p *Parser) AppendLine(dst []byte, f *Fields) (line []byte, off int, e Envelope) {
	us := f.micros()
	w := p.fieldWriter(f)
	from := len(dst)
	dst = append(p.appendStamp(dst, us), w.prefix...)
	off = len(dst) - from
	return append(dst, f.Message...), off, Envelope{w.who, us * 1000, f.Mono * 1000}
}

// Entry fills x from a line made by AppendLine, whose message begins at off.
func (p *Parser) Entry(line []byte, off int, e Envelope, x *Entry) {
	*x = Entry{Form: BinaryFile, Who: e.Who, Mono: e.Mono, Msg: trimLine(line[off:]), Off: off, At: off}
	x.Clock = parse.Clock{NS: e.Time, Res: microsecond, Set: true}
	p.inner(x)
}

// appendStamp appends the time in UTC with microseconds.
func (p *Parser) appendStamp(dst []byte, us int64) []byte {
	second := us / 1e6
	if len(p.fieldStamp) == 0 || second != p.fieldSecond {
		p.fieldSecond = second
		p.fieldStamp = time.Unix(second, 0).UTC().AppendFormat(p.fieldStamp[:0], "2006-01-02T15:04:05.")
	}
	dst = append(dst, p.fieldStamp...)
	n := uint32(us - second*1e6)
	return append(dst, '0'+byte(n/100000), '0'+byte(n/10000%10), '0'+byte(n/1000%10), '0'+byte(n/100%10), '0'+byte(n/10%10), '0'+byte(n%10),
		'+', '0', '0', '0', '0')
}

// fieldWriter is the writer named by fields, and the text between timestamp and
// message in its lines.
type fieldWriter struct {
	host, ident, pid, unit []byte
	boot                   string
	prefix                 []byte // " host ident[pid]: "
	who                    *Who
}

// fieldWriter returns the writer of an entry, from a small cache: a few daemons
// write most of a journal.
func (p *Parser) fieldWriter(f *Fields) *fieldWriter {
	ident, pid := f.ident(), f.pid()
	w := &p.fieldWriters[writerSlot(ident, pid)%uint32(len(p.fieldWriters))]
	if w.who != nil && string(w.pid) == string(pid) && string(w.ident) == string(ident) && string(w.host) == string(f.Host) &&
		string(w.unit) == string(f.Unit) && w.boot == f.Boot {
		return w
	}
	w.host, w.ident = append(w.host[:0], f.Host...), append(w.ident[:0], ident...)
	w.pid, w.unit, w.boot = append(w.pid[:0], pid...), append(w.unit[:0], f.Unit...), f.Boot
	w.who = p.whoOf(w)
	w.prefix = append(append(append(w.prefix[:0], ' '), w.host...), ' ')
	if len(ident) == 0 {
		ident = []byte("unknown")
	}
	w.prefix = append(w.prefix, ident...)
	if len(pid) > 0 {
		w.prefix = append(append(append(w.prefix, '['), pid...), ']')
	}
	w.prefix = append(w.prefix, ": "...)
	return w
}

// writerSlot hashes a writer.
func writerSlot(ident, pid []byte) uint32 {
	n := uint32(len(ident))
	if n > 0 {
		n += 5 * uint32(ident[0])
	}
	for _, c := range pid {
		n = 3*n + uint32(c)
	}
	return n
}

// whoOf interns the writer. The key contains all of it, so the table p.who is not
// consulted: many daemons have a new process every few lines.
func (p *Parser) whoOf(f *fieldWriter) *Who {
	p.key = p.key[:0]
	for _, v := range [...][]byte{f.host, f.ident, f.pid, f.unit} {
		p.key = append(append(p.key, v...), 0)
	}
	p.key = append(p.key, f.boot...)
	if w := p.prefixes[string(p.key)]; w != nil {
		return w
	}
	n, _, _ := decimal(f.pid)
	w := &Who{Host: name(f.host), Ident: name(f.ident), Unit: name(f.unit), Boot: f.boot, PID: clampPID(n)}
	p.remember(p.key, w)
	return w
}

func name(b []byte) string { return string(b[:min(len(b), maxName)]) }
