package logs

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

var decodeSet = Builtin()

// decode decodes a file in runs of about size bytes, as the loader does.
func decode(data []byte, f *parse.File, opt Options, size int) parse.LogPart {
	d := NewDecoder(f, data[:min(len(data), 256<<10)], decodeSet, opt)
	var results []Result
	for off := 0; off < len(data); {
		n := 0
		for end := off + size; n == 0; end += size {
			end = min(end, len(data))
			n = d.Cut(data[off:end], end == len(data))
		}
		run := Run{Data: bytes.Clone(data[off : off+n]), Offset: int64(off), Last: off+n == len(data)}
		results = append(results, d.Decode(run))
		clear(run.Data) // nothing may keep a reference to it
		off += n
	}
	return d.Finish(results)
}

func decodeString(s string) parse.LogPart {
	return decode([]byte(s), &parse.File{Path: "a.log"}, Options{}, 1<<20)
}

// dump formats everything that consumers see, so that parts can be compared.
func dump(p parse.LogPart) string {
	var b strings.Builder
	mark := func(m parse.Mark) string {
		return fmt.Sprintf("%d@%d %v/%v %q", m.Line, m.Offset, m.Raw, m.Envelope, m.Text.String())
	}
	fmt.Fprintf(&b, "%s, %d lines\n", p.Format, p.Lines)
	for _, e := range p.Events {
		fmt.Fprintf(&b, "event %d@%d", e.Line, e.Offset)
		for _, g := range e.Sigs.Sigs {
			fmt.Fprintf(&b, " %s", g.ID)
		}
		fmt.Fprintf(&b, " %+v %v/%v %c %s %q %q\n", *e.Origin, e.Raw().Header, e.Raw().Envelope, e.Severity, e.Caller, e.Quote(), e.Message())
	}
	for _, c := range p.Coverage {
		fmt.Fprintf(&b, "coverage %+v %d [%s .. %s] lag %v %d %d %s v%d %v\n", *c.Origin, c.Lines, mark(c.FirstLine), mark(c.LastLine),
			c.HasLag, c.MinLag, c.MaxLag, mark(c.MaxLagAt), c.MaxV, c.Reversed)
		for _, g := range c.Gaps {
			fmt.Fprintf(&b, "  gap %s .. %s\n", mark(g.Last), mark(g.Next))
		}
	}
	for _, m := range p.Markers {
		fmt.Fprintf(&b, "marker %d %s %d %s %v %q\n", m.Line, m.Kind, m.N, m.Boot, m.Raw, m.Quote())
	}
	for _, f := range p.Facts {
		fmt.Fprintf(&b, "fact %d %s=%s\n", f.Line, f.Key, f.Value)
	}
	for _, w := range p.Warnings {
		fmt.Fprintf(&b, "warning %s\n", w)
	}
	return b.String()
}

// lines counts lines, including a last one without a newline.
func lines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// check verifies the invariants of every part.
func check(t *testing.T, in string, p parse.LogPart) {
	t.Helper()
	sum := 0
	known := map[*parse.Origin]bool{}
	for _, c := range p.Coverage {
		sum += c.Lines
		known[c.Origin] = true
	}
	if want := lines(in); p.Lines != want || sum != want {
		t.Errorf("%d lines, %d covered, want %d", p.Lines, sum, want)
	}
	for _, e := range p.Events {
		if !known[e.Origin] {
			t.Errorf("line %d: origin %+v has no coverage", e.Line, *e.Origin)
		}
		quote := e.Quote()
		if at := in[e.Offset:]; !strings.HasPrefix(at, quote) {
			t.Errorf("line %d: text %q does not stand at %d", e.Line, quote, e.Offset)
		}
		if got := strings.Count(in[:e.Offset], "\n") + 1; got != int(e.Line) {
			t.Errorf("offset %d is in line %d, not %d", e.Offset, got, e.Line)
		}
	}
}

const (
	pre    = "Nov 20 23:50:40 node-7 kubelet[26980]: "
	skip   = `E1120 23:50:39.261469   26980 main.go:8] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m5.123456789s ago; threshold is 3m0s"`
	boring = `I1120 23:50:39.261469   26980 prober.go:107] "Nothing of interest" probeType="Readiness"`
)

