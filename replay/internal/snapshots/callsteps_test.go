package snapshots

import (
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// callTable is Table with the operation as a label; rows are "name|op|le values".
func callTable(offsets []int, rows ...string) []*parse.Series {
	var plain []string
	var ops []string
	for _, r := range rows {
		name, rest, _ := strings.Cut(r, "|")
		op, rest, _ := strings.Cut(rest, "|")
		plain, ops = append(plain, name+"|"+rest), append(ops, op)
	}
	series, _ := Table(offsets, plain...)
	for i, s := range series {
		s.Labels = append(s.Labels, parse.Field{Name: "operation_type", Value: ops[i]})
		if s.Label("le") == "x" {
			s.Labels = s.Labels[1:]
		}
	}
	return series
}

const opSeconds = "kubelet_runtime_operations_duration_seconds"

func TestOperationsOfSnapshots(t *testing.T) {
	tests := []struct {
		name          string
		offsets       []int
		rows          []string
		calls, errors int
		total         time.Duration
	}{
		{"growth between first and last", []int{0, 15, 30}, []string{
			opSeconds + "_count|list_podsandbox|x 10 20 30", opSeconds + "_sum|list_podsandbox|x 1 2 3"}, 20, 0, 2 * time.Second},
		{"one snapshot counts from the start", []int{0}, []string{
			opSeconds + "_count|list_podsandbox|x 10", opSeconds + "_sum|list_podsandbox|x 1"}, 10, 0, time.Second},
		{"a restart begins at zero", []int{0, 15, 30}, []string{
			opSeconds + "_count|list_podsandbox|x 10 20 5", opSeconds + "_sum|list_podsandbox|x 1 2 0.5"}, 15, 0, 1500 * time.Millisecond},
		{"the error counter appears with the first error", []int{0, 15, 30}, []string{
			opSeconds + "_count|list_podsandbox|x 10 20 30", opSeconds + "_sum|list_podsandbox|x 1 2 3",
			"kubelet_runtime_operations_errors_total|list_podsandbox|x - 3 5"}, 20, 5, 2 * time.Second},
		{"a damaged snapshot in between is no restart", []int{0, 15, 30}, []string{
			opSeconds + "_count|list_podsandbox|x 10 - 30", opSeconds + "_sum|list_podsandbox|x 1 - 3", opSeconds + "_count|status|x 1 2 3"}, 20, 0, 2 * time.Second},
		{"both generations are never added", []int{0, 15}, []string{
			opSeconds + "_count|list_podsandbox|x 10 20", opSeconds + "_sum|list_podsandbox|x 1 2", "kubelet_runtime_operations_total|list_podsandbox|x 10 20",
			"kubelet_runtime_operations|list_podsandbox|x 10 20", "kubelet_runtime_operations_latency_microseconds_sum|list_podsandbox|x 1e6 2e6"}, 10, 0, time.Second},
		{"microseconds before 1.14", []int{0, 15}, []string{
			"kubelet_runtime_operations|list_podsandbox|x 10 12", "kubelet_runtime_operations_latency_microseconds_count|list_podsandbox|x 10 12",
			"kubelet_runtime_operations_latency_microseconds_sum|list_podsandbox|x 1e6 241e6", "kubelet_runtime_operations_errors|list_podsandbox|x 0 2"}, 2, 2, 4 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, o := range ofMetrics(callTable(tt.offsets, tt.rows...)) {
				if o.Name != "list_podsandbox" {
					continue
				}
				if o.Calls != tt.calls || o.Errors != tt.errors || o.Total.Round(time.Millisecond) != tt.total || len(o.Evidence) == 0 {
					t.Errorf("got %d calls, %d errors, %v, want %d, %d, %v", o.Calls, o.Errors, o.Total, tt.calls, tt.errors, tt.total)
				}
				return
			}
			t.Error("operation not found")
		})
	}
}

func TestFailuresCountOnce(t *testing.T) {
	line := []host.Evidence{{Record: parse.NewEvent(&parse.EventKind{}, parse.Text{}, parse.Event{})}}
	at := func(sec int64) int64 { return (ProofBase + sec) * 1e9 }
	series := callTable([]int{0, 15}, opSeconds+"_count|list_podsandbox|x 10 20", opSeconds+"_sum|list_podsandbox|x 1 121",
		"kubelet_runtime_operations_errors_total|list_podsandbox|x 0 1")
	o := Operations(series, CallSteps(series), []kubelet.Failure{
		{Call: "ListPodSandbox", End: at(10), Start: host.Instant{At: at(-110)}, Evidence: line},
		{Call: "ListPodSandbox", End: at(200), Start: host.Instant{At: at(80)}, Evidence: line},
	})[0]
	if o.Calls != 11 || o.Errors != 2 || o.Total != 4*time.Minute {
		t.Errorf("got %d calls, %d errors, %v: the failure between the snapshots is in their counters", o.Calls, o.Errors, o.Total)
	}
}

func TestAFailureWithoutItsStartHasNoLength(t *testing.T) {
	line := []host.Evidence{{Record: parse.NewEvent(&parse.EventKind{}, parse.Text{}, parse.Event{})}}
	o := Operations(nil, nil, []kubelet.Failure{{Call: "StopPodSandbox", End: ProofBase * 1e9, Evidence: line}})[0]
	if o.Errors != 1 || o.Total != -1 {
		t.Errorf("got %d errors in %v, want 1 in an unknown time", o.Errors, o.Total)
	}
}

func TestLongCalls(t *testing.T) {
	steps := CallSteps(callTable([]int{0, 300}, opSeconds+"_count|status|x 10 21", opSeconds+"_sum|status|x 1 242",
		opSeconds+"_bucket|status|0.005 10 20", opSeconds+"_bucket|status|19 10 20", opSeconds+"_bucket|status|+Inf 10 21"))
	if len(steps) != 2 || !steps[0].Whole || steps[1].Long != 1 || steps[1].LongMean.Round(time.Second) != 241*time.Second || steps[1].Edge != 19*time.Second {
		t.Errorf("steps %+v", steps)
	}
}

func TestShareOfRelist(t *testing.T) {
	rel, _ := Table([]int{0, 15}, "kubelet_pleg_relist_duration_seconds_count 0 10", "kubelet_pleg_relist_duration_seconds_sum 0 10")
	ops := ofMetrics(append(rel, callTable([]int{0, 15},
		opSeconds+"_count|list_podsandbox|x 0 20", opSeconds+"_sum|list_podsandbox|x 0 4",
		opSeconds+"_count|podsandbox_status|x 0 5", opSeconds+"_sum|podsandbox_status|x 0 7",
		opSeconds+"_count|status|x 0 5", opSeconds+"_sum|status|x 0 7")...))
	want := map[string]float64{"list_podsandbox": 0.2, "podsandbox_status": 0.7, "status": -1}
	for _, o := range ops {
		if d := o.ShareOfRelist - want[o.Name]; d > 1e-9 || d < -1e-9 {
			t.Errorf("share of %s is %v, want %v", o.Name, o.ShareOfRelist, want[o.Name])
		}
	}
}

// ofMetrics returns the operations found in the metrics alone.
func ofMetrics(series []*parse.Series) []Operation { return Operations(series, CallSteps(series), nil) }
