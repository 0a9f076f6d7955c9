package bundle

import "github.com/plegforensics/plegforensics/parse"

// layout describes how a collector lays out its output. It is recognized by any one
// of its signs. To add one, add a literal to layouts; TestIdentify requires a
// sample tree.
//
// Patterns are paths relative to the root of the layout; archives inside count as
// directories. In an element "*" matches any text and "{node}" any text, which
// names the node; the element "**" matches any number of elements.
type layout struct {
	name    string
	oneNode bool     // the tree is of one node, which one of its files names
	packs   bool     // directories may be packed as DIR.tar in their place
	tops    []string // names of the root directory: a sign for members that come before the other signs
	signs   []string
	files   []rule
}

// rule assigns a role to files. The first matching rule wins.
type rule struct {
	path string
	role parse.Role
	why  string // for RoleUnknown: why the file is of no use, or not used
}

// nodeOnly is the role of a rule that gives the node and leaves the role to the
// content.
const nodeOnly parse.Role = "node"

// Reasons why a file is not used.
const (
	whyUnknown = "its content is of no known kind"
	whyEmpty   = "empty"
	whyHole    = "holds nothing but NUL bytes"
	whyCopy    = "a copy of another file of the bundle"
	whyOwn     = "a report of plegforensics, whose quotes are no log"
	whyBinary  = "binary sar data; the text or XML of the same day is used"
)

