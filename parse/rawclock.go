package parse

import "time"

// RawClocks are the clocks of a line as it states them.
type RawClocks struct {
	Header   Clock // inside the message (klog header, logrus time=, JSON ts)
	Envelope Clock // of the framing (journal, syslog, CRI, docker json-file)
}

// resolutions are the granularities that readings of a line have, finest first.
var resolutions = [...]time.Duration{time.Nanosecond, time.Microsecond, time.Millisecond, time.Second, time.Minute}

// clockBits is how many bits the properties of a Clock take: set, lack, and an
// index of resolutions.
const clockBits = 7

// properties packs all of a clock but its reading. A granularity that no reading
// of a line has is taken for the next coarser one.
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

// SetRaw gives an event the clocks of its line. Until package clock resolves
// them they take the place of At and Arrived: a log may have millions of lines.
func (e *Event) SetRaw(c RawClocks) {
	e.Stamp, e.At, e.Arrived = Stamp{}, c.Header.NS, c.Envelope.NS
	e.raw = c.Header.properties() | c.Envelope.properties()<<clockBits
}

// Raw returns what SetRaw gave, the zero RawClocks once Resolve was called.
func (e *Event) Raw() RawClocks {
	return RawClocks{clockOf(e.At, e.raw), clockOf(e.Arrived, e.raw>>clockBits)}
}

// RawKind tells all of Raw but the two readings, which stand in At and Arrived: it
// is the same for events whose clocks are of one form, and 0 without any.
func (e *Event) RawKind() uint16 {
	if e.raw&(1|1<<clockBits) == 0 {
		return 0
	}
	return e.raw
}

// Resolve puts an event on the time axis, in place of its raw clocks. arrived is
// the envelope's time, Unix ns, 0 if none.
func (e *Event) Resolve(s Stamp, arrived int64) {
	e.raw &= 7 << (clockBits + 4) // the envelope's granularity alone
	e.Stamp, e.Arrived = s, arrived
}

// ArrivedRes is the granularity of Arrived, once it is resolved.
func (e *Event) ArrivedRes() time.Duration { return resolutions[e.raw>>(clockBits+4)] }
