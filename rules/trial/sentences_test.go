package trial

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse/logs"
	"github.com/plegforensics/plegforensics/rules"
)

// unsaid matches what no sentence of a report may contain: an unfilled variable, the prefix
// of an alternative, a reference to something never named.
var unsaid = regexp.MustCompile(`\{[a-z_]+\}|^or: |(?i)\b(?:that|this|the said) (?:container|pod|sandbox|shim|runc|mount|device)\b|\(\)|  `)

// printed returns all sentences of a cause.
func printed(c *rules.Cause) []string {
	out := slices.Concat([]string{c.Title, c.Explanation}, c.Remediation, c.Path)
	for _, m := range c.Missing {
		out = append(out, m.Text)
	}
	for _, e := range slices.Concat(c.For, c.Against) {
		out = append(out, e.Note)
	}
	return out
}

// TestSentences checks every sentence that the test cases of the causes print.
func TestSentences(t *testing.T) {
	pack, problems := rules.Builtin()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	set := logs.Builtin()
	read := 0
	for _, d := range pack.Causes {
		for i := range d.Tests {
			for _, c := range Eval(&d.Tests[i], pack, set) {
				for _, s := range printed(&c) {
					read++
					if bad := unsaid.FindString(s); bad != "" {
						t.Errorf("%s, case %q: %s says %q: %q", d.ID, d.Tests[i].Name, c.ID, s, bad)
					}
				}
			}
		}
	}
	if read < 1000 {
		t.Errorf("only %d sentences read", read)
	}
}

// TestStaticSentences checks the sentences in the definitions, whether or not a test case
// prints them.
func TestStaticSentences(t *testing.T) {
	pack, _ := rules.Builtin()
	pointing := regexp.MustCompile(`(?i)\b(?:that|this) (?:container|pod|sandbox|shim|runc)\b|\bseen to\b`)
	for _, d := range pack.Causes {
		texts := slices.Concat([]string{d.Title}, d.Explanation, d.Remediation)
		for _, c := range slices.Concat(d.For, d.Against) {
			texts = append(texts, c.Say)
		}
		for _, s := range slices.Concat(d.Explanation, d.Remediation) {
			// A variable of the episode may be used where the evidence has none of that
			// name.
			if strings.Count(s, "{") > 1 && strings.Contains(s, "{age}") {
				t.Errorf("%s says %q, and may mean the age of the relist", d.ID, s)
			}
		}
		for _, s := range texts {
			if bad := pointing.FindString(s); bad != "" {
				t.Errorf("%s says %q, and names none: %q", d.ID, s, bad)
			}
		}
	}
}

// TestSampleSentences checks the reports of the samples.
func TestSampleSentences(t *testing.T) {
	names, err := filepath.Glob("../../samples/want/*/report.json")
	if err != nil || len(names) == 0 {
		t.Fatal("no samples", err)
	}
	hole := regexp.MustCompile(`"(?:note|summary|explanation|title)": "[^"]*(?:\{[a-z_]+\}|\bor: )`)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bad := hole.Find(data); bad != nil {
			t.Errorf("%s: %s", name, bad)
		}
	}
}

// TestNotSaid tests that reports do not claim what the lines do not prove.
func TestNotSaid(t *testing.T) {
	pack, _ := rules.Builtin()
	for _, c := range []struct {
		name, lines, not string
		facts            []rules.TestFact
	}{
		{"up to Linux 4.20 the line of the victim tells no scope",
			"[  152.700479] Memory cgroup out of memory: Kill process 4142 (python3) score 68 or sacrifice child\n" +
				"[  152.701942] Killed process 4254 (python3) total-vm:11968kB, anon-rss:4288kB, file-rss:3972kB, shmem-rss:0kB\n", "node as a whole", nil},
		{"inotify has limits of its own",
			"F0304 10:00:00.000000       7 kubelet.go:1339] failed to start Plugin Watcher. err: failed to start plugin watcher, err: too many open files\n", "descriptor", nil},
		{"docker lists containers without its containerd",
			`Mar 04 10:00:00 n1 dockerd[900]: time="2026-03-04T10:00:00.8Z" level=warning msg="grpc: addrConn.createTransport failed to connect to {unix:///var/run/docker/containerd/docker-containerd.sock 0  <nil>}. Err :connection error: desc = \"transport: error while dialing: dial unix /var/run/docker/containerd/docker-containerd.sock: connect: connection refused\". Reconnecting..." module=grpc` + "\n",
			"no relist can list", nil},
		{"the age of a relist is not that of a plugin",
			lists("09:59:30 ok") + "E0304 10:00:36.150000    2114 cni.go:330] Error deleting network: context deadline exceeded\n" +
				"E0304 10:03:40.000000    2114 kubelet.go:2345] \"Skipping pod synchronization\" err=\"PLEG is not healthy: pleg was last seen active 3m9.5s ago; threshold is 3m0s\"\n", "had run for",
			[]rules.TestFact{{Key: "process.cni", Value: "calico", Attrs: map[string]string{"pid": "101", "comm": "calico", "args": "/opt/cni/bin/calico"}}}},
		{"a unit whose stop timed out is not started again",
			"Mar 04 10:00:00 n1 systemd[1]: containerd.service: State 'stop-sigterm' timed out. Killing.\nMar 04 10:00:10 n1 node-problem-detector[900]: Node condition FrequentContainerdRestart is now: True, reason: FrequentContainerdRestart\n", "started again", nil},
		{"a pool that is nearly full still takes writes",
			"", "is full,", []rules.TestFact{{Key: "lvm.thin.data.percent", Value: "96"}, {Key: "runtime.name", Value: "docker"}}},
		{"devices that the kernel waits for may be several",
			"[ 100.1] unregister_netdevice: waiting for eth0 to become free. Usage count = 1\n[ 110.1] unregister_netdevice: waiting for veth1 to become free. Usage count = 1\n[ 120.1] unregister_netdevice: waiting for veth2 to become free. Usage count = 1\n", "again and again for device eth0", nil},
	} {
		for _, cause := range Eval(&rules.TestCase{Files: []rules.TestFile{{Name: "input.log", Text: c.lines}}, Facts: c.facts}, pack, logs.Builtin()) {
			for _, s := range printed(&cause) {
				if strings.Contains(s, c.not) {
					t.Errorf("%s: %s says %q", c.name, cause.ID, s)
				}
			}
		}
	}
}
