package redact

import (
	"strings"
	"testing"
)

// promised are texts with the parts that must not remain: what SECURITY.md promises to replace,
// though it consists of words of the field.
var promised = map[string][]string{
	// Positions, whatever word stands there.
	`pull access denied for backup, repository does not exist`: {"backup"},
	`curl: (6) Could not resolve host: backup`:                 {"backup"},
	`Failed to pull image "backup:1.2": not found`:             {"backup"},
	`Failed to pull image "backup": not found`:                 {"backup"},
	`image=backup`:  {"backup"},
	`image: backup`: {"backup"},
	`user main logged in; User "main" cannot list`:                {"main"},
	"pod `main` was lost":                                         {"main"},
	`node primary not found`:                                      {"primary"},
	`%2Fapi%2Fv1%2Fnamespaces%2Fmain%2Fpods%2Fserver`:             {"main", "server"},
	`%252Fapi%252Fv1%252Fnodes%252Fprimary`:                       {"primary"},
	`{Pod:main Namespace:backup}`:                                 {"main", "backup"},
	`AWS account id: 123456789012 account=123456789013`:           {"1234567890"},
	`account 123456789012 is over quota, account_id 123456789013`: {"1234567890"},
	// Fields.
	`hostname: primary is down`:          {"primary"},
	`nodeName: primary, podName: backup`: {"primary", "backup"},
	`node: primary`:                      {"primary"},
	`pod: primary, namespace: backup`:    {"primary", "backup"},
	`namespace: primary reason: gone`:    {"primary"},
	`clusterName: main`:                  {"main"},
	`host: primary`:                      {"primary"},
	`Event(v1.ObjectReference{Kind:"Node", Namespace:"", Name:"primary", UID:"primary", FieldPath:""}): type: 'Normal'`:              {"primary"},
	`Event(v1.ObjectReference{Kind:"Pod", Namespace:"backup", Name:"server", UID:"", FieldPath:"spec.containers{main}"}): type: 'x'`: {"backup", "server", "main"},
	`"Event occurred" object="backup/server" fieldPath="spec.initContainers{main}"`:                                                  {"backup", "server", "main"},
	`Trying to access "docker://backup/server:1"`:                                                                                    {"backup", "server"},
	`docker-pullable://backup/server@sha256:6f2c0f4ab1d3e5f60718293a4b5c6d7e8f901a2b3c4d5e6f708192a3b4c5d6e7`:                        {"backup", "server"},
	`ovn: [backup/server 6f2c0f4a network default NAD default] x`:                                                                    {"backup", "server"},
	`CIFS: VFS: \\primary has not responded in 180 seconds. Reconnecting`:                                                            {"primary"},
	`StatefulSet backup/primary is waiting, Deployment/backup, ReplicaSet backup/main`:                                               {"backup", "primary", "main"},
	`/var/lib/kubelet/pods/x/containers/server/12ab34cd, /plugins/kubernetes.io/csi/pv/backup/globalmount`:                           {"server", "backup"},
	`/plugins/kubernetes.io/gce-pd/mounts/backup is mounted`:                                                                         {"backup"},
	`gke-main-default-pool-1a2b3c4d-x2x4 is down, gke-main-default-pool-87654321-bcdf too`:                                           {"main"},
	`map[io.kubernetes.container.name:server io.kubernetes.pod.name:backup app:primary]`:                                             {"server", "backup", "primary"},
	`{Namespace:backup Name:server} NamespacedName{Namespace:"main", Name:"primary"}`:                                                {"backup", "server", "main", "primary"},
	`ObjectReference{Kind:Pod,Namespace:backup,Name:server,UID:x}`:                                                                   {"backup", "server"},
	`ObjectMeta{Name:server,GenerateName:,Namespace:backup,SelfLink:} ObjectMeta{Name:primary,Namespace:,}`:                          {"server", "backup", "primary"},
	`K8S_POD_NAMESPACE=backup;K8S_POD_NAME=server;K8S_POD_INFRA_CONTAINER_ID=0123`:                                                   {"backup", "server"},
	`spec.nodeName=primary`: {"primary"},
	`azure:///subscriptions/x/resourceGroups/backup/providers/Microsoft.Compute/virtualMachines/primary`: {"backup", "primary"},
	`bob:x@tcp(primary:3306)/backup refused`: {"primary", "backup"},
	// Sentences of controllers, runtimes and the kernel.
	`Node primary event: Registered Node primary in Controller`:           {"primary"},
	`Removing Node primary from Controller`:                               {"primary"},
	`Node primary has been rebooted, boot id: x`:                          {"primary"},
	`create Pod backup in StatefulSet primary successful`:                 {"backup", "primary"},
	`Created container: primary`:                                          {"primary"},
	`Stopped pod sandbox: 0123456789ab: backup/primary/POD`:               {"backup", "primary"},
	`repository backup not found: does not exist or no pull access`:       {"backup"},
	`lockd: cannot monitor primary`:                                       {"primary"},
	`Unable to determine destination address: primary`:                    {"primary"},
	`Failed to connect to primary port 443, no answer of node main:10250`: {"primary", "main"},
	// Words with numbers.
	`worker-1 down, k8s-master-1 and node-1; db-1/app-0 on storage-node-3`: {"worker", "master", "node-1", "db-1", "app-0", "storage"},
	`backup-0.web:80, controller-manager-7, kubelet-3 and web-2`:           {"backup-0", "manager-7", "kubelet-3", "web-2"},
	// UIDs that are cut off.
	`uid 1a2b3c4d-2222-4333-8444-5e6f7071829`:                          {"1a2b", "5e6f"},
	`uid 1a2b3c4d-2222-4333-84`:                                        {"1a2b", "-84"},
	`uid 11112222-2222-4333-8444-55566677788 11112222-2222-4333-8444`:  {"1111", "5556", "8444"},
	`c4d-2222-4333-8444-5e6f70718293 and -2222-4333-8444-5e6f70718294`: {"c4d", "2222", "5e6f"},
	`pods-1a2b3c4d\x2d2222\x2d4333\x2d84`:                              {"1a2b", "2d84"},
	`3c4d\x2d2222\x2d4333\x2d8444\x2d5e6f70718293-volumes`:             {"3c4d", "5e6f"},
	// Addresses.
	`ip 0xa010203 ip=0x0a010204 at 0xc0a80101`:                                   {"a01020", "c0a8"},
	`mac 0a580a010203 and 0a580a010204 hwaddr 5a580a010204`:                      {"0a580a", "5a58"},
	`mac=0a:58:0a:1:2:3 a:58:a:1:2:4`:                                            {"58:"},
	`10%252E1%252E2%252E3 10&#46;1&#46;2&#46;3 10\u002e1\u002e2\u002e3 10·1·2·3`: {"252E", "&#46;", "u002e", "·"},
	`2001%3Adb8%3A%3A1 2001%3Adb8%3A%3Acafe 2001\:db8\:\:cafe`:                   {"2001", "db8", "cafe"},
	`from 10.1.2.3to x10.1.2.4y v10.1.2.5`:                                       {"10.1"},
	// Credentials.
	`token monday`:                      {"monday"},
	`secret: monday, invalid`:           {"monday"},
	`password monday`:                   {"monday"},
	`login with password monday failed`: {"monday"},
	`passphrase monday; PASS monday`:    {"monday"},
	`the api key monday`:                {"monday"},
	`access code 4711, PIN 4712`:        {"471"},
}

