package journal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// records parses all records of a file.
func records(t *testing.T, file string) []Entry {
	t.Helper()
	f := Detect([]byte(file))
	p := NewParser(f)
	var out []Entry
	for b := []byte(file); len(b) > 0; {
		n := f.Next(b, true)
		if n <= 0 || n > len(b) {
			t.Fatalf("Next = %d of %d", n, len(b))
		}
		var e Entry
		p.Parse(bytes.TrimSuffix(b[:n], []byte("\n")), &e)
		e.Msg = bytes.Clone(e.Msg)
		out = append(out, e)
		b = b[n:]
	}
	return out
}

const exportFile = "__CURSOR=s=1;i=1\n__REALTIME_TIMESTAMP=1700000001000000\n_BOOT_ID=bb\n_HOSTNAME=n\nSYSLOG_IDENTIFIER=kubelet\n_PID=42\nMESSAGE=plain\n\n" +
	"__CURSOR=s=1;i=2\n__REALTIME_TIMESTAMP=1700000002000000\n_HOSTNAME=n\nMESSAGE\n\x0b\x00\x00\x00\x00\x00\x00\x00two\n\nlines\xff\nSYSLOG_IDENTIFIER=kubelet\n\n" +
	"__CURSOR=s=1;i=3\n__REALTIME_TIMESTAMP=1700000003000000\nMESSAGE=last"

func TestExport(t *testing.T) {
	got := records(t, exportFile)
	if len(got) != 3 {
		t.Fatalf("got %d records", len(got))
	}
	if e := got[0]; string(e.Msg) != "plain" || *e.Who != (Who{Host: "n", Ident: "kubelet", PID: 42, Boot: "bb"}) || at(e.Clock) != "2023-11-14T22:13:21Z" {
		t.Errorf("first: %q %+v %s", e.Msg, *e.Who, at(e.Clock))
	}
	if e := got[1]; string(e.Msg) != "two\n\nlines\xff" || e.Who.Ident != "kubelet" || at(e.Clock) != "2023-11-14T22:13:22Z" {
		t.Errorf("second: %q %+v %s", e.Msg, *e.Who, at(e.Clock))
	}
	if e := got[2]; string(e.Msg) != "last" {
		t.Errorf("third: %q", e.Msg)
	}
}

func TestExportLengthThatLies(t *testing.T) {
	file := "__CURSOR=x\nMESSAGE\n\xff\xff\xff\xff\xff\xff\xff\xffabc\n\n__CURSOR=y\nMESSAGE=next\n\n"
	got := records(t, file)
	if n := len(got); n == 0 || string(got[n-1].Msg) != "next" {
		t.Errorf("got %d records", n)
	}
}

func TestVerbose(t *testing.T) {
	file := "Fri 2026-11-20 23:28:59.991937 UTC [s=5;i=1;b=7;m=9;t=6;x=a]\n" +
		"    _HOSTNAME=n\n    SYSLOG_IDENTIFIER=kubelet\n    _PID=42\n    MESSAGE=one\n            two\n    _UID=0\n" +
		"Fri 2026-11-20 23:29:00.5 UTC [s=5;i=2;b=7;m=9;t=6;x=a]\n    MESSAGE=x\n"
	got := records(t, file)
	if len(got) != 2 {
		t.Fatalf("got %d records", len(got))
	}
	if e := got[0]; string(e.Msg) != "one\ntwo" || e.Who.PID != 42 || at(e.Clock) != "2026-11-20T23:28:59.991937Z" {
		t.Errorf("first: %q %+v %s", e.Msg, *e.Who, at(e.Clock))
	}
	if e := got[1]; string(e.Msg) != "x" || at(e.Clock) != "2026-11-20T23:29:00.5Z" {
		t.Errorf("second: %q %s", e.Msg, at(e.Clock))
	}
}

func TestPretty(t *testing.T) {
	file := "{\n\t\"MESSAGE\" : \"a\\nb\",\n\t\"_PID\" : \"42\",\n\t\"__REALTIME_TIMESTAMP\" : \"1700000001000000\"\n}\n" +
		"{\n\t\"__REALTIME_TIMESTAMP\" : \"1700000002000000\",\n\t\"MESSAGE\" : null\n}\n"
	got := records(t, file)
	if len(got) != 2 || string(got[0].Msg) != "a\nb" || got[0].Who.PID != 42 || !got[1].Lost {
		t.Errorf("got %+v", got)
	}
}

func TestWindowsCSV(t *testing.T) {
	file := "\"Message\",\"Id\",\"MachineName\",\"TimeCreated\",\"ProviderName\"\r\n" +
		"\"" + klogLine[:40] + "x.go:1] say \"\"hi\"\"\",\"1\",\"win-1\",\"8/20/2019 8:28:26 PM\",\"kubelet\"\r\n"
	got := records(t, file)
	if len(got) != 2 {
		t.Fatalf("got %d records", len(got))
	}
	e := got[1]
	if got[0].Marker.Kind != parse.MarkHeader || e.Form != EventLog || at(e.Clock) != "2019-08-20T20:28:26" ||
		*e.Who != (Who{Host: "win-1", Ident: "kubelet"}) || !strings.HasSuffix(string(e.Msg), `say "hi"`) {
		t.Errorf("got %+v by %+v: %q", e, *e.Who, e.Msg)
	}
}

func TestWindowsTime(t *testing.T) {
	for in, want := range map[string]string{
		"8/20/2019 8:28:26 PM":  "2019-08-20T20:28:26",
		"8/20/2019 12:00:01 AM": "2019-08-20T00:00:01",
		"20.08.2019 20:28:26":   "2019-08-20T20:28:26",
		"2019-08-20T20:28:26":   "2019-08-20T20:28:26",
		"yesterday":             "",
		"8/20/2019":             "",
	} {
		c, _ := windowsTime([]byte(in))
		if got := at(c); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestDetect(t *testing.T) {
	tests := []struct{ head, name string }{
		{exportFile, "journal export"},
		{"Mar 13 15:41:18.250818 n kubelet[4242]: " + klogLine + "\n", "journal short-precise + klog"},
		{"Mar 13 15:41:18 n kubelet[4242]: " + klogLine + "\n", "journal short + klog"},
		{klogLine + "\n", "klog"},
		{`time="2019-02-20T14:28:54Z" level=error msg="x"` + "\n", "logrus"},
		{`{"MESSAGE":"x","__REALTIME_TIMESTAMP":"1"}` + "\n", "journal JSON"},
		{"nothing known\n", "plain text"},
		{"", "plain text"},
	}
	for _, tt := range tests {
		if got := Detect([]byte(tt.head)).Name; got != tt.name {
			t.Errorf("%.40q: got %q, want %q", tt.head, got, tt.name)
		}
	}
	if f := Detect([]byte("==> kubelet <==\n")); !f.Sections {
		t.Error("no sections seen")
	}
}
