package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/internal/nodes"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/rules/internal/pattern"
)

func (r *reader) def(n *nodes.Node) *Def {
	d := &Def{Place: r.place(n), Kind: KindMechanism, Scope: ScopeEpisode, Prior: priors[1].Odds}
	mapping(r, n, "a cause", defKeys, d)
	return d
}

var defKeys = []key[Def]{
	{"id", func(r *reader, n *nodes.Node, d *Def) { r.str(n, &d.ID) }},
	{"title", func(r *reader, n *nodes.Node, d *Def) { r.str(n, &d.Title) }},
	{"kind", func(r *reader, n *nodes.Node, d *Def) {
		r.word(n, func(s string) { d.Kind = Kind(s) }, string(KindMechanism), string(KindSymptom), string(KindLookAlike))
	}},
	{"scope", func(r *reader, n *nodes.Node, d *Def) {
		r.word(n, func(s string) { d.Scope = Scope(s) }, string(ScopeEpisode), string(ScopeNode), string(ScopeBreach))
	}},
	{"grade", func(r *reader, n *nodes.Node, d *Def) { r.word(n, func(s string) { d.Grade = s }, "A", "B", "C", "D") }},
	{"prior", func(r *reader, n *nodes.Node, d *Def) { d.Prior = r.graded(n, priors).Odds }},
	{"standing", func(r *reader, n *nodes.Node, d *Def) { r.flag(n, &d.Standing) }},
	{"phase", func(r *reader, n *nodes.Node, d *Def) {
		r.list(n, func(c *nodes.Node) {
			r.word(c, func(s string) { d.Phase = append(d.Phase, s) }, "list", "inspect", "deliver")
		})
	}},
	{"affects", func(r *reader, n *nodes.Node, d *Def) { mapping(r, n, "affects", affectsKeys, &d.Affects) }},
	{"mechanism", func(r *reader, n *nodes.Node, d *Def) { r.str(n, &d.Mechanism) }},
	{"impact", func(r *reader, n *nodes.Node, d *Def) { r.str(n, &d.Impact) }},
	{"for", func(r *reader, n *nodes.Node, d *Def) { r.clauses(n, &d.For) }},
	{"against", func(r *reader, n *nodes.Node, d *Def) { r.clauses(n, &d.Against) }},
	{"explains", func(r *reader, n *nodes.Node, d *Def) { r.strs(n, &d.Explains) }},
	{"missing", func(r *reader, n *nodes.Node, d *Def) {
		r.list(n, func(c *nodes.Node) { d.Missing = append(d.Missing, r.missing(c)) })
	}},
	{"run", func(r *reader, n *nodes.Node, d *Def) { r.strs(n, &d.Run) }},
	{"diagnosis", func(r *reader, n *nodes.Node, d *Def) { r.strs(n, &d.Diagnosis) }},
	{"remediation", func(r *reader, n *nodes.Node, d *Def) { r.strs(n, &d.Remediation) }},
	{"references", func(r *reader, n *nodes.Node, d *Def) { r.strs(n, &d.References) }},
	{"explanation", func(r *reader, n *nodes.Node, d *Def) { r.strs(n, &d.Explanation) }},
	{"tests", func(r *reader, n *nodes.Node, d *Def) {
		r.list(n, func(c *nodes.Node) {
			t := TestCase{Place: r.place(c), Rank: 1}
			mapping(r, c, "a test", testKeys, &t)
			d.Tests = append(d.Tests, t)
		})
	}},
}

// graded reads a word that maps to log-odds.
func (r *reader) graded(n *nodes.Node, words []graded) (out graded) {
	if i := slices.IndexFunc(words, func(g graded) bool { return g.Word == n.Value }); i >= 0 {
		return words[i]
	}
	r.noWord(n, namesOf(words, func(g graded) string { return g.Word }))
	return out
}

