package rules

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plegforensics/plegforensics/parse"
)

func (r *reader) def(n *yaml.Node) *Def {
	d := &Def{Place: r.place(n), Kind: KindCause, Scope: ScopeEpisode, Prior: priors[1].P}
	r.mapping(n, "a cause", fields{
		"id":          r.str(&d.ID),
		"title":       r.str(&d.Title),
		"kind":        r.word(func(s string) { d.Kind = Kind(s) }, string(KindCause), string(KindLookAlike)),
		"scope":       r.word(func(s string) { d.Scope = Scope(s) }, string(ScopeEpisode), string(ScopeNode), string(ScopeBreach)),
		"grade":       r.word(func(s string) { d.Grade = s }, "A", "B", "C", "D"),
		"prior":       r.prior(d),
		"phase":       r.phases(d),
		"affects":     func(n *yaml.Node) { r.affects(n, &d.Affects) },
		"mechanism":   r.str(&d.Mechanism),
		"impact":      r.str(&d.Impact),
		"for":         r.clauses(&d.For),
		"against":     r.clauses(&d.Against),
		"explains":    r.strs(&d.Explains),
		"missing":     r.missing(d),
		"diagnosis":   r.strs(&d.Diagnosis),
		"remediation": r.strs(&d.Remediation),
		"references":  r.strs(&d.References),
		"explanation": r.strs(&d.Explanation),
		"tests":       r.tests(d),
	})
	return d
}

func (r *reader) prior(d *Def) func(*yaml.Node) {
	words := make([]string, len(priors))
	for i, p := range priors {
		words[i] = p.Word
	}
	return r.word(func(s string) {
		for _, p := range priors {
			if p.Word == s {
				d.Prior = p.P
			}
		}
	}, words...)
}

func (r *reader) phases(d *Def) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.list(n, func(c *yaml.Node) {
			r.word(func(s string) { d.Phase = append(d.Phase, s) }, "list", "inspect", "deliver")(c)
		})
	}
}

func (r *reader) affects(n *yaml.Node, a *Affects) {
	r.mapping(n, "affects", fields{
		"kubelet":  r.versions(&a.Kubelet),
		"kernel":   r.versions(&a.Kernel),
		"runtimes": r.strs(&a.Runtimes),
		"os":       r.word(func(s string) { a.OS = s }, "linux", "windows"),
		"text":     r.str(&a.Text),
	})
}

func (r *reader) versions(p *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		*p = n.Value
		if _, ok := parseRange(n.Value); !ok {
			r.bad(n, "", "%q is not a version range such as \">=1.6 <1.14\"", n.Value)
		}
	}
}

func (r *reader) missing(d *Def) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.list(n, func(c *yaml.Node) {
			var m Missing
			r.mapping(c, "missing", fields{"lacks": r.strs(&m.Lacks), "ask": r.str(&m.Text), "run": r.str(&m.Run)})
			d.Missing = append(d.Missing, m)
		})
	}
}

func (r *reader) clauses(p *[]*Clause) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.list(n, func(c *yaml.Node) { *p = append(*p, r.clause(c)) })
	}
}

func (r *reader) clause(n *yaml.Node) *Clause {
	c := &Clause{Place: r.place(n), Min: 1, Late: -1}
	var looks []string
	known := len(r.probs)
	r.mapping(n, "a piece of evidence", fields{
		"sig":     r.strs(&c.Sigs),
		"fact":    r.str(&c.Fact),
		"metric":  r.str(&c.Metric),
		"labels":  r.texts(&c.Labels),
		"cond":    r.condition(c),
		"args":    r.texts(&c.Args),
		"where":   r.where(c),
		"text":    r.regex(&c.Text),
		"unless":  r.regex(&c.Unless),
		"num":     r.num(&c.Num),
		"reduce":  r.word(func(s string) { c.Reduce = s }, "last", "max", "increase", "rate"),
		"min":     r.count(&c.Min),
		"span":    r.dur(&c.Span),
		"weight":  r.weight(c),
		"core":    r.flag(&c.Core),
		"proof":   r.flag(&c.Proof),
		"absent":  r.flag(&c.Absent),
		"anytime": r.flag(&c.Any),
		"repeat":  r.flag(&c.Repeat),
		"late":    r.dur(&c.Late),
		"source":  r.str(&c.Source),
		"say":     r.str(&c.Say),
		"looks":   r.strs(&looks),
	})
	for _, s := range looks {
		c.Looks = append(c.Looks, parse.Source(s))
	}
	if len(r.probs) == known {
		r.oneTarget(n, c)
	}
	return c
}

func (r *reader) oneTarget(n *yaml.Node, c *Clause) {
	targets := 0
	for _, has := range []bool{len(c.Sigs) > 0, c.Fact != "", c.Metric != "", c.Cond != ""} {
		if has {
			targets++
		}
	}
	if targets != 1 {
		r.bad(n, "", "evidence needs exactly one of sig, fact, metric, cond")
	}
	if c.Word == "" {
		r.bad(n, "", "evidence needs a weight")
	}
	if c.Metric != "" && c.Num == nil {
		r.bad(n, "", "a metric needs num, such as \"> 0.5\"")
	}
}

