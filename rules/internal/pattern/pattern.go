// Package pattern matches the regular expressions of rules against many short texts. Most
// expressions require some literal, so a literal search rejects most texts before the
// expression itself is compiled or run.
package pattern

import (
	"bytes"
	"cmp"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/plegforensics/plegforensics/parse/logs"
)

// Pattern is a regular expression, split into its top-level alternatives. Most alternatives
// require some literals, or consist of them. Searching for those is many times faster than
// running the expression, and most texts contain none. A Pattern is safe for concurrent
// use.
type Pattern struct {
	expr     string
	parse    sync.Once
	branches []branch
	folded   bool // literals are in lower case, and the text must be lowered before searching
}

// branch is one top-level alternative of an expression.
type branch struct {
	expr    string
	needs   [][]literal // every matching text contains a literal of each set
	compile sync.Once
	re      *regexp.Regexp // compiled on first use; see machine
}

// literal is a text that a match may require.
type literal struct {
	text  string
	bytes []byte // the same as text
	whole bool   // every text that contains it matches
}

// Parse returns the pattern of a regular expression in RE2 syntax. It fails if the
// expression is invalid or too expensive (logs.Affordable).
func Parse(expr string) (*Pattern, error) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err == nil {
		err = logs.Affordable(tree)
	}
	if err != nil {
		return nil, err
	}
	p := &Pattern{expr: expr}
	p.parse.Do(func() { p.divide(tree) })
	return p, nil
}

// Lazy is like Parse for an expression known to be valid. It is parsed on first use; most
// never are. An invalid one never matches.
func Lazy(expr string) *Pattern { return &Pattern{expr: expr} }

// alternatives returns the branches, parsing the expression on first use.
func (p *Pattern) alternatives() []branch {
	p.parse.Do(func() {
		if tree, err := syntax.Parse(p.expr, syntax.Perl); err == nil {
			p.divide(tree)
		}
	})
	return p.branches
}

func (p *Pattern) divide(tree *syntax.Regexp) {
	p.folded = folds(tree)
	closed := !p.folded || closed(tree)
	all := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpAlternate {
		all = tree.Sub
	}
	p.branches = make([]branch, len(all))
	for i, sub := range all {
		p.branches[i] = branch{expr: sub.String(), needs: allNeeds(sub, p.folded)}
		for _, set := range p.branches[i].needs {
			for k := range set {
				set[k].bytes, set[k].whole = []byte(set[k].text), set[k].whole && closed
			}
		}
	}
}

// machine returns the compiled expression of the branch.
func (b *branch) machine() *regexp.Regexp {
	b.compile.Do(func() { b.re = regexp.MustCompile(b.expr) })
	return b.re
}

// String returns the expression.
func (p *Pattern) String() string { return p.expr }

// MatchString reports whether text contains a match.
func (p *Pattern) MatchString(text string) bool {
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	*room = append((*room)[:0], text...)
	return p.Match(*room)
}

// rooms holds the text of MatchString, which package regexp takes to the heap.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// Match reports whether text contains a match.
func (p *Pattern) Match(text []byte) bool {
	branches, in, odd := p.alternatives(), text, false
	if p.folded {
		var room [512]byte
		in = appendLower(room[:0], text)
		odd = bytes.Contains(text, []byte("\u017f")) || bytes.Contains(text, []byte("\u212a")) // long s and Kelvin sign: they fold to s and k but are not ASCII
	}
	for i := range branches {
		b := &branches[i]
		if may, does := b.may(in); does || (may || odd) && b.machine().Match(text) {
			return true
		}
	}
	return false
}

// may reports whether text has the literals that a match requires, and whether they alone
// make it a match.
func (b *branch) may(text []byte) (may, does bool) {
	for _, set := range b.needs {
		i := slices.IndexFunc(set, func(l literal) bool { return bytes.Contains(text, l.bytes) })
		if i < 0 {
			return false, false
		}
		if set[i].whole {
			return true, true
		}
	}
	return true, false
}

