package rules

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/plegforensics/plegforensics/parse/logs"
)

// Pattern is a regular expression of a rule. Many need one of a few literals to
// match, or nothing else: looking for those is many times faster than the
// expression itself, and most texts have none.
type Pattern struct {
	expr  string
	parse sync.Once
	needs []string // one of them stands in every text that matches; nil: not known
	bytes [][]byte // the same
	whole bool     // every text that has one of them matches

	compile sync.Once
	re      *regexp.Regexp // compiled when it is first needed
}

func newPattern(expr string) (*Pattern, error) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err == nil {
		err = logs.Affordable(tree)
	}
	if err != nil {
		return nil, err
	}
	p := &Pattern{expr: expr}
	p.parse.Do(func() { p.need(tree) })
	return p, nil
}

// rightPattern is newPattern for an expression that a test holds to be right. It is
// parsed when it is first asked: most never are.
func rightPattern(expr string) *Pattern { return &Pattern{expr: expr} }

// literals returns needs and whole.
func (p *Pattern) literals() ([]string, bool) {
	p.parse.Do(func() {
		if tree, err := syntax.Parse(p.expr, syntax.Perl); err == nil {
			p.need(tree)
		}
	})
	return p.needs, p.whole
}

func (p *Pattern) need(tree *syntax.Regexp) {
	p.needs, p.whole = needs(tree)
	for _, s := range p.needs {
		p.bytes = append(p.bytes, []byte(s))
	}
}

// machine returns the expression, compiled.
func (p *Pattern) machine() *regexp.Regexp {
	p.compile.Do(func() { p.re = regexp.MustCompile(p.expr) })
	return p.re
}

// String returns the expression.
func (p *Pattern) String() string { return p.expr }

// MatchString reports whether the text holds a match.
func (p *Pattern) MatchString(text string) bool {
	if needs, whole := p.literals(); needs != nil {
		if !slices.ContainsFunc(needs, func(s string) bool { return strings.Contains(text, s) }) {
			return false
		}
		if whole {
			return true
		}
	}
	return p.machine().MatchString(text)
}

// match reports whether the text holds a match.
func (p *Pattern) match(text []byte) bool {
	if needs, whole := p.literals(); needs != nil {
		if !slices.ContainsFunc(p.bytes, func(s []byte) bool { return bytes.Contains(text, s) }) {
			return false
		}
		if whole {
			return true
		}
	}
	return p.machine().Match(text)
}

// Bounds of the literals that are looked for: more of them or shorter ones would
// not save time.
const (
	mostNeeds  = 40
	leastBytes = 3
)

// needs returns literals one of which stands in every match, nil if there are no
// such, and whether one of them is a match by itself.
func needs(tree *syntax.Regexp) (lits []string, whole bool) {
	if exact := spelled(tree); useful(exact) {
		return exact, true
	}
	switch tree.Op {
	case syntax.OpCapture, syntax.OpPlus:
		lits, _ = needs(tree.Sub[0])
	case syntax.OpRepeat:
		if tree.Min > 0 {
			lits, _ = needs(tree.Sub[0])
		}
	case syntax.OpAlternate:
		whole = true
		for _, sub := range tree.Sub {
			l, w := needs(sub)
			if l == nil {
				return nil, false
			}
			lits, whole = append(lits, l...), whole && w
		}
		if len(lits) > mostNeeds {
			return nil, false
		}
		return lits, whole
	case syntax.OpConcat:
		lits = needsOfRow(tree.Sub)
	}
	return lits, false
}

// needsOfRow returns the longest literals that elements in a row need: those of
// one of them, or what several that stand side by side spell.
func needsOfRow(row []*syntax.Regexp) (best []string) {
	better := func(l []string) {
		if useful(l) && shortest(l) > shortest(best) {
			best = l
		}
	}
	run := []string{""}
	for _, sub := range row {
		next := product(run, spelled(sub))
		if next == nil {
			better(run)
			l, _ := needs(sub)
			better(l)
			if next = spelled(sub); next == nil {
				next = []string{""}
			}
		}
		run = next
	}
	better(run)
	return best
}

// spelled returns all texts that an expression matches, where they are few.
func spelled(tree *syntax.Regexp) []string {
	switch tree.Op {
	case syntax.OpEmptyMatch:
		return []string{""}
	case syntax.OpLiteral:
		switch {
		case slices.Contains(tree.Rune, utf8.RuneError): // the machine takes bytes that are no text for it
		case tree.Flags&syntax.FoldCase == 0:
			return []string{string(tree.Rune)}
		case len(tree.Rune) == 1:
			return cases(tree.Rune[0])
		}
	case syntax.OpCharClass:
		return members(tree.Rune)
	case syntax.OpCapture:
		return spelled(tree.Sub[0])
	case syntax.OpQuest:
		if s := spelled(tree.Sub[0]); s != nil {
			return append([]string{""}, s...)
		}
	case syntax.OpConcat:
		out := []string{""}
		for _, sub := range tree.Sub {
			if out = product(out, spelled(sub)); out == nil {
				return nil
			}
		}
		return out
	case syntax.OpAlternate:
		var out []string
		for _, sub := range tree.Sub {
			s := spelled(sub)
			if s == nil || len(out)+len(s) > mostNeeds {
				return nil
			}
			out = append(out, s...)
		}
		return out
	}
	return nil
}

// members lists the characters of a small class, given as ranges.
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

// cases lists a letter in all its cases.
func cases(r rune) []string {
	out := []string{string(r)}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		out = append(out, string(f))
	}
	return out
}

// product joins each of a with each of b; nil if either is or there are too many.
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
	least := 0
	for i, l := range lits {
		if i == 0 || len(l) < least {
			least = len(l)
		}
	}
	return least
}

func useful(lits []string) bool { return shortest(lits) >= leastBytes }
