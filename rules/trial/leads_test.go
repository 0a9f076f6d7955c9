package trial

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse/logs"
	"github.com/plegforensics/plegforensics/rules"
)

// lists returns the lines of a kubelet whose relists list pods ("ok"), time out ("late") or
// are refused ("gone") at the given times of day.
func lists(at ...string) string {
	var b strings.Builder
	for _, x := range at {
		when, what, _ := strings.Cut(x, " ")
		err := "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
		switch what {
		case "ok":
			fmt.Fprintf(&b, "I0304 %s.000000    2114 kubelet.go:2439] \"SyncLoop (PLEG): event for pod\" pod=\"shop/web-0\" event={\"ID\":\"6f1c2d3e-0000-4a4a-8b8b-111111111100\",\"Type\":\"ContainerDied\",\"Data\":\"aaaabbbbccccddddeeeeffff0000111122223333444455556666777788889900\"}\n", when)
			continue
		case "gone":
			err = `rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused\"`
		}
		fmt.Fprintf(&b, "E0304 %s.000000    2114 log.go:32] \"ListPodSandbox with filter from runtime service failed\" err=\"%s\" filter=\"nil\"\n", when, err)
		fmt.Fprintf(&b, "E0304 %s.000100    2114 generic.go:238] \"GenericPLEG: Unable to retrieve pods\" err=\"%s\"\n", when, err)
	}
	return b.String()
}

// TestLeads tests that of a hang and a refusal in one incident the first leads, with both
// as certain as on their own, and that of two incidents neither leads the other.
func TestLeads(t *testing.T) {
	pack, _ := rules.Builtin()
	of := func(at ...string) map[string]rules.Cause {
		out := map[string]rules.Cause{}
		for i, c := range Eval(&rules.TestCase{Files: []rules.TestFile{{Name: "kubelet.log", Text: lists(at...)}}}, pack, logs.Builtin()) {
			if i == 0 {
				out["first"] = c
			}
			out[c.ID] = c
		}
		return out
	}
	const hang, down = "runtime-hang-global", "runtime-down"
	late := []string{"10:01:31 late", "10:03:32 late"}
	var gone, later []string
	for m := 3; m < 7; m++ {
		for s := 35; s < 57; s += 20 {
			gone = append(gone, fmt.Sprintf("10:%02d:%02d gone", m, s))
			later = append(later, fmt.Sprintf("12:%02d:%02d gone", m, s))
		}
	}
	alone := of(slices.Concat([]string{"09:59:30 ok"}, gone, []string{"10:07:10 ok"})...)[down]
	whole := of(slices.Concat([]string{"09:59:30 ok"}, late, gone, []string{"10:07:10 ok"})...)
	if whole["first"].ID != hang {
		t.Errorf("of a hang that ends in a refusal %s leads", whole["first"].ID)
	}
	if w := whole[down]; w.Level == rules.Possible || alone.Level == rules.Possible || w.Confidence > alone.Confidence {
		t.Errorf("with the hang before it the refusal is %s %.2f, alone %s %.2f", w.Level, w.Confidence, alone.Level, alone.Confidence)
	}
	if !slices.ContainsFunc(whole[down].Path, func(s string) bool { return strings.Contains(s, "timed out until they were refused") }) {
		t.Errorf("nothing tells why it leads: %q", whole[down].Path)
	}
	first := of(slices.Concat([]string{"09:59:30 ok"}, gone, []string{"10:08:58 late", "10:10:59 late", "10:11:10 ok"})...)
	if first["first"].ID == hang {
		t.Errorf("of a refusal that ends in a hang %s leads", first["first"].ID)
	}
	apart := of(slices.Concat([]string{"09:59:30 ok"}, late, []string{"10:03:40 ok", "11:59:30 ok"}, later, []string{"12:07:10 ok"})...)
	for _, c := range apart {
		if slices.ContainsFunc(c.Path, func(s string) bool { return strings.Contains(s, " until they ") }) {
			t.Errorf("of two incidents %s: %q", c.ID, c.Path)
		}
	}
}

// TestListsNeedNoFileServer tests that a file server that does not answer is no likely cause
// of lists that time out on containerd, with an episode and without, and that it stays one
// where docker lists the containers or nothing states the runtime.
func TestListsNeedNoFileServer(t *testing.T) {
	pack, _ := rules.Builtin()
	kernel := ""
	for _, at := range []string{"09:59:20", "09:59:40", "10:00:00"} {
		kernel += "Mar 04 " + at + " n1 kernel: nfs: server 10.9.8.7 not responding, still trying\n"
	}
	const initialized = "I0304 09:00:00.000000    2114 kuberuntime_manager.go:222] \"Container runtime initialized\" containerRuntime=\"%s\" version=\"1\" apiVersion=\"v1\"\n"
	for _, runtime := range []string{"containerd", "cri-o", "docker", ""} {
		for _, age := range []string{"", "E0304 10:02:32.000000    2114 kubelet.go:2345] \"Skipping pod synchronization\" err=\"PLEG is not healthy: pleg was last seen active 3m2s ago; threshold is 3m0s\"\n"} {
			kubelet := lists("09:59:30 ok", "10:01:31 late") + age + lists("10:03:32 late")
			if runtime != "" {
				kubelet = fmt.Sprintf(initialized, runtime) + kubelet
			}
			files := []rules.TestFile{{Name: "kubelet.log", Text: kubelet}, {Name: "messages", Text: kernel}}
			first := "storage-nfs-unresponsive"
			if runtime == "containerd" || runtime == "cri-o" {
				first = "runtime-hang-global"
			}
			causes := Eval(&rules.TestCase{Files: files}, pack, logs.Builtin())
			if len(causes) == 0 || causes[0].ID != first {
				t.Errorf("%s, %q: the first cause is not %s", runtime, age, first)
			}
			for _, c := range causes {
				if c.ID == "storage-nfs-unresponsive" && c.ID != first && c.Level != rules.Possible {
					t.Errorf("%s, %q: %s is %s", runtime, age, c.ID, c.Level)
				}
			}
		}
	}
}
