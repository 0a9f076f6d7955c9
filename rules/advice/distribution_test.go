package advice

import (
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestDistributions: the logs are requested where the distribution keeps them, which a path or name
// in any line shows.
func TestDistributions(t *testing.T) {
	for _, c := range []struct{ sig, runtime, id, want string }{
		{"", "", "runtime-log", "journalctl -u containerd -u crio -u docker -o short-precise --utc --no-pager > runtime.log"},
		{"distribution.k3s", "", "runtime-log", "cat /var/lib/rancher/k3s/agent/containerd/containerd.log > runtime.log"},
		{"distribution.k3s", "docker 20.10", "runtime-log", "journalctl -u docker -o short-precise --utc --no-pager > runtime.log"},
		{"distribution.k3s", "", "kubelet-log", "journalctl -u k3s -u k3s-agent -o short-precise --utc --no-pager > kubelet.log"},
		{"distribution.rancher", "", "runtime-log", "cat /var/lib/rancher/*/agent/containerd/containerd.log > runtime.log"},
		{"distribution.rke2", "", "kubelet-log", "cat /var/lib/rancher/rke2/agent/logs/kubelet.log > kubelet.log"},
		{"distribution.k0s", "", "kubelet-log", "journalctl -u k0scontroller -u k0sworker -o short-precise --utc --no-pager > kubelet.log"},
		{"distribution.k0s", "", "runtime-log", "journalctl -u k0scontroller -u k0sworker -o short-precise --utc --no-pager > runtime.log"},
		{"distribution.microk8s", "", "runtime-log", "journalctl -u snap.microk8s.daemon-containerd -o short-precise --utc --no-pager > runtime.log"},
		{"distribution.microk8s", "docker 18.9", "runtime-log", "journalctl -u snap.microk8s.daemon-docker -o short-precise --utc --no-pager > runtime.log"},
		{"distribution.upstart", "", "kubelet-log", "cat /var/log/upstart/kubelet.log > kubelet.log"},
		{"distribution.upstart", "docker 1.9", "runtime-log", "cat /var/log/upstart/docker.log > runtime.log"},
		{"distribution.nosystemd", "", "kernel-log", "dmesg > kernel.log"},
		{"distribution.nosystemd", "", "kubelet-log", "cat /var/log/kubelet.log /var/log/kubelet/*.log > kubelet.log"},
		{"distribution.rke", "", "kubelet-log", "{ docker logs kubelet 2>&1; } > kubelet.log"},
		{"distribution.rke", "", "runtime-log", "journalctl -u docker -o short-precise --utc --no-pager > runtime.log"},
		{"distribution.talos", "", "kubelet-log", "talosctl -n n1 logs kubelet > kubelet.log"},
		{"distribution.talos", "", "containers", ""},
	} {
		n := new(replay.Node)
		n.Name, n.Kubelet.Runtime = "n1", c.runtime
		n.Events = []*parse.Event{parse.NewEvent(&parse.EventKind{File: new(parse.File), Origin: new(parse.Origin), Sigs: &parse.SigSet{Sigs: []*parse.Sig{{ID: c.sig}}}}, parse.Text{}, parse.Event{})}
		if got := command(n, c.id); got != c.want {
			t.Errorf("%s %s, %s: %s, want %s", c.sig, c.runtime, c.id, got, c.want)
		}
	}
}

// TestDistributionOfWriters: the units and programs that wrote lines show the distribution.
func TestDistributionOfWriters(t *testing.T) {
	for _, c := range []struct{ unit, ident, want string }{
		{"", "k0s/kubelet", "journalctl -u k0scontroller -u k0sworker -o short-precise --utc --no-pager > kubelet.log"}, // in k0s' own lines
		{"", "k0s", "journalctl -u k0scontroller -u k0sworker -o short-precise --utc --no-pager > kubelet.log"},
		{"k0sworker.service", "k0s", "journalctl -u k0sworker -o short-precise --utc --no-pager > kubelet.log"},
	} {
		n := new(replay.Node)
		n.Coverage = []*parse.Coverage{{File: new(parse.File), Origin: &parse.Origin{Unit: c.unit, Ident: c.ident}}}
		if got := command(n, "kubelet-log"); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.unit, c.ident, got, c.want)
		}
	}
}

// TestSystemdInAContainer: where a journal was read, systemd runs, whatever a program in a container
// sees of it.
func TestSystemdInAContainer(t *testing.T) {
	n := new(replay.Node)
	n.Events = []*parse.Event{parse.NewEvent(&parse.EventKind{File: new(parse.File), Origin: new(parse.Origin), Sigs: &parse.SigSet{Sigs: []*parse.Sig{{ID: "distribution.nosystemd"}}}}, parse.Text{}, parse.Event{})}
	n.Coverage = []*parse.Coverage{{File: &parse.File{Role: parse.RoleJournal}, Origin: new(parse.Origin)}}
	if got, want := command(n, "kernel-log"), "journalctl -k -o short-precise --utc --no-pager > kernel.log"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestDistributionOfSeveralLogs: where a command reads the logs of kubelet and runtime, it reads each
// of them where it is.
func TestDistributionOfSeveralLogs(t *testing.T) {
	k3s, rke2 := rancher("k3s", "k3s"), rancher("rke2", rke2Units)
	const command = "journalctl -u kubelet -u containerd --no-pager | grep -i cni"
	if got, want := k3s.fill(command), "{ journalctl -u k3s --no-pager; cat /var/lib/rancher/k3s/agent/containerd/containerd.log; } | grep -i cni"; got != want {
		t.Error(got)
	}
	if got := rke2.fill(command); strings.Contains(got, "journalctl") || !strings.HasSuffix(got, ".log | grep -i cni") {
		t.Error(got)
	}
	if got, want := k3s.fill("systemctl show kubelet containerd -p TasksMax"), "systemctl show k3s -p TasksMax"; got != want {
		t.Error(got)
	}
}