func TestEvent(t *testing.T) {
	in := pre + boring + "\n" + pre + skip + "\n"
	p := decodeString(in)
	check(t, in, p)
	if len(p.Events) != 1 {
		t.Fatalf("%d events", len(p.Events))
	}
	e := p.Events[0]
	if !e.Is(parse.SigAge) || e.Field("age") != "3m5.123456789s" || e.Line != 2 || e.Severity != 'E' || e.Caller != "main.go:8" {
		t.Errorf("got %+v", e)
	}
	if e.From() != parse.SrcKubelet || e.Origin.Host != "node-7" || e.Origin.PID != 26980 {
		t.Errorf("origin %+v", *e.Origin)
	}
	if e.Raw().Header.Res != time.Microsecond || e.Raw().Envelope.Res != time.Second || e.Raw().Envelope.NS-e.Raw().Header.NS != 738531000 {
		t.Errorf("clocks %+v, %+v", e.Raw().Header, e.Raw().Envelope)
	}
	if got := e.Message(); got != skip[strings.Index(skip, `"Skipping`):] {
		t.Errorf("message %q", got)
	}
}

func TestJoinedLines(t *testing.T) {
	const head = `E1120 23:50:39.261469   26980 generic.go:256] "GenericPLEG: Unable to retrieve pods" err=<`
	block := head + "\n\trpc error: code = DeadlineExceeded desc = context deadline exceeded\n\tsecond\n >"
	want := block[strings.Index(block, `"Generic`):]
	journal := strings.ReplaceAll(pre+block, "\n", "\n"+pre)
	indented := pre + strings.ReplaceAll(block, "\n", "\n"+strings.Repeat(" ", len(pre)))
	tests := []struct{ name, in string }{
		{"raw", block + "\n" + boring + "\n"},
		{"one entry a line", journal + "\n" + pre + boring + "\n"},
		{"at the end of the file", journal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := decodeString(tt.in)
			check(t, tt.in, p)
			if len(p.Events) != 1 || p.Events[0].Message() != want {
				t.Fatalf("got %s", dump(p))
			}
		})
	}
	p := decodeString(indented + "\n")
	check(t, indented+"\n", p)
	if len(p.Events) != 1 || !strings.Contains(p.Events[0].Message(), "DeadlineExceeded") {
		t.Errorf("indented: %s", dump(p))
	}
}

// TestLiteralInContinuation has the literal in a continuation line.
func TestLiteralInContinuation(t *testing.T) {
	in := "E1120 23:50:39.261469   26980 kubelet.go:1] several things:\nskipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s]\n"
	p := decodeString(in)
	check(t, in, p)
	if len(p.Events) != 1 || p.Events[0].Line != 1 || !p.Events[0].Raw().Header.Set || !p.Events[0].Is(parse.SigAge) {
		t.Errorf("got %s", dump(p))
	}
}

func TestNotJoined(t *testing.T) {
	const prose = "pleg was last seen active 9m1s ago; threshold is 3m0s, says PLEG is not healthy"
	for name, in := range map[string]string{
		"prose after a framed line": pre + boring + "\n" + prose + "\n",
		"after an empty line":       boring + "\n\n" + prose + "\n",
		"another writer":            pre + boring + "\nNov 20 23:50:40 node-7 sshd[1]: x\n",
		"another header":            boring + "\n" + boring + "\n",
	} {
		for _, e := range decodeString(in).Events {
			if strings.Contains(e.Quote(), "Nothing of interest") {
				t.Errorf("%s: joined: %q", name, e.Quote())
			}
		}
	}
}

func TestCRIPartial(t *testing.T) {
	const stamp = "2024-04-16T06:21:39.5Z stderr "
	half := strings.Index(skip, "is not healthy")
	in := stamp + "P " + skip[:half] + "\n" + stamp + "F " + skip[half:] + "\n" + stamp + "F " + boring + "\n"
	p := decodeString(in)
	check(t, in, p)
	if len(p.Events) != 1 || p.Events[0].Field("age") != "3m5.123456789s" || p.Events[0].Raw().Envelope.Lack != 0 {
		t.Errorf("got %s", dump(p))
	}
}

