package rules

import (
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// lineTests caches the results of the clauses' tests on the text of lines. The text has to
// be unpacked or read from its file, and clauses of several causes need the same lines, so
// all their tests run when the first is needed.
type lineTests struct {
	clauses []*Clause                    // all clauses that test the text of lines
	of      map[*parse.SigSet][]*Clause  // of these, the ones for lines with the given signatures
	passed  map[*parse.Event]passedTests // cached results
	text    []byte                       // scratch space
}

// passedTests has bit i set if the line passed the i-th of the clauses that apply to it.
type passedTests uint64

const mostTests = 64

// newLineTests returns the tests of causes that are judged with the same view.
func newLineTests(causes []*Def) lineTests {
	t := lineTests{clauses: []*Clause{mayBeStored}, of: map[*parse.SigSet][]*Clause{}, passed: map[*parse.Event]passedTests{}}
	for c := range clausesOf(causes...) {
		if len(c.Sigs) > 0 && c.testsText() {
			t.clauses = append(t.clauses, c)
		}
	}
	return t
}

// pass reports whether the text of a line passes the clause's tests.
func (t *lineTests) pass(c *Clause, e *parse.Event) bool {
	cs := t.wanting(e.Sigs)
	i := slices.Index(cs, c)
	if i < 0 {
		return c.passes(t.read(e))
	}
	p, known := t.passed[e]
	if !known {
		text := t.read(e)
		for i, c := range cs {
			if c.passes(text) {
				p |= 1 << i
			}
		}
		t.passed[e] = p
	}
	return p>>i&1 != 0
}

// read returns the raw line. It is valid until the next call.
func (t *lineTests) read(e *parse.Event) []byte {
	t.text = e.AppendQuote(t.text[:0])
	return t.text
}

// wanting returns up to mostTests clauses that apply to lines with a set of signatures.
func (t *lineTests) wanting(sigs *parse.SigSet) []*Clause {
	cs, known := t.of[sigs]
	if known || t.of == nil {
		return cs
	}
	for _, c := range t.clauses {
		if slices.ContainsFunc(c.Sigs, sigs.Has) && len(cs) < mostTests {
			cs = append(cs, c)
		}
	}
	t.of[sigs] = cs
	return cs
}

// testsText reports whether the clause tests the text of a line.
func (c *Clause) testsText() bool { return c.Text != nil || c.Unless != nil }

// passes reports whether a text passes the clause's tests.
func (c *Clause) passes(text []byte) bool {
	return (c.Text == nil || c.Text.Match(text)) && (c.Unless == nil || !c.Unless.Match(text))
}
