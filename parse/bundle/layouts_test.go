package bundle

import (
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// paths are members as collectors name them, with their expected identity. They are
// identified in this order, each tree by an identifier of its own.
var paths = []struct {
	input, layout string
	members       []string // "path role node", "-" for none; "why" for files that are not used
}{
	{"sosreport 4", "sosreport", []string{
		"sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm.tar.xz!sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm/version.txt facts -",
		"sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm.tar.xz!sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm/sos_reports/manifest.json manifest -",
		"sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm.tar.xz!sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm/sos_commands/kubernetes/journalctl_--no-pager_--unit_kubelet kubelet-log -",
		"sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm.tar.xz!sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm/sos_commands/openshift/journalctl_--no-pager_--unit_kubelet_--since_2024-01-01_00_00_00 kubelet-log -",
		"sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm.tar.xz!sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm/sos_commands/kubernetes/journalctl_--no-pager_--unit_snap.kubelet.daemon kubelet-log -",
		"sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm.tar.xz!sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm/sos_commands/crio/journalctl_--no-pager_--unit_crio log -",
		"sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm.tar.xz!sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm/sos_commands/logs/journalctl_--no-pager_--catalog_--boot_-1 log -",
		"sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm.tar.xz!sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm/sos_commands/crio/crictl_ps_-a cri-snapshot -",
		"sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm.tar.xz!sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm/sos_commands/crio/pods/crictl_inspectp_abc cri-snapshot -",
		"sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm.tar.xz!sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm/sos_commands/crio/containers/logs/crictl_logs_-t_abc why -",
		"sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm.tar.xz!sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm/sos_strings/logs/journalctl_--no-pager.tailed log -",
		"sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm.tar.xz!sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm/tmp/crio-goroutine-stacks123.log stacks -",
		"sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm.tar.xz!sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm/proc/812/stack stacks -",
		"sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm.tar.xz!sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm/var/log/sa/sa21 why -",
		"sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm.tar.xz!sosreport-ip-10-0-40-7-during-2026-11-21-kjnxtdm/var/log/journal/abc/system.journal journal -",
	}},
	{"sosreport with its signs late", "sosreport", []string{
		"sosreport-vm-q-2026-11-21-xrkxzhh.tar.xz!sosreport-vm-q-2026-11-21-xrkxzhh/proc/softirqs facts -",
		"sosreport-vm-q-2026-11-21-xrkxzhh.tar.xz!sosreport-vm-q-2026-11-21-xrkxzhh/sos_reports/manifest.json manifest -",
	}},
	{"sosreport 3", "sosreport", []string{
		"sosreport-host.12345-20190301101010/sos_commands/origin/journalctl_--no-pager_--unit_atomic-openshift-node kubelet-log -",
		"sosreport-host.12345-20190301101010/sos_commands/logs/journalctl_--all_--this-boot_--no-pager_-o_verbose log -",
		"sosreport-host.12345-20190301101010/sos_commands/general/dmesg kernel-log -",
		"sosreport-host.12345-20190301101010/sos_commands/docker/docker_ps_-a cri-snapshot -",
	}},
	{"sos collect", "sos-collect", []string{
		"sos-collector-x-2026-11-21-abcde.tar!sos-collector-x-2026-11-21-abcde/sos_reports/manifest.json manifest -",
		"sos-collector-x-2026-11-21-abcde.tar!sos-collector-x-2026-11-21-abcde/sosreport-n1-2026-11-21-aaaaaaa.tar.xz!sosreport-n1-2026-11-21-aaaaaaa/sos_commands/kubernetes/journalctl_--no-pager_--unit_kubelet kubelet-log -",
	}},
	{"must-gather", "must-gather", []string{
		"must-gather.local.1/quay-io-x/host_service_logs/masters/kubelet_service.log kubelet-log -",
		"must-gather.local.1/quay-io-x/host_service_logs/masters/crio_service.log runtime-log -",
		"must-gather.local.1/quay-io-x/cluster-scoped-resources/core/nodes/n1.yaml objects n1",
		"must-gather.local.1/quay-io-x/namespaces/a/core/events.yaml objects -",
		"must-gather.local.1/quay-io-x/namespaces/a/pods/p/c/c/logs/current.log why -",
		"must-gather.local.1/quay-io-x/namespaces/a/pods/p/c/metrics.json metrics -",
		"must-gather.local.1/quay-io-x/nodes/n2/n2_logs_kubelet.gz kubelet-log n2",
		"must-gather.local.1/quay-io-x/host_service_logs/windows/log_files/kubelet/kubelet.log kubelet-log -",
	}},
	{"openshift-ci", "openshift-ci", []string{
		"artifacts/nodes/n1/journal.gz log n1",
		"artifacts/nodes/n1/heap why n1",
		"artifacts/metrics/prometheus.tar.gz!./wal/00000001 tsdb -",
		"artifacts/events.json objects -",
	}},
	{"node-logs", "node-logs", []string{"masters/kubelet_service.log kubelet-log -"}},
	{"insights", "insights", []string{
		"insights-2026.tar.gz!config/node/logs/n1.log kubelet-log n1", "insights-2026.tar.gz!config/metrics metrics -", "insights-2026.tar.gz!config/node/n1.json objects n1",
	}},
	{"eks", "eks-log-collector", []string{
		"eks_i-0abc_2026-11-21_0000-UTC_0.7.9.tar.gz!./kubelet/kubelet.log - -",
		"eks_i-0abc_2026-11-21_0000-UTC_0.7.9.tar.gz!./system/instance-id.txt facts -",
		"eks_i-0abc_2026-11-21_0000-UTC_0.7.9.tar.gz!./kubelet/kubelet.log kubelet-log -",
		"eks_i-0abc_2026-11-21_0000-UTC_0.7.9.tar.gz!./containerd/containerd.123.stacks.log stacks -",
		"eks_i-0abc_2026-11-21_0000-UTC_0.7.9.tar.gz!./docker/docker-trace.txt stacks -",
		"eks_i-0abc_2026-11-21_0000-UTC_0.7.9.tar.gz!./kernel/dmesg.human.current why -",
		"eks_i-0abc_2026-11-21_0000-UTC_0.7.9.tar.gz!./ipamd/metrics.json metrics -",
		"eks_i-0abc_2026-11-21_0000-UTC_0.7.9.tar.gz!./kubelet/kubeconfig.yaml why -",
	}},
	{"kind", "kind-export", []string{
		"logs/kind-version.txt facts -", "logs/kind-worker/kubelet.log kubelet-log kind-worker", "logs/kind-worker/serial.log kernel-log kind-worker",
		"logs/kind-worker/pods/a/b.log why kind-worker", "logs/kind-worker/alternatives.log - kind-worker",
	}},
	{"harvester", "support-bundle-kit", []string{
		"supportbundle_1.zip!supportbundle_1/yamls/cluster/v1/nodes.yaml objects -",
		"supportbundle_1.zip!supportbundle_1/nodes/n1.zip!n1/logs/kubelet.log kubelet-log n1",
		"supportbundle_1.zip!supportbundle_1/nodes/n1.zip!n1/logs/kernel.log.1 kernel-log n1",
		"supportbundle_1.zip!supportbundle_1/nodes/n1.zip!n1/logs/rke2-server.log log n1",
		"supportbundle_1.zip!supportbundle_1/logs/a/p/c.log why -",
	}},
	{"supportconfig", "supportconfig", []string{
		"scc_host_1.txz!scc_host_1/basic-environment.txt facts -", "scc_host_1.txz!scc_host_1/messages.txt log -", "scc_host_1.txz!scc_host_1/boot.txt kernel-log -",
	}},
	{"rancher", "rancher-logs-collector", []string{
		"n1-2026-11-21_00_00_00.tar.gz!n1-2026-11-21_00_00_00/systeminfo/ps facts -", "n1-2026-11-21_00_00_00.tar.gz!n1-2026-11-21_00_00_00/rke2/agent-logs/kubelet.log kubelet-log -",
		"n1-2026-11-21_00_00_00.tar.gz!n1-2026-11-21_00_00_00/rke2/crictl/psa cri-snapshot -", "n1-2026-11-21_00_00_00.tar.gz!n1-2026-11-21_00_00_00/journald/rke2-server log -",
		"n1-2026-11-21_00_00_00.tar.gz!n1-2026-11-21_00_00_00/rke/containerlogs/kubelet kubelet-log -",
	}},
	{"talos", "talos-support", []string{
		"support.zip!10.0.0.2/service-logs/kubelet.log kubelet-log 10.0.0.2", "support.zip!10.0.0.2/dmesg.log kernel-log 10.0.0.2", "support.zip!kubernetesResources/nodes.yaml objects -",
	}},
	{"troubleshoot", "troubleshoot", []string{
		"support-bundle-1/cluster-resources/nodes.json objects -", "support-bundle-1/host-collectors/journald/kubelet.txt kubelet-log -",
		"support-bundle-1/host-collectors/journald/kubelet-info.json manifest -", "support-bundle-1/cluster-resources/pods/logs/a/p/c.log why -",
	}},
	{"aks", "aks-periscope", []string{"aks.zip!systemlogs/kubelet kubelet-log -", "aks.zip!systemperf/x facts -"}},
	{"log-dump", "k8s-log-dump", []string{"artifacts/n1/serial-1.log kernel-log n1", "artifacts/n1/kubelet.log kubelet-log n1"}},
	{"cluster-info", "cluster-info-dump", []string{"dump/kube-system/events.json objects -", "dump/nodes.json objects -", "dump/a/p/logs.txt why -"}},
	{"tsdb", "prometheus-tsdb", []string{"data/wal/00000001 tsdb -", "data/01ARZ3NDEKTSV4RRFFQ69G5FAV/chunks/000001 tsdb -"}},
	{"plain", "", []string{"kubelet.log - -", "a/b/messages - -"}},
}

func TestIdentify(t *testing.T) {
	seen := map[string]bool{}
	for _, tt := range paths {
		seen[tt.layout] = true
		x := &identifier{}
		for _, m := range tt.members {
			f := strings.Split(m, " ")
			got := x.identify(f[0])
			role := string(got.Role)
			if role == "" {
				role = "-"
			}
			if got.Why != "" {
				role = "why"
			}
			node := got.Node
			if node == "" {
				node = "-"
			}
			if role != f[1] || node != f[2] {
				t.Errorf("%s: %s: role %s, node %s, layout %q; want %s, %s", tt.input, f[0], role, node, got.Layout, f[1], f[2])
			}
		}
		if got := x.kind(); got != tt.layout {
			t.Errorf("%s: layout %q, want %q", tt.input, got, tt.layout)
		}
	}
	for _, l := range layouts {
		if !seen[l.name] {
			t.Errorf("layout %s has no sample tree", l.name)
		}
	}
}

// TestFinish: members seen before the first sign of their layout get layout and
// node.
func TestFinish(t *testing.T) {
	x := &identifier{}
	early := &parse.File{Path: "b.zip!b/nodes/n1.zip!n1/other"}
	x.identify(early.Path)
	x.identify("b.zip!b/yamls/cluster/v1/nodes.yaml")
	x.finish([]*parse.File{early})
	if early.Layout != "support-bundle-kit" || early.Node != "n1" {
		t.Errorf("layout %q, node %q", early.Layout, early.Node)
	}
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, path, node string
		ok                  bool
	}{
		{"a/*/c", "a/b/c", "", true}, {"a/*/c", "a/b/c/d", "", false}, {"a/**", "a", "", false}, {"a/**", "a/b/c", "", true},
		{"**/x.log", "x.log", "", true}, {"**/x.log", "a/b/x.log", "", true}, {"n/{node}.yaml", "n/w-1.yaml", "w-1", true},
		{"{node}/x", "/x", "", false}, {"j_*--unit_*kubelet*", "j_--no-pager_--unit_snap.kubelet.daemon", "", true}, {"a?c", "abc", "", true},
		{"a*b*c", "aXXbYYc", "", true}, {"a*b*c", "aXXbYY", "", false},
	} {
		node, ok := match(strings.Split(tt.pattern, "/"), elements(tt.path))
		if node != tt.node || ok != tt.ok {
			t.Errorf("match(%q, %q) = %q, %v", tt.pattern, tt.path, node, ok)
		}
	}
}

func FuzzIdentify(f *testing.F) {
	for _, tt := range paths {
		f.Add(strings.Join(tt.members, "\n"))
	}
	f.Fuzz(func(t *testing.T, in string) {
		x := &identifier{}
		for _, p := range strings.Split(in, "\n") {
			x.identify(p)
		}
	})
}

func BenchmarkIdentify(b *testing.B) {
	x := &identifier{}
	x.identify("s.tar!s/sos_commands/a/b")
	for b.Loop() {
		x.identify("s.tar!s/sys/devices/system/cpu/cpu0/topology/core_id")
	}
}
