package metrics

import "strings"

// TypeOf returns the type of a series: that of its family's TYPE line, else as its
// name suggests, else "unknown". types maps family names to types.
func TypeOf(name string, types map[string]string) string {
	if t := types[name]; known(t) {
		return t
	}
	base, suffix := cutSuffix(name)
	if suffix != "" {
		if t := types[base]; known(t) {
			return t
		}
		if t := types[base+"_total"]; known(t) {
			return t
		}
	}
	if known(counterish(name)) {
		return counterish(name)
	}
	switch suffix {
	case "_bucket":
		return "histogram"
	case "_total":
		return "counter"
	case "_created", "_info":
		return "gauge"
	}
	return "unknown"
}

func known(t string) bool { return t != "" && t != "unknown" && t != "untyped" }

// counterish returns the type of well-known metrics whose names do not show it, ""
// for others.
func counterish(name string) string {
	switch name {
	case "kubelet_pleg_discard_events", "kubelet_evented_pleg_connection_error_count",
		"kubelet_evented_pleg_connection_success_count", "kubelet_runtime_operations", "kubelet_runtime_operations_errors":
		return "counter"
	case "kubelet_pleg_last_seen_seconds", "kubelet_running_pods", "kubelet_running_containers", "kubelet_node_name", "up":
		return "gauge"
	}
	return ""
}

// cutSuffix splits off the suffix that exposition formats add to a family's name.
func cutSuffix(name string) (base, suffix string) {
	for _, s := range []string{"_bucket", "_count", "_sum", "_total", "_created", "_info"} {
		if b, ok := strings.CutSuffix(name, s); ok && b != "" {
			return b, s
		}
	}
	return name, ""
}
