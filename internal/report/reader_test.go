package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/rules"
)

// in returns the report in the named format.
func in(t *testing.T, a *Report, format string, opt Options) string {
	t.Helper()
	opt.Width = 100
	var b bytes.Buffer
	if err := Lookup(Formats, format).Write(&b, fill(a), opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOneReason: all formats that say why the node was NotReady agree.
func TestOneReason(t *testing.T) {
	a := fixture("n1", 10)
	a.Nodes[0].Unready[0].Why = "the one reason"
	for _, format := range []string{"text", "json", "csv", "ndjson"} {
		got := in(t, a, format, Options{})
		if !strings.Contains(got, "the one reason") {
			t.Errorf("%s does not say why", format)
		}
	}
}

// TestHealthyHasNoCause: findings on a healthy node are not called its cause, and no action is
// recommended.
func TestHealthyHasNoCause(t *testing.T) {
	a := fixture("n1", 10)
	n := &a.Nodes[0]
	n.Status, n.Episodes = "healthy", nil
	n.LookAlikes[0].ID, n.LookAlikes[0].Kind, n.LookAlikes[0].Explanation = "no-pleg-problem", rules.KindLookAlike, "events show it working"
	n.Causes[0].ID, n.Causes[0].Kind, n.Causes[0].Level, n.Causes[0].Title = "memory-oom-runtime", rules.KindMechanism, rules.Possible, "The OOM killer struck"
	text := in(t, a, "text", Options{})
	for _, want := range []string{"\nProof\n  events show it working\n", "signs of memory-oom-runtime (possible, 87%), though PLEG was well"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, format := range []string{"text", "markdown", "html"} {
		got := in(t, a, format, Options{Verbose: format == "text"})
		if !strings.Contains(got, "Other findings, though PLEG was well") || strings.Contains(got, "robable cause") {
			t.Errorf("%s has a cause of nothing", format)
		}
	}
	if got := in(t, a, "ticket", Options{}); strings.Contains(got, "Do first") || strings.Contains(got, "OOM") {
		t.Error(got)
	}
}

// TestQuotedOnce: a line that proves two causes is quoted with the first only.
func TestQuotedOnce(t *testing.T) {
	a := fixture("n1", 10)
	n := &a.Nodes[0]
	second := n.Causes[0]
	second.ID = "second"
	n.Causes, n.LookAlikes, n.Episodes, n.Failures = append(n.Causes, second), nil, nil, nil
	line := n.Causes[0].For[0].Record.Quote()
	for _, format := range []string{"text", "markdown"} {
		got := in(t, a, format, Options{Verbose: true})
		_, got, _ = strings.Cut(got, "robable causes")
		if got, _, _ = strings.Cut(got, "hat if"); strings.Count(got, line+"\n")+strings.Count(got, "`"+line+"`") > 1 {
			t.Errorf("%s quotes a line twice:\n%s", format, got)
		}
	}
}

// TestClipped: text that does not fit is cut after a clause or a sentence.
func TestClipped(t *testing.T) {
	for s, want := range map[string]string{
		"one two; three four five six seven":  "one two\n",
		"It is so. Then it is not any more.":  "It is so.\n",
		"a single one that has no end at all": "a single one that …\n",
	} {
		var b bytes.Buffer
		p := newPrinter(&b, Options{Width: 20})
		p.clipped("", s, 1)
		if err := p.Flush(); err != nil || b.String() != want {
			t.Errorf("%q: %q, want %q", s, b.String(), want)
		}
	}
}
