package exports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

const (
	klog1 = `E0412 09:15:07.250818    4242 kubelet.go:2327] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m4.5s ago; threshold is 3m0s"`
	klog2 = `I0412 09:15:09.000001    4242 kubelet.go:2448] "SyncLoop ADD" source="api" pods=["shop/cart-0"]`
)

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(b))
}

// layOut returns the lines of an export and its detected form.
func layOut(t *testing.T, text string) ([]string, Form) {
	t.Helper()
	head := []byte(text)
	f := Detect(head)
	if f == None {
		f = DetectText(head)
	}
	out, err := io.ReadAll(NewReader(iotest.HalfReader(strings.NewReader(text)), head, f))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(out), "\n"), "\n"), f
}

// entry is the JSON line of a record.
type entry struct {
	Message   string `json:"MESSAGE"`
	Timestamp string `json:"timestamp"`
	Host      string `json:"_HOSTNAME"`
	Ident     string `json:"SYSLOG_IDENTIFIER"`
	Unit      string `json:"_SYSTEMD_UNIT"`
	PID       string `json:"_PID"`
}

func TestRecords(t *testing.T) {
	both := func(one string) string {
		return strings.ReplaceAll(one, "MSG", quoted(klog1)) + "\n" + strings.ReplaceAll(one, "MSG", quoted(klog2))
	}
	const z = "2024-04-12T09:15:08.000000000Z"
	tests := []struct {
		name, text string
		form       Form
		at         []int // lines of the records, from 0
		want       entry // the first record without its message
	}{
		{"Cloud Logging, YAML", "---\ninsertId: a1\njsonPayload:\n  MESSAGE: '" + klog1 + "'\n  SYSLOG_IDENTIFIER: kubelet\n  _HOSTNAME: node-7\n  _PID: '4242'\nlogName: projects/p/logs/kubelet\ntimestamp: '2024-04-12T09:15:08Z'\n---\ninsertId: a2\ntextPayload: '" + klog2 + "'\nlogName: projects/p/logs/kubelet\ntimestamp: '2024-04-12T09:15:09Z'\n",
			YAML, []int{3, 11}, entry{Timestamp: "2024-04-12T09:15:08Z", Host: "node-7", Ident: "kubelet", PID: "4242"}},
		{"fluentd's standard output", both("2024-04-12 11:15:08.000000000 +0200 host.kubelet: {\"message\":MSG,\"_HOSTNAME\":\"node-7\"}") + "\n",
			Tagged, []int{0, 1}, entry{Timestamp: "2024-04-12T09:15:08Z", Host: "node-7", Ident: "kubelet"}},
		{"fluentd's files", both("2024-04-12T09:15:08+00:00\tsystemd\t{\"MESSAGE\":MSG,\"_HOSTNAME\":\"node-7\",\"_PID\":\"4242\"}") + "\n",
			Tagged, []int{0, 1}, entry{Timestamp: "2024-04-12T09:15:08Z", Host: "node-7", PID: "4242"}},
		{"Cloud Logging, array", "[\n  {\n    \"jsonPayload\": {\n      \"MESSAGE\": " + quoted(klog1) + "\n    },\n    \"resource\": {\"labels\": {\"node_name\": \"node-7\"}},\n    \"timestamp\": \"2024-04-12T09:15:08Z\",\n    \"logName\": \"projects/p/logs/kubelet\"\n  },\n  {\"textPayload\": " + quoted(klog2) + ", \"timestamp\": \"2024-04-12T09:15:09Z\"}\n]\n",
			JSON, []int{3, 9}, entry{Timestamp: "2024-04-12T09:15:08Z", Host: "node-7", Ident: "kubelet"}},
		{"Loki, streams", `{"status":"success","data":{"resultType":"streams","result":[{"stream":{"hostname":"node-7","unit":"kubelet.service"},"values":[["1712913308000000000",` + quoted(klog1) + `],["1712913309000000000",` + quoted(klog2) + `]]}]}}`,
			JSON, []int{0, 1}, entry{Timestamp: z, Host: "node-7", Unit: "kubelet.service"}},
		{"Grafana, JSON", `[{"line":` + quoted(klog1) + `,"timestamp":"1712913308000000000","date":"x","fields":{"hostname":"node-7"}},{"line":` + quoted(klog2) + `,"timestamp":"1712913309000000000"}]`,
			JSON, []int{0, 1}, entry{Timestamp: z, Host: "node-7"}},
		{"Elasticsearch, hits", `{"took":3,"hits":{"total":{"value":2},"hits":[{"_id":"1","_source":{"@timestamp":"2024-04-12T09:15:08.000Z","message":` + quoted(klog1) + `,"host":{"name":"node-7"},"systemd":{"unit":"kubelet.service"}}},{"_id":"2","_source":{"@timestamp":"2024-04-12T09:15:09.000Z","message":` + quoted(klog2) + `}}]}}`,
			JSON, []int{0, 1}, entry{Timestamp: "2024-04-12T09:15:08Z", Host: "node-7", Unit: "kubelet.service"}},
		{"Elasticsearch, lines", both(`{"_index":"x","_source":{"@timestamp":"2024-04-12T09:15:08.000Z","message":MSG,"host":{"name":"node-7"}}}`),
			JSON, []int{0, 1}, entry{Timestamp: "2024-04-12T09:15:08Z", Host: "node-7"}},
		{"CloudWatch, events", `{"events":[{"timestamp":1712913308000,"message":` + quoted(`{"hostname":"node-7","systemd_unit":"kubelet.service","message":`+quoted(klog1)+`}`) + `,"ingestionTime":1712913310000},{"timestamp":1712913309000,"message":` + quoted(klog2) + `}],"nextForwardToken":"f/3"}`,
			JSON, []int{0, 1}, entry{Timestamp: z, Host: "node-7", Unit: "kubelet.service"}},
		{"CloudWatch, Insights", `{"results":[[{"field":"@timestamp","value":"2024-04-12 09:15:08.000"},{"field":"@message","value":` + quoted(klog1) + `}],[{"field":"@timestamp","value":"2024-04-12 09:15:09.000"},{"field":"@message","value":` + quoted(klog2) + `}]]}`,
			JSON, []int{0, 1}, entry{Timestamp: "2024-04-12T09:15:08Z"}},
		{"Splunk, JSON", both(`{"preview":false,"result":{"_raw":MSG,"_time":"2024-04-12T09:15:08.000+00:00","host":"node-7"}}`),
			JSON, []int{0, 1}, entry{Timestamp: "2024-04-12T09:15:08Z", Host: "node-7"}},
		{"Datadog, JSON", `{"data":[{"id":"A","attributes":{"timestamp":"2024-04-12T09:15:08.000Z","host":"node-7","service":"kubelet","message":` + quoted(klog1) + `}},{"id":"B","attributes":{"timestamp":"2024-04-12T09:15:09.000Z","message":` + quoted(klog2) + `}}]}`,
			JSON, []int{0, 1}, entry{Timestamp: "2024-04-12T09:15:08Z", Host: "node-7", Ident: "kubelet"}},
		{"Azure Monitor, tables", `{"tables":[{"name":"PrimaryResult","columns":[{"name":"TimeGenerated","type":"datetime"},{"name":"Computer","type":"string"},{"name":"SyslogMessage","type":"string"}],"rows":[["2024-04-12T09:15:08Z","node-7",` + quoted(klog1) + `],["2024-04-12T09:15:09Z","node-7",` + quoted(klog2) + `]]}]}`,
			JSON, []int{0, 1}, entry{Timestamp: "2024-04-12T09:15:08Z", Host: "node-7"}},
		{"OpenTelemetry", `{"resourceLogs":[{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"node-7"}}]},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1712913308000000000","body":{"stringValue":` + quoted(klog1) + `}},{"timeUnixNano":"1712913309000000000","body":{"stringValue":` + quoted(klog2) + `}}]}]}]}`,
			JSON, []int{0, 1}, entry{Timestamp: z, Host: "node-7"}},
		{"journalctl, array", `[{"MESSAGE":` + quoted(klog1) + `,"_HOSTNAME":"node-7","SYSLOG_IDENTIFIER":"kubelet","__REALTIME_TIMESTAMP":"1712913308000000"},{"MESSAGE":` + quoted(klog2) + `,"_HOSTNAME":"node-7","__REALTIME_TIMESTAMP":"1712913309000000"}]`,
			JSON, []int{0, 1}, entry{Timestamp: z, Host: "node-7", Ident: "kubelet"}},
		{"output of a command", `{"node":"node-7","stdout":` + quoted(klog1+"\n"+klog2+"\n") + `}`, JSON, []int{0, 1}, entry{Host: "node-7"}},
		{"a command on a VM", `{"value":[{"code":"c","message":` + quoted("Apr 12 09:15:07 node-7 kubelet[4242]: "+klog1+"\nApr 12 09:15:09 node-7 kubelet[4242]: "+klog2+"\n") + `,"time":null}]}`, JSON, []int{0, 1}, entry{Host: "node-7", Ident: "kubelet", PID: "4242"}},
		{"CloudWatch, CSV", "@timestamp,@message\n2024-04-12 09:15:08.000," + cell(klog1) + "\n2024-04-12 09:15:09.000," + cell(klog2) + "\n", CSV, []int{1, 2}, entry{Timestamp: "2024-04-12T09:15:08Z"}},
		{"Azure Monitor, CSV", "\ufeff\"TimeGenerated [UTC]\",Computer,SyslogMessage,ProcessName\r\n\"4/12/2024, 9:15:08.000 AM\",node-7," + cell(klog1) + ",kubelet\r\n\"4/12/2024, 9:15:09.000 AM\",node-7," + cell(klog2) + ",kubelet\r\n", CSV, []int{1, 2}, entry{Timestamp: "2024-04-12T09:15:08Z", Host: "node-7", Ident: "kubelet"}},
		{"Kibana, CSV", "\"@timestamp\",\"host.name\",message\n\"Apr 12, 2024 @ 09:15:08.000\",node-7," + cell(klog1) + "\n\"Apr 12, 2024 @ 09:15:09.000\",node-7," + cell(klog2) + "\n", CSV, []int{1, 2}, entry{Timestamp: "2024-04-12T09:15:08", Host: "node-7"}},
		{"Splunk, CSV of journal lines", "_raw,_time,host\n" + cell("Apr 12 09:15:07 node-7 kubelet[4242]: "+klog1) + ",2024-04-12T09:15:07.000+0000,collector\n" + cell("Apr 12 09:15:09 node-7 kubelet[4242]: "+klog2) + ",2024-04-12T09:15:09.000+0000,collector\n", CSV, []int{1, 2}, entry{Timestamp: "2024-04-12T09:15:07Z", Host: "node-7", Ident: "kubelet", PID: "4242"}},
		{"CSV, cells of several lines", "time;note;message\n2024-04-12T09:15:08Z;\"a\nb\";" + cell(klog1) + "\n2024-04-12T09:15:09Z;c;" + cell(klog2) + "\n", CSV, []int{2, 3}, entry{Timestamp: "2024-04-12T09:15:08Z"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines, form := layOut(t, tt.text)
			if form != tt.form {
				t.Fatalf("form %d, want %d", form, tt.form)
			}
			var at []int
			var got []entry
			for i, l := range lines {
				if l != "" {
					var e entry
					if err := json.Unmarshal([]byte(l), &e); err != nil {
						t.Fatalf("line %d %q: %v", i, l, err)
					}
					at, got = append(at, i), append(got, e)
				}
			}
			if fmt.Sprint(at) != fmt.Sprint(tt.at) {
				t.Fatalf("records on lines %v, want %v", at, tt.at)
			}
			if got[0].Message != klog1 || got[1].Message != klog2 {
				t.Errorf("messages %q and %q", got[0].Message, got[1].Message)
			}
			got[0].Message = ""
			if got[0] != tt.want {
				t.Errorf("got %+v, want %+v", got[0], tt.want)
			}
		})
	}
}

