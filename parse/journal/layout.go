package journal

import (
	"bytes"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// layout is what the lines of one process have in common under one framing:
// everything except the timestamps and the text after the writer; for klog lines
// also the PID in the header.
type layout struct {
	form    Form
	stamp   stampKind
	lack    parse.Lack
	zone    int64  // zone offset subtracted from the timestamp, ns
	east    int8   // as in parse.Clock
	mid     []byte // text between the fraction of the timestamp and the message
	midHead head
	tail    uint64 // the last eight bytes of mid, if it is that long
	who     *Who
	pid     []byte    // "   26980 " of klog headers; empty if none has been seen
	pids    [2]uint64 // its first and last eight bytes, if it is that long
	num     int       // pid as a number
	open    int       // start of the digits of the writer's PID in mid; 0 if the PID must match
	plain   bool      // mid determines the writer, so that lines without a klog header may be skimmed
	marks   bool      // the writer may report lost entries or clock steps
	brief   Brief     // result for its last line
}

// stampKind distinguishes timestamps that are read differently.
type stampKind struct {
	form Form // BSD, ISO or Full; Bare if there is no timestamp
	sep  byte // between date and time of day
}

// maxLayouts is the number of layouts that a Parser caches: a few daemons write
// most of a journal.
const maxLayouts = 8

// layouts caches the layouts of recent lines. It does not affect the results of
// Parse.
type layouts struct {
	list [maxLayouts]layout
	n    int
	next int // index to replace next

	// likely selects a layout by the word of mid at offset at. at is unsettled
	// until enoughCalm lines have passed without a new layout.
	at    int
	guess [1 << guessBits]uint8
	calm  int // lines since a layout changed, up to enoughCalm
}

const (
	guessBits  = 5
	enoughCalm = 16
	unsettled  = 1 << 30 // beyond the end of any line
)

func guessOf(w uint64) uint64 { return w * 0x9E3779B97F4A7C15 >> (64 - guessBits) }

// likely returns the index of the layout that a line probably has, given the text
// after its timestamp. The caller must compare.
func (s *layouts) likely(rest []byte) int {
	if len(rest) < s.at+8 {
		return s.guessless()
	}
	return int(s.guess[guessOf(eight(rest[s.at:]))] % maxLayouts)
}

// guessless is likely for lines too short for a guess, as all are while at is
// unsettled. After enoughCalm such lines it determines where the layouts differ.
func (s *layouts) guessless() int {
	if s.calm == enoughCalm {
		return 0
	}
	if s.calm++; s.calm < enoughCalm {
		return 0
	}
	mid := s.list[0].mid
	common, least := len(mid), len(mid)
	for i := range s.list[1:s.n] {
		other := s.list[1+i].mid
		least = min(least, len(other))
		for common = min(common, len(other)); common > 0 && string(mid[:common]) != string(other[:common]); {
			common--
		}
	}
	s.at, s.guess = max(0, min(common, least-8)), [1 << guessBits]uint8{}
	for i := range s.list[:s.n] {
		if mid := s.list[i].mid; len(mid) >= s.at+8 {
			s.guess[guessOf(eight(mid[s.at:]))] = uint8(i)
		}
	}
	return 0
}

// learn caches the layout of a line that Parse has read.
func (p *Parser) learn(rec []byte, e *Entry) {
	klog := e.Header.Kind == Klog
	if e.Partial || e.Off < 0 || len(e.Msg) != len(rec)-e.Off || !klog && e.Header.Kind != NoHeader && e.Header.Kind != Logrus {
		return
	}
	l := layout{form: e.Form, who: e.Who}
	start := 0
	switch e.Form {
	case BSD, ISO, Full, CRI, Stamped:
		k := len(p.second)
		if k == 0 || !bytes.HasPrefix(rec, p.second) || e.Form == BSD && e.Clock.Lack&parse.LackYear == 0 {
			return
		}
		ns, _, n := fraction(rec[k:])
		l.stamp, l.lack, l.east, l.zone = p.kind, e.Clock.Lack, e.Clock.East, p.secNS*1e9+ns-e.Clock.NS
		start = k + n
	case Bare, Ident:
		if !klog {
			return
		}
	default:
		return
	}
	l.mid = rec[start:e.Off]
	l.settle()
	if klog {
		l.pid, l.num = klogPID(e.Msg), e.Header.PID
	}
	if l.plain || len(l.pid) > 0 {
		p.layouts.keep(&l)
	}
}

// klogPID returns the PID of a klog header with the surrounding blanks, or nil if
// these are not as klog writes them.
func klogPID(h []byte) []byte {
	_, end := number(h, klogTime)
	if end < 23 || h[end-1] != ' ' || h[end-2] == ' ' {
		return nil
	}
	return h[klogTime:end]
}

// settle determines what a layout allows beyond klog lines of the same process.
func (l *layout) settle() {
	switch l.form {
	case CRI:
		// The line may end right after the tag of its stream.
		l.plain = !bytes.HasSuffix(l.mid, []byte("F"))
		return
	case BSD, ISO, Full:
	default:
		return
	}
	// A prefix that looks like a header of its own could be parsed as one.
	head := bytes.TrimLeft(l.mid, " ")
	if l.who == nobody || !bytes.HasSuffix(l.mid, []byte(": ")) || head[0] == '{' || head[0] == '2' || len(head) > 2 && head[2] == ':' {
		return
	}
	l.plain, l.marks = true, speaksOfTime(l.who)
	if l.who.PID > 0 && len(l.mid) < maxIdent/2 && !strings.Contains(l.who.Ident, " ") {
		l.open = bytes.LastIndexByte(l.mid, '[') + 1
	}
}

// keep stores a layout in place of the one it extends, of one for another process
// of the same writer, or of the oldest.
func (s *layouts) keep(l *layout) {
	at, same := -1, false
	for i := range s.list[:s.n] {
		o := &s.list[i]
		if o.form != l.form || o.stamp != l.stamp {
			continue
		}
		if same = bytes.Equal(o.mid, l.mid) && (len(o.pid) == 0 || len(l.pid) == 0 || bytes.Equal(o.pid, l.pid)); same {
			at = i
			if len(l.pid) == 0 {
				l.pid, l.num = o.pid, o.num
			}
			break
		}
		if l.open > 0 && o.open == l.open && string(o.mid[:o.open]) == string(l.mid[:l.open]) {
			at = i
		}
	}
	if at < 0 && s.n < maxLayouts {
		at = s.n
		s.n++
	}
	if at < 0 {
		at = s.next
		s.next = (s.next + 1) % maxLayouts
	}
	o := &s.list[at]
	l.mid, l.pid = append(o.mid[:0], l.mid...), append(o.pid[:0], l.pid...)
	l.midHead.set(l.mid)
	if n := len(l.mid); n >= 8 {
		l.tail = eight(l.mid[n-8:])
	}
	if n := len(l.pid); n >= 8 {
		l.pids = [2]uint64{eight(l.pid), eight(l.pid[n-8:])}
	}
	l.brief = Brief{Layout: uint8(at), Form: l.form, Who: l.who}
	if l.stamp.form != Bare {
		l.brief.Clock = parse.Clock{Lack: l.lack, Set: true, East: l.east}
	}
	*o = *l
	if !same && s.likely(o.mid) != at {
		s.at, s.calm = unsettled, 0
	}
}

// mayFit is a cheap test, by the end of mid, for whether rest, the text after a
// timestamp, may begin with mid.
func (l *layout) mayFit(rest []byte) bool {
	n := len(l.mid)
	return len(rest) >= n && (n < 8 || eight(rest[n-8:]) == l.tail)
}

// hasPID reports whether the first n bytes of the klog header msg end in the PID of
// the layout.
func (l *layout) hasPID(msg []byte, n int) bool {
	if len(msg) < n || len(l.pid) < 8 {
		return len(msg) >= n && string(msg[klogTime:n]) == string(l.pid)
	}
	return eight(msg[klogTime:]) == l.pids[0] && eight(msg[n-8:]) == l.pids[1]
}

// fitsOther reports whether rest matches the layout except for the writer's PID. It
// returns that PID and the offset of the message, or zeros.
func (l *layout) fitsOther(rest []byte) (pid, n int) {
	if l.open == 0 || len(rest) < l.open || string(rest[:l.open]) != string(l.mid[:l.open]) {
		return 0, 0
	}
	n = l.open
	for n < len(rest) && n < l.open+9 && rest[n]-'0' <= 9 {
		pid = pid*10 + int(rest[n]-'0')
		n++
	}
	if pid == 0 || rest[l.open] == '0' || !bytes.HasPrefix(rest[n:], []byte("]: ")) {
		return 0, 0
	}
	return pid, n + len("]: ")
}
