package query

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/internal/spell"
)

// Unknown returns the metric names in an expression that no series has, each with the most similar
// existing names. It returns nil for an invalid expression.
func (s *Store) Unknown(expr string) map[string][]string {
	names, err := MetricNames(expr)
	if err != nil {
		return nil
	}
	out := map[string][]string{}
	for _, n := range names {
		if !s.Has(n) {
			out[n] = s.Nearest(n)
		}
	}
	return out
}

// Nearest returns up to three metric names spelled like name, most similar first.
func (s *Store) Nearest(name string) []string {
	type near struct {
		name string
		d    int
	}
	var all []near
	for n := range s.byName {
		d := spell.Distance(name, n)
		if strings.Contains(n, name) || strings.Contains(name, n) {
			d = min(d, len(name)/3)
		}
		if d <= max(2, len(name)/3) {
			all = append(all, near{n, d})
		}
	}
	slices.SortFunc(all, func(a, b near) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.name, b.name)) })
	var out []string
	for _, n := range all[:min(len(all), 3)] {
		out = append(out, n.name)
	}
	return out
}
