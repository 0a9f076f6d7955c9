package compare

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestHostile: hostile strings in a bundle are inert in every format.
func TestHostile(t *testing.T) {
	for kind, s := range map[string]string{
		"script":   `</pre></script><script>alert(1)</script><img src=x onerror=alert(1)>`,
		"ansi":     "\x1b[31mred\x1b]8;;http://x\x07link\x1b]0;title\x07",
		"bidi":     "safe\u202egnp.exe\u2066",
		"markdown": "](http://x) <b>bold</b> | cell ` code",
		"utf8":     "bad \xff\xfe bytes",
		"newline":  "one\ntwo\r\nthree\u2028four",
		"long":     strings.Repeat("A", 1<<20),
	} {
		e := parse.NewEvent(&parse.EventKind{File: &parse.File{Path: s}, Origin: &parse.Origin{}}, parse.PlainText(s), parse.Event{Line: 1})
		res := Result{BaselineLabel: s, IncidentLabel: s, Summary: s, Notes: []string{s}, Pairs: []Pair{{Baseline: s, Incident: s, Rows: []Row{
			{Group: "signals", What: s, Baseline: s, Incident: s, Verdict: Worse, Why: "p=0.1", Evidence: []replay.Evidence{{Record: e, Note: s}}}}}}}
		for _, f := range Formats {
			var out bytes.Buffer
			if err := f.Write(&out, res.Document(model.NewCleaner(nil)), report.Options{Width: 200, Verbose: true}); err != nil {
				t.Fatal(err)
			}
			for _, c := range out.String() {
				if c != '\n' && (unicode.IsControl(c) && c != '\t' || unicode.Is(unicode.Bidi_Control, c) || c == '\u2028') {
					t.Errorf("%s of %s holds %U", f.Name, kind, c)
					break
				}
			}
			text := out.String()
			switch f.Name {
			case "html":
				for _, bad := range []string{"<script", "<img", "<b>"} {
					if strings.Contains(text, bad) {
						t.Errorf("html of %s holds %s", kind, bad)
					}
				}
			case "json":
				if !json.Valid(out.Bytes()) {
					t.Errorf("json of %s is not valid", kind)
				}
			case "markdown":
				text = outsideCode(text)
				if strings.Contains(text, "<b>") || strings.Contains(strings.ReplaceAll(text, `\]`, ""), "](http") {
					t.Errorf("markdown of %s is live", kind)
				}
			}
		}
	}
}

// outsideCode removes the code spans from Markdown: from a run of backticks to the next run of that
// length in the line.
func outsideCode(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		for line != "" {
			before, _, open := strings.Cut(line, "`")
			out.WriteString(before)
			line = line[len(before):]
			if !open {
				break
			}
			rest := strings.TrimLeft(line, "`")
			fence := line[:len(line)-len(rest)]
			if _, after, closed := strings.Cut(rest, fence); closed && !strings.HasSuffix(before, `\`) {
				line = after
				continue
			}
			line = rest // an escaped backtick
		}
	}
	return out.String()
}
