package metrics

import (
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// NameNodes sets the node of kubelet series from a Prometheus server: by their node
// label, else by kubelet_node_name of the same instance.
func NameNodes(series []*parse.Series) {
	byInstance := map[string]string{}
	for _, s := range series {
		if s.Name == "kubelet_node_name" && s.Node == "" {
			byInstance[s.Label("instance")] = s.Label("node")
		}
	}
	for _, s := range series {
		if s.Node != "" || s.Job != "" || !strings.HasPrefix(s.Name, "kubelet_") && s.Label("job") != "kubelet" {
			continue
		}
		if s.Node = s.Label("node"); s.Node == "" {
			s.Node = byInstance[s.Label("instance")]
		}
	}
}
