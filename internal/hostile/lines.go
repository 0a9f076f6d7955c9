package hostile

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Lines returns logs that are large only in the number of one kind of line, or of what it names.
// Each ends with the unchanged readable log, where its form allows that.
func Lines() []Case {
	const (
		failed  = `err="rpc error: code = DeadlineExceeded desc = context deadline exceeded"`
		refused = `err="rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused\""`
	)
	return []Case{
		kubelet("500,000 relists whose list timed out", 500_000, "E", `generic.go:238] "GenericPLEG: Unable to retrieve pods" `+failed),
		kubelet("500,000 lists that timed out", 500_000, "E", `remote_runtime.go:407] "ListPodSandbox with filter from runtime service failed" `+failed+` filter="nil"`),
		kubelet("500,000 lists that were refused", 500_000, "E", `remote_runtime.go:407] "ListPodSandbox with filter from runtime service failed" `+refused+` filter="&PodSandboxFilter{Id:{n}}"`),
		kubelet("500,000 status calls that timed out", 500_000, "E", `remote_runtime.go:762] "ContainerStatus from runtime service failed" `+failed+` containerID="{id}"`),
		kubelet("500,000 inspections that timed out", 500_000, "E", `generic.go:453] "PLEG: Ignoring events for pod" pod="ns-{n}/p-{n}" `+failed),
		kubelet("1,000,000 errors that each differ", 1_000_000, "E", `pod_workers.go:1301] "Error syncing pod, skipping" err="{x} {n}" pod="ns/p-{n}" podUID="{uid}"`),
		kubelet("1,000,000 turns that were skipped", 1_000_000, "I", `kubelet.go:2456] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m{n}.5s ago; threshold is 3m0s"`),
		kubelet("1,000,000 pod events of as many pods", 1_000_000, "I", `kubelet.go:2456] "SyncLoop (PLEG): event for pod" pod="ns/p-{n}" event={"ID":"{uid}","Type":"ContainerDied","Data":"{id}"}`),
		kubelet("1,000,000 housekeepings that took long", 1_000_000, "E", `kubelet.go:2475] "Housekeeping took longer than expected" err="housekeeping took too long" expected="1s" actual="{n}ms"`),
		kubelet("300,000 conditions of the node that differ", 300_000, "I", `setters.go:602] "Node became not ready" node="node-1" condition={"type":"Ready","status":"False","lastHeartbeatTime":"2024-01-01T00:00:00Z","lastTransitionTime":"2024-01-01T00:00:00Z","reason":"KubeletNotReady","message":"PLEG is not healthy: pleg was last seen active 3m{n}.5s ago; threshold is 3m0s {x}"}`),
		kubelet("200,000 names that a kubelet gives itself", 200_000, "I", `setters.go:602] "Node became not ready" node="worker-{n}" condition="x"`),
		kubelet("500,000 conditions as Go prints them", 500_000, "I", `setters.go:602] "Node became not ready" node="node-1" condition={Type:Ready Status:False LastHeartbeatTime:2023-11-14 22:13:20 +0000 UTC m=+{n}.403692528 LastTransitionTime:2023-11-14 22:13:20 +0000 UTC m=+0.403692528 Reason:KubeletNotReady Message:[container runtime status check may not have completed yet, PLEG is not healthy: pleg was last seen active 3m{n}.5s ago; threshold is 3m0s]}`),
		kubelet("500,000 volumes that cannot be mounted", 500_000, "E", `nestedpendingoperations.go:348] Operation for "{volumeName:kubernetes.io/nfs/{uid}-v{n} podName:{uid} nodeName:}" failed. No retries permitted until 2024-01-01 00:00:00 +0000 UTC. Error: MountVolume.SetUp failed for volume "v{n}" (UniqueName: "k/{uid}-v{n}") pod "p{n}" (UID: "{uid}") : mount failed: exit status {n}`),
		kubelet("500,000 images that cannot be pulled", 500_000, "E", `remote_image.go:180] "PullImage from image service failed" `+failed+` image="r{n}.example.com/a{n}/b:{n}"`),
		kubelet("500,000 colored lines of a terminal", 500_000, "E", "generic.go:238] \"\x1b[31mGenericPLEG\x1b[0m: Unable to retrieve pods\" err=\"{n}\"\r"),
		rows("500,000 reports without a header", 500_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			fmt.Fprintf(w, "PLEG is not healthy: pleg was last seen active 3m%d.5s ago; threshold is 3m0s\n", i)
		}),
		rows("1,000,000 changes of a node that is and is not ready", 1_000_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			at := began.Add(time.Duration(i) * time.Second)
			text := `kubelet_node_status.go:581] "Recording event message for node" node="node-1" event="NodeReady"`
			if i%2 == 0 {
				text = fmt.Sprintf(`kubelet.go:2456] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m%d.5s ago; threshold is 3m0s"`, i%60)
			}
			fmt.Fprintf(w, "%s node-1 kubelet[812]: I%s     812 %s\n", at.Format(time.Stamp), at.Format("0102 15:04:05.000000"), text)
		}),
		rows("500,000 lines that say how often the last was repeated", 500_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			at := began.Add(time.Duration(i) * time.Second)
			if i%2 == 0 {
				fmt.Fprintf(w, "%s node-1 last message repeated 2147483647 times\n", at.Format(time.Stamp))
				return
			}
			fmt.Fprintf(w, "%s node-1 kubelet[812]: E%s     812 generic.go:238] \"GenericPLEG: Unable to retrieve pods\" err=\"x\"\n", at.Format(time.Stamp), at.Format("0102 15:04:05.000000"))
		}),
		rows("30,000 reports of 2,500 nodes", 30_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			at := began.Add(time.Duration(i) * time.Second)
			fmt.Fprintf(w, "%s node-%d kubelet[812]: E%s     812 kubelet.go:2456] \"Skipping pod synchronization\" err=\"PLEG is not healthy: pleg was last seen active %dm%d.5s ago; threshold is 3m0s\"\n",
				at.Format(time.Stamp), i%2500, at.Format("0102 15:04:05.000000"), i/2500%9+3, i%60)
		}),
		rows("500,000 containers that ran out of memory", 500_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			fmt.Fprintf(w, "[%[1]d.000000] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=%064[1]x,mems_allowed=0,oom_memcg=/kubepods/burstable/pod%08[1]x-0000-4000-8000-000000000000,"+
				"task_memcg=/kubepods/burstable/pod%08[1]x-0000-4000-8000-000000000000/%064[1]x,task=j%[1]d,pid=%[1]d,uid=0\n"+
				"[%[1]d.000001] Memory cgroup out of memory: Killed process %[1]d (j%[1]d) total-vm:1kB, anon-rss:1kB\n", i)
		}),
		wide("1,000,000 lines in UTF-16", 1_000_000),
		table("400,000 rows of a table", 400_000, "timestamp,hostname,message\n", func(w *bufio.Writer, i int, at time.Time) {
			fmt.Fprintf(w, "%s,node-%d,\"E%s 812 generic.go:238] \"\"GenericPLEG: Unable to retrieve pods\"\" err=\"\"%d\"\"\"\n", at.Format(time.RFC3339), i%7, at.Format("0102 15:04:05.000000"), i)
		}, ""),
		table("300,000 hits of a search", 300_000, `{"took":1,"hits":{"total":{"value":1},"hits":[{}`, func(w *bufio.Writer, i int, at time.Time) {
			fmt.Fprintf(w, `,{"_index":"x","_id":"%d","_source":{"@timestamp":"%s","host":{"name":"node-%d"},"systemd":{"unit":"kubelet.service"},"message":"E%s 812 generic.go:238] \"GenericPLEG: Unable to retrieve pods\" err=\"%d\""}}`,
				i, at.Format(time.RFC3339), i%3, at.Format("0102 15:04:05.000000"), i)
		}, "]}}"),
		table("250,000 streams of a log store", 250_000, `{"status":"success","data":{"resultType":"streams","result":[{}`, func(w *bufio.Writer, i int, at time.Time) {
			fmt.Fprintf(w, `,{"stream":{"host":"node-%d","unit":"kubelet.service"},"values":[["%d","E%s 812 generic.go:238] \"GenericPLEG: Unable to retrieve pods\" err=\"%d\""]]}`,
				i, at.UnixNano(), at.Format("0102 15:04:05.000000"), i)
		}, "]}}"),
		table("250,000 events in what kubectl describes", 250_000, "Name:               node-1\nRoles:              worker\nEvents:\n  Type     Reason     Age   From     Message\n  ----     ------     ---   ----     -------\n", func(w *bufio.Writer, i int, _ time.Time) {
			fmt.Fprintf(w, "  Warning  NodeNotReady  %ds  kubelet  Node node-%d status is now: NodeNotReady PLEG is not healthy %d\n", i, i, i)
		}, ""),
		rows("500,000 failed calls of as many callers and codes", 500_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			at := began.Add(time.Duration(i) * time.Second)
			fmt.Fprintf(w, "%s node-1 kubelet[812]: E%s     812 remote_%d.go:%d] \"Call%d from runtime service failed\" err=\"rpc error: code = C%d desc = context deadline exceeded\" containerID=\"%064x\"\n",
				at.Format(time.Stamp), at.Format("0102 15:04:05.000000"), i, i%900, i, i, i)
		}),
		rows("250,000 programs, each with a report", 250_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			fmt.Fprintf(w, "%s node-1 program-%d[%d]: PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s\n", began.Add(time.Duration(i)*time.Second).Format(time.Stamp), i, i+2)
		}),
		kubelet("500,000 lines of control characters", 500_000, "E", "generic.go:238] \"GenericPLEG: Unable to retrieve pods\" err=\"\x1b]0;{n}\x07\x1b[2J\x00\xff\xfe\xc0\xaf \u202e \xf0\x9f\""),
		rows("500,000 lines at clocks that jump", 500_000, func(w *bufio.Writer, r *rand.Rand, i int) {
			at := time.Unix(r.Int64N(4e9), r.Int64N(1e9)).UTC()
			fmt.Fprintf(w, "%s node-1 kubelet[812]: E%s     812 generic.go:238] GenericPLEG: Unable to retrieve pods: rpc error: code = DeadlineExceeded desc = context deadline exceeded\n",
				at.Format("2006-01-02T15:04:05.000000Z07:00"), at.Format("0102 15:04:05.000000"))
		}),
		rows("200,000 processes of the kubelet", 200_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			at := began.Add(time.Duration(i) * time.Second)
			fmt.Fprintf(w, "%s node-1 kubelet[%d]: I%s %7d server.go:440] \"Kubelet version\" kubeletVersion=\"v1.%d.0\"\n", at.Format(time.Stamp), i+2, at.Format("0102 15:04:05.000000"), i+2, i%40)
		}),
		rows("200,000 boots, each with a report", 200_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			at := began.Add(time.Duration(i) * time.Second)
			fmt.Fprintf(w, "__REALTIME_TIMESTAMP=%d\n__MONOTONIC_TIMESTAMP=%d\n_BOOT_ID=%032x\n_HOSTNAME=node-1\nSYSLOG_IDENTIFIER=kubelet\n_PID=%d\nMESSAGE=E%s %d kubelet.go:2456] \"Skipping pod synchronization\" err=\"PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s\"\n\n",
				at.UnixMicro(), i, i, i+2, at.Format("0102 15:04:05.000000"), i+2)
		}),
		rows("500,000 hung tasks", 500_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			fmt.Fprintf(w, "[%d.000000] INFO: task containerd:%d blocked for more than 120 seconds.\n", i, i+2) // without a date, so in every window
		}),
		rows("500,000 lines of the runtime", 500_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			fmt.Fprintf(w, "time=\"%s\" level=error msg=\"ContainerStatus for \\\"%064x\\\" failed\" error=\"rpc error: code = DeadlineExceeded desc = context deadline exceeded\"\n",
				began.Add(time.Duration(i)*time.Second).Format(time.RFC3339Nano), i)
		}),
		rows("500,000 containers that exit", 500_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			at := began.Add(time.Duration(i) * time.Second)
			fmt.Fprintf(w, "time=\"%s\" level=info msg=\"TaskExit event &TaskExit{ContainerID:%064x,ID:%064x,Pid:%d,ExitStatus:137,ExitedAt:2024-03-13 15:00:00 +0000 UTC,XXX_unrecognized:[],}\"\n",
				at.Format(time.RFC3339Nano), i, i, i+2)
		}),
		rows("1,000,000 operation types in metrics", 1_000_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			if i == 0 {
				w.WriteString("# TYPE kubelet_runtime_operations_errors_total counter\n")
			}
			fmt.Fprintf(w, "kubelet_runtime_operations_errors_total{operation_type=\"op_%d\"} %d\n", i, i)
		}),
		rows("1,000,000 series of pods in metrics", 1_000_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			fmt.Fprintf(w, "container_cpu_usage_seconds_total{namespace=\"n\",pod=\"p-%d\",container=\"c\"} %d\n", i, i)
		}),
		rows("1,000,000 counts of relists a millisecond apart", 1_000_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			fmt.Fprintf(w, "kubelet_pleg_relist_duration_seconds_count{l%d=\"x%d\"} %d %d\n", i, i, i, began.UnixMilli()+int64(i))
		}),
		rows("300,000 ages in no order of time", 300_000, func(w *bufio.Writer, r *rand.Rand, i int) {
			at := began.Add(time.Duration(r.IntN(4_000_000)) * 20 * time.Millisecond)
			fmt.Fprintf(w, "I%s     812 kubelet.go:2311] \"Skipping pod synchronization\" err=\"PLEG is not healthy: pleg was last seen active %dm%d.%ds ago; threshold is 3m0s\"\n",
				at.Format("0102 15:04:05.000000"), 3+i%7, i%60, i)
		}),
		rows("400,000 starts of kubelets of other versions", 400_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			fmt.Fprintf(w, "I%s %7d server.go:467] \"Kubelet version\" kubeletVersion=\"v1.28.%d\"\n", began.Add(time.Duration(i)*20*time.Millisecond).Format("0102 15:04:05.000000"), 1000+i, i%9)
		}),
		rows("50,000,000 empty lines", 50, func(w *bufio.Writer, _ *rand.Rand, _ int) { w.WriteString(strings.Repeat("\n", 1_000_000)) }),
		rows("rows of one cell in a table of 50 MiB", 1, func(w *bufio.Writer, _ *rand.Rand, _ int) {
			w.WriteString("timestamp,hostname,message\n2024-03-13T15:00:00Z,node-1,\"")
			for range 50 {
				w.WriteString(strings.Repeat("a\"\"\n", 1<<18))
			}
			w.WriteString("\"\n")
		}),
		rows("100,000 fields in each of 20 entries", 20, func(w *bufio.Writer, _ *rand.Rand, i int) {
			fmt.Fprintf(w, `{"__REALTIME_TIMESTAMP":"17100000000000%02d","MESSAGE":"x"`, i)
			for f := range 100_000 {
				fmt.Fprintf(w, `,"FIELD_%d":"%d"`, f, i)
			}
			w.WriteString("}\n")
		}),
		rows("a document of 200 MiB in one string", 1, func(w *bufio.Writer, _ *rand.Rand, _ int) {
			w.WriteString(`{"kind":"Node","metadata":{"name":"`)
			for range 200 {
				w.WriteString(strings.Repeat("0123456789abcdef", 1<<16))
			}
			w.WriteString("\"}}\n")
		}),
	}
}

