package logs

import "github.com/plegforensics/plegforensics/parse"

// direct holds the fields that a direct reader found in a message in its usual
// spelling.
type direct struct {
	n        int
	form     uint16 // bit k: the entry's k-th field is present; identifies the set of names
	fixed    int    // values from this index on are constant for the entry
	names    [maxDirect]string
	values   [maxDirect][]byte
	interned [maxDirect]parse.StringID // interned values, 0 if not yet looked up
	pod      podFound
	id       int         // index of the value that is likely to recur soon, -1 if none
	hexID    parse.HexID // that value, if packed
	packed   bool
	room     [512]byte // memory for values that are not verbatim in the message
}

// podFound is the pod of an event that is to be added to recentLines.
type podFound struct {
	at   *podSeen // its slot; nil: nothing to add
	text []byte
	form uint8

	itself bool // the event is about the pod itself: its data are the pod's UID
}

// maxDirect is the maximum number of fields that a direct reader finds.
const maxDirect = 10

// clear resets d for the next message.
func (d *direct) clear() {
	d.n, d.form, d.fixed, d.id = 0, 0, maxDirect, -1
	d.pod.at, d.packed = nil, false
}

// add adds the k-th of the fields that a reader may find.
func (d *direct) add(k int, name string, value []byte) { d.addValue(k, name, value, 0) }

// addValue is add for a value whose interned string is known; 0 means it is not.
func (d *direct) addValue(k int, name string, value []byte, sid parse.StringID) {
	d.form |= 1 << k
	d.names[d.n], d.values[d.n], d.interned[d.n] = name, value, sid
	d.n++
}

// verdict is what a direct reader decides about a message.
type verdict uint8

const (
	unsure verdict = iota // only parsing the message can tell
	accepted
	refused
)

// message is a message for direct readers. It caches the parts that several of them
// need.
type message struct {
	msg    []byte
	recent *recentLines // nil: no cache

	read   bool   // logrus is valid
	logrus []byte // see said

	quoted bool // ends is valid
	ends   bool // see endsWithQuote
}

// directReader reads the usual spelling of an entry's message into d without
// parsing the message. Readers exist for messages that occur by the hundred
// thousand. They never report anything that parsing would not.
type directReader func(t *message, d *direct) verdict

// newDirect returns the direct reader of an entry, or nil if there is none. alike
// reports whether its verdict is the same for any ID: see speaksOfIDs.
func newDirect(e *entry) (d directReader, alike bool) {
	switch {
	case len(e.Unless)+len(e.Keys)+len(e.Messages) > 0:
	case e.Extract == "event" && len(e.Set)+len(e.Regexps) == 0:
		return directEvent, false
	case e.Extract == "rpc" && len(e.Set)+len(e.Regexps) == 0:
		return directRPC, false
	case e.Extract == "" && len(e.patterns) == 1:
		if l := newDirectLogrus(e.patterns[0], e.Set); l != nil {
			return l.read, l.speaksOfIDs()
		}
	}
	return nil, false
}

// classOf returns the set of the given characters.
func classOf(chars string) (class [256]bool) {
	for _, c := range []byte(chars) {
		class[c] = true
	}
	return class
}

// Character sets of the direct readers, as bits of one small table.
const (
	podChar = 1 << iota
	idChar
	typeChar
	stampChar
	levelChar
)

var charSets = [...]string{
	"abcdefghijklmnopqrstuvwxyz0123456789-.",
	"abcdef0123456789-",
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
	"0123456789-+:.TZ",
	"abcdefghijklmnopqrstuvwxyz",
}

var charBits = func() (table [256]uint8) {
	for i, chars := range charSets {
		for _, c := range []byte(chars) {
			table[c] |= 1 << i
		}
	}
	return table
}()

// stretch returns the number of leading bytes of s that are in a set.
func stretch(s []byte, set uint8) int {
	for i, c := range s {
		if charBits[c]&set == 0 {
			return i
		}
	}
	return len(s)
}

// isNull reports whether a value is "null".
func isNull(v []byte) bool { return string(v) == "null" }