// layouts are tried in this order; the first with a sign in the path wins.
var layouts = []layout{
	{
		name:  "sos-collect",
		signs: []string{"sos-collector-*/**"},
		files: []rule{
			{path: "**/sos_reports/manifest.json", role: parse.RoleManifest},
			{path: "**/sos_logs/**", role: parse.RoleUnknown, why: "log of the collector itself"},
			{path: "**/sos_reports/**", role: parse.RoleUnknown, why: "index of the collector itself"},
			{path: "**/checksums/**", role: parse.RoleUnknown, why: "checksums"},
		},
	},
	{
		name:    "sosreport",
		oneNode: true,
		packs:   true, // --pack-dir
		tops:    []string{"sosreport-*"},
		signs: []string{
			"sos_commands/**", "sos_reports/manifest.json", "sos_strings/**", "sos_logs/sos.log",
		},
		files: []rule{
			{path: "sos_reports/manifest.json", role: parse.RoleManifest},
			{path: "version.txt", role: parse.RoleFacts},
			{path: "sos_commands/*/journalctl_--disk-usage*", role: parse.RoleUnknown, why: "no log"},
			{path: "sos_commands/*/journalctl_--list-boots*", role: parse.RoleFacts},
			{path: "sos_commands/**/journalctl_*--unit_*kubelet*", role: parse.RoleKubeletLog},
			{path: "sos_strings/**/*journalctl_*--unit_*kubelet*.tailed", role: parse.RoleKubeletLog},
			{path: "sos_commands/**/journalctl_*--unit_*atomic-openshift-node*", role: parse.RoleKubeletLog},
			{path: "sos_commands/**/journalctl_*--unit_*", role: parse.RoleLog},
			{path: "sos_commands/**/journalctl_*", role: parse.RoleLog},
			{path: "sos_strings/**/*journalctl_*", role: parse.RoleLog},
			{path: "sos_strings/**/*var.log.*", role: parse.RoleLog},
			{path: "sos_strings/**/*dmesg*", role: parse.RoleKernelLog},
			{path: "sos_strings/**", role: parse.RoleFacts},
			{path: "sos_commands/*/crictl_info*", role: parse.RoleFacts},
			{path: "sos_commands/*/crictl_version*", role: parse.RoleFacts},
			{path: "sos_commands/*/crictl_stats*", role: parse.RoleUnknown, why: "container statistics say nothing about PLEG"},
			{path: "sos_commands/*/crictl_images*", role: parse.RoleUnknown, why: "image lists say nothing about PLEG"},
			{path: "sos_commands/*/containers/logs/**", role: parse.RoleUnknown, why: "logs of workload containers"},
			{path: "sos_commands/*/crictl_*", role: parse.RoleCRI},
			{path: "sos_commands/*/containers/*inspect*", role: parse.RoleCRI},
			{path: "sos_commands/*/pods/*inspect*", role: parse.RoleCRI},
			{path: "sos_commands/docker/docker_ps*", role: parse.RoleCRI},
			{path: "sos_commands/podman/podman_ps*", role: parse.RoleCRI},
			{path: "sos_commands/docker/docker_events*", role: parse.RoleLog},
			{path: "sos_commands/*/ctr_*container_ls*", role: parse.RoleCRI},
			{path: "sos_commands/kernel/dmesg_-T*", role: parse.RoleUnknown, why: whyCopy},
			{path: "sos_commands/*/dmesg*", role: parse.RoleKernelLog},
			{path: "sos_commands/kubernetes/**/*get_--raw_.metrics", role: parse.RoleUnknown, why: "metrics of the API server, not of a kubelet"},
			{path: "sos_commands/kubernetes/**/*nodes*", role: parse.RoleObjects},
			{path: "sos_commands/kubernetes/**/*events*", role: parse.RoleObjects},
			{path: "sos_commands/kubernetes/**/*pods*", role: parse.RoleObjects},
			{path: "tmp/*stack*.log", role: parse.RoleStacks},
			{path: "sos_commands/sar/sar*", role: parse.RoleFacts},
			{path: "sos_commands/sar/sa*.xml", role: parse.RoleFacts},
			{path: "var/log/sa/sa*", role: parse.RoleUnknown, why: whyBinary},
			{path: "var/log/sysstat/sa*", role: parse.RoleUnknown, why: whyBinary},
			{path: "var/log/journal/**", role: parse.RoleJournal},
			{path: "run/log/journal/**", role: parse.RoleJournal},
			{path: "var/log/kern.log*", role: parse.RoleKernelLog},
			{path: "var/log/{node}/kubelet.log", role: parse.RoleKubeletLog},
			{path: "var/log/messages*", role: parse.RoleLog},
			{path: "var/log/syslog*", role: parse.RoleLog},
			{path: "var/log/pods/**", role: parse.RoleUnknown, why: "logs of workload containers"},
			{path: "var/log/containers/**", role: parse.RoleUnknown, why: "logs of workload containers"},
			{path: "var/lib/kubelet/config.yaml", role: parse.RoleFacts},
			{path: "proc/*/stack", role: parse.RoleStacks},
			{path: "proc/*/task/*/stack", role: parse.RoleStacks},
			{path: "sys/fs/cgroup/**/freezer.state", role: parse.RoleFacts},
			{path: "sys/fs/cgroup/**/cgroup.events", role: parse.RoleFacts},
			{path: "sys/fs/cgroup/**/pids.current", role: parse.RoleFacts},
			{path: "sys/fs/cgroup/**/pids.max", role: parse.RoleFacts},
			{path: "sys/**", role: parse.RoleUnknown, why: "not needed"},
			{path: "proc/**", role: parse.RoleFacts}, // much of it looks like metrics
			{path: "etc/**", role: parse.RoleFacts},
			{path: "sos_logs/sos.log", role: parse.RoleFacts},
			{path: "sos_logs/**", role: parse.RoleUnknown, why: "log of the collector itself"},
			{path: "sos_reports/**", role: parse.RoleUnknown, why: "index of the collector itself"},
		},
	},
	{
		name:    "eks-log-collector",
		oneNode: true,
		signs:   []string{"system/instance-id.txt", "ipamd/**", "nodeadm/**", "var_log/messages", "kubelet/kubelet_service.txt", "kubelet/kubelet-service.csv"},
		files: []rule{
			{path: "kubelet/kubelet.log", role: parse.RoleKubeletLog},
			{path: "kubelet/kubelet-service.csv", role: parse.RoleKubeletLog},
			{path: "kubelet/*.json", role: parse.RoleFacts},
			{path: "kubelet/config.json.d/**", role: parse.RoleFacts},
			{path: "kubelet/kubelet_service.txt", role: parse.RoleFacts},
			{path: "kubelet/kubeconfig.yaml", role: parse.RoleUnknown, why: "credentials"},
			{path: "containerd/containerd-log.txt", role: parse.RoleRuntimeLog},
			{path: "containerd/containerd*stacks.log", role: parse.RoleStacks},
			{path: "containerd/containerd-version.txt", role: parse.RoleFacts},
			{path: "containerd/containerd-containers.txt", role: parse.RoleCRI},
			{path: "containerd/containerd-tasks.txt", role: parse.RoleCRI},
			{path: "docker/docker.log", role: parse.RoleRuntimeLog},
			{path: "docker/docker-ps.txt", role: parse.RoleCRI},
			{path: "docker/docker-trace.txt", role: parse.RoleStacks},
			{path: "docker/docker-info.txt", role: parse.RoleFacts},
			{path: "kernel/dmesg.current", role: parse.RoleKernelLog},
			{path: "kernel/dmesg.human.current", role: parse.RoleUnknown, why: whyCopy},
			{path: "kernel/dmesg.boot", role: parse.RoleUnknown, why: whyCopy},
			{path: "kernel/*", role: parse.RoleFacts},
			{path: "system/*", role: parse.RoleFacts},
			{path: "storage/*", role: parse.RoleFacts},
			{path: "var_log/messages*", role: parse.RoleLog},
			{path: "var_log/syslog*", role: parse.RoleLog},
			{path: "ipamd/metrics.json", role: parse.RoleMetrics},
			{path: "ipamd/**", role: parse.RoleUnknown, why: "log of the network plugin's daemon"},
		},
	},
	{
		name: "must-gather",
		signs: []string{
			"host_service_logs/**", "must-gather/version", "event-filter.html", "cluster-scoped-resources/**", "nodes/*/*_logs_kubelet.gz",
		},
		files: []rule{
			{path: "host_service_logs/windows/log_files/kubelet/*", role: parse.RoleKubeletLog},
			{path: "host_service_logs/windows/log_files/containerd/*", role: parse.RoleRuntimeLog},
			{path: "host_service_logs/*/kubelet_service.log", role: parse.RoleKubeletLog},
			{path: "host_service_logs/*/crio_service.log", role: parse.RoleRuntimeLog},
			{path: "host_service_logs/**", role: parse.RoleLog},
			{path: "nodes/{node}/*_logs_kubelet.gz", role: parse.RoleKubeletLog},
			{path: "nodes/{node}/dmesg*", role: parse.RoleKernelLog},
			{path: "nodes/{node}/sysinfo.tgz/**", role: parse.RoleFacts},
			{path: "nodes/{node}/pods_info.json", role: parse.RoleCRI},
			{path: "nodes/{node}/**", role: parse.RoleFacts},
			{path: "pprof/**", role: parse.RoleUnknown, why: "heap and CPU profiles hold no goroutine stacks"},
			{path: "cluster-scoped-resources/core/nodes/{node}.yaml", role: parse.RoleObjects},
			{path: "cluster-scoped-resources/core/nodes.yaml", role: parse.RoleObjects},
			{path: "cluster-scoped-resources/machineconfiguration.openshift.io/kubeletconfigs/*", role: parse.RoleFacts},
			{path: "namespaces/*/core/events.yaml", role: parse.RoleObjects},
			{path: "namespaces/*/core/pods.yaml", role: parse.RoleObjects},
			{path: "namespaces/*/pods/*/*.yaml", role: parse.RoleObjects},
			{path: "namespaces/*/pods/**/logs/**", role: parse.RoleUnknown, why: "logs of workload containers"},
			{path: "namespaces/*/pods/**/metrics.json", role: parse.RoleMetrics},
			{path: "monitoring/metrics/*.openmetrics", role: parse.RoleMetrics},
			{path: "monitoring/prometheus/rules.json", role: parse.RoleRules},
			{path: "namespaces/**", role: parse.RoleUnknown, why: "not needed"},
			{path: "cluster-scoped-resources/**", role: parse.RoleUnknown, why: "not needed"},
		},
	},
	{
		name: "openshift-ci",
		signs: []string{
			"nodes/*/journal", "nodes/*/journal.gz", "nodes/*/journal-previous.gz", "metrics/prometheus.tar.gz", "metrics/prometheus.tar.gz/**", "oc_cmds/**",
		},
		files: []rule{
			{path: "nodes/{node}/journal*", role: parse.RoleLog},
			{path: "nodes/{node}/heap*", role: parse.RoleUnknown, why: "heap profiles hold no goroutine stacks"},
			{path: "nodes/{node}/audit*", role: parse.RoleUnknown, why: "audit log"},
			{path: "nodes/{node}/**", role: parse.RoleFacts},
			{path: "metrics/prometheus.tar.gz/**", role: parse.RoleTSDB},
			{path: "metrics/prometheus*.tar*/**", role: parse.RoleTSDB},
			{path: "nodes.json", role: parse.RoleObjects},
			{path: "events.json", role: parse.RoleObjects},
			{path: "pods.json", role: parse.RoleObjects},
			{path: "pods/*", role: parse.RoleUnknown, why: "logs of workload containers"},
			{path: "oc_cmds/nodes", role: parse.RoleObjects},
			{path: "oc_cmds/events", role: parse.RoleObjects},
		},
	},
	{
		name:  "insights",
		signs: []string{"insights-operator/**", "config/node/logs/*", "insights_commands/**", "config/node/*.json"},
		files: []rule{
			{path: "config/node/logs/{node}.log", role: parse.RoleKubeletLog},
			{path: "config/node/{node}.json", role: parse.RoleObjects},
			{path: "config/metrics", role: parse.RoleMetrics},
			{path: "events/*.json", role: parse.RoleObjects},
			{path: "insights_commands/dmesg*", role: parse.RoleKernelLog},
			{path: "insights_commands/**", role: parse.RoleFacts},
		},
	},
	{
		name:  "kind-export",
		signs: []string{"kind-version.txt", "*/kubernetes-version.txt"},
		files: []rule{
			{path: "{node}/kubelet.log", role: parse.RoleKubeletLog},
			{path: "{node}/containerd.log", role: parse.RoleRuntimeLog},
			{path: "{node}/journal.log", role: parse.RoleLog},
			{path: "{node}/serial.log", role: parse.RoleKernelLog},
			{path: "{node}/kubernetes-version.txt", role: parse.RoleFacts},
			{path: "docker-info.txt", role: parse.RoleFacts},
			{path: "kind-version.txt", role: parse.RoleFacts},
			{path: "{node}/inspect.json", role: parse.RoleUnknown, why: "describes the machine's container, not its pods"},
			{path: "{node}/images.log", role: parse.RoleUnknown, why: "image lists say nothing about PLEG"},
			{path: "{node}/pods/**", role: parse.RoleUnknown, why: "logs of workload containers"},
			{path: "{node}/containers/**", role: parse.RoleUnknown, why: "logs of workload containers"},
			{path: "{node}/**", role: nodeOnly},
		},
	},
	{
		name:  "support-bundle-kit",
		signs: []string{"yamls/cluster/*/nodes.yaml", "nodes/*.zip/**", "yamls/namespaced/**", "nodes/*/hostinfos/**", "nodes/*/logs/k3s-service.log"},
		files: []rule{
			{path: "metadata.yaml", role: parse.RoleManifest},
			{path: "yamls/cluster/*/nodes.yaml", role: parse.RoleObjects},
			{path: "yamls/**/events.yaml", role: parse.RoleObjects},
			{path: "yamls/**/pods.yaml", role: parse.RoleObjects},
			{path: "yamls/**", role: parse.RoleUnknown, why: "not needed"},
			{path: "nodes/{node}.zip/**/logs/kubelet.log*", role: parse.RoleKubeletLog},
			{path: "nodes/{node}.zip/**/logs/containerd.log*", role: parse.RoleRuntimeLog},
			{path: "nodes/{node}.zip/**/logs/kernel.log*", role: parse.RoleKernelLog},
			{path: "nodes/{node}.zip/**/logs/dmesg.log*", role: parse.RoleKernelLog},
			{path: "nodes/{node}.zip/**/logs/*", role: parse.RoleLog},
			{path: "nodes/{node}.zip/**/hostinfos/**", role: parse.RoleFacts},
			{path: "nodes/{node}.zip/**", role: nodeOnly},
			{path: "nodes/{node}/logs/kubelet.log*", role: parse.RoleKubeletLog},
			{path: "nodes/{node}/logs/dmesg.log*", role: parse.RoleKernelLog},
			{path: "nodes/{node}/logs/*", role: parse.RoleLog},
			{path: "nodes/{node}/hostinfos/**", role: parse.RoleFacts},
			{path: "logs/**", role: parse.RoleUnknown, why: "logs of workload containers"},
		},
	},
	{
		name:    "supportconfig",
		oneNode: true,
		signs:   []string{"supportconfig.txt", "basic-environment.txt", "basic-health-check.txt"},
		files: []rule{
			{path: "messages.txt", role: parse.RoleLog},
			{path: "messages_config.txt", role: parse.RoleUnknown, why: "not needed"},
			{path: "boot.txt", role: parse.RoleKernelLog},
			{path: "rke2.txt", role: parse.RoleLog},
			{path: "k3s.txt", role: parse.RoleLog},
			{path: "*.txt", role: parse.RoleFacts},
		},
	},
	{
		name:    "rancher-logs-collector",
		oneNode: true,
		signs:   []string{"systeminfo/**", "*/crictl/psa", "rke/containerlogs/**", "journald/rke2-server", "journald/rke2-agent", "journald/k3s", "journald/k3s-agent"},
		files: []rule{
			{path: "systeminfo/dmesg", role: parse.RoleKernelLog},
			{path: "systeminfo/*", role: parse.RoleFacts},
			{path: "journald/kubelet", role: parse.RoleKubeletLog},
			{path: "journald/containerd", role: parse.RoleRuntimeLog},
			{path: "journald/docker", role: parse.RoleRuntimeLog},
			{path: "journald/*", role: parse.RoleLog},
			{path: "*/crictl/psa", role: parse.RoleCRI},
			{path: "*/crictl/pods", role: parse.RoleCRI},
			{path: "*/crictl/info", role: parse.RoleFacts},
			{path: "*/crictl/version", role: parse.RoleFacts},
			{path: "*/agent-logs/kubelet*.log", role: parse.RoleKubeletLog},
			{path: "*/agent-logs/containerd*.log", role: parse.RoleRuntimeLog},
			{path: "rke/containerlogs/kubelet", role: parse.RoleKubeletLog},
			{path: "rke/containerinspect/kubelet", role: parse.RoleFacts},
			{path: "docker/dockerpsa", role: parse.RoleCRI},
			{path: "docker/dockerinfo", role: parse.RoleFacts},
			{path: "*/kubectl/nodes*", role: parse.RoleObjects},
			{path: "*/kubectl/events*", role: parse.RoleObjects},
			{path: "systemlogs/*", role: parse.RoleLog},
		},
	},
	{
		name:  "talos-support",
		signs: []string{"*/service-logs/kubelet.log", "*/service-logs/*", "kubernetesResources/*.yaml", "*/controller-runtime.log"},
		files: []rule{
			{path: "kubernetesResources/nodes.yaml", role: parse.RoleObjects},
			{path: "kubernetesResources/systemPods.yaml", role: parse.RoleObjects},
			{path: "{node}/service-logs/kubelet.log", role: parse.RoleKubeletLog},
			{path: "{node}/service-logs/cri.log", role: parse.RoleRuntimeLog},
			{path: "{node}/service-logs/containerd.log", role: parse.RoleRuntimeLog},
			{path: "{node}/service-logs/*.log", role: parse.RoleLog},
			{path: "{node}/dmesg.log", role: parse.RoleKernelLog},
			{path: "{node}/processes", role: parse.RoleFacts},
			{path: "{node}/mounts", role: parse.RoleFacts},
			{path: "{node}/io", role: parse.RoleFacts},
			{path: "{node}/summary", role: parse.RoleFacts},
			{path: "{node}/kubernetes-logs/**", role: parse.RoleUnknown, why: "logs of workload containers"},
			{path: "{node}/**", role: nodeOnly},
		},
	},
	{
		name:  "troubleshoot",
		signs: []string{"cluster-resources/**", "host-collectors/**"},
		files: []rule{
			{path: "version.yaml", role: parse.RoleManifest},
			{path: "cluster-resources/nodes.json", role: parse.RoleObjects},
			{path: "cluster-resources/events/*.json", role: parse.RoleObjects},
			{path: "cluster-resources/pods/*.json", role: parse.RoleObjects},
			{path: "cluster-resources/pods/logs/**", role: parse.RoleUnknown, why: "logs of workload containers"},
			{path: "host-collectors/journald/*-info.json", role: parse.RoleManifest},
			{path: "host-collectors/journald/*kubelet*.txt", role: parse.RoleKubeletLog},
			{path: "host-collectors/journald/*.txt", role: parse.RoleLog},
			{path: "host-collectors/run-host/*-info.json", role: parse.RoleManifest},
			{path: "host-collectors/run-host/*journal*.txt", role: parse.RoleLog},
			{path: "host-collectors/run-host/*dmesg*.txt", role: parse.RoleKernelLog},
			{path: "host-collectors/run-host/*", role: parse.RoleFacts},
			{path: "host-collectors/system/*", role: parse.RoleFacts},
		},
	},
	{
		name:  "aks-periscope",
		signs: []string{"systemlogs/kubelet", "kubeletcmd/**", "*/collector/systemlogs/*", "collect-windows-logs/**"},
		files: []rule{
			{path: "systemlogs/kubelet*", role: parse.RoleKubeletLog},
			{path: "systemlogs/docker*", role: parse.RoleRuntimeLog},
			{path: "systemlogs/containerd*", role: parse.RoleRuntimeLog},
			{path: "nodelogs/**", role: parse.RoleLog},
			{path: "kubeletcmd/**", role: parse.RoleFacts},
			{path: "kubeobjects/**", role: parse.RoleObjects},
			{path: "systemperf/**", role: parse.RoleFacts},
			{path: "collect-windows-logs/**", role: parse.RoleLog},
		},
	},
	{
		name:  "k8s-log-dump",
		signs: []string{"*/kube-node-*.log", "*/node-problem-detector.log", "*/serial-1.log", "*/kube-node-configuration.log", "*/kubelet-monitor.log"},
		files: []rule{
			{path: "{node}/kubelet.log", role: parse.RoleKubeletLog},
			{path: "{node}/docker.log", role: parse.RoleRuntimeLog},
			{path: "{node}/containerd.log", role: parse.RoleRuntimeLog},
			{path: "{node}/kern.log", role: parse.RoleKernelLog},
			{path: "{node}/serial-1.log", role: parse.RoleKernelLog},
			{path: "{node}/*.log", role: parse.RoleLog},
			{path: "{node}/**", role: nodeOnly},
		},
	},
	{
		name:  "cluster-info-dump",
		signs: []string{"kube-system/events.json", "*/replication-controllers.json"},
		files: []rule{
			{path: "nodes.json", role: parse.RoleObjects},
			{path: "*/events.json", role: parse.RoleObjects},
			{path: "*/pods.json", role: parse.RoleObjects},
			{path: "*/*/logs.txt", role: parse.RoleUnknown, why: "logs of workload containers"},
			{path: "*/*.json", role: parse.RoleUnknown, why: "not needed"},
		},
	},
	{
		name:  "node-logs",
		signs: []string{"*/kubelet_service.log", "kubelet_service.log"},
		files: []rule{
			{path: "*/kubelet_service.log", role: parse.RoleKubeletLog},
			{path: "kubelet_service.log", role: parse.RoleKubeletLog},
			{path: "*/crio_service.log", role: parse.RoleRuntimeLog},
			{path: "crio_service.log", role: parse.RoleRuntimeLog},
		},
	},
	{
		name:  "prometheus-tsdb",
		signs: []string{"wal/*", "chunks_head/*", "??????????????????????????/chunks/*", "??????????????????????????/index"},
		files: []rule{{path: "**", role: parse.RoleTSDB}},
	},
}