func TestSources(t *testing.T) {
	const logrus = `time="2019-02-20T14:28:54.455014979Z" level=info msg="hello"`
	const listed = "E0319 23:43:28.547540   25966 reflector.go:205] k8s.io/kubernetes/pkg/kubelet/config/apiserver.go:47: Failed to list *v1.Pod: Get https://10.0.0.1:6443/api/v1/pods: dial tcp 10.0.0.1:6443: connect: connection refused"
	tests := []struct {
		ident, msg string
		want       parse.Source
	}{
		{"kubelet[1]", boring, parse.SrcKubelet},
		{"kubelet-wrapper[1]", boring, parse.SrcKubelet},
		{"kubelet.sh[1]", boring, parse.SrcKubelet},
		{"kubenswrapper[1]", boring, parse.SrcKubelet},
		{"hyperkube[1]", boring, parse.SrcKubelet},
		{"origin-node[1]", boring, parse.SrcKubelet},
		{"atomic-openshift-node[1]", boring, parse.SrcKubelet},
		{"microk8s.daemon-kubelet[1]", boring, parse.SrcKubelet},
		{"k3s[1]", boring, parse.SrcKubelet},
		{"k3s[1]", logrus, parse.SrcSystem},
		{"edgecore[1]", boring, parse.SrcKubelet},
		{"docker[1]", boring, parse.SrcKubelet},
		{"docker[1]", logrus, parse.SrcDockerd},
		{"dockerd[1]", logrus, parse.SrcDockerd},
		{"dockerd-current[1]", boring, parse.SrcKubelet},
		{"dockerd-current[1]", listed, parse.SrcKubelet},
		{"dockerd-current[1]", strings.Replace(listed, "pkg/kubelet/config/apiserver.go", "pkg/client/informers/factory.go", 1), parse.SrcSystem},
		{"dockerd[1]", "I1120 23:50:39.261469 1 proxier.go:107] hello", parse.SrcSystem},
		{"kubelet-wrapper[1]", listed, parse.SrcKubelet},
		{"rkt[1]", listed, parse.SrcKubelet},
		{"containerd[1]", logrus, parse.SrcContainerd},
		{"containerd[1]", "I1205 03:58:39.830445    1929 instrumented_service.go:52] hello", parse.SrcContainerd},
		{"cri-containerd[1]", boring, parse.SrcContainerd},
		{"crio[1]", logrus, parse.SrcCRIO},
		{"podman[1]", "2025-05-12 04:54:37.9 +0000 UTC m=+0.02 container died 54", parse.SrcPodman},
		{"kernel", "hello", parse.SrcKernel},
		{"systemd[1]", "hello", parse.SrcSystemd},
		{"calico-node[1]", "hello", parse.SrcCNI},
		{"kube-apiserver[1]", boring, parse.SrcSystem},
		{"node-problem-detector[1]", boring, parse.SrcSystem},
		{"NetworkManager[1]", "hello", parse.SrcSystem},
	}
	for _, tt := range tests {
		p := decodeString("Nov 20 23:50:40 node-7 " + tt.ident + ": " + tt.msg + "\n")
		if got := p.Coverage[0].Origin.Source; got != tt.want {
			t.Errorf("%s %.30s: got %q, want %q", tt.ident, tt.msg, got, tt.want)
		}
	}
}

// TestRelayed has containers in dockerd's journal: each process by its own header.
func TestRelayed(t *testing.T) {
	const at = "Nov 20 23:50:40 node-7 dockerd-current[1195]: "
	in := at + boring + "\n" +
		at + "I1120 23:50:41.000000       1 wrap.go:42] GET /api/v1/nodes\n" + at + `time="2019-11-20T23:50:41Z" level=info msg="hello"` + "\n"
	got := map[parse.Source]int{}
	for _, c := range decodeString(in).Coverage {
		got[c.Origin.Source] += c.Origin.PID
	}
	if want := map[parse.Source]int{parse.SrcKubelet: 26980, parse.SrcSystem: 1, parse.SrcDockerd: 1195}; !maps.Equal(got, want) {
		t.Errorf("PIDs by writer: got %v, want %v", got, want)
	}
}

