package redact

import (
	"sort"
	"strings"
	"testing"
)

// TestProse: no names are learned from sentences of the reports.
func TestProse(t *testing.T) {
	for _, s := range []string{
		"the node: PLEG unhealthy from 2026-03-01 12:00:00 UTC for 3m, stuck listing pods",
		"container: context deadline exceeded", "namespace: not found", "node: the heartbeat is late",
		"node Ready condition", "for node (name not recognized)", "volume: in use", "pod: unknown", "pods: none",
		"no relist of known length; the nodes/critical path",
	} {
		r := New(nil)
		r.Learn(s)
		r.Settle()
		if got := r.Text(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// TestOrdinary: a name that is also a word is replaced in the position of a name and kept
// elsewhere.
func TestOrdinary(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`worker: PLEG unhealthy`, `node-1: PLEG unhealthy`},
		{`"Error syncing pod" pod="critical/list" podUID=`, `"Error syncing pod" pod="ns-1/pod-1" podUID=`},
		{`critical/list failed`, `ns-1/pod-1 failed`},
		{`PodSandboxStatus of pod critical/list failing`, `PodSandboxStatus of pod ns-1/pod-1 failing`},
		{`a critical finding: the list call of a worker failed`, `a critical finding: the list call of a worker failed`},
		{`Nov 20 23:33:20 worker kubelet[1]: I1120 relist`, `Nov 20 23:33:20 node-1 kubelet[1]: I1120 relist`},
		{`{"_HOSTNAME":"worker","MESSAGE":"list"}`, `{"_HOSTNAME":"node-1","MESSAGE":"list"}`},
		{`list_critical(11111111-2222-3333-4444-555555555555)`, `pod-1_ns-1(uid-1)`},
		{`kubectl get --raw /api/v1/nodes/worker/proxy/metrics`, `kubectl get --raw /api/v1/nodes/node-1/proxy/metrics`},
		{`/api/v1/namespaces/critical/pods/list/log`, `/api/v1/namespaces/ns-1/pods/pod-1/log`},
		{`node/worker cordoned`, `node/node-1 cordoned`},
		{`nodes/worker and the nodes of a worker`, `nodes/node-1 and the nodes of a worker`},
		{`daemonset.apps/worker created`, `daemonset.apps/node-1 created`},
		{`Host: worker`, `Host: node-1`},
		{`Host: worker of the list`, `Host: node-1 of the list`},
		{`dial tcp: lookup worker`, `dial tcp: lookup node-1`},
		{`lookup worker threads`, `lookup worker threads`},
		{`rabbit@worker: connection closed`, `rabbit@node-1: connection closed`},
		{`"rabbit@worker" is down`, `"rabbit@node-1" is down`},
		{`namespace="critical" pod="100"`, `namespace="ns-1" pod="pod-3"`},
		{`took 100 ms, 100 of 200`, `took 100 ms, 100 of 200`},
		{`payments and payments/api-1`, `ns-2 and ns-2/pod-2`},
	} {
		r := New(nil)
		for _, n := range []struct {
			kind       Kind
			text, name string
		}{{Node, "worker", "node-1"}, {Namespace, "critical", "ns-1"}, {Pod, "list", "pod-1"}, {Pod, "100", "pod-3"},
			{UID, "11111111-2222-3333-4444-555555555555", "uid-1"}, {Namespace, "payments", "ns-2"}, {Pod, "api-1", "pod-2"}} {
			r.learn(n.kind, n.text)
			r.Settle()
			r.names[n.text].pseudonym = n.name
		}
		if got := r.Text(c.text); got != c.want {
			t.Errorf("%q became %q, want %q", c.text, got, c.want)
		}
	}
}

// TestVocabulary: every word for states, kinds and outcomes in the documents of the tool is in the
// vocabulary.
func TestVocabulary(t *testing.T) {
	lines := strings.Fields(words)
	if !sort.StringsAreSorted(lines) {
		t.Error("words.txt is not sorted")
	}
	for _, w := range lines {
		if w != strings.ToLower(w) || len(w) < 3 {
			t.Errorf("words.txt: %q", w)
		}
	}
	for _, w := range strings.Fields(`critical warning info unhealthy degraded healthy unknown list inspect deliver hung failed matched
		observed missing late unexpected discarded rotation reboot truncated silence confirmed likely possible generic evented
		never relisted runtime down ready worse better same noise changed new gone kubelet kernel systemd metrics facts events stack`) {
		if !ordinary(Namespace, w) {
			t.Errorf("%q is a word of the reports", w)
		}
	}
	for _, n := range []string{"payments", "acme", "billing", "api-7d9f8b6c5-x2x4z", "node7", "cart", "10.0.0.1"} {
		if ordinary(Pod, n) {
			t.Errorf("%q is nobody's word", n)
		}
	}
}
