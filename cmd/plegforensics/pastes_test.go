package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// pastes are what people send: a few lines, cut, wrapped, or as a table. Each comes with what must
// and must not be concluded.
var pastes = []struct {
	name    string
	lines   []string
	command string
	want    []string // must be in the output
	not     []string // must not be
}{
	{"a line that no rule knows states its own moment, with year and zone", []string{
		`I0304 10:00:02.001000    1388 generic.go:155] GenericPLEG: 6f1c2d3e-0000-4a4a-8b8b-111111111111/aaaabbbb: non-existent -> unknown`,
		`I0304 10:00:02.014255    1388 handler.go:325] Added event &{/kubepods/burstable/pod6f1c2d3e/aaaabbbb 2020-03-04 10:00:02.014243226 +0000 UTC m=+118.08 containerDeletion {<nil>}}`,
		`I0304 10:00:02.215859    1388 kuberuntime_manager.go:930] getSandboxIDByPodUID got sandbox IDs ["aaaabbbb"]`,
	}, "analyze", []string{"log 2020-03-04 10:00:02 UTC"}, []string{"assumed"}},
	{"a line of the journal is dated, though its text goes on with the one above", []string{
		`Mar 04 10:00:07 n1 kubelet[952]: I0304 10:00:07.680000     952 reconciler.go:181] operationExecutor.UnmountVolume started for volume "a"`,
		`Mar 04 10:00:29 n1 kubelet[952]: I0304 10:00:29.632105     952 reconciler.go:`,
	}, "analyze", []string{"10:00:07 to 10:00:29 UTC"}, nil},
	{"crictl info says that the network is not ready", []string{
		`{`, `  "status": {`, `    "conditions": [`,
		`      {"type": "RuntimeReady", "status": true, "reason": "", "message": ""},`,
		`      {"type": "NetworkReady", "status": false, "reason": "NetworkPluginNotReady", "message": "cni config uninitialized"}`,
		`    ]`, `  }`, `}`,
	}, "analyze", []string{"the runtime's network is not ready"}, nil},
	{"a restart that systemd schedules need not begin", []string{
		`Mar 04 10:00:02 n1 systemd[1]: kubelet.service: Control process exited, code=exited, status=1/FAILURE`,
		`Mar 04 10:00:02 n1 systemd[1]: Failed to start kubelet: The Kubernetes Node Agent.`,
		`Mar 04 10:00:03 n1 systemd[1]: kubelet.service: Scheduled restart job, restart counter is at 1.`,
	}, "analyze", []string{"systemd scheduled a restart of the kubelet once"}, []string{"the kubelet restarted"}},
	{"log lines beside samples", []string{
		`Mar 04 10:00:02 n1 kernel: EXT4-fs (sdb): Remounting filesystem read-only`,
		`problem_counter{reason="FilesystemIsReadOnly"} 1`,
		`problem_gauge{reason="FilesystemIsReadOnly",type="ReadonlyFilesystem"} 1`,
	}, "analyze", []string{"Remounting filesystem read-only"}, []string{"skipped"}},
	{"rows of a table of conditions show no step of a clock", []string{
		`Conditions:`,
		`  Type             Status    LastHeartbeatTime                 LastTransitionTime                Reason              Message`,
		`  ----             ------    -----------------                 ------------------                ------              -------`,
		`  EtcdIsVoter      True      Sat, 25 Jan 2025 17:23:44 +0100   Fri, 24 Jan 2025 09:58:35 +0100   MemberNotLearner    Node is a voting member of the etcd cluster`,
		`  MemoryPressure   Unknown   Sat, 25 Jan 2025 17:01:59 +0100   Sat, 25 Jan 2025 17:07:29 +0100   NodeStatusUnknown   Kubelet stopped posting node status.`,
	}, "analyze", []string{"16:07:29 to 16:23:44 UTC"}, []string{"times that step"}},
	{"what is judged is not called not judged", []string{
		`Mar 04 10:00:02.995: INFO: Node n1 condition 2/2: type: Ready, status: False, reason: "KubeletNotReady", message: "container runtime is down", last transition time: 2020-03-04 10:00:01 -0800 PST`,
	}, "analyze --verbose", []string{"(cni-lock-status-hang)", "(runtime-status-only)", "Not judged"}, []string{"api-server-unreachable, cni-lock", "no-pleg-problem, runtime-status-only"}},
	{"the heading of watch states the year", []string{
		"Mar 04 05:10:07 n1 kubelet[952]: I0304 05:10:07.680000     952 reconciler.go:181] operationExecutor.UnmountVolume started for volume \"a\"",
		"",
		"Every 2.0s: kubectl get pods                                   n1: Wed Mar  4 08:10:00 2020",
	}, "analyze", []string{"log 2020-03-04 05:10:07 UTC"}, []string{"year assumed"}},
	{"a date of another day of the week, and one within a line, state no year", []string{
		"Linux n1 5.4.0 #46 SMP Wed Mar 4 00:24:02 UTC 2020 x86_64 GNU/Linux",
		"Thu Mar  4 08:10:00 2020",
		"Mar 04 05:10:07 n1 kubelet[952]: I0304 05:10:07.680000     952 reconciler.go:181] operationExecutor.UnmountVolume started for volume \"a\"",
	}, "analyze", []string{"year assumed"}, nil},
	{"date(1) states the year of the lines below it", []string{
		"[root@n1 ~]# date",
		"Wed Mar  4 08:10:00 EST 2020",
		"[root@n1 ~]# tail /var/log/kubelet.log",
		"I0304 10:00:02.001000    1388 generic.go:155] GenericPLEG: 6f1c2d3e-0000-4a4a-8b8b-111111111111/aaaabbbb: non-existent -> unknown",
	}, "analyze", []string{"log 2020-03-04 10:00:02 UTC"}, []string{"year assumed"}},
	{"a command states from when it shows the log", []string{
		"[root@n1 ~]# journalctl -u kubelet --since \"2020-03-04 05:00\"",
		"Mar 04 05:10:07 n1 kubelet[952]: I0304 05:10:07.680000     952 reconciler.go:181] operationExecutor.UnmountVolume started for volume \"a\"",
	}, "analyze", []string{"log 2020-03-04 05:10:07 UTC"}, []string{"year assumed"}},
	{"the insides of a Go time state the year", []string{
		"I0304 10:00:02.014255    1388 server.go:325] Added event {name:a at:{wall:0 ext:63718912802 loc:0x1}}",
		"I0304 10:00:02.215859    1388 kuberuntime_manager.go:930] getSandboxIDByPodUID got sandbox IDs [\"aaaabbbb\"]",
	}, "analyze", []string{"log 2020-03-04 10:00:02 UTC"}, []string{"year assumed"}},
	{"a file ends with its latest line, a record or not", []string{
		"Mar 04 05:10:07 n1 kubelet[952]: I0304 05:10:07.680000     952 status_manager.go:448] Status for pod \"a\" is up-to-date; skipping",
		"Mar 04 05:10:17 n1 kubelet[952]: I0304 05:10:17.680000     952 status_manager.go:448] Status for pod \"a\" is up-to-date; skipping",
		"Mar 04 05:10:02 n1 kubelet[952]: I0304 05:10:02.680000     952 status_manager.go:448] Status for pod \"a\" is up-to-date; skipping",
		"Mar 04 05:10:03 n1 kubelet[952]: I0304 05:10:03.680000     952 status_manager.go:448] Status for pod \"a\" is up-to-date; skipping",
	}, "inspect --year 2020", []string{"paste.log 4 2020-03-04 05:10:02 2020-03-04 05:10:17 How timestamps"}, nil},
	{"a last line of which the header was cut does not end before the one above", []string{
		"Mar 04 05:10:07 n1 kubelet[952]: I0304 05:10:07.130000     952 status_manager.go:448] Status for pod \"a\" is up-to-date; skipping",
		"Mar 04 05:10:10 n1 kubelet[952]: I0304 05:10:10.685742     952 status_manager.go:448] Status for pod \"a\" is up-to-date; skipping",
		"Mar 04 05:10:10 n1 kubelet[952]: I0304 05:10:10.685771     952 status_man",
	}, "analyze", []string{"05:10:07 to 05:10:10 UTC, 3.56s"}, nil},
	{"a search in several files: what it left out is no silence", []string{
		"./kubelet.log.1:I0304 10:00:02.001000    1388 eviction_manager.go:369] Eviction manager: attempting to reclaim memory",
		"./kubelet.log.1:I0304 10:20:02.001000    1388 eviction_manager.go:369] Eviction manager: attempting to reclaim memory",
		"./kubelet.log:I0304 10:40:02.001000    1388 eviction_manager.go:369] Eviction manager: attempting to reclaim memory",
	}, "analyze --verbose", []string{"10:20:02.001 (20m): search"}, []string{"gap", "silence"}},
	{"a command that searches a log", []string{
		"[root@n1 ~]# journalctl -u kubelet --no-pager | grep -i evict",
		"Mar 04 10:00:02 n1 kubelet[952]: I0304 10:00:02.001000    1388 eviction_manager.go:369] Eviction manager: attempting to reclaim memory",
		"Mar 04 10:20:02 n1 kubelet[952]: I0304 10:20:02.001000    1388 eviction_manager.go:369] Eviction manager: attempting to reclaim memory",
	}, "analyze", []string{"10:00:02 to 10:20:02 UTC, 20m; timestamps"}, []string{"gap", "silence"}},
	{"a search in what is no log", []string{
		"[root@n1 ~]# cat /var/log/audit/audit.log | grep type=.*AVC.*",
		"type=AVC msg=audit(1665420973.105:11631): avc:  denied  { execute } for  pid=87017 comm=\"(a)\" name=\"a\" dev=\"sda1\" ino=29872533",
	}, "analyze", []string{"0 of 1 file used"}, nil},
	{"a command that shows the end of a log", []string{
		"[root@n1 ~]# journalctl -u kubelet --no-pager | tail -2",
		"Mar 04 10:00:02 n1 kubelet[952]: I0304 10:00:02.001000    1388 eviction_manager.go:369] Eviction manager: attempting to reclaim memory",
		"Mar 04 10:20:02 n1 kubelet[952]: I0304 10:20:02.001000    1388 eviction_manager.go:369] Eviction manager: attempting to reclaim memory",
	}, "analyze", []string{"1 gap, 20m long"}, nil},
	{"a client of etcd is no kubelet", []string{
		`I0304 10:00:02.215859       1 options.go:238] external host was not specified, using 10.0.0.7`,
		`I0304 10:00:02.216859       1 server.go:147] Version: v1.32.4`,
		`W0304 10:00:03.215859       1 logging.go:55] [core] [Channel #1 SubChannel #2] grpc: addrConn.createTransport failed to connect to {Addr: "127.0.0.1:2379", ServerName: "127.0.0.1:2379", }. Err: connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:2379: connect: connection refused"`,
	}, "analyze", []string{"kubelet version not recognized", "The log of the kubelet"}, []string{"v1.32.4,"}},
	{"a start that did not reach the daemon asked for no interface", []string{
		`F0304 10:00:02.215859     952 server.go:148] failed to run Kubelet: failed to create kubelet: failed to get runtime version: docker: failed to get docker version: Cannot connect to the Docker daemon. Is the docker daemon running on this host?`,
	}, "analyze", []string{"because a call to its runtime failed"}, []string{"the CRI that it asked for"}},
	{"a file server that answers again, with other files", []string{
		`[11800.510000] nfs: server nas.example not responding, timed out`,
		`[11803.150000] nfs: server nas.example not responding, timed out`,
		`[11807.290000] NFS: server nas.example error: fileid changed`,
		`               fsid 0:86: expected fileid 0xa11, got 0xa12`,
	}, "analyze", []string{"1. The file server nas.example answers again."}, []string{"Bring the file server back"}},
	{"one of two file servers has other files, the other one is silent", []string{
		`[11800.510000] nfs: server nas.example not responding, still trying`,
		`[11803.150000] nfs: server nas2.example not responding, still trying`,
		`[11807.290000] NFS: server nas.example error: fileid changed`,
	}, "analyze", []string{"1. Bring the file server back"}, []string{"answers again"}},
	{"a Windows node in a wide table has no journal", []string{
		`NAME   STATUS   ROLES    AGE   VERSION   INTERNAL-IP   EXTERNAL-IP   OS-IMAGE                       KERNEL-VERSION    CONTAINER-RUNTIME`,
		`win1   Ready    <none>   43h   v1.27.4   10.0.0.7      <none>        Windows Server 2022 Standard   10.0.20348.1726   containerd://1.7.2`,
	}, "analyze", []string{"win1: ", "/api/v1/nodes/win1/proxy/logs/?query=kubelet", "Get-WinEvent"}, []string{"journalctl", "ps -eLo"}},
	{"a node object that is healthy since long: its end is looked at", []string{
		`apiVersion: v1`, `kind: Node`, `metadata:`, `  creationTimestamp: 2026-03-04T12:39:39Z`, `  name: n1`, `status:`, `  conditions:`,
		`  - lastHeartbeatTime: 2026-03-17T09:36:54Z`, `    lastTransitionTime: 2026-03-04T12:39:39Z`, `    message: kubelet has sufficient memory available`,
		`    reason: KubeletHasSufficientMemory`, `    status: "False"`, `    type: MemoryPressure`,
	}, "analyze", []string{"--since '2026-03-17 09:26:54 UTC' --until '2026-03-17 09:41:54 UTC'"}, []string{"2026-03-04 12"}},
	{"a description whose first row is days old", []string{
		`Conditions:`,
		`  Type                 Status  LastHeartbeatTime                 LastTransitionTime                Reason                       Message`,
		`  ----                 ------  -----------------                 ------------------                ------                       -------`,
		`  NetworkUnavailable   False   Wed, 04 Mar 2026 13:37:20 +0000   Wed, 04 Mar 2026 13:37:20 +0000   CalicoIsUp                   Calico is running on this node`,
		`  MemoryPressure       False   Sun, 08 Mar 2026 14:28:25 +0000   Sat, 07 Mar 2026 06:49:31 +0000   KubeletHasSufficientMemory   kubelet has sufficient memory available`,
		`  Ready                True    Sun, 08 Mar 2026 14:28:25 +0000   Sat, 07 Mar 2026 06:49:31 +0000   KubeletReady                 kubelet is posting ready status`,
	}, "analyze", []string{"--until '2026-03-08 14:33:25 UTC'"}, []string{"--since '2026-03-04"}},
	{"one end of a log is told to the second only", []string{
		`Mar 04 10:00:48 n1 kubelet[952]: Flag --x has been deprecated`,
		`Mar 04 10:04:55 n1 kubelet[952]: I0304 10:04:55.680000     952 kubelet.go:2400] "SyncLoop (SYNC) pods" total=1 pods=["shop/web-0"]`,
	}, "analyze", []string{"10:00:48 to 10:04:55 UTC, 4m7s ±1s"}, nil},
	{"the status of a unit above lines of its log", []string{
		`● kubelet.service - kubelet: The Kubernetes Node Agent`,
		`   Loaded: loaded (/usr/lib/systemd/system/kubelet.service; enabled; vendor preset: disabled)`,
		`   Active: activating (auto-restart) (Result: exit-code) since Wed 2026-03-04 10:00:03 UTC; 6s ago`,
		`  Process: 17247 ExecStart=/usr/bin/kubelet $KUBELET_ARGS (code=exited, status=255)`,
		` Main PID: 17247 (code=exited, status=255)`,
		``,
		`Mar 04 10:00:03 n1 kubelet[17247]: Flag --cgroup-driver has been deprecated`,
	}, "analyze", []string{"n1: unknown", "kubelet-start-failed is possible", "systemctl says that kubelet.service ended with status 255"}, nil},
	{"the status of a unit whose program was killed", []string{
		`● kubelet.service - kubelet: The Kubernetes Node Agent`,
		`   Loaded: loaded (/usr/lib/systemd/system/kubelet.service; enabled; vendor preset: disabled)`,
		`   Active: activating (auto-restart) (Result: signal) since Wed 2026-03-04 10:00:03 UTC; 6s ago`,
		` Main PID: 17247 (code=killed, signal=KILL)`,
		``,
		`Mar 04 10:00:03 n1 kubelet[17247]: Flag --cgroup-driver has been deprecated`,
	}, "analyze", nil, []string{"kubelet-start-failed"}},
	{"systemd says why it cannot start the runtime", []string{
		`Mar 04 10:00:00 n1 systemd[2114]: crio.service: Failed at step EXEC spawning /usr/local/bin/crio: No such file or directory`,
		`Mar 04 10:00:00 n1 systemd[1]: crio.service: Failed with result 'exit-code'.`,
	}, "analyze", []string{"systemd says why it did not start: Failed at step EXEC spawning /usr/local/bin/crio", "1. Mend what systemd names, then start the runtime: Failed at step EXEC"}, []string{"not why"}},
	{"a container's ID names the runtime of its node, an image's reference none", []string{
		`Name:         web-0`, `Node:         n1/10.0.0.7`, `Containers:`, `  app:`,
		`    Container ID:  containerd://c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01`,
		`    Image ID:      docker-pullable://nginx@sha256:c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01`,
	}, "analyze", []string{"n1: ", "not recognized, containerd, kind"}, nil},
	{"containers of two runtimes", []string{
		`Name:         web-0`, `Node:         n1/10.0.0.7`, `Containers:`, `  app:`,
		`    Container ID:  containerd://c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01`, `  a:`, `    Container ID:  containerd://c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01`, `  b:`, `    Container ID:  containerd://c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01`, `  c:`,
		`    Container ID:  containerd://c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01`, `  d:`, `    Container ID:  docker://c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01c0ffee01`,
	}, "analyze", []string{"runtime not recognized"}, nil},
	{"kubeadm notes the socket of its node", []string{
		`[patchnode] Uploading the CRI Socket information "/var/run/dockershim.sock" to the Node API object "worker-7" as an annotation`,
	}, "analyze", []string{"worker-7: ", "not recognized, docker, kind"}, nil},
	{"events of an old kubelet name its node", []string{
		"  27m\t\t27m\t\t1\t{kubelet worker-7.example.com}\tspec.containers{app}\tNormal\t\tPulling\t\tpulling image \"web:1\"",
	}, "analyze", []string{"worker-7.example.com: "}, nil},
	{"a runtime that answers, but not in the version that is asked for", []string{
		`E0304 10:00:00.118101   25959 run.go:74] "command failed" err="failed to run Kubelet: validate service connection: validate CRI v1 runtime API for endpoint \"unix:///run/x.sock\": rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService"`,
	}, "analyze", []string{"does not serve runtime.v1.RuntimeService: enable its CRI plugin"}, []string{"Start or restart", "hangs at its start"}},
	{"hung tasks without a stack", []string{
		`[ 1208.510000] INFO: task kworker/u8:1:77 blocked for more than 120 seconds.`,
		`[ 1208.520000] INFO: task ntpd:812 blocked for more than 120 seconds.`,
		`[ 1208.530000] INFO: task zebra:913 blocked for more than 120 seconds.`,
	}, "analyze", []string{"take the stacks of the tasks before"}, []string{"without the defect"}},
	{"the runtime of a Windows node", []string{
		`NAME   STATUS   ROLES    AGE   VERSION   INTERNAL-IP   EXTERNAL-IP   OS-IMAGE                       KERNEL-VERSION    CONTAINER-RUNTIME`,
		`win1   Ready    <none>   43h   v1.22.4   10.0.0.7      <none>        Windows Server 2019 Standard   10.0.17763.2114   docker://20.10.9`,
	}, "analyze", []string{"The log of the container runtime", "ProviderName='docker'"}, []string{"journalctl"}},
	{"a Windows node by its description", []string{
		`Name:               win1`, `Roles:              agent`, `Unschedulable:      false`, ` Operating System:           windows`,
		` Container Runtime Version:  containerd://1.7.2`, ` Kubelet Version:            v1.27.4`,
	}, "analyze", []string{"Name='containerd'"}, []string{"journalctl"}},
	{"a table of nodes is none of events", []string{
		`NAME   STATUS   ROLES    AGE   VERSION   INTERNAL-IP`,
		`n1     Ready    <none>   43h   v1.27.4   10.0.0.7`,
	}, "analyze --verbose", []string{"Kubernetes events not recognized"}, nil},
	{"a runtime that says why it ends", []string{
		`Mar 04 10:00:00 n1 crio[1307]: time="2026-03-04 10:00:00.556067963Z" level=fatal msg="validating runtime config: \"runc\" not found in $PATH: exec: \"runc\": not found"`,
		`Mar 04 10:00:00 n1 systemd[1]: crio.service: Main process exited, code=exited, status=1/FAILURE`,
	}, "analyze", []string{"(runtime-down, likely)", "The runtime says why it ended: validating runtime config", "1. Mend what the runtime ended with, then start it: validating"}, []string{"not why"}},
	{"a host that was taken out, by one letter more or less", []string{
		`Mar 04 10:00:00 aaaaaaaa kubelet[952]: I0304 10:00:00.680000     952 kubelet.go:2400] "SyncLoop (SYNC) pods" total=1 pods=["shop/web-0"]`,
		`Mar 04 10:00:02 aaaaaaa kubelet[952]: I0304 10:00:02.680000     952 kubelet.go:2400] "SyncLoop (SYNC) pods" total=1 pods=["shop/web-0"]`,
	}, "analyze", []string{"node (name not recognized): ", "10:00:00 to 10:00:02 UTC"}, []string{"Other nodes", "aaaa:"}},
	{"a label of MicroK8s", []string{
		`Name:               n1`, `Roles:              <none>`, `Labels:             kubernetes.io/os=linux`, `                    microk8s.io/cluster=true`,
		`Annotations:        node.alpha.kubernetes.io/ttl: 0`, `Unschedulable:      false`,
	}, "analyze", []string{"journalctl -u snap.microk8s.daemon-kubelet"}, []string{"-u kubelet"}},
	{"the kernel names the cgroup of a container of CRI-O", []string{
		`Mar 04 10:00:00 n1 kernel: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=crio-c0ffee01c0ffee01.scope,mems_allowed=0,oom_memcg=/kubepods.slice/kubepods-pod6f1c.slice,task_memcg=/kubepods.slice/kubepods-pod6f1c.slice/crio-c0ffee01c0ffee01.scope,task=java,pid=2114,uid=0`,
		`Mar 04 10:00:00 n1 kernel: Memory cgroup out of memory: Killed process 2114 (java) total-vm:16kB, anon-rss:8kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:999`,
	}, "analyze", []string{"cri-o"}, []string{"runtime not recognized"}},
	{"another program that quotes beside the kubelet's own lines", []string{
		`Mar 04 10:00:00 n1 kubelet[9522]: I0304 10:00:00.632329    9522 kubelet.go:2400] "SyncLoop (SYNC) pods" total=1 pods=["shop/web-0"]`,
		`Mar 04 10:00:01 n1 promtail[78]: level=warn msg="entry out of order" line="PLEG is not healthy: pleg was last seen active 5m0s ago; threshold is 3m0s"`,
		`Mar 04 10:00:02 n1 alertbot[99]: [FIRING] node worker-7: PLEG is not healthy: pleg was last seen active 4m1s ago; threshold is 3m0s`,
		`Mar 04 10:00:03 n1 kubelet[9522]: I0304 10:00:03.632329    9522 kubelet.go:2400] "SyncLoop (SYNC) pods" total=1 pods=["shop/web-0"]`,
	}, "analyze", []string{"n1: "}, []string{"n1: unhealthy", "unhealthy from"}},
	{"a program that quotes what the kubelet says of its node", []string{
		`Mar 04 10:00:00 n1 kubelet[9522]: I0304 10:00:00.632329    9522 kubelet.go:2400] "SyncLoop (SYNC) pods" total=1 pods=["shop/web-0"]`,
		`Mar 04 10:00:01 n1 kubelet[9522]: I0304 10:00:01.632329    9522 kubelet_node_status.go:497] "Recording event message for node" node="n1" event="NodeReady"`,
		`Mar 04 10:00:02 n1 promtail[78]: level=warn msg="entry out of order" line="I0304 10:00:01.000000 555 setters.go:552] Node became not ready: {Type:Ready Status:False LastHeartbeatTime:2026-03-04 10:00:01 +0000 UTC LastTransitionTime:2026-03-04 10:00:01 +0000 UTC Reason:KubeletNotReady Message:PLEG is not healthy: pleg was last seen active 5m0s ago; threshold is 3m0s}"`,
		`Mar 04 10:00:03 n1 vector[78]: WARN sink: dropped event message="GenericPLEG: Unable to retrieve pods: rpc error: code = DeadlineExceeded desc = context deadline exceeded"`,
		`Mar 04 10:00:04 n1 zabbix[99]: skipping pod synchronization - [container runtime is down, PLEG is not healthy]`,
		`Mar 04 10:00:05 n1 dockerd[900]: time="2026-03-04T10:00:05Z" level=error msg="skipping pod synchronization - PLEG is not healthy: pleg was last seen active 5m0.25s ago; threshold is 3m0s"`,
		`Mar 04 10:00:06 n1 sudo[991]:   bob : TTY=pts/0 ; PWD=/root ; USER=root ; COMMAND=/usr/bin/grep "Recording NodeNotReady event message for node n1" /var/log/messages`,
	}, "analyze", []string{"n1: ", "left out: 4 lines of this file, from this one on"}, []string{"unhealthy from", "n1: unhealthy", "n1: degraded", "NotReady", "relist-list-failed"}},
	{"the node controller beside the kubelet's own lines", []string{
		`Mar 04 10:00:00 n1 kubelet[9522]: I0304 10:00:00.632329    9522 kubelet.go:2400] "SyncLoop (SYNC) pods" total=1 pods=["shop/web-0"]`,
		`Mar 04 10:00:01 n1 kubelet[9522]: I0304 10:00:01.632329    9522 kubelet_node_status.go:497] "Recording event message for node" node="n1" event="NodeReady"`,
		`Mar 04 10:00:30 n1 kube-controller-manager[2]: I0304 10:00:30.000000       2 controller_utils.go:130] "Recording event message for node" event="NodeNotReady" node="n1"`,
	}, "analyze", []string{"n1: degraded", "NotReady from"}, nil},
	{"an event of the node beside the kubelet's own lines", []string{
		`Mar 04 10:00:00 n1 kubelet[9522]: I0304 10:00:00.632329    9522 kubelet.go:2400] "SyncLoop (SYNC) pods" total=1 pods=["shop/web-0"]`,
		`Mar 04 10:00:01 n1 kubelet[9522]: I0304 10:00:01.632329    9522 kubelet_node_status.go:497] "Recording event message for node" node="n1" event="NodeReady"`,
		`Mar 04 10:00:30 n1 eventrouter[20]: Node n1 status is now: NodeNotReady`,
	}, "analyze", []string{"n1: degraded", "NotReady from"}, nil},
	{"nodes that name themselves, one line each", []string{
		`I1120 10:00:27.440541   18503 setters.go:552] "Node became not ready" node="n1" condition={"type":"Ready","status":"False","lastHeartbeatTime":"2026-11-20T10:00:27Z","lastTransitionTime":"2026-11-20T10:00:27Z","reason":"KubeletNotReady","message":"PLEG is not healthy: pleg was last seen active 3m8.2s ago; threshold is 3m0s"}`,
		`I1120 10:30:42.932921   18641 setters.go:552] "Node became not ready" node="n2" condition={"type":"Ready","status":"False","lastHeartbeatTime":"2026-11-20T10:30:42Z","lastTransitionTime":"2026-11-20T10:30:42Z","reason":"KubeletNotReady","message":"container runtime is down"}`,
	}, "analyze", []string{"n1: unhealthy", "Other nodes n2: "}, []string{"n2: unhealthy", "10:30:42 to"}},
	{"stamps in seconds since 1970 state their zone", []string{
		`{"ts":1795217351306.114,"caller":"kubelet/server.go:467","msg":"Kubelet version","v":0,"kubeletVersion":"v1.28.0"}`,
	}, "inspect", []string{"stated, stated on each line"}, []string{"UTC, assumed"}},
	{"the cloud does not answer, which is not the API server", []string{
		`E0304 10:00:00.794667    3463 kubelet.go:2913] Error updating node status, will retry: failed to get node address from cloud provider: Post https://10.0.0.9/sdk: dial tcp 10.0.0.9:443: i/o timeout`,
	}, "analyze", []string{"Cause unknown"}, []string{"API server"}},
	{"a certificate is held against the clock of the node", []string{
		`E0304 10:00:00.000512    2114 reflector.go:138] k8s.io/client-go/informers/factory.go:134: Failed to watch *v1.Node: failed to list *v1.Node: Get "https://10.1.1.1:6443/api/v1/nodes?limit=500": x509: certificate has expired or is not yet valid: current time 2021-03-04T10:00:00+09:00 is after 2021-03-03T10:00:00Z`,
	}, "inspect", []string{"2021-03-04 01:00:00", "+09:00", "from the certificate check's stamp"}, []string{"assumed: "}},
	{"the error of a hyperkube alone", []string{
		`Error: failed to run Kubelet: Running with swap on is not supported, please disable swap! or set --fail-swap-on flag to false.`,
	}, "analyze", []string{"kubelet-start-failed is possible", "the start of the kubelet failed: Running with swap on"}, nil},
	{"the kubelet within edgecore", []string{
		`I0304 10:00:00.790423   25490 server.go:368] "Kubelet version" kubeletVersion="v0.0.0-master+$Format:%H$"`,
		`E0304 10:00:00.790861   25490 edged.go:136] Start edged failed, err: failed to run Kubelet: unsupported CRI runtime: "docker", only "remote" is currently supported`,
	}, "analyze", []string{"The start of the kubelet failed (confirmed", `The start failed: unsupported CRI runtime: "docker"`}, []string{"> kubelet.log"}},
	{"a table of nodes and the beginning of one's description", []string{
		`NAME      STATUS     ROLES    AGE     VERSION`,
		`laptop3   Ready      <none>   9h      v1.21.0`,
		`worker1   NotReady   <none>   108s    v1.21.0`,
		``,
		`Name:               worker1`,
		`Roles:              <none>`,
		`Annotations:        kubeadm.alpha.kubernetes.io/cri-socket: /var/run/dockershim.sock`,
	}, "analyze", []string{"worker1: unknown", "lists it as NotReady", "kubelet v1.21.0, docker"}, []string{"name not recognized"}},
	{"a description of a node from its lease on", []string{
		`Lease:              Failed to get lease: leases.coordination.k8s.io "worker1" not found`,
		`Conditions:`,
		`  Type             Status    LastHeartbeatTime                 LastTransitionTime                Reason                   Message`,
		`  Ready            Unknown   Fri, 17 Mar 2023 05:26:56 -0400   Fri, 17 Mar 2023 05:28:00 -0400   NodeStatusNeverUpdated   Kubelet never posted node status.`,
	}, "analyze", []string{"worker1: unknown", "misses the kubelet's heartbeats"}, []string{"name not recognized"}},
	{"the holder of a node's lease", []string{
		`Unschedulable:      false`,
		`Lease:`,
		`  HolderIdentity:  worker1`,
		`  AcquireTime:     <unset>`,
		`  RenewTime:       Thu, 08 Feb 2024 11:56:41 +0100`,
		`Conditions:`,
		`  Type             Status  LastHeartbeatTime                 LastTransitionTime                Reason                       Message`,
		`  Ready            False   Thu, 08 Feb 2024 11:55:40 +0100   Wed, 07 Feb 2024 18:07:36 +0100   KubeletNotReady              container runtime is down`,
	}, "analyze", []string{"worker1: "}, []string{"name not recognized"}},
	{"the status of a unit whose lines have months of another language", []string{
		`● kubelet.service - kubelet: The Kubernetes Node Agent`,
		`   Loaded: loaded (/etc/systemd/system/kubelet.service; enabled; vendor preset: disabled)`,
		`   Active: activating (auto-restart) (Result: exit-code) since 금 2018-04-20 15:27:00 KST; 6s ago`,
		`  Process: 17247 ExecStart=/usr/bin/kubelet $KUBELET_EXTRA_ARGS (code=exited, status=255)`,
		` Main PID: 17247 (code=exited, status=255)`,
		``,
		` 4월 20 15:27:00 worker1 kubelet[17247]: --seccomp-profile-root string   Directory path for seccomp profiles.`,
	}, "analyze", []string{"worker1: unknown", "2018-04-20 06:27:00 UTC"}, []string{"no time was recognized in log lines of this node"}},
	{"what was pasted below a line of the log", []string{
		`E0304 10:00:03.882190    4242 kubelet.go:2345] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m12.45s ago; threshold is 3m0s"`,
		`[root@n1 ~]# kubectl describe node n1`,
		`Conditions:`,
		`Type Status Reason Message`,
		`Ready False KubeletNotReady PLEG is not healthy: pleg was last seen active 3m12.45s ago; threshold is 3m0s`,
	}, "analyze", []string{"unhealthy from", `3m12.45s ago; threshold is 3m0s" also`}, []string{"2 episodes", "Conditions:", "[root@n1"}},
	{"lines of three weeks, the last of which is cut within the age", []string{
		`I0304 10:00:00.632329    9522 kubelet.go:2101] Failed to delete pod "web-0_shop(0d1c)", err: pod not found`,
		`I0325 10:00:59.245243    9522 kubelet.go:1823] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3m57.13889`,
	}, "analyze", []string{"unhealthy from 2026-03-25 10:00:02 UTC at the latest", "peak age at least 3m57s", "--since '2026-03-25 09:47:02 UTC'"}, nil},
	{"lines of three weeks, the last of which is cut before the age", []string{
		`I0304 10:00:00.632329    9522 kubelet.go:2101] Failed to delete pod "web-0_shop(0d1c)", err: pod not found`,
		`I0325 10:00:59.245243    9522 kubelet.go:1823] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3`,
	}, "analyze", []string{"the age of the last relist cannot be read from it", "--since '2026-03-25 09:50:59 UTC'"}, []string{"--since '2026-03-04"}},
	{"a condition of a node in YAML, without what stands above it", []string{
		`  conditions:`,
		`  - lastHeartbeatTime: "2026-03-04T10:00:45Z"`,
		`    lastTransitionTime: "2026-03-04T10:01:05Z"`,
		`    message: Kubelet stopped posting node status.`,
		`    reason: NodeStatusUnknown`,
		`    status: Unknown`,
		`    type: Ready`,
	}, "analyze", []string{"NotReady from 2026-03-04 10:01:05 UTC (Kubelet stopped posting node status)"}, []string{"no time was recognized in log lines of this node", "assumed UTC"}},
	{"a wide table of nodes, asked for with other kinds", []string{
		`NAME            STATUS     ROLES    AGE   VERSION   INTERNAL-IP   CONTAINER-RUNTIME`,
		`node/worker-1   Ready      <none>   13h   v1.24.0   10.0.0.1      docker://20.10.7`,
		`node/worker-2   NotReady   <none>   13h   v1.24.0   10.0.0.2      docker://20.10.7`,
	}, "analyze", []string{"worker-2: unknown", "docker 20.10.7", "Other nodes worker-1: "}, []string{"name not recognized", "node/worker"}},
	{"journalctl -x, whose explanations have empty lines", []string{
		`Jan 07 16:48:53 n1 systemd[1]: Starting Container Runtime Interface for OCI (CRI-O)...`,
		`-- Subject: Unit crio.service has begun start-up`,
		`-- Defined-By: systemd`,
		`--`,
		`-- Unit crio.service has begun starting up.`,
		`Jan 07 16:48:53 n1 systemd[1]: crio.service: main process exited, code=exited, status=1/FAILURE`,
	}, "inspect", []string{"n1"}, []string{"a search left lines out"}},
	{"grep, which writes the same between its matches", []string{
		`Jan 07 16:48:53 n1 systemd[1]: Starting Container Runtime Interface for OCI (CRI-O)...`,
		`--`,
		`Jan 07 16:48:53 n1 systemd[1]: crio.service: main process exited, code=exited, status=1/FAILURE`,
	}, "inspect", []string{"a search left lines out"}, nil},
	{"a log of CRI-O that says nothing of interest", []string{
		`May 05 08:06:14 n1 systemd[1]: Starting Container Runtime Interface for OCI (CRI-O)...`,
		`May 05 08:06:14 n1 crio[1711]: time="2025-05-05 08:06:14.860324735Z" level=info msg="Starting CRI-O, version: 1.31.0"`,
	}, "analyze", []string{"cri-o, kind of PLEG not recognized"}, []string{"runtime not recognized"}},
	{"an event in the words of containerd's CRI service", []string{
		`  Warning  Failed     29m   kubelet            Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: error setting cgroup config for procHooks process: unable to freeze: unknown`,
	}, "analyze", []string{"containerd, kind of PLEG not recognized"}, []string{"runtime not recognized"}},
	{"CRI-O beside another daemon", []string{
		`May 05 08:06:14 n1 dockerd[99]: time="2025-05-05T08:06:14.860324735Z" level=info msg="nothing of interest"`,
		`May 05 08:06:14 n1 crio[1711]: time="2025-05-05 08:06:14.860324735Z" level=info msg="Starting CRI-O, version: 1.31.0"`,
	}, "analyze", []string{"runtime not recognized"}, nil},
	{"hung tasks without a stack", []string{
		`[Thu Oct  9 09:49:59 2025] INFO: task dockerd:45649 blocked for more than 120 seconds.`,
		`[Thu Oct  9 09:50:01 2025] INFO: task kworker/3:1:501 blocked for more than 120 seconds.`,
	}, "analyze --verbose", []string{"A hang in the kernel (kernel-fs-hang)"}, []string{"memory reclaim (kernel-fs-hang)"}},
	{"disk pressure beside a list of file systems with space", []string{
		`Mar 04 10:00:00 n1 kubelet[9522]: I0304 10:00:00.080925    9522 eviction_manager.go:381] "Eviction manager: attempting to reclaim" resourceName="ephemeral-storage"`,
		`Filesystem      Size  Used Avail Use% Mounted on`,
		`/dev/sda2       549G  406G  116G  78% /`,
	}, "analyze", []string{"Disk space below the kubelet's eviction threshold"}, []string{"full or nearly full"}},
	{"a node that the API server does not know", []string{
		`E1129 05:09:20.092267    4947 kubelet.go:2284] Error updating node status, will retry: error getting node 10.0.0.9: node 10.0.0.9 not found`,
		`E1129 05:09:20.093377    4947 kubelet.go:2284] Error updating node status, will retry: error getting node 10.0.0.9: node 10.0.0.9 not found`,
	}, "analyze", []string{": unknown"}, []string{"api-server-unreachable", "API server fail"}},
	{"crictl that gives up by itself", []string{
		`$ kubectl describe node n1 | grep Ready`,
		`  Ready   False   ...   KubeletNotReady   PLEG is not healthy: pleg was last seen active 3m12s ago; threshold is 3m0s`,
		`# crictl ps`,
		`FATA[0010] ... context deadline exceeded`,
	}, "analyze", []string{"crictl ps did not end in time"}, []string{"killed"}},
	{"a deadline in the log that a command prints", []string{
		`$ kubectl get node worker-5`,
		`NAME       STATUS     ROLES    AGE   VERSION`,
		`worker-5   NotReady   <none>   61d   v1.31.4`,
		`# crictl ps`,
		`FATA[0010] ... context deadline exceeded`,
		`# journalctl -u containerd | tail -3`,
		`containerd[812]: ... failed to handle container TaskExit event ... context deadline exceeded`,
	}, "analyze", []string{"worker-5: "}, []string{"name not recognized", "journalctl -u containerd did not"}},
	{"a command that did not end, counted once", []string{
		`$ kubectl get node worker-5`,
		`NAME       STATUS     ROLES    AGE   VERSION`,
		`worker-5   NotReady   <none>   61d   v1.31.4`,
		`# crictl ps`,
		`FATA[0010] ... context deadline exceeded`,
	}, "inspect", []string{"a command of the collector did not end "}, []string{"did not end ×2"}},
	{"a socket that is missing also for the rotation of logs", []string{
		`Mar 04 10:00:00 n1 kubelet[9522]: E0304 10:00:00.213930    9522 remote_runtime.go:407] "ListContainers with filter from runtime service failed" err="rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: no such file or directory\"" filter="nil"`,
		`Mar 04 10:00:00 n1 kubelet[9522]: E0304 10:00:00.213991    9522 container_log_manager.go:185] "Failed to rotate container logs" err="failed to list containers: rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: no such file or directory\""`,
		`Mar 04 10:00:01 n1 kubelet[9522]: E0304 10:00:01.786324    9522 generic.go:238] "GenericPLEG: Unable to retrieve pods" err="rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: no such file or directory\""`,
	}, "analyze", []string{"refused or missing; 3 such lines"}, nil},
	{"crictl asked below the log of a runtime", []string{
		`  Mar 04 10:00:00 n1 containerd[812]: time="2026-03-04T10:00:00.961362596Z" level=error msg="failed to handle container TaskExit event" error="context deadline exceeded"`,
		`  Mar 04 10:00:00 n1 containerd[812]: time="2026-03-04T10:00:00.961362596Z" level=error msg="failed to handle container TaskExit event" error="context deadline exceeded"`,
		`  E0304 10:00:04.761915   25610 remote_runtime.go:269] "StopPodSandbox from runtime service failed" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded"`,
		`  FATA[0002] stopping the pod sandbox "aaaabbbbcccc": rpc error: code = DeadlineExceeded desc = context deadline exceeded`,
	}, "analyze", []string{"The log of the kubelet: ", "kubelet version not recognized"}, []string{"v1.21 or later"}},
	{"a node that is not ready two minutes after its start", []string{
		`Mar 04 10:00:00 n1 kubelet[2114]: E0304 10:00:00.353021    2114 kubelet_node_status.go:452] "Node not becoming ready in time after startup"`,
		`Mar 04 10:00:00 n1 kubelet[2114]: E0304 10:00:00.575181    2114 kubelet.go:2874] "Container runtime network not ready" networkReady="NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"`,
	}, "analyze", []string{"The pod network is not ready"}, []string{"start of the kubelet failed", "kubelet-start-failed"}},
	{"a plugin that is killed while it makes a network", []string{
		`kubelet[2114]: E0304 10:00:00.353021    2114 remote_runtime.go:116] RunPodSandbox from runtime service failed: rpc error: code = Unknown desc = failed to set up sandbox container "5a11cafe5a11cafe" network for pod "web-0": networkPlugin cni failed to set up pod "web-0_shop" network: netplugin failed with no error message: signal: killed`,
	}, "analyze", []string{"cni-slow, likely", "the plugin is killed before it has ended"}, []string{"torn down"}},
	{"a certificate of which no line says when it is valid, and the node that asks for its own pods", []string{
		`E0304 01:00:14.184036   62162 reflector.go:205] k8s.io/kubernetes/pkg/kubelet/config/apiserver.go:47: Failed to list *v1.Pod: Get https://127.0.0.1:6443/api/v1/pods?fieldSelector=spec.nodeName%3D10.0.0.9&resourceVersion=0: x509: certificate has expired or is not yet valid`,
	}, "analyze", []string{"10.0.0.9: ", "has expired or is not yet valid by the clock of the node"}, []string{"name not recognized"}},
	{"a registration that the API server does not answer, in the words of old kubelets", []string{
		`Mar 04 10:00:00 n1 kubelet[2619]: E0304 10:00:00.194944    2619 kubelet_node_status.go:94] Unable to register node "n1.example.org" with API server: Post https://127.0.0.1/api/v1/nodes: dial tcp 127.0.0.1:443: connect: connection refused`,
		`Mar 04 10:00:01 n1 kubelet[2619]: E0304 10:00:01.596627    2619 mirror_client.go:132] Failed deleting a mirror pod "kube-scheduler-n1_kube-system": Delete "https://127.0.0.1/api/v1/namespaces/kube-system/pods/kube-scheduler-n1": dial tcp 127.0.0.1:443: connect: connection refused`,
	}, "analyze", []string{"n1.example.org: ", "Calls to the API server fail", "/nodes/n1.example.org/proxy"}, nil},
	{"a scheduled restart of a snap is one", []string{
		`Mar 04 10:00:05 n1 systemd[1]: snap.microk8s.daemon-kubelite.service: Main process exited, code=exited, status=255/EXCEPTION`,
		`Mar 04 10:00:05 n1 systemd[1]: snap.microk8s.daemon-kubelite.service: Scheduled restart job, restart counter is at 124.`,
		`Mar 04 10:00:05 n1 systemd[1]: Stopped Service for snap application microk8s.daemon-kubelite.`,
		`Mar 04 10:00:05 n1 systemd[1]: Started Service for snap application microk8s.daemon-kubelite.`,
	}, "analyze", []string{"scheduled a restart of the kubelet at least once"}, []string{"2 restarts"}},
	{"an error that only containerd writes", []string{
		`  Warning  FailedCreatePodSandBox  20m  kubelet  Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "5a11cafe5a11cafe": plugin type="acme" failed (add): no such file or directory`,
	}, "analyze", []string{"kubelet version not recognized, containerd"}, []string{"runtime not recognized"}},
	{"an error that only dockershim and cri-dockerd write", []string{
		`  Warning  FailedCreatePodSandBox  20m (x8 over 1h)  kubelet, worker-7  Failed to create pod sandbox: rpc error: code = Unknown desc = failed to set up sandbox container "5a11cafe5a11cafe" network for pod "web-0": networkPlugin cni failed to set up pod "web-0_shop" network: no such thing`,
	}, "analyze", []string{"kubelet version not recognized, docker"}, []string{"runtime not recognized"}},
	{"a sandbox by the type of its runtime", []string{
		`Mar 04 10:00:00 n1 kubelet[2114]: E0304 10:00:00.100579    2114 log.go:32] "StopPodSandbox from runtime service failed" err="rpc error: code = Unknown desc = context canceled" podSandboxID="5a11cafe5a11cafe"`,
		`Mar 04 10:00:00 n1 kubelet[2114]: E0304 10:00:00.100653    2114 kuberuntime_manager.go:1479] "Failed to stop sandbox" podSandboxID={"Type":"containerd","ID":"5a11cafe5a11cafe"}`,
	}, "analyze", []string{"containerd, kind of PLEG not recognized"}, nil},
	{"a time with its zone alone above each line, as a console shows it", []string{
		`2026-03-04 02:00:16.744 PST`,
		`I0304 10:00:16.744070    2114 nodeshutdown_manager_linux.go:316] "Shutdown manager killing pod with gracePeriod" pod="shop/web-0" gracePeriod=15`,
		`2026-03-04 02:02:33.989 PST`,
		`E0304 10:02:33.989839    2114 pod_workers.go:951] "Error syncing pod, skipping" err="network is not ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized" pod="shop/web-0" podUID="6f1c"`,
	}, "analyze", []string{"2026-03-04 10:00:16 to 10:02:33 UTC, 2m17s"}, []string{"8h", "assumed"}},
	{"a time in an ambiguous zone alone above a line", []string{
		`2026-03-04 04:00:16.744 CST`,
		`I0304 10:00:16.744070    2114 nodeshutdown_manager_linux.go:316] "Shutdown manager killing pod with gracePeriod" pod="shop/web-0" gracePeriod=15`,
		`2026-03-04 04:02:33.989 CST`,
		`E0304 10:02:33.989839    2114 pod_workers.go:951] "Error syncing pod, skipping" err="network is not ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized" pod="shop/web-0" podUID="6f1c"`,
	}, "analyze", []string{"10:00:16 to 10:02:33 UTC, 2m17s", "timestamps assumed UTC"}, []string{"6h"}},
	{"the last word of an old kubelet, below a line of its log", []string{
		`Mar 04 10:00:00 n1 kubelet[2114]: I0304 10:00:00.659548    2114 feature_gate.go:144] feature gates: map[]`,
		`Mar 04 10:00:00 n1 kubelet[2114]: error: failed to run Kubelet: could not init cloud provider "acme": 404 Not Found`,
	}, "analyze", []string{"the start of the kubelet failed: could not init cloud provider"}, nil},
	{"a table of two nodes above lines that are of neither by name", []string{
		"$ kubectl get nodes",
		"NAME   STATUS     ROLES    AGE   VERSION",
		"n2     NotReady   <none>   56m   v1.9.0",
		"n3     Ready      <none>   55m   v1.9.0",
		`E1231 23:15:05.768717   17012 summary.go:92] Failed to get system container stats for "/system.slice/docker.service"`,
	}, "analyze", []string{"no time was recognized in log lines of this node"}, []string{"no line could"}},
	{"a table of one node below a prompt states its version and status", []string{
		"$ kubectl get nodes",
		"NAME            STATUS     ROLES                  AGE   VERSION",
		"k8s-master-xx   NotReady   control-plane,master   17m   v1.20.15",
	}, "analyze", []string{"A table of nodes lists it as NotReady", "kubelet v1.20.15"}, nil},
	{"the command line of a kubelet, as systemctl status draws it, names its node", []string{
		`● kubelet.service - Kubernetes Kubelet Server`,
		`   Loaded: loaded (/lib/systemd/system/kubelet.service; static; vendor preset: enabled)`,
		`   Active: active (running) since Wed 2026-03-04 10:00:00 UTC; 14min ago`,
		` Main PID: 2607 (kubelet)`,
		`   CGroup: /system.slice/kubelet.service`,
		`           └─2607 /usr/local/bin/kubelet --allow-privileged=true --hostname-override=worker-7.example.org --container-runtime-endpoint=unix:///run/containerd/containerd.sock`,
	}, "analyze", []string{"worker-7.example.org: ", "kubelet version not recognized, containerd"}, []string{"name not recognized"}},
	{"a program without lines of a kubelet beside it", []string{
		`Mar 04 10:00:02 n1 node-agent[99]: PLEG is not healthy: pleg was last seen active 4m1s ago; threshold is 3m0s`,
	}, "analyze", []string{"n1: unhealthy"}, nil},
	{"a kubelet in a container, by the journal of dockerd", []string{
		`Mar 04 10:00:00 n1 dockerd-current[1195]: E0304 10:00:00.632329    9522 kubelet.go:1823] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m5.3s ago; threshold is 3m0s]`,
		`Mar 04 10:00:01 n1 dockerd-current[1195]: I0304 10:00:01.632329       1 wrap.go:42] GET /api/v1/nodes: (1.2ms) 200`,
	}, "analyze --verbose", []string{"n1: unhealthy", "kubelet 1 1"}, []string{"The log of the kubelet", "kubelet not in the input"}},
	{"a row of events does not rename the host of a log", []string{
		`  Warning  FailedSync  60m (x85 over 19d)  kubelet, node  error determining status: rpc error: code = DeadlineExceeded desc = context deadline exceeded`,
		`Mar 04 10:00:00 worker-7 kubelet: E0304 10:00:00.632329    9522 generic.go:247] PLEG: Ignoring events for pod web-0/shop: rpc error: code = DeadlineExceeded desc = context deadline exceeded`,
	}, "analyze", []string{"worker-7: "}, []string{"node: "}},
	{"a description of a node, cut above its conditions", []string{
		`Name:               worker-7`,
		`Annotations:        kubeadm.alpha.kubernetes.io/cri-socket: /var/run/dockershim.sock`,
		`Unschedulable:      false`,
	}, "analyze", []string{"worker-7: ", "kubelet version not recognized, docker"}, []string{"name not recognized", "runtime not recognized"}},
	{"stamps without their day", []string{
		`15:16:22 worker-7 kubelet[14756]: E1207 15:16:22.530073   14756 kubelet.go:1846] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m5.3s ago; threshold is 3m0s]`,
	}, "analyze", []string{"worker-7: unhealthy"}, nil},
	{"more such lines than in the incident", func() (lines []string) {
		for at := time.Date(2026, 3, 4, 10, 10, 7, 444787e3, time.UTC); at.Minute() < 35; at = at.Add(4*time.Minute + 1055*time.Millisecond) {
			lines = append(lines, at.Format("E0102 15:04:05.000000")+"   24562 generic.go:271] PLEG: pod web-0/shop failed reinspection: rpc error: code = DeadlineExceeded desc = context deadline exceeded")
		}
		return lines
	}(), "analyze", []string{"6 such lines recognized in the incident"}, nil},
	{"the kernel's release stands in its report", []string{
		`[228678.600423] INFO: task containerd-shim:931150 blocked for more than 122 seconds.`,
		`[228678.606308]       Not tainted 5.15.102 #1`,
		`[228678.723352] Kernel panic - not syncing: hung_task: blocked tasks`,
	}, "analyze", []string{"the kernel panicked, because a task had been blocked"}, []string{"uname -r"}},
	{"nothing was read of what is not known", []string{
		`Dear all, this is nothing in particular`,
	}, "analyze", []string{"0 of 1 file used"}, []string{"partially read", "cut short"}},
	{"a title above the sections of logs", []string{
		`Facing an issue with the first start`,
		`==> Docker <==`,
		`Mar 04 10:00:00 n1 dockerd[72]: time="2026-03-04T10:00:00.961362596Z" level=error msg="stream copy error: reading from a closed fifo"`,
	}, "analyze", []string{"The log of the kubelet:"}, nil},
	{"a plug-in in the process table below a log", []string{
		`Mar 04 10:00:00 n1 kubelet[24562]: E0304 10:00:00.444787   24562 generic.go:271] PLEG: pod web-0/shop failed reinspection: rpc error: code = DeadlineExceeded desc = context deadline exceeded`,
		`root@n1:~# ps aux | grep acme`,
		`root     22814  0.0  0.0 116436  8528 ?        Sl   Feb23   0:00 /opt/cni/bin/acme`,
		`root     24012  0.0  0.0  14224  1032 pts/32   S+   10:24   0:00 grep --color=auto acme`,
	}, "analyze --verbose", []string{"CNI plugin /opt/cni/bin/acme (pid 22814) was running"}, nil},
	{"undated lines have no date", []string{
		`skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3m10.1s ago; threshold is 3m0s`,
	}, "analyze --since -1h", []string{"nothing in the input was dated"}, []string{"19"}},
	{"the version of a sidecar", []string{
		`I0205 11:46:32.451804       1 main.go:110] Version: v1.17.0-0-g80a94421`,
		`I0205 11:46:33.451860    4120 kubelet.go:1778] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m5.3s ago; threshold is 3m0s]`,
	}, "analyze", []string{"kubelet v1.13 or earlier"}, []string{"v1.17"}},
	{"the version of another program", []string{
		`Feb  5 11:46:32 n1 edgecore[119]: I0205 11:46:32.451804     119 server.go:76] Version: v1.12.1`,
		`Feb  5 11:46:33 n1 kubelet[4120]: I0205 11:46:33.451860    4120 kubelet.go:1778] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m5.3s ago; threshold is 3m0s]`,
	}, "analyze", []string{"kubelet v1.13 or earlier"}, []string{"v1.12"}},
	{"the version of the kubelet", []string{
		`I0205 11:46:32.451804    4120 server.go:416] Version: v1.17.9`,
		`I0205 11:46:33.451860    4120 kubelet.go:1778] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m5.3s ago; threshold is 3m0s]`,
	}, "analyze", []string{"kubelet v1.17.9"}, nil},
	{"a program that quotes a report with the header of the kubelet's lines is none", []string{
		`I0304 10:00:00.000000       1 static_autoscaler.go:1] node worker-77 unready: PLEG is not healthy: pleg was last seen active 5m0.25s ago; threshold is 3m0s`,
	}, "analyze", []string{"The log of the kubelet:"}, []string{"unhealthy from"}},
	{"the log of a driver is none of the kubelet", []string{
		`I0205 11:46:32.451804       1 server.go:110] Version: v1.17.0`,
		`E0205 11:46:33.451860       1 driver.go:107] "GRPC error" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded" logger="driver"`,
	}, "analyze", []string{"The log of the kubelet:", "kubelet version not recognized"}, nil},
	{"the version of a driver beside a kubelet", []string{
		`I0205 11:46:32.451804       1 server.go:110] Version: v1.17.0`,
		`I0205 11:46:33.451860    4120 kubelet.go:1778] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m5.3s ago; threshold is 3m0s]`,
	}, "analyze", []string{"kubelet v1.13 or earlier"}, []string{"v1.17", "The log of the kubelet:"}},
	{"the zero time of old kubelets", []string{
		`I1206 18:56:49.123456    1234 kubelet.go:1823] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 2562047h47m16s ago; threshold is 3m0s]`,
	}, "analyze", nil, []string{"1733", "2562047h", "106751d"}},
	{"a line that a terminal broke", []string{
		`Dec 06 18:56:49 worker-7 kubelet[1234]: E1206 18:56:49.123456    1234 kubelet.go:1847] skipping pod synchronizat`,
		`ion - PLEG is not healthy: pleg was last seen active 10m18.040734348s ago; threshold is 3m0s`,
	}, "analyze --year 2020", []string{"worker-7: unhealthy", "unhealthy from 2020-12-06 18:49:31 UTC"}, nil},
	{"what a story quotes proves no cause", []string{
		`On one of the clusters the nodes went away without any warning.`,
		`The file that the agent wrote to said only this much about it:`,
		`write /var/lib/containerd/io.containerd.metadata.v1.bolt/meta.db: no space left on device`,
		`A node whose disk fills up takes its runtime along with it.`,
	}, "analyze", []string{"Cause unknown"}, []string{"A file system is full", "(likely", "confirmed)", "verdict     A file system is full"}},
	{"a line of nobody and of no time names no likely cause, and what it says is said of it", []string{
		`Memory cgroup out of memory: Kill process 4321 (java) score 1000 or sacrifice child`,
		`watchdog: BUG: soft lockup - CPU#1 stuck for 21s! [kworker/1:0:4321]`,
	}, "analyze", []string{"Cause unknown", "if this line is of the node, ", "neither the time nor the writer of its lines was recognized"}, []string{"(likely", "confirmed)"}},
	{"the runtime is called down, and PLEG beside it", []string{
		`The node reports "container runtime is down, PLEG is not healthy" since the upgrade.`,
	}, "analyze", nil, []string{"PLEG is not named"}},
	{"a reason of kubelets that are older than the health check of PLEG", []string{
		`I0211 17:17:04.229739   29218 kubelet.go:2300] skipping pod synchronization - [Failed to start cAdvisor inotify_add_watch /sys/fs/cgroup/cpuacct/1f44: no space left on device]`,
		`I0211 17:17:05.073544   29218 docker.go:353] Docker Container: /job is not managed by kubelet.`,
	}, "analyze", nil, []string{"within its threshold", "healthy"}},
	{"a node that turns NotReady twice was Ready in between, though no line says when", []string{
		`Jul 03 20:02:28 n1 kubelet[1946]: I0703 20:02:28.966300    1946 setters.go:559] Node became not ready: {Type:Ready Status:False LastHeartbeatTime:2023-07-03 20:02:28.966255129 +0800 CST m=+7095.092 LastTransitionTime:2023-07-03 20:02:28.966255129 +0800 CST m=+7095.092 Reason:KubeletNotReady Message:PLEG is not healthy: pleg was last seen active 3m3.111515826s ago; threshold is 3m0s}`,
		`Jul 03 20:06:30 n1 kubelet[1946]: I0703 20:06:30.616041    1946 kubelet_node_status.go:486] Recording NodeNotReady event message for node n1`,
	}, "analyze", []string{"12:02:28 to an end that is not seen"}, []string{"end of the input"}},
	{"before 1.13 a runtime is called down until its first status check", []string{
		`Aug 30 11:17:55 n1 kubelet[2417]: I0830 11:17:55.780478    2417 kubelet_node_status.go:79] Attempting to register node n1`,
		`Aug 30 11:17:56 n1 kubelet[2417]: I0830 11:17:56.125521    2417 kubelet.go:1775] skipping pod synchronization - [container runtime is down]`,
	}, "analyze", nil, []string{"status call fails"}},
	{"etcd that is slow waits for its disk, or for a processor", []string{
		`{"level":"warn","ts":"2024-01-31T16:54:41.675186+0800","caller":"txn/util.go:93","msg":"apply request took too long","took":"4.99863799s","expected-duration":"100ms","prefix":"read-only range ","error":"context canceled"}`,
	}, "analyze", nil, []string{"fsync"}},
	{"what somebody searches for", []string{
		`count_over_time({unit="kubelet.service"} |= "GenericPLEG: Unable to retrieve pods" [5m]) > 0`,
		`count_over_time({unit="containerd.service"} |= "shim disconnected" [5m]) > 0`,
	}, "analyze", nil, []string{"failed to list", "degraded", "1 call"}},
	{"29 February", []string{
		`E0229 10:28:40.123456    1234 kubelet.go:2347] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3m5.1s ago; threshold is 3m0s`,
	}, "analyze", []string{"-02-29 10:28:35 UTC"}, []string{"-03-01"}},
	{"mixed zones", []string{
		`2022-04-04 15:28:36 +0500 node1 kubelet[1234]: E0404 15:28:36.123456    1234 kubelet.go:2347] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3m1.1s ago; threshold is 3m0s`,
		`E0404 15:28:41.123456    1234 kubelet.go:2347] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3m6.1s ago; threshold is 3m0s`,
		`2022-04-04T10:28:46.123456Z node1 kubelet[1234]: E0404 15:28:46.123456    1234 kubelet.go:2347] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3m11.1s ago; threshold is 3m0s`,
	}, "analyze", []string{"node1: unhealthy", "2022-04-04 10:28:36 to 10:28:46 UTC"}, []string{"gap", "stall", "2 episodes"}},
	{"node and version of a table of nodes", []string{
		`$ kubectl get nodes -o wide`,
		`NAME       STATUS     ROLES    AGE   VERSION    INTERNAL-IP   EXTERNAL-IP   OS-IMAGE             KERNEL-VERSION      CONTAINER-RUNTIME`,
		`worker-7   NotReady   <none>   10d   v1.19.3    10.0.0.7      <none>        Ubuntu 18.04.5 LTS   4.15.0-112-generic  docker://19.3.6`,
		`E1206 18:56:49.123456    1234 kubelet.go:1847] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 10m18.040734348s ago; threshold is 3m0s`,
	}, "analyze", []string{"worker-7: unhealthy", "kubelet v1.19.3, docker 19.3.6"}, nil},
	{"an error that did not end the kubelet", []string{
		`E0221 18:12:14.791503   16229 kubelet.go:1228] Failed to start ContainerManager system validation failed - Following Cgroup subsystem not mounted: [memory]`,
	}, "analyze", nil, []string{"gave up", "kubelet-start-failed"}},
	{"an error that ended it", []string{
		`F0221 18:12:14.791503   16229 kubelet.go:1428] Failed to start ContainerManager system validation failed - Following Cgroup subsystem not mounted: [memory]`,
	}, "analyze", []string{"kubelet-start-failed"}, nil},
	{"a call that is written without its object", []string{
		`StopPodSandbox from runtime service failed: rpc error: code = Unknown desc = failed to destroy network for sandbox "055b": unexpected end of JSON input`,
	}, "analyze", []string{"kubelet version not recognized"}, nil},
	{"a runtime on Windows", []string{
		`time="2025-02-19T18:15:44.226582400+05:30" level=error msg="failed to load cni during init, please check CRI plugin status before setting up network for pods" error="cni config load failed: no network config found in C:\\Program Files\\containerd\\cni\\conf: cni plugin not initialized: failed to load cni config"`,
	}, "analyze", []string{"network-not-ready"}, []string{"journalctl", "ps -eLo"}},
	{"a node that a table lists as not ready", []string{
		`NAME       STATUS     ROLES    AGE   VERSION`,
		`worker-7   NotReady   <none>   10d   v1.19.3`,
	}, "analyze", []string{"worker-7: unknown", "A table of nodes lists it as NotReady, without time or reason"}, nil},
	{"a node that one table lists as not ready and a later one as ready", []string{
		`worker-7   NotReady   <none>   10d   v1.19.3`,
		`NAME       STATUS     ROLES    AGE   VERSION`,
		`worker-7   NotReady   <none>   10d   v1.19.3`,
		`NAME       STATUS     ROLES    AGE   VERSION`,
		`worker-7   Ready      <none>   10d   v1.19.3`,
	}, "analyze", []string{"worker-7: unknown"}, []string{"NotReady"}},
	{"a table of nodes of several versions", []string{
		`NAME       STATUS     ROLES    AGE   VERSION`,
		`worker-6   Ready      <none>   10d   v1.18.3`,
		`worker-7   NotReady   <none>   10d   v1.19.3`,
		`E1206 18:56:49.123456    1234 kubelet.go:1847] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 10m18.040734348s ago; threshold is 3m0s`,
	}, "analyze", []string{"kubelet v1.17 to v1.20", "year assumed (modification time of the file)"}, []string{"v1.18.3,", "v1.19.3,"}},
	{"when the node became not ready, and since when PLEG was unhealthy", []string{
		`  Ready   False   Sun, 06 Dec 2020 18:56:49 +0100   Sun, 06 Dec 2020 18:49:40 +0100   KubeletNotReady   PLEG is not healthy: pleg was last seen active 10m18.040734348s ago; threshold is 3m0s`,
	}, "timeline", []string{"17:49:31.959 17:56:49.000 7m17s unhealthy", "17:49:40.000 false PLEG is not healthy"}, nil},
	{"node by its registration", []string{
		`I1206 18:50:00.000001    1234 kubelet_node_status.go:70] Attempting to register node worker-7`,
		`E1206 18:56:49.123456    1234 kubelet.go:1847] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 10m18.040734348s ago; threshold is 3m0s`,
	}, "analyze", []string{"worker-7: unhealthy"}, nil},
	{"node by the column of an event", []string{
		`  Warning  FailedCreatePodSandBox  5m3s (x12 over 3h)  kubelet, worker-7  Failed to create pod sandbox: rpc error: code = DeadlineExceeded desc = context deadline exceeded`,
	}, "analyze", []string{"worker-7: "}, nil},
	{"a list that dockerd was not asked for any more", []string{
		`Mar 04 10:02:00 n1 dockerd[812]: time="2020-03-04T10:02:00.014000123Z" level=error msg="Handler for GET /v1.38/containers/json returned error: context canceled"`,
	}, "analyze", []string{"runtime-hang-global"}, nil},
	{"deadlines of which nothing tells how long they are", []string{
		`E0307 12:00:00.500000    1500 generic.go:238] "GenericPLEG: Unable to retrieve pods" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded"`,
		`E0307 12:01:00.500000    1500 generic.go:238] "GenericPLEG: Unable to retrieve pods" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded"`,
	}, "analyze --verbose", []string{"GetPods for the whole node timed out. ", "2 calls", "less than 2m apart"}, []string{"after 2m", "default)", "59s"}},
	{"requests for relists on demand that were dropped", []string{
		`Apr 02 11:00:03 v36 kubelet[44]: E0402 11:00:03.100000      44 generic.go:520] "Relist request channel full; dropping relist request" podUID="0d1c6d2e-7f0a-4a55-9a53-6a3b8f0e1111"`,
		`Apr 02 11:00:03 v36 kubelet[44]: E0402 11:00:03.200000      44 generic.go:520] "Relist request channel full; dropping relist request" podUID="0d1c6d2e-7f0a-4a55-9a53-6a3b8f0e2222"`,
	}, "analyze", []string{"dropped 2 requests for relists of single pods, since 200 waited, first at", "11:00:03 UTC", "kubelet v1.36 or later", "cannot be decided"}, []string{"Not enough evidence"}},
	{"two lists that failed one after the other leave no room for one that did not", []string{
		`Oct 11 06:42:30 dk1 kubelet[990]: E1011 06:42:30.112441     990 generic.go:238] "GenericPLEG: Unable to retrieve pods" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded"`,
		`Oct 11 06:44:31 dk1 kubelet[990]: E1011 06:44:31.114441     990 generic.go:238] "GenericPLEG: Unable to retrieve pods" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded"`,
	}, "analyze --year 2023", []string{"dk1: unhealthy", "PLEG unhealthy from 2023-10-11 06:43:30 UTC at the latest, though no line was recognized that says so", "at least 4m"}, []string{"cannot be decided"}},
	{"an inspection that fails again at the end of each relist", []string{
		`E0915 07:02:00.510100    2210 generic.go:271] PLEG: pod web-0/default failed reinspection: rpc error: code = DeadlineExceeded desc = context deadline exceeded`,
		`E0915 07:06:01.520100    2210 generic.go:271] PLEG: pod web-0/default failed reinspection: rpc error: code = DeadlineExceeded desc = context deadline exceeded`,
		`E0915 07:10:02.530100    2210 generic.go:271] PLEG: pod web-0/default failed reinspection: rpc error: code = DeadlineExceeded desc = context deadline exceeded`,
	}, "analyze --year 2018", []string{"PLEG unhealthy from 2018-09-15 07:05:01 UTC at the latest", "kubelet v1.13 or earlier", "Single containers or sandboxes cannot be inspected"}, []string{"cannot be decided"}},
	{"inspections that fail again, but for the line of one relist", []string{
		`E0915 07:02:00.510100    2210 generic.go:271] PLEG: pod web-0/default failed reinspection: rpc error: code = DeadlineExceeded desc = context deadline exceeded`,
		`E0915 07:10:02.530100    2210 generic.go:271] PLEG: pod web-0/default failed reinspection: rpc error: code = DeadlineExceeded desc = context deadline exceeded`,
	}, "analyze --year 2018", []string{"cannot be decided"}, []string{"PLEG unhealthy", "relist of"}},
	{"a list that containerd calls failed", []string{
		`Mar 04 10:02:00 n1 containerd[812]: time="2023-03-04T10:02:00.014000123Z" level=error msg="ListContainers with filter &ContainerFilter{Id:,State:nil,PodSandboxId:,LabelSelector:map[string]string{},} failed" error="context deadline exceeded"`,
	}, "analyze", []string{"cannot be decided"}, []string{"Not enough evidence"}},
	{"a row of a node's conditions that a window of 80 columns broke", []string{
		`  Ready            False   Sun, 06 Dec 2020 18:56:49 +0100   Sun, 06 Dec 2020 18`,
		`:49:40 +0100   KubeletNotReady              PLEG is not healthy: pleg was last s`,
		`een active 10m18.040734348s ago; threshold is 3m0s`,
	}, "analyze --verbose", []string{"unhealthy from 2020-12-06 17:49:31 UTC", "every timestamp states its zone"}, []string{"since when is not known"}},
	{"a message that was wrapped in its column", []string{
		`  Ready            False   Sun, 06 Dec 2020 18:56:49 +0100   Sun, 06 Dec 2020 18:49:40 +0100   KubeletNotReady              PLEG is not healthy: pleg was last seen active`,
		`                 10m18.040734348s ago; threshold is`,
		`                 3m0s`,
	}, "analyze", []string{"unhealthy from 2020-12-06 17:49:31 UTC", "threshold 3m"}, []string{"cannot be decided"}},
	{"a row of a node's conditions that is cut", []string{
		`  Ready            False   Sun, 06 Dec 2020 18:56:49 +0100   Sun, 06 Dec 2020 18:49:40 +0100   KubeletNotReady              PLEG is not healthy: pleg was last seen acti…`,
	}, "analyze", []string{"a line reports at 2020-12-06 17:56:49 UTC that PLEG is not healthy"}, []string{"cannot be decided"}},
	{"a condition in JSON is cited at its heartbeat", []string{
		`{"apiVersion":"v1","kind":"Node","metadata":{"name":"worker-7"},"status":{"conditions":[{"lastHeartbeatTime":"2020-12-06T17:56:49Z","lastTransitionTime":"2020-12-06T17:49:40Z","message":"PLEG is not healthy: pleg was last seen active 10m18.040734348s ago; threshold is 3m0s","reason":"KubeletNotReady","status":"False","type":"Ready"}]}}`,
	}, "analyze", []string{"17:56:49 the reported age reached 10m18s"}, []string{"17:49:40 the "}},
	{"never is no start", []string{
		`Dec 06 18:56:49 worker-7 kubelet[1234]: E1206 18:56:49.123456    1234 kubelet.go:1847] skipping pod synchronization - [container runtime is down PLEG is not healthy: pleg was last seen active 2562047h47m16.854775807s ago; threshold is 3m0s]`,
	}, "analyze", []string{"No relist has succeeded since the kubelet started, last at"}, []string{"startup-transient", "just started"}},
	{"lines of cri-dockerd name the runtime", []string{
		`Jul 21 10:00:00 n1 cri-dockerd[900]: time="2022-07-21T10:00:00Z" level=info msg="Start docker client with request timeout 0s"`,
		`Jul 21 10:00:05 n1 kubelet[901]: E0721 10:00:05.000000     901 kubelet.go:2347] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m.63s ago; threshold is 3m0s"`,
	}, "analyze", []string{"docker, generic PLEG", "unhealthy from 2022-07-21 10:00:04 UTC"}, nil},
	{"two starts of a process without an id, and a hole", []string{
		`{"ts":1795217562073,"caller":"kubelet/kubelet.go:2327","msg":"Skipping pod synchronization","err":"[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful]"}`,
		`{"ts":1795223862073,"caller":"kubelet/kubelet.go:2327","msg":"Skipping pod synchronization","err":"[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful]"}`,
	}, "analyze", nil, []string{"for 1h45m", "over 1h45m"}},
	{"two starts of a process without an id, and a relist between them", []string{
		`{"ts":1795217562073,"caller":"kubelet/kubelet.go:2327","msg":"Skipping pod synchronization","err":"[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful]"}`,
		`{"ts":1795217567073,"caller":"kubelet/kubelet.go:2250","msg":"SyncLoop (PLEG): event for pod","v":2,"pod":{"name":"a","namespace":"b"},"event":{"ID":"u","Type":"ContainerStarted","Data":"d"}}`,
		`{"ts":1795217622073,"caller":"kubelet/kubelet.go:2327","msg":"Skipping pod synchronization","err":"[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful]"}`,
	}, "analyze", nil, []string{"for 1m", "PLEG unhealthy"}},
	{"people who quote a message", []string{
		`Does anybody know what "PLEG is not healthy: pleg was last seen active 3m12.5s ago; threshold is 3m0s" means?`,
		`[10:02] bob: we see PLEG is not healthy: pleg was last seen active 4m12s ago; threshold is 3m0s`,
		`2023-05-06 10:02:11 alice: my node says PLEG is not healthy: pleg has yet to be successful`,
	}, "analyze", []string{"The input quotes a report"}, []string{"unhealthy", "episode"}},
	{"clocks that are set back at the end of summer time", []string{
		`2023-10-29T02:59:50.000000+02:00 n1 kubelet[900]: I1029 02:59:50.000000     900 kubelet.go:2000] "SyncLoop ADD" source="api" pods=["a/b"]`,
		`2023-10-29T02:01:50.000000+01:00 n1 kubelet[900]: E1029 02:01:50.000000     900 kubelet.go:2040] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m5.1s ago; threshold is 3m0s"`,
	}, "analyze", []string{"unhealthy from 2023-10-29 01:01:44 UTC", "2023-10-29 00:59:50 to 01:01:50 UTC"}, []string{"clock-jump"}},
	{"a day that no year has", []string{
		`E0230 10:28:40.123456    1234 kubelet.go:2347] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3m5.1s ago; threshold is 3m0s`,
	}, "analyze", []string{"since when is not known"}, []string{"03-01", "02-30"}},
	{"a time zone in the input that is not that of the lines", []string{
		`  Ready            False   Sun, 06 Dec 2020 18:56:49 +0100   Sun, 06 Dec 2020 18:49:40 +0100   KubeletNotReady              PLEG is not healthy: pleg was last seen active 10m18.040734348s ago; threshold is 3m0s`,
		`E1206 18:56:52.123456    1234 kubelet.go:1847] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 9m51.040734348s ago; threshold is 3m0s`,
	}, "analyze", []string{"no zone recognized for lines without one"}, []string{"no time zone in the input"}},
	{"a row of a node's conditions and the log name one relist", []string{
		`  Ready            False   Sun, 06 Dec 2020 18:56:49 +0100   Sun, 06 Dec 2020 18:49:40 +0100   KubeletNotReady              PLEG is not healthy: pleg was last seen active 10m18.040734348s ago; threshold is 3m0s`,
		`E1206 19:56:52.123456    1234 kubelet.go:1847] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 10m21.040734348s ago; threshold is 3m0s`,
	}, "analyze --verbose", []string{"timestamps in +02:00", "unhealthy from 2020-12-06 17:49:31 UTC"}, []string{"2 episodes", "no zone recognized for lines without one"}},
	{"an age in somebody's own words", []string{
		`one of the worker node went NotReady due to PLEG is not healthy: pleg was last seen active ~25m ago; threshold is 3m0s.`,
	}, "analyze", []string{"A line reports that PLEG is not healthy, but the age of the last relist cannot be read from it"}, []string{"1 of the lines", " cut "}},
	{"a line that a relay logged with its own year and zone", []string{
		`Apr 16 01:06:04 10.0.0.7 logger: <11>1 2018-04-16T01:06:04Z [] 11041 - - E0416 01:06:04.276996 11041 kubelet.go:1915] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m5.1s ago; threshold is 3m0s]`,
	}, "analyze", []string{"10.0.0.7: unhealthy", "unhealthy from 2018-04-16 01:05:59 UTC"}, []string{"year assumed", "no time zone was recognized"}},
	{"rows of several nodes are of the node that each names", []string{
		`NODENAME   SEVERITY   HEARTBEATTIME               REASON              MESSAGE`,
		`node18     Fatal      2020-11-19T10:32:03+08:00   NodeStatusUnknown   Kubelet stopped posting node status.`,
		`node3      Fatal      2020-11-27T17:36:53+08:00   KubeletNotReady     PLEG is not healthy: pleg was last seen active 5m12.1s ago; threshold is 3m0s`,
		`NAMESPACE  SEVERITY   PODNAME                     EVENTTIME                   REASON                MESSAGE`,
		`default    Warning    node4.164b53d23ea79fc7      2020-11-27T17:37:34+08:00   ContainerGCFailed     rpc error: code = Unknown desc = Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?`,
	}, "analyze", []string{"node3: unhealthy", "node4: degraded", "node18: unknown; The control plane misses"}, []string{"node3: degraded", "socket"}},
	{"what others log of a node is of that node, and from before", []string{
		`time="2023-05-01T10:00:00Z" level=info msg="node is unhealthy" node=ip-10-0-1-17 reason=KubeletNotReady message="PLEG is not healthy: pleg was last seen active 12m3.2s ago; threshold is 3m0s"`,
		`time="2023-05-01T10:04:01Z" level=info msg="node is unhealthy" node=ip-10-0-1-44 reason=NodeStatusUnknown message="Kubelet stopped posting node status."`,
	}, "analyze", []string{"ip-10-0-1-17: unhealthy", "since when is not known", "ip-10-0-1-44: unknown; The control plane misses"}, []string{"unhealthy from", "ip-10-0-1-44: unhealthy"}},
	{"what others log of nodes, in the journal of another", []string{
		`May  1 10:00:00 m1 healer[12]: time="2023-05-01T10:00:00Z" level=info msg="started"`,
		`May  1 10:00:00 m1 healer[12]: time="2023-05-01T10:00:00Z" level=info msg="node is unhealthy" node=ip-10-0-1-17 reason=KubeletNotReady message="PLEG is not healthy: pleg was last seen active 12m3.2s ago; threshold is 3m0s"`,
		`May  1 10:00:05 m1 healer[12]: time="2023-05-01T10:00:05Z" level=info msg="node is unhealthy" node=ip-10-0-1-18 reason=KubeletNotReady message="PLEG is not healthy: pleg was last seen active 11m3.2s ago; threshold is 3m0s"`,
	}, "analyze", []string{"ip-10-0-1-17: unhealthy", "ip-10-0-1-18: unhealthy"}, []string{"unhealthy from", "m1: unhealthy"}},
	{"descriptions of several nodes", []string{
		`Name:               n1`,
		`Conditions:`,
		`  Type             Status  LastHeartbeatTime                 LastTransitionTime                Reason                       Message`,
		`  Ready            False   Mon, 03 Jun 2019 13:54:18 +0000   Mon, 03 Jun 2019 13:39:37 +0000   KubeletNotReady              PLEG is not healthy: pleg was last seen active 16m17.79s ago; threshold is 3m0s`,
		`Name:               n2`,
		`Conditions:`,
		`  Type             Status  LastHeartbeatTime                 LastTransitionTime                Reason                       Message`,
		`  Ready            True    Mon, 03 Jun 2019 13:54:20 +0000   Sun, 02 Jun 2019 21:39:37 +0000   KubeletReady                 kubelet is posting ready status`,
	}, "analyze", []string{"n1: unhealthy", "not recovered", "n2: unknown; PLEG was within its threshold at 2019-06-03 13:54:20 UTC"}, []string{"unknown: unknown"}},
	{"a list of nodes, each before a colon", []string{
		`Several nodes are affected since this morning:`,
		`- worker-1: PLEG is not healthy: pleg was last seen active 3m12.5s ago; threshold is 3m0s`,
		`- node-2.example.net: PLEG is not healthy: pleg was last seen active 9m2.1s ago; threshold is 3m0s`,
	}, "analyze", []string{"worker-1: unhealthy", "node-2.example.net: unhealthy", "at least 3m12s old"}, nil},
	{"a file before a colon is no node", []string{
		`kubelet.log.1: PLEG is not healthy: pleg was last seen active 3m12.5s ago; threshold is 3m0s`,
	}, "analyze", nil, []string{"kubelet.log.1: unhealthy"}},
	{"rows of a table in Markdown", []string{
		`| node | ready | message |`,
		`|---|---|---|`,
		`| node-b | Unknown | Kubelet stopped posting node status. |`,
		`| node-c | False | PLEG is not healthy: pleg was last seen active 5m12.1s ago; threshold is 3m0s |`,
	}, "analyze", []string{"node-c: unhealthy", "node-b: unknown"}, nil},
	{"what the controller repeats of a condition is of the node that it names", []string{
		`I1122 22:46:17.734930       1 controller_utils.go:285] Recording status change NodeNotReady event message for node k8s-master-0`,
		`I1122 22:46:18.735064       1 node_lifecycle_controller.go:1092] node k8s-agent-1 hasn't been updated for 40.000155s. Last Ready is: &NodeCondition{Type:Ready,Status:False,LastHeartbeatTime:2017-11-22 22:45:38 +0000 UTC,LastTransitionTime:2017-11-22 22:43:07 +0000 UTC,Reason:KubeletNotReady,Message:PLEG is not healthy: pleg was last seen active 3m12.1s ago; threshold is 3m0s,}`,
		`I1122 22:46:19.735064       1 node_controller.go:685] Condition Ready of node k8s-agent-2 was never updated by kubelet. Last Ready is: &NodeCondition{Type:Ready,Status:Unknown,LastHeartbeatTime:2017-11-22 22:45:17 +0000 UTC,LastTransitionTime:2017-11-22 22:46:07 +0000 UTC,Reason:NodeStatusUnknown,Message:Kubelet stopped posting node status.,}`,
	}, "analyze", []string{"k8s-agent-1: unhealthy", "unhealthy from 2017-11-22 22:45:26 UTC", "k8s-agent-2: unknown; The control plane misses"}, []string{"k8s-agent-2: unhealthy"}},
	{"a runbook shows how lines would look", []string{
		"# Runbook: node NotReady", "",
		"When a node goes NotReady, first look at the kubelet log.", "",
		"## Symptom", "",
		`    Jun 10 03:42:17 <node> kubelet[1234]: E0610 03:42:17.528113    1234 kubelet.go:2040] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m10.12s ago; threshold is 3m0s"`, "",
		"## Fix", "",
		"Restart the runtime on the node. If this does not help, reboot the node.",
	}, "analyze", []string{"the text explains how such lines look", "The input quotes a report"}, []string{"unhealthy", "2026", "<node>:"}},
	{"a list that had not returned by the end", hanging, "timeline --year 2026", []string{"≥ 1m53s, not over hung ? next-start"}, nil},
	{"a list that had not returned by the end, in a table", hanging, "analyze --year 2026 -o csv", []string{",113.15,,seconds,hung,,next-start,", ",true,,,,true"}, nil},
	{"a list that had not returned by the end, as data", hanging, "analyze --year 2026 -o json", []string{`"outcome": "hung"`, `"duration_at_least_seconds": 113.15`}, nil},
	{"a list that had not returned by the end, replayed", hanging, "replay --year 2026", []string{"relist ≥ 1m53s whether it listed pods is not known; PLEG unhealthy at its end", "3 to 5 in all"}, []string{"s pods listed"}},
	{"people who tell of their own node are no runbook", []string{
		"# Node NotReady", "",
		"When we drain a node it goes NotReady, and our kubelet log says this.", "",
		"## Symptoms", "",
		`    Jun 10 03:42:17 n1 kubelet[1234]: E0610 03:42:17.528113    1234 kubelet.go:2040] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m10.12s ago; threshold is 3m0s"`, "",
		"## Fix", "",
		"We restarted the runtime on <node> and it helped.",
	}, "analyze --year 2026", []string{"n1: unhealthy", "unhealthy from 2026-06-10 03:42:07 UTC"}, []string{"explains"}},
}