func (r *reader) weight(c *Clause) func(*yaml.Node) {
	words := make([]string, len(weights))
	for i, w := range weights {
		words[i] = w.Word
	}
	return r.word(func(s string) {
		c.Word = s
		for _, w := range weights {
			if w.Word == s {
				c.Weight = w.W
			}
		}
	}, words...)
}

func (r *reader) condition(c *Clause) func(*yaml.Node) {
	return func(n *yaml.Node) {
		c.Cond = n.Value
		if conditionByName(n.Value) == nil {
			r.bad(n, nearest(n.Value, ConditionNames()), "unknown condition %q", n.Value)
		}
	}
}

// where reads field tests: a comparison when the value looks like one, else a
// regular expression.
func (r *reader) where(c *Clause) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.pairs(n, func(k, v *yaml.Node) {
			t := FieldTest{Name: k.Value, Num: parseNum(v.Value)}
			if t.Num == nil {
				re, err := newPattern(v.Value)
				if err != nil {
					r.bad(v, "", "%v", err)
					return
				}
				t.Re = re
			}
			c.Where = append(c.Where, t)
		})
	}
}

func (r *reader) tests(d *Def) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.list(n, func(c *yaml.Node) { d.Tests = append(d.Tests, r.test(c)) })
	}
}

func (r *reader) test(n *yaml.Node) TestCase {
	t := TestCase{Place: r.place(n), Rank: 1}
	levels := []string{string(Possible), string(Likely), string(Confirmed)}
	r.mapping(n, "a test", fields{
		"name":    r.str(&t.Name),
		"absent":  r.flag(&t.Inverse),
		"rank":    r.count(&t.Rank),
		"level":   r.word(func(s string) { t.Level = s }, levels...),
		"at-most": r.word(func(s string) { t.AtMost = s }, levels...),
		"files": func(n *yaml.Node) {
			r.pairs(n, func(k, v *yaml.Node) { t.Files = append(t.Files, TestFile{k.Value, v.Value}) })
		},
		"facts": func(n *yaml.Node) {
			r.list(n, func(c *yaml.Node) {
				var f TestFact
				r.mapping(c, "a fact", fields{"key": r.str(&f.Key), "value": r.str(&f.Value), "attrs": r.texts(&f.Attrs)})
				t.Facts = append(t.Facts, f)
			})
		},
	})
	return t
}

var goodID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// complete checks what no single field can tell: that nothing is missing.
func (r *reader) complete(d *Def) {
	say := func(format string, args ...any) {
		r.probs = append(r.probs, Problem{d.Place, sprintf(format, args...), ""})
	}
	if !goodID.MatchString(d.ID) {
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
	core, positive, negative := false, false, false
	for _, c := range d.For {
		core = core || c.Core
	}
	for _, t := range d.Tests {
		if t.Inverse || t.AtMost != "" {
			negative = true
		} else {
			positive = true
		}
	}
	if !core {
		say("cause %s has no core evidence, so it could never be named", d.ID)
	}
	if !positive {
		say("cause %s has no positive test case", d.ID)
	}
	if !negative {
		say("cause %s has no negative test case", d.ID)
	}
}

// Check finds what only the whole pack can tell: references to causes that
// nobody defines, and, with the names given, signatures and fact keys that do
// not exist. sigs and facts may be nil to skip those checks; a fact key that
// ends in ".*" stands for its family.
func (p *Pack) Check(sigs, facts []string) []Problem {
	var out []Problem
	ids := make([]string, 0, len(p.Causes))
	for _, d := range p.Causes {
		ids = append(ids, d.ID)
	}
	for _, d := range p.Causes {
		for _, e := range d.Explains {
			if p.byID[e] == nil {
				out = append(out, Problem{d.Place, sprintf("cause %s explains %q, which no file defines", d.ID, e), nearest(e, ids)})
			}
		}
		for _, c := range append(append([]*Clause{}, d.For...), d.Against...) {
			out = append(out, checkClause(c, sigs, facts)...)
		}
	}
	return out
}

func checkClause(c *Clause, sigs, facts []string) []Problem {
	var out []Problem
	for _, s := range c.Sigs {
		if sigs != nil && !contains(sigs, s) {
			out = append(out, Problem{c.Place, sprintf("unknown signature %q", s), nearest(s, sigs)})
		}
	}
	if c.Fact != "" && facts != nil && !factKnown(c.Fact, facts) {
		out = append(out, Problem{c.Place, sprintf("unknown fact key %q", c.Fact), nearest(c.Fact, facts)})
	}
	return out
}

// factKnown compares key families both ways: a clause may name a family, and
// the list of keys may hold families.
func factKnown(key string, all []string) bool {
	for _, k := range all {
		if k == key || familyHas(k, key) || familyHas(key, k) {
			return true
		}
	}
	return false
}

// familyHas reports whether the family "a.b.*" holds key.
func familyHas(family, key string) bool {
	prefix, ok := strings.CutSuffix(family, "*")
	return ok && strings.HasPrefix(key, prefix)
}

func contains(all []string, s string) bool {
	for _, a := range all {
		if a == s {
			return true
		}
	}
	return false
}
