package logs

import (
	"fmt"
	"strings"
	"testing"
)

func TestLoadErrors(t *testing.T) {
	const good = "- id: a.b\n  literals: [some literal]\n  samples: [some literal]\n"
	tests := []struct {
		name, yaml string
		want       []string // parts of the error, in any order
	}{
		{"good", good, nil},
		{"empty", "", []string{"x.yaml", "no signatures"}},
		{"not yaml", "- id: [", []string{"x.yaml"}},
		{"not a list", "id: a.b\n", []string{"x.yaml:1", `beginning with "- id:"`}},
		{"not a mapping", "- just text\n", []string{"x.yaml:1", "key: value"}},
		{"misspelt key", good + "  sampels: [x]\n", []string{"x.yaml:4", `"sampels"`, `did you mean "samples"?`}},
		{"unknown key", good + "  colour: red\n", []string{"x.yaml:4", `"colour"`, "known: id, source"}},
		{"twice", good + "  id: c.d\n", []string{"x.yaml:4", `"id" given twice`}},
		{"no id", "- literals: [some literal]\n  samples: [some literal]\n", []string{"x.yaml:1", "without id"}},
		{"no literals", "- id: a.b\n  samples: [x]\n", []string{"x.yaml:1", "no literals"}},
		{"short literal", "- id: a.b\n  literals: [abcde]\n  samples: [abcde]\n", []string{"x.yaml:1", `"abcde"`, "fewer than 6"}},
		{"no samples", "- id: a.b\n  literals: [some literal]\n", []string{"x.yaml:1", "no samples"}},
		{"bad regexp", good + "  regexp: '(?P<a'\n", []string{"x.yaml:4", "error parsing regexp"}},
		{"source", good + "  source: kublet\n", []string{"x.yaml:4", `did you mean "kubelet"?`}},
		{"extractor", good + "  extract: rcp\n", []string{"x.yaml:4", `did you mean "rpc"?`}},
		{"keys", good + "  keys: {a: b}\n", []string{"x.yaml:1", "neither message nor regexp"}},
		{"flag", good + "  bulk: yes\n", []string{"x.yaml:4", "true or false"}},
		{"sample key", "- id: a.b\n  literals: [some literal]\n  samples:\n    - {lien: some literal}\n", []string{"x.yaml:4", `did you mean "line"?`}},
		{"list for string", "- id: [a]\n  literals: [some literal]\n  samples: [x]\n", []string{"x.yaml:1", "one value"}},
		{"two errors", good + "  colour: red\n- id: c.d\n", []string{"x.yaml:4", "x.yaml:5"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load("x.yaml", []byte(tt.yaml))
			if tt.want == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error lacks %q:\n%v", w, err)
				}
			}
		})
	}
}

func TestBuildRejects(t *testing.T) {
	for _, g := range []*Signature{
		{ID: "a.b", Literals: []string{"short"}, File: "x.yaml", Line: 7},
		{ID: "a.b", Literals: []string{"long enough"}, Extract: "nothing", File: "x.yaml", Line: 7},
	} {
		if _, err := Build(g); err == nil || !strings.Contains(err.Error(), "x.yaml:7") {
			t.Errorf("%+v: error %v", g, err)
		}
	}
}

// TestExtendBounds checks that Extend refuses more signatures than a pack may
// contain and expressions that are slow on every text.
func TestExtendBounds(t *testing.T) {
	var own []*Signature
	for i := range mostOwn + 1 {
		lit := fmt.Sprintf("ACME message %d.", i)
		own = append(own, &Signature{ID: "acme.a", Literals: []string{lit}, Samples: []Sample{{Msg: lit}}, File: "x.yaml", Line: i + 1})
	}
	if _, bad := Extend(own); len(bad) != 1 || bad[0].Line != mostOwn+1 {
		t.Errorf("got %v", bad)
	}
	set, bad := Extend(own[1:])
	if len(bad) > 0 || ids(set.Match("", 0, []byte("x ACME message 1000. y"))) != "acme.a" {
		t.Errorf("got %v", bad)
	}
	if _, err := NewRegexp(strings.Repeat(`[a-z]{1,900}x`, 9)); err == nil {
		t.Error("a costly expression was taken")
	}
}

// TestUserPack adds a signature to the built-in ones, as --rules does.
func TestUserPack(t *testing.T) {
	pack, err := Load("mine.yaml", []byte(`
- id: acme.agent
  source: [system]
  literals: [ACME agent stalled]
  fold: true
  regexp: '(?i)stalled for (?P<sec>\d+)s'
  unless: [simulated]
  samples:
    - {line: 'acme agent stalled for 17s', fields: {sec: "17"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	set, bad := Extend(pack)
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	for line, want := range map[string]string{
		"Acme Agent Stalled for 17s":            "acme.agent",
		"acme agent stalled":                    "",
		"acme agent stalled for 17s, simulated": "",
	} {
		if got := ids(set.Match("", 0, []byte(line))); got != want {
			t.Errorf("%q matches %q, want %q", line, got, want)
		}
	}
	if f := set.Lookup("acme.agent").Extract("Acme Agent Stalled for 17s", nil); len(f) != 1 || f[0].Value != "17" {
		t.Errorf("fields %v", f)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("- id: a.b\n  literals: [some literal]\n  samples: [some literal]\n"))
	f.Add([]byte("- id: a.b\n  keys: {a: [b]}\n  samples: {a: b}\n  set: [x]\n"))
	f.Add([]byte("- &a {id: x, literals: *a}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		sigs, err := Load("x.yaml", data)
		if err != nil {
			return
		}
		set, err := Build(sigs...)
		if err != nil {
			return
		}
		for _, g := range sigs {
			for _, s := range g.Samples {
				set.Match(s.Source, 0, []byte(s.Msg))
			}
		}
	})
}
