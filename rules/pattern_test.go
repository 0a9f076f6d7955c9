package rules

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		expr  string
		needs string // joined by |
		whole bool
	}{
		{"DeadlineExceeded", "DeadlineExceeded", true},
		{"DeadlineExceeded|timeout|timed out", "DeadlineExceeded|timeout|timed out", true},
		{"error reserving (ctr|pod) name", "error reserving ctr name|error reserving pod name", true},
		{"ResourceExhausted.*grpc: (received|sent)", "ResourceExhausted", false},
		{"[Nn]o such time-?out", "No such timeout|No such time-out|no such timeout|no such time-out", true},
		{"^exit$", "exit", false},
		{`:(6443|443|10250)\b`, ":6443|:443|:10250", false},
		{"(?i)memory", "", false},
		{"abcd|", "", false},
		{"(abcd)?", "", false},
		{"(abcd)+", "abcd", false},
		{"(abcd){0,2}", "", false},
		{"ab", "", false},
		{"a\uFFFDcd", "", false},
		{"", "", false},
	} {
		p, err := newPattern(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.needs, "|"); got != c.needs || p.whole != c.whole {
			t.Errorf("%q needs %q, whole %v; want %q, %v", c.expr, got, p.whole, c.needs, c.whole)
		}
	}
}

// TestPatterns holds the patterns of all built-in causes to what the regular
// expression says of all lines of their test cases.
func TestPatterns(t *testing.T) {
	pack, _ := Builtin()
	var lines []string
	var patterns []*Pattern
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
			if p, err := newPattern(c.Args["code"]); err == nil {
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

// TestMatchBytes wants bytes to match as the string of them does.
func TestMatchBytes(t *testing.T) {
	texts := []string{" ", "DeadlineExceeded context deadline", "operation timeout", "an operation timeout of 2m", "operation  timeout", "Unknown operation timeout", "Canceled ", "operation "}
	for _, expr := range []string{"DeadlineExceeded|operation timeout|Canceled", "^$", "^Canceled $", "n t", "operation time.*", "Unknown op"} {
		p, err := newPattern(expr)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range texts {
			if got, want := p.match([]byte(x)), regexp.MustCompile(expr).MatchString(x); got != want {
				t.Errorf("%q on %q: %v, want %v", expr, x, got, want)
			}
		}
	}
}
