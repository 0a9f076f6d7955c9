package query

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

const base = int64(1_795_217_460) // 2026-11-20 23:31:00 UTC

func at(sec int64) time.Time { return time.Unix(base+sec, 0).UTC() }
func ns(sec int64) int64     { return (base + sec) * 1e9 }

// snapshots returns a node with one series per row and one snapshot per column, 15 s apart. "-" is
// a missing sample; a column of "!" is an error page.
func snapshots(rows ...string) *replay.Node {
	n := &replay.Node{Records: replay.Records{Name: "w1"}}
	for _, r := range rows {
		f := strings.Fields(r)
		name, le, _ := strings.Cut(f[0], "|")
		s := &parse.Series{Name: name, Node: "w1", Job: "kubelet", Type: "counter"}
		if le != "" {
			s.Labels = []parse.Field{{Name: "le", Value: le}}
		}
		for i, v := range f[1:] {
			if len(n.Scrapes) <= i {
				n.Scrapes = append(n.Scrapes, &parse.Scrape{File: &parse.File{Path: fmt.Sprint(i)}, Node: "w1", Job: "kubelet",
					Stamp: parse.Stamp{At: ns(int64(15 * i)), Basis: parse.Stated}})
			}
			sc := n.Scrapes[i]
			if v == "!" {
				sc.Failed = "An error has occurred"
			}
			var x float64
			if _, err := fmt.Sscan(v, &x); err == nil {
				s.Points = append(s.Points, parse.Point{At: sc.At, V: x, Src: sc})
			}
		}
		n.Series = append(n.Series, s)
	}
	return n
}

func show(r Result) string {
	switch v := r.Value.(type) {
	case promql.Vector:
		var b strings.Builder
		for _, s := range v {
			fmt.Fprintf(&b, "%s=%g;", s.Metric, s.F)
		}
		return b.String()
	case promql.Matrix:
		var b strings.Builder
		for _, s := range v {
			fmt.Fprintf(&b, "%s", s.Metric)
			for _, p := range s.Floats {
				fmt.Fprintf(&b, " %d:%g", p.T/1000-base, p.F)
			}
			b.WriteByte(';')
		}
		return b.String()
	case promql.Scalar:
		return fmt.Sprint(v.V)
	}
	return fmt.Sprint(r.Value)
}

func TestInstant(t *testing.T) {
	n := snapshots("a_total 0 30 60 90 120", "b_x 1 2 - 4 5", "c_x 1 ! 3")
	db := Open(NewStore([]*replay.Node{n}))
	const who = `instance="w1", job="kubelet", metrics_path="/metrics", node="w1"`
	tests := []struct {
		expr string
		at   int64
		want string
	}{
		{"a_total", 60, `{__name__="a_total", ` + who + `}=120;`},
		{"round(rate(a_total[1m]), 0.001)", 60, `{` + who + `}=2;`},
		{`a_total{job="kubelet",metrics_path="/metrics"} > 100`, 60, `{__name__="a_total", ` + who + `}=120;`},
		{"b_x", 29, `{__name__="b_x", ` + who + `}=2;`},
		{"b_x", 35, ""}, // missing from the third snapshot: stale
		{"b_x", 46, `{__name__="b_x", ` + who + `}=4;`},
		{"up", 16, `{__name__="up", ` + who + `}=0;`},
		{"up", 31, `{__name__="up", ` + who + `}=1;`},
		{"c_x", 16, ""},
		{"1+1", 0, "2"},
		{"count({__name__=~\".+\"})", 61, "{}=3;"},
	}
	for _, tt := range tests {
		got, err := db.Instant(context.Background(), tt.expr, at(tt.at))
		if err != nil || show(got) != tt.want {
			t.Errorf("%s @%d = %s %v, want %s", tt.expr, tt.at, show(got), err, tt.want)
		}
	}
}

func TestBoundsMatchInAnySpelling(t *testing.T) {
	n := snapshots("h_seconds_bucket|10.0 1 2", "h_seconds_bucket|2.5 1 2", "h_seconds_bucket|+Inf 1 2")
	db := Open(NewStore([]*replay.Node{n}))
	for expr, want := range map[string]string{
		`count(h_seconds_bucket{le="10"})`: "{}=1;", `count(h_seconds_bucket{le="10.0"})`: "{}=1;", `count(h_seconds_bucket{le=~"10|2.5"})`: "{}=2;",
		`count(h_seconds_bucket{le!="10"})`: "{}=2;", `count(h_seconds_bucket{le!~"10.0|.Inf"})`: "{}=1;", `count(h_seconds_bucket{le="1"})`: "",
	} {
		if got, err := db.Instant(context.Background(), expr, at(20)); err != nil || show(got) != want {
			t.Errorf("%s = %s %v, want %s", expr, show(got), err, want)
		}
	}
}

