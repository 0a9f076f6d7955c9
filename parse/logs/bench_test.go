package logs

import (
	"bytes"
	"cmp"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// quietLines are lines of a busy node that match nothing.
var quietLines = []string{
	`"MountVolume.SetUp succeeded for volume \"kube-api-access-x7k2p\" (UniqueName: \"kubernetes.io/projected/0d1c6d2e-7f0a-4a55-9a53-6a3b8f0e1111-kube-api-access-x7k2p\") pod \"web-0\" (UID: \"0d1c6d2e-7f0a-4a55-9a53-6a3b8f0e1111\") " pod="default/web-0"`,
	`"operationExecutor.VerifyControllerAttachedVolume started for volume \"config\" (UniqueName: \"kubernetes.io/configmap/0d1c6d2e\") pod \"api-6f9c\"" pod="prod/api-6f9c"`,
	`audit: type=1400 audit(1732060800.123:4711): apparmor="STATUS" operation="profile_load" profile="unconfined" name="cri-containerd.apparmor.d" pid=812 comm="apparmor_parser"`,
	`time="2025-12-30T21:46:36.707747684Z" level=info msg="ImageCreate event name:\"registry.example/app:1\" labels:{key:\"io.cri-containerd.image\" value:\"managed\"}"`,
	`10.42.0.7 - - [20/Nov/2026:23:41:00 +0000] "GET /healthz HTTP/1.1" 200 2 "-" "kube-probe/1.28"`,
	`"Observed pod startup duration" pod="default/web-0" podStartSLOduration=2.107 pullDuration="0s" firstStartedPulling="0001-01-01 00:00:00 +0000 UTC" observedRunningTime="2026-11-20 23:41:00.59 +0000 UTC"`,
}

// sideBySide returns lines that share one buffer, as in a log.
func sideBySide(lines [][]byte) [][]byte {
	all := append(bytes.Join(lines, []byte("\n")), '\n')
	out := make([][]byte, 0, len(lines))
	for _, l := range lines {
		out = append(out, all[:len(l)])
		all = all[len(l)+1:]
	}
	return out
}

func block(lines []string, size int) [][]byte {
	var out [][]byte
	for n := 0; n < size; {
		for _, l := range lines {
			out = append(out, []byte(l))
			n += len(l)
		}
	}
	return out
}

func total(lines [][]byte) int64 { return int64(len(bytes.Join(lines, nil))) }

// BenchmarkMatchAny measures lines that no signature matches.
func BenchmarkMatchAny(b *testing.B) {
	set := builtin(b)
	lines := sideBySide(block(quietLines, 1<<20))
	for _, src := range []parse.Source{parse.SrcKubelet, parse.SrcContainerd, parse.SrcUnknown} {
		f := set.filterOf(src)
		b.Run(cmp.Or(string(src), "unknown"), func(b *testing.B) {
			b.SetBytes(total(lines))
			for b.Loop() {
				for _, l := range lines {
					if f.finds(l) {
						b.Fatalf("matches: %s", l)
					}
				}
			}
		})
	}
}

// BenchmarkMatch measures lines that all match.
func BenchmarkMatch(b *testing.B) {
	set := builtin(b)
	m := set.NewMatcher()
	for _, id := range []string{parse.SigEvent, parse.SigAge, parse.SigRPC, parse.SigCtrLife} {
		var samples []string
		for _, e := range set.entries {
			if e.ID == id {
				for _, s := range e.Samples {
					samples = append(samples, s.Msg)
				}
			}
		}
		lines := block(samples, 1<<18)
		b.Run(strings.ReplaceAll(id, ".", "-"), func(b *testing.B) {
			b.SetBytes(total(lines))
			b.ReportAllocs()
			for b.Loop() {
				for _, l := range lines {
					m.Match(parse.SrcUnknown, 0, l)
				}
			}
		})
	}
}

// BenchmarkHostile measures a long line made of parts of literals, the worst case
// for the filter: the cost must stay proportional to the length.
func BenchmarkHostile(b *testing.B) {
	set := builtin(b)
	line := []byte(strings.Repeat("from runtime service faileD Failed to stop sandboX ", 1<<15))
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if set.Match(parse.SrcUnknown, 0, line) != nil {
			b.Fatal("matches")
		}
	}
}

// BenchmarkBuiltin measures compiling the built-in set.
func BenchmarkBuiltin(b *testing.B) {
	for b.Loop() {
		compileBuiltin()
	}
}
