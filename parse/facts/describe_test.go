package facts

import (
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

const description = `Name:               node-7
Roles:              worker
Unschedulable:      true
Conditions:
  Type    Status  LastHeartbeatTime                 LastTransitionTime                Reason            Message
  Ready   False   Fri, 12 Apr 2024 09:15:08 +0200   Fri, 12 Apr 2024 09:11:00 +0200   KubeletNotReady   PLEG is not healthy
System Info:
  Boot ID:                    6b1b20bc-0566-4b11-8063-54d7fe5e3e97
  Container Runtime Version:  containerd://1.7.2
  Kubelet Version:            v1.27.3
Non-terminated Pods:          (1 in total)
  Name:                       not-a-node
`

func TestDescribed(t *testing.T) {
	second := strings.NewReplacer("node-7", "node-8", "v1.27.3", "v1.26.1").Replace(description)
	star := "* " + strings.ReplaceAll(strings.TrimSuffix(description, "\n"), "\n", "\n* ") + "\n"
	for name, text := range map[string]string{
		"two nodes": description + "\n" + second,
		"sections":  "==> describe nodes <==\n" + star + "* ==> dmesg <==\n* Name: x\n" + "\n" + second,
	} {
		nodes := Described(&parse.File{Path: "x"}, []byte(text))
		if len(nodes) != 2 || nodes[0].Name != "node-7" || nodes[1].Name != "node-8" {
			t.Fatalf("%s: got %+v", name, nodes)
		}
		n := nodes[0]
		fields := map[string]string{}
		for _, f := range n.Fields {
			fields[f.Name] = f.Value
		}
		if fields["kubelet_version"] != "v1.27.3" || fields["runtime"] != "containerd://1.7.2" || fields["unschedulable"] != "true" || fields["boot_id"] != "6b1b20bc05664b11806354d7fe5e3e97" {
			t.Errorf("%s: fields %v", name, fields)
		}
		if at := n.Stamp.Time().Format(time.RFC3339); at != "2024-04-12T07:15:08Z" {
			t.Errorf("%s: heartbeat %s", name, at)
		}
		if line := strings.Split(text, "\n")[n.Line-1]; line != n.Quote() || !strings.HasPrefix(text[n.Offset:], line) {
			t.Errorf("%s: line %d offset %d quotes %q", name, n.Line, n.Offset, n.Quote())
		}
	}
	cut := description[:strings.Index(description, "System Info")]
	if got := Described(&parse.File{}, []byte(cut)); len(got) != 1 || got[0].Name != "node-7" || !strings.Contains(got[0].Quote(), "KubeletNotReady") {
		t.Errorf("without versions: %v", got)
	}
	for _, cut := range []string{
		"Name:               node-7\nRoles:              <none>\nUnschedulable:      false\nLease:\n",
		"Name:               node-7\nAnnotations:        kubeadm.alpha.kubernetes.io/cri-socket: /var/run/dockershim.sock\n",
		"Name:               node-7\nAnnotations:        kubeadm.alpha.kubernetes.io/cri-socket=/var/run/dockershim.sock\n",
		"Name:               node-7\nAnnotations:        flannel.alpha.coreos.com/backend-type=vxlan\n                    kubeadm.alpha.kubernetes.io/cri-socket=/var/run/dockershim.sock\n",
		"Name:               node-7\nAnnotations:        a: b\n                    volumes.kubernetes.io/controller-managed-attach-detach: true\n",
		"Name:               node-7\nRoles:              control-plane,etcd\nLabels:             kubernetes.io/hostname=node-7\n",
		"Name:               node-7\nRole:\nLabels:             a=b\nAnnotations:        node.alpha.kubernetes.io/ttl: 0\n",
	} {
		got := Described(&parse.File{}, []byte(cut))
		if len(got) != 1 || got[0].Name != "node-7" || strings.Contains(cut, "dockershim") && got[0].Field("cri_socket") != "/var/run/dockershim.sock" {
			t.Errorf("cut above the conditions: %v", got)
		}
	}
	if got := Described(&parse.File{}, []byte("Name:           web-0\nNode-Selectors: kubernetes.io/hostname=node-7\n                kubernetes.io/os=linux\nTolerations:    node.kubernetes.io/unschedulable:NoSchedule op=Exists\n")); got != nil {
		t.Errorf("a pod: %v", got)
	}
	if got := Described(&parse.File{}, []byte("NAME    READY   STATUS\nweb-0   0/1     Unknown\nName:           web-0\nNode:           node-7/10.0.0.7\nStart Time:     Thu, 08 Jun 2017 07:08:44 +0000\n")); got != nil {
		t.Errorf("a pod below a table, with the time of its start: %v", got)
	}
	if got := Described(&parse.File{}, []byte("Name: a\nKubelet Version: unknown\n")); got != nil {
		t.Errorf("no version: %v", got)
	}
}

// TestListed: rows of "kubectl get nodes" are read below the headers of all versions, and a row with a
// version by itself; rows of other tables are not.
func TestListed(t *testing.T) {
	for text, want := range map[string]string{
		"NAME   STATUS     ROLES    AGE   VERSION\nn1     NotReady   <none>   5d    v1.20.6\n":                          "n1 NotReady v1.20.6",
		"NAME           STATUS                     AGE\n10.0.0.1   Ready,SchedulingDisabled   3m\nn2   NotReady   1m\n": "10.0.0.1 Ready,SchedulingDisabled , n2 NotReady ",
		"> NAME        LABELS     STATUS\n> 127.0.0.1    <none>   NotReady\n":                                           "127.0.0.1 NotReady ",
		"$ kubectl get nodes | grep Not\nn1 NotReady agent 314d v1.13.4 10.0.0.7 Ubuntu 16.04.6 LTS docker://Unknown\n": "n1 NotReady v1.13.4",
		"NAME      STATUS   AGE\ndefault   Active   5d\n":                                                               "",
		"web-0   1/1   Running   0   5d\nthe node is NotReady since v1.20\n":                                            "",
		"it was NotReady after the upgrade to v1.13.4\n":                                                                "",
	} {
		got := []string{}
		for _, o := range Described(&parse.File{}, []byte(text)) {
			got = append(got, o.Name+" "+o.Field("listed")+" "+o.Field("kubelet_version"))
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
