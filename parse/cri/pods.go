package cri

import (
	"encoding/json"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// podStatus is the status of a Kubernetes pod, as in the kubelet's /pods or kubectl
// output.
type podStatus struct {
	Phase      string            `json:"phase"`
	Containers []containerStatus `json:"containerStatuses"`
	Init       []containerStatus `json:"initContainerStatuses"`
	Ephemeral  []containerStatus `json:"ephemeralContainerStatuses"`
}

type containerStatus struct {
	Name        string       `json:"name"`
	ContainerID string       `json:"containerID"`
	State       statusChoice `json:"state"`
	Last        statusChoice `json:"lastState"`
}

// statusChoice has at most one field set.
type statusChoice struct {
	Running *struct {
		StartedAt json.RawMessage `json:"startedAt"`
	} `json:"running"`
	Terminated *struct {
		ExitCode    *int            `json:"exitCode"`
		StartedAt   json.RawMessage `json:"startedAt"`
		FinishedAt  json.RawMessage `json:"finishedAt"`
		ContainerID string          `json:"containerID"`
	} `json:"terminated"`
}

// podContainers returns the containers of a pod object, nil if e is not a pod. The
// previous instance of each container is included: the runtime still has it.
func (e *entry) podContainers() []*parse.Container {
	if e.ID != "" || e.Metadata.UID == "" || len(e.Status) == 0 || e.Status[0] != '{' {
		return nil
	}
	var s podStatus
	if json.Unmarshal(e.Status, &s) != nil || s.Phase == "" && len(s.Containers) == 0 {
		return nil
	}
	out := []*parse.Container{}
	for _, list := range [...][]containerStatus{s.Init, s.Containers, s.Ephemeral} {
		for i := range list {
			out = append(out, e.statuses(&list[i])...)
		}
	}
	return out
}

func (e *entry) statuses(s *containerStatus) []*parse.Container {
	var out []*parse.Container
	for _, choice := range [...]*statusChoice{&s.Last, &s.State} {
		c := &parse.Container{PodUID: e.Metadata.UID, PodName: e.Metadata.Name, Namespace: e.Metadata.Namespace, Name: s.Name}
		switch {
		case choice.Running != nil:
			c.ID, c.State, c.Started = bareID(s.ContainerID), "running", stamp(choice.Running.StartedAt)
		case choice.Terminated != nil:
			t := choice.Terminated
			c.ID, c.State = bareID(t.ContainerID), "exited"
			c.Started, c.Finished, c.ExitCode = stamp(t.StartedAt), stamp(t.FinishedAt), t.ExitCode
		}
		if c.ID != "" {
			out = append(out, c)
		}
	}
	return out
}

// bareID removes the "containerd://" or similar prefix.
func bareID(s string) string {
	if _, id, ok := strings.Cut(s, "://"); ok {
		return id
	}
	return s
}