func cell(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// TestNoExports: input that package journal reads, or that is not a log, is
// rejected.
func TestNoExports(t *testing.T) {
	for name, text := range map[string]string{
		"journalctl -o json":  `{"MESSAGE":` + quoted(klog1) + `,"__REALTIME_TIMESTAMP":"1712913308000000","_HOSTNAME":"node-7"}`,
		"docker":              `{"log":` + quoted(klog1+"\n") + `,"stream":"stderr","time":"2024-04-12T09:15:08Z"}`,
		"klog JSON":           `{"ts":1712913308000.25,"caller":"kubelet/kubelet.go:2327","msg":"Skipping pod synchronization","err":"x"}`,
		"Kubernetes events":   `{"apiVersion":"v1","items":[{"involvedObject":{"kind":"Node"},"message":"m","reason":"r","lastTimestamp":"2024-04-12T09:15:08Z","kind":"Event"}],"kind":"List"}`,
		"a node in YAML":      "apiVersion: v1\nkind: Node\nstatus:\n  conditions:\n  - message: x\n    lastHeartbeatTimestamp: y\n",
		"containers":          `{"containers":[{"id":"a","podSandboxId":"b","createdAt":"1712913308000000000"}]}`,
		"metrics":             `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"node":"a"},"values":[[1712913308,"1"],[1712913323,"2"]]}]}}`,
		"a journal":           "Apr 12 09:15:07 node-7 kubelet[4242]: " + klog1 + "\nApr 12 09:15:09 node-7 kubelet[4242]: " + klog2 + "\n",
		"JSON in a journal":   `Apr 12 09:15:07 node-7 k3s[4242]: {"level":"warn","ts":"2024-04-12T11:15:07.250+0200","caller":"wal/wal.go:806","msg":"slow fdatasync"}` + "\n" + `Apr 12 09:15:09 node-7 k3s[4242]: {"level":"warn","ts":"2024-04-12T11:15:09.000+0200","caller":"wal/wal.go:806","msg":"slow fdatasync"}` + "\n",
		"klog":                klog1 + "\n" + klog2 + "\n",
		"docker logs -t":      "2024-04-12T09:15:07.250918Z " + klog1 + "\n2024-04-12T09:15:09.000101Z " + klog2 + "\n",
		"container log":       "2024-04-12T09:15:07.250918Z stderr F " + klog1 + "\n2024-04-12T09:15:09.000101Z stderr F " + klog2 + "\n",
		"MicroShift":          "Apr 12 09:15:07 node-7 microshift[4242]: kubelet " + klog1 + "\nApr 12 09:15:07 node-7 microshift[4242]: kubelet " + klog2 + "\n",
		"Windows events, CSV": "\"TimeCreated\",\"Message\"\n\"4/12/2024 9:15:08 AM\",\"x\"\n",
		"prose":               "The node went away.\nThen it came back, and \"all\" was well.\n",
		"metrics, text":       "# HELP a b\n# TYPE a gauge\na{b=\"c\"} 1\n",
	} {
		if _, f := layOut(t, text); f != None {
			t.Errorf("%s: form %d", name, f)
		}
	}
}

// TestLoggersJSON: a logger's own JSON after a timestamp is not a fluentd record,
// of which only the message would be kept.
func TestLoggersJSON(t *testing.T) {
	if form := Detect([]byte(`2024-04-12T09:15:07Z kubelet: {"ts":1712913308000.25,"caller":"kubelet/kubelet.go:2327","msg":"Skipping pod synchronization","err":"x"}` + "\n")); form != None {
		t.Errorf("form %d", form)
	}
}

func TestDress(t *testing.T) {
	journal := []string{"Apr 12 09:15:07 node-7 kubelet[4242]: " + klog1, "Apr 12 09:15:09 node-7 kubelet[4242]: " + klog2}
	klog := []string{klog1, klog2}
	each := func(lines []string, f func(string) string) string {
		var b strings.Builder
		for _, l := range lines {
			b.WriteString(f(l) + "\n")
		}
		return b.String()
	}
	put := func(prefix string) func(string) string { return func(l string) string { return prefix + l } }
	n := 0
	number := func(l string) string { n++; return fmt.Sprintf("%d:%s", n, l) }
	html := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;")
	tests := []struct {
		name, text string
		want       []string
	}{
		{"colours", each(klog, func(l string) string { return "\x1b[01;31m\x1b[K" + l[:20] + "\x1b[m\x1b[K" + l[20:] }), klog},
		{"a box", each(journal, func(l string) string { return "\u2502" + l + "     \u2502" }), journal},
		{"a message to all terminals", "\nMessage from syslogd@node-7 at Apr 12 09:15:08 ...\n kernel:NMI watchdog: BUG: soft lockup\n\nMessage from syslogd@node-7 at Apr 12 09:15:28 ...\nkernel:[  77.123456] hello\nkernel:hello\n",
			[]string{"", "", "Apr 12 09:15:08 node-7 kernel: NMI watchdog: BUG: soft lockup", "", "", "Apr 12 09:15:28 node-7 kernel: [  77.123456] hello", "kernel:hello"}},
		{"grep -n", each(klog, number), klog},
		{"grep -H", each(journal, put("logs/node-7/kubelet.log:")), journal},
		{"stern", each(klog, put("kubelet-x main ")), klog},
		{"stern, coloured", each(klog, put("\x1b[35mkubelet-x\x1b[0m \x1b[35mmain\x1b[0m ")), klog},
		{"kail", each(klog, put("kube-system/kubelet-x[main]: ")), klog},
		{"kubectl logs --prefix", each(klog, put("[pod/kubelet-x/main] ")), klog},
		{"compose", each(klog, put("kubelet_1  | ")), klog},
		{"numbers", each(klog, put("    12\t")), klog},
		{"a list of strings", each(klog, func(l string) string { return "        " + quoted(l) + "," }), klog},
		{"a page", "<html><body><pre>\n" + each(journal, html.Replace) + "</pre></body></html>\n", append(append([]string{"", ""}[:1], journal...), "")[0:3]},
		{"entities", each(journal, html.Replace), journal},
		{"printed by CI", each(journal, put("2024-04-12T10:00:01.1234567Z ")), []string{"2024-04-12T10:00:01.1234567Z node-7 kubelet[4242]: " + klog1, "2024-04-12T10:00:01.1234567Z node-7 kubelet[4242]: " + klog2}},
		{"stamps of a service", each(klog, put("2024-04-12T09:15:09.5Z\t")), []string{"2024-04-12T09:15:09.5Z " + klog1, "2024-04-12T09:15:09.5Z " + klog2}},
		{"typeset", each(klog, strings.NewReplacer("    ", "\u00a0\u00a0\u00a0 ", ` "`, " \u201c").Replace), klog},
		{"the insides of strings", each(klog, func(l string) string { s := quoted(l); return s[1 : len(s)-1] }), klog},
		{"Markdown", each(klog, strings.NewReplacer("[", `\[`, "]", `\]`, "_", `\_`).Replace), klog},
		{"k0s", each(klog, func(l string) string {
			return `time="2024-04-12 09:15:09" level=info msg=` + quoted(l) + ` component=kubelet stream=stderr`
		}), []string{"2024-04-12 09:15:09 k0s/kubelet: " + klog1, "2024-04-12 09:15:09 k0s/kubelet: " + klog2}},
		{"k0s in a journal", each(klog, func(l string) string {
			return `Apr 12 09:15:09 node-7 k0s[77]: time="2024-04-12 09:15:09" level=info msg=` + quoted(l) + ` component=kubelet stream=stderr`
		}), []string{"Apr 12 09:15:09 node-7 k0s/kubelet: " + klog1, "Apr 12 09:15:09 node-7 k0s/kubelet: " + klog2}},
		{"k0s, cut", each(klog, func(l string) string {
			q := quoted(l)
			return `Apr 12 09:15:09 node-7 k0s[77]: time="2024-04-12 09:15:09" level=info msg=` + q[:len(q)-2] + `\`
		}), []string{"Apr 12 09:15:09 node-7 k0s: " + klog1[:len(klog1)-1], "Apr 12 09:15:09 node-7 k0s: " + klog2[:len(klog2)-1]}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines, form := layOut(t, tt.text)
			if form != Text {
				t.Fatalf("form %d", form)
			}
			for i, want := range tt.want {
				if i >= len(lines) || strings.TrimSpace(lines[i]) != want {
					t.Errorf("line %d: %q, want %q", i, lines[i], want)
				}
			}
		})
	}
}

// TestPrinted: timestamps of the printing are stripped if lines that span minutes
// were printed at once.
func TestPrinted(t *testing.T) {
	var in, want strings.Builder
	for i := range 20 {
		l := fmt.Sprintf(`I0412 09:%02d:07.250818    4242 kubelet.go:2448] "SyncLoop ADD" source="api"`, i)
		in.WriteString("2024-04-12T10:00:01.1234567Z " + l + "\n")
		want.WriteString(l + "\n")
	}
	if lines, _ := layOut(t, in.String()); strings.Join(lines, "\n")+"\n" != want.String() {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
}

// TestWrapped: lines wrapped by a terminal are joined at their first line.
func TestWrapped(t *testing.T) {
	const width = 80
	var in strings.Builder
	lines := []string{"Apr 12 09:15:07 node-7 kubelet[4242]: " + klog1, "Apr 12 09:15:09 node-7 kubelet[4242]: " + klog2, "Apr 12 09:15:10 node-7 kubelet[4242]: " + klog1}
	for _, l := range lines {
		for ; len(l) > width; l = l[width:] {
			in.WriteString(l[:width] + "\n")
		}
		in.WriteString(l + "\n")
	}
	got, form := layOut(t, in.String())
	if form != Text {
		t.Fatalf("form %d", form)
	}
	var full []string
	for _, l := range got {
		if l != "" {
			full = append(full, l)
		}
	}
	if strings.Join(full, "\n") != strings.Join(lines, "\n") {
		t.Errorf("got\n%s", strings.Join(full, "\n"))
	}
	if n := strings.Count(in.String(), "\n") - len(strings.Split(lines[2], "\n")); len(got) > n {
		t.Errorf("%d lines", len(got))
	}
}

// TestErrors: a read error is returned after the lines.
func TestErrors(t *testing.T) {
	broken := errors.New("cut")
	head := []byte("[" + `{"textPayload":"a line","timestamp":"2024-04-12T09:15:08Z"},`)
	for f := None; f <= Text; f++ {
		if _, err := io.ReadAll(NewReader(io.MultiReader(bytes.NewReader(head), iotest.ErrReader(broken)), head, f)); !errors.Is(err, broken) {
			t.Errorf("form %d: %v", f, err)
		}
	}
}

// FuzzReader: no input makes a Reader panic, hang, or output much more than it
// read.
func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"a":[[[{"message":"x","time":"2024-04-12T09:15:08Z"}]]]}`))
	f.Add([]byte("a,message,time\n\"x\n\n"))
	f.Add([]byte("---\ntimestamp: &a b\nmessage: *a\n---\n- "))
	f.Add([]byte("\x1b[31mI0412 09:15:07.250818    4242 a.go:1] x\n&quot;<a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		begin := time.Now()
		defer func() {
			if d := time.Since(begin); d > 5*time.Second {
				t.Fatalf("%v for %d bytes", d, len(data))
			}
		}()
		Detect(data)
		DetectText(data)
		for form := None; form <= Text; form++ {
			out, err := io.ReadAll(NewReader(bytes.NewReader(data), data, form))
			if err != nil {
				t.Fatal(err)
			}
			if len(out) > 12*len(data)+4096 {
				t.Fatalf("form %d: %d bytes of %d", form, len(out), len(data))
			}
		}
	})
}
