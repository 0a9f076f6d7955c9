package hostile

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

// Many returns inputs that are large only in the number of something: files, archives, nodes, rows,
// frames. Each is an archive whose last member is the readable log, except the long line.
func Many() []Case {
	return []Case{
		{Name: "100,000 logs", Build: func(w io.Writer) error { return SmallLogs(w, 100_000) }},
		members("100,000 logs of containers", 100_000, "var/log/pods/ns_p-%[1]d_%032[1]x/c/0.log",
			"2024-03-13T15:30:00.%09[1]dZ stderr F PLEG is not healthy: pleg was last seen active 3m1.5s ago; threshold is 3m0s\n"),
		members("100,000 journals of as many hosts", 100_000, "node-%d/journal.export", export),
		members("100,000 snapshots of metrics", 100_000, "node-1/metrics-%d.txt", snapshot),
		packed("100,000 archives of one log", 100_000),
		{Name: "2,000 parts of 400 lines of a log, each a line later", Build: func(w io.Writer) error {
			const parts, most = 2000, 400
			var lines [][]byte
			for i := range parts + most {
				at := began.Add(time.Duration(i) * time.Second)
				lines = append(lines, fmt.Appendf(nil, "%s node-1 kubelet[812]: E%s     812 generic.go:238] \"GenericPLEG: Unable to retrieve pods\" err=\"%d\"\n",
					at.Format(time.Stamp), at.Format("0102 15:04:05.000000"), i))
			}
			for i := range parts {
				if _, err := w.Write(header{name: fmt.Sprintf("var/log/kubelet.log.%d", i)}.entry(bytes.Join(lines[i:i+most], nil))); err != nil {
					return err
				}
			}
			return end(w)
		}},
		{Name: "300 names of 1 MB", Build: func(w io.Writer) error {
			long := strings.Repeat(strings.Repeat("x", 200)+"/", 5000)
			for i := range 300 {
				if _, err := w.Write(header{name: "PaxHeaders/x", typ: 'x'}.entry([]byte(paxRecord("path", fmt.Sprintf("d%d/%skubelet.log", i, long))))); err != nil {
					return err
				}
				w.Write(header{name: "x"}.entry(fmt.Appendf(nil, "Mar 13 15:30:00 node-1 kubelet[812]: E0313 15:30:00.%06d     812 generic.go:238] GenericPLEG: Unable to retrieve pods: x\n", i)))
			}
			return end(w)
		}},
		members("100,000 snapshots of as many nodes", 100_000, "metrics-%d.txt", "# TYPE kubelet_node_name gauge\nkubelet_node_name{node=\"node-%[1]d\"} 1\n"+snapshot),
		one("100,000 rows of containers", "crictl_ps_-a.txt", 100_000, "CONTAINER           IMAGE               CREATED             STATE               NAME                ATTEMPT             POD ID              POD\n",
			"%013[1]x       %013[1]x       3 hours ago         Running             c-%[1]d                0                   %013[1]x       p-%[1]d\n", ""),
		one("100,000 pods", "pods.json", 100_000, `{"kind":"List","apiVersion":"v1","items":[{}`, `,{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p-%[1]d","namespace":"n","uid":"%032[1]x"},`+
			`"spec":{"nodeName":"node-%[1]d"},"status":{"phase":"Running","containerStatuses":[{"name":"c","containerID":"containerd://%064[1]x"}]}}`, "]}"),
		one("500,000 nodes", "nodes.json", 500_000, `{"kind":"List","apiVersion":"v1","items":[{}`, `,{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-%[1]d"},`+
			`"status":{"conditions":[{"type":"Ready","status":"False","lastHeartbeatTime":"2024-03-13T15:00:00Z","reason":"KubeletNotReady","message":"PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s"}]}}`, "]}"),
		one("100,000 mounts", "mount.txt", 100_000, "", "10.0.0.1:/e/%[1]d on /var/lib/kubelet/pods/%032[1]x/volumes/kubernetes.io~nfs/v type nfs4 (rw,hard)\n", ""),
		one("1,000,000 processes", "ps_auxf.txt", 1_000_000, "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n",
			"root     %7[1]d  0.0  0.0      0     0 ?        D    Mar13   0:00 runc init %[1]d\n", ""),
		one("200,000 goroutines", "goroutines.txt", 200_000, "", "goroutine %[1]d [select, 5 minutes]:\nk8s.io/kubernetes/pkg/kubelet/pleg.(*GenericPLEG).relist(0xc%[1]x)\n\t/w/generic.go:%[1]d +0x1a\n"+
			"main.f%[1]d(0xc%[1]x)\n\t/w/f.go:%[1]d +0x2b\ncreated by k8s.io/kubernetes/pkg/kubelet.start\n\t/w/k.go:1 +0x1\n\n", ""),
		members("40,000 answers about one container each", 40_000, "crictl/inspect/%d.json", `{"status":{"id":"%064[1]x","metadata":{"name":"c","attempt":0},"state":"CONTAINER_RUNNING","createdAt":"2024-03-13T15:30:00Z",`+
			`"labels":{"io.kubernetes.pod.name":"p%[1]d","io.kubernetes.pod.namespace":"n","io.kubernetes.pod.uid":"%08[1]x-0000-4000-8000-000000000000"}},"info":{"sandboxID":"%064[1]x","pid":%[1]d}}`),
		members("40,000 kernel stacks", 40_000, "proc/%d/stack", "[<0>] fn%[1]d+0x1/0x2\n[<0>] nfs_wait_bit_killable+0x1e/0xb0\n[<0>] do_syscall_64+0x5b/0x1e0\n"),
		members("60,000 measures of pressure", 60_000, "proc/%d/pressure/io", "some avg10=99.00 avg60=98.00 avg300=97.00 total=%[1]d\nfull avg10=9.00 avg60=8.00 avg300=7.00 total=%[1]d\n"),
		one("400,000 containers of the runtime", "crictl_ps.json", 400_000, `{"containers":[{}`, `,{"id":"%064[1]x","podSandboxId":"%064[1]x","metadata":{"name":"c%[1]d","attempt":0},"image":{"image":"x"},"state":"CONTAINER_RUNNING","createdAt":"171000%013[1]d",`+
			`"labels":{"io.kubernetes.pod.name":"p%[1]d","io.kubernetes.pod.namespace":"n","io.kubernetes.pod.uid":"%08[1]x-0000-4000-8000-000000000000"}}`, "]}"),
		one("1,500,000 points of a range query", "query_range.json", 6000, `{"status":"success","data":{"resultType":"matrix","result":[{}`, `,{"metric":{"__name__":"kubelet_pleg_relist_duration_seconds_bucket","le":"%[1]d","node":"n%[1]d"},"values":[`+points(250)+`]}`, "]}}"),
		one("5,000,000 items of a list that are empty", "pods.yaml", 5_000_000, "kind: PodList\napiVersion: v1\nitems:\n", "- {} # %d\n", ""),
		one("a document 10,000 deep", "deep.json", 1, `{"kind":"List","apiVersion":"v1","items":[`+strings.Repeat(`{"a":`, 10_000)+"1", "", strings.Repeat("}", 10_000)+"]}"),
		one("100,000 hosts in one log", "messages.log", 100_000, "", "Mar 13 15:30:00 node-%[1]d kubelet[%[1]d]: E0313 15:30:00.000000     812 kubelet.go:2456] \"SyncLoop (PLEG): event for pod\" pod=\"default/p\"\n", ""),
		{Name: "a line of 1 GiB", Build: func(w io.Writer) error {
			w.Write(Log())
			part := bytes.Repeat([]byte("no end "), 1<<17)
			for range 1171 {
				w.Write(part)
			}
			io.WriteString(w, "\n")
			_, err := w.Write(Log())
			return err
		}},
	}
}

