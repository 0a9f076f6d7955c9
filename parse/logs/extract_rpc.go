package logs

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plegforensics/plegforensics/parse"
)

// rpc is a failed CRI call as a layer of the kubelet reports it.
type rpc struct {
	layer     string // remote or kuberuntime
	call      string
	filter    string
	hasFilter bool
	id        string // of a container, sandbox or image
	pod       string // in any spelling
	podUID    string
	err       string
	ok        bool
}

// extractRPC reads a failed CRI call. One failure is usually logged two or three
// times: by the remote client, by the runtime manager above it, and by the generic
// PLEG. The field layer tells them apart.
func extractRPC(r *record) ([]parse.Field, bool) {
	if !isRPC(r) {
		return nil, false
	}
	return r.rpc.fields(r.fields()), true
}

// isRPC reports whether extractRPC accepts r. It caches the parsed call, because
// several signatures ask about the same line.
func isRPC(r *record) bool {
	if r.rpc == nil {
		c, ok := readRemote(r)
		if !ok {
			c, ok = readManager(r)
		}
		c.ok = ok
		r.rpc = &c
	}
	return r.rpc.ok
}

// fields appends the fields of the call.
func (c *rpc) fields(out []parse.Field) []parse.Field {
	out = addField(addField(out, "layer", c.layer), "call", c.call)
	if c.hasFilter {
		out = append(out, parse.Field{Name: "filter", Value: c.filter})
		scope, uid := filterScope(c.call, c.filter)
		out = addField(out, "scope", scope)
		out = addField(out, "pod_uid", uid)
	}
	out = addField(out, "id", bareID(c.id))
	out = addPod(out, c.pod)
	out = addField(out, "pod_uid", c.podUID)
	return errFields(out, c.err)
}

var typedIDRE = onDemand(`ID"?:"?([0-9a-f]+)|^\{"?\w+"? "?([0-9a-f]+)|^[a-z-]+://([0-9a-f]+)`)

// bareID strips what kubelets put around an ID: docker://ID, {"docker" "ID"},
// {Type:docker ID:ID}, {"Type":"docker","ID":"ID"}.
func bareID(s string) string {
	if !strings.HasPrefix(s, "{") && !strings.Contains(s, "ID") && !strings.Contains(s, "://") {
		return strings.Trim(s, `"`)
	}
	if m := typedIDRE().FindStringSubmatch(s); m != nil {
		return m[1] + m[2] + m[3]
	}
	return strings.Trim(s, `"`)
}

// cutRE matches a line that a terminal or a copy truncated within
// "from runtime service failed".
var cutRE = onDemand(`^((?:Container|PodSandbox)Status|StopPodSandbox|CreateContainer in sandbox|StartContainer|StopContainer) "([0-9a-f]{12,64})" fr[a-z ]*$`)

// callNames maps the names in messages to CRI calls where they differ.
var callNames = map[string]string{
	"PodSandbox":         "PodSandboxStats",
	"StreamPodSandboxes": "ListPodSandbox",
	"StreamContainers":   "ListContainers",
	"StreamImages":       "ListImages",
}

func callName(s string) string {
	if n := callNames[s]; n != "" {
		return n
	}
	return s
}

// readRemote reads what remote_runtime.go and remote_image.go print; since 1.31 the
// header says log.go.
func readRemote(r *record) (rpc, bool) {
	c := rpc{layer: "remote"}
	if r.form != formPrintf {
		if call, ok := keyedCall(r.msg); ok {
			c.call = callName(call)
			c.keys(r)
			return c, true
		}
	} else if m := cutRE().FindStringSubmatch(r.msg); m != nil {
		c.call, _, _ = strings.Cut(m[1], " ")
		c.id = m[2]
		return c, true
	}
	call, what, object, err, ok := remoteCall(r.msg)
	if !ok {
		return c, false
	}
	c.call = callName(call)
	if r.form == formPrintf || err != "" {
		c.err = err
		c.printfObject(what, object)
		return c, true
	}
	c.keys(r)
	return c, true
}

// remoteEnds precede " failed" in messages of the remote client.
var remoteEnds = [...]string{" from runtime service", " from image service", " recv"}

