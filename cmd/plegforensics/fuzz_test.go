package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/cuts"
	"github.com/plegforensics/plegforensics/internal/hostile"
	"github.com/plegforensics/plegforensics/internal/redact"
	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/bundle"
	"github.com/plegforensics/plegforensics/parse/clock"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// smallLimits keep one execution of a fuzz target within milliseconds.
var smallLimits = bundle.Limits{Bytes: 1 << 20, Files: 20, Depth: 6, Whole: 256 << 10, Random: 256 << 10, Dict: 64 << 10, Time: 20 * time.Second}

// seldomCollect lets garbage collection, a fifth of the time of a small analysis, wait.
func seldomCollect(f *testing.F) {
	old := debug.SetGCPercent(800)
	f.Cleanup(func() { debug.SetGCPercent(old) })
}

var builtinPack = sync.OnceValue(func() *rules.Pack {
	pack, _ := rules.Builtin()
	return pack
})

// analysisOf returns the analysis of an input, without the command line around it.
func analysisOf(t testing.TB, stdin []byte, inputs ...string) *model.Analysis {
	t.Helper()
	return analysisWithin(t, smallLimits, stdin, inputs...)
}

func analysisWithin(t testing.TB, limits bundle.Limits, stdin []byte, inputs ...string) *model.Analysis {
	t.Helper()
	b, err := bundle.Load(context.Background(), inputs, bundle.Options{
		Stdin: bytes.NewReader(stdin), Jobs: 1, Limits: limits,
		Clock: clock.Options{Zone: time.UTC, Year: 2026, Now: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)},
	})
	if err != nil {
		t.Fatal(err)
	}
	a := &model.Analysis{Inputs: b.Inputs, Warnings: b.Warnings, Bundles: []*parse.Bundle{b}}
	for _, w := range b.Warnings {
		if strings.Contains(w.Msg, "please report") {
			t.Errorf("a decoder failed: %v", w)
		}
	}
	for _, n := range replay.Build(b, replay.Options{}) {
		x := model.Analyze(n, nil)
		x.Judge(rules.EvalAtOnce(n, &x.Audit, builtinPack(), nil))
		a.Nodes = append(a.Nodes, *x)
	}
	return a
}

// sampleLogs returns the lines of the sample logs; of the journal only those about PLEG.
var sampleLogs = sync.OnceValue(func() (out [][]string) {
	paths, _ := filepath.Glob(filepath.Join(samples, "*", "kubelet.log"))
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			panic(err)
		}
		out = append(out, strings.SplitAfter(string(data), "\n"))
	}
	b, err := bundle.Load(context.Background(), []string{filepath.Join(samples, "restart-in-hang", "kubelet.journal.xz")}, bundle.Options{})
	if err != nil {
		panic(err)
	}
	var lines []string
	for i := range b.Events {
		lines = append(lines, b.Events[i].Text().String()+"\n")
	}
	return append(out, lines)
})

// thin reduces a log to room bytes; lines about PLEG are kept first.
func thin(lines []string, room int) string {
	keep := make([]bool, len(lines))
	take := func(want func(i int) bool) {
		for i, l := range lines {
			if !keep[i] && len(l) <= room && want(i) {
				keep[i] = true
				room -= len(l)
			}
		}
	}
	take(func(i int) bool { return i < 5 })
	seen := map[string]int{}
	take(func(i int) bool {
		_, msg, _ := strings.Cut(lines[i], "] ")
		kind := msg[:min(len(msg), 24)]
		seen[kind]++
		return strings.Contains(lines[i], "PLEG") && seen[kind] < 8
	})
	take(func(i int) bool { return i%9 == 0 })
	var b strings.Builder
	for i, l := range lines {
		if keep[i] {
			b.WriteString(l)
		}
	}
	return b.String()
}

// foundIn returns all findings in words, without the positions of evidence.
func foundIn(a *model.Analysis) string {
	var b strings.Builder
	for i := range a.Nodes {
		n := &a.Nodes[i]
		fmt.Fprintf(&b, "node, kubelet %s, period %v, threshold %v, window %d to %d\n", n.Kubelet.Version, n.Kubelet.Period, n.Kubelet.Threshold, n.Window.Start, n.Window.End)
		for _, h := range n.Health {
			fmt.Fprintf(&b, "health %s %s %d to %d\n", h.State, h.Proof, h.From, h.To)
		}
		for i := range n.Relists {
			r := &n.Relists[i]
			fmt.Fprintf(&b, "relist %v to %v, listed %v, took %v, %s by %v\n", r.Start, r.End, r.ListEnd, r.Took, r.Outcome, r.Basis)
		}
		for _, e := range n.Episodes {
			fmt.Fprintf(&b, "episode from %d, %d reports, recovered %v by %s, stuck in %s\n", e.Breach, e.Reports, e.Recovered, e.RecoveredBasis, e.StuckStep)
		}
		for _, g := range n.Gaps {
			fmt.Fprintf(&b, "gap %v %s\n", g.Span, g.Why)
		}
		for _, x := range n.Breaches {
			fmt.Fprintf(&b, "breach %s %s\n", x.Rule, x.Severity)
		}
		for _, c := range slices.Concat(n.Causes, n.LookAlikes) {
			fmt.Fprintf(&b, "cause %s %.3f\n", c.ID, c.Confidence)
		}
		fmt.Fprintf(&b, "%d events, %d failures, %d changes of readiness\n", n.Observed.Len(), len(n.Failures), len(n.Ready))
	}
	return b.String()
}

