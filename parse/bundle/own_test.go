package bundle

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestOwnReports: reports of this program left beside a log are not read as logs;
// recorded listings are.
func TestOwnReports(t *testing.T) {
	dir := t.TempDir()
	const line = `E0304 10:03:05.000000    2114 kubelet.go:2347] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m5s ago; threshold is 3m0s"`
	for name, text := range map[string]string{
		"kubelet.log":    line + "\n",
		"report.json":    "{\n  \"schema\": \"plegforensics/report/v1\",\n  \"nodes\": [{\"evidence\":[{\"time\":\"2026-03-04T10:03:05Z\",\"text\":\"PLEG is not healthy: pleg was last seen active 3m5s ago; threshold is 3m0s\"}]}]}\n",
		"replay.json":    `{"schema":"plegforensics/replay/v1","relists":[]}` + "\n",
		"report.html":    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"generator\" content=\"plegforensics\">\n</head><body><pre>\n" + line + "\n</pre></body></html>\n",
		"snapshots.json": `{"schema":"plegforensics/snapshots/v1","time":"2026-03-04T10:00:00Z","pods":[]}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := Load(context.Background(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Events) != 1 || b.Events[0].File.Path != "kubelet.log" {
		t.Errorf("events %v", b.Events)
	}
	unused := map[string]string{"report.json": whyOwn, "replay.json": whyOwn, "report.html": whyOwn}
	for _, f := range b.Files {
		if f.Unused != unused[f.Path] {
			t.Errorf("%s: unused: %q, want %q", f.Path, f.Unused, unused[f.Path])
		}
		if f.Path == "snapshots.json" && f.Role != parse.RoleSnapshots {
			t.Errorf("recorded listings are %q", f.Role)
		}
	}
}

// TestOwnForms: reports of versions without a mark are recognized by their form,
// and files that only mention this program are not.
func TestOwnForms(t *testing.T) {
	for _, own := range []string{
		"plegforensics v1.2.3 analyze\nnode: healthy\n",
		"plegforensics: warning: k.log is empty\nplegforensics v1.2.3 analyze\n",
		"<!-- plegforensics v1.2.3 analyze -->\n# PLEG report\n",
		"::debug::plegforensics v1.2.3 analyze\n::error title=x\n",
		"{\"schema\":\"plegforensics/finding/v1\",\"kind\":\"episode\"}\n",
		"sosreport.tar.xz  sosreport, 113.5 KiB in 14 files used of 812\n\nn: unhealthy\n",
		"\nip-10-0-12-34\n  2026-11-20 23:28:59.991 to 2026-11-20 23:39:19.807 UTC, 10m20s; stamps in UTC (from x:5)\n",
		"# PLEG report\n\n## n: unhealthy\n",
		"3 bundles, 2 nodes, 1 unhealthy with 1 episode\n",
		"n1: 82 events observed, 0 discarded\n",
		"Replay with the generic PLEG of kubelet v1.28.0: period 1s\n",
		"kind,node,id,start,end,seconds,value,threshold,unit,state,pod,detail,file,line,text\n",
		"{\"kind\":\"episode\",\"node\":\"n\",\"id\":\"1\"}\n",
		"::error title=relist-threshold-exceeded on n,file=kubelet.log,line=550::n: PLEG was unhealthy\n",
		"# HELP plegforensics_build_info version of the tool.\n",
		"[\n  {\n    \"description\": \"n: \\\"x\\\"\",\n    \"check_name\": \"relist-threshold-exceeded\",\n    \"fingerprint\": \"50\"}]",
		"{\n  \"items\": [\n    {\n      \"level\": \"Error\",\n      \"source\": \"PLEGepisode\",\n \"annotations\": {\"plegforensics\": \"episode\"}}]}",
		"{\"id\":\"tree:e2f1f3a5e48afa5dd1683ba4dc9c80c495d7dbe75e5641631a84bee6a02b91e9\",\"name\":\"/b/n1\",\"status\":\"analysed\",\"kind\":\"directory\"}\n",
		"{\"schema\":\"plegforensics/record/v1\",\"id\":\"tree:e2\"}\n",
		"[{\"kind\":\"node\",\"name\":\"a\",\"pseudonym\":\"node-1\",\"count\":8}]",
	} {
		if !isOwnReport([]byte(own)) {
			t.Errorf("not known as ours: %q", own)
		}
	}
	for _, other := range []string{
		"",
		"I0301 12:00:00.000000    1234 kubelet.go:1] \"image plegforensics v1\"\n",
		"{\"schema\":\"plegforensics/snapshots/v1\",\"time\":\"2026-03-04T10:00:00Z\",\"pods\":[]}\n",
		"{\"log\":\"{\\\"schema\\\":\\\"plegforensics/report/v1\\\"}\\n\",\"stream\":\"stdout\",\"time\":\"2026-03-04T10:00:00Z\"}\n",
		"[{\"kind\":\"Pod\",\"metadata\":{\"name\":\"plegforensics\"}}]",
		"::group::kubelet log\n",
		"<?xml version=\"1.0\"?>\n<testsuites name=\"others\"></testsuites>\n",
		"# HELP kubelet_running_pods x\n",
		"kind,node,message\n",
	} {
		if isOwnReport([]byte(other)) {
			t.Errorf("taken for ours: %q", other)
		}
	}
}
