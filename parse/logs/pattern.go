package logs

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// pattern is a regular expression of a signature. Many are a sequence of literals
// and runs of characters between them, as in `^StopContainer for
// "(?P<id>[0-9a-f]+)"$`. These are matched by walking the steps, several times
// faster than with package regexp. A pattern that is not anchored but begins with a
// literal is walked from each occurrence of that literal. Other patterns are tried
// only on texts with the required prefix and suffix that contain the pattern's
// longest literal.
type pattern struct {
	re     *Regexp
	names  []string // names of the groups, "" for the whole match
	prefix string   // prefix that a text must have
	suffix string   // suffix that a text must have
	kernel string   // substring that a text must contain
	steps  []step   // nil if the pattern is not linear
	inside bool     // the steps may start anywhere; the first is a literal
}

// step is one element of a linear pattern. Exactly one field is set.
type step struct {
	lit    string   // this text
	run    *repeat  // a run of characters, as long as possible
	either [][]step // the first alternative that leads to a match
	mark   int      // start (2*group) or end (2*group+1) of a group
	end    bool     // the end of the text
}

// repeat is a sequence of bytes of one class. A class contains all bytes above ASCII
// or none.
type repeat struct {
	class       [256]bool
	least, most int  // length in bytes; most is -1 if unbounded
	hex         bool // the class is the hex digits of IDs
}

var hexClass = classOf("0123456789abcdef")

func newPattern(re *Regexp) *pattern {
	p := &pattern{re: re, names: re.SubexpNames()}
	tree := re.tree()
	items := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpConcat {
		items = tree.Sub
	}
	anchored := items[0].Op == syntax.OpBeginText
	if anchored {
		p.prefix, p.suffix = edges(items)
		items = items[1:]
	}
	p.kernel = longestLiteral(items[min(len(p.prefix), 1):]) // after the prefix
	steps, ok := linear(items, nil)
	if !ok || choices(steps) > maxChoices || !decides(steps, nil) {
		return p
	}
	if p.inside = !anchored; anchored || steps[0].lit != "" {
		p.steps = steps
	}
	return p
}

// longestLiteral returns the longest text that every match of the items contains,
// or "".
func longestLiteral(items []*syntax.Regexp) (most string) {
	for _, it := range items {
		lit := ""
		switch {
		case isLiteral(it):
			lit = string(it.Rune)
		case it.Op == syntax.OpCapture || it.Op == syntax.OpConcat || it.Op == syntax.OpPlus:
			lit = longestLiteral(it.Sub)
		}
		if len(lit) > len(most) {
			most = lit
		}
	}
	return most
}

// maxChoices limits the alternatives in a walked pattern: walking tries them one
// after the other, while package regexp follows all at once.
const maxChoices = 6

func choices(steps []step) int {
	n := 0
	for _, s := range steps {
		if s.either != nil {
			n++
		}
		for _, way := range s.either {
			n += choices(way)
		}
	}
	return n
}

// edges returns the literals at both ends of an anchored expression.
func edges(items []*syntax.Regexp) (prefix, suffix string) {
	if len(items) > 1 && isLiteral(items[1]) {
		prefix = string(items[1].Rune)
	}
	if n := len(items); n > 2 && items[n-1].Op == syntax.OpEndText && isLiteral(items[n-2]) {
		suffix = string(items[n-2].Rune)
	}
	return prefix, suffix
}

func isLiteral(r *syntax.Regexp) bool {
	return r.Op == syntax.OpLiteral && r.Flags&syntax.FoldCase == 0
}

// linear appends the steps of the items. ok is false if an item cannot be a step.
func linear(items []*syntax.Regexp, out []step) (steps []step, ok bool) {
	for _, it := range items {
		if it.Flags&syntax.NonGreedy != 0 && it.Op != syntax.OpLiteral {
			return nil, false
		}
		switch it.Op {
		case syntax.OpLiteral:
			if !isLiteral(it) {
				return nil, false
			}
			out = append(out, step{lit: string(it.Rune)})
		case syntax.OpConcat:
			if out, ok = linear(it.Sub, out); !ok {
				return nil, false
			}
		case syntax.OpCapture:
			if out, ok = linear(it.Sub, append(out, step{mark: 2 * it.Cap})); !ok {
				return nil, false
			}
			out = append(out, step{mark: 2*it.Cap + 1})
		case syntax.OpAlternate, syntax.OpQuest:
			var ways [][]step
			for _, sub := range it.Sub {
				way, ok := linear([]*syntax.Regexp{sub}, nil)
				if !ok {
					return nil, false
				}
				ways = append(ways, way)
			}
			if it.Op == syntax.OpQuest {
				ways = append(ways, nil)
			}
			out = append(out, step{either: ways})
		case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpPlus, syntax.OpStar, syntax.OpRepeat:
			r := newRun(it)
			if r == nil {
				return nil, false
			}
			out = append(out, step{run: r})
		case syntax.OpEndText:
			out = append(out, step{end: true})
		case syntax.OpEmptyMatch:
		default:
			return nil, false
		}
	}
	return out, true
}

// newRun returns the run for a character class or its repetition, or nil for
// anything else.
func newRun(it *syntax.Regexp) *repeat {
	r := &repeat{least: 1, most: 1}
	switch it.Op {
	case syntax.OpPlus:
		r.most = -1
	case syntax.OpStar:
		r.least, r.most = 0, -1
	case syntax.OpRepeat:
		r.least, r.most = it.Min, it.Max
	}
	counted := r.least > 1 || r.most > 0
	if len(it.Sub) > 0 {
		it = it.Sub[0]
	}
	if !r.add(it) || counted && r.class[utf8.RuneSelf] {
		return nil // repetitions count characters, not bytes
	}
	r.hex = r.class == hexClass
	return r
}

