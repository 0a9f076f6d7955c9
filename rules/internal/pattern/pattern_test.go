package pattern

import (
	"regexp"
	"strings"
	"testing"
)

func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		expr  string
		needs string // literals of a set joined by |, sets by &, branches by or; ! marks a literal that is a match by itself
	}{
		{"DeadlineExceeded", "DeadlineExceeded!"},
		{"DeadlineExceeded|timeout|timed out", "DeadlineExceeded! or timeout!|timed out!"},
		{"error reserving (ctr|pod) name", "error reserving ctr name!|error reserving pod name!"},
		{"ResourceExhausted.*grpc: (received|sent)", "ResourceExhausted & grpc: received|grpc: sent"},
		{"[Nn]o such time-?out", "No such timeout!|No such time-out!|no such timeout!|no such time-out!"},
		{"^exit$", "exit"},
		{`:(6443|443|10250)\b`, ":6443|:443|:10250"},
		{"(?i)memory", "memory!"},
		{"(?i)deadline ?exceeded|time[ d]?out|code = 4\\b", "deadlineexceeded!|deadline exceeded! or timeout!|time out!|timedout! or code = 4"},
		{"(?i)memory|(?-i:CODE)", "memory or code"},
		{"(?i)mémoire", ""},
		{"abcd|", "abcd! or "},
		{"(abcd)?", ""},
		{"(abcd)+", "abcd"},
		{"(abcd){0,2}", ""},
		{"ab", ""},
		{"a\uFFFDcd", ""},
		{"", ""},
	} {
		p, err := Parse(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		var branches []string
		for i := range p.branches {
			var sets []string
			for _, set := range p.branches[i].needs {
				var lits []string
				for _, l := range set {
					if l.whole {
						l.text += "!"
					}
					lits = append(lits, l.text)
				}
				sets = append(sets, strings.Join(lits, "|"))
			}
			branches = append(branches, strings.Join(sets, " & "))
		}
		if got := strings.Join(branches, " or "); got != c.needs {
			t.Errorf("%q needs %q; want %q", c.expr, got, c.needs)
		}
	}
}

// TestMatchBytes compares Match with package regexp.
func TestMatchBytes(t *testing.T) {
	texts := []string{" ", "DeadlineExceeded context deadline", "operation timeout", "an operation timeout of 2m", "operation  timeout", "Unknown operation timeout", "Canceled ", "operation ",
		"TIMED OUT", "Timed_out", "time\u017ftamp: da\u017ftamp", "DAR\u212a", "dark", "DARK", "CODE", "code", "Mémoire", "MÉMOIRE", "a time-out of " + strings.Repeat("x", 600) + "Request Canceled"}
	for _, expr := range []string{"(?i)timed[ _]?out|canceled", "(?i)stamp", "(?i)dark|(?-i:CODE)", "(?i)mémoire", "(?i)[dk]ark", "(?i)t[aA]mp", "(?i)ti(?-i:[mM])e", "(?i)request canceled$", "DeadlineExceeded|operation timeout|Canceled", "^$", "^Canceled $", "n t", "operation time.*", "Unknown op"} {
		p, err := Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range texts {
			if got, want := p.Match([]byte(x)), regexp.MustCompile(expr).MatchString(x); got != want {
				t.Errorf("%q on %q: %v, want %v", expr, x, got, want)
			}
		}
	}
}
