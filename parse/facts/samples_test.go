package facts

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// moreOutputs are samples for keys that the samples of TestDecode do not cover.
var moreOutputs = []struct{ path, in, want string }{
	{"sos_commands/host/hostname", "worker-3.example.com\n", `1 node.name "worker-3.example.com"`},
	{"proc/sys/kernel/random/boot_id", "6a2a7f2e-4a44-4f0e-9d5f-0d6a0f3c9b11\n", `1 node.boot_id "6a2a7f2e4a444f0e9d5f0d6a0f3c9b11"`},
	{"crictl_--version", "crictl version v1.28.0\n", `1 crictl.version "v1.28.0"`},
	{"var/lib/kubelet/config.yaml", "kind: KubeletConfiguration\ncontainerRuntimeEndpoint: unix:///run/containerd/containerd.sock\npodPidsLimit: 4096\nkubeReserved:\n  memory: 1Gi\n",
		`2 kubelet.container_runtime_endpoint "unix:///run/containerd/containerd.sock" from=file`},
	{"var/lib/kubelet/config.yaml", "kind: KubeletConfiguration\npodPidsLimit: 4096\nkubeReserved:\n  memory: 1Gi\n", `2 kubelet.pod_pids_limit 4096 from=file`},
	{"var/lib/kubelet/config.yaml", "kind: KubeletConfiguration\nkubeReserved:\n  memory: 1Gi\n", `3 kubelet.kube_reserved "memory=1Gi" from=file`},
	{"proc/meminfo", "MemTotal: 1000 kB\nMemFree: 10 kB\nSwapTotal: 8 kB\nSwapFree: 4 kB\nWriteback: 2 kB\nSUnreclaim: 3 kB\n", "3 swap.total 8192"},
	{"sos_commands/sar/sar21", "Linux 5.14 (n1) \t11/21/2026 \t_x86_64_\t(4 CPU)\n\n11:50:01  pgpgin/s pgpgout/s   fault/s  majflt/s\n11:59:01      1.00      2.00      3.00     77.00\n",
		"4 sar.majflt 77 tool=sar"},
	{"ps_aux", "USER  PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\nroot 11 0.0 0.0 1 2 ? S 05:22 0:00 /opt/cni/bin/calico\nroot 12 0.0 0.0 1 2 ? S 05:22 0:00 nvidia-smi\nroot 13 0.0 0.0 1 2 ? S 05:22 0:00 /opt/CrowdStrike/falcon-sensor\n",
		"2 process.cni 11 pid=11 comm=calico args=/opt/cni/bin/calico stat=S start=05:22"},
	{"ps_axo", "F S PID PPID WCHAN STARTED TTY TIME CMD\n4 T 101 3 do_signal_stop Sun Nov 22 17:24:34 2026 ? 00:00:01 dockerd\n0 S 202 3 do_wait Sun Nov 22 17:24:34 2026 ? 00:00:01 kubelet\n0 S 300 202 do_wait Sun Nov 22 17:26:49 2026 ? 00:00:00 /bin/bash /opt/cni/bin/acme-net\n0 R 400 3 - Sun Nov 22 17:35:41 2026 ? 00:00:00 ps axo\n",
		"2 process.stopped 101 pid=101 ppid=3 comm=dockerd args=dockerd stat=T wchan=do_signal_stop start=Sun Nov 22 17:24:34 2026 age=11m7s role=daemon"},
	{"kubelet-cmdline.txt", "/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml --v=2 --runtime-request-timeout 4m\n", "1 kubelet.runtime_request_timeout 240 from=flag"},
	{"proc/812/cmdline", "kubelet\x00--v=5\x00", "1 kubelet.verbosity 5 from=flag"},
	{"proc/sys/kernel/threads-max", "255000\n", "1 threads.max 255000"},
	{"proc/sys/fs/file-max", "9223372\n", "1 files.max 9.22337e+06"},
	{"sys/fs/cgroup/system.slice/kubelet.service/pids.max", "4915\n", "1 cgroup.pids.max 4915 cgroup=/system.slice/kubelet.service"},
	{"sys/fs/cgroup/system.slice/kubelet.service/cpu.stat", "usage_usec 1\nthrottled_usec 5000000\n", "2 cgroup.cpu.throttled 5 cgroup=/system.slice/kubelet.service"},
	{"proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda ro\n", `1 kernel.cmdline "BOOT_IMAGE=/vmlinuz root=/dev/sda ro"`},
	{"crictl_pods", "POD ID              CREATED             STATE               NAME                NAMESPACE           ATTEMPT\np1                  9 days ago          NotReady            web-0               default             0\n",
		"1 sandboxes.notready 1 tool=crictl"},
	{"sos_commands/date/hwclock", "2026-11-21 00:05:41.123456+00:00\n", `1 time.rtc "2026-11-21 00:05:41.123456+00:00"`},
	{"journalctl_--list-boots", " 0 6a2a7f2e4a444f0e9d5f0d6a0f3c9b11 Sat 2026-11-21 00:01:20 UTC\u2014Sat 2026-11-21 00:05:41 UTC\n",
		`1 time.boot.span "6a2a7f2e4a444f0e9d5f0d6a0f3c9b11" boot=6a2a7f2e4a444f0e9d5f0d6a0f3c9b11 index=0 first=Sat 2026-11-21 00:01:20 UTC last=Sat 2026-11-21 00:05:41 UTC`},
	{"sos_logs/sos.log", "2026-11-21 21:12:14,908 INFO: [plugin:logs] skipping '/var/log/journal/m/system.journal' over size limit\n",
		`1 collector.skipped "/var/log/journal/m/system.journal" file=/var/log/journal/m/system.journal`},
}

