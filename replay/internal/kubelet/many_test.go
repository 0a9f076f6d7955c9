package kubelet

import (
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// TestFold checks that of too many failed lists the newest are dated, together with the marks before the first
// one, and that the rest becomes a hole in the log with a warning.
func TestFold(t *testing.T) {
	var marks []Mark
	line := parse.NewEvent(&parse.EventKind{File: &parse.File{Path: "node.log"}}, parse.Text{}, parse.Event{})
	for i, kind := range []host.Kinds{host.KindRetrieved, host.KindListFail, host.KindListFail, host.KindRetrieved, host.KindListFail, host.KindInside, host.KindListFail} {
		marks = append(marks, Mark{At: int64(10 * (i + 1)), Kind: kind, Line: line})
	}
	for most, want := range map[int]struct {
		at   []int64
		hole host.Span
	}{
		4: {[]int64{10, 20, 30, 40, 50, 60, 70}, host.Span{}},
		3: {[]int64{10, 30, 40, 50, 60, 70}, host.Span{From: 20, To: 30}},
		2: {[]int64{10, 50, 60, 70}, host.Span{From: 20, To: 50}},
		1: {[]int64{10, 70}, host.Span{From: 20, To: 70}},
	} {
		before, after := host.Span{From: 1, To: 2}, host.Span{From: 80, To: 90}
		w := &Witness{Holes: []host.Span{before, after}}
		w.fold(marks, most)
		var at []int64
		for _, m := range w.Dating {
			at = append(at, m.At)
		}
		holes, warned := []host.Span{before, after}, 0
		if want.hole != (host.Span{}) {
			holes, warned = []host.Span{before, want.hole, after}, 1
		}
		if !slices.Equal(at, want.at) || !slices.Equal(w.Holes, holes) || len(w.Folded) != warned {
			t.Errorf("%d: marks at %v, holes %v, %v", most, at, w.Holes, w.Folded)
		}
		if warned > 0 && !strings.HasPrefix(w.Folded[0].Msg, "4 failed relists: ") {
			t.Errorf("%d: %v", most, w.Folded)
		}
	}
}

// TestFewStatements checks that of too many statements about a kubelet the first and the newest are cited, with a warning.
func TestFewStatements(t *testing.T) {
	var k Profile
	for i := range 6 {
		k.Evidence = append(k.Evidence, host.Evidence{Record: parse.NewEvent(&parse.EventKind{File: &parse.File{Path: "node.log"}}, parse.Text{}, parse.Event{}), Note: string(rune('a' + i))})
	}
	if w := k.Few(6); w != nil || len(k.Evidence) != 6 {
		t.Errorf("%v, %v", w, k.Evidence)
	}
	w, cited := k.Few(3), ""
	for _, e := range k.Evidence {
		cited += e.Note
	}
	if len(w) != 1 || !strings.HasPrefix(w[0].Msg, "6 start-up statements: 3 are kept") || cited != "aef" {
		t.Errorf("%v, %q", w, cited)
	}
}
