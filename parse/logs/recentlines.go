package logs

import (
	"encoding/binary"

	"github.com/plegforensics/plegforensics/parse"
)

// recentLines remembers pods, IDs and phrases of recent lines with their interned
// values. Events of one pod come in succession, and what a runtime does to a
// container returns as an event, so a known text need neither be parsed byte by
// byte nor looked up among all interned strings. The cache does not affect results.
type recentLines struct {
	pods []podSeen // hash table by the end of the pod name; length is a power of two
	more int       // pods learned since pods was last grown
	ids  [1 << idsSeen]idSeen

	phrases []*phrase
}

const (
	leastPods = 16
	mostPods  = 512
	idsSeen   = 6
)

// podSeen is a pod as a PLEG event names it:
// `NAMESPACE/NAME" event=&{ID:UID Type:`.
type podSeen struct {
	text           [176]byte
	n, slash, name uint8 // lengths: of text, of the namespace, of namespace/name
	form           uint8 // index in eventForms
	interned       [3]parse.StringID
}

// idSeen is an ID of 64 hex digits.
type idSeen struct {
	text [idLen]byte
	sid  parse.StringID
}

const idLen = 64

// seenAt hashes the first eight bytes of b; the upper bits are the best mixed.
func seenAt(b []byte) uint64 { return binary.LittleEndian.Uint64(b) * 0x9E3779B97F4A7C15 }

// podAt returns the slot for a pod whose name ends at s[end], or nil if the name is
// too short to be cached.
func (l *recentLines) podAt(s []byte, end int) *podSeen {
	if l == nil || end < 8 {
		return nil
	}
	if l.more >= len(l.pods) && len(l.pods) < mostPods {
		l.pods, l.more = make([]podSeen, max(2*len(l.pods), leastPods)), 0
	}
	return &l.pods[seenAt(s[end-8:])>>32&uint64(len(l.pods)-1)]
}

// begins reports whether s begins with the text of the pod.
func (p *podSeen) begins(s []byte) bool {
	n := int(p.n)
	return n > 0 && n <= len(s) && string(s[:n]) == string(p.text[:n])
}

// id returns the interned ID that s begins with, or 0 if it is not cached.
func (l *recentLines) id(s []byte) parse.StringID {
	if l == nil || len(s) <= idLen || charBits[s[idLen]]&idChar != 0 {
		return 0
	}
	if seen := l.idAt(s); string(seen.text[:]) == string(s[:idLen]) {
		return seen.sid
	}
	return 0
}

func (l *recentLines) idAt(s []byte) *idSeen { return &l.ids[seenAt(s)>>(64-idsSeen)] }

// learn adds the pod and ID that a direct reader found, with their interned values.
func (l *recentLines) learn(d *direct, interned []parse.StringID) {
	if p := d.pod; p.at != nil && len(p.text) <= len(p.at.text) {
		*p.at = podSeen{n: uint8(len(p.text)), slash: uint8(len(d.values[0])), name: uint8(len(d.values[0]) + 1 + len(d.values[1])), form: p.form}
		copy(p.at.text[:], p.text)
		copy(p.at.interned[:], interned)
		l.more++
	}
	if i := d.id; i >= 0 && d.interned[i] == 0 && len(d.values[i]) == idLen {
		seen := l.idAt(d.values[i])
		copy(seen.text[:], d.values[i])
		seen.sid = interned[i]
	}
}
