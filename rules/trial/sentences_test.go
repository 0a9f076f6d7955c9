package trial

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/plegforensics/plegforensics/parse/logs"
	"github.com/plegforensics/plegforensics/rules"
)

// unsaid is what no sentence of a report may hold: a variable that was not filled,
// the mark of an alternative, something pointed at that was never named.
var unsaid = regexp.MustCompile(`\{[a-z_]+\}|^or: |(?i)\b(?:that|this|the said) (?:container|pod|sandbox|shim|runc|mount|device)\b|\(\)|  `)

// printed are all sentences of a cause.
func printed(c *rules.Cause) []string {
	out := slices.Concat([]string{c.Title, c.Explanation}, c.Remediation, c.Path, c.Missing)
	for _, e := range slices.Concat(c.For, c.Against) {
		out = append(out, e.Note)
	}
	return out
}

// TestSentences reads every sentence that the test cases of the causes print.
func TestSentences(t *testing.T) {
	pack, problems := rules.Builtin()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	set := logs.Builtin()
	read := 0
	for _, d := range pack.Causes {
		for i := range d.Tests {
			for _, c := range Eval(&d.Tests[i], pack, set) {
				for _, s := range printed(&c) {
					read++
					if bad := unsaid.FindString(s); bad != "" {
						t.Errorf("%s, case %q: %s says %q: %q", d.ID, d.Tests[i].Name, c.ID, s, bad)
					}
				}
			}
		}
	}
	if read < 1000 {
		t.Errorf("only %d sentences read", read)
	}
}

// TestStaticSentences holds the sentences that stand in the definitions to the same,
// whether or not a test case prints them.
func TestStaticSentences(t *testing.T) {
	pack, _ := rules.Builtin()
	pointing := regexp.MustCompile(`(?i)\b(?:that|this) (?:container|pod|sandbox|shim|runc)\b`)
	for _, d := range pack.Causes {
		texts := slices.Concat([]string{d.Title}, d.Explanation, d.Remediation)
		for _, c := range slices.Concat(d.For, d.Against) {
			texts = append(texts, c.Say)
		}
		for _, s := range texts {
			if bad := pointing.FindString(s); bad != "" {
				t.Errorf("%s says %q, and names none: %q", d.ID, s, bad)
			}
		}
	}
}

// TestSampleSentences reads the reports of the samples.
func TestSampleSentences(t *testing.T) {
	names, err := filepath.Glob("../../samples/want/*/report.json")
	if err != nil || len(names) == 0 {
		t.Fatal("no samples", err)
	}
	hole := regexp.MustCompile(`"(?:note|summary|explanation|title)": "[^"]*(?:\{[a-z_]+\}|\bor: )`)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bad := hole.Find(data); bad != nil {
			t.Errorf("%s: %s", name, bad)
		}
	}
}
