package logs

import (
	"regexp"
	"regexp/syntax"
	"sync"
)

// Regexp is a regular expression of a signature. It is compiled on first use: most
// never are, and compiling all of them would be a large part of the startup time.
type Regexp struct {
	expr string

	parse   sync.Once
	parsed  *syntax.Regexp
	compile sync.Once
	machine *regexp.Regexp
}

// NewRegexp parses an expression of a user. It returns an error if the expression
// is invalid or too expensive.
func NewRegexp(expr string) (*Regexp, error) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err == nil {
		err = Affordable(tree)
	}
	if err != nil {
		return nil, err
	}
	r := &Regexp{expr: expr}
	r.parse.Do(func() { r.parsed = tree })
	return r, nil
}

// rightRegexp is NewRegexp for an expression that a test proves valid. It is not
// even parsed before it is needed.
func rightRegexp(expr string) *Regexp { return &Regexp{expr: expr} }

// tree returns the parsed expression.
func (r *Regexp) tree() *syntax.Regexp {
	r.parse.Do(func() {
		tree, err := syntax.Parse(r.expr, syntax.Perl)
		if err != nil {
			panic("embedded signatures: " + err.Error())
		}
		r.parsed = tree
	})
	return r.parsed
}

// get returns the compiled expression.
func (r *Regexp) get() *regexp.Regexp {
	r.compile.Do(func() { r.machine = regexp.MustCompile(r.expr) })
	return r.machine
}

// onDemand returns a function that returns the expression, compiled on first use.
func onDemand(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// String returns the source text of the expression.
func (r *Regexp) String() string { return r.expr }

// SubexpNames returns the names of the groups, "" for the whole match.
func (r *Regexp) SubexpNames() []string { return r.tree().CapNames() }
