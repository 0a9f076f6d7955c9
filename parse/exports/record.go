package exports

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/parse/journal"
)

// record is one log line of an export.
type record struct {
	message, time, host, ident, unit, pid, boot string
	utc                                         bool // a time without a zone is UTC
	line                                        int  // line of the message within the record, from 0
	broken                                      bool // line breaks in the message are also line breaks of the export
}

// names are the names that services use for a part of a record, in order of
// preference: lower case, nested names joined by dots.
type names []string

var (
	messageNames = names{"message", "_raw", "@message", "syslogmessage", "logmessage", "logentry", "textpayload", "short_message",
		"line", "logline", "log_line", "log", "body.stringvalue", "body", "event.original", "content", "raw", "text", "standardoutputcontent", "stdout", "msg"}
	timeNames = names{"_source_realtime_timestamp", "__realtime_timestamp", "@timestamp", "_time", "timenano", "timeunixnano", "tsns", "timestamp_ns",
		"timestamp", "timegenerated", "timecreated", "time", "ts", "datetime", "date_time", "date", "_messagetime", "_messagetimems",
		"eventtime", "timereported", "observedtimeunixnano", "receivetimestamp", "ingestiontime"}
	hostNames = names{"_hostname", "kubernetes.node.name", "kubernetes.node_name", "node_name", "nodename", "k8s.node.name", "host.name",
		"host.hostname", "hostname", "kubernetes.host", "host", "computer", "_sourcehost", "node", "resource.labels.node_name", "labels.node_name",
		"agent.hostname", "beat.hostname", "machinename"}
	identNames = names{"syslog_identifier", "syslog.identifier", "log.syslog.appname", "systemd.u.syslog_identifier", "process.name", "processname",
		"program", "programname", "app_name", "appname", "identifier", "_comm", "service.name", "service", "providername"}
	unitNames = names{"_systemd_unit", "systemd.unit", "systemd_unit", "systemd.t.systemd_unit", "unit", "__journal__systemd_unit"}
	pidNames  = names{"_pid", "process.pid", "processid", "procid", "systemd.t.pid", "pid"}
	bootNames = names{"_boot_id", "systemd.t.boot_id"}
)

// wrappers are members that merely wrap a record: their members count as members of
// the record.
var wrappers = []string{"_source.", "result.", "attributes.", "fields.", "jsonpayload.", "labels.", "stream.", "metadata.", "data.", "journald.custom.", "journald.", "attribs."}

// parts are the members of a record by joined name.
type parts map[string]string

// put stores a value under its name, and under the name without wrappers. The first
// value of a name wins.
func (p parts) put(name, value string) {
	name = strings.ToLower(name)
	if value == "" {
		return
	}
	for range 3 {
		if _, ok := p[name]; !ok {
			p[name] = value
		}
		inner := name
		for _, w := range wrappers {
			if inner = strings.TrimPrefix(name, w); inner != name {
				break
			}
		}
		if inner == name {
			return
		}
		name = inner
	}
}

func (p parts) first(n names) (value, name string) {
	for _, name := range n {
		if v, ok := p[name]; ok {
			return v, name
		}
	}
	return "", ""
}

// foreign are members of documents that have messages and times but are not logs:
// Kubernetes objects and events, alerts.
var foreign = []string{"apiversion", "kind", "involvedobject.kind", "involvedobject.name", "startsat", "reason"}

// record builds a record. ok is false if it is not a log record: it needs a
// message, and a time, a source or the form of a log line.
func (p parts) record() (r record, ok bool) {
	for _, f := range foreign {
		if _, is := p[f]; is {
			return r, false
		}
	}
	var named, timed string
	r.message, named = p.first(messageNames)
	r.time, timed = p.first(timeNames)
	r.utc = timed == "@timestamp" && named == "@message" // CloudWatch
	r.host, _ = p.first(hostNames)
	r.ident, _ = p.first(identNames)
	r.unit, _ = p.first(unitNames)
	r.pid, _ = p.first(pidNames)
	r.boot, _ = p.first(bootNames)
	if r.ident == "" {
		r.ident = logIdent(p["logname"])
	}
	if strings.ContainsAny(r.host, "{[ \n") {
		r.host = ""
	}
	r.unwrap()
	return r, strings.TrimSpace(r.message) != "" && (r.time != "" || r.unit != "" || r.ident != "" || len(r.lines()) > 1 || isLogLine(r.message))
}

// lines returns the log lines in a message, if it contains several because it is
// the output of a command or a chunk of a log; nil otherwise.
func (r *record) lines() []string {
	if strings.IndexByte(r.message, '\n') < 0 {
		return nil
	}
	lines := strings.Split(strings.TrimRight(r.message, "\n"), "\n")
	for _, l := range lines[1:] {
		if isLogLine(l) {
			return lines
		}
	}
	return nil
}

