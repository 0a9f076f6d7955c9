package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/hostile"
	"github.com/plegforensics/plegforensics/parse"
)

// Bounds of a run over a hostile input, as in the tests of package bundle for reading alone.
const (
	hostileTime = 10 * time.Second
	hostileMiB  = 512
)

// hostilePart is the part of an input that TestManyOfOne takes: superlinear cost shows in it, too.
const hostilePart = 6 << 20

// TestManyOfOne analyzes inputs with very many of something small, each in a process of its own,
// within bounds on processor time and memory. internal/cmd/hostile measures them whole.
func TestManyOfOne(t *testing.T) {
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("reads /proc, and takes a while")
	}
	named := func(c hostile.Case, names ...string) bool {
		return slices.ContainsFunc(names, func(s string) bool { return strings.Contains(c.Name, s) })
	}
	cases := slices.DeleteFunc(slices.Concat(hostile.Many(), hostile.Lines()), func(c hostile.Case) bool { // a few of each kind
		return !named(c, "logs of containers", "parts of", "names of 1 MB", "0 nodes", "goroutines", "range query", "10,000 deep", "line of", "hosts in one log",
			"list timed out", "as Go prints them", "callers and codes", "with a report", "clocks that jump", "hung tasks", "in no order of time")
	})
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "in")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if named(c, "a line of", "empty lines") { // cheap, and about nothing but their size
				err = c.Build(f)
			} else if err = c.Build(&firstBytes{f, hostilePart}); errors.Is(err, io.ErrShortWrite) {
				err = nil
			}
			if err != nil || f.Close() != nil {
				t.Fatal(err)
			}
			rss, cpu := measured(t, "analyze "+path)
			most := hostileTime
			if cpu > most || rss>>10 > hostileMiB { // on a busy machine the same work takes longer
				_, ordinary := measured(t, "analyze "+yardstick(t))
				again, less := measured(t, "analyze "+path)
				rss, cpu, most = min(rss, again), min(cpu, less), max(most, ordinary*yardsticks)
			}
			t.Logf("%v of processor time, %d MiB resident", cpu, rss>>10)
			if cpu > most || rss>>10 > hostileMiB {
				t.Errorf("%v of processor time, %d MiB resident: more than %v or %d MiB", cpu, rss>>10, most, hostileMiB)
			}
		})
	}
}

// yardsticks is the maximum time of a hostile input, as a multiple of the yardstick's, on a machine
// that exceeds hostileTime: twice what any input takes.
const yardsticks = 20

// TestHelpIsQuick: --help does not wait for initialization that only other commands need. What the
// packages of this module allocate before main decides, for it is the same on every machine; how
// long a process takes to start is not.
func TestHelpIsQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	program := filepath.Join(t.TempDir(), "plegforensics")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(program, "--help")
	var trace strings.Builder
	cmd.Env, cmd.Stderr = append(os.Environ(), "GODEBUG=inittrace=1"), &trace
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	const mostKiB = 800 // of some 600
	packages, total := 0, 0
	for _, m := range regexp.MustCompile(`init github\.com/plegforensics/\S+ .* (\d+) bytes`).FindAllStringSubmatch(trace.String(), -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		packages, total = packages+1, total+n
	}
	t.Logf("%v of processor time, %d bytes in %d packages", cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), total, packages)
	if packages == 0 || total > mostKiB<<10 {
		t.Errorf("more than %d KiB\n%s", mostKiB, trace.String())
	}
}

