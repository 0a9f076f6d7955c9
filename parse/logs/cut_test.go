package logs

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plegforensics/plegforensics/parse"
)

// pieces are lines whose order determines which belong together.
var pieces = []string{
	skip, boring, pre + skip, pre + boring, pre + "\trpc error", pre + " >", "\tindented", "plain", "", "\r", "\x00\x00x", " >",
	`E1120 23:50:39.261469   26980 generic.go:256] "GenericPLEG: Unable to retrieve pods" err=<`,
	pre + `E1120 23:50:39.261469   26980 generic.go:256] "GenericPLEG: Unable to retrieve pods" err=<`,
	"pleg was last seen active 3m1s ago; threshold is 3m0s", "PLEG is not healthy",
	"Nov 20 23:50:41 node-7 systemd[1]: Time has been changed", "Nov 20 23:59:41 node-7 sshd[3]: x",
	"Nov 20 23:50:41 node-7 kubelet[26981]: " + skip, "Nov 20 09:50:41 node-8 kubelet: " + skip,
	"Nov 20 23:59:42 node-7 sshd[4]: y", "Nov 20 23:59:42 node-7 kernel: z", pre + "words", "Nov 20 23:50:41 node-7 kubelet[26981]: words",
	`Nov 20 23:50:41 node-7 containerd[6]: time="2026-11-20T23:50:41.455014979Z" level=info msg="x"`,
	`Nov 20 23:50:43 node-7 containerd[6]: time="2026-11-20T23:50:42.455014979Z" level=info msg="shim disconnected" id=5f`,
	"Nov 20 23:50:43 node-7 containerd[6]: shim disconnected", "Nov 20 23:50:43 node-7 kernel: INFO: task dockerd:6500 blocked for more than 121 seconds.",
	"2024-04-16T06:21:39.5Z stderr F words", "2024-04-16T06:21:39.5Z stderr P " + skip[:90], "2024-04-16T06:21:39.5Z stderr P more ", "2024-04-16T06:21:39.5Z stderr F " + skip[90:],
	`time="2019-02-20T14:28:54.455014979Z" level=info msg="shim disconnected" id=5f`,
	`{"ts":1745319662553.9,"caller":"pleg/generic.go:256","msg":"GenericPLEG: Unable to retrieve pods","err":"x"}`,
	`{"log":"` + strings.ReplaceAll(skip, `"`, `\"`) + `\n","stream":"stderr","time":"2024-04-16T06:21:39.5Z"}`,
	`{"MESSAGE":null,"SYSLOG_IDENTIFIER":"kubelet","__REALTIME_TIMESTAMP":"1700000001000000"}`,
	`{"MESSAGE":"\tpart","SYSLOG_IDENTIFIER":"kubelet","_PID":"7","__REALTIME_TIMESTAMP":"1700000001000000"}`,
	`{"MESSAGE":"` + strings.ReplaceAll(skip, `"`, `\"`) + `","SYSLOG_IDENTIFIER":"kubelet","_PID":"7","__REALTIME_TIMESTAMP":"1700000001000000"}`,
	"[   39.798436] INFO: task containerd:9227 blocked for more than 124 seconds.", "-- Reboot --",
	"E1120 23:5kubelet.go:6] words", pre + "E1120 23:50:39.261469   26980 g.go:2] \"w\xffrds\"", "\xc51120 23:50:39.261469   26980 g.go:2] words", "w\xffrds",
	"E1120 23:50:39.261469   26980 g.go:2] w\xffrds", `{"log":"words","stream":"std`, `{"ts":1745319662553.9,"msg":"words","v":2,"x`,
	"==> kubelet <==", "==> kube-apiserver <==", "  Warning  Failed   3m13s (x3 over 7m57s)  kubelet  Error: timeout", "// " + pre + skip,
}

// manyLines are pieces that are repeated more often than a record may have lines.
var manyLines = []string{"", "\tindented", pre + "\tx", "plain", "2024-04-16T06:21:39.5Z stderr P more "}

func drawLog(t *rapid.T) []byte {
	var b bytes.Buffer
	for range rapid.IntRange(1, 40).Draw(t, "lines") {
		if rapid.IntRange(0, 30).Draw(t, "row") == 0 {
			row := rapid.SampledFrom(manyLines).Draw(t, "of") + "\n"
			b.WriteString(strings.Repeat(row, rapid.IntRange(1, 2*maxJoinLines).Draw(t, "n")))
			continue
		}
		b.WriteString(rapid.SampledFrom(pieces).Draw(t, "line"))
		b.WriteByte('\n')
	}
	if rapid.Bool().Draw(t, "unfinished") {
		b.Truncate(b.Len() - 1)
	}
	return b.Bytes()
}

