package logs

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// pattern is a regular expression of a signature. Many are a row of literals
// and runs of characters between them, as in `^StopContainer for
// "(?P<id>[0-9a-f]+)"$`: those are matched by walking along, several times
// faster than by the general machine. One that may begin anywhere but begins with a
// literal is walked from each place where that stands. The others are tried only on
// texts that begin and end as they must, and hold their longest literal.
type pattern struct {
	re     *Regexp
	names  []string // of the groups, "" for the whole match
	prefix string   // what a text must begin with
	suffix string   // what it must end with
	kernel string   // what it must hold
	steps  []step   // nil: not of that kind
	inside bool     // the steps may begin anywhere; the first is a literal
}

// step is one element of a linear pattern: one of its fields is set.
type step struct {
	lit    string   // this text stands here
	run    *run     // a run of characters, as long as there are
	either [][]step // the first of these ways that leads to a match
	mark   int      // a group begins (2*group) or ends (2*group+1) here
	end    bool     // the text ends here
}

// run is a stretch of bytes of one class. Bytes above ASCII belong to it all or none.
type run struct {
	class       [256]bool
	least, most int  // of bytes; most is -1 without bound
	hex         bool // the class are the digits of ids
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
	p.kernel = longestLiteral(items[min(len(p.prefix), 1):]) // behind the prefix
	steps, ok := linear(items, nil)
	if !ok || choices(steps) > maxChoices || !decides(steps, nil) {
		return p
	}
	if p.inside = !anchored; anchored || steps[0].lit != "" {
		p.steps = steps
	}
	return p
}

// longestLiteral is the longest text that each match of the items holds, "" if there is
// none.
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

// maxChoices bounds the places where a pattern goes several ways: walking tries
// them one after the other, where the general machine goes all at once.
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

// edges returns the literals at the ends of an anchored expression.
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

// linear appends the steps of the items; ok is false when one cannot be a step.
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

// newRun returns the run that a character class or its repetition stands for,
// nil for anything else.
func newRun(it *syntax.Regexp) *run {
	r := &run{least: 1, most: 1}
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
		return nil // counts are of characters, not bytes
	}
	r.hex = r.class == hexClass
	return r
}

// add puts the characters of a class into the run. It is false for what is no
// class, or tells characters above ASCII apart.
func (r *run) add(it *syntax.Regexp) bool {
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

// decides reports whether each run of characters ends where it must end: what
// may follow it begins with none of its characters. Only then taking as many as
// there are is what the expression means. next is what follows the steps.
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

// stops reports whether no way to go on from rest begins with a character of
// the run.
func stops(r *run, rest []step) bool {
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
	return true // anything may follow
}

// match holds the places of the groups of a match: two for each, -1 for a
// group that is not in it. Of the whole match it does not tell.
type match []int

// newMatch returns room for the groups of the pattern, in buf if that is large
// enough.
func (p *pattern) newMatch(buf []int) match {
	n := 2 * len(p.names)
	if n > len(buf) {
		return make(match, n)
	}
	return buf[:n]
}

// find matches the pattern and fills m, which may be nil.
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

// maxBegins is from how many places of a text a pattern is walked: each may lead to the
// end of it, where the general machine goes through a text once.
const maxBegins = 8

// search walks the steps from where the first of them, a literal, stands. It is not sure
// of a text that holds that very often.
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

// reset takes back all groups.
func (m match) reset() {
	for i := range m {
		m[i] = -1
	}
}

// walk matches the steps, and then next, from position at of the text.
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

// runLen is how many bytes of the run a text begins with.
func runLen[T string | []byte](r *run, text T) int {
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

// forget takes back the groups of steps that led nowhere.
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

// group returns what a group matched, "" if it is not in the match.
func (m match) group(text string, i int) string {
	if m[2*i] < 0 || m[2*i+1] < 0 {
		return ""
	}
	return text[m[2*i]:m[2*i+1]]
}
