package cri

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// dump formats the content of a file, one line per record.
func dump(p parse.Part) string {
	var b strings.Builder
	for _, c := range p.Containers {
		kind := "container"
		if c.Sandbox {
			kind = "sandbox"
		}
		fmt.Fprintf(&b, "%d %s %s %s", c.Line, kind, c.ID, c.State)
		if c.ExitCode != nil {
			fmt.Fprintf(&b, " code=%d", *c.ExitCode)
		}
		fmt.Fprintf(&b, " pod=%s/%s uid=%s name=%s in=%s", c.Namespace, c.PodName, c.PodUID, c.Name, c.SandboxID)
		for _, t := range []struct {
			name string
			at   int64
		}{{"created", c.Created}, {"started", c.Started}, {"finished", c.Finished}} {
			if t.at != 0 {
				fmt.Fprintf(&b, " %s=%s", t.name, parse.Stamp{At: t.at, Basis: parse.Stated}.Time().Format("2006-01-02T15:04:05.999999999"))
			}
		}
		b.WriteString("\n")
	}
	for _, f := range p.Facts {
		fmt.Fprintf(&b, "%d fact %s %q %v\n", f.Line, f.Key, f.Value, f.Attrs)
	}
	for _, w := range p.Warnings {
		fmt.Fprintf(&b, "%d warning %s\n", w.Line, w.Msg)
	}
	return b.String()
}

