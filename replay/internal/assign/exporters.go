package assign

import (
	"cmp"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// seriesNode returns the name of the node that a series is about, as a label of a Prometheus server states it: the
// name itself, else the host of the instance that was scraped. It returns "" if none does.
func seriesNode(s *parse.Series) string {
	instance := s.Label("instance")
	if i := strings.LastIndexByte(instance, ':'); i > 0 {
		instance = strings.Trim(instance[:i], "[]")
	}
	name := cmp.Or(s.Node, s.Label("node"), s.Label("kubernetes_io_hostname"), s.Label("nodename"), s.Label("kubernetes_node"), instance)
	if generic(name) || strings.HasPrefix(name, "127.") || name == "::1" {
		return "" // each node's own agent calls it so
	}
	return name
}

// seriesNodes creates a node for each kubelet that labels tell from others, unless a known node has that name. One
// kubelet alone is that of the input, unless its name is another one.
func (s *splitter) seriesNodes(known []*host.Records) (out []*host.Records) {
	files := map[string]*parse.File{} // by name, in lower case; the file that names it first
	var names []string
	for _, x := range s.b.Series {
		if name := seriesNode(x); name != "" && strings.HasPrefix(x.Name, "kubelet_") {
			if k := strings.ToLower(name); files[k] == nil {
				files[k], names = seriesFile(x), append(names, name)
			}
		}
	}
	for _, name := range names {
		have := false
		for _, n := range known {
			have = have || host.SameHost(n.Name, name)
		}
		if !have && (len(names) > 1 || !isIP(name) && s.stranger(name, files[strings.ToLower(name)])) {
			out = append(out, &host.Records{Name: name})
		}
	}
	return out
}
