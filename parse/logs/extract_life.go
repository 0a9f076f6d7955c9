package logs

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// addContainer splits CRI-O's namespace/pod/container. The container of a sandbox
// is called POD.
func addContainer(out []parse.Field, s string) []parse.Field {
	parts := strings.Split(s, "/")
	if len(parts) != 3 {
		return out
	}
	out = addField(out, "pod_ns", parts[0])
	out = addField(out, "pod_name", parts[1])
	if parts[2] != "POD" {
		out = addField(out, "name", parts[2])
	}
	return out
}

// isContainerd reports whether extractContainerd accepts r.
func isContainerd(r *record) bool {
	_, ok := readRunSandbox(r.msg)
	if !ok {
		_, ok = readCreate(r.msg)
	}
	return ok
}

// extractContainerd reads containerd's lines with pod or container metadata: gogo
// text up to 2.1, protobuf text from 2.2 on, whose whitespace varies from build to
// build. They occur by the hundred thousand, so they are parsed by hand.
func extractContainerd(r *record) ([]parse.Field, bool) {
	if m, ok := readRunSandbox(r.msg); ok {
		out := addOp(r.fields(), outcome("start", "started", m.id, m.failed), "sandbox")
		out = addField(out, "id", m.id)
		out = addMetadata(out, m.metadata, "pod_name")
		return addField(out, "err", r.first("error")), true
	}
	if m, ok := readCreate(r.msg); ok {
		out := addOp(r.fields(), outcome("create", "created", m.id, m.failed), "container")
		out = addField(out, "id", m.id)
		out = addField(out, "sandbox", m.sandbox)
		out = addMetadata(out, m.metadata, "name")
		return addField(out, "err", r.first("error")), true
	}
	return nil, false
}

// criRequest is containerd's line about a request: it begins, it returned an ID, or
// it failed.
type criRequest struct {
	sandbox  string // CreateContainer only
	metadata string
	id       string
	failed   bool
}

// readRunSandbox reads "RunPodSandbox for METADATA", followed by nothing,
// ` returns sandbox id "ID"`, or " failed, error".
func readRunSandbox(msg string) (criRequest, bool) {
	rest, ok := strings.CutPrefix(msg, "RunPodSandbox for ")
	if !ok {
		if rest, ok = strings.CutPrefix(msg, "RunPodsandbox for "); !ok {
			return criRequest{}, false
		}
	}
	return readOutcome(rest, ` returns sandbox id "`, " failed, error"), true
}

// createIntros are the texts between sandbox and metadata. Longer ones come first.
var createIntros = [...]string{"for container ", "for ", "with container config "}

// readCreate reads `CreateContainer within sandbox "ID" for METADATA` with the
// same endings.
func readCreate(msg string) (criRequest, bool) {
	rest, ok := strings.CutPrefix(msg, `CreateContainer within sandbox "`)
	if !ok {
		return criRequest{}, false
	}
	sandbox, rest, ok := strings.Cut(rest, `" `)
	if !ok || !isHex(sandbox) {
		return criRequest{}, false
	}
	for _, intro := range createIntros {
		if meta, ok := strings.CutPrefix(rest, intro); ok {
			c := readOutcome(meta, ` returns container id "`, " failed")
			c.sandbox = sandbox
			return c, true
		}
	}
	return criRequest{}, false
}

// readOutcome splits s into the metadata and the outcome.
func readOutcome(s, returns, failed string) criRequest {
	if meta, ok := strings.CutSuffix(s, failed); ok {
		return criRequest{metadata: meta, failed: true}
	}
	if i := strings.LastIndex(s, returns); i >= 0 {
		if id, ok := strings.CutSuffix(s[i+len(returns):], `"`); ok && isHex(id) {
			return criRequest{metadata: s[:i], id: id}
		}
	}
	return criRequest{metadata: s}
}

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return s != ""
}

func addOp(out []parse.Field, op, kind string) []parse.Field {
	return addField(addField(out, "op", op), "kind", kind)
}

// outcome returns the op field for a request: failed, done (it returned an ID), or
// begun.
func outcome(verb, done, id string, failed bool) string {
	switch {
	case failed:
		return verb + "-failed"
	case id != "":
		return done
	}
	return verb + "-begin"
}

// metadataKeys maps the fields of PodSandboxMetadata and ContainerMetadata, in
// lower case, to field names; "" stands for the name, whose field the caller
// chooses.
var metadataKeys = map[string]string{"name": "", "uid": "pod_uid", "namespace": "pod_ns"}

// addMetadata reads key:value pairs in any spelling: Name:web-0, or name:"web-0".
func addMetadata(out []parse.Field, text, nameField string) []parse.Field {
	for seen := 0; seen < len(metadataKeys)+1; {
		word, rest, more := cutWord(text)
		if text = rest; !more {
			break
		}
		field, ok := metadataKeys[strings.ToLower(word)]
		if !ok {
			continue
		}
		value := quoteless(text)
		end := strings.IndexAny(value, "\",} \t\n\r\f")
		if end < 0 {
			end = len(value)
		}
		if end == 0 {
			continue
		}
		if field == "" {
			field = nameField
		}
		out = addField(out, field, value[:end])
		text = value[end:]
		seen++
	}
	return out
}

// cutWord returns the word, possibly empty, before the first colon and the text
// after the colon.
func cutWord(s string) (word, rest string, ok bool) {
	i := strings.IndexByte(s, ':')
	if i < 0 {
		return "", "", false
	}
	from := i
	for from > 0 && isWord(s[from-1]) {
		from--
	}
	return s[from:i], s[i+1:], true
}

