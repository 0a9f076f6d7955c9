package journal

import (
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// at formats a reading: RFC 3339 if it is complete, without zone or year if it
// lacks them.
func at(c parse.Clock) string {
	if !c.Set {
		return ""
	}
	t := time.Unix(0, c.NS).UTC()
	switch c.Lack {
	case 0:
		return t.Format(time.RFC3339Nano)
	case parse.LackZone:
		return t.Format("2006-01-02T15:04:05.999999999")
	}
	return t.Format("01-02T15:04:05.999999999")
}

const klogLine = `I0313 15:41:17.250818    4242 kubelet.go:2448] "SyncLoop ADD" source="api"`

func TestParseLine(t *testing.T) {
	tests := []struct {
		name, line string
		form       Form
		clock      string
		who        Who
		msg        string
	}{
		{"short", "Mar 13 15:41:18 node-7 kubelet[4242]: " + klogLine, BSD, "03-13T15:41:18", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, klogLine},
		{"short, day padded by a blank", "Mar  3 15:41:18 node-7 sshd[9]: hello", BSD, "03-03T15:41:18", Who{Host: "node-7", Ident: "sshd", PID: 9}, "hello"},
		{"short-precise", "Mar 13 15:41:18.250818 node-7 kubelet[4242]: hello", BSD, "03-13T15:41:18.250818", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"no pid", "Mar 13 15:41:18 node-7 kubelet: hello", BSD, "03-13T15:41:18", Who{Host: "node-7", Ident: "kubelet"}, "hello"},
		{"no host", "Mar 13 15:41:18 kubelet[4242]: hello", BSD, "03-13T15:41:18", Who{Ident: "kubelet", PID: 4242}, "hello"},
		{"no identifier", "Mar 13 15:41:18 node-7 unknown[42]: hello", BSD, "03-13T15:41:18", Who{Host: "node-7", Ident: "unknown", PID: 42}, "hello"},
		{"the day and the host were taken out", "15:41:18 kubelet[4242]: hello", Ident, "", Who{Ident: "kubelet", PID: 4242}, "hello"},
		{"the day was cut off", "15:41:18 node-7 kubelet[4242]: hello", Ident, "", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"the day was cut off, without a PID", "15:41:18.123456 node-7 kernel: hello", Ident, "", Who{Host: "node-7", Ident: "kernel"}, "hello"},
		{"the day was cut off, of a sentence", "15:41:18 he wrote: hello", Bare, "", Who{}, "15:41:18 he wrote: hello"},
		{"the host was taken out", "Mar 13 15:41:18  kubelet[4242]: hello", BSD, "03-13T15:41:18", Who{Ident: "kubelet", PID: 4242}, "hello"},
		{"a level instead of a host", "2021-03-13 15:41:18,791 INFO success: hello", ISO, "2021-03-13T15:41:18.791", Who{}, "INFO success: hello"},
		{"kernel", "Mar 13 15:41:18 node-7 kernel: eth0: link up", BSD, "03-13T15:41:18", Who{Host: "node-7", Ident: "kernel"}, "eth0: link up"},
		{"a device instead of a host", "Mar 13 15:41:18 sd 2:0:1:0: [sdb] Write Protect is off", BSD, "03-13T15:41:18", Who{Ident: "kernel"}, "sd 2:0:1:0: [sdb] Write Protect is off"},
		{"a PCI device instead of a host", "Mar 13 15:41:18 ixgbe 0000:03:00.1: Adapter removed", BSD, "03-13T15:41:18", Who{Ident: "kernel"}, "ixgbe 0000:03:00.1: Adapter removed"},
		{"a USB device instead of a host", "Mar 13 15:41:18 usb 1-1.4: new high-speed USB device", BSD, "03-13T15:41:18", Who{Ident: "kernel"}, "usb 1-1.4: new high-speed USB device"},
		{"a controller instead of a host", "Mar 13 15:41:18 nvme nvme0: I/O 12 QID 3 timeout", BSD, "03-13T15:41:18", Who{Ident: "kernel"}, "nvme nvme0: I/O 12 QID 3 timeout"},
		{"a function of the kernel without stamp and host", "aufs au_opts_verify:1570:dockerd[77]: x", Bare, "", Who{}, "aufs au_opts_verify:1570:dockerd[77]: x"},
		{"a host named like a device", "Mar 13 15:41:18 usb kubelet[4242]: hello", BSD, "03-13T15:41:18", Who{Host: "usb", Ident: "kubelet", PID: 4242}, "hello"},
		{"a device behind host and tag", "Mar 13 15:41:18 node-7 kernel: sd 2:0:1:0: [sdb] x", BSD, "03-13T15:41:18", Who{Host: "node-7", Ident: "kernel"}, "sd 2:0:1:0: [sdb] x"},
		{"a heading of the kernel", "Mar 13 15:41:18 Call Trace:", BSD, "03-13T15:41:18", Who{}, "Call Trace:"},
		{"a host that was taken out", "Mar 13 15:41:18 <name left out> kubelet[4242]: hello", BSD, "03-13T15:41:18", Who{Ident: "kubelet", PID: 4242}, "hello"},
		{"a host that was taken out, in brackets", "Mar 13 15:41:18 [REMOVED HOST] kernel: hello", BSD, "03-13T15:41:18", Who{Ident: "kernel"}, "hello"},
		{"a host that was taken out, as signs", "Mar 13 15:41:18 *** kubelet[4242]: hello", BSD, "03-13T15:41:18", Who{Ident: "kubelet", PID: 4242}, "hello"},
		{"words in brackets before a message", "Mar 13 15:41:18 [not a host] warning: hello", BSD, "03-13T15:41:18", Who{}, "[not a host] warning: hello"},
		{"identifier with blanks", "Mar 13 15:41:18 node-7 Server Agent[77]: hello", BSD, "03-13T15:41:18", Who{Host: "node-7", Ident: "Server Agent", PID: 77}, "hello"},
		{"empty message", "Mar 13 15:41:18 node-7 sshd[9]:", BSD, "03-13T15:41:18", Who{Host: "node-7", Ident: "sshd", PID: 9}, ""},
		{"French", "sept. 20 16:41:05 node-7 kubelet[4242]: hello", BSD, "09-20T16:41:05", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"French, accents", "août 20 16:41:05 node-7 kubelet[4242]: hello", BSD, "08-20T16:41:05", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"German", "Dez 24 16:41:05 node-7 kubelet[4242]: hello", BSD, "12-24T16:41:05", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"Chinese", "11月 20 16:41:05 node-7 kubelet[4242]: hello", BSD, "11-20T16:41:05", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"29 February", "Feb 29 00:00:01 node-7 kubelet[4242]: hello", BSD, "02-29T00:00:01", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"syslog with year", "Mar 13 15:41:18 2021 node-7 sshd[9]: hello", BSD, "2021-03-13T15:41:18", Who{Host: "node-7", Ident: "sshd", PID: 9}, "hello"},
		{"short-iso", "2021-03-13T15:41:18+0530 node-7 kubelet[4242]: hello", ISO, "2021-03-13T10:11:18Z", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"short-iso-precise", "2021-03-13T15:41:18.250818-05:00 node-7 kubelet[4242]: hello", ISO, "2021-03-13T20:41:18.250818Z", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"zone apart", "2021-03-13 15:41:18 +0530 node-7 kubelet[4242]: hello", ISO, "2021-03-13T10:11:18Z", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"zone apart, a header behind it", "2021-03-13 15:41:18.25 -05:00 " + klogLine, Stamped, "2021-03-13T20:41:18.25Z", Who{}, klogLine},
		{"zone apart that has no offset", "2021-03-13 15:41:18 CST node-7 kubelet[4242]: hello", ISO, "2021-03-13T15:41:18", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"a host of capitals", "2021-03-13 15:41:18 CST kubelet[4242]: hello", ISO, "2021-03-13T15:41:18", Who{Host: "CST", Ident: "kubelet", PID: 4242}, "hello"},
		{"zone apart that is none", "2021-03-13 15:41:18 +99:99 node-7 kubelet[4242]: hello", ISO, "2021-03-13T15:41:18", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"zone apart before a header", "2021-03-13 15:41:18 CST " + klogLine, ISO, "2021-03-13T15:41:18", Who{}, klogLine},
		{"UTC apart", "2021-03-13 15:41:18 UTC node-7 kubelet[4242]: hello", ISO, "2021-03-13T15:41:18Z", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"short-full", "Sat 2021-03-13 15:41:18 UTC node-7 kubelet[4242]: hello", Full, "2021-03-13T15:41:18Z", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"short-full, zone by name", "Sat 2021-03-13 15:41:18 EST node-7 kubelet[4242]: hello", Full, "2021-03-13T20:41:18Z", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"short-full, zone by a name of several", "Sat 2021-03-13 15:41:18 CST node-7 kubelet[4242]: hello", Full, "2021-03-13T15:41:18", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"zone apart by name", "2021-03-13 15:41:18 EST node-7 kubelet[4242]: hello", ISO, "2021-03-13T20:41:18Z", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"short-full, zone by number", "Sat 2021-03-13 15:41:18 +0530 node-7 kubelet[4242]: hello", Full, "2021-03-13T10:11:18Z", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"with-unit", "Sat 2021-03-13 15:41:18 UTC node-7 kubelet.service[4242]: hello", Full, "2021-03-13T15:41:18Z", Who{Host: "node-7", Ident: "kubelet.service", Unit: "kubelet.service", PID: 4242}, "hello"},
		{"short-unix", "1615650078.250818 node-7 kubelet[4242]: hello", Unix, "2021-03-13T15:41:18.250818Z", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"short-monotonic", "[   39.798436] node-7 kubelet[4242]: hello", Monotonic, "", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"short-delta", "[   39.798436 <    0.000126 >] node-7 kubelet[4242]: hello", Monotonic, "", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"dmesg", "[ 2093.228524] INFO: task containerd:9227 blocked for more than 124 seconds.", Dmesg, "", Who{Ident: "kernel"}, "INFO: task containerd:9227 blocked for more than 124 seconds."},
		{"dmesg with the caller", "[ 2093.228524] [     T91] INFO: task a:9 blocked", Dmesg, "", Who{Ident: "kernel"}, "INFO: task a:9 blocked"},
		{"dmesg -T", "[Sat Mar 13 15:41:18 2021] nfs: server not responding", Dmesg, "2021-03-13T15:41:18", Who{Ident: "kernel"}, "nfs: server not responding"},
		{"dmesg -T after February of a common year", "[Tue Mar  2 15:41:18 2021] x", Dmesg, "2021-03-02T15:41:18", Who{Ident: "kernel"}, "x"},
		{"dmesg -T in a leap year", "[Mon Mar  2 15:41:18 2020] x", Dmesg, "2020-03-02T15:41:18", Who{Ident: "kernel"}, "x"},
		{"dmesg -H", "[Mar13 15:41] hello", Bare, "", Who{}, "[Mar13 15:41] hello"},
		{"dmesg -H with a blank", "[Mar 13 15:41] hello", Dmesg, "03-13T15:41:00", Who{Ident: "kernel"}, "hello"},
		{"a date with a level, of another program", "[2021/03/13 15:41:18] [error] No space left on device", Bare, "", Who{}, "[2021/03/13 15:41:18] [error] No space left on device"},
		{"a process without its name", "Mar 13 15:41:18 [2633351]: [2021/03/13 15:41:18] [error] x", BSD, "03-13T15:41:18", Who{}, "[2021/03/13 15:41:18] [error] x"},
		{"a stamp in bold type", "**Mar 13 15:41:18** node-7 kernel: hello", BSD, "03-13T15:41:18", Who{Host: "node-7", Ident: "kernel"}, "hello"},
		{"dmesg -T of a driver", "[Sat Mar 13 15:41:18 2021] [drm] hello", Dmesg, "2021-03-13T15:41:18", Who{Ident: "kernel"}, "[drm] hello"},
		{"dmesg, relative", "[  +0.000002] FS-Cache: hello", Dmesg, "", Who{Ident: "kernel"}, "FS-Cache: hello"},
		{"dmesg -x with the difference", "kern  :err   : [  +0.000001] [Sat Mar 13 15:41:18 2021] [T88870] I/O error, dev sda", Dmesg, "2021-03-13T15:41:18", Who{Ident: "kernel"}, "I/O error, dev sda"},
		{"dmesg -x", "kern  :warn  : [   39.798436] hello", Dmesg, "", Who{Ident: "kernel"}, "hello"},
		{"a message without a writer", `2021-03-13T15:41:18Z "SyncLoop (PLEG): event for pod" pod="a/b"`, Stamped, "2021-03-13T15:41:18Z", Who{}, `"SyncLoop (PLEG): event for pod" pod="a/b"`},
		{"a message that begins with two words", "2021-03-13T15:41:18Z Feature gates: {map[]}", Stamped, "2021-03-13T15:41:18Z", Who{}, "Feature gates: {map[]}"},
		{"dmesg -r", "<6>[   39.798436] hello", Dmesg, "", Who{Ident: "kernel"}, "hello"},
		{"RFC 3164 as sent", "<30>Mar 13 15:41:18 node-7 kubelet[4242]: hello", BSD, "03-13T15:41:18", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"RFC 5424", `<30>1 2021-03-13T15:41:18.25Z node-7 kubelet 4242 - [meta seq="1" x="a]b"] hello`, Syslog5424, "2021-03-13T15:41:18.25Z", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, "hello"},
		{"RFC 5424 without data", "<30>1 2021-03-13T15:41:18+01:00 node-7 kubelet - - - hello", Syslog5424, "2021-03-13T14:41:18Z", Who{Host: "node-7", Ident: "kubelet"}, "hello"},
		{"CRI", "2024-04-16T06:21:39.0Z stdout F hello", CRI, "2024-04-16T06:21:39Z", Who{}, "hello"},
		{"CRI with zone", "2024-04-16T06:21:39.123456789+02:00 stderr F hello", CRI, "2024-04-16T04:21:39.123456789Z", Who{}, "hello"},
		{"kubectl logs --timestamps", "2024-04-16T06:21:39.123456789Z " + klogLine, Stamped, "2024-04-16T06:21:39.123456789Z", Who{}, klogLine},
		{"docker json-file", `{"log":"say \"hi\"\n","stream":"stderr","time":"2024-04-16T06:21:39.5Z"}`, Docker, "2024-04-16T06:21:39.5Z", Who{}, `say "hi"`},
		{"no date and host", "kubelet[4242]: " + klogLine, Ident, "", Who{Ident: "kubelet", PID: 4242}, klogLine},
		{"no date and host, indented", "   kubelet[4242]: " + klogLine, Ident, "", Who{Ident: "kubelet", PID: 4242}, klogLine},
		{"bare kernel tag", "kernel: Memory cgroup out of memory", Ident, "", Who{Ident: "kernel"}, "Memory cgroup out of memory"},
		{"comment", "// Mar 13 15:41:18 node-7 kubelet: " + klogLine, BSD, "03-13T15:41:18", Who{Host: "node-7", Ident: "kubelet"}, klogLine},
		{"host before klog", "Mar 13 15:41:18 node-7 " + klogLine, BSD, "03-13T15:41:18", Who{Host: "node-7"}, klogLine},
		{"host and program before klog", "Mar 13 15:41:18 node-7 kubelet " + klogLine, BSD, "03-13T15:41:18", Who{Host: "node-7", Ident: "kubelet"}, klogLine},
		{"component", "Mar 13 15:41:18 node-7 microshift[9]: kubelet " + klogLine, BSD, "03-13T15:41:18", Who{Host: "node-7", Ident: "kubelet", Unit: "microshift", PID: 9}, klogLine},
		{"name of a pod", "kubelet-x " + klogLine, Bare, "", Who{Ident: "kubelet-x"}, klogLine},
		{"name of anything", "node-7 " + klogLine, Bare, "", Who{}, klogLine},
		{"two brackets", ">> " + klogLine, Bare, "", Who{}, klogLine},
		{"a caller is no host", `Mar 13 15:41:18 generic.go:238] GenericPLEG: "x"`, BSD, "03-13T15:41:18", Who{}, `generic.go:238] GenericPLEG: "x"`},
		{"section of a list", "* ==> kubelet <==", Section, "", Who{}, "kubelet"},
		{"condition, quoted", "> Ready True Fri, 12 Apr 2024 09:15:08 +0000 Fri, 12 Apr 2024 09:11:00 +0000 KubeletReady ok", Condition, "", Who{}, "Ready True Fri, 12 Apr 2024 09:15:08 +0000 Fri, 12 Apr 2024 09:11:00 +0000 KubeletReady ok"},
		{"a line of a journal that minikube repeats", "W0313 17:41:18.354308   68908 logs.go:138] Found kubelet problem: Mar 13 15:41:18 node-7 kubelet[4242]: " + klogLine, BSD, "03-13T15:41:18", Who{Host: "node-7", Ident: "kubelet", PID: 4242}, klogLine},
		{"a phrase of minikube without one", "W0313 17:41:18.354308   68908 logs.go:138] Found kubelet problem: none", Bare, "", Who{}, "W0313 17:41:18.354308   68908 logs.go:138] Found kubelet problem: none"},
		{"an event that a test retells", `Aug 18 18:19:04.521: INFO: At 2021-08-18 18:18:01 +0000 UTC - event for web-0: {kubelet n-1} FailedKillPod: error killing pod`, EventRow, "2021-08-18T18:18:01Z", Who{Host: "n-1", Ident: parse.IdentAbout}, "FailedKillPod: error killing pod"},
		{"a level before the date", "WARNING: 2021/03/13 15:41:18 grpc: lost", ISO, "2021-03-13T15:41:18", Who{Ident: "grpc"}, "lost"},
		{"a source before the host, as syslog-ng writes it", "May  7 17:31:03 src@n1 kernel: up", BSD, "05-07T17:31:03", Who{Host: "n1", Ident: "kernel"}, "up"},
		{"a name before the date", "[talos] 2021/03/13 15:41:18 setting resolvers", ISO, "2021-03-13T15:41:18", Who{}, "setting resolvers"},
		{"a name before a date that is none", "[talos] 2021/03 setting resolvers", Bare, "", Who{}, "[talos] 2021/03 setting resolvers"},
		{"line of a diff", "+" + klogLine, Bare, "", Who{}, klogLine},
		{"quoted mail", "> > " + klogLine, Bare, "", Who{}, klogLine},
		{"markdown code", "    `" + klogLine, Bare, "", Who{}, klogLine},
		{"a syslog message that a relay logs", "Mar 13 15:41:18 10.0.0.7 logger: <11>1 2021-03-13T15:41:17Z [] 4242 - - " + klogLine, Syslog5424, "2021-03-13T15:41:17Z", Who{Host: "10.0.0.7", Ident: "4242"}, klogLine},
		{"a sign that a relay logs", "Mar 13 15:41:18 10.0.0.7 logger: <11>1 is a priority", BSD, "03-13T15:41:18", Who{Host: "10.0.0.7", Ident: "logger"}, "<11>1 is a priority"},
		{"MicroShift", "Mar 13 15:41:18 node-7 microshift[88]: kubelet " + klogLine, BSD, "03-13T15:41:18", Who{Host: "node-7", Ident: "kubelet", Unit: "microshift", PID: 88}, klogLine},
		{"MicroShift, unknown component", "??? " + klogLine, Bare, "", Who{}, klogLine},
		{"grep of several files", "messages-1.gz:7612:2024-04-01T00:32:23.142118+00:00 n1 kubelet[12]: " + klogLine, ISO, "2024-04-01T00:32:23.142118Z", Who{Host: "n1", Ident: "kubelet", PID: 12}, klogLine},
		{"talosctl", "10.0.0.7: " + klogLine, Bare, "", Who{Host: "10.0.0.7"}, klogLine},
		{"a date of a page", "date: 2024-03-04T05:06:07+00:00", Bare, "", Who{}, "date: 2024-03-04T05:06:07+00:00"},
		{"talosctl dmesg", "10.0.0.7: kern:    info: [2024-03-04T05:06:07.461243566Z]: eth0: link up", Dmesg, "2024-03-04T05:06:07.461243566Z", Who{Host: "10.0.0.7", Ident: "kernel"}, "eth0: link up"},
		{"talosctl dmesg of a node with a name", "node-7: user: warning: [2024-03-04T05:06:07.461243566Z]: [talos] task done", Dmesg, "2024-03-04T05:06:07.461243566Z", Who{Host: "node-7", Ident: "user"}, "[talos] task done"},
		{"json-seq", "\x1e" + `{"MESSAGE":"hello","__REALTIME_TIMESTAMP":"1615650078250818"}`, JSON, "2021-03-13T15:41:18.250818Z", Who{}, "hello"},
		{"json-sse", `data: {"MESSAGE":"hello","_PID":"9","__REALTIME_TIMESTAMP":"1615650078250818"}`, JSON, "2021-03-13T15:41:18.250818Z", Who{PID: 9}, "hello"},
		{"carriage return", "Mar 13 15:41:18 node-7 sshd[9]: hello\r", BSD, "03-13T15:41:18", Who{Host: "node-7", Ident: "sshd", PID: 9}, "hello"},
		{"NULs at the end", "Mar 13 15:41:18 node-7 sshd[9]: hello\x00\x00", BSD, "03-13T15:41:18", Who{Host: "node-7", Ident: "sshd", PID: 9}, "hello"},
		{"raw klog", klogLine, Bare, "", Who{}, klogLine},
		{"prose", "the kubelet stopped: why?", Bare, "", Who{}, "the kubelet stopped: why?"},
		{"month without a stamp", "May the kubelet live", Bare, "", Who{}, "May the kubelet live"},
		{"impossible date", "Feb 42 15:41:18 node-7 sshd[9]: hello", Bare, "", Who{}, "Feb 42 15:41:18 node-7 sshd[9]: hello"},
		{"empty", "", Blank, "", Who{}, ""},
		{"event row", "  Warning  Failed   3m13s (x3 over 7m57s)  kubelet  Error: timeout", EventRow, "", Who{}, "Warning  Failed   3m13s (x3 over 7m57s)  kubelet  Error: timeout"},
		{"event list", "15m   Normal   Scheduled   pod/web-1   Successfully assigned", EventRow, "", Who{}, "15m   Normal   Scheduled   pod/web-1   Successfully assigned"},
		{"event list of all namespaces", "shop   15m   Normal   Scheduled   pod/web-1   Successfully assigned", EventRow, "", Who{}, "shop   15m   Normal   Scheduled   pod/web-1   Successfully assigned"},
		{"a heading", "# kubelet: a panic", Ident, "", Who{Ident: "kubelet"}, "a panic"},
		{"a point of a list", "- kubelet: a panic", Ident, "", Who{Ident: "kubelet"}, "a panic"},
		{"a node as JSON", `INFO[0004] node dump: {"metadata":{"name":"node-7"},"status":{"conditions":[{"type":"Ready","status":"False","reason":"KubeletNotReady"}]}}`, Bare, "", Who{Host: "node-7", Ident: parse.IdentAbout}, `INFO[0004] node dump: {"metadata":{"name":"node-7"},"status":{"conditions":[{"type":"Ready","status":"False","reason":"KubeletNotReady"}]}}`},
		{"a pod as JSON", `got {"metadata":{"name":"web-0"},"status":{"conditions":[{"type":"Ready","status":"False","reason":"ContainersNotReady","message":"PLEG is not healthy"}]}}`, Bare, "", Who{}, `got {"metadata":{"name":"web-0"},"status":{"conditions":[{"type":"Ready","status":"False","reason":"ContainersNotReady","message":"PLEG is not healthy"}]}}`},
		{"prose about events", "Warning: the kubelet is slow", Bare, "", Who{}, "Warning: the kubelet is slow"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e Entry
			NewParser(&Framing{}).Parse([]byte(tt.line), &e)
			if e.Form != tt.form || at(e.Clock) != tt.clock || *e.Who != tt.who || string(e.Msg) != tt.msg {
				t.Errorf("got %v, %q, %+v, %q\nwant %v, %q, %+v, %q", e.Form, at(e.Clock), *e.Who, e.Msg, tt.form, tt.clock, tt.who, tt.msg)
			}
		})
	}
}

