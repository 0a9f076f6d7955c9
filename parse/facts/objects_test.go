package facts

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

func showObject(o *parse.Object) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %s/%s", o.Line, o.Kind, o.Namespace, o.Name)
	for _, f := range o.Fields {
		fmt.Fprintf(&b, " %s=%s", f.Name, f.Value)
	}
	return b.String()
}

const nodeYAML = `apiVersion: v1
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: n1
  status:
    conditions:
    - lastHeartbeatTime: "2026-11-21T00:05:00Z"
      lastTransitionTime: "2026-11-21T00:03:00Z"
      message: 'PLEG is not healthy: pleg was last seen active 3m7s ago'
      reason: KubeletNotReady
      status: "False"
      type: Ready
    nodeInfo:
      kubeletVersion: v1.28.0
      containerRuntimeVersion: cri-o://1.28.1
- apiVersion: v1
  kind: Node
  metadata:
    name: n2
kind: List
`

const eventJSON = `{
 "apiVersion": "v1",
 "items": [
  {
   "kind": "Event",
   "involvedObject": {"kind": "Node", "name": "n1"},
   "metadata": {"name": "n1.x", "namespace": "default"},
   "reason": "NodeNotReady",
   "message": "Node n1 status is now: NodeNotReady",
   "count": 3,
   "firstTimestamp": "2026-11-21T00:00:00Z",
   "lastTimestamp": "2026-11-21T00:06:00Z",
   "source": {"component": "kubelet", "host": "n1"},
   "type": "Normal"
  },
  {"kind": "Pod", "metadata": {"name": "p", "namespace": "a", "uid": "u"}, "spec": {"nodeName": "n1"}, "status": {"phase": "Running"}}
 ],
 "kind": "List"
}
`

var objectInputs = []struct {
	path, in string
	want     []string
	cut      bool
}{
	{"nodes.yaml", nodeYAML, []string{
		"3 Node /n1 kubelet_version=v1.28.0 runtime=cri-o://1.28.1",
		"11 NodeCondition /n1 type=Ready status=False reason=KubeletNotReady message=PLEG is not healthy: pleg was last seen active 3m7s ago heartbeat=2026-11-21T00:05:00Z transition=2026-11-21T00:03:00Z",
		"18 Node /n2"}, false},
	{"core/nodes/n1.yaml", "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: n1\nstatus:\n  conditions:\n  - type: Ready\n    status: \"True\"\n    message: kubelet is posting\n", []string{
		"2 Node /n1", "10 NodeCondition /n1 type=Ready status=True message=kubelet is posting"}, false},
	{"cut.yaml", "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\nstatus:\n  conditions:\n  - message: PLEG is not healthy\n    reason: KubeletNotReady\n    status: \"False\"\n  - reason: NodeStatusUnknown\n    status: Unknown\n", []string{
		"1 Node /n1", "7 NodeCondition /n1 type=Ready status=False reason=KubeletNotReady message=PLEG is not healthy", "10 NodeCondition /n1 status=Unknown reason=NodeStatusUnknown"}, false},
	{"events.json", eventJSON, []string{
		"9 Event default/n1.x type=Normal reason=NodeNotReady message=Node n1 status is now: NodeNotReady count=3 first=2026-11-21T00:00:00Z last=2026-11-21T00:06:00Z component=kubelet host=n1 involved_kind=Node involved_name=n1",
		"16 Pod a/p node=n1 phase=Running restarts=0 containers=0"}, false},
	{"events.jsonl", `{"event":{"kind":"Event","involvedObject":{"kind":"Pod","name":"p"},"reason":"FailedSync","message":"m","lastTimestamp":"2026-11-21T00:06:00Z","metadata":{"name":"e"}},"op":"create"}` + "\n",
		[]string{"1 Event /e reason=FailedSync message=m last=2026-11-21T00:06:00Z involved_kind=Pod involved_name=p"}, false},
	{"cut.json", eventJSON[:len(eventJSON)-60], []string{
		"9 Event default/n1.x type=Normal reason=NodeNotReady message=Node n1 status is now: NodeNotReady count=3 first=2026-11-21T00:00:00Z last=2026-11-21T00:06:00Z component=kubelet host=n1 involved_kind=Node involved_name=n1"}, true},
}

func TestObjects(t *testing.T) {
	for _, tt := range objectInputs {
		f := &parse.File{Path: tt.path}
		part := Decode(f, []byte(tt.in))
		var got []string
		for _, o := range part.Objects {
			got = append(got, showObject(o))
		}
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s:\n got\n%s\nwant\n%s", tt.path, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
		if (len(part.Warnings) > 0) != tt.cut {
			t.Errorf("%s: warnings %v", tt.path, part.Warnings)
		}
		checkPositions(t, f, tt.in, part)
	}
}

