package parse

import "time"

// RawClocks holds the clocks of a line as the line states them.
type RawClocks struct {
	Header   Clock // inside the message (klog header, logrus time=, JSON ts)
	Envelope Clock // of the framing (journal, syslog, CRI, docker json-file)
}

// resolutions lists the granularities of readings in lines, finest first.
var resolutions = [...]time.Duration{time.Nanosecond, time.Microsecond, time.Millisecond, time.Second, time.Minute}

// clockBits is the number of bits for the properties of a Clock: set, lack, and an
// index in resolutions.
const clockBits = 7

// properties packs everything of a clock except its reading. A granularity that is
// not in resolutions is rounded up to the next coarser one.
func (c Clock) properties() uint16 {
	if !c.Set {
		return 0
	}
	res := 0
	for res < len(resolutions)-1 && resolutions[res] < c.Res {
		res++
	}
	return 1 | uint16(c.Lack)<<1 | uint16(res)<<4
}

func clockOf(ns int64, properties uint16) Clock {
	if properties&1 == 0 {
		return Clock{}
	}
	return Clock{NS: ns, Res: resolutions[properties>>4&7], Lack: Lack(properties >> 1 & 7), Set: true}
}

// SetRaw sets the clocks of an event's line. To save memory they share At and
// Arrived until package clock resolves them: a log may have millions of lines.
func (e *Event) SetRaw(c RawClocks) {
	e.Stamp, e.At, e.Arrived = Stamp{}, c.Header.NS, c.Envelope.NS
	e.raw = c.Header.properties() | c.Envelope.properties()<<clockBits
}

// Raw returns the clocks set by SetRaw, or the zero RawClocks after Resolve.
func (e *Event) Raw() RawClocks {
	return RawClocks{clockOf(e.At, e.raw), clockOf(e.Arrived, e.raw>>clockBits)}
}

// RawKind encodes everything of Raw except the two readings, which are in At and
// Arrived. It is equal for events whose clocks have the same form, and 0 if there
// are none.
func (e *Event) RawKind() uint16 {
	if e.raw&(1|1<<clockBits) == 0 {
		return 0
	}
	return e.raw
}

// Resolve replaces the raw clocks with the resolved time. arrived is the envelope's
// time in Unix ns, 0 if none.
func (e *Event) Resolve(s Stamp, arrived int64) {
	e.raw &= 7 << (clockBits + 4) // keep only the envelope's granularity
	e.Stamp, e.Arrived = s, arrived
}

// ArrivedRes returns the granularity of Arrived. It is valid after Resolve.
func (e *Event) ArrivedRes() time.Duration { return resolutions[e.raw>>(clockBits+4)] }