func TestMonotonic(t *testing.T) {
	var e Entry
	NewParser(&Framing{}).Parse([]byte("[ 2649.824780] node-7 kubelet[4242]: hello"), &e)
	if want := int64(2649824780 * 1000); e.Mono != want {
		t.Errorf("Mono = %d, want %d", e.Mono, want)
	}
}

func TestReadHeader(t *testing.T) {
	tests := []struct {
		msg      string
		kind     HeaderKind
		severity byte
		clock    string
		pid      int
		caller   string
		body     string
	}{
		{klogLine, Klog, 'I', "03-13T15:41:17.250818", 4242, "kubelet.go:2448", `"SyncLoop ADD" source="api"`},
		{"E1120 23:50:39.261469   26980 main.go:8] boom", Klog, 'E', "11-20T23:50:39.261469", 26980, "main.go:8", "boom"},
		{"W0229 00:00:00.000001 1 pleg/generic.go:238] x", Klog, 'W', "02-29T00:00:00.000001", 1, "pleg/generic.go:238", "x"},
		{"F1120 23:50:39.261469 1832249 a.go:1]", Klog, 'F', "11-20T23:50:39.261469", 1832249, "a.go:1", ""},
		{"I1320 23:50:39.261469 1 a.go:1] month 13", NoHeader, 0, "", 0, "", "I1320 23:50:39.261469 1 a.go:1] month 13"},
		{"I1120 23:50:39.261469 1 no caller here", NoHeader, 0, "", 0, "", "I1120 23:50:39.261469 1 no caller here"},
		{"23:50:39.261028   26980 kubelet.go:1821] skipping pod synchronization", KlogBare, 0, "", 26980, "kubelet.go:1821", "skipping pod synchronization"},
		{"kubelet.go:1821] skipping pod synchronization", KlogBare, 0, "", 0, "kubelet.go:1821", "skipping pod synchronization"},
		{"see kubelet.go:1821] for more", NoHeader, 0, "", 0, "", "see kubelet.go:1821] for more"},
		{`time="2019-02-20T14:28:54.455014979Z" level=error msg="x"`, Logrus, 'E', "2019-02-20T14:28:54.455014979Z", 0, "", `time="2019-02-20T14:28:54.455014979Z" level=error msg="x"`},
		{"[2024/04/28 01:00:55] [  Error] timerfd", Levelled, 'E', "2024-04-28T01:00:55", 0, "", "[2024/04/28 01:00:55] [  Error] timerfd"},
		{"[2024-04-28 01:00:55.123456] E [MSGID: 114031] [client.c:221:f] 0-vol-client-0: x", Levelled, 'E', "2024-04-28T01:00:55.123456", 0, "", "[2024-04-28 01:00:55.123456] E [MSGID: 114031] [client.c:221:f] 0-vol-client-0: x"},
		{"[2024-04-28 01:00:55.123] WARN x", Levelled, 'W', "2024-04-28T01:00:55.123", 0, "", "[2024-04-28 01:00:55.123] WARN x"},
		{"[2024-04-28 01:00:55] INFO: task", NoHeader, 0, "", 0, "", "[2024-04-28 01:00:55] INFO: task"},
		{"WARN[2022-03-21T12:38:02.402842410+08:00] x", Logrus, 'W', "2022-03-21T04:38:02.40284241Z", 0, "", "WARN[2022-03-21T12:38:02.402842410+08:00] x"},
		{`time="2023-08-25 15:57:08.444000125+08:00" level=warning msg="x"`, Logrus, 'W', "2023-08-25T07:57:08.444000125Z", 0, "", `time="2023-08-25 15:57:08.444000125+08:00" level=warning msg="x"`},
		{`{"ts":1745319662553.8606,"caller":"kubelet/kubelet.go:23","msg":"x","v":0}`, KlogJSON, 'I', "2025-04-22T11:01:02.5538606Z", 0, "kubelet.go:23", `{"ts":1745319662553.8606,"caller":"kubelet/kubelet.go:23","msg":"x","v":0}`},
		{`{"ts":1745319662553.8606,"caller":"kubelet/kubelet.go:23","msg":"x","err":"y"}`, KlogJSON, 'E', "2025-04-22T11:01:02.5538606Z", 0, "kubelet.go:23", `{"ts":1745319662553.8606,"caller":"kubelet/kubelet.go:23","msg":"x","err":"y"}`},
		{`{"ts":1745319662553.8606,"msg":"x","err":"y","v":0}`, KlogJSON, 'E', "2025-04-22T11:01:02.5538606Z", 0, "", `{"ts":1745319662553.8606,"msg":"x","err":"y","v":0}`},
		{`{"level":"warn","ts":"2022-03-04T10:18:06.995Z","caller":"etcdmain/etcd.go:72","msg":"x"}`, JSONLog, 'W', "2022-03-04T10:18:06.995Z", 0, "etcd.go:72", `{"level":"warn","ts":"2022-03-04T10:18:06.995Z","caller":"etcdmain/etcd.go:72","msg":"x"}`},
		{"2025-05-12 04:54:37.947800131 +0000 UTC m=+0.027 container died 54", Podman, 'I', "2025-05-12T04:54:37.947800131Z", 0, "", "2025-05-12 04:54:37.947800131 +0000 UTC m=+0.027 container died 54"},
		{"2025-05-12 04:54:37.9 -0300 -03 m=+0.027 container died 54", Podman, 'I', "2025-05-12T07:54:37.9Z", 0, "", "2025-05-12 04:54:37.9 -0300 -03 m=+0.027 container died 54"},
		{"Image pulled", NoHeader, 0, "", 0, "", "Image pulled"},
		{"", NoHeader, 0, "", 0, "", ""},
	}
	for _, tt := range tests {
		var h Header
		ok := ReadHeader([]byte(tt.msg), &h)
		if ok != (tt.kind != NoHeader) || h.Kind != tt.kind || h.Severity != tt.severity || h.PID != tt.pid || string(h.Caller) != tt.caller {
			t.Errorf("%q: got %v %+v, caller %q", tt.msg, ok, h, h.Caller)
			continue
		}
		if d := at(h.Clock); d != tt.clock && !near(h.Clock, tt.clock) || tt.msg[h.Body:] != tt.body {
			t.Errorf("%q: clock %s, body %q", tt.msg, d, tt.msg[h.Body:])
		}
	}
}