var affectsKeys = []key[Affects]{
	{"kubelet", func(r *reader, n *nodes.Node, a *Affects) { r.versions(n, &a.Kubelet) }},
	{"kernel", func(r *reader, n *nodes.Node, a *Affects) { r.versions(n, &a.Kernel) }},
	{"runtimes", func(r *reader, n *nodes.Node, a *Affects) { r.strs(n, &a.Runtimes) }},
	{"os", func(r *reader, n *nodes.Node, a *Affects) { r.word(n, func(s string) { a.OS = s }, "linux", "windows") }},
	{"text", func(r *reader, n *nodes.Node, a *Affects) { r.str(n, &a.Text) }},
}

func (r *reader) versions(n *nodes.Node, p *string) {
	*p = n.Value
	if _, ok := parseRange(n.Value); !ok {
		r.bad(n, "", "%q is not a version range such as \">=1.6 <1.14\"", n.Value)
	}
}

func (r *reader) missing(n *nodes.Node) (m Missing) {
	mapping(r, n, "missing", missingKeys, &m)
	switch in := LookupInput(m.Need); {
	case in != nil:
		m.Text = strings.ToUpper(in.What[:1]) + in.What[1:]
	case m.Need != "":
		r.bad(n, "", "nothing is called %q that one could need", m.Need)
	case m.Text == "":
		r.bad(n, "", "what is missing has no words: neither need nor ask")
	}
	return m
}

var missingKeys = []key[Missing]{
	{"lacks", func(r *reader, n *nodes.Node, m *Missing) { r.strs(n, &m.Lacks) }},
	{"need", func(r *reader, n *nodes.Node, m *Missing) { r.str(n, &m.Need) }},
	{"ask", func(r *reader, n *nodes.Node, m *Missing) { r.str(n, &m.Text) }},
	{"run", func(r *reader, n *nodes.Node, m *Missing) { r.str(n, &m.Run) }},
}

func (r *reader) clauses(n *nodes.Node, p *[]*Clause) {
	r.list(n, func(c *nodes.Node) { *p = append(*p, r.clause(c)) })
}

func (r *reader) clause(n *nodes.Node) *Clause {
	c := &Clause{Place: r.place(n), Min: 1, Late: -1}
	known := len(r.probs)
	mapping(r, n, "a piece of evidence", clauseKeys, c)
	if len(r.probs) == known {
		r.oneTarget(n, c)
	}
	if c.Absent && len(c.Sigs) > 0 && len(c.Looks) == 0 {
		r.bad(n, "", "a message counts as absent only where its log is there: looks must name it, as in looks: [kernel]")
	}
	return c
}

