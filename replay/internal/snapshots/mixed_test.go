package snapshots

import (
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestWithoutMixed checks that snapshots of two processes that ran at the same time are told from those of one
// kubelet that was restarted.
func TestWithoutMixed(t *testing.T) {
	const a, b, c = 1795217000, 1795217300, 1795217600 // starts, in Unix seconds
	for _, tt := range []struct {
		name         string
		starts, seen []float64
		basis        parse.Basis
		mixed        bool
	}{
		{"one process", []float64{a, a, a}, []float64{1, 2, 3}, parse.Stated, false},
		{"a start that is rounded", []float64{a, a + 1, a}, []float64{1, 2, 3}, parse.Stated, false},
		{"two restarts", []float64{a, a, b, b, c}, []float64{a + 1, a + 10, b + 1, b + 10, c + 1}, parse.Stated, false},
		{"in turn", []float64{a, b, a}, nil, parse.Stated, true},
		{"in turn with a restart of one", []float64{a, b, c, b}, nil, parse.Stated, true},
		{"without times", []float64{a, b, a}, nil, parse.NoTime, false},
		{"one snapshot each, the older process first", []float64{a, b}, []float64{b + 100, b + 110}, parse.Stated, true},
		{"one snapshot each, the older process last", []float64{b, a}, []float64{b + 100, b + 110}, parse.Stated, true},
		{"restarted right after the snapshot", []float64{a, b}, []float64{b - 1, b + 10}, parse.Stated, false},
		{"clock set back a little before the restart", []float64{a, b}, []float64{b + 30, b + 10}, parse.Stated, false},
	} {
		src := &parse.Scrape{File: &parse.File{}, Stamp: parse.Stamp{Basis: tt.basis}}
		series := func(name, job string, vs []float64) *parse.Series {
			x := &parse.Series{Name: name, Job: job}
			for i, v := range vs {
				x.Points = append(x.Points, parse.Point{At: int64(i+1) * 1e9, V: v, Src: src})
			}
			return x
		}
		all := []*parse.Series{series("kubelet_pleg_last_seen_seconds", "kubelet", tt.seen), series("process_start_time_seconds", "kubelet", tt.starts),
			series("process_start_time_seconds", "crio", []float64{a, b, a})}
		left, m := WithoutMixed(all)
		if mixed := m != nil; mixed != tt.mixed || mixed && (m.One == nil || m.Other == nil) || mixed != (len(left) == 1) || !mixed && len(left) != 3 {
			t.Errorf("%s: %+v, %d series left", tt.name, m, len(left))
		}
	}
}

// TestOutrun checks that counts which rise faster than one kubelet relists are told from those of one that was
// restarted.
func TestOutrun(t *testing.T) {
	const basis, minute = parse.Stated, int64(60e9)
	for _, tt := range []struct {
		name   string
		counts []float64 // a minute apart
		basis  parse.Basis
		mixed  bool
	}{
		{"a relist a second", []float64{5000, 5059, 5118}, basis, false},
		{"restarted", []float64{5000, 5059, 12, 71}, basis, false},
		{"two in turn", []float64{5000, 200, 5118, 318}, basis, true},
		{"one after the other", []float64{200, 5118}, basis, true},
		{"the other one has counted fewer", []float64{90000, 5000}, basis, true},
		{"without times", []float64{200, 5118}, parse.NoTime, false},
		{"with a lower bound of the time", []float64{200, 5118}, parse.LowerBound, false},
	} {
		src := &parse.Scrape{File: &parse.File{}, Stamp: parse.Stamp{Basis: tt.basis}}
		for _, name := range []string{"kubelet_pleg_relist_duration_seconds_count", "kubelet_pleg_relist_latency_microseconds_count"} {
			x := &parse.Series{Name: name, Job: "kubelet"}
			for i, v := range tt.counts {
				x.Points = append(x.Points, parse.Point{At: int64(i+1) * minute, V: v, Src: src})
			}
			other := &parse.Series{Name: "crio_operations", Job: "crio"}
			if left, m := WithoutMixed([]*parse.Series{x, other}); (m != nil) != tt.mixed || (len(left) == 1) != tt.mixed {
				t.Errorf("%s, %s: %+v, %d series left", name, tt.name, m, len(left))
			}
		}
	}
}

// TestUnnamed checks that counts which fall show a restart only where the snapshots are of one node or tell of the process.
func TestUnnamed(t *testing.T) {
	const D = "kubelet_pleg_relist_duration_seconds"
	for _, tt := range []struct {
		name   string
		rows   []string
		files  int
		node   string
		unsure bool
	}{
		{"counts that grow", []string{D + "_count 10 20", D + "_sum 1 2"}, 2, "", false},
		{"counts that fall", []string{D + "_count 10 2", D + "_sum 1 0.2"}, 2, "", true},
		{"less time", []string{D + "_count 10 20", D + "_sum 1 0.2"}, 2, "", true},
		{"a bucket that falls", []string{D + "_count 10 20", D + "_sum 1 2", D + "_bucket|0.1 10 9", D + "_bucket|+Inf 10 20"}, 2, "", true},
		{"in one file", []string{D + "_count 10 2", D + "_sum 1 0.2"}, 1, "", false},
		{"of a node with a name", []string{D + "_count 10 2", D + "_sum 1 0.2"}, 2, "n1", false},
		{"with a start", []string{D + "_count 10 2", D + "_sum 1 0.2", "process_start_time_seconds 1795217000 1795217300"}, 2, "", false},
	} {
		series, scrapes := Table([]int{0, 15}, tt.rows...)
		for _, s := range scrapes {
			if s.Node = tt.node; tt.files == 1 {
				s.File = scrapes[0].File
			}
		}
		if _, m := WithoutMixed(series); (m != nil) != tt.unsure {
			t.Errorf("%s: %+v", tt.name, m)
		}
	}
}
