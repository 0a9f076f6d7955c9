package query

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/replay"
)

func TestWhy(t *testing.T) {
	db := Open(NewStore([]*replay.Node{snapshots("h_seconds_bucket|10.0 1 2 3", "h_seconds_bucket|2.5 1 2 3", "kubelet_running_pods 3 4 5", "kubelet_runtime_operations_duration_seconds_bucket|10.0 1 2 3")}))
	for _, tt := range []struct {
		expr string
		at   int64
		want string
	}{
		{`h_seconds_bucket{le="11"}`, 30, `no series h_seconds_bucket has le="11"; le is "10.0", "2.5"`},
		{`h_seconds_bucket{lee="11"}`, 30, `no series h_seconds_bucket has a label lee`},
		{`rate(kubelet_running_pods[10s])`, 30, `samples of kubelet_running_pods are 15s apart, so that a range of 10s never holds two; try [1m]`},
		{`kubelet_running_pod_count`, 30, `no series is called kubelet_running_pod_count; this kubelet calls it kubelet_running_pods`},
		{`kubelet_runtime_operations_latency_microseconds`, 30, `this kubelet calls it kubelet_runtime_operations_duration_seconds_bucket`},
		{`kubelet_running_pods`, 3600, `the last sample of kubelet_running_pods is of 2026-11-20 23:31:30 UTC, more than 5m before the moment asked for`},
		{`kubelet_running_pods`, -60, `the first sample of kubelet_running_pods is of 2026-11-20 23:31:00 UTC, after the moment asked for`},
		{`kubelet_running_pods > 9`, 30, `a comparison that does not hold`},
	} {
		r, err := db.Instant(context.Background(), tt.expr, at(tt.at))
		if err != nil || show(r) != "" {
			t.Errorf("%s: %s %v", tt.expr, show(r), err)
		}
		if got := strings.Join(db.Why(tt.expr, at(tt.at)), "; "); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", tt.expr, got)
		}
	}
}

func TestPeaks(t *testing.T) {
	db := Open(NewStore([]*replay.Node{snapshots("a_x 1 7 2")}))
	r, err := db.Range(context.Background(), "a_x", at(0), at(30), 15*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Peaks(); len(p) != 1 || p[0].V != 7 || p[0].T != at(15).UnixMilli() {
		t.Errorf("%v", p)
	}
}
