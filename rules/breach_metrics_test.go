package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/metrics"
	"github.com/plegforensics/plegforensics/replay"
)

// snapshots builds series from rows of the form "name[|operation] values…" with one column
// per snapshot, taken at base plus an offset in seconds. "-" means no sample.
func snapshots(basis parse.Basis, offsets []int, rows ...string) []*parse.Series {
	var scrapes []*parse.Scrape
	for i, o := range offsets {
		scrapes = append(scrapes, &parse.Scrape{File: &parse.File{Path: fmt.Sprintf("%d.prom", i)}, Job: "kubelet",
			Stamp: parse.Stamp{At: base + int64(o)*second, Basis: basis}})
	}
	var out []*parse.Series
	for n, r := range rows {
		f := strings.Fields(r)
		name, rest, _ := strings.Cut(f[0], "|")
		op, le, _ := strings.Cut(rest, "|")
		s := &parse.Series{Name: name, Job: "kubelet"}
		if le != "" {
			s.Labels = append(s.Labels, parse.Field{Name: "le", Value: le})
		}
		if op != "" {
			s.Labels = append(s.Labels, parse.Field{Name: "operation_type", Value: op})
		}
		for i, x := range f[1:] {
			if x == "-" {
				continue
			}
			var v float64
			fmt.Sscan(x, &v)
			s.Points = append(s.Points, parse.Point{At: scrapes[i].At, V: v, Src: scrapes[i], Line: uint32(n + 1)})
		}
		out = append(out, s)
	}
	return out
}

func metricNode(series []*parse.Series) *replay.Node {
	return &replay.Node{Records: replay.Records{Name: "n1", Series: series}, Proofs: replay.MetricProofs(series, nil), Calls: replay.CallSteps(series)}
}

// sawAge returns a row for the last-seen gauge of relists that began secs seconds after
// base.
func sawAge(secs ...int) string {
	out := "kubelet_pleg_last_seen_seconds"
	for _, s := range secs {
		out += fmt.Sprintf(" %d", base/second+int64(s))
	}
	return out
}

