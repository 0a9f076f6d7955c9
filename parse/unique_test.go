package parse

import (
	"fmt"
	"testing"
	"time"
)

// TestUnique checks which copies of lines are kept.
func TestUnique(t *testing.T) {
	kubelet := &Origin{Source: SrcKubelet, Host: "n1", PID: 7}
	coarse := &Origin{Source: SrcKernel, Host: "n1"}
	injson := &Origin{Source: SrcKubelet, Ident: "json"}
	placed, unnumbered := &Origin{Source: SrcKubelet, Host: "n1", PID: 7}, &Origin{Source: SrcKubelet}
	type line struct {
		file   string
		at     int64
		text   string
		res    time.Duration
		origin *Origin
	}
	tests := []struct {
		name  string
		lines []line
		want  string
	}{
		{"other moments are other lines", []line{{"a", 1, "x", 0, kubelet}, {"b", 2, "x", 0, kubelet}}, "a:x b:x"},
		{"the first file by path", []line{{"b", 1, "x", 0, kubelet}, {"a", 1, "x", 0, kubelet}}, "a:x"},
		{"the file with most copies", []line{{"a", 1, "x", 0, kubelet}, {"b", 1, "x", 0, kubelet}, {"b", 1, "x", 0, kubelet}}, "b:x b:x"},
		{"the finest stamps", []line{{"a", 1, "x", time.Second, kubelet}, {"b", 1, "x", time.Microsecond, kubelet}}, "b:x"},
		{"the file with most lines", []line{{"a", 1, "x", 0, kubelet}, {"b", 1, "x", 0, kubelet}, {"b", 5e9, "y", 0, kubelet}}, "b:x b:y"},
		{"another text stays", []line{{"a", 1, "x", 0, kubelet}, {"b", 1, "y", 0, kubelet}}, "a:x b:y"},
		{"JSON states no process", []line{{"a", 1, "x", 0, unnumbered}, {"b", 1, "x", 0, placed}}, "a:x"},
		{"a framing adds lines of others", []line{{"a", 1, "x", 0, placed}, {"b", 1, "x\n--", 0, placed}}, "a:x"},
		{"another first line stays", []line{{"a", 1, "x\n--", 0, placed}, {"b", 1, "y\n--", 0, placed}}, "a:x\n-- b:y\n--"},
		{"without a place in the source the process counts", []line{{"a", 1, "x", 0, kubelet}, {"b", 1, "x", 0, &Origin{Source: SrcKubelet, Host: "n1", PID: 8}}}, "a:x b:x"},
		{"a message in JSON", []line{{"a", 1000, "x\n--", 0, placed}, {"b", 1200, `{"ts":1.0012,"caller":"pleg/generic.go:205","msg":"x\n--","v":0}`, 0, injson}}, "a:x\n--"},
		{"keys and values in JSON", []line{{"a", 1000, `"x" err="no \"y\"" pod="s/p" n=3 c={"a":1} uid=u`, 0, placed}, {"b", 2000, `{"ts":1.002,"caller":"pleg/generic.go:205","msg":"x","err":"no \"y\"","pod":{"name":"p","namespace":"s"},"n":3,"c":{"a":1},"uid":"u"}`, 0, injson}}, `a:"x" err="no \"y\"" pod="s/p" n=3 c={"a":1} uid=u`},
		{"the file with most lines, also in JSON", []line{{"a", 1000, "x", time.Microsecond, placed}, {"b", 1200, `{"msg":"x"}`, 100, injson}, {"b", 5e9, `{"msg":"y"}`, 0, injson}}, `b:{"msg":"x"} b:{"msg":"y"}`},
		{"another value in JSON stays", []line{{"a", 1000, `"x" pod="s/p"`, 0, placed}, {"b", 1000, `{"msg":"x","pod":{"name":"q","namespace":"s"}}`, 0, injson}}, `a:"x" pod="s/p" b:{"msg":"x","pod":{"name":"q","namespace":"s"}}`},
		{"another time in JSON stays", []line{{"a", 1000, "x", 0, placed}, {"b", 3000, `{"msg":"x"}`, 0, injson}}, `a:x b:{"msg":"x"}`},
		{"a key more in JSON stays", []line{{"a", 1000, `"x" n=3`, 0, placed}, {"b", 1000, `{"msg":"x","n":3,"m":4}`, 0, injson}}, `a:"x" n=3 b:{"msg":"x","n":3,"m":4}`},
		{"a second is enough without a clock of their own", []line{{"a", 1, "x", 0, coarse}, {"b", 9e8, "x", 0, coarse}}, "a:x"},
	}
	for _, tt := range tests {
		files := map[string]*File{}
		var events []*Event
		for _, l := range tt.lines {
			if files[l.file] == nil {
				files[l.file] = &File{Path: l.file}
			}
			kind := &EventKind{File: files[l.file], Origin: l.origin, Headed: l.origin != coarse}
			if l.origin == placed || l.origin == unnumbered || l.origin == injson {
				kind.Caller, kind.JSON = "generic.go:205", l.origin == injson
			}
			events = append(events, NewEvent(kind, PlainText(l.text), Event{Stamp: Stamp{At: l.at, Res: ResolutionOf(l.res), Basis: Stated}}))
		}
		got := ""
		for _, e := range Unique(events) {
			got += fmt.Sprintf(" %s:%s", e.File.Path, e.Message())
		}
		if got != " "+tt.want {
			t.Errorf("%s: got%s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestUniqueManyFiles checks that the cost of a line in many files is not quadratic
// in their number: with 100,000 files that would take minutes.
func TestUniqueManyFiles(t *testing.T) {
	var events []*Event
	for i := range 100_000 {
		kind := &EventKind{File: &File{Path: fmt.Sprint(i)}, Origin: &Origin{Source: SrcKubelet}, Headed: true}
		events = append(events, NewEvent(kind, PlainText("x"), Event{Stamp: Stamp{At: 1, Basis: Stated}}))
	}
	start := time.Now()
	if kept := Unique(events); len(kept) != 1 || kept[0].File.Path != "0" {
		t.Fatalf("%d lines are kept of 100,000 copies", len(kept))
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestUniqueCrowd checks that lines of one time are distinguished by more than
// their checksums if there are so many that two checksums agree.
func TestUniqueCrowd(t *testing.T) {
	const lines = 300_000
	kubelet := &Origin{Source: SrcKubelet}
	kinds := []*EventKind{{File: &File{Path: "a"}, Origin: kubelet, Headed: true}, {File: &File{Path: "b"}, Origin: kubelet, Headed: true}}
	var events []*Event
	for i := range lines {
		events = append(events, NewEvent(kinds[i&1], PlainText(fmt.Sprintf("%08d", i)), Event{Stamp: Stamp{At: 1, Basis: Stated}}))
	}
	if got := len(Unique(events)); got != lines {
		t.Errorf("%d of %d different lines are left", got, lines)
	}
}

// countedText is a text that counts how often it is read.
type countedText struct {
	arena Arena
	text  string
	reads int
}

func (c *countedText) Slice(off, n uint32) string {
	c.reads++
	return c.text[off : off+n]
}

// TestUniqueReads: a line in very many files is read once, not once for each of them. Reading
// means unpacking a block of each file.
func TestUniqueReads(t *testing.T) {
	const files = 1000
	for _, tt := range []struct {
		name   string
		caller string
		texts  []string
		want   int // lines kept
	}{
		{"a line", "", []string{"x"}, 1},
		{"a line with its place", "generic.go:205", []string{"x"}, 1},
		{"lines with their place", "generic.go:205", []string{"x", "y", "y\n--"}, 2},
	} {
		texts := map[string]*countedText{}
		for _, text := range tt.texts {
			c := &countedText{text: text}
			c.arena.Store = c
			texts[text] = c
		}
		var events []*Event
		for i := range files {
			kind := &EventKind{File: &File{Path: fmt.Sprintf("%04d", i)}, Origin: &Origin{Source: SrcKubelet}, Headed: true, Caller: tt.caller}
			for _, text := range tt.texts {
				e := NewEvent(kind, NewText(&texts[text].arena, 0, uint32(len(text))), Event{Stamp: Stamp{At: 1, Basis: Stated}})
				e.SetSum([]byte(text))
				events = append(events, e)
			}
		}
		kept := Unique(events)
		for _, c := range texts {
			if c.reads > 1 {
				t.Errorf("%s: %q is read %d times", tt.name, c.text, c.reads)
			}
		}
		if n := len(kept); n != tt.want && !(tt.want == 2 && n == 3) { // one file has y twice
			t.Errorf("%s: %d lines are kept", tt.name, n)
		}
	}
}
