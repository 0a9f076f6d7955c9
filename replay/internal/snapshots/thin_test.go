package snapshots

import (
	"fmt"
	"iter"
	"reflect"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// packed moves the points of the series behind Unpack, as a database holds them.
func packed(series []*parse.Series) []*parse.Series {
	var out []*parse.Series
	for _, s := range series {
		c, points := *s, s.Points
		c.Points = nil
		c.Chunks = []parse.Chunk{{Min: points[0].At, Max: points[len(points)-1].At, Src: points[0].Src}}
		c.Unpack = func(*parse.Series) iter.Seq[parse.Point] {
			return func(yield func(parse.Point) bool) {
				for _, p := range points {
					if !yield(p) {
						return
					}
				}
			}
		}
		out = append(out, &c)
	}
	return out
}

func TestPackedSeriesProveTheSame(t *testing.T) {
	const D, I = "kubelet_pleg_relist_duration_seconds", "kubelet_pleg_relist_interval_seconds"
	rel, scrapes := Table([]int{0, 15, 30, 45, 60, 180}, D+"_count 10 20 20 20 21 22", I+"_count 9 20 20 20 21 22", D+"_sum 1 2 2 2 42 162", I+"_sum 9 20 20 20 62 190",
		D+"_bucket|10 10 20 20 20 20 20", D+"_bucket|+Inf 10 20 20 20 21 22", "kubelet_pleg_last_seen_seconds 1795217459 1795217469 1795217469 1795217469 1795217469 1795217469")
	calls := callTable([]int{0, 15, 30}, opSeconds+"_count|status|x 10 21 22", opSeconds+"_sum|status|x 1 2 122",
		opSeconds+"_bucket|status|19 10 21 21", opSeconds+"_bucket|status|+Inf 10 21 22")
	if got, want := Proofs(packed(rel), scrapes), Proofs(rel, scrapes); showAll(got) != showAll(want) {
		t.Errorf("got  %s\nwant %s", showAll(got), showAll(want))
	}
	got, want := CallSteps(packed(calls)), CallSteps(calls)
	for i := range got {
		got[i].Evidence, want[i].Evidence = nil, nil // they cite other samples
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func showAll(ps []Proof) string {
	return showProofs(ps, ProofStart, ProofCount, ProofLong, ProofRunning, ProofRestart, ProofGap, ProofFrozen, ProofRelist, ProofAge)
}

// TestManySnapshotsAreThinned checks that few of months of snapshots are read, yet a
// hang among them is found to the second.
func TestManySnapshotsAreThinned(t *testing.T) {
	const n, D, I = 40_000, "kubelet_pleg_relist_duration_seconds", "kubelet_pleg_relist_interval_seconds"
	src := &parse.Scrape{File: &parse.File{Path: "db/index"}, Stamp: parse.Stamp{Basis: parse.Stated}}
	mk := func(name, le string, f func(ended, hung float64) float64) *parse.Series {
		s := &parse.Series{Name: name, Job: "kubelet"}
		if le != "" {
			s.Labels = []parse.Field{{Name: "le", Value: le}}
		}
		ended, hung := 0.0, 0.0
		for i := range n {
			switch k := i - 30_001; { // a relist hangs for 300 s, which is 20 scrapes
			case k < 0 || k > 20:
				ended += 14
			case k == 20:
				ended, hung = ended+1, 1
			}
			s.Points = append(s.Points, parse.Point{At: (ProofBase + int64(15*i)) * 1e9, V: f(ended, hung), Src: src})
		}
		return s
	}
	series := []*parse.Series{
		mk(D+"_count", "", func(e, _ float64) float64 { return e }), mk(D+"_sum", "", func(e, h float64) float64 { return e/100 + 300*h }),
		mk(D+"_bucket", "10", func(e, h float64) float64 { return e - h }), mk(D+"_bucket", "+Inf", func(e, _ float64) float64 { return e }),
		mk(I+"_count", "", func(e, _ float64) float64 { return e - 1 }),
	}
	shots, _ := shotsOf(series, relistMetrics)
	if len(shots) < 2_000 || len(shots) > 6_000 {
		t.Errorf("%d snapshots are read of %d", len(shots), n)
	}
	var long, gaps []string
	total := 0
	for _, p := range Proofs(series, nil) {
		switch p.Kind {
		case ProofLong:
			long = append(long, fmt.Sprintf("%d..%d n=%d", (p.From/1e9-ProofBase)/15, (p.To/1e9-ProofBase)/15, p.Count))
		case ProofGap:
			gaps = append(gaps, fmt.Sprint((p.From/1e9-ProofBase)/15))
		case ProofCount:
			total += p.Count
		}
	}
	if fmt.Sprint(long) != "[30020..30021 n=1]" || len(gaps) > 0 || total != 14*(n-22)+1 {
		t.Errorf("long %v, gaps %v, %d relists", long, gaps, total)
	}
}
