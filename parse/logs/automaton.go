package logs

import "errors"

// maxNeedle is the longest part of a literal that goes into the automaton.
// Longer literals are compared in full when their needle is seen; short
// needles keep the automaton small enough for the processor's caches.
const maxNeedle = 10

// maxStates bounds the automaton: a state must fit a uint16.
const maxStates = 1 << 16

// literal is one byte string that the automaton looks for, and the entry that
// it stands for.
type literal struct {
	text  string
	fold  bool // ASCII letters of either case
	entry int32
	head  int // bytes of text before the needle
	tail  int // bytes of text after the needle
}

// automaton is an Aho-Corasick machine in DFA form over classes of bytes.
// Letters of both cases share a class, so one machine serves case-sensitive
// and folded literals; the literal is compared exactly where its needle ends.
type automaton struct {
	class    [256]uint8
	shift    uint
	next     []uint16 // state<<shift | class -> state
	accept   uint16   // states from here on end at least one needle
	outputs  [][]int32
	literals []literal
}

var errTooManyLiterals = errors.New("too many literals for one set: the automaton is limited to 65536 states")

// compile builds the automaton of the literals.
func compile(lits []literal) (*automaton, error) {
	a := &automaton{literals: lits}
	for i := range a.literals {
		a.literals[i].cutNeedle()
	}
	a.classes()
	t := newTrie(1 << a.shift)
	for i := range a.literals {
		if !t.add(a.needle(i), int32(i)) {
			return nil, errTooManyLiterals
		}
	}
	t.link()
	a.adopt(t)
	return a, nil
}

// cutNeedle chooses the rarest window of at most maxNeedle bytes, so that the
// automaton seldom leaves its fast loop.
func (l *literal) cutNeedle() {
	n := min(len(l.text), maxNeedle)
	best, at := -1, 0
	for i := 0; i+n <= len(l.text); i++ {
		score := 0
		for j := i; j < i+n; j++ {
			score += rarity(l.text[j])
		}
		if score > best {
			best, at = score, i
		}
	}
	l.head, l.tail = at, len(l.text)-at-n
}

// rarity is a rough guess at how seldom a byte occurs in log lines.
func rarity(c byte) int {
	switch {
	case c >= 'A' && c <= 'Z':
		return 5
	case c == ' ' || c == 'e' || c == 't' || c == 'o' || c == 'n' || c == 'r' || c == 'i' || c == 'a' || c == 's':
		return 1
	case c >= '0' && c <= '9' || c == '"' || c == '-' || c == '.' || c == ':':
		return 1
	case c == 'k' || c == 'v' || c == 'w' || c == 'y' || c == 'x' || c == 'z' || c == 'q' || c == 'j':
		return 4
	case c >= 'a' && c <= 'z':
		return 2
	}
	return 5
}

// needle is the part of literal i that the trie holds, as classes.
func (a *automaton) needle(i int) []uint8 {
	l := &a.literals[i]
	s := l.text[l.head : len(l.text)-l.tail]
	out := make([]uint8, len(s))
	for j := range out {
		out[j] = a.class[s[j]]
	}
	return out
}

// classes gives each byte that occurs in a needle its own class, letters of
// both cases the same one, and all other bytes class 0.
func (a *automaton) classes() {
	n := 0
	for _, l := range a.literals {
		for j := l.head; j < len(l.text)-l.tail; j++ {
			c := lower(l.text[j])
			if a.class[c] != 0 {
				continue
			}
			n++
			a.class[c] = uint8(n)
			if c >= 'a' && c <= 'z' {
				a.class[c-'a'+'A'] = uint8(n)
			}
		}
	}
	for a.shift = 1; 1<<a.shift < n+1; a.shift++ {
	}
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c - 'A' + 'a'
	}
	return c
}

// adopt renumbers the trie's states so that accepting ones come last, and
// takes its transitions over.
func (a *automaton) adopt(t *trie) {
	order := make([]uint16, len(t.out))
	n := uint16(0)
	for _, accepting := range []bool{false, true} {
		if accepting {
			a.accept = n
		}
		for s := range t.out {
			if (len(t.out[s]) > 0) == accepting {
				order[s] = n
				n++
			}
		}
	}
	a.next = make([]uint16, len(t.out)<<a.shift)
	a.outputs = make([][]int32, len(t.out)-int(a.accept))
	for s := range t.out {
		row := int(order[s]) << a.shift
		for c, to := range t.row(s) {
			a.next[row+c] = order[to]
		}
		if len(t.out[s]) > 0 {
			a.outputs[order[s]-a.accept] = t.out[s]
		}
	}
}

// scan sets in picked the entries that have a literal in msg, and reports
// whether there is any. picked must be clear and hold all entries.
func (a *automaton) scan(msg []byte, picked []uint64) bool {
	found := false
	st := uint16(0)
	shift := a.shift & 15
	for i, c := range msg {
		st = a.next[uint(st)<<shift|uint(a.class[c])]
		if st < a.accept {
			continue
		}
		for _, o := range a.outputs[st-a.accept] {
			l := &a.literals[o]
			if l.at(msg, i+1) {
				picked[l.entry>>6] |= 1 << (l.entry & 63)
				found = true
			}
		}
	}
	return found
}

// at reports whether the literal stands in msg with its needle ending at end.
func (l *literal) at(msg []byte, end int) bool {
	stop := end + l.tail
	start := stop - len(l.text)
	if start < 0 || stop > len(msg) {
		return false
	}
	if l.fold {
		return equalFold(msg[start:stop], l.text)
	}
	return string(msg[start:stop]) == l.text
}

func equalFold(b []byte, s string) bool {
	for i := range b {
		if lower(b[i]) != lower(s[i]) {
			return false
		}
	}
	return true
}

// containsFold is the slow form of a folded literal, for the brute-force path.
func containsFold(b []byte, s string) bool {
	for i := 0; i+len(s) <= len(b); i++ {
		if equalFold(b[i:i+len(s)], s) {
			return true
		}
	}
	return false
}

// trie is the machine while it grows.
type trie struct {
	width int
	next  []uint16  // width entries a state; 0 also means "none" until link
	out   [][]int32 // literals that end in a state
}

func newTrie(width int) *trie {
	return &trie{width: width, next: make([]uint16, width), out: make([][]int32, 1)}
}

func (t *trie) row(s int) []uint16 { return t.next[s*t.width : (s+1)*t.width] }

// add inserts a needle; false means that the trie is full.
func (t *trie) add(needle []uint8, lit int32) bool {
	s := 0
	for _, c := range needle {
		to := t.row(s)[c]
		if to == 0 {
			if len(t.out) == maxStates {
				return false
			}
			to = uint16(len(t.out))
			t.row(s)[c] = to
			t.out = append(t.out, nil)
			t.next = append(t.next, make([]uint16, t.width)...)
		}
		s = int(to)
	}
	t.out[s] = append(t.out[s], lit)
	return true
}

// link turns the trie into a DFA, breadth first: a missing edge goes where the
// longest proper suffix would go, and a state also ends what its suffix ends.
func (t *trie) link() {
	fail := make([]uint16, len(t.out))
	queue := make([]uint16, 0, len(t.out))
	for _, to := range t.row(0) {
		if to != 0 {
			queue = append(queue, to)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		t.out[s] = append(t.out[s], t.out[fail[s]]...)
		suffix := t.row(int(fail[s]))
		for c, to := range t.row(int(s)) {
			if to == 0 {
				t.row(int(s))[c] = suffix[c]
				continue
			}
			fail[to] = suffix[c]
			queue = append(queue, to)
		}
	}
}
