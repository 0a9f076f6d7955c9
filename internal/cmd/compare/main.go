// Command compare benchmarks plegforensics against common tools, on the same files in the same run:
//
//	go build -o /tmp/plegforensics ./cmd/plegforensics
//	go run ./internal/cmd/compare -bin /tmp/plegforensics -dir /tmp/bench
//
// Each pair of programs runs alternately a few times; the result is the ratio of the medians.
// Inputs are generated once into -dir (about 2 GiB). Tools that are not installed are skipped.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// literals are the alternatives that one would grep for to find PLEG trouble.
const literals = "PLEG is not healthy|last seen active|pleg has yet|GenericPLEG|SyncLoop \\(PLEG\\)|Relisting|Unable to retrieve pods|" +
	"skipping pod synchronization|Skipping pod synchronization|DeadlineExceeded|context deadline exceeded|ListPodSandbox|ListContainers|" +
	"PodSandboxStatus|ContainerStatus|StopPodSandbox|container runtime is down|sanity check failed|network not ready|Node became not ready|" +
	"NodeNotReady|NodeReady|Starting kubelet|Started kubelet|Kubelet version|event channel is full|orphaned pod|Housekeeping took|" +
	"Killing container|OOM|blocked for more than|hung_task"

// pair is one row of the table.
type pair struct {
	name   string
	input  string
	procs  string // GOMAXPROCS of our program, "" for all cores
	peer   string // shell command; %s is the input
	target float64
}

var pairs = []pair{
	{"plain, all cores", "k.log", "", "rg -c '" + literals + "' %s", 0.50},
	{"plain, error-heavy", "errors.log", "", "rg -c '" + literals + "' %s", 0.70},
	{"plain, one core", "k.log", "1", "rg -c '" + literals + "' %s", 0.80},
	{".gz", "k.log.gz", "", "gzip -dc %s", 0.75},
	{".zst", "k.log.zst", "", "zstd -dcq %s", 1.25},
	{".xz, one block", "k256.log.xz", "", "xz -T1 -dc %s", 2.2},
	{".xz, blocks", "k256.blocks.xz", "", "xz -T2 -dc %s", 2.2},
	{".tar.xz", "sos.tar.xz", "", "tar xJOf %s --wildcards '*kubelet*' | rg -c '" + literals + "'", 1.6},
}

func main() {
	bin := flag.String("bin", "plegforensics", "binary to measure")
	dir := flag.String("dir", "", "directory for the inputs")
	runs := flag.Int("runs", 5, "pairs of runs")
	flag.Parse()
	if *dir == "" {
		fmt.Fprintln(os.Stderr, "compare: -dir is missing")
		os.Exit(2)
	}
	if err := run(*bin, *dir, *runs); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(bin, dir string, runs int) error {
	if err := inputs(dir); err != nil {
		return err
	}
	fmt.Println("| input | ours s | peer s | ratio | target | ours CPU s | ours RSS MiB | peer |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, p := range pairs {
		in := filepath.Join(dir, p.input)
		tool, _, _ := strings.Cut(p.peer, " ")
		if _, err := exec.LookPath(tool); err != nil {
			continue
		}
		if _, err := os.Stat(in); err != nil {
			continue
		}
		var ours, peers []sample
		for range runs {
			ours = append(ours, measure(p.procs, bin, "analyze", "--quiet", "-o", "json", in))
			peers = append(peers, measure("", "sh", "-c", fmt.Sprintf(p.peer, in)+" >/dev/null"))
		}
		o, t := median(ours), median(peers)
		fmt.Printf("| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %d | %s |\n", p.name, o.wall.Seconds(), t.wall.Seconds(),
			float64(o.wall)/float64(t.wall), p.target, o.cpu.Seconds(), o.rss>>20, tool)
	}
	return nil
}

type sample struct {
	wall, cpu time.Duration
	rss       int64
}

func measure(procs, name string, args ...string) sample {
	cmd := exec.Command(name, args...)
	cmd.Env = os.Environ()
	if procs != "" {
		cmd.Env = append(cmd.Env, "GOMAXPROCS="+procs)
	}
	begin := time.Now()
	err := cmd.Run()
	s := sample{wall: time.Since(begin)}
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
	if code := cmd.ProcessState.ExitCode(); code > 1 {
		fmt.Fprintln(os.Stderr, "compare:", name, "ended with", code)
	}
	s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.rss = int64(u.Maxrss) << 10
	}
	return s
}

// median returns the run with the median wall time, with the maximum memory of all runs.
func median(s []sample) sample {
	slices.SortFunc(s, func(a, b sample) int { return int(a.wall - b.wall) })
	m := s[len(s)/2]
	for _, x := range s {
		m.rss = max(m.rss, x.rss)
	}
	return m
}

// steps create the inputs in order. Existing ones are kept.
var steps = []struct{ out, script string }{
	{"k.log", "go run ./internal/cmd/genlog -bytes 1073741824"},
	{"errors.log", "go run ./internal/cmd/genlog -bytes 157286400 -errors 19"},
	{"k.log.gz", "gzip -c $D/k.log"},
	{"k.log.zst", "zstd -qc $D/k.log"},
	{"k256.log", "head -c 268435456 $D/k.log"},
	{"k256.log.xz", "xz -T1 -3 -c $D/k256.log"},
	{"k256.blocks.xz", "xz -T2 -3 -c $D/k256.log"},
	{"sos.tar.xz", sosreport},
}

// sosreport packs the log and 1,500 small files in the layout of sos.
const sosreport = `
T=$D/tree/sosreport-worker-3-2026-03-13-abcdefg
mkdir -p $T/sos_commands/kubernetes $T/sos_commands/host $T/etc $T/proc
cp $D/k256.log $T/sos_commands/kubernetes/journalctl_--no-pager_--unit_kubelet
for i in $(seq 1500); do echo "setting $i" > $T/etc/file-$i.conf; done
tar -C $D/tree -c . | xz -T1 -3 -c
rm -r $D/tree`

func inputs(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, s := range steps {
		out := filepath.Join(dir, s.out)
		if _, err := os.Stat(out); err == nil {
			continue
		}
		fmt.Fprintln(os.Stderr, "compare: making", s.out)
		cmd := exec.Command("sh", "-e", "-c", "("+s.script+") > $D/part && mv $D/part $D/"+s.out)
		cmd.Env = append(os.Environ(), "D="+dir)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("making %s: %w", s.out, err)
		}
	}
	return nil
}
