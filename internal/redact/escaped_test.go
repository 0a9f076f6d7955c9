package redact

import (
	"strings"
	"testing"
)

// TestEscaped: a name with letters beyond ASCII is the same name in each spelling.
func TestEscaped(t *testing.T) {
	for name, spellings := range map[string][]string{
		"Müller": {`M\u00fcller`, `M\\u00fcller`, `M\U000000fcller`, `M\xc3\xbcller`, `M\303\274ller`, `M%C3%BCller`, `M=C3=BCller`, `M=c3=bcller`,
			`M&uuml;ller`, `M&#252;ller`, `M&#xFC;ller`, `M&amp;uuml;ller`, `&#77;&#252;ller`},
		"李雷":          {`\u674e\u96f7`, `\xe6\x9d\x8e\xe9\x9b\xb7`, `\\u674e\\u96f7`},
		"你":           {`\344\275\240`, `\u4f60`},
		"Östersund-2": {`\u00d6stersund-2`, `\xc3\x96stersund-2`, `=C3=96stersund-2`, `&Ouml;stersund-2`, `&Ouml;stersund&#45;2`},
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

// TestEscapedPosition: a name is found by its position in a text that is escaped for HTML too; what
// only resembles an escape is kept.
func TestEscapedPosition(t *testing.T) {
	for _, text := range []string{`pod=&quot;default/storage-archive&quot;`, `pod=&#34;storage-archive&#34;`, `&quot;nodeName&quot;: &quot;storage-archive&quot;`,
		`{&amp;quot;nodeName&amp;quot;:&amp;quot;storage-archive&amp;quot;}`, `GET /x?host=storage-archive&amp;user=storage-archive`, `node=&apos;storage-archive&apos;`} {
		if got := redacted(text); strings.Contains(got, "archive") {
			t.Errorf("%q is left", got)
		}
	}
	for _, text := range []string{`a && b; c`, `&para=1&copy=2;`, `x=C3 y==C3=`, `&#47;&#10;&#27;&nbsp;`, `&;&#;&#x;`} {
		if got := redacted(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestStackDump: a dump after SIGQUIT keeps the functions and loses where it was built and for whom.
func TestStackDump(t *testing.T) {
	const dump = `SIGQUIT: quit PC=0x46e5a3 m=0 sigcode=0 goroutine 17 [select, 5 minutes]: runtime.gopark(0xc000) runtime.selectgo(0x1) net/http.(*persistConn).readLoop(0xc0001)
created by gitlab.acme.odd/team/svc/pkg.New in goroutine 1 /builds/critical/deletion/cmd/main.go:17 +0x1d /home/jdoe/src/payroll/main.go:3 /home/runner/work/critical/deletion/x.go:1`
	got := redacted(dump)
	for _, left := range []string{"critical", "deletion", "jdoe", "payroll", "acme"} {
		if strings.Contains(got, left) {
			t.Errorf("%s is left in %s", left, got)
		}
	}
	for _, kept := range []string{"sigcode=0 goroutine 17 [select, 5 minutes]: runtime.gopark(0xc000) runtime.selectgo(0x1) net/http.(*persistConn).readLoop(0xc0001)", "/cmd/main.go:17 +0x1d", "PC=0x46e5a3"} {
		if !strings.Contains(got, kept) {
			t.Errorf("%s is lost from %s", kept, got)
		}
	}
	for _, text := range []string{`rsync error: some files could not be transferred`, `rsync: connection refused`, `scsi 0:0: wwn, wwnn and wwpn`} {
		if got := redacted(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := redacted(`ID_WWN=0x6000c50012345679`); strings.Contains(got, "6000c5") {
		t.Errorf("%q is left", got)
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
