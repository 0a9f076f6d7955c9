package facts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Kinds of parse.Object that this package produces, with the names of their fields.
// A field is present only if the object states it.
const (
	// Node: kubelet_version, runtime (as in containerRuntimeVersion:
	// "containerd://1.7.2"), os, kernel, boot_id, machine_id, max_pods,
	// unschedulable, created; of a row of a table also listed, its status, which has no
	// time. Stamp is the newest heartbeat.
	ObjectNode = "Node"
	// NodeCondition: type, status, reason, message, heartbeat, transition. One
	// object for each condition, at the line of its message. Stamp is the
	// transition.
	ObjectCondition = "NodeCondition"
	// Pod: node, phase, reason, message, started, deleted, qos, ready, waiting
	// (reasons of waiting containers joined by blanks), restarts, containers,
	// runtime_class. Stamp is the start.
	ObjectPod = "Pod"
	// Event: type, reason, message, count, first, last, component, host,
	// involved_kind, involved_namespace, involved_name, involved_uid. Stamp is
	// the last occurrence.
	ObjectEvent = "Event"
)

func isObjectsJSON(_, head string) bool {
	t := strings.TrimLeft(head, " \t\r\n\ufeff")
	return (strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[")) &&
		(strings.Contains(head, `"apiVersion"`) && strings.Contains(head, `"kind"`) || strings.Contains(head, `"items"`) || strings.Contains(head, `"involvedObject"`) || strings.Contains(head, `"metadata"`))
}

func isObjectsYAML(_, head string) bool {
	for line := range strings.Lines(head) {
		if strings.HasPrefix(line, "apiVersion:") || strings.HasPrefix(line, "items:") || strings.HasPrefix(line, "kind:") ||
			strings.HasPrefix(line, "- apiVersion:") {
			return true
		}
	}
	return isStatusYAML(head)
}

// isStatusYAML recognizes the status of a node without what stands above it: only nodes have heartbeats.
func isStatusYAML(head string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(head, " \r\n"), "\n")
	first = strings.TrimSpace(first)
	return (first == "conditions:" || first == "status:") && strings.Contains(head, "lastHeartbeatTime: ")
}

// objectsJSON reads Kubernetes objects in JSON: one, a list, an array, or one per
// line. The wrapper of a collector's watch ({"event": {…}}) is removed.
func (s *scan) objectsJSON() {
	data := bytes.TrimPrefix(s.data, []byte("\ufeff"))
	skip := len(s.data) - len(data)
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		var raw json.RawMessage
		err := d.Decode(&raw)
		end := int(d.InputOffset())
		if err != nil {
			if d.More() || end < len(bytes.TrimSpace(data)) {
				s.cutJSON(data, skip, end)
			}
			return
		}
		if s.jsonValue(raw, skip+end-len(raw)); s.items > maxItems {
			return
		}
		if len(s.part.Objects) >= maxObjects {
			s.warn("more than " + strconv.Itoa(maxObjects) + " objects in one file, the rest is left out")
			return
		}
	}
}

// cutJSON reads the complete items of a truncated list.
func (s *scan) cutJSON(data []byte, skip, from int) {
	s.seek(skip + from)
	s.warn("JSON ends early or is broken; only whole items before that are used")
	s.listItems(data[min(from, len(data)):], skip+from)
}

// jsonValue reads an object, a list of objects, or an array of objects.
func (s *scan) jsonValue(raw []byte, at int) {
	head := string(raw[:min(len(raw), 400)])
	if raw[0] == '[' || strings.Contains(head, `List"`) || strings.Contains(head, `"items"`) {
		if s.listItems(raw, at) {
			return
		}
	}
	s.jsonItem(raw, at)
}

// listItems reads the items of a list one by one, so that the whole list is never
// decoded at once. It reports whether raw is a list.
func (s *scan) listItems(raw []byte, at int) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	tok, err := d.Token()
	if err != nil {
		return false
	}
	if tok == json.Delim('{') && (!bytes.Contains(raw, []byte(`"items"`)) || !toItems(d)) {
		return false
	}
	for d.More() && len(s.part.Objects) < maxObjects && s.items <= maxItems {
		var item json.RawMessage
		if d.Decode(&item) != nil {
			break
		}
		s.jsonItem(item, at+int(d.InputOffset())-len(item))
	}
	return true
}

