package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/fixtures"
)

// deadServer writes a fleet of twenty nodes. Seven of them lose the NFS server 10.9.8.7 within a
// minute, as the kubelet and the kernel of each log. Two others lose their runtime at the same time
// without a logged reason. The rest are healthy.
func deadServer(t *testing.T) (dir string, sick []string) {
	t.Helper()
	dir = t.TempDir()
	for i := range 20 {
		name := fmt.Sprintf("worker-%02d", i)
		inc := fixtures.Incident{Node: name, Version: "v1.28.4", PID: 1200 + i, Zone: time.UTC,
			Start: time.Date(2026, 3, 1, 12, 0, 7*(i%8), 0, time.UTC)}
		log := inc.Log(fixtures.Short)
		switch {
		case i%3 == 1: // 1, 4, …, 19
			sick = append(sick, name)
			for _, s := range []int{290, 330, 420, 510} {
				log += fmt.Sprintf("%s %s kernel: nfs: server 10.9.8.7 not responding, still trying\n", inc.Start.Add(time.Duration(s)*time.Second).Format(time.Stamp), name)
			}
			log += fmt.Sprintf("%s %s kernel: nfs: server 10.9.8.7 OK\n", inc.Start.Add(560*time.Second).Format(time.Stamp), name)
		case i == 2 || i == 11:
		default:
			log = well(log)
		}
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(log, "\n")
		slices.SortStableFunc(lines[:len(lines)-1], func(a, b string) int { return strings.Compare(a[:15], b[:15]) })
		if err := os.WriteFile(filepath.Join(dir, name, "messages"), []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, sick
}

// well removes the lines about PLEG from a log.
func well(log string) string {
	var out []string
	for _, l := range strings.SplitAfter(log, "\n") {
		if !strings.Contains(l, "Skipping pod") && !strings.Contains(l, "GenericPLEG") {
			out = append(out, l)
		}
	}
	return strings.Join(out, "")
}

// status runs a command and returns its exit status, standard output and standard error.
func status(t *testing.T, args ...string) (int, string, string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(context.Background(), append([]string{"plegforensics"}, args...), strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func must(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := status(t, args...)
	if code != 0 {
		t.Fatalf("%s: exit %d: %s", strings.Join(args, " "), code, errs)
	}
	return out
}

type fleetReport struct {
	Bundles      struct{ Total, Analysed int }
	Correlations []struct {
		Kind, Cause, Object, Summary string
		Nodes                        []string
	}
	Nodes []struct {
		Name, Status string
		Bundles      []string
	}
}

func TestBatchSharedServer(t *testing.T) {
	dir, sick := deadServer(t)
	if len(sick) != 7 {
		t.Fatalf("%d sick nodes", len(sick))
	}
	var r fleetReport
	if err := json.Unmarshal([]byte(must(t, "batch", dir, "-o", "json", "-j", "2")), &r); err != nil {
		t.Fatal(err)
	}
	if r.Bundles.Analysed != 20 || len(r.Nodes) != 20 {
		t.Fatalf("%+v, %d nodes", r.Bundles, len(r.Nodes))
	}
	found := false
	for _, c := range r.Correlations {
		if c.Object != "server 10.9.8.7" && c.Cause != "storage-nfs-unresponsive" {
			continue
		}
		found = true
		if !slices.Equal(c.Nodes, sick) || c.Cause != "storage-nfs-unresponsive" || c.Object != "server 10.9.8.7" {
			t.Errorf("%s: nodes %v, want %v", c.Summary, c.Nodes, sick)
		}
		for i := range 20 {
			if name := fmt.Sprintf("worker-%02d", i); strings.Contains(c.Summary, name) != slices.Contains(sick, name) {
				t.Errorf("%s in %q", name, c.Summary)
			}
		}
	}
	if !found {
		t.Errorf("the dead server was not found: %+v", r.Correlations)
	}
}

// TestAnalyzeSharedServer: nodes in a single report are correlated too.
func TestAnalyzeSharedServer(t *testing.T) {
	dir, sick := deadServer(t)
	var r fleetReport
	if err := json.Unmarshal([]byte(must(t, "analyze", dir, "-o", "json", "--quiet")), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Correlations) == 0 || !slices.Equal(r.Correlations[0].Nodes, sick) {
		t.Errorf("%+v", r.Correlations)
	}
}

var fleetOutputs = []string{"text", "json", "ndjson", "markdown", "html"}

// TestBatchShards: however a fleet is sharded, in any order, and with one partial given twice, the
// reports are the same bytes.
func TestBatchShards(t *testing.T) {
	dir, _ := deadServer(t)
	if err := os.WriteFile(filepath.Join(dir, "broken.tar.gz"), []byte("\x1f\x8b\x08 no"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range fleetOutputs {
		want[f] = must(t, "batch", dir, "-o", f, "--quiet")
	}
	for _, n := range []int{1, 3, 16} {
		var parts []string
		for i := n; i >= 1; i-- {
			p := filepath.Join(t.TempDir(), fmt.Sprintf("%d.plegp", i))
			code, _, errs := status(t, "batch", dir, "--quiet", "--shard", fmt.Sprintf("%d/%d", i, n), "--partial", p, "-o", "json")
			if code != exitOK && code != exitNothing {
				t.Fatalf("shard %d of %d: exit %d: %s", i, n, code, errs)
			}
			parts = append(parts, p)
		}
		parts = append(parts, parts[len(parts)/2])
		for _, f := range fleetOutputs {
			if got := must(t, append([]string{"batch", "merge", "-o", f}, parts...)...); got != want[f] {
				t.Errorf("%d shards, %s: the report differs:\n%s\nwant\n%s", n, f, got, want[f])
			}
		}
	}
	other := filepath.Join(t.TempDir(), "other.plegp")
	must(t, "batch", dir, "--quiet", "--year", "2026", "--partial", other)
	one := filepath.Join(t.TempDir(), "one.plegp")
	must(t, "batch", dir, "--quiet", "--partial", one)
	if code, _, errs := status(t, "batch", "merge", one, other); code != exitUsage || !strings.Contains(errs, "options") {
		t.Errorf("mixed partials: exit %d: %s", code, errs)
	}
}

// TestBatchResume: an interrupted run resumes where it stopped, gives the same report, and analyzes
// nothing twice.
func TestBatchResume(t *testing.T) {
	dir, _ := deadServer(t)
	want := must(t, "batch", dir, "-o", "json", "--quiet")
	out := filepath.Join(t.TempDir(), "out")
	args := []string{"batch", dir, "-o", "json", "--quiet", "--out-dir", out, "--report", "junit", "-j", "1"}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		for len(glob(t, out, "junit_*.xml")) < 5 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	var buf bytes.Buffer
	if code := run(ctx, append([]string{"plegforensics"}, args...), strings.NewReader(""), &buf, &buf); code != exitInterrupted {
		t.Fatalf("exit %d: %s", code, buf.String())
	}
	done := map[string]time.Time{}
	for _, f := range glob(t, out, ".records/*.json") {
		st, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		done[f] = st.ModTime()
	}
	if len(done) < 4 || len(done) == 20 {
		t.Fatalf("%d bundles were done before the interruption", len(done))
	}
	if got := must(t, append(args, "--resume")...); got != want {
		t.Errorf("the resumed run says\n%s\nwant\n%s", got, want)
	}
	for f, at := range done {
		if st, err := os.Stat(f); err != nil || !st.ModTime().Equal(at) {
			t.Errorf("%s was analysed twice (%v)", f, err)
		}
	}
	if n := len(glob(t, out, "junit_*.xml")); n != 20 {
		t.Errorf("%d reports", n)
	}
}

func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return names
}