func drawBlocks(t *rapid.T) []byte {
	var b bytes.Buffer
	form := rapid.IntRange(0, 2).Draw(t, "form")
	b.WriteString([]string{"__CURSOR=0\nMESSAGE=x\n\n", "Fri 2026-11-20 23:28:59 UTC [s=0]\n    MESSAGE=x\n", "{\n\t\"MESSAGE\" : \"x\"\n}\n"}[form])
	for range rapid.IntRange(1, 90).Draw(t, "records") {
		msg := rapid.SampledFrom([]string{skip, boring, "\tpart", " >", "two\nlines", `E1120 23:50:39.261469   26980 g.go:2] "GenericPLEG: Unable to retrieve pods" err=<`}).Draw(t, "msg")
		pid := rapid.IntRange(7, 8).Draw(t, "pid")
		switch form {
		case 0:
			if strings.Contains(msg, "\n") {
				msg = fmt.Sprintf("MESSAGE\n%c\x00\x00\x00\x00\x00\x00\x00%s", len(msg), msg)
			} else {
				msg = "MESSAGE=" + msg
			}
			fmt.Fprintf(&b, "__CURSOR=x\n__REALTIME_TIMESTAMP=1795217439261999\n_PID=%d\nSYSLOG_IDENTIFIER=kubelet\n%s\n\n", pid, msg)
		case 1:
			fmt.Fprintf(&b, "Fri 2026-11-20 23:28:59 UTC [s=5]\n    _PID=%d\n    SYSLOG_IDENTIFIER=kubelet\n    MESSAGE=%s\n", pid, strings.ReplaceAll(msg, "\n", "\n            "))
		default:
			fmt.Fprintf(&b, "{\n\t\"_PID\" : \"%d\",\n\t\"__REALTIME_TIMESTAMP\" : \"1795217439261999\",\n\t\"SYSLOG_IDENTIFIER\" : \"kubelet\",\n\t\"MESSAGE\" : %q\n}\n", pid, msg)
		}
	}
	return b.Bytes()
}

// difference returns the first lines in which two dumps differ.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("got  %s\nwant %s", a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// TestCuts checks that the result does not depend on where a file is cut.
func TestCuts(t *testing.T) {
	for name, draw := range map[string]func(*rapid.T) []byte{"lines": drawLog, "blocks": drawBlocks} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			data := draw(t)
			f := &parse.File{Path: "a.log"}
			want := dump(decode(data, f, Options{}, len(data)))
			size := rapid.IntRange(1, 3000).Draw(t, "size")
			if got := dump(decode(data, f, Options{}, size)); got != want {
				t.Fatalf("cut at %d: %s\nof\n%s", size, difference(got, want), data)
			}
		}))
	}
}

// TestBrute checks that the filter finds what the brute-force search finds.
func TestBrute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := drawLog(t)
		f := &parse.File{Path: "a.log"}
		want := dump(decode(data, f, Options{Brute: true}, len(data)))
		if got := dump(decode(data, f, Options{}, len(data))); got != want {
			t.Fatalf("%s\nof\n%s", difference(got, want), data)
		}
	})
}

// TestReopened checks that a line without a header keeps its own literals when the
// skimmed line before it is opened.
func TestReopened(t *testing.T) {
	quiet := `Nov 20 23:50:41 node-7 containerd[6]: time="2026-11-20T23:50:41.455014979Z" level=info msg="x"` + "\n"
	bare := "Nov 20 23:50:43 node-7 containerd[6]: shim disconnected id=5f\n"
	p := decodeString(strings.Repeat(quiet, 6) + bare + quiet + bare + bare)
	if len(p.Events) != 3 {
		t.Errorf("%d events, want 3:\n%s", len(p.Events), dump(p))
	}
}

// FuzzDecodeSplit decodes arbitrary bytes, whole and in pieces.
func FuzzDecodeSplit(f *testing.F) {
	f.Add([]byte(strings.Join(pieces, "\n")), 100)
	f.Add([]byte(pre+skip+"\n"+pre+boring), 7)
	f.Add([]byte("__CURSOR=0\nMESSAGE\n\x01\x00\x00\x00\x00\x00\x00\x00x\n\n"), 9)
	f.Add([]byte("{\n\t\"MESSAGE\" : \"x\"\n}\n"), 3)
	f.Add([]byte("{\n\""), 3)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		if size < 1 || len(data) == 0 {
			return
		}
		file := &parse.File{Path: "a.log"}
		whole := decode(data, file, Options{}, len(data))
		check(t, string(data), whole)
		if got, want := dump(decode(data, file, Options{}, size)), dump(whole); got != want {
			t.Fatalf("cut at %d: %s", size, difference(got, want))
		}
	})
}