func TestMoreOutputs(t *testing.T) {
	for _, tt := range moreOutputs {
		f := &parse.File{Path: tt.path}
		part := Decode(f, []byte(tt.in))
		var got []string
		for _, fact := range part.Facts {
			got = append(got, show(fact))
		}
		if !slices.Contains(got, tt.want) {
			t.Errorf("%s: no fact\n  %s\namong\n%s", tt.path, tt.want, strings.Join(got, "\n"))
		}
		checkPositions(t, f, tt.in, part)
	}
}

// TestCombined: the load per CPU is derived only within one node.
func TestCombined(t *testing.T) {
	of := func(node, key string, v float64) *parse.Fact {
		return &parse.Fact{Pos: parse.Pos{File: &parse.File{Path: key, Node: node}, Line: 1}, Key: key, Num: v, Text: parse.PlainText("line")}
	}
	got := Combined([]*parse.Fact{of("a", KeyCPUs, 4), of("a", KeyLoad5, 36), of("b", KeyLoad5, 8), of("b", KeyCPUs, 0)})
	if len(got) != 1 || got[0].Key != KeyLoadPerCPU || got[0].Num != 9 || got[0].Value != "9.00" || got[0].Quote() != "line" {
		t.Errorf("%+v", got)
	}
}

// TestEveryKeyHasASample checks that some sample yields every key of Keys.
func TestEveryKeyHasASample(t *testing.T) {
	stated := map[string]bool{}
	see := func(path, in string) {
		for _, f := range Decode(&parse.File{Path: path}, []byte(in)).Facts {
			for _, k := range Keys {
				if k.matches(f.Key) {
					stated[k.Name] = true
				}
			}
		}
	}
	for _, tt := range outputs {
		see(tt.path, tt.in)
	}
	for _, tt := range moreOutputs {
		see(tt.path, tt.in)
	}
	see("sos_reports/manifest.json", manifest)
	stated[KeyLoadPerCPU] = true // Combined
	for _, k := range Keys {
		if !stated[k.Name] {
			t.Errorf("%s: no sample states it", k.Name)
		}
	}
}

// TestSarDays: every table of a file begins on the day of its header; a table that goes
// past midnight ends on the next one.
func TestSarDays(t *testing.T) {
	const table = "12:00:01 AM     CPU     %user     %nice   %system   %iowait    %steal     %idle\n" +
		"12:10:01 AM     all      1.00      0.00      2.00     55.00      0.00     42.00\n" +
		"11:50:01 PM     all      1.00      0.00      2.00     56.00      0.00     42.00\n" +
		"12:00:01 AM     all      1.00      0.00      2.00     57.00      0.00     42.00\n" +
		"Average:        all      1.00      0.00      2.00     56.00      0.00     42.00\n\n"
	part := Decode(&parse.File{Path: "sos_commands/sar/sar21"}, []byte("Linux 5.14 (n1) \t11/21/2026 \t_x86_64_\t(4 CPU)\n\n"+table+table+table))
	var got []string
	for _, f := range part.Facts {
		if f.Key == "cpu.iowait.percent" {
			got = append(got, time.Unix(0, f.Raw.NS).UTC().Format("02 15:04"))
		}
	}
	want := strings.Repeat("21 00:10,21 23:50,22 00:00,", 3)
	if s := strings.Join(got, ",") + ","; s != want {
		t.Errorf("rows at %s, want %s", s, want)
	}
}
