package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestRealSosreport makes a report of this machine with the real sosreport, inspects and analyzes
// it: layout, node, boot, zone. It takes half a minute and requires sosreport and root.
func TestRealSosreport(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	if os.Getuid() != 0 {
		t.Skip("sosreport wants root")
	}
	tool, err := exec.LookPath("sosreport")
	if err != nil {
		t.Skip("sosreport is not installed")
	}
	dir := t.TempDir()
	begin := time.Now()
	cmd := exec.Command(tool, "--batch", "--tmp-dir", dir, "--label", "pleg", "-o", "kernel,process,host,date,memory,logs,systemd,filesys")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("sosreport: %v\n%s", err, out)
	}
	archives, _ := filepath.Glob(filepath.Join(dir, "sosreport-*.tar.*z*"))
	if len(archives) == 0 {
		t.Fatalf("no archive in %s", dir)
	}
	var x inspected
	runJSON(t, &x, "inspect", archives[0])
	if x.Inputs[0].Kind != "sosreport" {
		t.Errorf("kind %s", x.Inputs[0].Kind)
	}
	host, _ := os.Hostname()
	used := map[string]bool{}
	for _, f := range x.Files {
		if f.Used {
			used[f.Role] = true
			if f.Node == nil || *f.Node != host {
				t.Errorf("%s: node %s, want %s", f.Path, word(f.Node), host)
			}
		}
	}
	if len(x.Nodes) != 1 || x.Nodes[0].Name != host || x.Nodes[0].Zone == nil {
		t.Fatalf("nodes %+v, want %s with its zone", x.Nodes, host)
	}
	_, offset := begin.Zone()
	if z := *x.Nodes[0].Zone; z != begin.Format("-0700") && z != begin.Format("MST") && !(offset == 0 && (z == "UTC" || z == "Etc/UTC")) {
		t.Errorf("zone %s, want that of this machine, %s", z, begin.Format("-0700 MST"))
	}
	for _, f := range x.Files {
		if f.Role == "kernel-log" && f.Used && f.End != nil {
			if at, err := time.Parse(time.RFC3339Nano, *f.End); err != nil || at.After(time.Now()) || at.Year() < 2000 {
				t.Errorf("%s ends at %s", f.Path, *f.End)
			}
		}
	}
	var a analyzed
	runJSON(t, &a, "analyze", archives[0])
	if len(a.Nodes) != 1 || a.Nodes[0].Name != host || len(a.Nodes[0].Episodes) != 0 {
		t.Errorf("analysed %+v", a.Nodes)
	}
	for _, role := range []string{"facts", "manifest"} {
		if !used[role] {
			t.Errorf("no file of role %s was used", role)
		}
	}
}