// remoteCall parses "[Get ]CALL[ what][ object] from runtime service failed[: err]":
// the printf form (≤ 1.20) and also the message of the structured form, which has
// object and error in keys.
func remoteCall(msg string) (call, what, object, err string, ok bool) {
	rest := strings.TrimPrefix(msg, "Get ")
	n := 0
	for n < len(rest) && isWord(rest[n]) {
		n++
	}
	if n < 2 || n == len(rest) || rest[0] < 'A' || rest[0] > 'Z' || rest[n] != ' ' {
		return "", "", "", "", false
	}
	call, rest = rest[:n], rest[n:]
	const failed = " failed"
	for at := 0; ; at += len(failed) {
		next := strings.Index(rest[at:], failed)
		if next < 0 {
			return "", "", "", "", false
		}
		at += next
		err = rest[at+len(failed):]
		if err != "" && !strings.HasPrefix(err, ": ") {
			continue
		}
		for _, end := range remoteEnds {
			if object, ok = strings.CutSuffix(rest[:at], end); ok {
				what, object = remoteObject(object)
				return call, what, object, strings.TrimPrefix(err, ": "), true
			}
		}
	}
}

// remoteObject splits the text after the name of a call into one of callWhats,
// without its blank, and the object.
func remoteObject(s string) (what, object string) {
	for _, w := range callWhats {
		if rest, ok := strings.CutPrefix(s, w); ok && (rest == "" || rest[0] == ' ') {
			what, s = w[1:], rest
			break
		}
	}
	return what, strings.TrimPrefix(s, " ")
}

// callWhats are the texts that may follow the name of a call.
var callWhats = [...]string{" container", " cmd", " in sandbox", " with filter"}

// keyedCall returns the call named by a structured message of the common form
// "[Get ]CALL[ what] from runtime service failed".
func keyedCall[T string | []byte](msg T) (call T, ok bool) {
	s, ok := cutSuffix(msg, " from runtime service failed")
	if !ok {
		if s, ok = cutSuffix(msg, " from image service failed"); !ok {
			return call, false
		}
	}
	if len(s) > len("Get ") && string(s[:len("Get ")]) == "Get " {
		s = s[len("Get "):]
	}
	for _, what := range callWhats {
		if t, ok := cutSuffix(s, what); ok {
			s = t
			break
		}
	}
	if len(s) < 2 || s[0] < 'A' || s[0] > 'Z' {
		return call, false
	}
	for i := range len(s) {
		if !isWord(s[i]) {
			return call, false
		}
	}
	return s, true
}

func cutSuffix[T string | []byte](s T, suffix string) (before T, ok bool) {
	if n := len(s) - len(suffix); n >= 0 && string(s[n:]) == suffix {
		return s[:n], true
	}
	return s, false
}

// printfObject sets filter or ID from the text between call and "from".
func (c *rpc) printfObject(word, object string) {
	if word == "with filter" || strings.HasPrefix(object, "with filter") {
		c.hasFilter = true
		c.filter = strings.TrimSpace(strings.TrimPrefix(object, "with filter"))
		return
	}
	c.id, _, _ = strings.Cut(object, " '") // ExecSync ID 'command'
}

// keys sets the object and error of a structured line.
func (c *rpc) keys(r *record) {
	if c.filter, c.hasFilter = r.get("filter"); !c.hasFilter && strings.HasSuffix(r.msg, withFilter) {
		c.filter, c.hasFilter = filterCut, true
	}
	c.id = r.first("containerID", "podSandboxID", "sandboxID", "containerName", "image")
	if strings.Contains(c.id, "/") && !strings.Contains(c.id, "://") && r.first("image") == "" {
		c.id = ""
	}
	c.pod, c.podUID = r.first("pod"), r.first("podUID")
	c.err = r.first("err")
}