// near tolerates what a float of milliseconds cannot represent.
func near(c parse.Clock, want string) bool {
	w, err := time.Parse(time.RFC3339Nano, want)
	return err == nil && c.Lack == 0 && time.Unix(0, c.NS).Sub(w).Abs() < time.Microsecond
}

func TestMarkers(t *testing.T) {
	tests := []struct {
		line  string
		kind  parse.MarkerKind
		n     int
		boot  string
		clock string
	}{
		{"-- Logs begin at Fri 2017-11-03 13:31:21 UTC, end at Fri 2017-11-03 13:48:19 UTC. --", parse.MarkHeader, 0, "", "2017-11-03T13:31:21Z"},
		{"  1. -- Logs begin at Fri 2017-11-03 13:31:21 UTC, end at Fri 2017-11-03 13:48:19 UTC. --", parse.MarkHeader, 0, "", "2017-11-03T13:31:21Z"},
		{"-- Logs begin at mer. 2018-09-19 10:11:12 CEST. --", parse.MarkHeader, 0, "", "2018-09-19T08:11:12Z"},
		{"-- Journal begins at Mon 2021-11-01 10:11:12 UTC, ends at Tue 2021-11-02 10:11:12 UTC. --", parse.MarkHeader, 0, "", "2021-11-01T10:11:12Z"},
		{"-- No entries --", parse.MarkEmpty, 0, "", ""},
		{"-- Reboot --", parse.MarkReboot, 0, "", ""},
		{"-- Boot 0123456789abcdef0123456789abcdef --", parse.MarkReboot, 0, "0123456789abcdef0123456789abcdef", ""},
		{"-- The unit a.mount has successfully entered the 'dead' state.", "", 0, "", ""},
		{"Log file created at: 2019/08/20 20:28:26", parse.MarkHeader, 0, "", "2019-08-20T20:28:26"},
		{"Log line format: [IWEF]mmdd hh:mm:ss.uuuuuu threadid file:line] msg", parse.MarkHeader, 0, "", ""},
		{"Mar 13 15:41:18 n systemd-journald[5]: Suppressed 1234 messages from kubelet.service", parse.MarkSuppressed, 1234, "", "03-13T15:41:18"},
		{"Mar 13 15:41:18 n systemd-journald[5]: Missed 17 kernel messages", parse.MarkSuppressed, 17, "", "03-13T15:41:18"},
		{"Mar 13 15:41:18 n rsyslogd[5]: imjournal: 99 messages lost due to rate-limiting", parse.MarkSuppressed, 99, "", "03-13T15:41:18"},
		{"Mar 13 15:41:18 n systemd-journald[5]: Journal started", parse.MarkRotated, 0, "", "03-13T15:41:18"},
		{"Mar 13 15:41:18 n systemd[1]: Time has been changed", parse.MarkClock, 0, "", "03-13T15:41:18"},
		{"Mar 13 15:41:18 n ntpd[902]: 0.0.0.0 c61c 0c clock_step -28818.771869 s", parse.MarkClock, 0, "", "03-13T15:41:18"},
		{"Mar 13 15:41:18 n chronyd[9]: System clock was stepped by -3600.1 seconds", parse.MarkClock, 0, "", "03-13T15:41:18"},
		{"Mar 13 15:41:18 n kubelet[9]: Suppressed 5 messages from itself", "", 0, "", "03-13T15:41:18"},
	}
	for _, tt := range tests {
		var e Entry
		NewParser(&Framing{}).Parse([]byte(tt.line), &e)
		if e.Marker.Kind != tt.kind || e.Marker.N != tt.n || e.Marker.Boot != tt.boot || at(e.Clock) != tt.clock {
			t.Errorf("%q: got %+v at %q", tt.line, e.Marker, at(e.Clock))
		}
	}
}

