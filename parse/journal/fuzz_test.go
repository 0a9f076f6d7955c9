package journal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

var seeds = []string{
	"Mar 13 15:41:18 node-7 kubelet[4242]: " + klogLine,
	"Mar 13 15:41:18.250818 node-7 kubelet[4242]: " + klogLine,
	"2021-03-13T15:41:18.250818-05:00 node-7 kubelet[4242]: " + klogLine,
	"Sat 2021-03-13 15:41:18 UTC node-7 kubelet[4242]: " + klogLine,
	"2024-04-16T06:21:39.123456789Z stdout F " + klogLine,
	"2024-04-16T06:21:39.123456789Z stderr P " + klogLine,
	"2024-04-16T06:21:39.12Z " + klogLine,
	"1615650078.250818 node-7 kubelet[4242]: " + klogLine,
	"[ 2649.824780] node-7 kubelet[4242]: " + klogLine,
	"[Sat Mar 13 15:41:18 2021] nfs",
	"<30>1 2021-03-13T15:41:18Z n app 1 - [a b=\"c\"] x",
	`{"log":"x\n","time":"2024-04-16T06:21:39.5Z"}`,
	`{"MESSAGE":[1,2],"_PID":"7","__REALTIME_TIMESTAMP":"1700000001000000"}`,
	"10.0.0.7: kubelet[1]: " + klogLine,
	"  // " + klogLine,
	"kubelet " + klogLine,
	"-- Logs begin at Fri 2017-11-03 13:31:21 UTC. --",
	"15m  Normal  Scheduled  pod/x  y",
	"Ready False Sat, 28 Sep 2019 15:05:43 +0000 Sat, 28 Sep 2019 14:58:10 +0000 A b",
	klogLine,
}

// same compares the parts of entries that callers may rely on.
func same(a, b *Entry) bool {
	return a.Form == b.Form && a.Off == b.Off && a.Clock == b.Clock && *a.Who == *b.Who && bytes.Equal(a.Msg, b.Msg) &&
		a.Marker == b.Marker && a.Mono == b.Mono && a.Partial == b.Partial && a.Lost == b.Lost &&
		a.Header.Kind == b.Header.Kind && a.Header.Severity == b.Header.Severity && a.Header.PID == b.Header.PID &&
		a.Header.Body == b.Header.Body && a.Header.Clock == b.Header.Clock && bytes.Equal(a.Header.Caller, b.Header.Caller)
}

// checkLine verifies the invariants of every entry.
func checkLine(t *testing.T, rec []byte, e *Entry) {
	t.Helper()
	if e.Off >= 0 && (e.Off+len(e.Msg) > len(rec) || !bytes.Equal(rec[e.Off:e.Off+len(e.Msg)], e.Msg)) {
		t.Fatalf("%q: message %q does not stand at %d", rec, e.Msg, e.Off)
	}
	if e.Header.Body > len(e.Msg) {
		t.Fatalf("%q: body at %d of %d", rec, e.Header.Body, len(e.Msg))
	}
	if e.At < 0 || e.At > len(rec) {
		t.Fatalf("%q: At = %d", rec, e.At)
	}
}

// FuzzParse checks that no line breaks a Parser, and that what it caches from
// earlier lines does not affect the result.
func FuzzParse(f *testing.F) {
	for i := range seeds {
		f.Add([]byte(seeds[i] + "\n" + seeds[(i+1)%len(seeds)]))
		f.Add([]byte(seeds[i] + "\n" + seeds[i] + "x"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		framing := Detect(nil)
		warm := NewParser(framing)
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			var a, b Entry
			warm.Parse(line, &a)
			checkLine(t, line, &a)
			NewParser(framing).Parse(line, &b)
			if !same(&a, &b) {
				t.Fatalf("%q: with memory %+v %+v, without %+v %+v", line, a, *a.Who, b, *b.Who)
			}
		}
	})
}

// neighbours are lines of one file that a Parser may skim.
var neighbours = []string{
	"Mar 13 15:41:18 node-7 sshd[9]: Accepted\nMar 13 15:41:19 node-7 sshd[10]: x\nMar 13 15:41:19 node-7 sshd[010]: x",
	"Mar 13 15:41:18 node-7 kernel: eth0\nMar 13 15:41:18 node-7 kernel: Clock change detected\nMar 13 15:41:18 node-7 kernel: a] I0313",
	"Mar 13 15:41:18 n containerd[6]: time=\"2021-03-13T15:41:18.25Z\" level=info\nMar 13 15:41:19 n containerd[6]: time=2021-03-13T15:41:19+01:00 level=error",
	"Mar 13 15:41:18 n kubelet[6]: " + klogLine + "\nMar 13 15:41:18 n kubelet[6]: \tpart\nMar 13 15:41:18 n kubelet[7]: " + klogLine,
	"2021-03-13T15:41:18-05:00 n sshd[9]: a\n2021-03-13T15:42:18.5-05:00 n sshd[9]: b\n2021-03-13 15:42:18-05:00 n sshd[9]: b",
	"Sat 2021-03-13 15:41:18 UTC n x.service[9]: a\nSat 2021-03-13 15:41:20 UTC n x.service[9]: b\nSun 2021-03-14 15:41:20 UTC n x.service[9]: b",
	"2024-04-16T06:21:39.1Z stdout F a\n2024-04-16T06:21:39.2Z stdout F b\n2024-04-16T06:21:39.2Z stdout P b\n2024-04-16T06:21:40.2Z " + klogLine,
	"Mar 13 15:41:18 n microshift[8]: a\nMar 13 15:41:18 n microshift[8]: kubelet " + klogLine + "\nMar 13 15:41:18 n microshift[8]: etcd " + klogLine,
	"2024-04-16T06:21:39Z stdout F\n2024-04-16T06:21:39Z stdout F0",
}