func TestRange(t *testing.T) {
	db := Open(NewStore([]*replay.Node{snapshots("a_total 0 30 60 90 120")}))
	got, err := db.Range(context.Background(), "sum(a_total)", at(0), at(60), 30*time.Second)
	if err != nil || show(got) != "{} 0:0 30:60 60:120;" {
		t.Errorf("got %s %v", show(got), err)
	}
	for _, bad := range []struct {
		from, to int64
		step     time.Duration
	}{{60, 0, time.Second}, {0, 60, 0}, {0, 1 << 30, time.Second}} {
		if _, err := db.Range(context.Background(), "a_total", at(bad.from), at(bad.to), bad.step); err == nil {
			t.Errorf("range %v accepted", bad)
		}
	}
}

func TestErrorHasPositionAndNames(t *testing.T) {
	s := NewStore([]*replay.Node{snapshots("kubelet_pleg_last_seen_seconds 1", "kubelet_running_pods 1")})
	if _, err := Open(s).Instant(context.Background(), "sum(a", at(0)); err == nil || !strings.HasPrefix(err.Error(), "1:6: parse error") {
		t.Errorf("error %v", err)
	}
	got := s.Unknown("rate(kubelet_pleg_lastseen_seconds[5m]) / kubelet_running_pods")
	if fmt.Sprint(got) != "map[kubelet_pleg_lastseen_seconds:[kubelet_pleg_last_seen_seconds]]" {
		t.Errorf("got %v", got)
	}
}

func TestNativeHistogram(t *testing.T) {
	n := snapshots("a_x 1 1 1")
	h := &parse.Series{Name: "h", Node: "w1", Job: "kubelet", Type: "histogram"}
	for i, sc := range n.Scrapes {
		f := float64(i + 1)
		h.Histograms = append(h.Histograms, parse.HistogramPoint{At: sc.At, Src: sc, H: &histogram.FloatHistogram{
			Schema: 0, Count: 10 * f, Sum: 20 * f, PositiveSpans: []histogram.Span{{Offset: 0, Length: 2}}, PositiveBuckets: []float64{4 * f, 6 * f}}})
	}
	n.Series = append(n.Series, h)
	got, err := Open(NewStore([]*replay.Node{n})).Instant(context.Background(), "histogram_count(h) + histogram_sum(h)", at(30))
	if err != nil || !strings.HasSuffix(show(got), "=90;") {
		t.Errorf("got %s %v", show(got), err)
	}
}

// chunk packs samples as a TSDB does.
func chunk(t *testing.T, from int64, vs ...float64) parse.Chunk {
	c := chunkenc.NewXORChunk()
	app, err := c.Appender()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range vs {
		app.Append(0, (base+from)*1000+int64(i)*1000, v)
	}
	return parse.Chunk{Min: ns(from), Max: ns(from + int64(len(vs)) - 1), Encoding: byte(c.Encoding()), Data: c.Bytes()}
}

func TestChunks(t *testing.T) {
	x := &parse.Series{Name: "a_x", Chunks: []parse.Chunk{chunk(t, 0, 1, 2, 3), chunk(t, 2, 3, 4, 5), chunk(t, 5, 6, 7)}}
	n := &replay.Node{Records: replay.Records{Series: []*parse.Series{x}}}
	got, err := Open(NewStore([]*replay.Node{n})).Instant(context.Background(), "a_x[1m]", at(10))
	if err != nil || show(got) != `{__name__="a_x"} 0:1 1:2 2:3 3:4 4:5 5:6 6:7;` {
		t.Errorf("got %s %v", show(got), err)
	}
	it := newChunkIterator(x)
	if it.Seek((base+4)*1000) != chunkenc.ValFloat || it.AtT() != (base+4)*1000 {
		t.Errorf("seek landed on %d", it.AtT()/1000-base)
	}
}