func TestCondition(t *testing.T) {
	const row = "Ready            False   Sat, 28 Sep 2019 15:05:43 +0200   Sat, 28 Sep 2019 14:58:10 +0200   KubeletNotReady   container runtime is down"
	var e Entry
	NewParser(&Framing{}).Parse([]byte("  "+row), &e)
	if e.Form != Condition || at(e.Header.Clock) != "2019-09-28T13:05:43Z" || string(e.Msg) != row {
		t.Errorf("got %v at %s: %q", e.Form, at(e.Header.Clock), e.Msg)
	}
}

func TestSection(t *testing.T) {
	var e Entry
	NewParser(&Framing{}).Parse([]byte("==> kube-proxy [0aa1f6498e6e] <=="), &e)
	if e.Form != Section || string(e.Msg) != "kube-proxy [0aa1f6498e6e]" {
		t.Errorf("got %v %q", e.Form, e.Msg)
	}
}

func TestUnixDay(t *testing.T) {
	for d := int64(-800_000); d < 800_000; d += 13 {
		y, m, day := time.Unix(d*86400, 0).UTC().Date()
		if got := unixDay(y, int(m), day); got != d {
			t.Fatalf("unixDay(%d, %d, %d) = %d, want %d", y, m, day, got, d)
		}
	}
}

