package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// snapshotDir writes three snapshots 15 s apart and returns their directory.
func snapshotDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i, stamp := range []string{"20261120T233100Z", "20261120T233115Z", "20261120T233130Z"} {
		text := fmt.Sprintf("# TYPE kubelet_pleg_relist_duration_seconds histogram\nkubelet_pleg_relist_duration_seconds_count %d\nkubelet_pleg_last_seen_seconds 1.79521746e+09\nkubelet_node_name{node=\"w1\"} 1\n", 10+15*i)
		if err := os.WriteFile(filepath.Join(dir, stamp+".prom"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func runTool(args ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	status = run(context.Background(), append([]string{"plegforensics"}, args...), strings.NewReader(""), &o, &e)
	return status, o.String(), e.String()
}

func TestQuery(t *testing.T) {
	dir := snapshotDir(t)
	tests := []struct {
		name   string
		args   []string
		status int
		out    string // expected part of standard output
		errs   string // expected part of standard error
	}{
		{"age at the last sample", []string{"-e", "time() - kubelet_pleg_last_seen_seconds"}, 0, "30     {instance=\"w1\"", ""},
		{"earlier", []string{"-e", "kubelet_pleg_relist_duration_seconds_count", "--time", "2026-11-20T23:31:16Z"}, 0, "\n  25     kubelet_pleg", ""},
		{"before the end", []string{"-e", "kubelet_pleg_relist_duration_seconds_count", "--time=-16s"}, 0, "\n  10     kubelet_pleg", ""},
		{"Unix seconds", []string{"-e", "kubelet_pleg_relist_duration_seconds_count", "--time", "1795217476"}, 0, "\n  25     kubelet_pleg", ""},
		{"peak beside a value", []string{"-e", "kubelet_pleg_relist_duration_seconds_count", "--time", "1795217476"}, 0, "", "peak 40 at 23:31:30  kubelet_pleg"},
		{"why there is none", []string{"-e", "kubelet_pleg_relist_duration_seconds_count{node=\"w2\"}"}, 0, "no series", `no series kubelet_pleg_relist_duration_seconds_count has node="w2"; node is "w1"`},
		{"json", []string{"-e", "sum(kubelet_pleg_relist_duration_seconds_count)", "-o", "json"}, 0,
			`"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1795217490,"40"]}]}}` + "\n", ""},
		{"json range", []string{"-e", "sum(kubelet_pleg_relist_duration_seconds_count)", "--step", "15s", "-o", "json"}, 0,
			`"result":[{"metric":{},"values":[[1795217460,"10"],[1795217475,"25"],[1795217490,"40"]]}]`, ""},
		{"csv", []string{"-e", "sum(kubelet_pleg_relist_duration_seconds_count)", "--step", "15s", "-o", "csv"}, 0,
			"series,time,value\n{},2026-11-20T23:31:00.000Z,10\n", ""},
		{"chart", []string{"-e", "sum(kubelet_pleg_relist_duration_seconds_count)", "--step", "15s", "-o", "chart"}, 0, "┤", ""},
		{"scalar", []string{"-e", "1+1", "-o", "json"}, 0, `"resultType":"scalar"`, ""},
		{"list", []string{"--list"}, 0, "kubelet_pleg_last_seen_seconds", ""},
		{"list as csv", []string{"--list", "-o", "csv"}, 0, "metric,type,kind,series,from,to,labels\n", ""},
		{"alerts", []string{"--alerts"}, 0, "KubeNodeNotReady was blind, because the input has no series kube_node_status_condition", ""},
		{"alerts as json", []string{"--alerts", "-o", "json"}, 0, `"alerts":[{"alert":"KubeletPlegDurationHigh"`, ""},
		{"no such rule file", []string{"--alert-rules", "/nowhere/rules.yaml"}, 2, "", "--alert-rules /nowhere/rules.yaml: no such file"},
		{"no expression", nil, 2, "", "no expression given"},
		{"parse error with position", []string{"-e", "sum(kubelet"}, 2, "", "1:12: parse error"},
		{"unknown name", []string{"-e", "kubelet_pleg_lastseen_seconds"}, 0, "no series", "did you mean kubelet_pleg_last_seen_seconds?"},
		{"engine error", []string{"-e", "kubelet_node_name + on(nothing) {__name__=~\"kubelet_.*\"}"}, 2, "", "many-to-many"},
		{"bad time", []string{"-e", "up", "--time", "noon"}, 2, "", "--time: invalid time"},
		{"end before start", []string{"-e", "up", "--start", "2026-11-20T23:31:30Z", "--end", "2026-11-20T23:31:00Z"}, 2, "", "--end lies before --start"},
		{"bad format", []string{"-e", "up", "-o", "yaml"}, 2, "", "unknown output format"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, out, errs := runTool(append([]string{"query", dir}, tt.args...)...)
			if status != tt.status || !strings.Contains(out, tt.out) || !strings.Contains(errs, tt.errs) {
				t.Errorf("status %d\nout %s\nerr %s", status, out, errs)
			}
			_, again, _ := runTool(append([]string{"query", dir, "-j", "1"}, tt.args...)...)
			if out != again {
				t.Error("not the same with one worker")
			}
		})
	}
}