func TestDerived(t *testing.T) {
	yes := true
	sig := func(sec int64, id string) *parse.Event {
		return parse.NewEvent(&parse.EventKind{Sigs: &parse.SigSet{Sigs: []*parse.Sig{{ID: id}}}, Origin: &parse.Origin{Source: parse.SrcKubelet}}, parse.Text{}, parse.Event{Stamp: parse.Stamp{At: ns(sec), Basis: parse.Stated}})
	}
	n := &replay.Node{Window: replay.Window{Start: ns(0), End: ns(600)},
		Records: replay.Records{Name: "w1", Have: map[parse.Source]bool{parse.SrcKubelet: true},
			Events: []*parse.Event{sig(200, parse.SigSkip), sig(205, parse.SigSkip), sig(300, parse.SigDiscard)}},
		Episodes: []replay.Episode{{LastStart: replay.Instant{At: ns(10)}, Breach: ns(190), LastReport: ns(250), Recovered: replay.Instant{At: ns(260)}}},
		Health: []replay.HealthSpan{{Span: replay.Span{From: ns(0), To: ns(190)}, State: replay.Healthy}, {Span: replay.Span{From: ns(190), To: ns(260)}, State: replay.Unhealthy},
			{Span: replay.Span{From: ns(260), To: ns(400)}, State: replay.HealthUnknown}},
		Relists: []replay.Relist{{Start: replay.Instant{At: ns(10)}, Outcome: replay.OutcomeUnknown}, {Start: replay.Instant{At: ns(400)}, End: replay.Instant{At: ns(410)}, Listed: &yes},
			{Start: replay.Instant{At: ns(411)}, End: replay.Instant{At: ns(412)}, Listed: &yes}},
		Ready:    []replay.ReadyChange{{At: ns(195)}, {At: ns(265), Ready: true}},
		Failures: []replay.Failure{{Call: "ListPodSandbox", Code: "DeadlineExceeded", End: ns(130)}},
		Observed: replay.ListOf(replay.PodEvent{At: ns(20), Type: "ContainerStarted"}, replay.PodEvent{At: ns(20), Type: "ContainerStarted"}, replay.PodEvent{At: ns(30), Type: "ContainerDied"}),
		Runs:     []replay.Run{{First: ns(0)}, {First: ns(500)}},
		Lags:     []replay.LogLag{{At: ns(100), Lag: 3 * time.Second}},
	}
	db := Open(NewStore([]*replay.Node{n}))
	tests := []struct {
		expr string
		at   int64
		want string
	}{
		{"sum(plegforensics_relist_age_seconds)", 200, "{}=190;"},
		{"sum(plegforensics_relist_age_seconds)", 262, ""},
		{"sum(plegforensics_relist_running)", 100, ""}, // not proven to run: the kubelet may have been frozen
		{"sum(plegforensics_relist_running)", 405, "{}=1;"},
		{"sum(plegforensics_relist_running)", 410, "{}=0;"},
		{"sum(plegforensics_relist_running)", 414, ""},
		{"sum(plegforensics_pleg_unhealthy)", 189, "{}=0;"},
		{"sum(plegforensics_pleg_unhealthy)", 190, "{}=1;"},
		{"sum(plegforensics_pleg_unhealthy)", 300, ""},
		{"sum(plegforensics_skipped_syncs_total)", 199, "{}=0;"},
		{"sum(plegforensics_skipped_syncs_total)", 206, "{}=2;"},
		{"sum(plegforensics_discarded_events_total)", 301, "{}=1;"},
		{"sum by (type) (plegforensics_pleg_events_total)", 31, `{type="ContainerDied"}=1;{type="ContainerStarted"}=2;`},
		{"sum by (operation_type, code) (plegforensics_runtime_errors_total)", 131, `{code="DeadlineExceeded", operation_type="list_podsandbox"}=1;`},
		{"sum(plegforensics_node_ready)", 200, "{}=0;"},
		{"sum(plegforensics_node_ready)", 600, "{}=1;"},
		{"sum(plegforensics_kubelet_restarts_total)", 599, "{}=1;"},
		{"max_over_time(plegforensics_journal_lag_seconds[10m]) > 0", 600, `{instance="w1", node="w1"}=3;`},
		{"max(max_over_time(plegforensics_relist_age_seconds[10m]))", 600, "{}=249.999;"},
	}
	for _, tt := range tests {
		got, err := db.Instant(context.Background(), tt.expr, at(tt.at))
		if err != nil || show(got) != tt.want {
			t.Errorf("%s @%d = %s %v, want %s", tt.expr, tt.at, show(got), err, tt.want)
		}
	}
	for _, m := range DerivedMetrics() {
		if m.Help == "" || m.Type == "" || !db.Has(m.Name) {
			t.Errorf("%s: documented %q, present %v", m.Name, m.Help, db.Has(m.Name))
		}
	}
}

