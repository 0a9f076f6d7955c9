package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"plegforensics": main})
}

// TestScripts runs the command line as users do; each script covers one behavior.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SAMPLES", samples)
			return cutFile(filepath.Join(env.WorkDir, "cut.log.gz"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "manyseries": manySeries},
	})
}

// exits is the script command "exits STATUS PROGRAM ARG...": it runs the program and checks its
// exit status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var e *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &e) {
		got = e.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// manySeries is the script command "manyseries FILE N": it writes a snapshot of N series, followed
// by one of the kubelet.
func manySeries(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	if strings.HasSuffix(args[0], ".json") { // in promtool's query format
		b := []byte("[")
		for i := range n {
			b = fmt.Appendf(b, "{\"metric\":{\"__name__\":\"x_bytes\",\"id\":\"/kubepods/burstable/%064x\"},\"value\":[1795217460,\"%d\"]},\n", i, i)
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(b[:len(b)-2], ']'), 0o644))
		return
	}
	b := []byte("# TYPE x_bytes gauge\n")
	for i := range n {
		b = fmt.Appendf(b, "x_bytes{container=\"c\",namespace=\"ns\",pod=\"pod-%d\",id=\"/kubepods/burstable/%064x\"} %d\n", i, i, i)
	}
	b = append(b, "kubelet_pleg_last_seen_seconds 5\n"...)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o644))
}

// cutFile writes a truncated compressed log.
func cutFile(path string) error {
	log, err := os.ReadFile(filepath.Join(samples, "hang-list", "kubelet.log"))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(log); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes()[:b.Len()-2000], 0o644)
}

// TestBuildsAreToldApart: if the version does not identify the sources, the build ID does, and
// partials record it.
func TestBuildsAreToldApart(t *testing.T) {
	if exact(buildVersion()) {
		t.Skip("the version says it all")
	}
	if id := buildID(); len(id) != 12 || !strings.Contains(string(printed(t, "version")), " build "+id) {
		t.Errorf("build %q is not told: %s", id, printed(t, "version"))
	}
	path := filepath.Join(t.TempDir(), "x.plegp")
	printed(t, "batch", "--quiet", "--partial", path, filepath.Join(samples, "healthy"))
	if p, err := readPartial(path); err != nil || p.Build != buildID() {
		t.Errorf("the partial is of build %q, %v", p.Build, err)
	}
}