func TestPromised(t *testing.T) {
	for text, marks := range promised {
		for _, text := range []string{text, `"Error syncing pod" err="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`} {
			got := redacted(text)
			for _, m := range marks {
				if strings.Contains(strings.NewReplacer("node-1", "", "pod-1", "").Replace(got), m) && !(m == "node-1") || m == "node-1" && strings.Contains(text, "node-1") && strings.Contains(got, "and node-1") {
					t.Errorf("%q is left in %q", m, got)
				}
			}
		}
	}
}

// TestSense: what stands in the place of a name and is none is kept, and so is what only resembles a
// name, an address or a credential.
func TestSense(t *testing.T) {
	for _, keep := range []string{
		`failed to get node: timeout`, `pod: forbidden, namespace: terminating`, `container: exited`, `the node: PLEG unhealthy`, `image: not found`, `Could not resolve host: timeout`,
		`exit-1 utf-8 sha-256 ISO-8601 RFC-3339 part-2 cpu-0 dm-0 eth-0 session-4.scope user-1000.slice 1.30.0-alpha3 5.14.0-427 containerd-1.7 2026-Nov-01 session-c2`,
		`20261120-2344-3010`, `0xc42069ea20 0x80070005 +0xac1b2c3d`, `sd 0:0:0:0: [sda] 12:34:56 1:2:3:4:5:6`, `version 5.14.0.42rc1`,
		`the token is invalid`, `get token failed`, `password authentication`, `token review, secret volume`, `secret: not found`, `token: expired`, `websocket code 1006`, `exit code 4711`, `error code 4711`,
		`the account is locked`, `the password rotation failed`, `failed to get token source`, `pull image failed`, `user is not allowed`, `node is not ready`,
		`(instance:kubelet_pleg_relist_interval_seconds:mean90s > 180)`,
	} {
		if got := redacted(keep); got != keep {
			t.Errorf("%q became %q", keep, got)
		}
	}
}