// appendLower appends text with its ASCII letters in lower case.
func appendLower(dst, text []byte) []byte {
	for _, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// folds reports whether the expression contains a case-insensitive literal of more than one
// character.
func folds(tree *syntax.Regexp) bool {
	return tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase != 0 && len(tree.Rune) > 1 || slices.ContainsFunc(tree.Sub, folds)
}

// closed reports whether every letter of the expression matches in any case.
func closed(tree *syntax.Regexp) bool {
	switch tree.Op {
	case syntax.OpLiteral:
		if tree.Flags&syntax.FoldCase == 0 && slices.ContainsFunc(tree.Rune, unicode.IsLetter) {
			return false
		}
	case syntax.OpCharClass:
		for _, c := range members(tree.Rune) {
			r, _ := utf8.DecodeRuneInString(c)
			if slices.ContainsFunc(cases(r), func(other string) bool { return !slices.Contains(members(tree.Rune), other) }) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(tree.Sub, func(sub *syntax.Regexp) bool { return !closed(sub) })
}

// Limits for literals: more or shorter ones would not save time.
const (
	mostNeeds  = 40
	leastBytes = 3
)

// allNeeds returns sets of literals such that every match contains at least one of each
// set. If folded, the literals are in lower case and apply to the lowered text; likewise
// below.
func allNeeds(tree *syntax.Regexp, folded bool) (sets [][]literal) {
	if exact := spelled(tree, folded); useful(exact) {
		return [][]literal{literals(exact, true)}
	}
	if tree.Op == syntax.OpConcat {
		for _, set := range needsOfRow(tree.Sub, folded) {
			sets = append(sets, literals(set, false))
		}
	} else if set := needs(tree, folded); set != nil {
		sets = append(sets, literals(set, false))
	}
	return sets
}

func literals(texts []string, whole bool) (out []literal) {
	for _, t := range texts {
		out = append(out, literal{text: t, whole: whole})
	}
	return out
}

// needs returns literals of which every match contains at least one, or nil.
func needs(tree *syntax.Regexp, folded bool) (best []string) {
	if exact := spelled(tree, folded); useful(exact) {
		return exact
	}
	switch tree.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return needs(tree.Sub[0], folded)
	case syntax.OpRepeat:
		if tree.Min > 0 {
			return needs(tree.Sub[0], folded)
		}
	case syntax.OpAlternate:
		for _, sub := range tree.Sub {
			l := needs(sub, folded)
			if l == nil || len(best)+len(l) > mostNeeds {
				return nil
			}
			best = append(best, l...)
		}
	case syntax.OpConcat:
		for _, set := range needsOfRow(tree.Sub, folded) {
			if shortest(set) > shortest(best) {
				best = set
			}
		}
	}
	return best
}

// needsOfRow returns the sets of literals that a concatenation requires: those of single
// elements, and what adjacent elements spell together.
func needsOfRow(row []*syntax.Regexp, folded bool) (sets [][]string) {
	add := func(set []string) {
		if useful(set) {
			sets = append(sets, set)
		}
	}
	run := []string{""}
	for _, sub := range row {
		next := product(run, spelled(sub, folded))
		if next == nil {
			add(run)
			add(needs(sub, folded))
			if next = spelled(sub, folded); next == nil {
				next = []string{""}
			}
		}
		run = next
	}
	add(run)
	return sets
}

// spelled returns all texts that an expression matches, or nil if it is not a small finite
// set.
func spelled(tree *syntax.Regexp, folded bool) []string {
	switch tree.Op {
	case syntax.OpEmptyMatch:
		return []string{""}
	case syntax.OpLiteral:
		switch {
		case slices.Contains(tree.Rune, utf8.RuneError): // regexp also matches invalid UTF-8 with it
		case folded:
			return lower([]string{string(tree.Rune)})
		case tree.Flags&syntax.FoldCase == 0:
			return []string{string(tree.Rune)}
		case len(tree.Rune) == 1:
			return cases(tree.Rune[0])
		}
	case syntax.OpCharClass:
		if folded {
			return lower(members(tree.Rune))
		}
		return members(tree.Rune)
	case syntax.OpCapture:
		return spelled(tree.Sub[0], folded)
	case syntax.OpQuest:
		if s := spelled(tree.Sub[0], folded); s != nil {
			return append([]string{""}, s...)
		}
	case syntax.OpConcat:
		out := []string{""}
		for _, sub := range tree.Sub {
			if out = product(out, spelled(sub, folded)); out == nil {
				return nil
			}
		}
		return out
	case syntax.OpAlternate:
		var out []string
		for _, sub := range tree.Sub {
			s := spelled(sub, folded)
			if s == nil || len(out)+len(s) > mostNeeds {
				return nil
			}
			out = append(out, s...)
		}
		return out
	}
	return nil
}

// lower returns the distinct texts in lower case, without the long s and the Kelvin sign:
// Match runs the expression on texts that contain those. It returns nil if a text has other
// non-ASCII characters, which appendLower does not change.
func lower(texts []string) (out []string) {
	for _, t := range texts {
		if t == "\u017f" || t == "\u212a" {
			continue
		}
		if strings.ContainsFunc(t, func(r rune) bool { return r > unicode.MaxASCII }) {
			return nil
		}
		if t = strings.ToLower(t); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// members lists the characters of a class, given as ranges, or returns nil if there are
// more than four.
func members(ranges []rune) (out []string) {
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(out) == 4 || !utf8.ValidRune(r) || r == utf8.RuneError {
				return nil
			}
			out = append(out, string(r))
		}
	}
	return out
}

// cases returns a letter in all its cases.
func cases(r rune) []string {
	out := []string{string(r)}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		out = append(out, string(f))
	}
	return out
}

// product returns every concatenation of one of a and one of b, or nil if either is empty
// or there would be too many.
func product(a, b []string) (out []string) {
	if len(a)*len(b) > mostNeeds {
		return nil
	}
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}

func shortest(lits []string) int {
	if len(lits) == 0 {
		return 0
	}
	return len(slices.MinFunc(lits, func(a, b string) int { return cmp.Compare(len(a), len(b)) }))
}

func useful(lits []string) bool { return shortest(lits) >= leastBytes }
