package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestContradictionsAreTold: if two sources contradict each other, every format that reports more
// than findings says so and quotes both lines.
func TestContradictionsAreTold(t *testing.T) {
	findings := []string{"junit", "github", "gitlab", "prom", "chart", "ticket"} // lists of findings, a picture, and a summary
	a := fixture("worker-1", 3)
	line := func(text string) []replay.Evidence {
		return []replay.Evidence{{Record: parse.NewEvent(&parse.EventKind{File: &parse.File{Path: "x.log"}, Origin: &parse.Origin{Source: parse.SrcKubelet}}, parse.PlainText(text),
			parse.Event{Line: 7, Stamp: parse.Stamp{At: a.Nodes[0].Window.Start + 5e9, Basis: parse.Stated}})}}
	}
	a.Nodes[0].Contradictions = []replay.Contradiction{{What: "one says so", Evidence: line("first-of-both"), Against: line("second-of-both")}}
	r := fill(a)
	for _, f := range Formats {
		var b bytes.Buffer
		if err := f.Write(&b, r, Options{Width: 200}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if f.Name == "html" {
			text = text[:strings.Index(text, `id="data"`)]
		}
		told := strings.Contains(text, "one says so") && strings.Contains(text, "first-of-both") && strings.Contains(text, "second-of-both")
		if told == slices.Contains(findings, f.Name) {
			t.Errorf("%s: tells the contradiction: %v", f.Name, told)
		}
	}
}