// TestSeekEqualsNext: for every iterator, Seek stops where repeated Next does.
func TestSeekEqualsNext(t *testing.T) {
	n := snapshots("a_x 1 - 3 4 - - 7")
	iters := map[string]func() chunkenc.Iterator{
		"points": func() chunkenc.Iterator { return newPointIterator(n.Series[0], staleAt(n.Series[0], n.Scrapes)) },
		"chunks": func() chunkenc.Iterator {
			return newChunkIterator(&parse.Series{Chunks: []parse.Chunk{chunk(t, 0, 1, 2, 3), chunk(t, 1, 2, 3, 4), chunk(t, 50, 6)}})
		},
		"recorded": func() chunkenc.Iterator {
			return &recordedIterator{samples: []recorded{{t: base * 1000, v: 1}, {t: base*1000 + 40_000, v: 2}}}
		},
		"pieces": func() chunkenc.Iterator {
			return &pieceIterator{step: 7000, pieces: []piece{{from: base * 1000, to: base*1000 + 20_000, slope: 1}, {from: base*1000 + 20_000, to: base*1000 + 31_000, v: 2}, {from: base*1000 + 60_000, to: base*1000 + 80_000, v: 3}}}
		},
	}
	for name, open := range iters {
		for target := base*1000 - 1000; target < base*1000+100_000; target += 500 {
			walk, seek := open(), open()
			k := walk.Next()
			for k != chunkenc.ValNone && walk.AtT() < target {
				k = walk.Next()
			}
			got := seek.Seek(target)
			if got != k || k != chunkenc.ValNone && (seek.AtT() != walk.AtT() || !sameValue(seek, walk)) {
				t.Fatalf("%s: seek %d landed on %d, walking on %d", name, target-base*1000, seek.AtT()-base*1000, walk.AtT()-base*1000)
			}
		}
	}
}

func sameValue(a, b chunkenc.Iterator) bool {
	_, x := a.At()
	_, y := b.At()
	return math.Float64bits(x) == math.Float64bits(y)
}

// TestWorkIsBounded: expressions that are too expensive are refused before evaluation, and others
// are not.
func TestWorkIsBounded(t *testing.T) {
	n := &replay.Node{Records: replay.Records{Name: "n"}}
	sc := &parse.Scrape{Stamp: parse.Stamp{At: 1e18, Basis: parse.Stated}}
	for i := range 100 {
		x := &parse.Series{Name: "x", Labels: []parse.Field{{Name: "l", Value: fmt.Sprint(i)}}}
		for k := range 10 {
			x.Points = append(x.Points, parse.Point{At: 1e18 + int64(k)*15e9, Src: sc})
		}
		n.Series = append(n.Series, x)
	}
	db := Open(NewStore([]*replay.Node{n}))
	at := time.Unix(1e9, 0)
	for expr, refused := range map[string]bool{
		"count_over_time(vector(1)[100y:1s])":                          true,
		"sum_over_time(sum_over_time(vector(1)[10m:100ms])[1h:1s])":    false,
		"sum_over_time(sum_over_time(vector(1)[9h:1ms])[9h:1s])":       true,
		"max_over_time(x[10h:1ms])":                                    true,
		"max_over_time(x[10h:1m])":                                     false,
		"sum(rate(x[5m]))":                                             false,
		"max_over_time((sum(x) > 1)[1000d:1s] offset 1d) or vector(1)": true,
	} {
		_, err := db.Instant(context.Background(), expr, at)
		var too *WorkError
		if errors.As(err, &too) != refused {
			t.Errorf("%s: %v", expr, err)
		}
		if _, again := db.Instant(context.Background(), expr, at); (again == nil) != (err == nil) {
			t.Errorf("%s: the second time %v", expr, again)
		}
	}
	if _, err := db.Range(context.Background(), "max_over_time(x[1h:1s])", at, at.Add(time.Hour), 50*time.Millisecond); err == nil {
		t.Error("a range of costly moments is evaluated")
	}
}

// TestStoreTakesFewObjects: for each series the garbage collector has to scan little more than its
// labels.
func TestStoreTakesFewObjects(t *testing.T) {
	const n = 2000
	src := &parse.Scrape{Node: "w1", Job: "kubelet", Samples: n, Stamp: parse.Stamp{At: 1e9, Basis: parse.Stated}}
	var xs []*parse.Series
	for i := range n {
		xs = append(xs, &parse.Series{Name: "x", Node: "w1", Job: "kubelet", Labels: []parse.Field{{Name: "l", Value: fmt.Sprint(i)}}, Points: []parse.Point{{At: 1e9, V: 1, Src: src}}})
	}
	node := &replay.Node{Records: replay.Records{Series: xs, Scrapes: []*parse.Scrape{src}}}
	var s *Store
	each := testing.AllocsPerRun(3, func() { s = NewStore([]*replay.Node{node}) }) / n
	if each > 1.5 || len(s.byName["x"]) != n {
		t.Errorf("%.1f objects a series, %d of %d series", each, len(s.byName["x"]), n)
	}
}
