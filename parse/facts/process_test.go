package facts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// TestPasted: what ps printed is read below the lines of a log, up to the line
// that is no row, and only under its command.
func TestPasted(t *testing.T) {
	const line = "Nov 27 10:10:07 n1 kubelet[245]: E1127 10:10:07.444787     245 generic.go:271] x\n"
	const rows = "root     22814  0.0  0.0 116436  8528 ?        Sl   Nov23   0:00 /opt/cni/bin/acme\n" +
		"root     24012  0.0  0.0  14224  1032 pts/32   S+   10:24   0:00 grep acme\n"
	for text, want := range map[string]int{
		line + "root@n1:~# ps aux | grep acme\n" + rows + line:                                    3,
		line + "$ ps aux\nUSER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\n" + rows + line: 4,
		line + rows:                            0,
		line + "root@n1:~# cat notes\n" + rows: 0,
	} {
		at := 0
		for _, f := range Pasted(&parse.File{Path: "paste.txt"}, []byte(text)) {
			if f.Key == KeyCNIProcess {
				at = int(f.Line)
			}
		}
		if at != want {
			t.Errorf("plug-in at line %d, want %d: %s", at, want, text)
		}
	}
}

// TestStatusFlags: the flags of a kubelet are read from the processes that systemctl status draws, but
// for one that is cut off, and none of a program that has another component.
func TestStatusFlags(t *testing.T) {
	const log = "Nov 27 10:10:07 n1 kubelet[245]: E1127 10:10:07.444787     245 generic.go:271] x\n"
	for line, want := range map[string]string{
		"           └─6443 /usr/bin/kubelet --v=4 --container-runtime-endpoint=unix:///run/crio/crio.sock": "unix:///run/crio/crio.sock",
		"           ├─6443 hyperkube kubelet --container-runtime-endpoint unix:///run/crio/crio.sock":      "unix:///run/crio/crio.sock",
		"           └─6443 /usr/bin/kubelet --v=4 --container-runtime-endpoint=unix:///run/cri...":         "",
		"           └─6443 hyperkube apiserver --container-runtime-endpoint=unix:///run/crio/crio.sock":    "",
		"           run kubelet --container-runtime-endpoint=unix:///run/crio/crio.sock":                   "",
	} {
		got := ""
		for _, f := range Pasted(&parse.File{Path: "paste.txt"}, []byte(line+"\n\n"+log+"kubelet --\n")) {
			if f.Key == KeyEndpoint {
				got = f.Value
			}
		}
		if got != want {
			t.Errorf("%q: endpoint %q, want %q", line, got, want)
		}
	}
}

// TestTableMoment: ages are relative to the youngest process of a table, whose
// start is the time of the facts, whenever the bundle was made.
func TestTableMoment(t *testing.T) {
	table := `    PID    PPID STAT                  STARTED COMMAND
      1       0 Ss   Wed Mar  4 09:00:00 2026 /sbin/init
    800       1 Ssl  Wed Mar  4 09:00:10 2026 /usr/bin/dockerd
    900     800 S    Wed Mar  4 10:00:00 2026 /opt/cni/bin/bridge
    990       1 R    Wed Mar  4 10:08:52 2026 ps -eo pid
`
	for _, f := range Decode(&parse.File{Path: "ps.txt"}, []byte(table)).Facts {
		if f.Key == KeyCNIProcess {
			if want := time.Date(2026, 3, 4, 10, 8, 52, 0, time.UTC).UnixNano(); f.Attr("age") != "8m52s" || f.Raw.NS != want || f.Raw.Lack != parse.LackZone {
				t.Errorf("%s, as of %+v", f.Attr("age"), f.Raw)
			}
			return
		}
	}
	t.Error("no plug-in")
}

// TestVeryManyProcesses: in a very large table, ordinary rows are only counted, and
// the noteworthy rows kept include the node's own daemons.
func TestVeryManyProcesses(t *testing.T) {
	var table strings.Builder
	table.WriteString("USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\n")
	for i := range 2 * parse.Many {
		fmt.Fprintf(&table, "root %d 0.0 0.0 0 0 ? S Mar13 0:00 sleep 9\n", 2*i+10)
		fmt.Fprintf(&table, "root %d 0.0 0.0 0 0 ? D Mar13 0:00 runc init %d\n", 2*i+11, i)
	}
	table.WriteString("root 99999 1.0 0.0 0 0 ? Ssl Mar13 0:00 /usr/bin/kubelet\n")
	part := Decode(&parse.File{Path: "ps.txt"}, []byte(table.String()))
	got, count := map[string]int{}, map[string]float64{}
	for _, f := range part.Facts {
		got[f.Key]++
		count[f.Key] = f.Num
	}
	if got[KeyDState] != parse.Many || got[KeyDaemon] != 1 || count[KeyProcesses] != 4*parse.Many+1 || count[KeyDStates] != 2*parse.Many || count[KeyRuncs] != 2*parse.Many {
		t.Errorf("facts %v, counts %v", got, count)
	}
	if len(part.Warnings) != 1 || !strings.HasPrefix(part.Warnings[0].String(), "ps.txt:1: 20001 rows: 10001 are kept") {
		t.Errorf("warnings %v", part.Warnings)
	}
}
