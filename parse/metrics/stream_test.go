package metrics

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawnSnapshots returns a file of several snapshots with various text between
// them.
func drawnSnapshots(t *rapid.T) string {
	var b strings.Builder
	for i := range rapid.IntRange(1, 3).Draw(t, "snapshots") {
		b.WriteString(rapid.SampledFrom([]string{"", fmt.Sprintf("# 2026-11-20T23:3%d:00Z\n", i), "\n", "$ curl localhost\n"}).Draw(t, "before"))
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		for k := range rapid.IntRange(1, 12).Draw(t, "lines") {
			b.WriteString(rapid.SampledFrom([]string{"# TYPE kubelet_a gauge", "# HELP x_total a", "", "damaged{ 3", "kubelet_node_name{node=\"n1\"} 1", "x_total 2e1", "# TYPE x histogram", "x_sum 1", "x_bucket{le=\"+Inf\"} 2"}).Draw(t, "line") + end)
			fmt.Fprintf(&b, "x_bucket{le=\"%d\",l=\"é\\n\"} %d%s%s", k, i, rapid.SampledFrom([]string{"", " 1795217460000"}).Draw(t, "stamp"), end)
		}
	}
	if rapid.Bool().Draw(t, "cut") {
		return strings.TrimRight(b.String(), "\r\n")
	}
	return b.String()
}

// TestStreamReadsWhatDecodeDoes splits files at random positions.
func TestStreamReadsWhatDecodeDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawnSnapshots(t)
		if !CanStream([]byte(text)) {
			t.Skip("not streamed")
		}
		want := lines(decodeAll("m/20261120T233100Z.prom", text))
		if strings.Contains(want, "no metrics found") {
			t.Skip("quotes the first piece")
		}
		set := NewSet()
		s := NewStream(metricsFile("m/20261120T233100Z.prom"), Want{})
		for from := 0; from < len(text); {
			n := min(rapid.IntRange(1, 200).Draw(t, "piece"), len(text)-from)
			piece := []byte(text[from : from+n])
			s.Feed(piece)
			s.Flush(set)
			clear(piece) // the caller reuses the buffer
			from += n
		}
		s.Close(set)
		if got := lines(set.Finish()); got != want {
			t.Fatalf("%q\ngot\n%s\nwant\n%s", text, got, want)
		}
	})
}

func TestStreamLeavesOut(t *testing.T) {
	s := NewStream(metricsFile("m/20261120T233100Z.prom"), Want{Most: 3})
	for i := range 10 {
		s.Feed(fmt.Appendf(nil, "x_a{l=\"%d\"} 1\n", i))
	}
	s.Feed([]byte("kubelet_pleg_last_seen_seconds 5\n"))
	set := NewSet()
	used, left := s.Close(set)
	if got := set.Finish(); !used || left != 7 || len(got.Series) != 4 || got.Series[0].Name != "kubelet_pleg_last_seen_seconds" || len(got.Series[0].Points) != 1 {
		t.Errorf("%v %d %v", used, left, got.Series)
	}
}

// TestUnaskedMetricsAreCounted: of unwanted metrics a large snapshot keeps one
// sample each, of the others all samples.
func TestUnaskedMetricsAreCounted(t *testing.T) {
	var b strings.Builder
	for i := range plenty {
		fmt.Fprintf(&b, "x_a{l=\"%d\"} 1\n", i)
	}
	for i := range 10 {
		fmt.Fprintf(&b, "x_b{l=\"%d\"} 1\nx_c{l=\"%d\"} 1\nkubelet_d{l=\"%d\"} 1\n{\"x.e\",l=\"%d\"} 1\n", i, i, i, i)
	}
	f := metricsFile("m/20261120T233100Z.prom")
	w := Want{Asked: func(name string) bool { return name == "x_b" }}
	st, streamed, whole := NewStream(f, w), NewSet(), NewSet()
	st.Feed([]byte(b.String()))
	st.Close(streamed)
	whole.Add(Decode(f, []byte(b.String()), w))
	for _, set := range []*Set{streamed, whole} {
		got, n := set.Finish(), map[string]int{}
		for _, s := range got.Series {
			n[s.Name]++
		}
		if sc := got.Scrapes[0]; n["x_a"] != plenty || n["x_b"] != 10 || n["x_c"] != 1 || n["kubelet_d"] != 10 || n["x.e"] != 1 || sc.Passed != 18 || sc.Samples != plenty+40 {
			t.Errorf("%v, %d of %d passed over", n, sc.Passed, sc.Samples)
		}
	}
}