// quoteless strips leading whitespace and an opening quote from the text after a
// colon.
func quoteless(s string) string {
	return strings.TrimPrefix(strings.TrimLeft(s, " \t\n\r\f"), `"`)
}

var (
	exitStampRE = onDemand(`exited_at:\{\s*(?:seconds:\s*(\d+))?\s*(?:nanos:\s*(\d+))?\s*\}`)
	exitTextRE  = onDemand(`ExitedAt:([^,}]+)`)
)

// exitKeys is the maximum number of keys of an exit that are read.
const exitKeys = 5

// cutExit returns the part of a message that describes an exit, and the kind of
// what exited if the message states it.
func cutExit(msg string) (kind, event string, ok bool) {
	if event, ok = strings.CutPrefix(msg, "TaskExit event"); !ok {
		said, _ := strings.CutPrefix(msg, "received ")
		said, _ = strings.CutPrefix(said, "Received ")
		if len(said)+len("received ") != len(msg) {
			return "", "", false
		}
		kind, event, ok = strings.Cut(said, "exit event")
		if !ok || !slices.Contains([]string{"", "container ", "sandbox ", "sandbox container "}, kind) {
			return "", "", false
		}
		kind, _, _ = strings.Cut(kind, " ")
	}
	if inHandler, ok := strings.CutPrefix(event, " in podsandbox handler "); ok {
		return kind, inHandler, true
	}
	event, ok = strings.CutPrefix(event, " ")
	return kind, event, ok
}

// extractTaskExit reads the exit of a task. An exec has the container's ID and one
// of its own; it is not the container's exit and does not match. exited_at is RFC
// 3339 by the runtime's clock. The keys are in gogo text
//
//	ContainerID:x,ID:y,Pid:1,ExitStatus:0,ExitedAt:time,
//
// or in protobuf text
//
//	container_id:"x"  id:"y"  pid:1  exit_status:1  exited_at:{seconds:1 nanos:2}
func extractTaskExit(r *record) ([]parse.Field, bool) {
	kind, event, ok := cutExit(r.msg)
	if !ok {
		return nil, false
	}
	var container, task string
	code := "0" // protobuf text omits a zero
	for seen, text := 0, event; seen < exitKeys; {
		word, rest, more := cutWord(text)
		if text = rest; !more {
			break
		}
		var to *string
		switch word {
		case "ContainerID", "container_id", "sandbox_id":
			to = &container
		case "ID", "id":
			to = &task
		case "ExitStatus", "exit_status":
			to = &code
		default:
			continue
		}
		value := quoteless(text)
		end := 0
		for end < len(value) && (isWord(value[end]) || value[end] == '.' || value[end] == '-') {
			end++
		}
		*to, text = value[:end], value[end:]
		seen++
	}
	if container == "" || task != "" && task != container {
		return nil, false
	}
	out := []parse.Field{{Name: "op", Value: "exited"}, {Name: "id", Value: container}, {Name: "exit_code", Value: code}}
	out = addField(out, "kind", kind)
	return addField(out, "exited_at", exitTime(event)), true
}

// exitTime returns the time of the exit as RFC 3339, or verbatim if its form is
// unknown.
func exitTime(s string) string {
	if m := exitStampRE().FindStringSubmatch(s); m != nil {
		sec, err1 := strconv.ParseInt("0"+m[1], 10, 40)
		nsec, err2 := strconv.ParseInt("0"+m[2], 10, 32)
		if err1 != nil || err2 != nil {
			return ""
		}
		return time.Unix(sec, nsec).UTC().Format(time.RFC3339Nano)
	}
	m := exitTextRE().FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	t, err := parse.ParseTime("2006-01-02 15:04:05.999999999 -0700 MST", m[1])
	if err != nil {
		return m[1]
	}
	return t.UTC().Format(time.RFC3339Nano)
}

var engineEventRE = onDemand(`^(?:\d{4}-\d\d-\d\d[T ]\S+ (?:[-+]\d{4} \S+ (?:m=\S+ )?)?)?container (\w+) ([0-9a-f]{12,64})(?: \((.*)\))?`)

// engineOps maps the docker and podman events that change a container's state to
// the op field.
var engineOps = map[string]string{
	"create": "created", "start": "started", "die": "exited", "died": "exited",
	"stop": "stopped", "destroy": "removed", "remove": "removed", "rm": "removed",
}

// engineKeys maps attributes of docker events, and the labels that the kubelet sets
// on its containers, to fields.
var engineKeys = map[string]string{
	"exitCode": "exit_code", "containerExitCode": "exit_code",
	"io.kubernetes.pod.name": "pod_name", "io.kubernetes.pod.namespace": "pod_ns", "io.kubernetes.pod.uid": "pod_uid",
	"io.kubernetes.container.name": "name", "io.kubernetes.sandbox.id": "sandbox",
}

// extractEngineEvent reads a line of docker events, or the same as podman writes it
// to the journal.
func extractEngineEvent(r *record) ([]parse.Field, bool) {
	m := engineEventRE().FindStringSubmatch(r.msg)
	if m == nil || engineOps[m[1]] == "" {
		return nil, false
	}
	out := addOp(r.fields(), engineOps[m[1]], "container")
	out = addField(out, "id", m[2])
	plain := ""
	for _, attr := range strings.Split(m[3], ", ") {
		k, v, _ := strings.Cut(attr, "=")
		switch {
		case k == "io.kubernetes.docker.type" && v == "podsandbox":
			out[1].Value = "sandbox"
		case k == "name":
			plain = v
		case engineKeys[k] != "":
			out = addField(out, engineKeys[k], v)
		}
	}
	return addField(out, "name", plain), true
}