// toItems advances d into the array "items" of an object.
func toItems(d *json.Decoder) bool {
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return false
		}
		if name == "items" {
			tok, err := d.Token()
			return err == nil && tok == json.Delim('[')
		}
		var skip json.RawMessage
		if d.Decode(&skip) != nil {
			return false
		}
	}
	return false
}

func (s *scan) jsonItem(raw []byte, at int) {
	if len(raw) == 0 || raw[0] != '{' {
		return
	}
	if !s.affords() {
		return
	}
	s.seek(at + 1)
	s.item = at
	t, err := jsonTree(raw)
	if err != nil {
		s.warn("object cannot be read: " + err.Error())
		return
	}
	if e := t.child("event"); e != nil && e.child("involvedObject") != nil {
		t = e
	}
	s.object(t, raw)
}

// maxItems is how many items of lists and documents of one file are decoded, objects or not: each costs microseconds.
const maxItems = 300000

// affords counts an item that is about to be decoded, and reports whether it is one of the first maxItems.
func (s *scan) affords() bool {
	if s.items++; s.items == maxItems+1 {
		s.warn("more than " + strconv.Itoa(maxItems) + " items in one file, the rest is left out")
	}
	return s.items <= maxItems
}

// objectsYAML reads Kubernetes objects in YAML: documents and lists. Items are
// split by their indentation and decoded one by one.
func (s *scan) objectsYAML() {
	start, row, lines := 0, uint32(1), 0
	list, indent := false, ""
	flush := func(end int) {
		chunk := s.data[start:end]
		if lines > 0 && len(bytes.TrimSpace(chunk)) > 0 {
			s.yamlItem(chunk, start, row)
		}
		lines = 0
	}
	for s.advance() {
		dash := strings.TrimLeft(s.line, " ")
		switch {
		case strings.HasPrefix(s.line, "---"):
			flush(s.at)
			start, row, list = s.next, s.row+1, false
			continue
		case s.line == "items:":
			start, row, list, indent, lines = s.next, s.row+1, true, "", 0
			continue
		case list && strings.HasPrefix(dash, "- ") && (indent == "" || len(s.line)-len(dash) == len(indent)-1):
			flush(s.at)
			start, row = s.at, s.row
			indent = s.line[:len(s.line)-len(dash)] + "-"
		case list && s.line != "" && s.line[0] != ' ' && s.line[0] != '-':
			flush(s.at)
			start, row, list = s.next, s.row+1, false
			continue
		}
		lines++
	}
	flush(len(s.data))
}

// Bounds on nested lists and on the conditions of a node. Real ones are short;
// locating their lines costs one pass each.
const (
	maxNested     = 200
	maxConditions = 100
)

// maxYAML is the maximum size in bytes of a YAML document; larger ones would cost
// too much memory.
const maxYAML = 4 << 20

func (s *scan) yamlItem(chunk []byte, at int, row uint32) {
	keep := *s
	defer func() { s.at, s.next, s.row, s.line = keep.at, keep.next, keep.row, keep.line }()
	s.at, s.next, s.row, s.item = at, at, row-1, at
	s.advance()
	if len(chunk) > maxYAML || len(s.part.Objects) >= maxObjects {
		s.warn("document is too large and is left out")
		return
	}
	if !s.affords() {
		return
	}
	t, err := yamlTree(chunk)
	if err != nil {
		s.warn("document cannot be read: " + err.Error())
		return
	}
	if t.list && len(t.kids) == 1 {
		t = t.kids[0]
	}
	nested := t.get("items").items()
	if len(nested) > maxNested {
		s.warn("list inside a document holds too many items, the rest is left out")
		nested = nested[:maxNested]
	}
	for _, item := range append(nested[:len(nested):len(nested)], t) {
		s.object(item, chunk)
	}
}

