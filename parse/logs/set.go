package logs

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/plegforensics/plegforensics/internal/nodes"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/logs/signatures"
)

// Set is a compiled list of signatures. It is immutable and safe for concurrent
// use.
type Set struct {
	entries []*entry
	filters audiences
	byID    map[string]*entry
	words   int       // length of a bitset of entries
	retired sync.Pool // scanners of finished files: see retire

	listing sync.Once
	writers map[string][]parse.Source
}

// entry is a compiled signature.
type entry struct {
	*Signature
	sig     *parse.Sig
	alone   *parse.SigSet // the set of this entry alone, interned
	extract extractor     // nil if the signature names none
	quick   func(*record) bool
	heads   [][]byte // a message with one of these prefixes belongs to this entry

	everyLine bool // its fields are extracted while lines are decoded

	once     sync.Once // guards the fields below: see prepare
	patterns []*pattern
	direct   directReader // nil for most entries
	alike    bool         // direct's verdict is the same for any ID: see speaksOfIDs
}

// Builtin returns the signatures that come with the program. They are compiled on
// first use.
func Builtin() *Set { return builtinSet() }

var builtinSet = sync.OnceValue(compileBuiltin)

func compileBuiltin() *Set {
	sigs, err := BuiltinSignatures()
	if err == nil {
		var s *Set
		if s, err = Build(sigs...); err == nil {
			return s
		}
	}
	// A test loads every embedded file, so this is a broken build.
	panic("embedded signatures: " + err.Error())
}

// BuiltinSignatures loads the embedded files in name order, for callers that add
// signatures of their own before calling Build.
func BuiltinSignatures() ([]*Signature, error) {
	files, err := nodes.Load(signatures.Files, signatures.Packed)
	if err != nil {
		return nil, err
	}
	var all []*Signature
	for _, f := range files {
		sigs, err := loadFile(f, true)
		if err != nil {
			return nil, err
		}
		all = append(all, sigs...)
	}
	return all, nil
}

// Build compiles signatures. Matches are reported in the given order.
func Build(sigs ...*Signature) (*Set, error) {
	s := &Set{byID: make(map[string]*entry, len(sigs)), words: (len(sigs) + 63) / 64}
	var lits []literal
	for i, g := range sigs {
		e := newEntry(g)
		if e.Extract != "" && e.extract == nil {
			return nil, fmt.Errorf("%s:%d: unknown extractor %q", g.File, g.Line, g.Extract)
		}
		for _, t := range g.Literals {
			if len(t) < MinLiteral {
				return nil, fmt.Errorf("%s:%d: literal %q has fewer than %d bytes", g.File, g.Line, t, MinLiteral)
			}
			lits = append(lits, literal{text: t, fold: g.Fold, entry: int32(i)})
		}
		s.entries = append(s.entries, e)
		if s.byID[g.ID] == nil {
			s.byID[g.ID] = e
		}
	}
	chosen := chooseGrams(lits, samplesOf(sigs), strings.Split(signatures.Quiet, "\n"))
	s.filters = newAudiences(s.entries, chosen)
	return s, nil
}

// samplesOf returns the sample lines of the signatures.
func samplesOf(sigs []*Signature) []string {
	var out []string
	for _, g := range sigs {
		for _, s := range g.Samples {
			out = append(out, s.Msg)
		}
	}
	return out
}

func newEntry(g *Signature) *entry {
	e := &entry{Signature: g, everyLine: everyLine[g.ID]}
	e.extract, e.quick = findExtractor(g.Extract)
	e.heads = e.sureHeads()
	e.sig = &parse.Sig{ID: g.ID, Sources: g.Sources, Bulk: g.Bulk, Symptom: g.Symptom, Lag: g.Lag, LagField: g.LagField, Extract: e.fields}
	e.alone = &parse.SigSet{Sigs: []*parse.Sig{e.sig}}
	return e
}

// prepare compiles what is needed to verify the entry, once. It is done lazily
// because most signatures never occur in a given log.
func (e *entry) prepare() {
	e.once.Do(func() {
		for _, re := range e.Regexps {
			e.patterns = append(e.patterns, newPattern(re))
		}
		e.direct, e.alike = newDirect(e)
	})
}

// Lookup returns the signature with the given ID, or nil.
func (s *Set) Lookup(id string) *parse.Sig {
	if e := s.byID[id]; e != nil {
		return e.sig
	}
	return nil
}

// Signatures returns the signatures in order.
func (s *Set) Signatures() []*Signature {
	out := make([]*Signature, len(s.entries))
	for i, e := range s.entries {
		out[i] = e.Signature
	}
	return out
}

// Writers returns, by signature ID, the sources whose lines are matched against it.
// SrcUnknown among them means any source.
func (s *Set) Writers() map[string][]parse.Source {
	s.listing.Do(func() {
		s.writers = map[string][]parse.Source{}
		for _, e := range s.entries {
			s.writers[e.ID] = append(s.writers[e.ID], e.Sources...)
			if len(e.Sources) == 0 {
				s.writers[e.ID] = append(s.writers[e.ID], parse.SrcUnknown)
			}
		}
	})
	return s.writers
}

// pickedWords is large enough for the bitset of all built-in signatures, so that a
// scan needs no allocation.
const pickedWords = 16

// Match returns the signatures that a message matches, or nil if there are none.
// msg is the text after framing and header. src is SrcUnknown and sev 0 if the line
// does not say. A message that matches one signature always yields the same SigSet;
// a Matcher interns larger sets too.
func (s *Set) Match(src parse.Source, sev byte, msg []byte) *parse.SigSet {
	m := Matcher{set: s}
	return m.Match(src, sev, msg)
}