var clauseKeys = []key[Clause]{
	{"sig", func(r *reader, n *nodes.Node, c *Clause) { r.strs(n, &c.Sigs) }},
	{"fact", func(r *reader, n *nodes.Node, c *Clause) { r.str(n, &c.Fact) }},
	{"metric", func(r *reader, n *nodes.Node, c *Clause) { r.str(n, &c.Metric) }},
	{"labels", func(r *reader, n *nodes.Node, c *Clause) { r.texts(n, &c.Labels) }},
	{"cond", func(r *reader, n *nodes.Node, c *Clause) {
		if c.Cond = n.Value; conditionByName(n.Value) == nil {
			r.bad(n, nearest(n.Value, ConditionNames()), "unknown condition %q", n.Value)
		}
	}},
	{"args", func(r *reader, n *nodes.Node, c *Clause) { r.texts(n, &c.Args) }},
	{"where", func(r *reader, n *nodes.Node, c *Clause) { r.where(n, c) }},
	{"text", func(r *reader, n *nodes.Node, c *Clause) { c.Text = r.pattern(n) }},
	{"unless", func(r *reader, n *nodes.Node, c *Clause) { c.Unless = r.pattern(n) }},
	{"error", func(r *reader, n *nodes.Node, c *Clause) { c.Text = r.errors(n) }},
	{"except", func(r *reader, n *nodes.Node, c *Clause) { c.Unless = r.errors(n) }},
	{"num", func(r *reader, n *nodes.Node, c *Clause) { r.num(n, &c.Num) }},
	{"reduce", func(r *reader, n *nodes.Node, c *Clause) {
		r.word(n, func(s string) { c.Reduce = s }, "last", "max", "increase", "rate")
	}},
	{"min", func(r *reader, n *nodes.Node, c *Clause) { r.count(n, &c.Min) }},
	{"span", func(r *reader, n *nodes.Node, c *Clause) { r.dur(n, &c.Span) }},
	{"weight", func(r *reader, n *nodes.Node, c *Clause) {
		g := r.graded(n, weights)
		c.Word, c.Weight = g.Word, g.Odds
	}},
	{"leads", func(r *reader, n *nodes.Node, c *Clause) {
		r.strs(n, &c.Leads)
		c.Word = "outranked"
	}},
	{"core", func(r *reader, n *nodes.Node, c *Clause) { r.flag(n, &c.Core) }},
	{"proof", func(r *reader, n *nodes.Node, c *Clause) { r.flag(n, &c.Proof) }},
	{"absent", func(r *reader, n *nodes.Node, c *Clause) { r.flag(n, &c.Absent) }},
	{"anytime", func(r *reader, n *nodes.Node, c *Clause) { r.flag(n, &c.Any) }},
	{"repeat", func(r *reader, n *nodes.Node, c *Clause) { r.flag(n, &c.Repeat) }},
	{"symptom", func(r *reader, n *nodes.Node, c *Clause) { r.flag(n, &c.Symptom) }},
	{"late", func(r *reader, n *nodes.Node, c *Clause) { r.dur(n, &c.Late) }},
	{"source", func(r *reader, n *nodes.Node, c *Clause) { r.str(n, &c.Source) }},
	{"say", func(r *reader, n *nodes.Node, c *Clause) { r.str(n, &c.Say) }},
	{"title", func(r *reader, n *nodes.Node, c *Clause) { r.str(n, &c.Title) }},
	{"looks", func(r *reader, n *nodes.Node, c *Clause) {
		var looks []string
		r.strs(n, &looks)
		for _, s := range looks {
			c.Looks = append(c.Looks, parse.Source(s))
		}
	}},
	{"from", func(r *reader, n *nodes.Node, c *Clause) {
		var from []string
		r.strs(n, &from)
		for _, s := range from {
			if !slices.Contains(writers, parse.Source(s)) {
				r.bad(n, "", "%q writes no log", s)
			}
			c.From = append(c.From, parse.Source(s))
		}
	}},
}

// writers are the sources that a line can have as its writer.
var writers = []parse.Source{parse.SrcKubelet, parse.SrcContainerd, parse.SrcDockerd, parse.SrcCRIO, parse.SrcPodman,
	parse.SrcKernel, parse.SrcSystemd, parse.SrcCNI, parse.SrcSystem, parse.SrcKubeEvents}

// errors reads names of error classes and returns a pattern that matches any of them.
func (r *reader) errors(n *nodes.Node) *pattern.Pattern {
	var names []string
	r.strs(n, &names)
	expr, unknown := errorExpr(names)
	if unknown != "" {
		r.bad(n, nearest(unknown, namesOf(errorClasses, func(c errorClass) string { return c.Name })), "unknown error class %q", unknown)
		return nil
	}
	return pattern.Lazy(expr)
}

// unread returns the keys that a clause gives and that evidence of its kind does not read.
func (c *Clause) unread() (keys []string) {
	sig, fact, metric := len(c.Sigs) > 0, c.Fact != "", c.Metric != ""
	for _, k := range []struct {
		key         string
		given, read bool
	}{
		{"where", len(c.Where) > 0, sig || fact}, {"text", c.Text != nil, sig || fact}, {"unless", c.Unless != nil, sig},
		{"num", c.Num != nil, fact || metric}, {"min", c.Min > 1, sig || fact}, {"span", c.Span > 0, sig || fact},
		{"repeat", c.Repeat, sig || fact}, {"labels", len(c.Labels) > 0, metric}, {"reduce", c.Reduce != "", metric}, {"from", len(c.From) > 0, sig},
	} {
		if k.given && !k.read {
			keys = append(keys, k.key)
		}
	}
	return keys
}

