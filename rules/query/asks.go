package query

import (
	"slices"

	"github.com/prometheus/prometheus/model/labels"
)

// Asks is the set of metrics whose series expressions may select.
type Asks struct {
	all   bool
	names map[string]bool
	other [][]*labels.Matcher // of selectors that do not name a single metric
}

// Add adds the metrics selected by an expression. An invalid expression selects nothing.
func (a *Asks) Add(expr string) {
	tree, err := Parser().ParseExpr(expr)
	if err != nil {
		return
	}
	for _, s := range Selectors(tree) {
		var byName []*labels.Matcher
		for _, m := range s.LabelMatchers {
			if m.Name == nameLabel {
				byName = append(byName, m)
			}
		}
		switch {
		case len(byName) == 0:
			a.all = true
		case byName[0].Type == labels.MatchEqual:
			a.Name(byName[0].Value)
		default:
			a.other = append(a.other, byName)
		}
	}
}

// Name adds a metric.
func (a *Asks) Name(name string) {
	if a.names == nil {
		a.names = map[string]bool{}
	}
	a.names[name] = true
}

// All adds every metric.
func (a *Asks) All() { a.all = true }

// Has reports whether some expression may select series of a metric.
func (a Asks) Has(name string) bool {
	return a.all || a.names[name] || slices.ContainsFunc(a.other, func(ms []*labels.Matcher) bool {
		return !slices.ContainsFunc(ms, func(m *labels.Matcher) bool { return !m.Matches(name) })
	})
}