var gzips = gzip.NewWriter(nil)

// carried are ways in which the same bytes can be packed.
var carried = []func(log []byte) (name string, data []byte){
	func(log []byte) (string, []byte) {
		var b bytes.Buffer
		gzips.Reset(&b)
		gzips.Write(log)
		gzips.Close()
		return "kubelet.log.gz", b.Bytes()
	},
	func(log []byte) (string, []byte) {
		return "logs.tar.xz", hostile.StoredXZ(tarred("kubelet.log", string(log)))
	},
	func(log []byte) (string, []byte) { return "-", log },
	func(log []byte) (string, []byte) { return "logs.tar", tarred("kubelet.log", string(log)) },
}

// tarred returns an archive of files, given as name and content in turn.
func tarred(files ...string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for ; len(files) > 1; files = files[2:] {
		w.WriteHeader(&tar.Header{Name: files[0], Size: int64(len(files[1])), Mode: 0o644, Typeflag: tar.TypeReg})
		w.Write([]byte(files[1]))
	}
	w.Close()
	return b.Bytes()
}

// FuzzSameFindings: the same log gives the same findings as a file, compressed, in an archive, from
// standard input, and rotated into halves. A name tells who wrote a damaged line, so standard input is
// held to a file whose name tells nothing.
func FuzzSameFindings(f *testing.F) {
	dir := f.TempDir()
	for _, lines := range sampleLogs() {
		for form := range len(carried) + 1 {
			f.Add([]byte(thin(lines, 3<<10)), uint8(form), uint16(3<<9))
		}
	}
	seldomCollect(f)
	f.Fuzz(func(t *testing.T, log []byte, form uint8, at uint16) {
		if len(log) > 8<<10 {
			return
		}
		how := int(form) % (len(carried) + 1)
		if how == len(carried) && !orderly(log) {
			return
		}
		plain := func(name string) string { return foundIn(analysisOf(t, nil, fileOf(t, dir, name, log))) }
		var got, want string
		name := "rotated halves"
		if how == len(carried) {
			want = plain("kubelet.log")
			cut := bytes.IndexByte(log[min(int(at), len(log)):], '\n') + min(int(at), len(log)) + 1
			rotated := filepath.Join(dir, "rotated")
			if err := os.MkdirAll(rotated, 0o755); err != nil {
				t.Fatal(err)
			}
			fileOf(t, rotated, "kubelet.log.1", log[:cut])
			fileOf(t, rotated, "kubelet.log", log[cut:])
			got = foundIn(analysisOf(t, nil, rotated))
		} else {
			var data []byte
			if name, data = carried[how](log); name == "-" {
				want = plain("input.txt")
				got = foundIn(analysisOf(t, data, "-"))
			} else {
				want = plain("kubelet.log")
				got = foundIn(analysisOf(t, nil, fileOf(t, dir, name, data)))
			}
		}
		if got != want {
			t.Errorf("%s finds something else:\n%s\n--- the file:\n%s", name, got, want)
		}
	})
}

