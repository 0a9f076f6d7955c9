package snapshots

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

const ProofBase = int64(1_795_217_460) // 2026-11-20 23:31:00 UTC

// Table builds series from rows of "name|le values", one column per snapshot; "-" means
// no sample. Snapshots are at ProofBase plus the offsets, in seconds.
func Table(offsets []int, rows ...string) ([]*parse.Series, []*parse.Scrape) {
	var scrapes []*parse.Scrape
	for i, o := range offsets {
		scrapes = append(scrapes, &parse.Scrape{File: &parse.File{Path: fmt.Sprintf("m/%02d.prom", i)}, Job: "kubelet",
			Stamp: parse.Stamp{At: (ProofBase + int64(o)) * 1e9, Basis: parse.Stated}})
	}
	var out []*parse.Series
	for n, r := range rows {
		f := strings.Fields(r)
		name, le, _ := strings.Cut(f[0], "|")
		s := &parse.Series{Name: name, Job: "kubelet"}
		if le != "" {
			s.Labels = []parse.Field{{Name: "le", Value: le}}
		}
		for i, v := range f[1:] {
			if v == "-" {
				continue
			}
			var x float64
			fmt.Sscan(v, &x)
			s.Points = append(s.Points, parse.Point{At: scrapes[i].At, V: x, Src: scrapes[i], Line: uint32(n + 1)})
		}
		out = append(out, s)
	}
	return out, scrapes
}