func TestDecode(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"crictl ps -o json", `{
  "containers": [
    {
      "id": "c0ffee01",
      "podSandboxId": "5a11cafe",
      "metadata": {"name": "app", "attempt": 2},
      "state": "CONTAINER_EXITED",
      "createdAt": "1767323045000000001",
      "labels": {"io.kubernetes.container.name": "app", "io.kubernetes.pod.name": "web-0",
        "io.kubernetes.pod.namespace": "default", "io.kubernetes.pod.uid": "u-1"}
    },
    {"id": "c0ffee02", "podSandboxId": "5a11cafe", "metadata": {"name": "side"}, "state": "CONTAINER_PAUSED"}
  ]
}`, `3 container c0ffee01 exited pod=default/web-0 uid=u-1 name=app in=5a11cafe created=2026-01-02T03:04:05.000000001
12 container c0ffee02 unknown pod=/ uid= name=side in=5a11cafe
12 warning "c0ffee02": state is missing or not known; taken as unknown
`},
		{"crictl pods -o json", `{"items":[{"id":"5a11cafe","metadata":{"name":"web-0","uid":"u-1","namespace":"default","attempt":0},
"state":"SANDBOX_NOTREADY","createdAt":"1767323045000000000"}]}`,
			"1 sandbox 5a11cafe notready pod=default/web-0 uid=u-1 name= in= created=2026-01-02T03:04:05\n"},
		{"crictl inspect, twice", `{"status":{"id":"c0ffee01","metadata":{"name":"app"},"state":"CONTAINER_EXITED","createdAt":"2026-01-02T03:04:05.1Z",
"startedAt":"2026-01-02T03:04:06Z","finishedAt":"2026-01-02T03:05:00.000000007Z","exitCode":137},"info":{"sandboxID":"5a11cafe","pid":0}}
{"status":{"id":"c0ffee02","metadata":{"name":"app"},"state":"CONTAINER_RUNNING","createdAt":"2026-01-02T03:04:05Z",
"startedAt":"2026-01-02T03:04:06Z","finishedAt":"1970-01-01T00:00:00Z","exitCode":0},"sandboxId":"5a11cafe"}`,
			`1 container c0ffee01 exited code=137 pod=/ uid= name=app in=5a11cafe created=2026-01-02T03:04:05.1 started=2026-01-02T03:04:06 finished=2026-01-02T03:05:00.000000007
3 container c0ffee02 running pod=/ uid= name=app in=5a11cafe created=2026-01-02T03:04:05 started=2026-01-02T03:04:06
`},
		{"crictl inspectp", `{"status":{"id":"5a11cafe","metadata":{"attempt":0,"name":"web-0","namespace":"default","uid":"u-1"},"state":"SANDBOX_READY","createdAt":"2026-01-02T03:04:05Z","network":{"ip":"10.0.0.5"}},"info":{"pid":7}}`,
			"1 sandbox 5a11cafe ready pod=default/web-0 uid=u-1 name= in= created=2026-01-02T03:04:05\n"},
		{"docker inspect", `[{"Id":"c0ffee01","Created":"2020-01-02T03:04:05.5Z","State":{"Status":"exited","Running":false,"ExitCode":1,"StartedAt":"2020-01-02T03:04:06Z","FinishedAt":"2020-01-02T03:04:07Z"},
"Name":"/k8s_app_web-0_default_u-1_3","Config":{"Labels":{"io.kubernetes.docker.type":"container"}}},
{"Id":"5a11cafe","Created":"2020-01-02T03:04:05Z","State":{"Status":"running","Running":true,"ExitCode":0,"StartedAt":"2020-01-02T03:04:05Z","FinishedAt":"0001-01-01T00:00:00Z"},"Name":"/k8s_POD_web-0_default_u-1_0"}]`,
			`1 container c0ffee01 exited code=1 pod=default/web-0 uid=u-1 name=app in= created=2020-01-02T03:04:05.5 started=2020-01-02T03:04:06 finished=2020-01-02T03:04:07
3 sandbox 5a11cafe running pod=default/web-0 uid=u-1 name= in= created=2020-01-02T03:04:05 started=2020-01-02T03:04:05
`},
		{"docker ps json lines", `{"ID":"c0ffee01c0ff","Names":"k8s_app_web-0_default_u-1_3","Status":"Exited (137) 2 days ago","CreatedAt":"2020-01-02 03:04:05 +0000 UTC","Labels":"io.kubernetes.pod.uid=u-1,x=y"}
{"ID":"c0ffee02c0ff","Names":"redis","State":"running","Status":"Up 3 hours"}`,
			`1 container c0ffee01c0ff exited code=137 pod=default/web-0 uid=u-1 name=app in= created=2020-01-02T03:04:05
2 container c0ffee02c0ff running pod=/ uid= name=redis in=
`},
		{"podman ps json", `[{"Id":"c0ffee01","Names":["web"],"State":"exited","ExitCode":2,"Created":1767323045,"StartedAt":1767323046,"ExitedAt":1767323050,"IsInfra":false,"Labels":null}]`,
			"1 container c0ffee01 exited code=2 pod=/ uid= name=web in= created=2026-01-02T03:04:05 started=2026-01-02T03:04:06 finished=2026-01-02T03:04:10\n"},
		{"kubelet /pods", `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"web-0","namespace":"default","uid":"u-1"},
"status":{"phase":"Running","containerStatuses":[{"name":"app","containerID":"containerd://c0ffee02","state":{"running":{"startedAt":"2026-01-02T03:04:05Z"}},
"lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled","startedAt":"2026-01-02T03:00:00Z","finishedAt":"2026-01-02T03:04:00Z","containerID":"containerd://c0ffee01"}}}]}},
{"metadata":{"name":"new","namespace":"default","uid":"u-2"},"status":{"phase":"Pending","containerStatuses":[{"name":"a","state":{"waiting":{"reason":"ContainerCreating"}}}]}}]}`,
			`1 container c0ffee01 exited code=137 pod=default/web-0 uid=u-1 name=app in= started=2026-01-02T03:00:00 finished=2026-01-02T03:04:00
1 container c0ffee02 running pod=default/web-0 uid=u-1 name=app in= started=2026-01-02T03:04:05
`},
		{"half a document", `{"containers":[{"id":"c0ffee01","state":"CONTAINER_RUNNING"},
{"id":"c0ffee02","sta`,
			`1 container c0ffee01 running pod=/ uid= name= in=
1 warning JSON is not valid from here on: unexpected EOF
2 warning JSON is not valid from here on: unexpected EOF
`},
		{"no id", `{"containers":[{"state":"CONTAINER_RUNNING"}]}`, "1 warning an entry without an id; left out\n"},
		{"crictl info is no listing", `{"status":{"conditions":[{"type":"RuntimeReady","status":true}]},"config":{}}`, ""},
		{"fatal line", "WARN[0000] runtime connect using default endpoints\nFATA[0010] listing containers: rpc error: code = DeadlineExceeded desc = context deadline exceeded\n",
			"2 fact cri.failed \"FATA[0010] listing containers: rpc error: code = DeadlineExceeded desc = context deadline exceeded\" [{code DeadlineExceeded}]\n"},
		{"json after a warning", "WARN[0000] image connect using default endpoints\n{\"containers\":[]}\n", ""},
		{"json below its command", "[root@n1 ~]# crictl ps -o json\n{\"containers\":[{\"id\":\"c0ffee01\",\"state\":\"CONTAINER_RUNNING\"}]}\n",
			"2 container c0ffee01 running pod=/ uid= name= in=\n"},
		{"a table below its command", "[root@n1 ~]# crictl ps -a\nCONTAINER       IMAGE   CREATED         STATE     NAME   ATTEMPT   POD ID\nc0ffee01c0ff    abc     2 minutes ago   Running   web    0         c0ffee02c0ff\n",
			"3 container c0ffee01c0ff running pod=/ uid= name=web in=c0ffee02c0ff\n"},
		{"an indented table below messages", "  # crictl ps -a\n  WARN[0000] runtime connect using default endpoints\n  CONTAINER       IMAGE   CREATED         STATE     NAME   ATTEMPT   POD ID\n  c0ffee01c0ff    abc     2 minutes ago   Running   web    0         c0ffee02c0ff\n",
			"4 container c0ffee01c0ff running pod=/ uid= name=web in=c0ffee02c0ff\n"},
		{"anything else", "hello world\nand more\n", "1 warning not a table of containers\n"},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := dump(Decode(&parse.File{Path: "x"}, []byte(c.in))); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// table formats rows like tabwriter.