// TestOneRelistOneLength tests that if the history measures the only long relist of a step,
// its breach has those times and that duration, while the mean of several remains a lower
// bound.
func TestOneRelistOneLength(t *testing.T) {
	const D = "kubelet_pleg_relist_duration_seconds"
	for long, want := range map[string]string{"1": "15.5 ±1 false", "2": "10 ±0 true"} {
		n := metricNode(snapshots(parse.Stated, []int{0, 15, 90}, D+"_count 10 20 3"+long, D+"_sum 1 2 16.6", D+"_bucket||10 10 20 30", D+"_bucket||+Inf 10 20 3"+long))
		end := base + 80*second
		n.Relists = []replay.Relist{{Start: replay.Instant{At: end - 15500*second/1000, Slack: 8 * time.Second}, End: replay.Instant{At: end, Slack: 8 * time.Second},
			Took: 15500 * time.Millisecond, TookSlack: time.Second, Basis: []string{replay.BasisMetrics}}}
		v := newView(n)
		for _, b := range metricBreaches(v, nil) {
			if got := fmt.Sprintf("%g ±%g %t", b.Value, b.Slack, b.Least); b.Rule == "slow-relist" && (got != want || !b.Least && b.Start != n.Relists[0].Start.At) {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
}

func TestMetricBreaches(t *testing.T) {
	const (
		D = "kubelet_pleg_relist_duration_seconds"
		I = "kubelet_pleg_relist_interval_seconds"
		O = "kubelet_runtime_operations_duration_seconds"
		E = "kubelet_runtime_operations_errors_total"
	)
	healthy := []string{D + "_count 10 24 38", D + "_sum 1 1.5 2", I + "_count 9 23 37", I + "_sum 10 24 38", sawAge(-1, 14, 29),
		O + "_count|list_podsandbox 10 40 70", O + "_sum|list_podsandbox 1 2 3", "kubelet_pleg_discard_events 0 0 0"}
	tests := []struct {
		name    string
		basis   parse.Basis
		offsets []int
		rows    []string
		want    string
	}{
		{"healthy", parse.Stated, []int{0, 15, 30}, healthy, ""},
		{"the last relist took long, and the gauge stood still", parse.Stated, []int{0, 15, 200, 230, 245}, []string{sawAge(-1, 13, 13, 13, 244), D + "_count 10 20 20 20 30", D + "_sum 1 2 2 2 217", I + "_count 9 20 20 20 29"},
			"slow-relist 215 of 10 [15 245]"},
		{"an age within the slack of the gauge is no breach", parse.Stated, []int{0, 188}, []string{sawAge(-1, 0)}, ""},
		{"a snapshot without a certain time has no age", parse.FileTime, []int{0, 5000}, []string{sawAge(-1, 0)}, ""},
		{"a gauge that nobody moved while relists listed", parse.Stated, []int{0, 400}, []string{sawAge(-1, 0), D + "_count 10 400", D + "_sum 1 20", I + "_count 9 399"}, ""},
		{"a long relist by its bucket", parse.Stated, []int{0, 15, 90}, []string{D + "_count 10 20 31", D + "_sum 1 2 63", D + "_bucket||10 10 20 30", D + "_bucket||+Inf 10 20 31"},
			"slow-relist 10 of 10 [15 90]"},
		{"discards", parse.Stated, []int{0, 15, 30, 45}, []string{"kubelet_pleg_discard_events 3 3 40 41"}, "pleg-events-discarded 41 of 0 [? 45]"},
		{"restart", parse.Stated, []int{0, 15}, []string{D + "_count 10 2", D + "_sum 1 0.2"}, "kubelet-restarted 1 of 1 [15 15]"},
		{"frozen process", parse.Stated, []int{0, 15, 30, 45, 300}, []string{D + "_count 10 20 30 40 50", D + "_sum 1 2 3 4 5", I + "_count 9 19 29 39 49", I + "_sum 10 20 30 40 290",
			D + "_bucket||10 10 20 30 40 50", D + "_bucket||+Inf 10 20 30 40 50", I + "_bucket||2.5 9 19 29 39 48", I + "_bucket||+Inf 9 19 29 39 49"},
			"relist-interval-long 227.5 of 30 [58 286]"},
		{"the evented PLEG relists every five minutes", parse.Stated, []int{0, 15, 300, 400}, append([]string{"kubelet_evented_pleg_connection_success_count 1 1 1 1"}, sawAge(-1, -1, -1, 299)), ""},
		{"slow reads", parse.Stated, []int{0, 15, 30}, []string{O + "_count|status 1 2 22", O + "_sum|status 0 0 60", O + "_count|exec_sync 1 2 4", O + "_sum|exec_sync 0 0 60"},
			"runtime-operation-slow status 3 of 1 [15 30]"},
		{"two slow reads are no finding", parse.Stated, []int{0, 15}, []string{O + "_count|status 1 3", O + "_sum|status 0 5"}, ""},
		{"one hung call among many", parse.Stated, []int{0, 15, 200}, []string{O + "_count|list_podsandbox 10 40 240", O + "_sum|list_podsandbox 1 2 123",
			O + "_bucket|list_podsandbox|0.005 10 40 239", O + "_bucket|list_podsandbox|19 10 40 239", O + "_bucket|list_podsandbox|+Inf 10 40 240"},
			"runtime-operation-slow list_podsandbox 120.005 of 1 [15 200]"},
		{"errors by share", parse.Stated, []int{0, 15, 30}, []string{O + "_count|status 1 11 21", O + "_sum|status 0 0 0", E + "|status - 1 6", O + "_count|exec_sync 1 11 21", E + "|exec_sync - 1 6"},
			"runtime-operation-errors status 50 of 10 [15 30]"},
		{"a copy of the same kubelet in a server is not a second one", parse.Stated, []int{0, 15}, []string{O + "_count|status 1 21", O + "_sum|status 0 60"}, "runtime-operation-slow status 3 of 1 [0 15]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := metricNode(snapshots(tt.basis, tt.offsets, tt.rows...))
			if strings.HasPrefix(tt.name, "a copy") {
				for _, s := range n.Series[:2] {
					c := *s
					c.Job, c.Labels = "", append([]parse.Field{{Name: "job", Value: "kubelet"}}, s.Labels...)
					n.Series = append(n.Series, &c)
				}
				n.Calls = replay.CallSteps(n.Series)
			}
			if got := showBreaches(breaches(newView(n), nil)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func showBreaches(bs []Breach) string {
	var out []string
	for _, b := range bs {
		if len(b.Evidence) == 0 || b.Evidence[0].Record == nil {
			out = append(out, "NO EVIDENCE")
		}
		from, to := "?", "?"
		if b.Start != 0 {
			from = fmt.Sprint((b.Start - base) / second)
		}
		if b.End != 0 {
			to = fmt.Sprint((b.End - base) / second)
		}
		out = append(out, strings.Join(strings.Fields(fmt.Sprintf("%s %s %g of %g [%s %s]", b.Rule, b.Subject, b.Value, b.Threshold, from, to)), " "))
	}
	return strings.Join(out, "; ")
}

// TestMetricsDoNotRepeatTheLog tests that metrics do not repeat breaches that the log
// shows.
func TestMetricsDoNotRepeatTheLog(t *testing.T) {
	n := node()
	n.Series = snapshots(parse.Stated, []int{0, 15, 200, 245}, sawAge(-1, 0, 0, 244),
		"kubelet_pleg_relist_duration_seconds_count 10 20 20 30", "kubelet_pleg_relist_duration_seconds_sum 1 2 2 217",
		"kubelet_pleg_relist_duration_seconds_bucket||10 10 20 20 29", "kubelet_pleg_relist_duration_seconds_bucket||+Inf 10 20 20 30")
	n.Proofs = replay.MetricProofs(n.Series, nil)
	for _, b := range breaches(newView(n), nil) {
		if b.Evidence[0].From() == parse.SrcMetrics && b.Rule != "metrics-gap" {
			t.Errorf("%s is told twice", b.Rule)
		}
	}
}

// TestOneStretch tests that a long relist interval measured after an episode belongs to the
// episode if it can, and that a breach proven by serial relists starts at the gauge if that
// shows it earlier, and ends where PLEG is next proven healthy.
func TestOneStretch(t *testing.T) {
	const D, I = "kubelet_pleg_relist_duration_seconds", "kubelet_pleg_relist_interval_seconds"
	long := []string{D + "_count 10 20 20 21", I + "_count 9 20 20 21", D + "_sum 1 2 2 122", I + "_sum 9 20 20 262",
		D + "_bucket||10 10 20 20 20", D + "_bucket||+Inf 10 20 20 21", I + "_bucket||10 9 20 20 20", I + "_bucket||+Inf 9 20 20 21"}
	at := func(sec int) int64 { return base + int64(sec)*second }
	claim := replay.Claim{Span: replay.Span{From: at(460), To: at(470)}, State: replay.Unhealthy, Proof: replay.ProofSerial, Evidence: []replay.Evidence{{Record: &parse.Event{}}}}
	gauge := replay.Claim{Span: replay.Span{From: at(330), To: at(480)}, State: replay.Unhealthy, Proof: replay.ProofGauge, Evidence: claim.Evidence}
	for _, c := range []struct {
		offsets []int
		rows    []string
		claims  []replay.Claim
		want    string
	}{
		{[]int{232, 247, 262, 277}, long, nil, "180-260"},
		{[]int{640, 655, 670, 685}, long, nil, "180-260 623-685"},
		{nil, nil, []replay.Claim{claim}, "180-260 460-500"},
		{nil, nil, []replay.Claim{claim, gauge}, "180-260 330-500"},
	} {
		n := metricNode(snapshots(parse.Stated, c.offsets, c.rows...))
		n.Kubelet.Threshold = 3 * time.Minute
		n.Episodes = []replay.Episode{{ID: 1, Breach: at(180), FirstReport: at(185), LastReport: at(255), Recovered: replay.Instant{At: at(260)}, Evidence: claim.Evidence}}
		n.Claims = c.claims
		for _, x := range c.claims[max(0, len(c.claims)-1):] { // the health spans merged from the claims
			n.Health = append(n.Health, replay.HealthSpan{Span: x.Span, State: x.State})
		}
		n.Health = append(n.Health, replay.HealthSpan{Span: replay.Span{From: at(500), To: at(700)}, State: replay.Healthy})
		got, v := "", newView(n)
		r := &Result{Breaches: breaches(v, nil)}
		for _, b := range r.Breaches {
			if b.Rule == "relist-threshold-exceeded" {
				got += fmt.Sprintf(" %d-%d", (b.Start-base)/second, (b.End-base)/second)
			}
		}
		if got = strings.TrimSpace(got); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if said := again(&n.Episodes[0], v, r); strings.Contains(said, "again from ") != strings.Contains(c.want, " ") {
			t.Errorf("%q of %s", said, got)
		}
	}
}

// TestUnseenByGauge tests that a time without a successful relist that only the gauge shows
// is reported as such, not as a relist, and not at all if it is within the gauge's lag.
func TestUnseenByGauge(t *testing.T) {
	for age, want := range map[int]string{
		119: "at 2026-03-04 10:00:00 UTC the kubelet had seen no relist succeed that began in the 1m58s before (kubelet_pleg_last_seen_seconds); why, nothing tells",
		19:  "",
	} {
		n := metricNode(snapshots(parse.Stated, []int{0}, sawAge(-age)))
		if got := newView(n).unseen(&Result{}); got != want {
			t.Errorf("%d s: %q", age, got)
		}
		if r := Eval(n, &Pack{}); len(r.Breaches) > 0 || want != "" && !strings.Contains(strings.ToLower(r.Summary), strings.ToLower(want)) {
			t.Errorf("%d s: %s, %v", age, r.Summary, r.Breaches)
		}
	}
}

func TestUnhealthyByMetricsAlone(t *testing.T) {
	n := metricNode(snapshots(parse.Stated, []int{0, 15, 200}, sawAge(-1, 0, 0)))
	n.Health = []replay.HealthSpan{{Span: replay.Span{From: base + 180*second, To: base + 190*second}, State: replay.Unhealthy}}
	n.Claims = []replay.Claim{{Span: replay.Span{From: base + 180*second, To: base + 190*second}, State: replay.Unhealthy, Proof: replay.ProofGauge, Evidence: n.Proofs[0].Evidence}}
	r := Eval(n, &Pack{})
	if r.Status != statusUnhealthy || !strings.Contains(r.Summary, "PLEG unhealthy from 2026-03-04 10:03:00 UTC by the metrics") {
		t.Errorf("%s: %s", r.Status, r.Summary)
	}
}

// TestWeightOfCalls tests that an error share or a single slow call since a start long ago,
// or of unknown time, is reported but not as a warning; nor are operations that the kubelet
// retries.
func TestWeightOfCalls(t *testing.T) {
	const (
		O = "kubelet_runtime_operations_duration_seconds"
		E = "kubelet_runtime_operations_errors_total"
	)
	began := func(sec int) string {
		return fmt.Sprintf("process_start_time_seconds %d %d", base/second-int64(sec), base/second-int64(sec))
	}
	for _, tt := range []struct {
		name    string
		offsets []int
		rows    []string
		want    Severity
	}{
		{"clean-up since the start", []int{0}, []string{O + "_count|remove_container 14", O + "_sum|remove_container 1", E + "|remove_container 4"}, Info},
		{"clean-up within a minute", []int{0, 60}, []string{O + "_count|remove_container 10 24", O + "_sum|remove_container 1 2", E + "|remove_container 0 4"}, Info},
		{"status calls since an unknown start", []int{0}, []string{O + "_count|container_status 14", O + "_sum|container_status 1", E + "|container_status 4"}, Info},
		{"status calls since a start of days ago", []int{0, 60}, []string{began(300000), O + "_count|container_status 14 14", O + "_sum|container_status 1 1", E + "|container_status 4 4"}, Info},
		{"status calls since a start of minutes ago", []int{0, 60}, []string{began(300), O + "_count|container_status 14 14", O + "_sum|container_status 1 1", E + "|container_status 4 4"}, Warning},
		{"sandboxes within a minute", []int{0, 60}, []string{O + "_count|run_podsandbox 10 24", O + "_sum|run_podsandbox 1 2", E + "|run_podsandbox 0 4"}, Warning},
		{"one slow list since an unknown start", []int{0}, []string{O + "_count|list_containers 9000", O + "_sum|list_containers 100", O + "_bucket|list_containers|10 8999", O + "_bucket|list_containers|+Inf 9000"}, Info},
		{"one slow list within a minute", []int{0, 60}, []string{O + "_count|list_containers 9000 9060", O + "_sum|list_containers 100 121", O + "_bucket|list_containers|10 9000 9059", O + "_bucket|list_containers|+Inf 9000 9060"}, Warning},
		{"lists that are slow as a rule", []int{0}, []string{O + "_count|list_containers 9000", O + "_sum|list_containers 20000"}, Warning},
	} {
		bs := breaches(newView(metricNode(snapshots(parse.Stated, tt.offsets, tt.rows...))), nil)
		if len(bs) != 1 || bs[0].Severity != tt.want {
			t.Errorf("%s: %+v, want one of weight %s", tt.name, bs, tt.want)
		}
	}
}

// TestCountersGrow tests that the increase of a counter counts, not its value.
func TestCountersGrow(t *testing.T) {
	const failed = "kubelet_evented_pleg_connection_error_count"
	pack, _ := Builtin()
	for row, want := range map[string]bool{failed + " 3 5": true, failed + " 3 3": false, failed + " 7": false} {
		n := metricNode(snapshots(parse.Stated, []int{0, 60}, row))
		found := slices.ContainsFunc(Eval(n, pack).Causes, func(c Cause) bool { return c.ID == "evented-pleg-fallback" })
		if found != want {
			t.Errorf("%s: the fall-back is named: %v", row, found)
		}
	}
	for _, d := range pack.Causes {
		for _, c := range append(d.For, d.Against...) {
			if metrics.TypeOf(c.Metric, nil) == "counter" && c.Reduce != "increase" && c.Reduce != "rate" {
				t.Errorf("%s: %s of the counter %s", d.ID, c.Reduce, c.Metric)
			}
		}
	}
}

// TestUnhealthyByOneSnapshot tests that one snapshot, which counts all relists since the
// process started but does not date them, proves a breach if the mean of the observations
// beyond the last bucket exceeds the threshold.
func TestUnhealthyByOneSnapshot(t *testing.T) {
	const R, I = "kubelet_pleg_relist_duration_seconds", "kubelet_pleg_relist_interval_seconds"
	for _, c := range []struct {
		sum  string
		want string
	}{
		{"4719", statusUnhealthy},
		{"3700", statusDegraded}, // 20 intervals of more than 10 s, together less than an hour
	} {
		n := metricNode(snapshots(parse.Stated, []int{0}, R+`_count 130`, R+`_sum 4590`,
			R+`_bucket||1 110`, R+`_bucket||10 110`, R+`_bucket||+Inf 130`,
			I+`_count 129`, I+`_sum `+c.sum, I+`_bucket||2.5 109`, I+`_bucket||10 109`, I+`_bucket||+Inf 129`))
		r := Eval(n, &Pack{})
		if r.Status != c.want || strings.Contains(r.Summary, "PLEG was unhealthy some time, until 2026-03-04 10:00:00 UTC by the metrics: a relist began at least 3m42s after") != (c.want == statusUnhealthy) ||
			strings.Contains(r.Summary, "cannot be decided") == (c.want == statusUnhealthy) {
			t.Errorf("sum %s: %s: %s", c.sum, r.Status, r.Summary)
		}
	}
}

// TestRestartedAtLeast tests that a restart between two snapshots is reported as at least
// one.
func TestRestartedAtLeast(t *testing.T) {
	const D = "kubelet_pleg_relist_duration_seconds"
	n := metricNode(snapshots(parse.Stated, []int{0, 150}, D+"_count 100 40", D+"_sum 3 2"))
	if r := Eval(n, &Pack{}); !strings.Contains(r.Summary, "the kubelet restarted at least once") {
		t.Error(r.Summary)
	}
}
