//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGovulncheck: a known vulnerability stops a release; if the check is not possible, the script
// says that nothing was checked.
func TestGovulncheck(t *testing.T) {
	script, err := filepath.Abs("../../../scripts/govulncheck.sh")
	if err != nil {
		t.Fatal(err)
	}
	const unchecked = "nothing was checked: "
	for name, tt := range map[string]struct {
		tool string // what the go command does
		ok   bool
		want string
	}{
		"clean":       {`echo "No vulnerabilities found."`, true, "No vulnerabilities found."},
		"vulnerable":  {`echo "Vulnerability #1: GO-2026-0001"; exit 3`, false, "GO-2026-0001"},
		"no database": {`echo 'govulncheck: Get "https://vuln.example": no such host' >&2; exit 1`, true, unchecked + "govulncheck: Get"},
		"no tool":     {`exit 1`, true, unchecked},
		"silent":      {`exit 0`, true, unchecked},
		"no answer":   {`exec sleep 60`, true, unchecked + "no answer within 1 s"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("timeout"); err != nil && name == "no answer" {
				t.Skip("needs timeout")
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\n"+tt.tool+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sh", script)
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "TIMEOUT=1")
			out, err := cmd.CombinedOutput()
			if (err == nil) != tt.ok || !strings.Contains(string(out), tt.want) {
				t.Errorf("%v, %s", err, out)
			}
		})
	}
}