// object adds what one Kubernetes object states. The current line is its first.
func (s *scan) object(t *tree, text []byte) {
	if beats(t.get("conditions")) { // the key of the status was cut off
		t = &tree{line: t.line, names: []string{"status"}, kids: []*tree{t}}
	}
	switch kind := t.get("kind").value; {
	case kind == "Node" || kind == "" && (t.get("status").child("nodeInfo") != nil || beats(t.get("status", "conditions"))):
		s.node(t, text)
	case t.child("involvedObject") != nil || kind == "Event":
		s.event(t, text)
	case kind == "Pod" || kind == "" && t.get("spec").child("containers") != nil:
		s.pod(t, text)
	case kind == "KubeletConfiguration" || kind == "ConfigMap" && strings.Contains(t.get("metadata", "name").value, "kubelet-config"):
		s.embeddedConfig(t)
	}
}

// beats reports whether conditions have heartbeats, as only those of nodes have.
func beats(conditions *tree) bool {
	kids := conditions.items()
	return len(kids) > 0 && kids[0].child("lastHeartbeatTime") != nil
}

// emit adds an object at a line of the document, counted from the current line.
func (s *scan) emit(kind string, t *tree, line int, text []byte, at parse.Stamp, fields ...parse.Field) {
	o := &parse.Object{Kind: kind, Name: strings.Clone(t.get("metadata", "name").value), Namespace: strings.Clone(t.get("metadata", "namespace").value),
		UID: strings.Clone(t.get("metadata", "uid").value), Stamp: at}
	o.Pos, o.Text = s.place(line, text)
	for _, f := range fields {
		if f.Value != "" && f.Value != "null" {
			o.Fields = append(o.Fields, parse.Field{Name: f.Name, Value: clip(f.Value)})
		}
	}
	s.part.Objects = append(s.part.Objects, o)
}

// place returns the position and text of a line of the document.
func (s *scan) place(line int, text []byte) (parse.Pos, parse.Text) {
	off := 0
	for range line - 1 {
		i := bytes.IndexByte(text[off:], '\n')
		if i < 0 {
			break
		}
		off += i + 1
	}
	end := off + max(0, bytes.IndexByte(append(text[off:len(text):len(text)], '\n'), '\n'))
	if line <= 1 { // the first line may begin before the object
		return s.pos(), parse.PlainText(clip(s.line))
	}
	return s.posAt(s.item+off, s.row+uint32(line)-1), parse.PlainText(clip(strings.TrimSuffix(string(text[off:min(end, len(text))]), "\r")))
}

// stamp parses an RFC 3339 time; "" and null give no time.
func stamp(v string) parse.Stamp {
	t, err := parse.ParseTime(time.RFC3339Nano, v)
	if err != nil || t.Year() < 1971 {
		return parse.Stamp{}
	}
	res := time.Second
	if strings.Contains(v, ".") {
		res = time.Microsecond
	}
	return parse.Stamp{At: t.UnixNano(), Res: parse.ResolutionOf(res), Basis: parse.Stated}
}

func (s *scan) node(t *tree, text []byte) {
	info := t.get("status", "nodeInfo")
	var newest parse.Stamp
	for _, c := range t.get("status", "conditions").items() {
		if at := stamp(c.get("lastHeartbeatTime").value); at.At > newest.At {
			newest = at
		}
	}
	s.emit(ObjectNode, t, t.line, text, newest,
		attr("kubelet_version", info.get("kubeletVersion").value), attr("runtime", info.get("containerRuntimeVersion").value),
		attr("os", info.get("osImage").value), attr("kernel", info.get("kernelVersion").value), attr("boot_id", strings.ReplaceAll(info.get("bootID").value, "-", "")),
		attr("machine_id", info.get("machineID").value), attr("max_pods", t.get("status", "capacity", "pods").value),
		attr("cri_socket", t.get("metadata", "annotations", criSocket).value), attr("unschedulable", t.get("spec", "unschedulable").value), attr("created", t.get("metadata", "creationTimestamp").value))
	conditions := t.get("status", "conditions").items()
	for _, c := range conditions[:min(len(conditions), maxConditions)] {
		line := c.line
		if m := c.child("message"); m != nil {
			line = m.line
		}
		s.emit(ObjectCondition, t, line, text, stamp(c.get("lastTransitionTime").value),
			attr("type", cmp.Or(c.get("type").value, conditionOf[c.get("reason").value])), attr("status", c.get("status").value), attr("reason", c.get("reason").value), attr("message", c.get("message").value),
			attr("heartbeat", c.get("lastHeartbeatTime").value), attr("transition", c.get("lastTransitionTime").value))
	}
}

