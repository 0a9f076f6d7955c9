package rules

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/rules/internal/pattern"
)

// TestPatterns compares the patterns of all built-in causes with package regexp on all
// lines of their test cases.
func TestPatterns(t *testing.T) {
	pack, _ := Builtin()
	var lines []string
	var patterns []*pattern.Pattern
	for _, d := range pack.Causes {
		for _, c := range d.Tests {
			for _, f := range c.Files {
				lines = append(lines, strings.Split(f.Text, "\n")...)
			}
		}
		for _, c := range slices.Concat(d.For, d.Against) {
			patterns = append(patterns, c.Text, c.Unless)
			for _, w := range c.Where {
				patterns = append(patterns, w.Re)
			}
			if p, err := pattern.Parse(c.Args["code"]); err == nil {
				patterns = append(patterns, p)
			}
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	for _, p := range patterns {
		if p == nil {
			continue
		}
		re := regexp.MustCompile(p.String())
		for _, l := range lines {
			if want := re.MatchString(l); p.MatchString(l) != want {
				t.Errorf("pattern %q: %v for %q", p, !want, l)
			}
		}
	}
}