// hanging is the log of a kubelet whose second list, after one that timed out, has not returned
// when the log ends. It reports the age of the last successful relist.
var hanging = func() (lines []string) {
	for at := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC); at.Minute() < 4; at = at.Add(2 * time.Second) {
		head := at.Format("I0102 15:04:05.000000") + "    4242 "
		lines = append(lines, head+`reconciler.go:1] "something"`)
		switch at.Sub(at.Truncate(time.Hour)) {
		case 0:
			lines = append(lines, head+`kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event={"ID":"1","Type":"ContainerStarted","Data":"ab"}`)
		case 2*time.Minute + 2*time.Second:
			lines = append(lines, "E"+head[1:]+`log.go:32] "ListPodSandbox with filter from runtime service failed" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded" filter="nil"`,
				"E"+head[1:]+`generic.go:238] "GenericPLEG: Unable to retrieve pods" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded"`)
		}
	}
	for at := time.Date(2026, 3, 4, 10, 3, 1, 5e8, time.UTC); at.Minute() < 4; at = at.Add(5 * time.Second) {
		lines = append(lines, at.Format("E0102 15:04:05.000000")+fmt.Sprintf(`    4242 kubelet.go:2345] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active %s ago; threshold is 3m0s"`, at.Sub(time.Date(2026, 3, 4, 10, 0, 1, 0, time.UTC))))
	}
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(a[6:21], b[6:21]) })
	return lines
}()

func TestPastes(t *testing.T) {
	for _, p := range pastes {
		t.Run(p.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "paste.log")
			if err := os.WriteFile(path, []byte(strings.Join(p.lines, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, out, errs := runTool(append(strings.Fields(p.command), path)...)
			said := strings.Join(slices.DeleteFunc(strings.Split(out, "\n"), func(line string) bool { // quoted lines do not count
				quote := strings.TrimSuffix(strings.TrimSpace(line), "…")
				return len(quote) > 20 && strings.Contains(strings.Join(p.lines, "\n"), quote)
			}), " ")
			out = strings.Join(strings.Fields(out+errs), " ")
			for _, w := range p.want {
				if !strings.Contains(out, w) {
					t.Errorf("does not say %q:\n%s", w, out)
				}
			}
			for _, w := range p.not {
				if strings.Contains(strings.ReplaceAll(said+errs, path, ""), w) {
					t.Errorf("says %q:\n%s", w, out)
				}
			}
		})
	}
}