// conditionOf tells the type of a condition by its reason, for an object that was cut off before the type, the last key
// of a condition. Each reason that the kubelet gives belongs to one type (pkg/kubelet/nodestatus/setters.go).
var conditionOf = map[string]string{
	"KubeletReady": "Ready", "KubeletNotReady": "Ready",
	"KubeletHasSufficientMemory": "MemoryPressure", "KubeletHasInsufficientMemory": "MemoryPressure",
	"KubeletHasNoDiskPressure": "DiskPressure", "KubeletHasDiskPressure": "DiskPressure",
	"KubeletHasSufficientPID": "PIDPressure", "KubeletHasInsufficientPID": "PIDPressure",
}

func (s *scan) event(t *tree, text []byte) {
	first, last, count := t.get("firstTimestamp").value, t.get("lastTimestamp").value, t.get("count").value
	at := stamp(last)
	if at.Basis == parse.NoTime { // events.k8s.io: eventTime and series
		first = t.get("eventTime").value
		last = t.get("series", "lastObservedTime").value
		count = t.get("series", "count").value
		if last == "" || last == "null" {
			last = first
		}
		at = stamp(last)
	}
	message := t.get("message")
	if message.line == 0 {
		message = t.get("note")
	}
	obj := t.get("involvedObject")
	if obj.line == 0 {
		obj = t.get("regarding")
	}
	component := t.get("source", "component").value
	if component == "" {
		component = t.get("reportingComponent").value
	}
	host := t.get("source", "host").value
	if host == "" {
		host = t.get("reportingInstance").value
	}
	s.emit(ObjectEvent, t, max(message.line, t.line), text, at,
		attr("type", t.get("type").value), attr("reason", t.get("reason").value), attr("message", message.value), attr("count", count),
		attr("first", first), attr("last", last), attr("component", component), attr("host", host),
		attr("involved_kind", obj.get("kind").value), attr("involved_namespace", obj.get("namespace").value),
		attr("involved_name", obj.get("name").value), attr("involved_uid", obj.get("uid").value))
}

func (s *scan) pod(t *tree, text []byte) {
	status := t.get("status")
	restarts, waiting, n := 0, []string(nil), 0
	for _, c := range status.get("containerStatuses").items() {
		n++
		r, _ := strconv.Atoi(c.get("restartCount").value)
		restarts += r
		if w := c.get("state", "waiting", "reason").value; w != "" && len(waiting) < 20 {
			waiting = append(waiting, w)
		}
	}
	ready := ""
	for _, c := range status.get("conditions").items() {
		if c.get("type").value == "Ready" {
			ready = c.get("status").value
		}
	}
	s.emit(ObjectPod, t, t.line, text, stamp(status.get("startTime").value),
		attr("node", t.get("spec", "nodeName").value), attr("phase", status.get("phase").value), attr("reason", status.get("reason").value),
		attr("message", status.get("message").value), attr("started", status.get("startTime").value),
		attr("deleted", t.get("metadata", "deletionTimestamp").value), attr("qos", status.get("qosClass").value), attr("ready", ready),
		attr("waiting", strings.Join(waiting, " ")), attr("restarts", strconv.Itoa(restarts)), attr("containers", strconv.Itoa(n)),
		attr("runtime_class", t.get("spec", "runtimeClassName").value))
}

// embeddedConfig reads the kubelet configuration in a ConfigMap.
func (s *scan) embeddedConfig(t *tree) {
	for i, name := range t.get("data").names {
		if name != "kubelet" && !strings.HasSuffix(name, ".yaml") {
			continue
		}
		kid := t.get("data").kids[i]
		in := newScan(s.file, name, []byte(kid.value))
		in.base = s.posAt(s.at, s.row+uint32(max(kid.line, 1))-1)
		in.part = s.part
		in.kubeletConfig()
	}
}