func showProofs(ps []Proof, kinds ...ProofKind) string {
	var b strings.Builder
	for _, p := range ps {
		for _, k := range kinds {
			if p.Kind != k {
				continue
			}
			fmt.Fprintf(&b, "%s", k)
			if p.From != 0 {
				fmt.Fprintf(&b, " +%d", p.From/1e9-ProofBase)
			}
			fmt.Fprintf(&b, "..+%d n=%d sum=%v", p.To/1e9-ProofBase, p.Count, p.Sum.Round(time.Millisecond))
			if p.SumMax != 0 {
				fmt.Fprintf(&b, " [%v %v]", p.SumMin, p.SumMax)
			}
			if p.Start.Known() {
				fmt.Fprintf(&b, " start=+%d±%v", p.Start.At/1e9-ProofBase, p.Start.Slack)
			}
			if len(p.Evidence) == 0 {
				b.WriteString(" NO EVIDENCE")
			}
			b.WriteString("; ")
		}
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func TestMetricProofs(t *testing.T) {
	const D, I = "kubelet_pleg_relist_duration_seconds", "kubelet_pleg_relist_interval_seconds"
	tests := []struct {
		name    string
		offsets []int
		rows    []string
		kinds   []ProofKind
		want    string
	}{
		{"last seen names a start", []int{0, 15}, []string{"kubelet_pleg_last_seen_seconds 1795217459 1795217459", D + "_count 1 1", D + "_sum 1 1"},
			[]ProofKind{ProofStart}, "start +0..+15 n=-1 sum=0s start=+-1±500ms"},
		{"counts and sums", []int{0, 15}, []string{D + "_count 10 24", D + "_sum 1 1.5"},
			[]ProofKind{ProofCount}, "count +0..+15 n=14 sum=500ms"},
		{"a hung relist is bounded by the buckets of the others", []int{0, 15, 300}, []string{
			D + "_count 10 20 31", D + "_sum 1 1.5 242", D + "_bucket|5 10 20 30", D + "_bucket|10 10 20 30", D + "_bucket|+Inf 10 20 31"},
			[]ProofKind{ProofLong}, "long +15..+300 n=1 sum=4m0.5s [3m10.5s 4m0.5s]"},
		{"a single snapshot counts from the start of the process", []int{0}, []string{
			D + "_count 31", D + "_sum 242", D + "_bucket|5 30", D + "_bucket|10 30", D + "_bucket|+Inf 31", "process_start_time_seconds 1795217360"},
			[]ProofKind{ProofLong}, "long +-100..+0 n=1 sum=4m2s [1m32s 4m2s]"},
		{"begun and ended", []int{0, 15, 30, 45}, []string{D + "_count 10 20 20 20", I + "_count 9 20 20 19", D + "_sum 1 1 1 1"},
			[]ProofKind{ProofRunning}, "running..+15 n=1 sum=0s; running +15..+30 n=1 sum=0s"},
		{"failures before the first success shift the idle value", []int{0, 15}, []string{D + "_count 14 25", I + "_count 10 22", D + "_sum 1 1"},
			[]ProofKind{ProofRunning}, "running..+15 n=1 sum=0s"},
		{"restart by counter", []int{0, 15}, []string{D + "_count 10 2", D + "_sum 1 0.1", "process_start_time_seconds 1795217400 1795217470"},
			[]ProofKind{ProofRestart, ProofCount}, "restart +0..+15 n=-1 sum=0s start=+10±1s"},
		{"restart by start time alone", []int{0, 15}, []string{D + "_count 10 12", D + "_sum 1 1.1", "process_start_time_seconds 1795217400 1795217470"},
			[]ProofKind{ProofRestart, ProofCount}, "restart +0..+15 n=-1 sum=0s start=+10±1s"},
		{"gap over a hang", []int{0, 15, 30, 45, 60, 320}, []string{D + "_count 10 20 30 40 50 53", D + "_sum 1 2 3 4 5 245"},
			[]ProofKind{ProofGap}, "gap +60..+320 n=3 sum=4m0s"},
		{"frozen process", []int{0, 15, 30, 45, 300}, []string{D + "_count 10 20 30 40 50", D + "_sum 1 2 3 4 5", I + "_count 9 19 29 39 49", I + "_sum 10 20 30 40 290",
			D + "_bucket|10 10 20 30 40 50", D + "_bucket|+Inf 10 20 30 40 50", I + "_bucket|2.5 9 19 29 39 48", I + "_bucket|+Inf 9 19 29 39 49"},
			[]ProofKind{ProofFrozen}, "frozen +45..+300 n=1 sum=3m47.5s"},
		{"microseconds before 1.14", []int{0, 15}, []string{"kubelet_pleg_relist_latency_microseconds_count 10 11", "kubelet_pleg_relist_latency_microseconds_sum 1e6 121e6"},
			[]ProofKind{ProofCount}, "count +0..+15 n=1 sum=2m0s"},
		{"both generations are never added", []int{0, 15}, []string{D + "_count 10 11", D + "_sum 1 2",
			"kubelet_pleg_relist_latency_microseconds_count 10 11", "kubelet_pleg_relist_latency_microseconds_sum 1e6 2e6"},
			[]ProofKind{ProofCount}, "count +0..+15 n=1 sum=1s"},
		{"the evented PLEG moves last seen without a relist", []int{0, 15}, []string{"kubelet_pleg_last_seen_seconds 1795217459 1795217474", D + "_count 3 3", I + "_count 2 2", D + "_sum 1 1"},
			[]ProofKind{ProofStart}, "start +0..+0 n=-1 sum=0s start=+-1±500ms"},
		{"an interval beyond the buckets is the age of the last good relist", []int{0, 15, 30, 45}, []string{D + "_count 10 20 20 21", I + "_count 9 20 20 21", D + "_sum 1 2 2 122", I + "_sum 9 20 20 262",
			D + "_bucket|10 10 20 20 20", D + "_bucket|+Inf 10 20 20 21", I + "_bucket|10 9 20 20 20", I + "_bucket|+Inf 9 20 20 21"},
			[]ProofKind{ProofAge}, "age +30..+45 n=1 sum=4m2s [4m2s 4m2s]"},
		{"of several intervals the longest is at least the mean", []int{0, 15, 400}, []string{D + "_count 10 20 23", I + "_count 9 19 22", D + "_sum 1 2 362", I + "_sum 9 19 749",
			D + "_bucket|10 10 20 20", D + "_bucket|+Inf 10 20 23", I + "_bucket|10 9 19 19", I + "_bucket|+Inf 9 19 22"},
			[]ProofKind{ProofAge}, "age +15..+400 n=3 sum=12m10s [4m3.333333333s 12m10s]"},
		{"a stopped process observes a long interval too", []int{0, 15, 400}, []string{D + "_count 10 20 30", I + "_count 9 19 29", D + "_sum 1 2 3", I + "_sum 9 19 389",
			D + "_bucket|10 10 20 30", D + "_bucket|+Inf 10 20 30", I + "_bucket|10 9 19 28", I + "_bucket|+Inf 9 19 29"},
			[]ProofKind{ProofAge}, ""},
		{"a relist seen running is dated", []int{0, 15, 30, 135, 150}, []string{D + "_count 10 20 20 20 21", I + "_count 9 20 20 20 21", D + "_sum 1 2 2 2 122", I + "_sum 9 24 24 24 146.1",
			D + "_bucket|10 10 20 20 20 20", D + "_bucket|+Inf 10 20 20 20 21", "kubelet_pleg_last_seen_seconds 1795217459 1795217469 1795217469 1795217469 1795217469"},
			[]ProofKind{ProofRelist}, "relist +15..+150 n=1 sum=0s [2m0s 2m0s] start=+15±500ms"},
		{"one that ran at two snapshots began before both, also where nothing counts intervals", []int{0, 150, 300, 450}, []string{D + "_count 10 103 103 208", D + "_sum .1 1 1 251",
			D + "_bucket|.5 10 103 103 207", D + "_bucket|10 10 103 103 207", D + "_bucket|+Inf 10 103 103 208"},
			[]ProofKind{ProofRelist}, "relist +150..+450 n=1 sum=0s [3m18s 4m10s] start=+101±51.3s"},
		{"one that still runs has no end", []int{0, 15, 30}, []string{D + "_count 10 20 20", I + "_count 9 20 20", D + "_sum 1 2 2"},
			[]ProofKind{ProofRelist}, "relist +15..+30 n=1 sum=0s start=+8±8s"},
		{"one that runs is the long one where another would be too much, and began as late as the intervals say", []int{0, 15, 30}, []string{D + "_count 10 19 20", I + "_count 9 19 20", D + "_sum 1 1.1 11.9", I + "_sum 9 19.2 30",
			D + "_bucket|.5 10 19 19", D + "_bucket|10 10 19 19", D + "_bucket|+Inf 10 19 20"},
			[]ProofKind{ProofRelist}, "relist +15..+30 n=1 sum=0s [10.8s 10.8s] start=+7±3.5s"},
		{"one between two snapshots", []int{0, 60}, []string{D + "_count 10 31", I + "_count 9 30", D + "_sum 1 21.5", D + "_bucket|.5 10 30", D + "_bucket|10 10 30", D + "_bucket|+Inf 10 31"},
			[]ProofKind{ProofRelist}, "relist +0..+60 n=1 sum=0s [10.5s 20.5s] start=+15±35.5s"},
		{"one between two snapshots, of which neither was taken while one ran", []int{0, 60, 75, 90, 105}, []string{D + "_count 10 31 46 61 76", I + "_count 9 30 45 60 75", D + "_sum 1 21.5 21.7 21.9 22",
			D + "_bucket|.5 10 30 45 60 75", D + "_bucket|10 10 30 45 60 75", D + "_bucket|+Inf 10 31 46 61 76"},
			[]ProofKind{ProofRelist}, "relist +0..+60 n=1 sum=0s [10.5s 20.5s] start=+25±25.25s"},
		{"snapshots that were all taken while a relist ran", []int{0, 30}, []string{D + "_count 2 3", I + "_count 1 2", D + "_sum 20 49", I + "_sum 21 51", D + "_bucket|10 1 1", D + "_bucket|+Inf 2 3"},
			[]ProofKind{ProofRelist}, "relist +0..+30 n=1 sum=0s [29s 29s] start=+-14±15.5s"},
		{"the first relist begins long after the process", []int{0, 20, 35}, []string{D + "_count 0 0 1", I + "_count 0 0 0", D + "_sum 0 0 11", D + "_bucket|10 0 0 0", D + "_bucket|+Inf 0 0 1"},
			[]ProofKind{ProofRelist}, "relist +0..+35 n=1 sum=0s [11s 11s] start=+17±8s"},
		{"no sum of one moment", []int{0, 15, 30}, []string{D + "_count 10 20 21", D + "_sum 1 2 NaN", D + "_bucket|10 10 20 20", D + "_bucket|+Inf 10 20 21"},
			[]ProofKind{ProofCount, ProofLong, ProofRelist, ProofGap}, "count +0..+15 n=10 sum=1s"},
		{"other buckets are missing in each", []int{0, 15, 30}, []string{D + "_count 10 20 30", D + "_sum 1 2 3", D + "_bucket|5 NaN 20 30", D + "_bucket|10 10 NaN 30", D + "_bucket|+Inf 10 20 30"},
			[]ProofKind{ProofCount, ProofLong, ProofRelist}, ""},
		{"buckets of another moment", []int{0, 15, 30}, []string{D + "_count 10 20 30", D + "_sum 1 2 3", D + "_bucket|10 10 18 30", D + "_bucket|+Inf 10 19 30"},
			[]ProofKind{ProofCount, ProofLong, ProofRelist}, "count +0..+30 n=20 sum=2s"},
		{"before the first that lists nothing tells whether one runs", []int{0, 47}, []string{D + "_count 1 32", I + "_count 0 30", D + "_sum 120 158.5", D + "_bucket|.5 0 30", D + "_bucket|10 0 30", D + "_bucket|+Inf 1 32"},
			[]ProofKind{ProofRelist}, "relist +0..+47 n=1 sum=0s [23.5s 38.5s] start=+-7±31.5s"},
		{"no metrics", nil, nil, []ProofKind{ProofStart, ProofCount, ProofGap}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			series, scrapes := Table(tt.offsets, tt.rows...)
			if got := showProofs(Proofs(series, scrapes), tt.kinds...); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestErrorPagesMakeAGap(t *testing.T) {
	series, scrapes := Table([]int{0, 15, 30, 60, 75}, "kubelet_pleg_relist_duration_seconds_count 1 2 3 4 5", "kubelet_pleg_relist_duration_seconds_sum 1 2 3 4 5")
	scrapes = append(scrapes, &parse.Scrape{File: &parse.File{Path: "m/bad.prom"}, Line: 1, Failed: "An error has occurred while serving metrics:",
		Stamp: parse.Stamp{At: (ProofBase + 45) * 1e9, Basis: parse.Stated}})
	got := Proofs(series, scrapes)
	for _, p := range got {
		if p.Kind == ProofGap {
			last := p.Evidence[len(p.Evidence)-1]
			if last.Where().String() != "m/bad.prom:1" || p.From/1e9-ProofBase != 30 {
				t.Errorf("gap from +%d cites %v", p.From/1e9-ProofBase, last.Where())
			}
			return
		}
	}
	t.Error("no gap")
}

// TestOnDemandRelistsInThePause checks that on-demand relists of single pods, which
// from 1.36 on the loop makes between two relists of the node, explain a pause that
// would otherwise mean a failed list or a stopped process.
func TestOnDemandRelistsInThePause(t *testing.T) {
	const D, I, P = "kubelet_pleg_relist_duration_seconds", "kubelet_pleg_relist_interval_seconds", "kubelet_pleg_pod_relist_duration_seconds_sum"
	at := func(s int) int64 { return int64(1_795_367_345+s) * 1e9 }
	series := func(name, le string, values ...float64) *parse.Series {
		s := &parse.Series{Name: name}
		if le != "" {
			s.Labels = []parse.Field{{Name: "le", Value: le}}
		}
		for i, v := range values {
			s.Points = append(s.Points, parse.Point{At: at(20 * i), V: v, Src: &parse.Scrape{Stamp: parse.Stamp{At: at(20 * i), Basis: parse.Stated}}})
		}
		return s
	}
	// A relist of 83 s that is running at the second to the sixth snapshot; the next
	// one begins 2.26 s after its end.
	long := []*parse.Series{series(D+"_count", "", 60, 60, 60, 60, 60, 61), series(D+"_sum", "", .26, .26, .26, .26, .26, 83.16),
		series(I+"_count", "", 59, 60, 60, 60, 60, 61), series(I+"_sum", "", 59.3, 60.3, 60.3, 60.3, 60.3, 145.46),
		series(D+"_bucket", "10", 60, 60, 60, 60, 60, 60), series(D+"_bucket", "+Inf", 60, 60, 60, 60, 60, 61)}
	for pods, want := range map[float64]string{0: "list failed", 2.26: "unknown", 0.2: "list failed"} {
		got := "none"
		for _, p := range Proofs(append(long, series(P, "", .1, .1, .1, .1, .1, .1+pods)), nil) {
			if p.Kind == ProofRelist && p.SumMax > time.Minute {
				switch {
				case !p.Pods:
					got = "not counted"
				case p.Listed == nil:
					got = "unknown"
				case *p.Listed:
					got = "listed"
				default:
					got = "list failed"
				}
			}
		}
		if got != want {
			t.Errorf("relists of single pods took %v s: %s, want %s", pods, got, want)
		}
	}
	// No relist of the node for four minutes, and none that took long.
	still := []*parse.Series{series(D+"_count", "", 60, 70), series(D+"_sum", "", .3, .35), series(D+"_bucket", "10", 60, 70), series(D+"_bucket", "+Inf", 60, 70),
		series(I+"_count", "", 59, 69), series(I+"_sum", "", 59, 59+9+15), series(I+"_bucket", "1", 30, 30), series(I+"_bucket", "10", 59, 68), series(I+"_bucket", "+Inf", 59, 69)}
	for _, s := range still { // 300 s apart
		s.Points[1].At = at(300)
		s.Points[1].Src.Stamp.At = at(300)
	}
	still[5].Points[1].V = 59 + 9 + 241
	for pods, want := range map[float64]bool{0: true, 240: false} {
		x := series(P, "", .1, .1+pods)
		x.Points[1].At, x.Points[1].Src.Stamp.At = at(300), at(300)
		frozen := false
		for _, p := range Proofs(append(still, x), nil) {
			frozen = frozen || p.Kind == ProofFrozen
		}
		if frozen != want {
			t.Errorf("relists of single pods took %v s: stood still %v", pods, frozen)
		}
	}
}