// MatchAny reports whether msg contains a literal of any signature that src may
// write. It is the cheap test; Match verifies.
func (s *Set) MatchAny(src parse.Source, msg []byte) bool { return s.filterOf(src).finds(msg) }

func (s *Set) picked(buf *[pickedWords]uint64) []uint64 {
	if s.words <= pickedWords {
		return buf[:s.words]
	}
	return make([]uint64, s.words)
}

// Matcher matches lines for one goroutine and interns the sets it returns.
type Matcher struct {
	set  *Set
	seen map[string]*parse.SigSet
	key  []byte   // scratch space for a key of seen
	hits []*entry // entries that the last message matched
	read bool     // rec holds the last message, parsed
	rec  record

	current  message      // the last message
	direct   *direct      // what the direct reader of directOf has read
	directOf *entry       // entry whose direct reader accepted the message; nil: none
	rooms    [2]direct    // scratch space of direct readers
	spare    int          // index of the free one in rooms
	alike    bool         // every verdict on the message is the same for any ID in its place
	recent   *recentLines // nil: no cache
}

// NewMatcher returns a new Matcher for the set.
func (s *Set) NewMatcher() *Matcher {
	return &Matcher{set: s, seen: make(map[string]*parse.SigSet)}
}

// Match is like Set.Match; equal sets are identical pointers.
func (m *Matcher) Match(src parse.Source, sev byte, msg []byte) *parse.SigSet {
	var buf [pickedWords]uint64
	picked := m.set.picked(&buf)
	if !m.set.filterOf(src).pick(msg, picked) {
		m.hits, m.directOf = m.hits[:0], nil
		return nil
	}
	return m.matchPicked(sev, msg, picked)
}

// matchPicked is Match after the literal search: picked holds the entries that have
// literals in msg and admit its source.
func (m *Matcher) matchPicked(sev byte, msg []byte, picked []uint64) *parse.SigSet {
	m.begin(msg)
	if m.recent == nil {
		m.verify(sev, msg, picked)
		return m.intern(m.hits)
	}
	if p := m.recent.phraseOf(&m.current, sev, picked); p != nil {
		m.hits, m.direct, m.directOf = append(m.hits, p.entry), &p.direct, p.entry
		return p.entry.alone
	}
	m.verify(sev, msg, picked)
	if m.alike && len(m.hits) == 1 && m.hits[0] == m.directOf {
		m.recent.learnPhrase(m, sev, picked)
	}
	return m.intern(m.hits)
}

// begin resets the state of the last message.
func (m *Matcher) begin(msg []byte) {
	m.current = message{msg: msg, recent: m.recent}
	m.hits, m.read, m.directOf, m.alike = m.hits[:0], false, nil, true
}

// verify appends to hits the picked entries that accept the message. The picked
// ones already admit its source.
func (m *Matcher) verify(sev byte, msg []byte, picked []uint64) {
	for w, word := range picked {
		for ; word != 0; word &= word - 1 {
			e := m.set.entries[w<<6+bits.TrailingZeros64(word)]
			if !e.admitsSeverity(sev) || hasID(m.hits, e.ID) {
				continue
			}
			if m.accepts(e, msg) {
				m.hits = append(m.hits, e)
			}
		}
	}
}

// accepts asks the direct reader of an entry; if there is none or it is unsure, it
// parses the message.
func (m *Matcher) accepts(e *entry, msg []byte) bool {
	e.prepare()
	if e.direct != nil {
		d := &m.rooms[m.spare]
		d.clear()
		m.alike = m.alike && e.alike
		switch e.direct(&m.current, d) {
		case accepted:
			m.direct, m.spare, m.directOf = d, 1-m.spare, e
			return true
		case refused:
			return false
		}
	}
	m.alike = false
	return e.begins(msg) || e.accepts(m.record(msg))
}

// record parses the current message, once.
func (m *Matcher) record(msg []byte) *record {
	if !m.read {
		m.rec.readFrom(string(msg))
		m.read = true
	}
	return &m.rec
}

// appendFields appends the fields of the message that was matched last.
func (m *Matcher) appendFields(msg []byte, dst []parse.Field) []parse.Field {
	for _, e := range m.hits {
		dst = e.fieldsOf(m.record(msg), dst)
	}
	return dst
}

func hasID(list []*entry, id string) bool {
	return slices.ContainsFunc(list, func(e *entry) bool { return e.ID == id })
}

func (m *Matcher) intern(hits []*entry) *parse.SigSet {
	switch len(hits) {
	case 0:
		return nil
	case 1:
		return hits[0].alone
	}
	key := m.key[:0]
	for _, e := range hits {
		key = append(append(append(key, e.File...), e.ID...), byte(e.Line), byte(e.Line>>8), byte(e.Line>>16), 0)
	}
	m.key = key
	if set := m.seen[string(key)]; set != nil {
		return set
	}
	set := &parse.SigSet{}
	for _, e := range hits {
		set.Sigs = append(set.Sigs, e.sig)
	}
	if m.seen != nil {
		m.seen[string(key)] = set
	}
	return set
}

// MatchBrute is Match without the filter: it searches for one literal after the
// other. It is slow and serves as the oracle in tests.
func (s *Set) MatchBrute(src parse.Source, sev byte, msg []byte) *parse.SigSet {
	picked := make([]uint64, s.words)
	for i, e := range s.entries {
		if e.admits(src) && slices.ContainsFunc(e.Literals, func(l string) bool { return contains(msg, l, e.Fold) }) {
			picked[i>>6] |= 1 << (i & 63)
		}
	}
	m := Matcher{set: s}
	m.begin(msg)
	m.verify(sev, msg, picked)
	return m.intern(m.hits)
}
