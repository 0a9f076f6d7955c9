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
// Each ends with the unchanged readable log.
func Lines() []Case {
	const (
		failed  = `err="rpc error: code = DeadlineExceeded desc = context deadline exceeded"`
		refused = `err="rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused\""`
	)
	return []Case{
		kubelet("1,000,000 relists whose list timed out", 1_000_000, "E", `generic.go:238] "GenericPLEG: Unable to retrieve pods" `+failed),
		kubelet("1,000,000 lists that timed out", 1_000_000, "E", `remote_runtime.go:407] "ListPodSandbox with filter from runtime service failed" `+failed+` filter="nil"`),
		kubelet("1,000,000 lists that were refused", 1_000_000, "E", `remote_runtime.go:407] "ListPodSandbox with filter from runtime service failed" `+refused+` filter="&PodSandboxFilter{Id:{n}}"`),
		kubelet("1,000,000 status calls that timed out", 1_000_000, "E", `remote_runtime.go:762] "ContainerStatus from runtime service failed" `+failed+` containerID="{id}"`),
		kubelet("1,000,000 inspections that timed out", 1_000_000, "E", `generic.go:453] "PLEG: Ignoring events for pod" pod="ns-{n}/p-{n}" `+failed),
		kubelet("1,000,000 errors that each differ", 1_000_000, "E", `pod_workers.go:1301] "Error syncing pod, skipping" err="{x} {n}" pod="ns/p-{n}" podUID="{uid}"`),
		kubelet("1,000,000 turns that were skipped", 1_000_000, "I", `kubelet.go:2456] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m{n}.5s ago; threshold is 3m0s"`),
		kubelet("1,000,000 pod events of as many pods", 1_000_000, "I", `kubelet.go:2456] "SyncLoop (PLEG): event for pod" pod="ns/p-{n}" event={"ID":"{uid}","Type":"ContainerDied","Data":"{id}"}`),
		kubelet("1,000,000 housekeepings that took long", 1_000_000, "E", `kubelet.go:2475] "Housekeeping took longer than expected" err="housekeeping took too long" expected="1s" actual="{n}ms"`),
		kubelet("500,000 conditions of the node that differ", 500_000, "I", `setters.go:602] "Node became not ready" node="node-1" condition={"type":"Ready","status":"False","lastHeartbeatTime":"2024-01-01T00:00:00Z","lastTransitionTime":"2024-01-01T00:00:00Z","reason":"KubeletNotReady","message":"PLEG is not healthy: pleg was last seen active 3m{n}.5s ago; threshold is 3m0s {x}"}`),
		kubelet("500,000 conditions as Go prints them", 500_000, "I", `setters.go:602] "Node became not ready" node="node-1" condition={Type:Ready Status:False LastHeartbeatTime:2023-11-14 22:13:20 +0000 UTC m=+{n}.403692528 LastTransitionTime:2023-11-14 22:13:20 +0000 UTC m=+0.403692528 Reason:KubeletNotReady Message:[container runtime status check may not have completed yet, PLEG is not healthy: pleg was last seen active 3m{n}.5s ago; threshold is 3m0s]}`),
		rows("500,000 failed calls of as many callers and codes", 500_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			at := began.Add(time.Duration(i) * time.Second)
			fmt.Fprintf(w, "%s node-1 kubelet[812]: E%s     812 remote_%d.go:%d] \"Call%d from runtime service failed\" err=\"rpc error: code = C%d desc = context deadline exceeded\" containerID=\"%064x\"\n",
				at.Format(time.Stamp), at.Format("0102 15:04:05.000000"), i, i%900, i, i, i)
		}),
		rows("500,000 programs, each with a report", 500_000, func(w *bufio.Writer, _ *rand.Rand, i int) {
			fmt.Fprintf(w, "%s node-1 program-%d[%d]: PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s\n", began.Add(time.Duration(i)*time.Second).Format(time.Stamp), i, i+2)
		}),
		kubelet("500,000 lines of control characters", 500_000, "E", "generic.go:238] \"GenericPLEG: Unable to retrieve pods\" err=\"\x1b]0;{n}\x07\x1b[2J\x00\xff\xfe\xc0\xaf \u202e \xf0\x9f\""),
		rows("1,000,000 lines at clocks that jump", 1_000_000, func(w *bufio.Writer, r *rand.Rand, i int) {
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

// rows returns a case that calls row n times.
func rows(what string, n int, row func(w *bufio.Writer, r *rand.Rand, i int)) Case {
	return Case{Name: what, Build: func(to io.Writer) error {
		w, r := bufio.NewWriterSize(to, 1<<20), rand.New(rand.NewPCG(1, 2))
		for i := range n {
			row(w, r, i)
		}
		w.Write(Log())
		return w.Flush()
	}}
}