// isLogLine recognizes klog and syslog lines by shape.
func isLogLine(l string) bool {
	if len(l) < 30 {
		return false
	}
	klog := strings.IndexByte("IWEF", l[0]) >= 0 && l[5] == ' ' && l[8] == ':' && l[11] == ':' && l[14] == '.'
	short := l[3] == ' ' && l[6] == ' ' && l[9] == ':' && l[12] == ':' && l[15] == ' '
	return klog || short
}

// logIdent returns the last part of a Cloud Logging log name.
func logIdent(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// unwrap parses a message that is itself a record in JSON, as shipped by agents
// that read the journal. JSON of klog is left unchanged.
func (r *record) unwrap() {
	if !strings.HasPrefix(r.message, "{") || !strings.HasSuffix(strings.TrimSpace(r.message), "}") || len(r.message) > maxRecord {
		return
	}
	inner, ok := object([]byte(r.message))
	if !ok || inner["msg"] != "" {
		return
	}
	message, _ := inner.first(messageNames)
	if message == "" {
		return
	}
	r.message = message
	for _, part := range []struct {
		to   *string
		from names
	}{{&r.host, hostNames}, {&r.ident, identNames}, {&r.unit, unitNames}, {&r.pid, pidNames}, {&r.boot, bootNames}} {
		if v, _ := inner.first(part.from); v != "" {
			*part.to = v
		}
	}
	if v, name := inner.first(timeNames); v != "" && name != "date" && stamp(v, false) != "" {
		r.time = v
	}
}

// maxDepth is the maximum depth of members within a record.
const maxDepth = 5

// object parses a JSON object into its members.
func object(raw []byte) (parts, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v map[string]any
	if d.Decode(&v) != nil {
		return nil, false
	}
	p := parts{}
	p.object("", v, 0)
	return p, true
}

func (p parts) object(prefix string, v map[string]any, depth int) {
	if depth > maxDepth {
		return
	}
	var inner []string
	for name, value := range v {
		if _, ok := value.(map[string]any); ok {
			inner = append(inner, name)
		} else if s, ok := scalar(value); ok {
			p.put(prefix+name, s)
		}
	}
	// Members outside wrappers take precedence, whatever their order.
	order(inner)
	for _, name := range inner {
		p.object(prefix+name+".", v[name].(map[string]any), depth+1)
	}
	p.pairs(prefix, v)
}

// pairs parses OpenTelemetry attributes: [{"key":…,"value":{"stringValue":…}}].
func (p parts) pairs(prefix string, v map[string]any) {
	list, _ := v["attributes"].([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		key, _ := m["key"].(string)
		value, _ := m["value"].(map[string]any)
		if s, ok := scalar(value["stringValue"]); ok && key != "" {
			p.put(prefix+key, s)
			p.put(key, s)
		}
	}
}

func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

// appendLine appends the record as a JSON line. The message comes first, so that it
// is visible in truncated quotes.
func (r *record) appendLine(b []byte, q *quoter) []byte {
	b = append(b, journal.LaidHead[:len(journal.LaidHead)-1]...)
	b = q.append(b, strings.TrimRight(r.message, "\r\n"))
	b = append(b, journal.LaidTail[1:]...)
	b = q.append(b, stamp(r.time, r.utc))
	pid := r.pid
	if _, err := strconv.ParseUint(pid, 10, 31); err != nil {
		pid = ""
	}
	for _, m := range [...]struct{ name, value string }{
		{"_HOSTNAME", r.host}, {"SYSLOG_IDENTIFIER", r.ident}, {"_SYSTEMD_UNIT", r.unit}, {"_PID", pid}, {"_BOOT_ID", r.boot},
	} {
		if m.value != "" && len(m.value) <= maxName {
			b = append(append(append(b, `,"`...), m.name...), `":`...)
			b = q.append(b, m.value)
		}
	}
	return append(b, "}\n"...)
}

// maxName bounds names of hosts and programs, in bytes.
const maxName = 256

// quoter writes JSON strings.
type quoter struct {
	text bytes.Buffer
	to   *json.Encoder // text
}

func (q *quoter) append(b []byte, s string) []byte {
	if q.to == nil {
		q.to = json.NewEncoder(&q.text)
		q.to.SetEscapeHTML(false)
	}
	q.text.Reset()
	if q.to.Encode(s) != nil {
		return append(b, `""`...)
	}
	return append(b, bytes.TrimRight(q.text.Bytes(), "\n")...)
}
