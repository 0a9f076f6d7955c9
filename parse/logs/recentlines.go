package logs

import (
	"encoding/binary"

	"github.com/plegforensics/plegforensics/parse"
)

// recentLines is what the lines before tell about the one at hand: how pods and ids
// stood there, and their numbers. Events of one pod come together, and what a
// runtime does to a container comes back as an event; what is known by sight needs
// neither be read letter by letter nor looked up among all texts. It makes no
// difference to what is found.
type recentLines struct {
	pods []podSeen // by the end of the name, their number is a power of two
	more int       // pods learned since there are so many
	ids  [1 << idsSeen]idSeen

	phrases []*phrase
}

const (
	leastPods = 16
	mostPods  = 512
	idsSeen   = 6
)

// podSeen is a pod as an event names it: `NAMESPACE/NAME" event=&{ID:UID Type:`.
type podSeen struct {
	text           [176]byte
	n, slash, name uint8 // lengths: of text, of the namespace, of both names
	form           uint8 // of eventForms
	syms           [3]parse.Sym
}

// idSeen is an id of 64 digits.
type idSeen struct {
	text [idLen]byte
	sym  parse.Sym
}

const idLen = 64

// seenAt spreads eight bytes over the upper bits.
func seenAt(b []byte) uint64 { return binary.LittleEndian.Uint64(b) * 0x9E3779B97F4A7C15 }

// podAt returns where a pod is kept whose names end at end of s, nil for those too
// short to be kept.
func (l *recentLines) podAt(s []byte, end int) *podSeen {
	if l == nil || end < 8 {
		return nil
	}
	if l.more >= len(l.pods) && len(l.pods) < mostPods {
		l.pods, l.more = make([]podSeen, max(2*len(l.pods), leastPods)), 0
	}
	return &l.pods[seenAt(s[end-8:])>>32&uint64(len(l.pods)-1)]
}

// begins reports whether s begins with the pod.
func (p *podSeen) begins(s []byte) bool {
	n := int(p.n)
	return n > 0 && n <= len(s) && string(s[:n]) == string(p.text[:n])
}

// id returns the number of the id that s begins with, 0 if it was not seen lately.
func (l *recentLines) id(s []byte) parse.Sym {
	if l == nil || len(s) <= idLen || charBits[s[idLen]]&idChar != 0 {
		return 0
	}
	if seen := l.idAt(s); string(seen.text[:]) == string(s[:idLen]) {
		return seen.sym
	}
	return 0
}

func (l *recentLines) idAt(s []byte) *idSeen { return &l.ids[seenAt(s)>>(64-idsSeen)] }

// learn notes what a quick reader has found, and the numbers of the values.
func (l *recentLines) learn(d *direct, syms []parse.Sym) {
	if p := d.pod; p.at != nil && len(p.text) <= len(p.at.text) {
		*p.at = podSeen{n: uint8(len(p.text)), slash: uint8(len(d.values[0])), name: uint8(len(d.values[0]) + 1 + len(d.values[1])), form: p.form}
		copy(p.at.text[:], p.text)
		copy(p.at.syms[:], syms)
		l.more++
	}
	if i := d.id; i >= 0 && d.syms[i] == 0 && len(d.values[i]) == idLen {
		seen := l.idAt(d.values[i])
		copy(seen.text[:], d.values[i])
		seen.sym = syms[i]
	}
}