// checkSkim compares the result of Skim with what a Parser without cached state
// reads.
func checkSkim(t *testing.T, warm, cold *Parser, line []byte) (ok bool) {
	t.Helper()
	var got, want Entry
	b := warm.Skim(line)
	if b == nil {
		warm.Parse(line, &got)
		return false
	}
	b.Entry(line, &got)
	if b.Other > 0 {
		who := *got.Who
		who.PID, got.Who = b.Other, &who
	}
	cold.Parse(line, &want)
	if !same(&got, &want) || b.Body != want.Off+want.Header.Body {
		t.Fatalf("%q: skimmed %+v %+v, parsed %+v %+v", line, got, *got.Who, want, *want.Who)
	}
	return true
}

// FuzzSkim checks that Skim agrees with Parse.
func FuzzSkim(f *testing.F) {
	for _, s := range neighbours {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		framing := Detect(nil)
		warm := NewParser(framing)
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			checkSkim(t, warm, NewParser(framing), line)
		}
	})
}

// TestSkim checks which lines can be skimmed.
func TestSkim(t *testing.T) {
	want := []string{"nyn", "nnn", "ny", "nyn", "nyn", "nyn", "nynn", "nnn", "nn"}
	for i, lines := range neighbours {
		framing, got := Detect(nil), ""
		warm := NewParser(framing)
		for line := range bytes.SplitSeq([]byte(lines), []byte("\n")) {
			got += map[bool]string{true: "y", false: "n"}[checkSkim(t, warm, NewParser(framing), line)]
		}
		if got != want[i] {
			t.Errorf("skimmed %s, want %s of\n%s", got, want[i], lines)
		}
	}
}

// TestSkimDamaged flips bits in lines that are skimmed among others.
func TestSkimDamaged(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	forms := []func(line []byte) []byte{
		bytes.Clone,
		func(line []byte) []byte { return append([]byte("2021-03-13T15:41:18+00:00 "), line[16:]...) },
		func(line []byte) []byte {
			return fmt.Appendf(nil, "2021-03-13T15:41:18.%06d-0500 %s", rnd.IntN(1e6), line[16:])
		},
		func(line []byte) []byte { return line[bytes.Index(line, []byte(": "))+2:] },
		func(line []byte) []byte { return append([]byte("Sat 2021-03-13 15:41:18 UTC "), line[16:]...) },
		func(line []byte) []byte {
			return append(line[:16:16], bytes.Replace(line[16:], []byte("node-7"), []byte("n"), 1)...)
		},
	}
	skimmed := 0
	for _, form := range forms {
		lines := busy(600)
		warm := NewParser(Detect(nil))
		for _, line := range lines {
			line = form(line)
			if n := min(len(line), 90); rnd.IntN(3) == 0 {
				line[rnd.IntN(n)] ^= 1 << rnd.IntN(8)
			}
			if checkSkim(t, warm, NewParser(warm.framing), line) {
				skimmed++
			}
		}
	}
	if skimmed < 1000 {
		t.Errorf("%d lines were skimmed, want most", skimmed)
	}
}

// FuzzBlocks checks that multi-line records always make progress and break nothing.
func FuzzBlocks(f *testing.F) {
	f.Add([]byte(exportFile))
	f.Add([]byte("Fri 2026-11-20 23:28:59 UTC [s=5;i=1]\n    MESSAGE=one\n            two\n"))
	f.Add([]byte("{\n\t\"MESSAGE\" : \"a\"\n}\n{\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, block := range []Block{ExportBlock, VerboseBlock, PrettyBlock} {
			fr := &Framing{Kind: Blocks, Block: block}
			p := NewParser(fr)
			for b := data; len(b) > 0; {
				n := fr.Next(b, true)
				if n <= 0 || n > len(b) {
					t.Fatalf("Next = %d of %d", n, len(b))
				}
				if m := fr.Next(b, false); m != 0 && m != n {
					t.Fatalf("Next = %d at the end, %d before", n, m)
				}
				var e Entry
				p.Parse(b[:n], &e)
				checkLine(t, b[:n], &e)
				b = b[n:]
			}
		}
	})
}

// FuzzTable checks rows of CSV.
func FuzzTable(f *testing.F) {
	f.Add([]byte("\"Message\",\"TimeCreated\"\n\"x\"\"y\",\"8/20/2019 8:28:26 PM\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fr := Detect(data)
		p := NewParser(fr)
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			var e Entry
			p.Parse(line, &e)
			checkLine(t, line, &e)
		}
	})
}

// FuzzHeader checks that parsing arbitrary bytes as a header stays within bounds.
func FuzzHeader(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Add([]byte(`{"ts":1745319662553.8606,"caller":"a/b.go:1","msg":"x"}`))
	f.Fuzz(func(t *testing.T, msg []byte) {
		var h Header
		if ReadHeader(msg, &h) != (h.Kind != NoHeader) || h.Body > len(msg) {
			t.Fatalf("%q: %+v", msg, h)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, line := range []string{seeds[0], seeds[2], seeds[12], klogLine} {
		b.Run(Detect([]byte(line)).Name, func(b *testing.B) {
			p, e := NewParser(Detect([]byte(line))), Entry{}
			rec := []byte(line)
			b.SetBytes(int64(len(rec)))
			for b.Loop() {
				p.Parse(rec, &e)
			}
		})
	}
}
