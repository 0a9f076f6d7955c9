package logs

import (
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestProse checks that a report that stands alone in a text without time or writer
// is a quotation and counts for no node. In a log, or with what a program writes
// around it, it counts.
func TestProse(t *testing.T) {
	const report = "PLEG is not healthy: pleg was last seen active 3m46.752815514s ago; threshold is 3m0s"
	for _, tt := range []struct {
		name, text string
		age        bool
	}{
		{"a guide", "How to fix it\nThe kubelet marks the node when relists take too long.\n" + report + "\nThis is no soft warning, it is an outage of the node.\n", false},
		{"a guide in Chinese", "有时候节点会变成未就绪状态，可以看到下面的错误信息：\n> " + report + "\n这个模块负责调整容器运行时的状态，并更新缓存。\n", false},
		{"the line alone", report + "\n", true},
		{"with commands", "$ kubectl get node n1 -o wide\n" + report + "\n", true},
		{"a table of conditions", "We see this on the node when it flaps.\nWhat can we do about it?\nReady False KubeletNotReady " + report + "\n", true},
		{"the sync loop", "We see this on the node when it flaps.\nWhat can we do about it?\nkubelet.go:1821] skipping pod synchronization - [" + report + "]\n", true},
		{"an example of a file that reports nothing", "E0610 03:42:17.123456    1234 pleg.go:418] " + report + "\n", false},
		{"an event of another object", `I1120 23:35:55.328612 27041 event.go:307] "Event occurred" object="node-99" kind="Node" reason="NodeNotReady" message="` + report + "\"\n", false},
		{"the output of a probe", `I1120 23:35:55.328612 27041 prober.go:107] "Probe failed" pod="kube-system/npd" output="node worker-77: ` + report + "\"\n", false},
		{"the arguments of a container", `I1120 23:35:55.328612 27041 kuberuntime_manager.go:1256] container &Container{Args:[grep "` + report + "\" /var/log/kubelet.log],} start failed\n", false},
		{"another log", `I1120 23:35:55.328612 27041 log.go:32] "Container log line" line="E1120 23:35:21.402440 18503 kubelet.go:2327] "Skipping pod synchronization" err="` + report + "\"\"\n", false},
		{"behind a line of another file", `E1120 23:35:55.328612 27041 cri_stats_provider.go:448] "Failed to get pod stats"` + "\n" + report + "\n", false},
		{"the sync loop in JSON", `{"ts":1795217562073.2852,"caller":"kubelet/kubelet.go:2327","msg":"Skipping pod synchronization","err":"` + report + "\"}\n", true},
		{"the node status", `I1120 23:35:55.328612 27041 setters.go:552] "Node became not ready" node="n1" condition={"type":"Ready","status":"False","message":"` + report + "\"}\n", true},
		{"beside lines of a log", "We see this on the node when it flaps.\nWhat can we do about it?\nI0304 10:00:00.000000 1 kubelet.go:1] Starting\n" + report + "\n", true},
	} {
		d := NewDecoder(&parse.File{Path: "a.txt"}, []byte(tt.text), builtin(t), Options{})
		p := d.Finish([]Result{d.Decode(Run{Data: []byte(tt.text), Last: true})})
		age, quoted := false, false
		for _, e := range p.Events {
			age, quoted = age || e.Is(parse.SigAge), quoted || e.Is(parse.SigQuoted)
		}
		warned := len(p.Warnings) > 0 && strings.Contains(p.Warnings[0].Msg, "quotes a report")
		if age != tt.age || quoted == tt.age || warned == tt.age {
			t.Errorf("%s: counts %v, quoted %v, %v", tt.name, age, quoted, p.Warnings)
		}
	}
}

// TestOwnWords checks that what a text quotes, explains or contains as source code
// is not a line of a node, and that what stands there by itself is.
func TestOwnWords(t *testing.T) {
	for in, want := range map[string]int{
		"container runtime is down":                                                                                                  1,
		"`container runtime is down`":                                                                                                1,
		"Ready False KubeletNotReady container runtime is down":                                                                      1,
		"failed to list pods (container runtime is down)":                                                                            1,
		"# Run this\n> kubectl get nodes\nKubelet stopped posting node status.":                                                      1,
		"## 4.4 The container runtime is down":                                                                                       0,
		"- Lab 01: `Kubelet stopped posting node status` means that it is gone":                                                      0,
		`You may see an error like "container runtime is down".`:                                                                     0,
		"Here it reports that the **container runtime is down**.":                                                                    0,
		"If you see `container runtime is down` go to [container](#x)":                                                               0,
		"You'll see a line like: Out of memory: Killed process 1234 (node) total-vm:2048kB, anon-rss:1024kB.":                        0,
		`dmesg -T | grep -e "Out of memory: Killed process 1234 (node)"`:                                                             0,
		"Out of memory: Killed process 1234 (node) total-vm:2048kB, anon-rss:1024kB.":                                                1,
		"The trace we got mentions jbd2_journal_commit_transaction+0x1ca/0x9d0 which is the journal of the disk, as far as it goes.": 0,
		"[<0>] jbd2_journal_commit_transaction+0x1ca/0x9d0 [jbd2]":                                                                   1,
		`me@n1 ~ % grep -R "" /sys/fs/cgroup/freezer/kubepods.slice/freezer.state`:                                                   0,
		`$ grep "container runtime is down" /var/log/messages`:                                                                       0,
		"or its container runtime is down.":                                                                                          0,
		"In this state the runtime often fails and then the container runtime is down until somebody comes and starts it.":           0,
		`	ret = append(ret, "container runtime is down")`:                                                                            0,
		"  `${ts(5)} kubelet WARN container runtime is down`,":                                                                       0,
	} {
		if got := len(decodeString(in + "\n").Events); got != want {
			t.Errorf("%q: %d records, want %d", in, got, want)
		}
	}
	fenced := "I0715 10:43:38.049492   16315 kubelet.go:1835] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m10s ago; threshold is 3m0s]\n```\ncontainer runtime is down\n"
	if p := decodeString(fenced); len(p.Events) != 2 || len(p.Events[0].Sigs.Sigs) != 2 {
		t.Errorf("a fence does not end a record: %s", dump(p))
	}
}