// began is the start of the logs of many lines, which are a second apart.
var began = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// kubelet returns a log of n lines with the same message. {n} is the number of the line, {id} and
// {uid} are derived from it, and {x} is a random word.
func kubelet(what string, n int, severity, message string) Case {
	return rows(what, n, func(w *bufio.Writer, r *rand.Rand, i int) {
		at := began.Add(time.Duration(i) * time.Second)
		w.Write(at.AppendFormat(w.AvailableBuffer(), time.Stamp))
		w.WriteString(" node-1 kubelet[812]: ")
		w.WriteString(severity)
		w.Write(at.AppendFormat(w.AvailableBuffer(), "0102 15:04:05.000000     812 "))
		w.WriteString(strings.NewReplacer("{n}", strconv.Itoa(i), "{id}", fmt.Sprintf("%064x", i), "{uid}", fmt.Sprintf("%08x-0000-4000-8000-000000000000", i), "{x}", strconv.FormatUint(r.Uint64(), 36)).Replace(message))
		w.WriteByte('\n')
	})
}

// wide returns a log of n lines in UTF-16, little endian with a byte order mark.
func wide(what string, n int) Case {
	return Case{Name: what, Build: func(to io.Writer) error {
		w := bufio.NewWriterSize(to, 1<<20)
		w.WriteString("\xff\xfe")
		var line []byte
		for i := range n {
			at := began.Add(time.Duration(i) * time.Second)
			line = fmt.Appendf(line[:0], "%s node-1 kubelet[812]: E%s     812 generic.go:238] \"GenericPLEG: Unable to retrieve pods\" err=\"x %d\"\r\n", at.Format(time.Stamp), at.Format("0102 15:04:05.000000"), i)
			for _, c := range line {
				w.Write([]byte{c, 0})
			}
		}
		return w.Flush()
	}}
}

// table returns a document of n rows between begin and after. The readable log does not follow it.
func table(what string, n int, begin string, row func(w *bufio.Writer, i int, at time.Time), after string) Case {
	return Case{Name: what, Build: func(to io.Writer) error {
		w := bufio.NewWriterSize(to, 1<<20)
		w.WriteString(begin)
		for i := range n {
			if _, err := w.Write(nil); err != nil { // a writer that takes no more
				return err
			}
			row(w, i, began.Add(time.Duration(i)*time.Second))
		}
		w.WriteString(after)
		return w.Flush()
	}}
}

// rows returns a case that calls row n times.
func rows(what string, n int, row func(w *bufio.Writer, r *rand.Rand, i int)) Case {
	return Case{Name: what, Build: func(to io.Writer) error {
		w, r := bufio.NewWriterSize(to, 1<<20), rand.New(rand.NewPCG(1, 2))
		for i := range n {
			if _, err := w.Write(nil); err != nil { // a writer that takes no more
				return err
			}
			row(w, r, i)
		}
		w.Write(Log())
		return w.Flush()
	}}
}