func fileOf(t testing.TB, dir, name string, data []byte) string {
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

var klogHeader = regexp.MustCompile(`^[IWEF]1120 \d\d:\d\d:\d\d\.\d{6} {1,7}\d+ [a-z_]+\.go:\d+\] [ -~]*$`)

// orderly reports whether a log consists of kubelet lines sorted by time, so that it can be cut
// anywhere.
func orderly(log []byte) bool {
	last := ""
	for line := range strings.Lines(string(log)) {
		if !strings.HasSuffix(line, "\n") || !klogHeader.MatchString(line[:len(line)-1]) || line[6:21] < last {
			return false
		}
		last = line[6:21]
	}
	return true
}

// habitMost is the longest silence in seconds that may be part of a log's rhythm: lines removed
// within it leave no trace.
const habitMost = 75

// second returns the time of day of a line with a klog header, in seconds; -1 without one.
func second(line string) int {
	m := klogTime.FindStringSubmatch(line)
	if m == nil {
		return -1
	}
	t, _ := time.Parse(time.TimeOnly, m[1])
	return t.Hour()*3600 + t.Minute()*60 + t.Second()
}

var klogTime = regexp.MustCompile(`[IWEF]\d{4} (\d\d:\d\d:\d\d)\.`)

// FuzzLess: removing the beginning, the end and blocks of a log yields nothing that the whole log
// does not support. The log is a section of a sample; the bytes are the numbers of lines that are
// kept and removed in turn.
func FuzzLess(f *testing.F) {
	var seconds [][]int
	for i, lines := range sampleLogs() {
		var at []int
		for _, l := range lines {
			at = append(at, second(l))
		}
		seconds = append(seconds, at)
		for at := 0; at < len(lines); at += 100 {
			f.Add(uint8(i), uint8(at/16), uint8(10), []byte{10, 200, 40, 3, 60, 5})
			f.Add(uint8(i), uint8(at/16), uint8(7), []byte{1, 100, 3, 1, 1, 1, 5, 40})
		}
	}
	wholes := map[[3]uint8]*model.Analyzed{}
	seldomCollect(f)
	f.Fuzz(func(t *testing.T, which, at, n uint8, blocks []byte) {
		if len(blocks) > 16 {
			return
		}
		which %= uint8(len(sampleLogs()))
		n %= 16
		from := min(int(at)*16, len(sampleLogs()[which]))
		to := min(from+int(n+1)*16, len(sampleLogs()[which]))
		lines, secs := sampleLogs()[which][from:to], seconds[which][from:to]
		whole, ok := wholes[[3]uint8{which, at, n}]
		if !ok {
			whole = firstNode(analysisOf(t, []byte(strings.Join(lines, "")), "-"))
			wholes[[3]uint8{which, at, n}] = whole
		}
		var part strings.Builder
		i := 0
		for ; len(blocks) >= 2; blocks = blocks[2:] {
			stay := min(i+int(blocks[0]), len(lines))
			part.WriteString(strings.Join(lines[i:stay], ""))
			i = min(stay+int(blocks[1]), len(lines))
			for stay > 0 && i < len(lines) && i > stay && (secs[i] < 0 || secs[i]-secs[stay-1] <= habitMost) {
				i++
			}
		}
		part.WriteString(strings.Join(lines[i:], ""))
		for _, f := range cuts.Beyond(firstNode(analysisOf(t, []byte(part.String()), "-")), whole) {
			t.Error(f)
		}
	})
}

// shaped makes names whose shape is chosen by fuzzer bytes. Each contains a mark that occurs in no
// word.
type shaped struct {
	bytes []byte
	n     int
	marks map[string]string // mark -> name that contains it
}

func (s *shaped) next(n int) int {
	if len(s.bytes) == 0 {
		return 0
	}
	k := int(s.bytes[0]) % n
	s.bytes = s.bytes[1:]
	return k
}

// What surrounds the mark in a name: nothing, ordinary words, numbers, hashes.
var (
	namePrefixes = []string{"", "", "", "web-", "my", "kube-", "1", "prod-eu-", "a-", "x0-", "node-", "pod-", "log-", "the-", "e-"}
	nameSuffixes = []string{"", "", "", "-0", "-7d9f8b6c5-x2x4z", "1", "-api", "01", "-db-12", "-log", "-x", "-5b8c9", "-node", "-10-0-0-1"}
)

func (s *shaped) label() string {
	s.n++
	mark := "qz"
	for range 3 + s.next(4) {
		mark += string("bcdfghjklmnpqrstvwxz5739"[s.next(24)])
	}
	mark += string("vqjxw"[s.n%5]) + "zq"
	name := namePrefixes[s.next(len(namePrefixes))] + mark + nameSuffixes[s.next(len(nameSuffixes))]
	s.marks[mark] = name
	return name
}

func (s *shaped) fill(template string) string {
	same := map[string]string{}
	return canarySlot.ReplaceAllStringFunc(template, func(m string) string {
		full := strings.Trim(m, "{}")
		if v, ok := same[full]; ok {
			return v
		}
		v := s.one(strings.TrimRight(full, "0123456789"), full)
		if last := full[len(full)-1]; last >= '0' && last <= '9' && full != "ip6" && full != "uid32" {
			same[full] = v
		}
		return v
	})
}

func (s *shaped) one(kind, full string) string {
	hex := func(n int) string {
		s.n++
		h := fmt.Sprintf("%02x%02x", 0xa0+s.n%80, 0xb1+s.next(60))
		for len(h) < n {
			h += string("0123456789abcdef"[(s.next(16)+len(h)+s.n)%16])
		}
		s.marks[h] = h
		return h
	}
	uid := func(sep string) string {
		return hex(8) + sep + "0c0e" + sep + "4a0c" + sep + "9b1e" + sep + hex(12)
	}
	switch {
	case full == "ip6":
		tail := hex(4)
		delete(s.marks, tail)
		s.marks[":"+tail] = tail
		return []string{"2001::" + tail, "fd00:10:96::" + tail, "2001:db8:0:1:1:1:1:" + tail, "fe80::5054:ff:fe12:" + tail}[s.next(4)]
	case full == "uid32":
		return hex(32)
	case kind == "host":
		return s.label() + "." + s.label() + "." + s.label()
	case kind == "ip" || kind == "dashed":
		s.n++
		ip := fmt.Sprintf("10.%d.%d.%d", 60+s.next(190), s.next(250)+1, s.n%240+11)
		if kind == "dashed" {
			ip = strings.ReplaceAll(ip, ".", "-")
		}
		s.marks[ip] = ip
		return ip
	case kind == "uid":
		return uid("-")
	case kind == "uid_":
		return uid("_")
	case kind == "uidx":
		return uid(`\x2d`)
	case kind == "secret":
		return s.label() + "A1b2C3d4E5f6G7h8"
	}
	return s.label()
}

// framed puts a line into the framing of one of several log writers.
func framed(how int, line, host string) string {
	klog := line[1:5] == "1120"
	message := "kubelet[5203]: " + line
	if !klog {
		message = line
	}
	switch how % 5 {
	case 0:
		if klog {
			return line
		}
	case 1:
		if klog {
			return "2026-11-20T23:44:30.100000000Z stderr F " + line
		}
	case 2:
		return fmt.Sprintf(`{"__REALTIME_TIMESTAMP":"1795218270100000","_HOSTNAME":%q,"SYSLOG_IDENTIFIER":%q,"_PID":"5203","MESSAGE":%q}`, host, message[:strings.IndexAny(message, "[:")], message[strings.Index(message, ": ")+2:])
	case 3:
		return "2026-11-20T23:44:30.100000+00:00 " + host + " " + message
	}
	return "Nov 20 23:44:30 " + host + " " + message
}

// FuzzRedact: no name in some lines of a kubelet, a runtime or the kernel, or in another file of a
// bundle, appears in any format or warning, whatever its shape.
func FuzzRedact(f *testing.F) {
	templates := slices.Concat(kubeletLines, systemLines)
	names := slices.Sorted(maps.Keys(canaryFiles))
	formats := slices.Concat(report.Formats, report.TimelineFormats, report.EventFormats, report.InspectFormats)
	var about []string // lines that cause findings
	for _, lines := range sampleLogs() {
		about = append(about, thin(lines, 1<<10))
	}
	for i := range templates {
		f.Add(uint8(i), uint8(i), uint8(i), []byte{byte(i), byte(2 * i), byte(3 * i), 9, 7, 5, 3, byte(5 * i)})
	}
	for i := range names {
		f.Add(uint8(i), uint8(7*i), uint8(len(templates)+i), []byte{byte(i), byte(i)})
	}
	seldomCollect(f)
	f.Fuzz(func(t *testing.T, format, frame, which uint8, shape []byte) {
		if len(shape) > 256 {
			return
		}
		s := &shaped{bytes: shape, marks: map[string]string{}}
		host := s.fill([]string{"{word}", "{host}", "{word}.local"}[s.next(3)])
		files := map[string]string{"kubelet.log": about[int(frame/5)%len(about)]}
		k := int(which) % (len(templates) + len(names))
		for i := range 1 + s.next(3) { // the following ones too
			if j := k + i; j < len(templates) {
				files["messages.log"] += framed(int(frame), s.fill(templates[j]), host) + "\n"
			} else if j < len(templates)+len(names) {
				files[s.fill(names[j-len(templates)])] = s.fill(canaryFiles[names[j-len(templates)]])
			}
		}
		var entries []string
		for _, name := range slices.Sorted(maps.Keys(files)) {
			entries = append(entries, "sosreport-"+host+"-2026-11-20/"+name, files[name])
		}
		a := analysisOf(t, tarred(entries...), "-")
		key := [][]byte{nil, []byte("k")}[int(format/128)]
		red := redact.New(key)
		var out strings.Builder
		r := fillWith(a, red)
		if err := formats[int(format)%len(formats)].Write(&out, r, report.Options{Verbose: true}); err != nil {
			t.Fatal(err)
		}
		for _, w := range a.Warnings {
			out.WriteString(red.Text(w.String()) + "\n")
		}
		text := strings.ToLower(out.String())
		for mark, name := range s.marks {
			if strings.Contains(text, mark) {
				t.Errorf("%s of %s is left: %s\n%s", mark, name, around(text, mark), files["messages.log"])
			}
		}
	})
}
