package model

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/plegforensics/plegforensics/pleg"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain text", "plain text"},
		{"tab\tstays", "tab\tstays"},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"bell\a, null\x00", `bell\x07, null\x00`},
		{"rlo\u202e, zero width\u200b", `rlo\u202e, zero width\u200b`},
		{"line\nfeed\r", `line\nfeed\r`},
		{"bad \xff\xfe utf8", `bad \xff\xfe utf8`},
		{"Grüße, 世界", "Grüße, 世界"},
		{"c1 \u009b31m", `c1 \x9b31m`},
		{"del\x7f", `del\x7f`},
	} {
		if got := visible(c.in); got != c.want {
			t.Errorf("visible(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b]8;;x\x07")
	f.Fuzz(func(t *testing.T, s string) {
		out := visible(s)
		if !utf8.ValidString(out) {
			t.Fatalf("invalid UTF-8 out of %q", s)
		}
		for _, r := range out {
			if r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Fatalf("%q leaves %U", s, r)
			}
		}
		if q := NewCleaner(nil).quote(s); len(q) > MaxQuote || !utf8.ValidString(q) {
			t.Fatalf("Quote(%q) has %d bytes", s, len(q))
		}
	})
}

func TestCut(t *testing.T) {
	if got := Cut(strings.Repeat("é", 10), 8); got != "éé…" {
		t.Errorf("got %q", got)
	}
}

// TestOneWayIn: only Cleaner escapes strings, and no package outside model decides which characters
// are hidden.
func TestOneWayIn(t *testing.T) {
	calls := regexp.MustCompile(`model\.[vV]isible\(|unicode\.(IsControl|IsPrint|IsGraphic|Cf|Co|Bidi_Control)\b|strconv\.(Append)?Quote(ToASCII|ToGraphic)`)
	files, outside := 0, 0
	err := filepath.WalkDir("../../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(filepath.ToSlash(path), "/internal/report/model/") {
			return err
		}
		data, err := os.ReadFile(path)
		for _, c := range calls.FindAllString(string(data), -1) {
			outside++
			t.Errorf("%s: %s", path, c)
		}
		files++
		return err
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files, %v", files, err)
	}
	if inside, err := os.ReadFile("clean.go"); err != nil || len(calls.FindAllString(string(inside), -1)) == 0 {
		t.Error("the model does not decide it either")
	}
	t.Logf("%d calls outside the model, %d files", outside, files)
}

// TestEventTypeIsVisible checks that the type of an event from a damaged log is escaped like its other strings.
func TestEventTypeIsVisible(t *testing.T) {
	if e := NewCleaner(nil).simEvent(pleg.Event{Pod: "a\xff", Type: "Cont\x1b\xffDied", Data: "b\xff"}); e.Pod != `a\xff` || e.Type != `Cont\x1b\xffDied` || e.Data != `b\xff` {
		t.Errorf("%+v", e)
	}
}