// oneTarget checks that a clause has one target, a weight or leads, and valid arguments.
func (r *reader) oneTarget(n *nodes.Node, c *Clause) {
	targets := 0
	for _, has := range []bool{len(c.Sigs) > 0, c.Fact != "", c.Metric != "", c.Cond != ""} {
		if has {
			targets++
		}
	}
	if targets != 1 {
		r.bad(n, "", "evidence needs exactly one of sig, fact, metric, cond")
	}
	switch {
	case c.Word == "":
		r.bad(n, "", "evidence needs a weight")
	case c.Weight > 0 && len(c.Leads) > 0:
		r.bad(n, "", "evidence has a weight, or says what leads; not both")
	}
	if cond := conditionByName(c.Cond); cond != nil && !r.ours {
		for _, msg := range checkArgs(cond, c.Args) {
			r.bad(n, "", "%s", msg)
		}
	} else if cond == nil && len(c.Args) > 0 {
		r.bad(n, "", "args without a condition")
	}
	for _, key := range c.unread() {
		r.bad(n, "", "%s has no effect on this kind of evidence", key)
	}
	if c.Metric != "" && c.Num == nil {
		r.bad(n, "", "a metric needs num, such as \"> 0.5\"")
	}
}

// where reads field tests. A value that looks like a comparison is one; any other is a
// regular expression.
func (r *reader) where(n *nodes.Node, c *Clause) {
	r.pairs(n, func(k, v *nodes.Node) {
		t := FieldTest{Name: k.Value, Num: parseNum(v.Value)}
		if t.Num == nil {
			if t.Re = r.pattern(v); t.Re == nil {
				return
			}
		}
		c.Where = append(c.Where, t)
	})
}

var testKeys = []key[TestCase]{
	{"name", func(r *reader, n *nodes.Node, t *TestCase) { r.str(n, &t.Name) }},
	{"absent", func(r *reader, n *nodes.Node, t *TestCase) { r.flag(n, &t.Inverse) }},
	{"rank", func(r *reader, n *nodes.Node, t *TestCase) { r.count(n, &t.Rank) }},
	{"level", func(r *reader, n *nodes.Node, t *TestCase) { r.level(n, &t.Level) }},
	{"at-most", func(r *reader, n *nodes.Node, t *TestCase) { r.level(n, &t.AtMost) }},
	{"files", func(r *reader, n *nodes.Node, t *TestCase) {
		r.pairs(n, func(k, v *nodes.Node) { t.Files = append(t.Files, TestFile{k.Value, v.Value}) })
	}},
	{"facts", func(r *reader, n *nodes.Node, t *TestCase) {
		r.list(n, func(c *nodes.Node) {
			var f TestFact
			mapping(r, c, "a fact", factKeys, &f)
			t.Facts = append(t.Facts, f)
		})
	}},
}

func (r *reader) level(n *nodes.Node, p *string) {
	r.word(n, func(s string) { *p = s }, string(Possible), string(Likely), string(Confirmed))
}

var factKeys = []key[TestFact]{
	{"key", func(r *reader, n *nodes.Node, f *TestFact) { r.str(n, &f.Key) }},
	{"value", func(r *reader, n *nodes.Node, f *TestFact) { r.str(n, &f.Value) }},
	{"attrs", func(r *reader, n *nodes.Node, f *TestFact) { r.texts(n, &f.Attrs) }},
}

