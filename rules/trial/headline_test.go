package trial

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse/logs"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// TestHeadline tests that the summary leads with NotReady and its stated reason, or else
// with what kept the node away; that it describes the longest episode and restarts; and
// that a look-alike is in only one list.
func TestHeadline(t *testing.T) {
	const lease = `kubelet[900]: E0304 10:00:%s.000000     900 controller.go:146] "Failed to ensure lease exists, will retry" err="Get \"https://10.1.1.1:6443/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1?timeout=10s\": dial tcp 10.1.1.1:6443: connect: connection refused"`
	skip := func(at, age string) string {
		return "E0304 " + at + `.000000     900 kubelet.go:2347] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active ` + age + ` ago; threshold is 3m0s"`
	}
	start := func(at string, pid int) string {
		return fmt.Sprintf(`I0304 %s.000000     %d kubelet.go:2310] "Starting kubelet main sync loop"`, at, pid)
	}
	for _, c := range []struct {
		name, lines   string
		starts, holds string
	}{
		{"a described node turned NotReady before its last heartbeat",
			"  Ready   False   Wed, 04 Mar 2026 10:25:43 +0000   Wed, 04 Mar 2026 10:06:30 +0000   KubeletNotReady   [container runtime is down, PLEG is not healthy: pleg was last seen active 22m13.5s ago; threshold is 3m0s]",
			"the node: NotReady from 2026-03-04 10:06:30 UTC (container runtime is down, PLEG is not healthy); PLEG unhealthy from 2026-03-04 10:06:29 UTC", ""},
		{"the API server is away",
			"Mar 04 10:00:00 n1 " + strings.Replace(lease, "%s", "00", 1) + "\nMar 04 10:00:10 n1 " + strings.Replace(lease, "%s", "10", 1),
			"n1: calls to the API server fail (api-server-unreachable)", ""},
		{"the API server was away, and the log goes on",
			"Mar 04 10:00:00 n1 " + strings.Replace(lease, "%s", "00", 1) + "\nMar 04 10:00:10 n1 " + strings.Replace(lease, "%s", "10", 1) +
				"\nMar 04 10:30:00 n1 " + start("10:30:00", 2114),
			"n1: calls to the API server fail (api-server-unreachable), by lines from 2026-03-04 10:00:00 UTC to 10:00:10", ""},
		{"a text quotes a report",
			"Our nodes go NotReady every other day.\nPLEG is not healthy: pleg was last seen active 3m5.3s ago; threshold is 3m0s\nDoes anybody know what it means?",
			"the node: the input quotes a report that PLEG is not healthy; nothing shows that it is this node's own. Collect", ""},
		{"a line quotes a report of another node",
			`I1120 23:34:10.000000    900 event.go:294] "Event occurred" object="node-99" kind="Node" reason="NodeNotReady" message="PLEG is not healthy: pleg was last seen active 4m47s ago; threshold is 3m0s"`,
			"the node: the input quotes a report that PLEG is not healthy; nothing shows that it is this node's own. Collect", ""},
		{"the second episode lasts longer",
			strings.Join([]string{skip("10:03:05", "3m5s"), skip("10:03:10", "3m10s"), skip("10:03:15", "3m15s"), skip("10:13:05", "3m5s"), skip("10:13:10", "3m10s"), skip("10:23:15", "13m15s")}, "\n"),
			"", "last relist at least 13m15s old (the worst of 2 episodes)"},
		{"the first episode may have lasted longer, the second is proven to have",
			strings.Join([]string{skip("10:03:05", "3m5s"), skip("10:03:10", "3m10s"), skip("10:26:35", "6m20s")}, "\n"),
			"the node: PLEG unhealthy from 2026-03-04 10:23:14 UTC at the latest, not recovered by the end of the log", " (the worst of 2 episodes)"},
		{"the last episode is open",
			strings.Join([]string{skip("10:13:05", "13m5s"), skip("10:13:10", "13m10s"), skip("10:26:35", "3m20s")}, "\n"),
			"the node: PLEG unhealthy from 2026-03-04 10:02:59 UTC at the latest, recovery not seen, last relist at least 13m10s old", " (the worst of 2 episodes, the last of them not recovered by the end of the log)"},
		{"another episode follows within a minute",
			strings.Join([]string{skip("10:13:05", "13m5s"), skip("10:13:10", "13m10s"), skip("10:13:50", "3m20s")}, "\n"),
			"the node: PLEG unhealthy from 2026-03-04 10:02:59 UTC at the latest, recovery not seen, last relist at least 13m10s old", " (the worst of 2 episodes, the last of them not recovered by the end of the log)"},
		{"NotReady, and no line says why",
			"Normal  NodeNotReady  25m (x3 over 46m)  kubelet, n1  Node n1 status is now: NodeNotReady",
			"n1: the node became NotReady, and why is not known", ""},
		{"the first status check of the runtime is still to come",
			`E1108 18:54:46.297244     900 kubelet.go:2383] "Skipping pod synchronization" err="container runtime status check may not have completed yet"` + "\n" +
				`I1108 18:54:46.320642     900 kuberuntime_manager.go:447] "Retrieved pods from runtime" all=true`,
			"the node: PLEG was within its threshold at ", "Found: the kubelet skips pod synchronization, as its first status check of the runtime may not have completed"},
		{"the kubelet restarted", strings.Join([]string{start("10:00:01", 900), skip("10:03:05", "3m5s"), start("10:05:01", 901), start("10:09:01", 902)}, "\n"),
			"the node: PLEG unhealthy from", "; the kubelet restarted 2 times."},
		{"systemd restarts the kubelet",
			"Jul 31 01:50:51 n1 systemd[1]: kubelet.service: Scheduled restart job, restart counter is at 3.\nJul 31 01:51:01 n1 systemd[1]: kubelet.service: Scheduled restart job, restart counter is at 4.",
			"n1: ", "systemd scheduled a restart of the kubelet at least 2 times."},
		{"supervisord does",
			"2016-05-09 12:34:55,700 INFO exited: kubelet (exit status 255; not expected)\n2016-05-09 12:34:56,789 INFO spawned: 'kubelet' with pid 4711",
			"the node: ", "the kubelet restarted once."},
		{"supervisord restarts docker",
			"2016-05-09 12:34:55,700 INFO exited: docker (exit status 2; not expected)\n2016-05-09 12:34:56,789 INFO spawned: 'docker' with pid 4711",
			"the node: ", "(runtime-restart"},
		{"a snap is refreshed",
			"Sep 5 04:50:39 n1 systemd[1]: Stopped Service for snap application microk8s.daemon-containerd.\nSep 5 04:50:40 n1 systemd[1]: Stopped Service for snap application microk8s.daemon-kubelite.\n" +
				"Sep 5 04:50:55 n1 systemd[1]: Started Service for snap application microk8s.daemon-containerd.\nSep 5 04:50:56 n1 systemd[1]: Started Service for snap application microk8s.daemon-kubelite.",
			"n1: ", "(runtime-restart"},
		{"and with it the kubelet",
			"Sep 5 04:50:40 n1 systemd[1]: Stopped Service for snap application microk8s.daemon-kubelite.\nSep 5 04:50:56 n1 systemd[1]: Started Service for snap application microk8s.daemon-kubelite.",
			"n1: ", "the kubelet restarted once."},
		{"systemd restarts the kubelet of a snap",
			"Dec 17 19:35:42 n1 systemd[1]: snap.microk8s.daemon-kubelet.service: Scheduled restart job, restart counter is at 5.",
			"n1: ", "systemd scheduled a restart of the kubelet at least once."},
		{"the network plugin is not set up",
			`E0304 10:00:00.000000     900 kubelet.go:2855] "Container runtime network not ready" networkReady="NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"` + "\n" +
				`E0304 10:00:05.000000     900 kubelet.go:2855] "Container runtime network not ready" networkReady="NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"`,
			"", "(network-not-ready)"},
		{"one write of a lease is cut off",
			`E0304 10:00:00.000000     900 controller.go:149] failed to update node lease, error: Put https://10.1.1.1:6443/apis/coordination.k8s.io/v1beta1/namespaces/kube-node-lease/leases/n1?timeout=10s: read tcp 10.1.1.9:52274->10.1.1.1:6443: read: connection reset by peer`,
			"the node: not enough evidence to tell", "cause unknown, api-server-unreachable is possible"},
	} {
		pack, _ := rules.Builtin()
		nodes := replay.Build(Bundle(&rules.TestCase{Files: []rules.TestFile{{Name: "input.log", Text: c.lines + "\n"}}}, logs.Builtin()), replay.Options{})
		if len(nodes) != 1 {
			t.Errorf("%s: %d nodes", c.name, len(nodes))
			continue
		}
		r := rules.Eval(nodes[0], pack)
		if !strings.HasPrefix(r.Summary, c.starts) || !strings.Contains(r.Summary, c.holds) {
			t.Errorf("%s: %q; want it to begin with %q and to hold %q", c.name, r.Summary, c.starts, c.holds)
		}
		for _, l := range r.LookAlikes {
			if named(r.Causes, l.ID) {
				t.Errorf("%s: %s is told twice", c.name, l.ID)
			}
		}
	}
}