const manifest = `{
    "version": "4.12.0",
    "start_time": "2026-11-20 19:05:40.476747",
    "end_time": "2026-11-20 19:05:51.317084",
    "components": {
        "report": {
            "plugins": {
                "crio": {
                    "start_time": "2026-11-20 19:05:41.738536",
                    "timeout_hit": true,
                    "commands": [
                        {
                            "exec": "crictl ps -a",
                            "filepath": "sos_commands/crio/crictl_ps_-a",
                            "truncated": false,
                            "return_code": 124,
                            "start_time": 1795219542.0,
                            "end_time": 1795219842.0
                        },
                        {
                            "exec": "df -al",
                            "filepath": "sos_commands/filesys/df_-al",
                            "truncated": true,
                            "return_code": 0,
                            "start_time": 1795219541.9,
                            "run_time": 44.5
                        }
                    ]
                }
            }
        }
    }
}
`

// TestManifest checks that the zone is derived from the two clocks: the report's
// times are local, the commands' are epochs.
func TestManifest(t *testing.T) {
	f := &parse.File{Path: "sos_reports/manifest.json"}
	part := Decode(f, []byte(manifest))
	var got []string
	for _, x := range part.Facts {
		got = append(got, show(x))
		if x.Key == KeyCollected && (x.Raw.NS != 1795219551_317084000 || x.Raw.Lack != 0) {
			t.Errorf("collected at %d, lack %d", x.Raw.NS, x.Raw.Lack)
		}
	}
	want := `2 collector.name "sos"
2 collector.version "4.12.0"
4 time.collected "2026-11-20 19:05:51.317084"
4 time.zone -18000
10 collector.command.killed "crio" command=plugin crio
16 collector.command.killed 300 command=crictl ps -a file=sos_commands/crio/crictl_ps_-a code=124
24 collector.command.slow 44.5 command=df -al file=sos_commands/filesys/df_-al code=0
23 collector.truncated "sos_commands/filesys/df_-al" file=sos_commands/filesys/df_-al command=df -al`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
	checkPositions(t, f, manifest, part)
}

func TestDates(t *testing.T) {
	for line, want := range map[string]string{
		"Sat Nov 21 00:05:41 UTC 2026":           "1795219541 UTC",
		"Fri Nov 20 19:05:41 EST 2026":           "1795219541 EST",
		"Fri Nov 20 07:05:41 PM EST 2026":        "1795219541 EST",
		"Sat Nov 21 08:05:41 CST 2026":           "local 1795248341",
		"Sat Nov 21 05:35:41 +0530 2026":         "1795219541 +0530",
		"2026-11-21T00:05:41+00:00":              "1795219541 UTC",
		"Sat 2026-11-21 01:05:41 CET":            "1795219541 CET",
		"Sat, 21 Nov 2026 01:05:41 +0100":        "1795219541 +0100",
		"2026-11-21 00:05:41.5 +0000 UTC m=+0.1": "1795219541 +0000",
		"Sat 21 Nov 2026 12:05:41 AM UTC":        "1795219541 UTC",
		"hwclock: Cannot access the clock":       "no",
		"Failed to connect to bus: No such file": "no",
	} {
		c, zone, ok := dateOf(line)
		got := "no"
		switch {
		case ok && c.Lack&parse.LackZone != 0:
			got = fmt.Sprintf("local %d", c.NS/1e9)
		case ok:
			got = fmt.Sprintf("%d %s", c.NS/1e9, zone)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

func TestListBoots(t *testing.T) {
	in := "-1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa Fri 2026-11-20 10:00:00 UTC—Fri 2026-11-20 11:00:00 UTC\n 0 bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb Fri 2026-11-20 12:00:00 UTC—Sat 2026-11-21 00:05:41 UTC\n"
	part := Decode(&parse.File{Path: "journalctl_--list-boots"}, []byte(in))
	n := 0
	for _, f := range part.Facts {
		if f.Key == KeyBoot {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d boots, want 2", n)
	}
}

func TestNumbers(t *testing.T) {
	for in, want := range map[string]float64{"1.5": 1.5, "1,5": 1.5, "97%": 97, "x": math.NaN(), "NaN": math.NaN(), "": math.NaN()} {
		got, ok := number(in)
		if !ok {
			got = math.NaN()
		}
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("number(%q) = %v, want %v", in, got, want)
		}
	}
}
