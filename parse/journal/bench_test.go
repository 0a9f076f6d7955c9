package journal

import (
	"bytes"
	"fmt"
	"testing"
)

// busy returns lines of a busy node in realistic proportions, in one buffer as in a
// log.
func busy(n int) [][]byte {
	callers := []string{"kubelet_getters.go:182", "operation_generator.go:722", "prober.go:107", "reconciler_common.go:245", "pod_startup_latency_tracker.go:102"}
	var out [][]byte
	for i := range n {
		at := fmt.Sprintf("%02d:%02d:%02d", i/15/3600%24, i/15/60%60, i/15%60)
		line := "Mar 13 " + at + " node-7.example.com "
		switch i % 20 {
		case 3, 9, 14, 19:
			line += `containerd[655]: time="2021-03-13T` + at + fmt.Sprintf(`.%03dZ" level=info msg="ImageUpdate event"`, i%1000)
		case 5:
			line += "systemd[1]: run-runc.mount: Deactivated successfully."
		case 11:
			line += fmt.Sprintf("sshd[%d]: Accepted publickey for core", 10000+i%977)
		default:
			line += fmt.Sprintf(`kubelet[812]: I0313 %s.%06d     812 %s] "Nothing of interest"`, at, i%1000000, callers[i%len(callers)])
		}
		out = append(out, []byte(line))
	}
	all := bytes.Join(append(out, nil), []byte("\n"))
	for i, line := range out {
		out[i], all = all[:len(line)], all[len(line)+1:]
	}
	return out
}

// BenchmarkSkim measures the cost of a line that turns out to be irrelevant,
// without the literal search.
func BenchmarkSkim(b *testing.B) {
	lines := busy(20000)
	p := NewParser(Detect(bytes.Join(lines[:100], []byte("\n"))))
	var e Entry
	for b.Loop() {
		for _, line := range lines {
			if p.Skim(line) == nil {
				p.Parse(line, &e)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(lines)), "ns/line")
}
