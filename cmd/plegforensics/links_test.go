package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestLinksWork(t *testing.T) {
	for _, c := range []struct {
		env  string
		want bool
	}{
		{"TERM=xterm-256color", true},
		{"TERM=xterm-kitty", true},
		{"TERM=xterm-256color VTE_VERSION=6003", true},
		{"TERM=xterm-256color VTE_VERSION=4205", false},
		{"TERM=xterm-256color TERM_PROGRAM=Apple_Terminal", false},
		{"TERM=dumb", false},
		{"TERM=linux", false},
		{"TERM=screen", false},
		{"TERM=screen-256color TMUX=/tmp/x", true},
		{"TERM=xterm CI=true", false},
		{"", false},
	} {
		env := func(name string) string {
			for _, kv := range strings.Fields(c.env) {
				if k, v, _ := strings.Cut(kv, "="); k == name {
					return v
				}
			}
			return ""
		}
		if got := linksWork(env); got != c.want {
			t.Errorf("%s: %v", c.env, got)
		}
	}
}

// TestLinks: no links without a terminal; forced links name the file on disk; redacted reports have
// none.
func TestLinks(t *testing.T) {
	in := filepath.Join(samples, "hang-list")
	const path = "samples/hang-list/kubelet.log" // absolute, as shortened by printed
	if out := string(printed(t, "analyze", in)); strings.Contains(out, "\x1b") {
		t.Error("escape sequences in a pipe")
	}
	for _, command := range []string{"analyze", "timeline"} {
		out := string(printed(t, command, "--links", "always", in))
		if !strings.Contains(out, path+"#") {
			t.Errorf("%s: no link to %s", command, path)
		}
		if strings.Contains(out, "metrics.tar.xz#") {
			t.Errorf("%s: a link into an archive", command)
		}
		if out := string(printed(t, command, "--links", "always", "--redact", in)); strings.Contains(out, "\x1b]8") {
			t.Errorf("%s: links in a redacted report", command)
		}
	}
}

func TestPagerCommand(t *testing.T) {
	env := map[string]string{"PAGER": "cat -n"}
	cmd := pagerCommand(func(k string) string { return env[k] })
	if got := cmd.Args[len(cmd.Args)-1]; got != "cat -n" {
		t.Errorf("runs %q", got)
	}
	if got := cmd.Env[len(cmd.Env)-1]; got != "LESS=FRX" {
		t.Errorf("environment %q", got)
	}
	env["LESS"] = "i"
	if got := pagerCommand(func(k string) string { return env[k] }).Env; got[len(got)-1] != "LESS=i" {
		t.Errorf("environment %q", got[len(got)-1])
	}
}

// TestPagerInPipe: --pager has no effect without a terminal.
func TestPagerInPipe(t *testing.T) {
	in := filepath.Join(samples, "healthy")
	t.Setenv("PAGER", "false")
	if a, b := printed(t, "analyze", in), printed(t, "analyze", "--pager", in); string(a) != string(b) {
		t.Error("--pager changes what goes into a pipe")
	}
}
