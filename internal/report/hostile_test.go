package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// hostile are strings that would do harm if a writer let them through.
var hostile = map[string]string{
	"script":    `</script><script>alert(1)</script><img src=x onerror=alert(1)>`,
	"attribute": `" onmouseover="alert(1)" x='`,
	"ansi":      "\x1b[31mred\x1b]8;;http://x\x07link\x1b]0;title\x07",
	"bidi":      "safe\u202egnp.exe\u2066",
	"formula":   `=HYPERLINK("http://x","y")`,
	"at":        "@SUM(1+1)*cmd|' /C calc'!A0",
	"markdown":  "](http://x) <b>bold</b> | cell ` code @user #1",
	"template":  "{{.Style}} ${x} %s %n",
	"long":      strings.Repeat("A", 1<<20),
	"utf8":      "bad \xff\xfe\xc0\x80 bytes",
	"newline":   "one\ntwo\r\nthree\u2028four",
	"nul":       "a\x00b",
}

// TestHostile: hostile strings in a bundle are inert in every format.
func TestHostile(t *testing.T) {
	for kind, s := range hostile {
		if kind == "long" && testing.Short() {
			s = s[:1<<17]
		}
		r := fixture(s, 12)
		for _, f := range append(append([]Format{}, Formats...), TimelineFormats...) {
			var out bytes.Buffer
			if err := f.Write(&out, fill(r), Options{Width: 100, Verbose: true}); err != nil {
				t.Errorf("%s of %s: %v", f.Name, kind, err)
				continue
			}
			if f.Name == "html" {
				inertHTML(t, kind, out.String())
				continue
			}
			inertText(t, f.Name, kind, out.String())
			if f.Name == "text" {
				inertTerminal(t, f, kind, r)
			}
			if f.Name == "csv" {
				inertCSV(t, kind, &out)
			}
			if f.Name == "json" && !json.Valid(out.Bytes()) {
				t.Errorf("json of %s is not valid", kind)
			}
		}
	}
}

func inertText(t *testing.T, format, kind, out string) {
	t.Helper()
	for _, c := range out {
		if c == '\n' || c == '\t' {
			continue
		}
		if unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || c == '\u2028' {
			t.Errorf("%s of %s holds %U", format, kind, c)
			return
		}
	}
	if format == "markdown" && regexp.MustCompile("(?m)^[^`]*<b>").MatchString(out) {
		t.Errorf("markdown of %s holds a live tag", kind)
	}
}

// terminalOwn matches the sequences that the writer itself sends to a terminal: colors, and
// hyperlinks to an address without control characters.
var terminalOwn = regexp.MustCompile("\x1b\\[[0-9;]*m|\x1b\\]8;;[!-~]*\x1b\\\\")

// inertTerminal checks that a wide terminal with colors and links receives no escape sequences but
// the writer's own.
func inertTerminal(t *testing.T, f Format, kind string, r *Report) {
	t.Helper()
	var out bytes.Buffer
	link := func(e *model.Evidence) string {
		return (&url.URL{Scheme: "file", Path: "/" + e.File, Fragment: "1"}).String()
	}
	if err := f.Write(&out, fill(r), Options{Width: 160, Color: true, Link: link}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), `\x1b]8;;file`) {
		t.Errorf("%s of %s shows a link as text", f.Name, kind)
	}
	inertText(t, f.Name+" on a terminal", kind, terminalOwn.ReplaceAllString(out.String(), ""))
}

func inertCSV(t *testing.T, kind string, in io.Reader) {
	t.Helper()
	cells, err := csv.NewReader(in).ReadAll()
	if err != nil {
		t.Errorf("csv of %s: %v", kind, err)
	}
	for _, row := range cells {
		for _, c := range row {
			if c != "" && strings.ContainsRune("=+@", rune(c[0])) {
				t.Errorf("csv of %s: cell starts a formula: %.40q", kind, c)
			}
		}
	}
}

// inertHTML checks that the page has only its own elements, none from the input.
func inertHTML(t *testing.T, kind, out string) {
	t.Helper()
	if n := strings.Count(out, "<script"); n != 2 {
		t.Errorf("html of %s has %d script elements, want the data and the code", kind, n)
	}
	for _, bad := range []string{"<img", "<b>", "onmouseover=\"", "href=\"http", "<a href=http"} {
		if strings.Contains(strings.ReplaceAll(out, scriptSource, ""), bad) {
			t.Errorf("html of %s holds %q", kind, bad)
		}
	}
	for _, c := range out {
		if c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)) {
			t.Errorf("html of %s holds %U", kind, c)
			return
		}
	}
	if !strings.Contains(out, "Content-Security-Policy") || strings.Contains(out, "unsafe-inline") {
		t.Errorf("html of %s has no strict policy", kind)
	}
}

// TestDeterminism: equal reports give equal bytes.
func TestDeterminism(t *testing.T) {
	for _, f := range Formats {
		var a, b bytes.Buffer
		if err := f.Write(&a, fill(fixture("node", 200)), Options{}); err != nil {
			t.Fatal(err)
		}
		if err := f.Write(&b, fill(fixture("node", 200)), Options{}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s differs between two runs", f.Name)
		}
	}
}

// TestHTMLSize: a page with 100,000 events stays below 25 MB.
func TestHTMLSize(t *testing.T) {
	var out bytes.Buffer
	if err := writeHTML(&out, fill(fixture("worker-3", 100_000)), Options{}); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 25<<20 {
		t.Errorf("%d bytes", out.Len())
	}
	t.Logf("%d bytes for 100,000 events", out.Len())
}