func table(rows ...[]string) string {
	width := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, s := range r {
			width[i] = max(width[i], len(s)+3)
		}
	}
	var b strings.Builder
	for _, r := range rows {
		for i, s := range r {
			fmt.Fprintf(&b, "%-*s", width[i], s)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestTables reads one container from the table columns of every crictl version.
func TestTables(t *testing.T) {
	cell := map[string]string{"CONTAINER ID": "c0ffee0123456", "CONTAINER": "c0ffee0123456", "IMAGE": "docker.io/x/very/long/image@sha256:0123",
		"CREATED": "About a minute ago", "STATE": "Exited", "NAME": "app", "ATTEMPT": "3", "POD ID": "5a11cafe01234", "POD": "web-0", "NAMESPACE": "default",
		"COMMAND": `"/bin/sh -c 'a  b'"`, "STATUS": "Exited (1) 2 hours ago", "PORTS": "", "NAMES": "k8s_app_web-0_default_u-1_3", "RUNTIME": "(default)"}
	for _, c := range []struct{ version, columns, want string }{
		{"crictl 1.11", "CONTAINER ID,IMAGE,CREATED,STATE,NAME,ATTEMPT", "container c0ffee0123456 exited pod=/ uid= name=app in="},
		{"crictl 1.13", "CONTAINER ID,IMAGE,CREATED,STATE,NAME,ATTEMPT,POD ID", "container c0ffee0123456 exited pod=/ uid= name=app in=5a11cafe01234"},
		{"crictl 1.16", "CONTAINER,IMAGE,CREATED,STATE,NAME,ATTEMPT,POD ID", "container c0ffee0123456 exited pod=/ uid= name=app in=5a11cafe01234"},
		{"crictl 1.24", "CONTAINER,IMAGE,CREATED,STATE,NAME,ATTEMPT,POD ID,POD", "container c0ffee0123456 exited pod=/web-0 uid= name=app in=5a11cafe01234"},
		{"crictl 1.32", "CONTAINER,IMAGE,CREATED,STATE,NAME,ATTEMPT,POD ID,POD,NAMESPACE", "container c0ffee0123456 exited pod=default/web-0 uid= name=app in=5a11cafe01234"},
		{"docker ps", "CONTAINER ID,IMAGE,COMMAND,CREATED,STATUS,PORTS,NAMES", "container c0ffee0123456 exited code=1 pod=default/web-0 uid=u-1 name=app in="},
	} {
		head := strings.Split(c.columns, ",")
		row := make([]string, len(head))
		for i, h := range head {
			row[i] = cell[h]
		}
		got := dump(Decode(&parse.File{Path: "x"}, []byte(table(head, row))))
		if want := "2 " + c.want + "\n"; got != want {
			t.Errorf("%s: got\n%swant\n%s", c.version, got, want)
		}
	}
	pods := table([]string{"POD ID", "CREATED", "STATE", "NAME", "NAMESPACE", "ATTEMPT", "RUNTIME"},
		[]string{"5a11cafe01234", "9 days ago", "NotReady", "web-0", "default", "0", "(default)"})
	if got, want := dump(Decode(&parse.File{Path: "x"}, []byte(pods))), "2 sandbox 5a11cafe01234 notready pod=default/web-0 uid= name= in=\n"; got != want {
		t.Errorf("pods: got\n%swant\n%s", got, want)
	}
}

// TestBehindTable: text quoted after a table and an empty line is not a row.
func TestBehindTable(t *testing.T) {
	in := "CONTAINER ID   IMAGE   COMMAND   CREATED   STATUS   PORTS   NAMES\nc0ffee012345   a       b         now       Up 2 days          x\n" +
		"```\n\n$ dmesg\n[18310.079477] Workqueue: netns cleanup_net\n"
	p := Decode(&parse.File{Path: "x"}, []byte(in))
	if got, want := dump(p), "2 container c0ffee012345 running pod=/ uid= name= in=\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestListings(t *testing.T) {
	in := "{\"time\":\"2026-01-02T03:04:05Z\",\"pods\":[]}\n\nhalf {\n{\"pods\":[],\"time\":\"2026-01-02T03:04:06Z\"}"
	p := Listings(&parse.File{Path: "x"}, []byte(in))
	var got []string
	for _, l := range p.Listings {
		got = append(got, fmt.Sprintf("%d@%d %s", l.Line, l.Offset, l.Basis))
	}
	if want := "1@0 stated, 3@43 none, 4@50 stated"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}

// FuzzDecode checks that no input panics, that positions are inside the file, and
// that records have an id and a state.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"containers":[{"id":"c0ffee01","state":"CONTAINER_RUNNING","createdAt":"1767323045000000001"}]}`))
	f.Add([]byte(`[{"Id":"c0ffee01","State":{"Status":"exited","ExitCode":1},"Name":"/k8s_POD_a_b_c_0"}]`))
	f.Add([]byte("CONTAINER           IMAGE     CREATED     STATE     NAME\nc0ffee0123456       x         now         Running   app\n"))
	f.Add([]byte("FATA[0010] rpc error: code = Unavailable desc = x\n"))
	f.Add([]byte(`{"items":[{"metadata":{"uid":"u"},"status":{"phase":"Running","containerStatuses":[{"containerID":"a://b","state":{"running":{}}}]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := Decode(&parse.File{Path: "x"}, data)
		for _, c := range p.Containers {
			if c.ID == "" || c.State == "" {
				t.Errorf("record without id or state: %+v", c)
			}
			checkPos(t, c.Pos, data)
		}
		for _, w := range p.Warnings {
			checkPos(t, w.Pos, data)
		}
		Listings(&parse.File{Path: "x"}, data)
	})
}

func checkPos(t *testing.T, p parse.Pos, data []byte) {
	t.Helper()
	if p.Offset < 0 || p.Offset > int64(len(data)) || p.Line < 1 || int(p.Line) > strings.Count(string(data), "\n")+1 {
		t.Errorf("position %v outside the file", p)
	}
}

func BenchmarkDecodeJSON(b *testing.B) {
	var s strings.Builder
	s.WriteString(`{"containers":[`)
	for i := range 5000 {
		if i > 0 {
			s.WriteString(",")
		}
		fmt.Fprintf(&s, `{"id":"%064x","podSandboxId":"%064x","metadata":{"name":"app","attempt":0},"state":"CONTAINER_RUNNING","createdAt":"1767323045000000001","labels":{"io.kubernetes.pod.uid":"u-%d"}}`, i, i, i)
	}
	s.WriteString("]}")
	data := []byte(s.String())
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if p := Decode(&parse.File{Path: "x"}, data); len(p.Containers) != 5000 {
			b.Fatal(len(p.Containers))
		}
	}
}
