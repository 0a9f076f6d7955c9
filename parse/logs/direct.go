package logs

import "github.com/plegforensics/plegforensics/parse"

// direct is what a message in its usual spelling tells.
type direct struct {
	n      int
	form   uint16 // of the fields of the entry those that there are: their names, in short
	fixed  int    // values from here on are those of all lines of the entry
	names  [maxDirect]string
	values [maxDirect][]byte
	syms   [maxDirect]parse.Sym // the numbers of the values, 0 where they must be looked up
	pod    podFound
	id     int         // which value is one that soon comes up again, -1 none
	hexID  parse.HexID // that value, if packed
	packed bool
	room   [512]byte // of values that are not in the message as they are
}

// podFound is the pod of an event that must be learned.
type podFound struct {
	at   *podSeen // nil: none
	text []byte
	form uint8

	itself bool // what happened to it: the data of the event are its UID
}

// maxDirect is the number of fields that a quick reader finds at most.
const maxDirect = 10

// clear forgets what the last message told.
func (d *direct) clear() {
	d.n, d.form, d.fixed, d.id = 0, 0, maxDirect, -1
	d.pod.at, d.packed = nil, false
}

// add adds the k-th of the fields that a reader may find.
func (d *direct) add(k int, name string, value []byte) { d.addSym(k, name, value, 0) }

// addSym is add of a value whose number is known, unless that is 0.
func (d *direct) addSym(k int, name string, value []byte, sym parse.Sym) {
	d.form |= 1 << k
	d.names[d.n], d.values[d.n], d.syms[d.n] = name, value, sym
	d.n++
}

// verdict is what a quick reader knows of a message.
type verdict uint8

const (
	unsure verdict = iota // it takes the long way to tell
	accepted
	refused
)

// message is a message for quick readers, of which each needs the same parts.
type message struct {
	msg    []byte
	recent *recentLines // nil: nothing is known

	read   bool   // the next one is known
	logrus []byte // see said

	quoted bool // the next one is known
	ends   bool // see endsWithQuote
}

// directReader reads the usual spelling of an entry's message into d without
// taking the message apart. It exists for what comes by the hundred thousand, and
// tells nothing that the long way would not.
type directReader func(t *message, d *direct) verdict

// newDirect returns the quick reader of an entry, nil if there is none, and whether
// it says the same of any id: see speaksOfIDs.
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

// classOf is the set of some characters.
func classOf(chars string) (class [256]bool) {
	for _, c := range []byte(chars) {
		class[c] = true
	}
	return class
}

// Sets of characters that quick readers know, as bits of one small table.
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

// stretch is how many characters of a set s begins with.
func stretch(s []byte, set uint8) int {
	for i, c := range s {
		if charBits[c]&set == 0 {
			return i
		}
	}
	return len(s)
}

// isNull reports whether a value says that there is none.
func isNull(v []byte) bool { return string(v) == "null" }
