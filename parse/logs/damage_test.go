package logs

import (
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestDamagedLines: lines that are damaged are told once a stretch, with the line at which it begins, and marked.
// What may be text in another encoding, and a line that is cut because it was being written, is noted.
func TestDamagedLines(t *testing.T) {
	const (
		klog   = `E1120 23:34:19.000000   18503 kubelet.go:2337] `
		report = klog + `"Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m5.3s ago; threshold is 3m0s"`
		event  = `I1120 23:30:00.000000   18503 kubelet.go:2456] "SyncLoop DELETE" source="api" pods="a/b"`
		printf = klog + "words: Gr\xfc\xdfe"
		docker = `{"log":"plain\n","stream":"stderr","time":"2026-11-20T23:00:00Z"}`
	)
	nul := strings.Repeat("\x00", 9)
	over := func(s, old, with string) string { return strings.Replace(s, old, with, 1) }
	for name, tt := range map[string]struct {
		lines []string // without a final line end if the last is "…"
		want  []string
	}{
		"whole":                            {[]string{event, report, event}, nil},
		"zeros in the text":                {[]string{event, over(report, "PLEG is n", nul), event}, []string{"2 " + noText}},
		"zeros in the header":              {[]string{event, over(report, "E1120 23:", nul), event}, []string{"2 " + noText}},
		"one zero at the end":              {[]string{event + "\x00", event}, []string{"1 " + noText}},
		"zeros before the first line":      {[]string{nul + event, event}, nil},
		"zeros in place of its header":     {[]string{over(event, "I1120 23:", nul), event}, []string{"1 " + noText}},
		"two stretches":                    {[]string{event, event + nul, event + nul, event, event + nul}, []string{"2 " + noText, "5 " + noText}},
		"a flipped bit in the text":        {[]string{event, over(report, "pleg was", "ple\xe7 was"), event}, []string{"2 " + noText}},
		"a flipped bit in the header":      {[]string{event, over(report, "E1120", "\xc51120"), event}, []string{"2 " + noText}},
		"a flipped bit in an unknown text": {[]string{event, over(event, "SyncLoop", "S\xf9ncLoop"), event}, []string{"2 " + noText}},
		"rubbish in a text of printf":      {[]string{event, klog + "x\xfc\x02\xff", event}, []string{"2 " + noText}},
		"another encoding": {[]string{printf, event, printf},
			[]string{"note 1 2 lines of which nothing is known hold bytes that are no UTF-8, this is the first: text in another encoding, or damage"}},
		"another encoding, of another program": {[]string{event, "Gr\xfc\xdfe", event}, nil},
		"a rune that was cut":                  {[]string{event + "\xe2\x80", event}, nil},
		"bytes in a line that is known":        {[]string{report + " \xfc", event}, nil},
		"a header that goes on elsewhere":      {[]string{event, over(report, "   18503 kubelet.go:2337] \"Sk", ""), event}, []string{"2 " + torn}},
		"columns left out":                     {[]string{event, "I1120 23:30:00 kubelet.go:2456] x", "I1120 23:30:00.000000 x", "I1120 23:30] x"}, nil},
		"halves of two JSON records":           {[]string{docker, docker[:20] + docker, docker}, []string{"2 " + torn}},
		"two JSON records on one line":         {[]string{docker, docker + docker, docker}, []string{"2 " + torn}},
		"the end of a JSON record":             {[]string{docker, docker[20:], docker}, []string{"2 " + torn}},
		"the beginning of a JSON record":       {[]string{docker, docker[:20], docker}, []string{"2 " + torn}},
		"JSON records in a list":               {[]string{docker + ",", docker + "]"}, nil},
		"cut in a line that tells":             {[]string{event, report[:len(report)-40], "…"}, []string{"2 " + unendedRecord}},
		"cut in another":                       {[]string{event, event[:60], "…"}, []string{"note 2 " + unendedLine}},
		"cut in a header":                      {[]string{event, event[:12], "…"}, []string{"note 2 " + unendedLine}},
		"no line end":                          {[]string{event, event, "…"}, nil},
		"no line end, of printf":               {[]string{event, klog + "words", "…"}, nil},
	} {
		text := strings.Join(tt.lines, "\n") + "\n"
		text = strings.TrimSuffix(text, "\n…\n")
		p := decodeString(text)
		var got []string
		holes := 0
		for _, w := range p.Warnings {
			s := strings.TrimPrefix(w.String(), "a.log:")
			line, msg, _ := strings.Cut(s, ": ")
			s = line + " " + msg
			if at := strings.LastIndexByte(text[:w.Offset], '\n') + 1; strings.Count(text[:at], "\n")+1 != int(w.Line) || at != int(w.Offset) {
				t.Errorf("%s: %v at offset %d", name, w, w.Offset)
			}
			if w.Note {
				s = "note " + s
			} else if !strings.HasSuffix(s, unendedRecord) {
				holes++
			}
			got = append(got, s)
		}
		for _, m := range p.Markers {
			if m.Kind == parse.MarkHole {
				holes--
			}
		}
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") || holes > 0 {
			t.Errorf("%s:\ngot  %q\nwant %q\n%d damaged places without a marker", name, got, tt.want, holes)
		}
	}
}

// TestManyDamaged: very many damaged lines leave few warnings and markers.
func TestManyDamaged(t *testing.T) {
	p := decodeString(strings.Repeat("x\nx\x00\n", 100_000))
	if len(p.Warnings) != maxWarnings+1 || len(p.Markers) > mostDamage+1 || p.Markers[len(p.Markers)-1].Line != 200_000 {
		t.Errorf("%d warnings, %d markers, the last at line %d", len(p.Warnings), len(p.Markers), p.Markers[len(p.Markers)-1].Line)
	}
}
