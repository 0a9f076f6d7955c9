package redact

import (
	"strings"
	"testing"
)

// TestEscaped: a name with letters beyond ASCII is the same name in each spelling.
func TestEscaped(t *testing.T) {
	for name, spellings := range map[string][]string{
		"Müller":      {`M\u00fcller`, `M\\u00fcller`, `M\U000000fcller`, `M\xc3\xbcller`, `M\303\274ller`, `M%C3%BCller`},
		"李雷":          {`\u674e\u96f7`, `\xe6\x9d\x8e\xe9\x9b\xb7`, `\\u674e\\u96f7`},
		"你":           {`\344\275\240`, `\u4f60`},
		"Östersund-2": {`\u00d6stersund-2`, `\xc3\x96stersund-2`},
	} {
		r := New(nil)
		r.Learn("lost " + name)
		r.Settle()
		want := r.Text(name)
		for _, s := range spellings {
			for _, around := range []string{" ", "/", `"`, "=", "."} {
				text := "a" + around + s + around + "b"
				r.Learn(text)
				r.Settle()
				if got := r.Text(text); got != "a"+around+want+around+"b" {
					t.Errorf("%q became %q, want %q", text, got, want)
				}
			}
		}
	}
}

// TestCapitals: a name of several words is found again whatever letter it begins with.
func TestCapitals(t *testing.T) {
	for _, name := range []string{"Östersund-prod", "Élan-node-1", "Ωmega-server", "ÉBOARD-server", "Zürich-node", "李-node", "İstanbul-node"} {
		r := New(nil)
		r.learn(Node, name)
		r.Settle()
		for _, s := range []string{name, strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' {
				return c - 'a' + 'A'
			}
			return c
		}, name)} {
			if got := r.Text("lost " + s); got != "lost node-1" {
				t.Errorf("%s: %q", s, got)
			}
		}
	}
}
