package cri

import (
	"encoding/json"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// entry is one element of any listing. Package json matches names regardless of
// case, so docker's Id and crictl's id are one field.
type entry struct {
	ID           string          `json:"id"`
	PodSandboxID string          `json:"podSandboxId"`
	SandboxID    string          `json:"sandboxId"`
	Metadata     metadata        `json:"metadata"`
	State        json.RawMessage `json:"state"`
	Status       json.RawMessage `json:"status"`
	CreatedAt    json.RawMessage `json:"createdAt"`
	Created      json.RawMessage `json:"created"`
	StartedAt    json.RawMessage `json:"startedAt"`
	FinishedAt   json.RawMessage `json:"finishedAt"`
	ExitedAt     json.RawMessage `json:"exitedAt"`
	ExitCode     *int            `json:"exitCode"`
	Exited       bool            `json:"exited"`
	Labels       labels          `json:"labels"`
	Name         string          `json:"name"`
	Names        names           `json:"names"`
	IsInfra      bool            `json:"isInfra"`
	Config       struct {
		Labels labels `json:"labels"`
	} `json:"config"`
	Info struct {
		SandboxID string `json:"sandboxID"`
	} `json:"info"`
	Kind string `json:"kind"`
}

type metadata struct {
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Namespace string `json:"namespace"`
}

// labels are a JSON object, or docker's "k=v,k=v".
type labels map[string]string

func (l *labels) UnmarshalJSON(b []byte) error {
	var m map[string]string
	if json.Unmarshal(b, &m) == nil {
		*l = m
		return nil
	}
	var s string
	if json.Unmarshal(b, &s) != nil {
		return nil // unknown form; ignored
	}
	*l = make(labels)
	for _, kv := range strings.Split(s, ",") {
		if k, v, ok := strings.Cut(kv, "="); ok {
			(*l)[k] = v
		}
	}
	return nil
}

// names are a list (podman) or a string (docker).
type names []string

func (n *names) UnmarshalJSON(b []byte) error {
	var list []string
	if json.Unmarshal(b, &list) == nil {
		*n = list
		return nil
	}
	var s string
	if json.Unmarshal(b, &s) == nil && s != "" {
		*n = names{s}
	}
	return nil
}

// Labels by which the kubelet identifies a container to the runtime.
const (
	labelPod       = "io.kubernetes.pod.name"
	labelNamespace = "io.kubernetes.pod.namespace"
	labelUID       = "io.kubernetes.pod.uid"
	labelContainer = "io.kubernetes.container.name"
	labelType      = "io.kubernetes.docker.type"
)

// inner is the object form of "state" (docker and podman inspect).
type inner struct {
	Status     string          `json:"status"`
	Running    bool            `json:"running"`
	ExitCode   *int            `json:"exitCode"`
	StartedAt  json.RawMessage `json:"startedAt"`
	FinishedAt json.RawMessage `json:"finishedAt"`
}

// isStatusOnly reports whether an object without an id is one that tools print
// besides listings: crictl info, docker info.
func (e *entry) isStatusOnly() bool {
	return len(e.Status) > 0 && e.Status[0] == '{' || e.Kind != ""
}

// container returns the entry as a record; its ID is "" if the entry has none.
func (e *entry) container() *parse.Container {
	if e.ID == "" && len(e.Status) > 0 && e.Status[0] == '{' { // crictl inspect, inspectp
		var in entry
		if json.Unmarshal(e.Status, &in) == nil && in.ID != "" {
			in.SandboxID = first(in.SandboxID, e.SandboxID, e.Info.SandboxID)
			return in.container()
		}
	}
	c := &parse.Container{ID: e.ID, SandboxID: first(e.PodSandboxID, e.SandboxID, e.Info.SandboxID), Snapshot: 0}
	e.identity(c)
	e.state(c)
	c.Created = stamp(e.CreatedAt)
	if c.Created == 0 {
		c.Created = stamp(e.Created)
	}
	if c.SandboxID == c.ID {
		c.SandboxID = ""
	}
	return c
}

// identity fills in the identity of the container: from its labels, else from the
// metadata, else from the name composed by dockershim.
func (e *entry) identity(c *parse.Container) {
	l := e.Labels
	if len(l) == 0 {
		l = e.Config.Labels
	}
	c.PodName, c.Namespace, c.PodUID, c.Name = l[labelPod], l[labelNamespace], l[labelUID], l[labelContainer]
	c.Sandbox = e.Metadata.UID != "" || l[labelType] == "podsandbox" || e.IsInfra
	if c.Sandbox && e.Metadata.UID != "" {
		c.PodName, c.Namespace, c.PodUID = first(c.PodName, e.Metadata.Name), first(c.Namespace, e.Metadata.Namespace), first(c.PodUID, e.Metadata.UID)
	} else {
		c.Name = first(c.Name, e.Metadata.Name)
	}
	name := e.Name
	if name == "" && len(e.Names) > 0 {
		name = e.Names[0]
	}
	dockerName(c, name)
	if c.Sandbox {
		c.Name = ""
	}
}

// dockerName parses k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT. The container of a pod
// sandbox is named POD. Other names are the container's own.
func dockerName(c *parse.Container, name string) {
	name = strings.TrimPrefix(name, "/")
	parts := strings.Split(name, "_")
	if len(parts) >= 6 && parts[0] == "k8s" {
		c.Sandbox = c.Sandbox || parts[1] == "POD"
		c.Name, c.PodName = first(c.Name, parts[1]), first(c.PodName, parts[2])
		c.Namespace, c.PodUID = first(c.Namespace, parts[3]), first(c.PodUID, parts[4])
		return
	}
	c.Name = first(c.Name, name)
}

// state fills in the state, exit code and times.
func (e *entry) state(c *parse.Container) {
	var word string
	var in inner
	switch {
	case json.Unmarshal(e.State, &word) == nil && word != "":
	case len(e.State) > 0 && e.State[0] == '{' && json.Unmarshal(e.State, &in) == nil:
		word = in.Status
	default:
		if json.Unmarshal(e.Status, &word) != nil {
			word = numberedState(e.State)
		}
	}
	code := e.ExitCode
	if in.ExitCode != nil {
		code = in.ExitCode
	}
	c.State, c.ExitCode = stateWord(word)
	if c.State == "exited" && code != nil {
		c.ExitCode = code
	}
	c.Started = firstStamp(e.StartedAt, in.StartedAt)
	if c.State != "running" && c.State != "created" {
		c.Finished = firstStamp(e.FinishedAt, in.FinishedAt, e.ExitedAt)
	}
}

// numberedState maps the CRI state enum, which protobuf JSON may print as a number.
func numberedState(raw json.RawMessage) string {
	switch string(raw) {
	case "0":
		return "created"
	case "1":
		return "running"
	case "2":
		return "exited"
	}
	return ""
}

func first(vs ...string) string {
	for _, v := range vs {
		if v != "" {
			return v
		}
	}
	return ""
}