const (
	export   = "__REALTIME_TIMESTAMP=17100%011[1]d\n_HOSTNAME=node-%[1]d\nSYSLOG_IDENTIFIER=kubelet\nMESSAGE=E0313 15:30:00.000000     812 kubelet.go:2456] \"SyncLoop (PLEG): event for pod\" pod=\"default/p\"\n\n"
	snapshot = "# TYPE kubelet_pleg_relist_duration_seconds histogram\nkubelet_pleg_relist_duration_seconds_bucket{le=\"+Inf\"} %[1]d\n" +
		"kubelet_pleg_relist_duration_seconds_sum %[1]d\nkubelet_pleg_relist_duration_seconds_count %[1]d\n# TYPE kubelet_pleg_last_seen_seconds gauge\nkubelet_pleg_last_seen_seconds 17%08[1]d\n"
)

// points returns n points in time with values, half a minute apart.
func points(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`[%d,"%d"]`, 1_710_000_000+30*i, i)
	}
	return strings.Join(all, ",")
}

// members returns an archive of n small files. Both name and text are formats for the number of the
// file.
func members(what string, n int, name, text string) Case {
	return Case{Name: what, Build: func(w io.Writer) error {
		for i := range n {
			if _, err := w.Write(header{name: fmt.Sprintf(name, i)}.entry(fmt.Appendf(nil, text, i))); err != nil {
				return err
			}
		}
		return end(w)
	}}
}

// packed returns an archive of n archives with one log each.
func packed(what string, n int) Case {
	return Case{Name: what, Build: func(w io.Writer) error {
		for i := range n {
			inner := archive(header{name: "kubelet.log"}.entry(fmt.Appendf(nil, "Mar 13 15:30:00 node-1 kubelet[812]: E0313 15:30:00.%06d     812 kubelet.go:2456] x\n", i)))
			if _, err := w.Write(header{name: fmt.Sprintf("part-%d.tar", i)}.entry(inner)); err != nil {
				return err
			}
		}
		return end(w)
	}}
}

// one returns an archive with a file of n rows between begin and after.
func one(what, name string, n int, begin, row, after string) Case {
	return Case{Name: what, Build: func(w io.Writer) error {
		text := []byte(begin)
		if row != "" {
			for i := range n {
				text = fmt.Appendf(text, row, i)
			}
		}
		if _, err := w.Write(header{name: "node-1/" + name}.entry(append(text, after...))); err != nil {
			return err
		}
		return end(w)
	}}
}

// end writes the readable log and the end of an archive.
func end(w io.Writer) error {
	w.Write(ok("node-1/kubelet.log"))
	_, err := w.Write(make([]byte, 1024))
	return err
}
