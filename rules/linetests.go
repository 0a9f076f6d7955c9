package rules

import (
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// lineTests answers what clauses test of the text of a line. That has to be
// unpacked, or read from its file, and clauses of several causes ask for the lines
// of one time: all their tests are made when one of them asks for the first.
type lineTests struct {
	clauses []*Clause                    // that test the texts of lines
	of      map[*parse.SigSet][]*Clause  // those that want lines with these signatures
	passed  map[*parse.Event]passedTests // of lines that were looked at
	text    []byte                       // of the line at hand
}

// passedTests has a bit for each clause that wants a line, as many as there is
// room for: set if the line passed.
type passedTests uint64

const mostTests = 64

// newLineTests returns the tests of causes that are judged by the same view.
func newLineTests(causes []*Def) lineTests {
	t := lineTests{clauses: []*Clause{mayBeStored}, of: map[*parse.SigSet][]*Clause{}, passed: map[*parse.Event]passedTests{}}
	for c := range clausesOf(causes...) {
		if len(c.Sigs) > 0 && c.testsText() {
			t.clauses = append(t.clauses, c)
		}
	}
	return t
}

// pass reports whether a line passes the clause's tests of its text.
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

// read returns the raw line. It is good until the next call.
func (t *lineTests) read(e *parse.Event) []byte {
	t.text = e.AppendQuote(t.text[:0])
	return t.text
}

// wanting returns the clauses that want lines with a set of signatures.
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

// passes makes the clause's tests of a text.
func (c *Clause) passes(text []byte) bool {
	return (c.Text == nil || c.Text.Match(text)) && (c.Unless == nil || !c.Unless.Match(text))
}
