package logs

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// addContainer splits CRI-O's namespace/pod/container; the container of a
// sandbox is called POD.
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

var (
	runSandboxRE = regexp.MustCompile(`(?s)^RunPod[Ss]andbox for (.*?)(?: returns sandbox id "([0-9a-f]+)"| (failed, error))?$`)
	createRE     = regexp.MustCompile(`(?s)^CreateContainer within sandbox "([0-9a-f]+)" (for container|for|with container config) (.*?)(?: returns container id "([0-9a-f]+)"| (failed))?$`)
	metadataRE   = regexp.MustCompile(`(?i)\b(name|uid|namespace):\s*"?([^",}\s]+)`)
)

// isContainerd tells what extractContainerd would.
func isContainerd(r *record) bool {
	return strings.HasPrefix(r.msg, "RunPodSandbox for ") || strings.HasPrefix(r.msg, "RunPodsandbox for ") || createRE.MatchString(r.msg)
}

// extractContainerd reads containerd's lines that carry pod or container
// metadata: gogo text up to 2.1, protobuf text from 2.2 on, whose blanks vary
// from build to build.
func extractContainerd(r *record) ([]parse.Field, bool) {
	if m := runSandboxRE.FindStringSubmatch(r.msg); m != nil {
		out := lifeOp(outcome("start", "started", m[2], m[3]), "sandbox")
		out = addField(out, "id", m[2])
		out = addMetadata(out, m[1], "pod_name")
		return addField(out, "err", r.first("error")), true
	}
	if m := createRE.FindStringSubmatch(r.msg); m != nil {
		out := lifeOp(outcome("create", "created", m[4], m[5]), "container")
		out = addField(out, "id", m[4])
		out = addField(out, "sandbox", m[1])
		out = addMetadata(out, m[3], "name")
		return addField(out, "err", r.first("error")), true
	}
	return nil, false
}

func lifeOp(op, kind string) []parse.Field {
	return []parse.Field{{Name: "op", Value: op}, {Name: "kind", Value: kind}}
}

// outcome is the op of a request's line: it failed, it returned an id, or it
// begins.
func outcome(verb, done, id, failed string) string {
	switch {
	case failed != "":
		return verb + "-failed"
	case id != "":
		return done
	}
	return verb + "-begin"
}

func addMetadata(out []parse.Field, text, nameField string) []parse.Field {
	for _, m := range metadataRE.FindAllStringSubmatch(text, 4) {
		switch strings.ToLower(m[1]) {
		case "name":
			out = addField(out, nameField, m[2])
		case "uid":
			out = addField(out, "pod_uid", m[2])
		case "namespace":
			out = addField(out, "pod_ns", m[2])
		}
	}
	return out
}

var (
	exitRE = regexp.MustCompile(`(?s)^(?:TaskExit event|[Rr]eceived (?:(container|sandbox|sandbox container) )?exit event)(?: in podsandbox handler)? (.*)`)
	// gogo text: ContainerID:x,ID:y,Pid:1,ExitStatus:0,ExitedAt:time,
	// protobuf text: container_id:"x"  id:"y"  pid:1  exit_status:1  exited_at:{seconds:1 nanos:2}
	exitKeyRE   = regexp.MustCompile(`\b(ContainerID|container_id|sandbox_id|ID|id|ExitStatus|exit_status):\s*"?([0-9a-zA-Z_.-]*)`)
	exitStampRE = regexp.MustCompile(`exited_at:\{\s*(?:seconds:\s*(\d+))?\s*(?:nanos:\s*(\d+))?\s*\}`)
	exitTextRE  = regexp.MustCompile(`ExitedAt:([^,}]+)`)
)

// extractTaskExit reads a task's exit. An exec has the container's id and one
// of its own: it is not the container's exit and does not match. exited_at is
// RFC 3339 with the runtime's own clock.
func extractTaskExit(r *record) ([]parse.Field, bool) {
	m := exitRE.FindStringSubmatch(r.msg)
	if m == nil {
		return nil, false
	}
	var container, task string
	code := "0" // protobuf text leaves a zero out
	for _, k := range exitKeyRE.FindAllStringSubmatch(m[2], 5) {
		switch k[1] {
		case "ContainerID", "container_id", "sandbox_id":
			container = k[2]
		case "ID", "id":
			task = k[2]
		default:
			code = k[2]
		}
	}
	if container == "" || task != "" && task != container {
		return nil, false
	}
	out := []parse.Field{{Name: "op", Value: "exited"}, {Name: "id", Value: container}, {Name: "exit_code", Value: code}}
	if m[1] != "" {
		kind, _, _ := strings.Cut(m[1], " ")
		out = addField(out, "kind", kind)
	}
	return addField(out, "exited_at", exitTime(m[2])), true
}

// exitTime returns the exit's time as RFC 3339, or verbatim if it is in no
// known form.
func exitTime(s string) string {
	if m := exitStampRE.FindStringSubmatch(s); m != nil {
		sec, err1 := strconv.ParseInt("0"+m[1], 10, 40)
		nsec, err2 := strconv.ParseInt("0"+m[2], 10, 32)
		if err1 != nil || err2 != nil {
			return ""
		}
		return time.Unix(sec, nsec).UTC().Format(time.RFC3339Nano)
	}
	m := exitTextRE.FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	t, err := time.Parse("2006-01-02 15:04:05.999999999 -0700 MST", m[1])
	if err != nil {
		return m[1]
	}
	return t.UTC().Format(time.RFC3339Nano)
}

var engineEventRE = regexp.MustCompile(`^(?:\d{4}-\d\d-\d\d[T ]\S+ (?:[-+]\d{4} \S+ (?:m=\S+ )?)?)?container (\w+) ([0-9a-f]{12,64})(?: \((.*)\))?`)

// engineOps are the events of docker and podman that move a container on.
var engineOps = map[string]string{
	"create": "created", "start": "started", "die": "exited", "died": "exited",
	"stop": "stopped", "destroy": "removed", "remove": "removed", "rm": "removed",
}

// engineKeys are attributes of docker events and the labels that the kubelet
// gives its containers.
var engineKeys = map[string]string{
	"exitCode": "exit_code", "containerExitCode": "exit_code",
	"io.kubernetes.pod.name": "pod_name", "io.kubernetes.pod.namespace": "pod_ns", "io.kubernetes.pod.uid": "pod_uid",
	"io.kubernetes.container.name": "name", "io.kubernetes.sandbox.id": "sandbox",
}

// extractEngineEvent reads a line of docker events, or the same as podman
// writes it to the journal.
func extractEngineEvent(r *record) ([]parse.Field, bool) {
	m := engineEventRE.FindStringSubmatch(r.msg)
	if m == nil || engineOps[m[1]] == "" {
		return nil, false
	}
	out := lifeOp(engineOps[m[1]], "container")
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