// managerForms are the lines of kuberuntime_*.go: the printf form (≤ 1.20) with
// groups id, pod and err, and the structured message (≥ 1.21).
var managerForms = []struct {
	call    string
	message string
	printf  func() *regexp.Regexp
}{
	{"PodSandboxStatus", "PodSandboxStatus of sandbox for pod",
		onDemand(`^PodSandboxStatus of sandbox "?(?P<id>\w+)"?(?: for pod "(?P<pod>[^"]*)")?(?:.*? error: (?P<err>.*))?`)},
	{"ContainerStatus", "getPodContainerStatuses for pod failed",
		onDemand(`^getPodContainerStatuses for pod "(?P<pod>[^"]*)" failed: (?P<err>.*)`)},
	{"ContainerStatus", "",
		onDemand(`^ContainerStatus for (?P<id>[0-9a-f]{12,64}) e(?:rror: (?P<err>.*)|\w*$)`)},
	{"ListContainers", "ListContainers failed",
		onDemand(`^getKubeletContainers failed: (?P<err>.*)`)},
	{"ListContainers", "ListContainers error",
		onDemand(`^ListContainers error: (?P<err>.*)`)},
	{"ListPodSandbox", "Failed to list pod sandboxes",
		onDemand(`^ListPodSandbox failed: (?P<err>.*)`)},
	{"StopPodSandbox", "Failed to stop sandbox before removing",
		onDemand(`^Failed to stop sandbox "(?P<id>[^"]*)" before removing: (?P<err>.*)`)},
	{"StopPodSandbox", "Failed to stop sandbox",
		onDemand(`^Failed to stop sandbox (?P<id>\{.*\})`)},
	{"RemovePodSandbox", "Failed to remove sandbox",
		onDemand(`^Failed to remove sandbox "(?P<id>[^"]*)": (?P<err>.*)`)},
	{"RemoveContainer", "Failed to remove container",
		onDemand(`^Failed to remove container "(?P<id>[^"]*)": (?P<err>.*)`)},
	{"StopContainer", "Failed to stop container",
		onDemand(`^Failed to stop container "(?P<id>[^"]*)": (?P<err>.*)`)},
	{"StopContainer", "Container termination failed with gracePeriod",
		onDemand(`^Container "(?P<id>[^"]*)" termination failed with gracePeriod \d+: (?P<err>.*)`)},
	{"StopContainer", "Kill container failed",
		onDemand(`^killContainer "[^"]*"\(id="?(?P<id>[^")]*)"?\) for pod "(?P<pod>[^"]*)" failed: (?P<err>.*)`)},
	{"StopContainer", "killContainer for pod failed", nil},
	{"ListPodSandbox", "Failed to list sandboxes for pod",
		onDemand(`^ListPodSandbox with pod UID "(?P<pod>[^"]*)" failed: (?P<err>.*)`)},
	{"RunPodSandbox", "CreatePodSandbox for pod failed",
		onDemand(`^CreatePodSandbox for pod "(?P<pod>[^"]*)" failed: (?P<err>.*)`)},
	{"RunPodSandbox", "Failed to create sandbox for pod",
		onDemand(`^Failed to create sandbox for pod "(?P<pod>[^"]*)": (?P<err>.*)`)},
	{"Version", "Get runtime version failed",
		onDemand(`^Get (?:remote )?runtime (?:typed )?version failed: (?P<err>.*)`)},
	{"ListImages", "Failed to list images",
		onDemand(`^ListImages failed: (?P<err>.*)`)},
}

// readManager reads what the runtime manager prints about a failed call. For
// localCalls, an error without a gRPC code or timeout did not come from a call.
func readManager(r *record) (rpc, bool) {
	for _, f := range managerForms {
		c := rpc{layer: "kuberuntime", call: f.call}
		if r.form != formPrintf && f.message != "" && r.msg == f.message {
			c.keys(r)
			return c, c.fromRuntime()
		}
		if f.printf == nil {
			continue
		}
		printf := f.printf()
		m := printf.FindStringSubmatch(r.msg)
		if m == nil {
			continue
		}
		group := func(name string) string {
			if i := printf.SubexpIndex(name); i > 0 {
				return m[i]
			}
			return ""
		}
		c.id, c.pod, c.err = group("id"), group("pod"), group("err")
		return c, c.fromRuntime()
	}
	return rpc{}, false
}

// localCalls are the calls for which the manager also reports failures of its own
// work around the call, such as removing a log file.
var localCalls = []string{"RemoveContainer"}

func (c rpc) fromRuntime() bool {
	return !slices.Contains(localCalls, c.call) || errorCode(c.err) != ""
}

var filterUIDRE = onDemand(`io\.kubernetes\.pod\.uid"?(?::\s*|"?\s+value:)"?([0-9A-Za-z-]+)`)

// podUIDLabel is the label by which the kubelet lists the sandboxes and containers
// of a pod.
const podUIDLabel = "io.kubernetes.pod.uid"

// givesID reports whether a filter selects a single container or sandbox.
func givesID(filter string) bool {
	for at := 0; ; {
		n := strings.IndexByte(filter[at:], ':')
		if n < 0 {
			return false
		}
		at += n + 1
		before := filter[:at-1]
		word := before[strings.LastIndexAny(before, "{, ")+1:]
		value := strings.TrimPrefix(strings.TrimPrefix(filter[at:], " "), `"`)
		if value == "" || !hexClass[value[0]|0x20] && !hexClass[value[0]] {
			continue
		}
		switch strings.ToLower(word) {
		case "id", "podsandboxid", "pod_sandboxid", "podsandbox_id", "pod_sandbox_id":
			return true
		}
	}
}

// withFilter ends the message of a list call whose filter is in a key.
const withFilter = " with filter from runtime service failed"

// filterCut stands for the filter of a list call that was truncated together with
// the line.
const filterCut = "…"

