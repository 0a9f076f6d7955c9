package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestEndless: endless inputs are refused, or read up to a documented limit.
func TestEndless(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs the devices of Linux")
	}
	log := filepath.Join(samples, "healthy", "kubelet.log")
	for _, tt := range []struct{ args, want string }{
		{"analyze /dev/zero", "is a device, not a file"},
		{"inspect /dev/random", "is a device, not a file"},
		{"replay /dev/zero", "is a device, not a file"},
		{"batch /dev/zero", "neither a file nor a directory"},
		{"analyze --rules /dev/zero " + log, "holds more than 4 MiB"},
		{"query --alert-rules /dev/zero --alerts " + log, "holds more than 4 MiB"},
		{"rules check /dev/zero", "holds more than 4 MiB"},
		{"batch --manifest /dev/zero", "holds more than 64 MiB"},
		{"analyze - </dev/zero", "standard input is a device"},
		{"replay - </dev/zero", "standard input is a device"},
	} {
		cmd, in, _ := strings.Cut(tt.args, " <")
		var stdin *os.File
		if in != "" {
			var err error
			if stdin, err = os.Open(in); err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		var out, stderr bytes.Buffer
		code := run(ctx, append([]string{"plegforensics"}, strings.Fields(cmd)...), stdin, &out, &stderr)
		if code == 0 || code == exitInterrupted || !strings.Contains(stderr.String()+out.String(), tt.want) {
			t.Errorf("%s: exit %d, %s", tt.args, code, stderr.String())
		}
	}
	var out, stderr bytes.Buffer
	if run(context.Background(), []string{"plegforensics", "analyze", "--max-bytes", "100KB", "-"}, endlessLines{}, &out, &stderr); !strings.Contains(stderr.String(), "-: ends here because it is a stream of more than the limit of 100000 bytes (max-bytes): the rest is skipped") {
		t.Errorf("an endless pipe: %s", stderr.String())
	}
}

// endlessLines is a pipe that never ends.
type endlessLines struct{}

func (endlessLines) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "x\n"[i%2]
	}
	return len(p), nil
}

// TestDeadline: a run that exceeds its deadline ends with a message and without output.
func TestDeadline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.json")
	var out, stderr bytes.Buffer
	code := run(context.Background(), []string{"plegforensics", "analyze", "--deadline", "1ns", "-o", "json=" + path, filepath.Join(samples, "hang-list", "kubelet.log")}, nil, &out, &stderr)
	if code != exitNothing || !strings.Contains(stderr.String(), "not done within 1ns") {
		t.Errorf("exit %d, %s", code, stderr.String())
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a report was written")
	}
}

// TestUlimits: a resource limit that is too low to run with is named.
func TestUlimits(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("limits differ")
	}
	for limit, want := range map[string]string{"-n 9": "open files (ulimit -n) is 9", "-n 7": "(ulimit -n) is 7", "-n 6": "(ulimit -n) is 6", "-n 5": "(ulimit -n) is 5", "-v 2000000": "addresses (ulimit -v) is 1953 MiB", "-d 240000": "data (ulimit -d) is 234 MiB"} {
		cmd := exec.Command("sh", "-c", "ulimit "+limit+" && exec plegforensics analyze "+filepath.Join(samples, "healthy", "kubelet.log"))
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "goroutine") {
			t.Errorf("ulimit %s: %v, %.300s", limit, err, out)
		}
	}
	// What is documented as sufficient is.
	cmd := exec.Command("sh", "-c", "ulimit -v 2621440 && ulimit -d 262144 && ulimit -n 16 && exec plegforensics analyze "+filepath.Join(samples, "hang-list", "kubelet.log"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("with the least that is said to be needed: %v, %.300s", err, out)
	}
}
