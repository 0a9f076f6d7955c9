package simulate

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/pleg"
)

// jsonSnapshot is one line of schema plegforensics/snapshots/v1.
type jsonSnapshot struct {
	Time    string                 `json:"time"`
	List    *float64               `json:"list_seconds,omitempty"`
	ListErr string                 `json:"list_error,omitempty"`
	Pods    []jsonPod              `json:"pods,omitempty"`
	Inspect map[string]jsonInspect `json:"inspect,omitempty"`
	Drained *bool                  `json:"drained,omitempty"`
}

type jsonInspect struct {
	Seconds *float64 `json:"seconds,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// Exporter writes snapshots as JSON lines. It holds the current listing.
type Exporter struct {
	pods map[string]*pleg.Pod
}

// Line returns a snapshot as one line of JSON with newline. Pods are sorted by UID.
func (x *Exporter) Line(s *Snapshot) ([]byte, error) {
	if x.pods == nil {
		x.pods = make(map[string]*pleg.Pod)
	}
	j := jsonSnapshot{Time: time.Unix(0, s.At).UTC().Format("2006-01-02T15:04:05.000000000Z"), ListErr: s.ListErr}
	if s.List >= 0 {
		j.List = new(s.List.Seconds())
	}
	if !s.Drained {
		j.Drained = &s.Drained
	}
	if len(s.Inspect) > 0 {
		j.Inspect = make(map[string]jsonInspect, len(s.Inspect))
		for uid, o := range s.Inspect {
			in := jsonInspect{Error: o.Err}
			if o.Took >= 0 {
				in.Seconds = new(o.Took.Seconds())
			}
			j.Inspect[uid] = in
		}
	}
	if s.ListErr == "" {
		for _, p := range s.Changed {
			x.pods[p.UID] = p
		}
		for _, uid := range s.Gone {
			delete(x.pods, uid)
		}
		for _, p := range x.pods {
			j.Pods = append(j.Pods, jsonPod{UID: p.UID, Name: p.Name, Namespace: p.Namespace, Sandboxes: jsonItems(p.Sandboxes), Containers: jsonItems(p.Containers)})
		}
		slices.SortFunc(j.Pods, func(a, b jsonPod) int { return strings.Compare(a.UID, b.UID) })
	}
	b, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	if s.ListErr == "" && len(j.Pods) == 0 { // an empty listing differs from an absent one
		b = append(b[:len(b)-1], `,"pods":[]}`...)
	}
	return append(b, '\n'), nil
}

func jsonItems(items []pleg.Item) []jsonItem {
	out := make([]jsonItem, len(items))
	for i, it := range items {
		out[i] = jsonItem{ID: it.ID, Name: it.Name, State: it.State.String(), ExitCode: it.ExitCode}
	}
	return out
}