func TestBareSources(t *testing.T) {
	tests := []struct {
		name, in string
		opt      Options
		want     parse.Source
	}{
		{"klog", boring + "\n", Options{}, parse.SrcKubelet},
		{"klog of another program", "I1120 23:50:39.261469 1 proxier.go:107] hello\n", Options{}, parse.SrcSystem},
		{"klog of the controller manager", "I1122 22:46:17.734930       1 controller_utils.go:285] Recording status change NodeNotReady event message for node n0\n", Options{}, parse.SrcSystem},
		{"cri-containerd", "I1205 03:58:39.830445    1929 instrumented_service.go:52] hello\n", Options{}, parse.SrcContainerd},
		{"CRI-O", `time="2019-02-20T14:28:54Z" level=info msg="Ran pod sandbox x with infra container: a/b/POD"` + "\n", Options{}, parse.SrcCRIO},
		{"dockerd", `time="2019-02-20T14:28:54Z" level=info msg="API listen on /var/run/docker.sock"` + "\n", Options{}, parse.SrcDockerd},
		{"containerd", `time="2019-02-20T14:28:54Z" level=info msg="loading plugin"` + "\n", Options{}, parse.SrcContainerd},
		{"logrus of anybody", `time="2019-02-20T14:28:54Z" level=info msg="hello"` + "\n", Options{}, parse.SrcUnknown},
		{"logrus, stated", `time="2019-02-20T14:28:54Z" level=info msg="hello"` + "\n", Options{Source: parse.SrcCRIO}, parse.SrcCRIO},
		{"crictl, whose deadlines are not the kubelet's", "E0720 02:47:16.761915   25610 remote_runtime.go:269] \"StopPodSandbox from runtime service failed\" err=\"x\"\nFATA[0002] stopping the pod sandbox\n", Options{}, parse.SrcFacts},
		{"crictl, which pulls an image", "E0720 02:47:16.761915   25610 remote_image.go:171] \"PullImage from image service failed\" err=\"x\" image=\"a\"\nFATA[0010] pulling image\n", Options{}, parse.SrcFacts},
		{"crictl since 1.31", "E0720 02:47:16.761915   25610 log.go:32] \"PullImage from image service failed\" err=\"x\" image=\"a\"\nFATA[0010] pulling image\n", Options{}, parse.SrcFacts},
		{"crictl, not on a terminal", "E0720 02:47:16.761915   25610 remote_runtime.go:616] \"Status from runtime service failed\" err=\"x\"\ntime=\"2023-07-20T02:47:16Z\" level=fatal msg=\"getting status of runtime: x\"\n", Options{}, parse.SrcFacts},
		{"the kubelet's client, and a runtime that ends", "E0720 02:47:16.761915   25610 remote_runtime.go:616] \"Status from runtime service failed\" err=\"x\"\ntime=\"2023-07-20T02:47:16Z\" level=info msg=\"x\"\ntime=\"2023-07-20T02:47:16Z\" level=fatal msg=\"x\"\n", Options{}, parse.SrcKubelet},
		{"a CSI driver", "csi-rbdplugin E0601 07:53:23.176066    8497 nodeserver.go:992] ID: 1 error unmapping volume\n", Options{}, parse.SrcSystem},
		{"the kubelet, and crictl asked later", boring + "\nE0720 02:47:16.761915   25610 remote_runtime.go:269] \"StopPodSandbox from runtime service failed\" err=\"x\"\nFATA[0002] stopping\n", Options{}, parse.SrcKubelet},
		{"dmesg", "[   12.345678] hello\n", Options{}, parse.SrcKernel},
		{"events", "15m  Normal  Scheduled  pod/x  y\n", Options{}, parse.SrcKubeEvents},
		{"prose", "hello\n", Options{}, parse.SrcUnknown},
	}
	for _, tt := range tests {
		p := decode([]byte(tt.in), &parse.File{Path: "x"}, tt.opt, 1<<20)
		if got := p.Coverage[0].Origin.Source; got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestSections(t *testing.T) {
	in := "==> kube-apiserver <==\n" + skip + "\n==> kubelet <==\n" + skip + "\n"
	p := decodeString(in)
	check(t, in, p)
	for _, e := range p.Events {
		if e.Line == 4 && e.From() != parse.SrcKubelet || e.Line == 2 && e.From() != parse.SrcSystem {
			t.Errorf("line %d is from %q", e.Line, e.From())
		}
	}
}

// TestAboveSections has a title above the sections of several logs.
func TestAboveSections(t *testing.T) {
	p := decodeString("Facing an issue with the node\n==> Docker <==\n" + skip + "\n")
	for _, c := range p.Coverage {
		if c.Origin.Source == parse.SrcKubelet {
			t.Errorf("line %d is the kubelet's", c.FirstLine.Line)
		}
	}
}

func TestGapsAndLag(t *testing.T) {
	line := func(env, header string) string {
		return fmt.Sprintf("Nov 20 %s node-7 kubelet[9]: I1120 %s    9 a.go:1] x\n", env, header)
	}
	in := line("10:00:00", "09:00:00.000000") + line("10:00:04", "09:00:04.000000") +
		line("10:00:20", "09:00:10.000000") + line("10:00:20", "09:00:11.000000")
	c := decodeString(in).Coverage[0]
	if len(c.Gaps) != 1 || c.Gaps[0].Last.Line != 2 || c.Gaps[0].Next.Line != 3 {
		t.Errorf("gaps %+v", c.Gaps)
	}
	if !c.HasLag || c.MinLag != 3600e9 || c.MaxLag != 3610e9 || c.MaxLagAt.Line != 3 {
		t.Errorf("lag %d to %d at line %d", c.MinLag, c.MaxLag, c.MaxLagAt.Line)
	}
}

// TestLagAcrossYears has a year in the envelope but not in the header.
func TestLagAcrossYears(t *testing.T) {
	for _, tt := range []struct {
		env, header string
		want        time.Duration
	}{
		{"2023-03-01T00:00:01Z", "0228 23:59:59.000000", 2 * time.Second},
		{"2024-03-01T00:00:01Z", "0229 23:59:59.000000", 2 * time.Second},
		{"2024-01-01T00:00:01Z", "1231 23:59:59.000000", 2 * time.Second},
		{"2023-12-31T23:59:59Z", "0101 05:29:59.000000", -5*time.Hour - 30*time.Minute},
	} {
		in := tt.env + " node-7 kubelet[9]: I" + tt.header + "    9 a.go:1] x\n"
		if c := decodeString(in).Coverage[0]; time.Duration(c.MinLag) != tt.want {
			t.Errorf("%s, %s: lag %v, want %v", tt.env, tt.header, time.Duration(c.MinLag), tt.want)
		}
	}
}

func TestReversed(t *testing.T) {
	line := func(sec int) string {
		return fmt.Sprintf("Nov 20 10:00:%02d node-7 kubelet[9]: hello %d\n", sec, sec)
	}
	in := line(40) + line(30) + line(20) + line(2)
	c := decodeString(in).Coverage[0]
	if !c.Reversed || c.FirstLine.Line != 4 || c.LastLine.Line != 1 || len(c.Gaps) != 3 {
		t.Fatalf("got %+v", c)
	}
	if g := c.Gaps[0]; g.Last.Line != 4 || g.Next.Line != 3 {
		t.Errorf("oldest gap %d to %d", g.Last.Line, g.Next.Line)
	}
	forward := line(2) + line(20) + line(30) + line(10) + line(40)
	if decodeString(forward).Coverage[0].Reversed {
		t.Error("one step back reverses a file")
	}
}

func TestMarkers(t *testing.T) {
	in := "-- Logs begin at Fri 2017-11-03 13:31:21 UTC, end at Fri 2017-11-03 13:48:19 UTC. --\n" +
		"Nov 20 10:00:02 n systemd-journald[5]: Suppressed 1234 messages from kubelet.service\n" +
		`{"MESSAGE":null,"SYSLOG_IDENTIFIER":"kubelet","__REALTIME_TIMESTAMP":"1700000001000000"}` + "\n" +
		"Log file created at: 2019/08/20 20:28:26\nRunning on machine: node-7\n"
	p := decodeString(in)
	check(t, in, p)
	var got []string
	for _, m := range p.Markers {
		got = append(got, fmt.Sprintf("%d %s %d %v", m.Line, m.Kind, m.N, m.Raw.Set))
	}
	want := "1 header 0 true,2 suppressed 1234 true,3 null 1 true,4 header 0 true,5 header 0 false"
	if s := strings.Join(got, ","); s != want {
		t.Errorf("got %s", s)
	}
	if len(p.Facts) != 1 || p.Facts[0].Key != "node.name" || p.Facts[0].Value != "node-7" {
		t.Errorf("facts %+v", p.Facts)
	}
}

// TestMarkersCover checks that how far the journal goes back does not count as
// coverage, and that the heading of a klog file counts as its first moment.
func TestMarkersCover(t *testing.T) {
	const at = "Nov 20 10:00:02 n kubelet[9]: hello\n"
	for in, want := range map[string]int{
		"* -- Logs begin at Fri 2017-11-03 13:31:21 UTC. --\n" + at: 0,
		"-- Logs begin at Fri 2017-11-03 13:31:21 UTC. --\n" + at:   0,
		"Log file created at: 2019/08/20 20:28:26\n" + at:           1,
	} {
		dated := 0
		for _, c := range decodeString(in).Coverage {
			if c.FirstLine.Line == 1 && c.FirstLine.Raw.Set {
				dated++
			}
		}
		if dated != want {
			t.Errorf("%q: %d origins begin with the header, want %d", in, dated, want)
		}
	}
}

// TestMessageInAnObject checks that the message of a record ends where its JSON string does, whether or not
// something in it is escaped.
func TestMessageInAnObject(t *testing.T) {
	const msg = "skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3m5s ago; threshold is 3m0s"
	for _, line := range []string{
		`{"SYSLOG_IDENTIFIER":"kubelet","MESSAGE":"I1120 23:30:39.261999   26980 kubelet.go:1826] ` + msg + `"}`,
		`{"MESSAGE":"I1120 23:30:39.261999   26980 kubelet.go:1826] ` + msg + `","SYSLOG_IDENTIFIER":"kubelet"}`,
		`{"MESSAGE":"I1120 23:30:39.261999   26980 kubelet.go:1826]\u0020` + msg + `","SYSLOG_IDENTIFIER":"kubelet"}`,
	} {
		p := decodeString(line + "\n")
		if len(p.Events) != 1 || p.Events[0].Message() != msg || p.Events[0].Quote() != line {
			t.Errorf("%s", dump(p))
		}
	}
}

// TestForms checks that the same journal in every form gives the same events.
func TestForms(t *testing.T) {
	const usec, iso = "1795217439261999", "2026-11-20T23:30:39.261999"
	esc := strings.ReplaceAll(skip, `"`, `\"`)
	forms := map[string]string{
		"short":         "Nov 20 23:30:39 n kubelet[26980]: " + skip,
		"short-precise": "Nov 20 23:30:39.261999 n kubelet[26980]: " + skip,
		"short-iso":     "2026-11-20T23:30:39+0000 n kubelet[26980]: " + skip,
		"short-unix":    "1795217439.261999 n kubelet[26980]: " + skip,
		"short-full":    "Fri 2026-11-20 23:30:39 UTC n kubelet[26980]: " + skip,
		"json":          `{"_PID":"26980","MESSAGE":"` + esc + `","__REALTIME_TIMESTAMP":"` + usec + `","SYSLOG_IDENTIFIER":"kubelet","_HOSTNAME":"n"}`,
		"json-pretty":   "{\n\t\"_PID\" : \"26980\",\n\t\"MESSAGE\" : \"" + esc + "\",\n\t\"__REALTIME_TIMESTAMP\" : \"" + usec + "\",\n\t\"SYSLOG_IDENTIFIER\" : \"kubelet\"\n}",
		"export":        "__CURSOR=x\n__REALTIME_TIMESTAMP=" + usec + "\n_PID=26980\nSYSLOG_IDENTIFIER=kubelet\nMESSAGE=" + skip + "\n",
		"verbose":       "Fri 2026-11-20 23:30:39.261999 UTC [s=1;i=2]\n    _PID=26980\n    SYSLOG_IDENTIFIER=kubelet\n    MESSAGE=" + skip,
		"cat":           skip,
		"docker":        `{"log":"` + esc + `\n","stream":"stderr","time":"` + iso + `Z"}`,
		"cri":           iso + "Z stderr F " + skip,
	}
	for name, one := range forms {
		in := one + "\n" + one + "\n"
		p := decodeString(in)
		check(t, in, p)
		if len(p.Events) != 2 {
			t.Errorf("%s: %d events\n%s", name, len(p.Events), dump(p))
			continue
		}
		for _, e := range p.Events {
			if e.Field("age") != "3m5.123456789s" || e.Origin.PID != 26980 || e.From() != parse.SrcKubelet || !e.Raw().Header.Set {
				t.Errorf("%s: %s", name, dump(p))
			}
		}
	}
}

func TestLongLine(t *testing.T) {
	in := pre + skip + strings.Repeat(" x", 1<<20) + "\n" + pre + skip + "\n"
	p := decodeString(in)
	check(t, in, p)
	if len(p.Events) != 2 || p.Events[0].Text().Len() != maxText || len(p.Warnings) != 1 || p.Warnings[0].Line != 1 {
		t.Errorf("%d events, warnings %v", len(p.Events), p.Warnings)
	}
}

func TestOddBytes(t *testing.T) {
	in := "\x00\x00" + pre + skip + "\r\n" + "Nov 20 23:50:40 node-7 sshd[1]: \xff\xfe\r\n\r\n" + pre + skip
	p := decodeString(in)
	check(t, in, p)
	if len(p.Events) != 2 || p.Events[0].Quote() != pre+skip {
		t.Errorf("got %s", dump(p))
	}
}

// TestLineEnds: lines that end in "\n\r" or "\r\r\n" are the same as others.
func TestLineEnds(t *testing.T) {
	for _, header := range []string{pre, ""} {
		lines := strings.Repeat(header+skip+"\n", 3)
		want := decodeString(lines)
		for _, end := range []string{"\n\r", "\r\n", "\r\r\n"} {
			in := strings.ReplaceAll(lines, "\n", end)
			p := decodeString(in)
			check(t, in, p)
			for i, e := range p.Events {
				if len(p.Events) != len(want.Events) || e.Quote() != want.Events[i].Quote() || e.Raw() != want.Events[i].Raw() || e.Line != uint32(i+1) {
					t.Errorf("%q, %q: event %d of line %d at %v: %q", header, end, i, e.Line, e.Raw(), e.Quote())
				}
			}
			if len(p.Events) == 0 {
				t.Errorf("%q, %q: no events", header, end)
			}
		}
	}
}

func TestManyWriters(t *testing.T) {
	var b strings.Builder
	for i := range 3 * maxOrigins {
		fmt.Fprintf(&b, "Nov 20 10:00:02 n daemon-%d[%d]: hello\n", i, i)
	}
	p := decodeString(b.String())
	check(t, b.String(), p)
	if len(p.Coverage) > maxOrigins+1 || len(p.Warnings) != 1 {
		t.Errorf("%d origins, %d warnings", len(p.Coverage), len(p.Warnings))
	}
}

// TestWhoseKlog checks that klog lines without a writer are the kubelet's where one line of
// the process is, or the name of the file says so.
func TestWhoseKlog(t *testing.T) {
	const (
		driver  = "E0706 23:27:30.250470       7 node.go:394] \"check volume path\" err=\"function timeout\"\n"
		caller  = "E0706 23:27:31.250470       7 kuberuntime_manager.go:394] something\n"
		message = "E0706 23:27:31.250470       7 other.go:394] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m5.3s ago; threshold is 3m0s]\n"
		version = "I0706 23:27:31.250470       7 server.go:110] Version: v1.17.0\n"
		kubeadm = "I0706 23:27:31.250470       7 patchnode.go:31] [patchnode] Uploading the CRI Socket information \"/var/run/dockershim.sock\" to the Node API object \"n1\" as an annotation\n[kubelet-check] Initial timeout of 40s passed.\n"
		lease   = "E0706 23:27:31.250470       7 controller.go:195] \"Failed to update lease\" err=\"Put \\\"https://127.0.0.1:6443/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/apiserver-x2a\\\": context deadline exceeded\"\n"
	)
	for _, c := range []struct {
		path, log string
		want      parse.Source
	}{
		{"a.log", driver, parse.SrcSystem},
		{"a.log", driver + version, parse.SrcSystem},
		{"a.log", driver + caller, parse.SrcKubelet},
		{"a.log", driver + message, parse.SrcKubelet},
		{"a/kubelet.log", driver, parse.SrcKubelet},
		{"a.log", kubeadm, parse.SrcSystem},
		{"a.log", strings.ReplaceAll(caller, "     7 ", "  4120 ") + kubeadm, parse.SrcSystem},
		{"a.log", lease, parse.SrcSystem},
		{"a/kubelet.log", lease, parse.SrcKubelet},
		{"a.log", lease + caller, parse.SrcKubelet},
		{"a.log", strings.Replace(lease, "kube-system", "kube-node-lease", 1), parse.SrcKubelet},
		{"a.log", strings.Replace(lease, "controller.go:195", "timeout.go:140", 1), parse.SrcSystem},
		{"a.log", strings.ReplaceAll(caller, "     7 ", "  4120 ") + driver, parse.SrcSystem},
	} {
		d := NewDecoder(&parse.File{Path: c.path}, []byte(c.log), builtin(t), Options{})
		part := d.Finish([]Result{d.Decode(Run{Data: []byte(c.log), Last: true})})
		for _, v := range part.Coverage {
			if v.Origin.PID == 7 && v.Origin.Source != c.want {
				t.Errorf("%s %q: written by %q, want %q", c.path, c.log, v.Origin.Source, c.want)
			}
		}
	}
}

// TestCommon checks which words all klog messages of a writer contain, in one run of lines and in several.
func TestCommon(t *testing.T) {
	var selected, whole strings.Builder
	for i, text := range []string{`"Volume mounted for pod" pod="default/web-0"`, `"SyncLoop UPDATE" source="api" pods=["default/web-1"]`,
		`"Error syncing pod" err="x" pod="default/web-0"`, `"Status for pod is up-to-date" pod="default/web-2"`, `"Cleaned up orphaned pod" pod="default/web-3"`} {
		line := fmt.Sprintf("I1120 10:00:0%d.000000    4242 kubelet.go:%d] %s\n", i, 100+i, text)
		selected.WriteString(line)
		whole.WriteString(line)
		fmt.Fprintf(&whole, "I1120 10:00:0%d.500000    4242 server.go:%d] \"Using node IP\" ip=\"10.0.0.%d\"\n", i, 100+i, i)
	}
	for _, c := range []struct {
		log  string
		want []string
	}{{selected.String(), []string{"pod", "default", "web"}}, {whole.String(), nil}} {
		for _, size := range []int{1 << 20, 150} {
			p := decode([]byte(c.log), &parse.File{Path: "kubelet.log"}, Options{}, size)
			if len(p.Coverage) != 1 {
				t.Fatalf("%d writers", len(p.Coverage))
			}
			if got := p.Coverage[0].Common; !slices.Equal(got, c.want) && (size > 1<<10 || len(c.want) == 0 || !slices.Contains(got, "pod")) {
				t.Errorf("runs of %d bytes: %q, want %q", size, got, c.want)
			}
		}
	}
}