func TestCallerEnd(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{
		{"kubelet.go:2448] x", 15}, {"a:1]", 3}, {"a:1", -1}, {":1]", -1}, {"a:]", -1}, {"a:1x]", -1}, {"ab1]", -1}, {"123]", -1},
		{"a b:1] x", -1}, {"operation_generator.go:722]", 26}, {"kubelet/kubelet.go:2448]", 23}, {"\\]:1]", -1}, {"", -1},
		{"\xdd\xa0\x5c\x1f\x5e\x21a.go:77]", 13}, {strings.Repeat("a", maxCaller-3) + ":1]", maxCaller - 1}, {strings.Repeat("a", maxCaller-2) + ":1]", -1},
	} {
		want := tt.want
		if want >= 0 {
			want += 2
		}
		if got := callerEnd([]byte("  "+tt.text), 2); got != want {
			t.Errorf("%q: %d, want %d", tt.text, got, want)
		}
	}
}

func TestMicros(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"123456  ", 123456, true}, {"000001xx", 1, true}, {"999999\xff\xff", 999999, true}, {"12345x  ", 0, false}, {"/23456  ", 0, false},
		{"12:456  ", 0, false}, {"12\xb1456  ", 0, false}, {"     1  ", 0, false},
	} {
		if n, ok := micros([]byte(tt.text)); n != tt.want || ok != tt.ok {
			t.Errorf("%q: %d, %v", tt.text, n, ok)
		}
	}
}

// TestNodeName: talosctl puts the node name before an object if the node was
// addressed by name. A word that may be a program name is left alone.
func TestNodeName(t *testing.T) {
	const object = `{"level":"error","msg":"x","time":"2024-10-05T13:37:04.97Z"}`
	for _, tt := range []struct{ line, host string }{
		{"worker-2.example.net: " + object, "worker-2.example.net"},
		{"worker-2: " + object, ""},
		{"see a.b c.d: " + object, ""},
		{"v1.Pod: {", ""},
	} {
		p := NewParser(&Framing{})
		var e Entry
		p.Parse([]byte(tt.line), &e)
		if e.Who.Host != tt.host {
			t.Errorf("%s: host %q, want %q", tt.line, e.Who.Host, tt.host)
		}
	}
}
