package redact

import (
	"strings"
	"testing"
)

// named are lines in which the word X or Y is a name because of its position, whatever word it is.
var named = []string{
	// Flags with a blank or a sign.
	`kubelet --hostname-override X --v=2`, `kubelet --cluster-domain X.Y --v=2`, `--provider-id X`, `--node-labels=team=X,pool=Y,X=Y`, `--register-with-taints=X=Y:NoSchedule`,
	`ExecStart=/usr/bin/kubelet --node-labels "team=X" --cluster-name Y`,
	// Labels as printed by Go.
	`Labels:map[string]string{app: X,io.kubernetes.pod.name: Y,io.kubernetes.pod.namespace: X,io.kubernetes.container.name: Y,}`,
	// Images of public registries.
	`pull of docker.io/X/Y:1 failed`, `layer of gcr.io/X/Y:1 is gone`, `x docker.io/library/X:1`, `lost quay.io/X/Y:2`, `mcr.microsoft.com/X/Y:1`, `public.ecr.aws/X/Y:1.0`,
	// Hosts.
	`dial tcp: lookup X`, `dial tcp: lookup X: no such host`, `Hostname: X`, `   Static hostname: X`, `X-Forwarded-Host: X`, `a Hostname: X, b`,
	`mailto:someone@X.Y`, `sip:someone@X.odd;transport=tls`, `xmpp:someone@X/a`, `acct:someone@X.social`, `owner:someone@X.odd sent`, `cc:someone@X`,
	`mount -o username=X,password=x2,dom=Y //a/b`, `kubernetes.io/csi/X^Y`,
	// References and objects.
	`eviction of pod/X on node/Y`, `see node/X, pod/Y`, `ns/X and namespace/Y`, `"Updated node" nodes="X"`, `namespace X is being terminated`, `node X status is now: NodeNotReady`,
	`node='X' and pod='Y'`, `{'nodeName': 'X', 'namespace': 'Y'}`, `nodeName: 'X'`,
	`Node X hasn't been updated for 3m`, `serviceaccount:X:Y denied`, `ssh -l X Y uptime`, `TaskExit event container_id:"a" id:"b" namespace X`,
	`no sample, skipped: kubelet_running_pods{node="X",pod="Y"} ab`,
	// People.
	`/Users/X/Library: permission denied`, `C:\Users\X\x`, `C:\\Users\\X\\x`, `login=X`, `session closed for user X`, `done by user X.`, `New session 4 of user X.`, `Started Session 4 of User X.`,
	`net use \\a\b pw1 /user:X`, `mail from=<X@Y>`, `uid=1000(X) gid=1000(Y) groups=1000(X),10(Y)`,
	// Tags of clouds, paths without their beginning, units, tools.
	`tag kubernetes.io/cluster/X=owned of k8s.io/cluster-autoscaler/Y`, `pvc "X" is lost, pv "Y"`, `get namespaces/X/pods/Y`, `kubernetes.io\x7esecret-X.mount`,
	`kubernetes.io\x7eempty\x2ddir-X.mount`, `rsync -a X::Y /mnt`, `rbd map X/Y`,
	// Certificates.
	`x509: certificate is valid for a1, X, not Y`, `certificate is valid for a, b, c, d, e, f, g, X, not Y"`,
}

// TestNamed: a word of reports, a word of the field, and words joined by a dash are names where their
// position says so.
func TestNamed(t *testing.T) {
	for _, names := range [][2]string{{"critical", "deletion"}, {"neighbour", "plaintext"}, {"contract-agency", "customer-backend"}, {"storage-archive", "account-machine"}} {
		for _, line := range named {
			text := strings.NewReplacer("X", names[0], "Y", names[1]).Replace(strings.ReplaceAll(line, "X-F", "\x00"))
			text = strings.ReplaceAll(text, "\x00", "X-F")
			got := redacted(text)
			for _, name := range names {
				if strings.Contains(text, name) && strings.Contains(got, name) {
					t.Errorf("%q is left in %q", name, got)
				}
			}
		}
	}
	if got := redacted(`no sample, skipped: kubelet_running_pods{app="plaintext",tier="customer-backend",le="0.5"} ab`); strings.Contains(got, "text") || strings.Contains(got, "back") || !strings.Contains(got, `le="0.5"`) {
		t.Errorf("%q", got)
	}
	for _, line := range []string{`Killed process 4711 (X) total-vm:1kB`, `INFO: task X:4711 blocked for more than 120 seconds`, `oom-kill:task_memcg=/a,task=X,pid=4,uid=1`, `host: X`, `lookup X`} {
		text := strings.ReplaceAll(line, "X", "storage-archive")
		if got := redacted(text); strings.Contains(got, "archive") {
			t.Errorf("%q is left", got)
		}
	}
}