// filterScope returns what a list call asked for: "unknown" if the filter was
// truncated, "all", "pod" with the pod's UID, "ready" (sandboxes) or "running"
// (containers), or "" for anything else. Up to 1.33 filters are printed by
// gogo/protobuf, from 1.34 on as protobuf text, which omits READY because it is the
// enum's zero value. JSON logs may hold filters as objects.
func filterScope(call, filter string) (scope, uid string) {
	switch filter {
	case "nil", "", "<nil>", "null":
		return "all", ""
	}
	if strings.Contains(filter, podUIDLabel) {
		if m := filterUIDRE().FindStringSubmatch(filter); m != nil {
			return "pod", m[1]
		}
	}
	f := unspaced.Replace(filter)
	sandbox := strings.Contains(call, "Sandbox")
	switch {
	case givesID(filter):
		return "", ""
	case !strings.HasSuffix(filter, "}") && !strings.HasSuffix(filter, `"`):
		return "unknown", "" // the end of the line was truncated
	case strings.Contains(f, "SANDBOX_READY"), sandbox && strings.Contains(f, "state:{}"):
		return "ready", ""
	case strings.Contains(f, "CONTAINER_RUNNING"), !sandbox && strings.Contains(f, "state:{state:1}"):
		return "running", ""
	case f == "", f == "{}", strings.HasSuffix(f, "LabelSelector:map[string]string{},}") && strings.Contains(f, "State:nil"):
		return "all", ""
	}
	return "", ""
}

// unspaced removes the characters in which the forms of a filter differ.
var unspaced = strings.NewReplacer(" ", "", `"`, "")

const syncErrKeyed = "Error syncing pod, skipping"

// syncErrRE matches the printf form. Up to 1.5 it lacks the name of the pod.
var syncErrRE = onDemand(`(?s)^Error syncing pod ([^\s,]+)(?: \("([^"]*)"\))?, skipping: (.*)`)

// extractSyncErr reads the pod worker's "Error syncing pod". It often repeats a
// stored error, so it does not prove that a call failed.
func extractSyncErr(r *record) ([]parse.Field, bool) {
	if r.form == formPrintf || r.msg != syncErrKeyed {
		m := syncErrRE().FindStringSubmatch(r.msg)
		if m == nil {
			return nil, false
		}
		out := addPod(r.fields(), m[2])
		return errFields(addField(out, "pod_uid", m[1]), m[3]), true
	}
	out := addPod(r.fields(), r.first("pod"))
	return errFields(addField(out, "pod_uid", r.first("podUID")), r.first("err")), true
}

// refusals end the error text of a socket that nobody listens on or that does not
// exist.
var refusals = [...]string{"connection refused", "no such file or directory"}

// extractRefused reads "unix SOCKET: connect: connection refused" for a runtime
// socket. It is logged repeatedly, with whatever failed, while the daemon is down.
func extractRefused(r *record) ([]parse.Field, bool) {
	for i := range r.texts() {
		if socket, err := refusal(r.text(i)); socket != "" {
			return append(r.fields(), parse.Field{Name: "socket", Value: socket}, parse.Field{Name: "err", Value: err}), true
		}
	}
	return nil, false
}

// isRefused reports whether extractRefused accepts r.
func isRefused(r *record) bool {
	for i := range r.texts() {
		if socket, _ := refusal(r.text(i)); socket != "" {
			return true
		}
	}
	return false
}

// refusal finds the first runtime socket that text reports as refusing, "" if none,
// and the error.
func refusal(text string) (socket, err string) {
	const dial, connect = "unix ", ": connect: "
	for at := 0; ; {
		n := strings.Index(text[at:], connect)
		if n < 0 {
			return "", ""
		}
		before, behind := text[at:at+n], text[at+n+len(connect):]
		at += n + len(connect)
		from := strings.LastIndexAny(before, " \t\n\f\r") + 1
		if !strings.HasSuffix(before[:from], dial) {
			continue
		}
		socket := strings.TrimSuffix(before[from:], `"`)
		for _, err := range refusals {
			if strings.HasPrefix(behind, err) && ofRuntime(socket) {
				return socket, err
			}
		}
	}
}

// runtimes are words of which one appears in the path of a runtime's socket.
var runtimes = map[string]bool{"containerd": true, "crio": true, "cri": true /* of cri-o too */, "docker": true, "dockerd": true, "dockershim": true, "isulad": true}

// ofRuntime reports whether path contains a word of runtimes.
func ofRuntime(path string) bool {
	for word := range strings.FieldsFuncSeq(path, func(c rune) bool { return c >= utf8.RuneSelf || !isWord(byte(c)) }) {
		if runtimes[word] {
			return true
		}
	}
	return false
}
