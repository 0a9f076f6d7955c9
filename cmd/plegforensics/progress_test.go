package main

import (
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/plegforensics/plegforensics/parse/bundle"
)

// TestProgressText: bytes and total, rate and file, in one line of the terminal.
func TestProgressText(t *testing.T) {
	p := &progressLine{width: 60, of: new(bundle.Progress)}
	p.of.Read.Store(50 << 20)
	if got := p.text(2 * time.Second); got != "50.0 MiB, 25.0 MiB/s" {
		t.Errorf("without a total: %q", got)
	}
	p.of.Total.Store(200 << 20)
	if got := p.text(2 * time.Second); got != "50.0 MiB of 200.0 MiB (25%), 25.0 MiB/s" {
		t.Errorf("with one: %q", got)
	}
	if got := short("123456789 of a file with a rather long path/in/an/archive.tar!var/log/kubelet.log", 40); utf8.RuneCountInString(got) != 40 || !strings.HasSuffix(got, "kubelet.log") || !strings.HasPrefix(got, "123456789 of a") {
		t.Errorf("%q", got)
	}
}

// TestProgressSeen: progress appears on a terminal, after a second, and is erased; not with
// --quiet, and not in a file. script(1) provides the terminal.
func TestProgressSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	see := func(args string) string {
		cmd := process()
		cmd.Path, cmd.Args = "/usr/bin/script", []string{"script", "-qec", "(cat " + samples + "/hang-list/kubelet.log; sleep 2) | plegforensics analyze -o json=/dev/null " + args, os.DevNull}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Skipf("no terminal to be had: %v", err)
		}
		return string(out)
	}
	if got := see(""); !strings.Contains(got, "\r\x1b[K") || !strings.Contains(got, "KiB/s") {
		t.Errorf("nothing seen: %q", got)
	}
	if got := see("--quiet"); got != "" {
		t.Errorf("--quiet: %q", got)
	}
}