func redacted(text string) string {
	r := New(nil)
	r.Learn(text)
	r.Settle()
	return r.Text(text)
}

// TestAddresses: addresses are recognized in any spelling.
func TestAddresses(t *testing.T) {
	for text, marks := range map[string][]string{
		`IN=eth0 OUT= MAC=52:54:00:ab:cd:ef:52:54:00:12:34:56:08:00 SRC=10.1.2.3`: {"ab:cd:ef", "12:34:56", "52:54"},
		`MAC=ff:ff:ff:ff:ff:ff:52:54:00:ab:cd:ef:08:00`:                           {"ab:cd:ef"},
		`MAC=52:54:00:ab:cd:ef:ff:ff:ff:ff:ff:ff:08:00`:                           {"ab:cd:ef"},
		`HWADDR=525400ABCDEF, mac=525400abcdee, DHCPREQUEST from 525400abcded`:    {"525400"},
		`match 10\.11\.12\.13 and 10\\.11\\.12\\.14`:                              {`11\`},
		`GET /x?h=10%2E11%2E12%2E13&y=10%2e11%2e12%2e14`:                          {"2E11", "2e11"},
		`seen 10[.]11[.]12[.]13, 10(.)11(.)12(.)14, 10.11.12[.]15`:                {"11[", "11(", "11.12"},
		`seen 10․11․12․13`:                                                        {"11․12"},
		`PORT 10,11,12,13,21,5`:                                                   {"11,12"},
		`227 Entering Passive Mode (10,11,12,13,21,5)`:                            {"11,12"},
		`IP6 fd00:10:96::a.53 > fd00:10:96::b.4455: tcp`:                          {"fd00", "96::"},
		`nvme1: eui.02004567A425678D, naa.6000c29a1b2c3d4e5f60718293a4b5c6`:       {"0200", "6000c"},
		`sas address 0x5000c50012345678, wwn-0x6000c50012345679, WWN: 5000c5001a`: {"0x5000", "0x6000"},
		`ip=168496141 clientIP=168496142`:                                         {"168496"},
	} {
		got := redacted(text)
		for _, m := range marks {
			if strings.Contains(got, m) {
				t.Errorf("%q is left in %q", m, got)
			}
		}
	}
}

// TestUnnamed: what only resembles a position of a name is kept.
func TestUnnamed(t *testing.T) {
	for _, keep := range []string{
		`failed for user namespaces; as user id 0; by user request`, `nodes/proxy and pods/exec, nodes/status`, `cpus 10,11,12,13,14,15`, `the lookup failed; lookup of the node`,
		`Killed process 4711 (kube-proxy) total-vm`, `task containerd-shim:4711 blocked for more than 120 seconds`, `kubelet --config /etc/kubernetes/kubelet.conf --v=4`,
		`--kubeconfig=/var/lib/kubelet/kubeconfig --hostname-override="" --node-labels= --register-with-taints=""`, `nodes=3`, `namespace is being terminated`,
		`a:b@v0.28.0`, `checksum 52:54:00:ab`, `Labels:map[string]string{io.kubernetes.container.restartCount: 1,tier: control-plane,}`,
		`pod/container mismatch`, `k8s.io/cluster-autoscaler/enabled`, `x509: certificate is valid for 127.0.0.1, not localhost`, `uid=1000 gid=1000 (root)`, `namespaces/status`,
		`948\u00b5s, 12\u00a0ms \u2026 \u003cnil\u003e C:\data\333\x`, `at 0xffff888012345678 and 0xc42069ea20`,
	} {
		if got := redacted(keep); got != keep {
			t.Errorf("%q became %q", keep, got)
		}
	}
}