// yardstick writes a large log of ordinary lines and returns its path. The time it takes shows how
// busy the machine is.
func yardstick(t *testing.T) string {
	const name = "1,000,000 errors that each differ"
	all := hostile.Lines()
	var log bytes.Buffer
	if err := all[slices.IndexFunc(all, func(c hostile.Case) bool { return c.Name == name })].Build(&log); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ordinary.log")
	if err := os.WriteFile(path, log.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// firstBytes passes on the first left bytes and then fails.
type firstBytes struct {
	to   io.Writer
	left int
}

func (f *firstBytes) Write(p []byte) (int, error) {
	n, err := f.to.Write(p[:min(len(p), f.left)])
	if f.left -= n; err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}

// TestMostNodes: of too many nodes those with the most lines are rebuilt; a warning says so, the
// input counts as partially read, and a node requested by --node is always there.
func TestMostNodes(t *testing.T) {
	var log strings.Builder
	for i, host := range []string{"one", "two", "two", "three", "three", "three"} {
		fmt.Fprintf(&log, "Mar 13 15:30:0%d %s kubelet[%d]: I0313 15:30:0%d.000000     812 kubelet.go:1823] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m%d.5s ago; threshold is 3m0s]\n", i, host, int(host[1])*7, i, i)
	}
	for _, c := range []struct {
		args string
		want int
		has  string
		not  string
	}{
		{"", exitOK, "one", "left out"},
		{"--max-nodes 2", exitOK, "1 nodes are left out", `"name": "one"`},
		{"--max-nodes 2 --quiet", exitOK, "1 nodes are left out", `"name": "one"`},
		{"--max-nodes 2 --strict", exitPartial, "1 nodes are left out", `"name": "one"`},
		{"--max-nodes 2 --node one", exitOK, "one", "left out"},
	} {
		var out strings.Builder
		rc := run(t.Context(), strings.Fields("plegforensics analyze -o json --year 2026 "+c.args+" -"), strings.NewReader(log.String()), &out, &out)
		if rc != c.want || !strings.Contains(out.String(), c.has) || strings.Contains(out.String(), c.not) {
			t.Errorf("%s: exit %d\n%s", c.args, rc, out.String())
		}
	}
}

// TestManyEpisodes: of more episodes than a node has in months those of the greatest ages
// are kept, that is said, and nothing is healthy where the others were.
func TestManyEpisodes(t *testing.T) {
	const episodes = parse.Many + 100
	var log, out, said strings.Builder
	for i := range episodes {
		at := time.Date(2024, 3, 13, 15, 0, 400*i, 0, time.UTC)
		fmt.Fprintf(&log, "%s node-1 prog-%d[%d]: PLEG is not healthy: pleg was last seen active 3m%ds ago; threshold is 3m0s\n", at.Format("2006-01-02T15:04:05.000000Z07:00"), i, i+2, i%50+1)
	}
	if rc := run(t.Context(), strings.Fields("plegforensics timeline -o json -"), strings.NewReader(log.String()), &out, &said); rc != exitOK {
		t.Fatalf("exit %d: %s", rc, said.String())
	}
	var doc struct {
		Nodes []struct {
			Episodes []any
			Health   []struct{ State string }
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &doc); err != nil || len(doc.Nodes) != 1 || len(doc.Nodes[0].Episodes) != parse.Many {
		t.Fatalf("%v: %.300s", err, out.String())
	}
	for _, h := range doc.Nodes[0].Health {
		if h.State == "healthy" {
			t.Fatalf("healthy: %v", h)
		}
	}
	if !strings.Contains(said.String(), "10100 episodes: 10000 are kept one by one") {
		t.Errorf("%.2000s", said.String())
	}
}

// TestOneStretch: lists that fail one right after the other are a single unhealthy span, however
// many they are.
func TestOneStretch(t *testing.T) {
	var log, out strings.Builder
	for i := range 50 {
		at := time.Date(2024, 3, 13, 15, 0, 121*i, 0, time.UTC)
		fmt.Fprintf(&log, "%s node-1 kubelet[812]: E%s     812 generic.go:238] \"GenericPLEG: Unable to retrieve pods\" err=\"rpc error: code = DeadlineExceeded desc = context deadline exceeded\"\n",
			at.Format("2006-01-02T15:04:05.000000Z07:00"), at.Format("0102 15:04:05.000000"))
	}
	if rc := run(t.Context(), strings.Fields("plegforensics analyze -o json -"), strings.NewReader(log.String()), &out, &out); rc != exitOK {
		t.Fatalf("exit %d: %s", rc, out.String())
	}
	if n := strings.Count(out.String(), `"rule": "relist-threshold-exceeded"`); n != 1 || !strings.Contains(out.String(), `"value": 6048.998`) {
		t.Errorf("%d stretches\n%.2000s", n, out.String())
	}
}

// TestJoinedAtOnce: a failed list is joined right away with what the previous one says about its
// start. Relists are the same as if other lines of the goroutine followed, and all claims are
// merged in the end.
func TestJoinedAtOnce(t *testing.T) {
	relists := func(pause time.Duration, more string) []any {
		var log, out strings.Builder
		at := time.Date(2024, 3, 13, 15, 0, 0, 0, time.UTC)
		write := func(format string) {
			fmt.Fprintf(&log, "%s node-1 kubelet[812]: E%s     812 %s err=\"rpc error: code = DeadlineExceeded desc = context deadline exceeded\"\n",
				at.Format("2006-01-02T15:04:05.000000Z07:00"), at.Format("0102 15:04:05.000000"), format)
		}
		for range 40 {
			write(`generic.go:238] "GenericPLEG: Unable to retrieve pods"`)
			at = at.Add(pause)
		}
		at = at.Add(time.Hour)
		if more != "" {
			write(more)
		}
		if rc := run(t.Context(), strings.Fields("plegforensics timeline -o json -"), strings.NewReader(log.String()), &out, &out); rc != exitOK {
			t.Fatalf("exit %d: %s", rc, out.String())
		}
		var doc struct{ Nodes []struct{ Relists []any } }
		if err := json.Unmarshal([]byte(out.String()), &doc); err != nil || len(doc.Nodes) != 1 || len(doc.Nodes[0].Relists) < 39 {
			t.Fatalf("%v: %.2000s", err, out.String())
		}
		return doc.Nodes[0].Relists[:39]
	}
	for _, pause := range []time.Duration{time.Second, 1100 * time.Millisecond, 2 * time.Second, 121 * time.Second, 121200 * time.Millisecond} {
		alone, merged := relists(pause, ""), relists(pause, `generic.go:453] "PLEG: Ignoring events for pod" pod="ns/p"`)
		if !reflect.DeepEqual(alone, merged) {
			t.Errorf("%v apart: %d relists\n%v\nand\n%v", pause, len(alone), alone, merged)
		}
	}
}
