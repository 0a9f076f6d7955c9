package logs

import (
	"regexp"
	"regexp/syntax"
	"sync"
)

// Regexp is a regular expression of a signature. It is compiled when it is first
// needed: most never are, and to compile all would be much of what a start costs.
type Regexp struct {
	expr string
	tree *syntax.Regexp
	get  func() *regexp.Regexp
}

// NewRegexp parses an expression, and tells what is wrong with it.
func NewRegexp(expr string) (*Regexp, error) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	return &Regexp{expr, tree, onDemand(expr)}, nil
}

// onDemand returns an expression that is compiled when it is first asked for.
func onDemand(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// String returns the expression.
func (r *Regexp) String() string { return r.expr }

// SubexpNames returns the names of the groups, "" for the whole match.
func (r *Regexp) SubexpNames() []string { return r.tree.CapNames() }
