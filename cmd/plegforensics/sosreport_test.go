package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestRealSosreport makes a report of this machine with the real sosreport and
// inspects it. It runs where PLEGFORENSICS_SOSREPORT is set, by root.
func TestRealSosreport(t *testing.T) {
	if os.Getenv("PLEGFORENSICS_SOSREPORT") == "" {
		t.Skip("PLEGFORENSICS_SOSREPORT is not set")
	}
	if os.Getuid() != 0 {
		t.Skip("sosreport wants root")
	}
	tool, err := exec.LookPath("sosreport")
	if err != nil {
		t.Skip("sosreport is not installed")
	}
	dir := t.TempDir()
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
	for _, role := range []string{"facts", "manifest"} {
		if !used[role] {
			t.Errorf("no file of role %s was used", role)
		}
	}
}
