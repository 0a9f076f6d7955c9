package report

import (
	"bytes"
	"strings"
	"testing"
)

// TestWrap: every line fits, nothing is lost, and long words break where a part
// of them ends.
func TestWrap(t *testing.T) {
	for s, want := range map[string]string{
		"a  table stays":                         "a  table stays",
		"one two three four five six":            "one two three four\nfive six",
		"runtime-hang-single-container is it":    "runtime-hang-single-\ncontainer is it",
		"/var/log/pods/a-very-long-name/web.log": "/var/log/pods/a-\nvery-long-name/web.\nlog",
		strings.Repeat("x", 45):                  strings.Repeat("x", 20) + "\n" + strings.Repeat("x", 20) + "\nxxxxx",
		strings.Repeat("節", 12):                  strings.Repeat("節", 10) + "\n節節",
		"":                                       "",
	} {
		if got := wrap(s, 20); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", s, got, want)
		}
	}
	if got := wrap("節", 1); strings.TrimSpace(got) != "節" {
		t.Errorf("a character wider than the line: %q", got)
	}
}

// TestTableFits: at each width a table keeps to it, words are broken last, and what
// is left out is named.
func TestTableFits(t *testing.T) {
	g := &Section{Columns: []string{"node", "what", "where", "more"}}
	g.Row("ip-10-0-12-34.ec2.internal", "The container runtime is unresponsive or slow", "kubelet.log", strings.Repeat("z", 40))
	for width := 40; width < 140; width++ {
		var b bytes.Buffer
		p := newPrinter(&b, Options{Width: width})
		p.render(g)
		if err := p.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if breadth(line) > width {
				t.Errorf("at %d columns: %s", width, line)
			}
		}
		if !strings.Contains(b.String(), "ip-10-0-12-34.ec2.internal") && (width == 70 || width >= 90) {
			t.Errorf("at %d columns the name is broken\n%s", width, b.String())
		}
		if told := strings.Contains(b.String(), "also:"); told == strings.Contains(b.String(), "zzz") {
			t.Errorf("at %d columns:\n%s", width, b.String())
		}
	}
}