// kebab reports whether an ID is in kebab-case: lower-case letters and digits, with single
// hyphens between words.
func kebab(id string) bool {
	for word := range strings.SplitSeq(id, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return true
}

// complete checks what involves more than one field: that nothing is missing.
func (r *reader) complete(d *Def) {
	say := func(format string, args ...any) {
		r.probs = append(r.probs, Problem{d.Place, fmt.Sprintf(format, args...), ""})
	}
	if !kebab(d.ID) {
		say("id %q is not in kebab-case", d.ID)
	}
	for _, f := range []struct {
		name  string
		empty bool
	}{
		{"title", d.Title == ""}, {"mechanism", d.Mechanism == ""}, {"impact", d.Impact == ""}, {"grade", d.Grade == ""},
		{"for", len(d.For) == 0}, {"remediation", len(d.Remediation) == 0}, {"diagnosis", len(d.Diagnosis) == 0},
		{"explanation", len(d.Explanation) == 0}, {"references", len(d.References) == 0},
	} {
		if f.empty {
			say("cause %s has no %s", d.ID, f.name)
		}
	}
	negative := func(t TestCase) bool { return t.Inverse || t.AtMost != "" }
	if !slices.ContainsFunc(d.For, func(c *Clause) bool { return c.Core }) {
		say("cause %s has no core evidence, so it could never be named", d.ID)
	}
	if !slices.ContainsFunc(d.Tests, func(t TestCase) bool { return !negative(t) }) {
		say("cause %s has no positive test case", d.ID)
	}
	if !slices.ContainsFunc(d.Tests, negative) {
		say("cause %s has no negative test case", d.ID)
	}
}

// Check checks what involves the whole pack: references to undefined causes, unknown
// signatures and fact keys, and user signatures that no cause uses. facts lists the known
// fact keys, where "prefix.*" is a family; nil skips that check.
func (p *Pack) Check(facts []string) (out []Problem) {
	var sigs []string
	for _, s := range append(p.Signatures().Signatures(), p.Own...) {
		sigs = append(sigs, s.ID)
	}
	asked := map[string]bool{} // signatures that causes use
	for c := range clausesOf(p.Causes...) {
		for _, id := range c.asks() {
			asked[id] = true
		}
	}
	for _, s := range p.Own {
		switch {
		case asked[s.ID] && s.Context:
			out = append(out, Problem{Place{s.File, s.Line}, fmt.Sprintf("signature %s is marked as context, and a cause asks for it", s.ID), ""})
		case !asked[s.ID] && !s.Context:
			out = append(out, Problem{Place{s.File, s.Line}, fmt.Sprintf("no cause asks for signature %s: use it in one, or mark it as role: context", s.ID), ""})
		}
	}
	ids := namesOf(p.Causes, func(d *Def) string { return d.ID })
	for _, d := range p.Causes {
		defined := func(at Place, says string, causes []string) {
			for _, id := range causes {
				if p.byID[id] == nil {
					out = append(out, Problem{at, fmt.Sprintf("cause %s %s %q, which no file defines", d.ID, says, id), nearest(id, ids)})
				}
			}
		}
		defined(d.Place, "explains", d.Explains)
		for c := range clausesOf(d) {
			defined(c.Place, "stands behind", c.Leads)
			out = append(out, checkClause(c, sigs, facts)...)
		}
		for _, c := range d.For {
			if len(c.Leads) > 0 {
				out = append(out, Problem{c.Place, fmt.Sprintf("cause %s: what speaks for it cannot say what leads", d.ID), ""})
			}
		}
	}
	return out
}

// asks returns the signatures that a clause uses, directly or as an argument of its
// condition.
func (c *Clause) asks() []string {
	out := slices.Clone(c.Sigs)
	if cond := conditionByName(c.Cond); cond != nil {
		for _, a := range cond.Args {
			if id := c.Args[a.Name]; a.Type.Want == argSig.Want && id != "" {
				out = append(out, id)
			}
		}
	}
	return out
}

func checkClause(c *Clause, sigs, facts []string) (out []Problem) {
	for _, s := range c.asks() {
		if !slices.Contains(sigs, s) {
			out = append(out, Problem{c.Place, fmt.Sprintf("unknown signature %q", s), nearest(s, sigs)})
		}
	}
	// A clause may name a family of facts, and the list of keys may contain families.
	known := func(k string) bool { return k == c.Fact || familyHas(k, c.Fact) || familyHas(c.Fact, k) }
	if c.Fact != "" && facts != nil && !slices.ContainsFunc(facts, known) {
		out = append(out, Problem{c.Place, fmt.Sprintf("unknown fact key %q", c.Fact), nearest(c.Fact, facts)})
	}
	return out
}

// familyHas reports whether the family "a.b.*" contains key.
func familyHas(family, key string) bool {
	prefix, ok := strings.CutSuffix(family, "*")
	return ok && strings.HasPrefix(key, prefix)
}
