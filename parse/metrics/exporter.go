package metrics

import "bytes"

// exporterSet is a bit set of indices into exporters whose metrics a snapshot
// holds.
type exporterSet uint32

// exporters identifies the source of a snapshot by prefixes of metric names. The
// first entry found in a snapshot wins: the kubelet's /metrics also holds metrics
// of libraries (apiserver_, rest_client_).
var exporters = []struct{ prefix, job string }{
	{"kubelet_", "kubelet"},
	{"cadvisor_version_info", "kubelet/cadvisor"},
	{"container_cpu_cfs_", "kubelet/cadvisor"},
	{"container_fs_", "kubelet/cadvisor"},
	{"prober_probe_total", "kubelet/probes"},
	{"resource_scrape_error", "kubelet/resource"},
	{"node_cpu_usage_seconds_total", "kubelet/resource"},
	{"scrape_error", "kubelet/resource"},
	{"node_exporter_build_info", "node-exporter"},
	{"node_uname_info", "node-exporter"},
	{"node_load1", "node-exporter"},
	{"kube_node_info", "kube-state-metrics"},
	{"kube_pod_info", "kube-state-metrics"},
	{"containerd_", "containerd"},
	{"container_runtime_crio_", "crio"},
	{"crio_", "crio"},
	{"engine_daemon_", "docker"},
	{"etcd_server_", "etcd"},
	{"apiserver_request", "apiserver"},
	{"scheduler_", "scheduler"},
	{"prometheus_tsdb_", "prometheus"},
}

// learn records the exporter that a metric name indicates.
func (s *exporterSet) learn(name []byte) {
	for i, e := range exporters {
		if name[0] == e.prefix[0] && bytes.HasPrefix(name, []byte(e.prefix)) {
			*s |= 1 << i
			return
		}
	}
}

// job returns the name of the exporter, "" if unknown.
func (s exporterSet) job() string {
	for i, e := range exporters {
		if s&(1<<i) != 0 {
			return e.job
		}
	}
	return ""
}
