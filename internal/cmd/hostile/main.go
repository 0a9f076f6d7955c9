//go:build linux

// Command hostile writes the inputs of package hostile to a directory:
//
//	go run ./internal/cmd/hostile [-only REGEXP] DIR
//
// or measures a program on each of them and on given files, each as it is and damaged in three
// ways. It prints the cost of each input, and fails if one exceeds the limits:
//
//	go run ./internal/cmd/hostile [-only REGEXP] -run "PROGRAM analyze -o json" [FILE...]
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/plegforensics/plegforensics/internal/hostile"
)

// Limits for one input, and the time after which a run is aborted.
const (
	mostCPU = 10 * time.Second
	mostMiB = 512
	giveUp  = 5 * time.Minute
)

func main() {
	only := flag.String("only", ".", "inputs whose name matches `REGEXP`")
	run := flag.String("run", "", "`COMMAND` to measure, which gets the input as its last argument")
	flag.Parse()
	if err := do(*only, *run, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

func do(only, run string, args []string) error {
	re, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if run == "" && len(args) != 1 {
		return fmt.Errorf("usage: hostile [-only REGEXP] DIR, or -run COMMAND [FILE...]")
	}
	if run == "" {
		return writeAll(re, args[0])
	}
	m := meter{command: strings.Fields(run)}
	if m.dir, err = os.MkdirTemp("", "hostile"); err != nil {
		return err
	}
	defer os.RemoveAll(m.dir)
	for _, c := range hostile.All() {
		if re.MatchString(c.Name) {
			m.built(c.Name)
		}
	}
	for _, path := range args {
		m.damaged(path)
	}
	for _, path := range []string{"/dev/zero", "/dev/urandom", "/proc/kmsg"} {
		if re.MatchString(path) {
			m.measure(path, path)
		}
	}
	return m.sum()
}

func writeAll(only *regexp.Regexp, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, c := range hostile.All() {
		if !only.MatchString(c.Name) {
			continue
		}
		if err := write(filepath.Join(dir, c.Name), c); err != nil {
			return err
		}
	}
	return nil
}

func write(path string, c hostile.Case) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := c.Build(w); err != nil {
		return err
	}
	return w.Flush()
}

// meter runs a command on one input after the other.
type meter struct {
	command []string
	dir     string // for inputs
	count   int
	over    []string // inputs that cost too much or whose run did not end properly
	cpu     time.Duration
	rss     int64 // MiB
	cpuOf   string
	rssOf   string
}

// built measures an input that another process generates: resident memory of this one would be
// counted as the command's.
func (m *meter) built(name string) {
	path := filepath.Join(m.dir, name)
	out, err := exec.Command(os.Args[0], "-only", "^"+regexp.QuoteMeta(name)+"$", m.dir).CombinedOutput()
	if err != nil {
		m.over = append(m.over, fmt.Sprintf("%s: not made: %v %s", name, err, out))
		return
	}
	m.measure(name, path)
	os.Remove(path)
}

// damaged measures a file as it is, cut in half, with a hole, and with flipped bytes.
func (m *meter) damaged(path string) {
	m.measure(path, path)
	for how, damage := range map[string]func([]byte) []byte{
		"in half":   func(b []byte) []byte { return b[:len(b)/2] },
		"with hole": func(b []byte) []byte { clear(b[len(b)/3 : len(b)/2]); return b },
		"flipped": func(b []byte) []byte {
			for i := 1; i < 64; i++ {
				b[len(b)*i/64] ^= 0x55
			}
			return b
		},
	} {
		b, err := os.ReadFile(path)
		to := filepath.Join(m.dir, filepath.Base(path))
		if err == nil {
			err = os.WriteFile(to, damage(b), 0o644)
		}
		if err != nil {
			m.over = append(m.over, err.Error())
			return
		}
		m.measure(path+" "+how, to)
		os.Remove(to)
	}
}

// measure runs the command a second time if it exceeds the limit: on a busy machine the same work
// takes longer.
func (m *meter) measure(name, path string) {
	cpu, rss, ended := m.once(path)
	if cpu > mostCPU {
		again, more, e := m.once(path)
		cpu, rss, ended = min(cpu, again), max(rss, more), e
	}
	fmt.Printf("%8.2f s %6d MiB  %-10s %s\n", cpu.Seconds(), rss, ended, name)
	m.count++
	if cpu > mostCPU || rss > mostMiB || strings.HasPrefix(ended, "signal") || ended == "panic" || ended == "not run" {
		m.over = append(m.over, name)
	}
	if cpu > m.cpu {
		m.cpu, m.cpuOf = cpu, name
	}
	if rss > m.rss {
		m.rss, m.rssOf = rss, name
	}
}

func (m *meter) once(path string) (cpu time.Duration, rss int64, ended string) {
	ctx, cancel := context.WithTimeout(context.Background(), giveUp)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.command[0], append(m.command[1:len(m.command):len(m.command)], path)...)
	var said strings.Builder
	cmd.Stderr = &said
	cmd.Run()
	p := cmd.ProcessState
	if p == nil {
		return 0, 0, "not run"
	}
	if strings.Contains(said.String(), "goroutine ") {
		return p.UserTime() + p.SystemTime(), 0, "panic"
	}
	use := p.SysUsage().(*syscall.Rusage)
	return p.UserTime() + p.SystemTime(), use.Maxrss >> 10, strings.Replace(p.String(), " status", "", 1)
}

// sum prints the maxima, and returns an error if any input exceeded a limit.
func (m *meter) sum() error {
	fmt.Printf("%d inputs; most processor time %.2f s: %s; most resident %d MiB: %s\n", m.count, m.cpu.Seconds(), m.cpuOf, m.rss, m.rssOf)
	if len(m.over) > 0 {
		return fmt.Errorf("more than %v or %d MiB, or no good end: %s", mostCPU, mostMiB, strings.Join(m.over, "; "))
	}
	return nil
}