// add adds the characters of a class to the run. It returns false if it is not a
// class, or one that distinguishes characters above ASCII.
func (r *repeat) add(it *syntax.Regexp) bool {
	ranges := it.Rune
	switch it.Op {
	case syntax.OpAnyChar:
		ranges = []rune{0, utf8.MaxRune}
	case syntax.OpAnyCharNotNL:
		ranges = []rune{0, '\n' - 1, '\n' + 1, utf8.MaxRune}
	case syntax.OpCharClass:
	default:
		return false
	}
	for i := 0; i < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if hi >= utf8.RuneSelf {
			if lo > utf8.RuneSelf || hi != utf8.MaxRune {
				return false
			}
			hi = rune(len(r.class)) - 1
		}
		for b := lo; b <= hi; b++ {
			r.class[b] = true
		}
	}
	return true
}

// decides reports whether the end of each run is unambiguous: what may follow it
// cannot begin with one of its characters. Only then is a greedy run equivalent to
// the expression. next is what follows the steps.
func decides(steps, next []step) bool {
	for i, s := range steps {
		rest := slices.Concat(steps[i+1:], next)
		if s.run != nil && s.run.least != s.run.most && !stops(s.run, rest) {
			return false
		}
		for _, way := range s.either {
			if !decides(way, rest) {
				return false
			}
		}
	}
	return true
}

// stops reports whether no continuation in rest can begin with a character of the
// run.
func stops(r *repeat, rest []step) bool {
	for i, s := range rest {
		switch {
		case s.end:
			return true
		case s.lit != "":
			return !r.class[s.lit[0]]
		case s.run != nil:
			for b := range r.class {
				if r.class[b] && s.run.class[b] {
					return false
				}
			}
			if s.run.least > 0 {
				return true
			}
		case s.either != nil:
			for _, way := range s.either {
				if !stops(r, slices.Concat(way, rest[i+1:])) {
					return false
				}
			}
			return true
		}
	}
	return true // the pattern ends here; anything may follow
}

// match holds the offsets of the groups of a match: two per group, -1 for a group
// that did not participate. The offsets of the whole match are not filled in by a
// walk.
type match []int

// newMatch returns a match for the groups of the pattern, in buf if it is large
// enough.
func (p *pattern) newMatch(buf []int) match {
	n := 2 * len(p.names)
	if n > len(buf) {
		return make(match, n)
	}
	return buf[:n]
}

// find matches the pattern against text and fills m, which may be nil.
func (p *pattern) find(text string, m match) bool {
	if len(text) < max(len(p.prefix), len(p.suffix)) || !strings.HasPrefix(text, p.prefix) || !strings.HasSuffix(text, p.suffix) {
		return false
	}
	if p.steps != nil && !p.inside {
		m.reset()
		return walk(p.steps, nil, text, 0, m)
	}
	if !strings.Contains(text, p.kernel) {
		return false
	}
	if p.steps != nil {
		if found, sure := p.search(text, m); sure {
			return found
		}
	}
	if m == nil {
		return p.re.get().MatchString(text)
	}
	m.reset()
	loc := p.re.get().FindStringSubmatchIndex(text)
	copy(m, loc)
	return loc != nil
}

// maxBegins is the maximum number of positions from which a pattern is walked: each
// walk may reach the end of the text, while package regexp makes a single pass.
const maxBegins = 8

// search walks the steps from each occurrence of their first literal. sure is false
// if there are more than maxBegins of them.
func (p *pattern) search(text string, m match) (found, sure bool) {
	begin := p.steps[0].lit
	at := 0
	for range maxBegins {
		n := strings.Index(text[at:], begin)
		if n < 0 {
			return false, true
		}
		at += n
		m.reset()
		if walk(p.steps, nil, text, at, m) {
			return true, true
		}
		at++
	}
	return false, false
}

// reset clears all groups.
func (m match) reset() {
	for i := range m {
		m[i] = -1
	}
}

// walk matches the steps, followed by next, from offset at of the text.
func walk(steps, next []step, text string, at int, m match) bool {
	for i := range steps {
		s := &steps[i]
		switch {
		case s.lit != "":
			if len(text)-at < len(s.lit) || string(text[at:at+len(s.lit)]) != s.lit {
				return false
			}
			at += len(s.lit)
		case s.run != nil:
			n := runLen(s.run, text[at:])
			if n < s.run.least {
				return false
			}
			at += n
		case s.either != nil:
			rest := steps[i+1:]
			if len(next) > 0 {
				rest = slices.Concat(rest, next)
			}
			for _, way := range s.either {
				if walk(way, rest, text, at, m) {
					return true
				}
				m.forget(way)
			}
			return false
		case s.end:
			if at != len(text) {
				return false
			}
		case m != nil:
			m[s.mark] = at
		}
	}
	return len(next) == 0 || walk(next, nil, text, at, m)
}

// runLen returns the number of leading bytes of text that the run matches.
func runLen[T string | []byte](r *repeat, text T) int {
	if r.most >= 0 && len(text) > r.most {
		text = text[:r.most]
	}
	for i := range len(text) {
		if !r.class[text[i]] {
			return i
		}
	}
	return len(text)
}

// forget clears the groups of steps that led nowhere.
func (m match) forget(steps []step) {
	for _, s := range steps {
		if s.mark > 0 && m != nil {
			m[s.mark] = -1
		}
		for _, way := range s.either {
			m.forget(way)
		}
	}
}

// group returns the text of a group, or "" if it did not participate.
func (m match) group(text string, i int) string {
	if m[2*i] < 0 || m[2*i+1] < 0 {
		return ""
	}
	return text[m[2*i]:m[2*i+1]]
}
