package redact

import (
	"strings"
	"testing"
)

// lines are log lines with the names that must be replaced.
var lines = []struct {
	text  string
	names []string
}{
	{`Nov 20 23:33:20 node7.acme.internal kubelet[1]: E1120 23:33:20.258337 1 pod_workers.go:919] "Error syncing pod" pod="payments/api-7d9f8b6c5-x2x4z" podUID=0d1cfa64-0c0e-4a0c-9b1e-2a8a2f7b1111`,
		[]string{"payments", "api-7d9f8b6c5-x2x4z", "0d1cfa64-0c0e-4a0c-9b1e-2a8a2f7b1111", "node7.acme.internal"}},
	{`SyncLoop (PLEG): "ledger-0_billing(11111111-2222-3333-4444-555555555555)", event: &pleg.PodLifecycleEvent{ID:"11111111-2222-3333-4444-555555555555"}`,
		[]string{"ledger-0", "billing", "11111111-2222-3333-4444-555555555555"}},
	{`I0101 00:00:00.0 1 kubelet.go:1] "SyncLoop ADD" source="api" pods=["shop/cart-1","shop/cart-2"]`, []string{"shop", "cart-1"}},
	{`Pulling image "registry.acme.corp:5000/team/secretapp:v1.2.3"`, []string{"registry.acme.corp", "secretapp"}},
	{`nfs: server nas01.acme.lan not responding, still trying`, []string{"nas01.acme.lan"}},
	{`nfs: server 10.36.3.5 not responding, still trying`, []string{"10.36.3.5"}},
	{`dial tcp [fd00:10:96::1]:443: connect: connection refused`, []string{"fd00:10:96::1"}},
	{`MountVolume.SetUp failed for volume "customer-data" pvc-2f6e1c1e-aaaa-bbbb-cccc-000000000001`, []string{"customer-data", "pvc-2f6e1c1e-aaaa-bbbb-cccc-000000000001"}},
	{`RunPodSandbox for &PodSandboxMetadata{Name:frontend-abc,Uid:22222222-2222-3333-4444-555555555555,Namespace:website,Attempt:0,}`,
		[]string{"frontend-abc", "website", "22222222-2222-3333-4444-555555555555"}},
	{`mail to ops@acme.example.com from 52:54:00:12:34:56`, []string{"ops@acme.example.com", "52:54:00:12:34:56"}},
	// Images with and without a registry, with a port, on any domain, by tag and by digest.
	{`Back-off pulling image "globex/payroll:v1"`, []string{"globex", "payroll"}},
	{`"Failed to pull image" image="harbor:5000/globex/ledger"`, []string{"harbor", "globex", "ledger"}},
	{`image: registry.globex.zone/crm/billing-api:2026.1`, []string{"globex", "crm", "billing-api"}},
	{`found globex.jfrog.example/crm/api@sha256:6f2c0f4ab1d3e5f60718293a4b5c6d7e8f901a2b3c4d5e6f708192a3b4c5d6e7 unused`, []string{"globex", "jfrog"}},
	{`pull and unpack image \"docker.io/globex/secretapp:latest\": not found`, []string{"globex", "secretapp"}},
	{`--pod-infra-container-image=harbor.globex/pause:3.9`, []string{"globex"}},
	{`RepoTags:[harbor:443/globex/a:1 globex/bapp:2]`, []string{"globex", "bapp"}},
	{`PullImage "globexapp"`, []string{"globexapp"}},
	// UIDs in cgroups, systemd units, mount points, and of static pods.
	{`/kubepods/burstable/pod33333333-2222-3333-4444-555555555555/x`, []string{"33333333", "555555555555"}},
	{`kubepods-burstable-pod44444444_2222_3333_4444_666666666666.slice`, []string{"44444444", "666666666666"}},
	{`var-lib-kubelet-pods-55555555\x2d2222\x2d3333\x2d4444\x2d777777777777-volumes.mount`, []string{"55555555", "777777777777"}},
	{`kubepods-pod0123456789abcdef0123456789abcdef.slice`, []string{"0123456789abcdef"}},
	// Hosts and addresses.
	{`node7 and NODE7.ACME.INTERNAL, registered by domain name`, []string{"node7", "NODE7", "ACME"}},
	{`node ip-10-0-12-35 at 10.0.12.35, web-10-0-12-36`, []string{"10-0-12-35", "10.0.12.35", "10-0-12-36"}},
	{`[2001::1]:443 fe80::1%eth0 ::ffff:10.1.2.3 2001:DB8::A`, []string{"2001", "fe80", "10.1.2.3", "DB8"}},
	{`host-203-0-113-77 static-54-203-11-9 route 10.20.30.44.6443 link 52-54-00-aa-bb-cc lost`, []string{"203-0-113", "54-203-11", "10.20.30.44", "52-54-00"}},
	{`203.0.113.77.443 > 198.51.100.88.5100, 012.0117.0175.0167, 10.93.139.* and 10.94.140.x, 10.95.141/24`, []string{"203.0", "198.51", "0117", "93.139", "94.140", "95.141"}},
	{`0: 888E600A:1F90 00000000:0000 5254.00aa.bbcc ::ffff:0a01:0203 64:ff9b::10.7.7.7 7.6.5.10.in-addr.arpa`, []string{"888E", "5254", "0203", "7.7.7", "7.6.5"}},
	{`Get "http://167838211/x": dial tcp 167838212:443 0x0a010203 http://0xa.0x1.0x2.0x3/`, []string{"167838211", "167838212", "0xa.0x1"}},
	{`urn:uuid:0D1CFA64-0C0E-4A0C-9B1E-2A8A2F7B1111 cut 0d1cfa65-0c0e-4a0c and 0d1cfa66-0c0e`, []string{"0D1CFA64", "0d1cfa65"}},
	{`GET /containerLogs/db/qa/x9?follow; pods="[db/qa zq/wq]"; Successfully assigned zz/qq to n9; reserve container name "c7_p7_n7_x"`, []string{"/db", "/qa", "zq", "wq", "zz", "qq", "c7_", "p7_", "n7_"}},
	{`said by bradfitz, bcmills, andronat, aliya`, []string{"bradfitz", "bcmills", "andronat", "aliya"}},
	{`mount nas7:/export/finance and //nas8/finance2 and \\nas9\finance3`, []string{"nas7", "nas8", "nas9", "finance"}},
	{`lookup vault.globex.zone on 10.0.0.53:53: no such host; host db01.globex.shop`, []string{"globex", "db01", "10.0.0.53"}},
	{`Get "https://payroll-svc:8443/x": dial tcp payroll-svc:8443`, []string{"payroll-svc"}},
	// Credentials.
	{`Authorization: Bearer abcdefghij0123456789`, []string{"abcdefghij"}},
	{`https://bob:hunter2x@git.globex.zone/x`, []string{"bob", "hunter2x", "globex"}},
	{`password=hunter2x, "token":"s3cr3tvalue" AKIAABCDEFGHIJKLMNOP`, []string{"hunter2x", "s3cr3tvalue", "AKIAABCD"}},
	{`eyJhbGciOiJSUzI1NiIsImtpZCI6IiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl`, []string{"eyJ"}},
	{"-----BEGIN RSA PRIVATE KEY-----\nMIIEabcd\n-----END RSA PRIVATE KEY-----", []string{"MIIEabcd"}},
	// Clouds, storage, certificates, people.
	{`mount error(113): could not connect to globexnas`, []string{"globexnas"}},
	{`-t cifs -o username=globexuser,domain=GLOBEXDOM,vers=3.0`, []string{"globexuser", "GLOBEXDOM"}},
	{`-t ceph -o name=globexadm,mds_namespace=globexfs 10.61.7.104:6789,10.61.7.105:6789:/volumes/globexgrp/globexsub`, []string{"globexadm", "globexfs", "globexgrp", "globexsub"}},
	{`-t glusterfs -o backup-volfile-servers=globexg1:globexg2 globexg3:globexvol /x`, []string{"globexg1", "globexg2", "globexg3", "globexvol"}},
	{`globexfiler:/a/globexcust/globexproj/globexlast`, []string{"globexfiler", "globexcust", "globexproj", "globexlast"}},
	{`{"globex.example/owner":"globexteam"} --node-labels=globex.io/t=globexlabel globex.io/d=globextaint:NoSchedule`, []string{"globexteam", "globexlabel", "globextaint"}},
	{`DB_USER=globexdbu CUSTOMER=globexcus jdbc:postgresql://globexpg:5432/globexdb`, []string{"globexdbu", "globexcus", "globexpg", "globexdb"}},
	{`mnt-globexshare\x2dglobexprod.mount: killed; Mounting /mnt/globexdir...`, []string{"globexshare", "globexprod", "globexdir"}},
	{`client-key-data: LS0tglobexCRUdJTiBSU0E=`, []string{"LS0t"}},
	{`arn:aws:sts::123456789012:assumed-role/globexrole/i-0abcdef1234567890`, []string{"123456789012", "globexrole", "0abcdef"}},
	{`vpc-0abc1234def567890 vol-0123456789abcdef0 210987654321.dkr.ecr.eu-west-1.amazonaws.com`, []string{"0abc1234", "0123456789abcdef0", "210987654321"}},
	{`/subscriptions/globexsub1/resourceGroups/globexrg/providers/Microsoft.Compute/disks/globexdisk`, []string{"globexsub1", "globexrg", "globexdisk"}},
	{`Head "https://registry.gitlab.com/v2/globexteam/globexapp/manifests/v1"`, []string{"globexteam", "globexapp"}},
	{`token?scope=repository%3Aglobexq%2Fglobexr%3Apull&service`, []string{"globexq", "globexr"}},
	{`VolumeHandle: "globexc#globexv" kubernetes.io/csi/x.csi.ceph.com^0001-globexpool-0001`, []string{"globexc", "globexv", "globexpool"}},
	{`certificate is valid for globexa.globex.de, globexb, globexd, not globexe`, []string{"globexa", "globexb", "globexd", "globexe"}},
	{`subject="CN=globexcn,OU=globexou,O=GLOBEXO AG,C=DE" /C=DE/O=globexorg/CN=globexcert`, []string{"globexcn", "globexou", "GLOBEXO", "globexorg", "globexcert"}},
	{`sudo: globexs : TTY=pts/0 ; PWD=/home/globexh ; Accepted publickey for globexk from 10.1.1.1 session 1 of user globexl.`, []string{"globexs :", "globexh", "globexk", "globexl"}},
	{`ovn: [globexns/globexpod 6f2c0f] failed; pod globexpod2 in namespace globexns2`, []string{"globexns", "globexpod", "globexpod2"}},
	{`NO_PROXY=.globexcorp.de,.svc,10.61.0.0/16 dm-name-globexvg-lv /dev/mapper/globexvg2-lv`, []string{"globexcorp", "globexvg", "globexvg2"}},
	{`references non-existent secret key: globexkey; exec: "globexbin": executable file not found`, []string{"globexkey", "globexbin"}},
	{`RuntimeClass "globexrc" deployment.apps/globexdep pod/globexp created helm release globexrel`, []string{"globexrc", "globexdep", "globexp", "globexrel"}},
	{`docker login -u bob -p globexPw1 r; curl -u globexu:globexPw2 x`, []string{"globexPw1", "globexu", "globexPw2"}},
	// Credentials by position, in prose and in every syntax of an assignment.
	{`password is hunter2w; --password hunter3w --token Hunt4wx9 --client-secret hunter5w; password: hunterw`, []string{"hunter2w", "hunter3w", "Hunt4wx9", "hunter5w", "hunterw"}},
	{`passwd = hunter2w; password := "hunter3w"; PASSWORD = "hunter4w"; password='one hunter5w'; passphrase hunt6Erw`, []string{"hunter2w", "hunter3w", "hunter4w", "hunter5w", "hunt6Erw"}},
	{`X-Api-Key: hunter2w Ocp-Apim-Subscription-Key: hunter3w; authorization: token hunter4w`, []string{"hunter2w", "hunter3w", "hunter4w"}},
	{`Cookie: a=hunter2w; b=hunter3w`, []string{"hunter2w", "hunter3w"}},
	{`DB_PASS=hunter2w MYSQL_PWD=hunter3w secret_id=hunter4w AccountKey=hunter5w; {\"secretKey\":\"hunter6w\",\"identitytoken\": \"hunter7w\"}`, []string{"hunter2w", "hunter3w", "hunter4w", "hunter5w", "hunter6w", "hunter7w"}},
	{`{"name":"DB_PASSWORD","value":"hunter2w"} EnvVar{Name:DB_PASSWORD,Value:hunter3w,ValueFrom:nil,} KeyValue{Key:API_TOKEN,Value:hunter4w,} <add key="Password" value="hunter5w"/>`, []string{"hunter2w", "hunter3w", "hunter4w", "hunter5w"}},
	{`map[password:[hunter2w] a:b] []byte{"pw":[]byte("hunter3w")} <password>hunter4w</password>`, []string{"hunter2w", "hunter3w", "hunter4w"}},
	{`access_token%3Dhunter2w password\u003dhunter3w pass\x3dhunter4w Authorization%3A%20Bearer%20hunter5w ?code=hunt6Erw&`, []string{"hunter2w", "hunter3w", "hunter4w", "hunter5w", "hunt6Erw"}},
	{`curl --user "bob:hunter2w" x; sshpass -p hunter3w ssh; mysql -u root -phunter4w; invalid token hunt5Erw; token "hunt6Erw"`, []string{"hunter2w", "hunter3w", "hunter4w", "hunt5Erw", "hunt6Erw"}},
	{`https://x.test/webhookb2/hunter2w and https://hooks.x.test/services/T0/B0/hunter3w`, []string{"hunter2w", "hunter3w"}},
	// Credentials by form: random text.
	{`sk_live_4eC39HqLyjWDarjtT1zdp7dc sk-proj-Ab3dE5gH7jK9mN1pQ3sT5vX7z SG.ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf09kqeF8tAmbihYzrnopKc`, []string{"4eC39H", "Ab3dE5", "ngeVfQ", "TwL2iG"}},
	{`cGFzc3dvcmQ9aHVudGVyMg== aHVudGVyMg== 018ad7b30ea3aefc29f6d812badb86384842625b $6$Zx9salt$hAsh.Ed/xyz`, []string{"cGFzc3", "aHVudG", "018ad7", "hAsh"}},
	{`-----BEGIN PGP PRIVATE KEY BLOCK----- hunter2w -----END PGP PRIVATE KEY BLOCK-----`, []string{"hunter2w"}},
	// Names in sentences.
	{`pull access denied for globexa/globexb; resource is denied: globexc/globexd; pull access denied for globexe, layers from manifest of globexf/globexg`, []string{"globexa", "globexb", "globexc", "globexd", "globexe", "globexf", "globexg"}},
	{`initializing source docker://quay.globexh.io/globexi/globexj:4.2: reading; failed to start container "globexk"; containers with incomplete status: [globexl]`, []string{"globexh", "globexi", "globexj", "globexk", "globexl"}},
	{`couldn't find key globexm in ConfigMap globexn/globexo; secret globexp/globexq not registered; namespaces "globexr" not found; User "globexs" cannot`, []string{"globexm", "globexn", "globexo", "globexp", "globexq", "globexr", "globexs"}},
	{`Could not resolve host: globexa; Failed to resolve server globexb: x; connect to host globexc port 22; NFSv4 server globexd with error 13`, []string{"globexa", "globexb", "globexc", "globexd"}},
	{`set up pod "globexa_globexb" network; Multus: [globexc/globexd/0d1cfa64-0c0e-4a0c-9b1e-2a8a2f7b1111]: x; pod globexe/globexf (x)`, []string{"globexa", "globexb", "globexc", "globexd", "globexe", "globexf"}},
	{`mongodb://bob:pw@globexa,globexb:27017/globexc; volumes/volume-subpaths/globexd/globexe/0; projects/globexf/zones/eu/instances/globexg`, []string{"globexa", "globexb", "globexc", "globexd", "globexe", "globexf", "globexg"}},
	{`-volume\x2dsubpaths-globexa-globexb-0.mount; https://x.test/globexc/globexd; &{Username:globexe} --docker-server=globexf`, []string{"globexa", "globexb", "globexc", "globexd", "globexe", "globexf"}},
	{`mount //falcon_p/globexs1 \\orders_p\globexs2 BAD_NETWORK_NAME; nfs/orders_q.globex@x`, []string{"falcon_p", "orders_p", "globexs1", "globexs2"}},
	{`kubeadm join registry:6443 --token x`, []string{"registry"}},
	{`authentication failure; ruser=orders rhost=falcon team="delta" owner=cart`, []string{"orders", "falcon", "delta", "cart"}},
	{`user S-1-5-21-3623811015-3361044348-30300820-1013 denied`, []string{"3623811015", "3361044348", "30300820"}},
	{`files: kubelet-node7.acme.internal.log and /var/lib/kubelet/pods/22222222-2222-3333-4444-555555555555/volumes`, []string{"node7.acme.internal"}},
}

func learned(key []byte) *Redactor {
	r := New(key)
	for _, l := range lines {
		r.Learn(l.text)
	}
	r.learnHostname("node7.acme.internal")
	r.Settle()
	return r
}

func TestText(t *testing.T) {
	r := learned(nil)
	for _, l := range lines {
		got := r.Text(l.text)
		for _, n := range l.names {
			if strings.Contains(got, n) {
				t.Errorf("%q stays in %q", n, got)
			}
		}
	}
	for _, keep := range []string{"23:33:20.258337", "generic.go:238", "k8s.io/client-go@v0.28.0", "PLEG is not healthy", "v1.28.0", "2m0s", "kubelet", "127.0.0.1",
		"6f2c0f4ab1d3e5f60718293a4b5c6d7e8f901a2b3c4d5e6f708192a3b4c5d6e7",
		"pkg/kubelet/pleg/generic.go:238", "sos_commands/logs/journalctl:369", "kubelet.pleg.unhealthy", "containerd.service", "5.14.0-427.13.1.el9_4.x86_64",
		"k8s.io/kubernetes/pkg/kubelet/pleg.(*GenericPLEG).relist(0xc42069ea20)", "Bearer token of the kubelet is expired", "the token is invalid, password rotation failed", "couldn't get a token for a service account: timed out",
		"UnexpectedAdmissionErrorOfKubeletPluginManager", "kubeGenericRuntimeManager.computePodActions", "node_namespace_pod_container:container_memory_working_set_bytes",
		"--anonymous-auth has been deprecated", "systemctl show kubelet -p ActiveState,TasksMax", "ssh -p 2222 x", `Authorization:config.KubeletAuthorization{Mode:"AlwaysAllow"`, "sort key: none, key=value", "basic authentication failed",
		"2026-11-22 10:33:20", "20-11-26-10", "20-11-26-10-33-20", "version 1.2.3.4.5", "5.14.0.42.7", "20261120-2344-3010", "1.30.0-alpha3", "10.5/16 GiB", "NotReady from 23:34:27 UTC to 23:36:19", "took 1.5s, 12:03:05", "secret: not found", "unix:///run/containerd/containerd.sock", "Stopping reflector *v1.Secret (0s) from k8s.io", "cannot connect to the server, error from server: timeout",
		"See https://kubernetes.io/docs/tasks/administer-cluster/kubelet-config-file", "Get \"http://127.0.0.1:8001/apis/storage.k8s.io/v1\"", "redis://127.0.0.1:6379/0", "net.ipv4.ip_forward = 1"} {
		r := New(nil)
		r.Learn(keep)
		r.Settle()
		if got := r.Text(keep); got != keep {
			t.Errorf("%q became %q", keep, got)
		}
	}
}

// TestCutOffKey: a truncated key hides no more than itself.
func TestCutOffKey(t *testing.T) {
	for text, want := range map[string]string{
		`err="-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNzaC1rZXk" podSandboxID="373fbf" x=a-b`:                                  `err="[secret]" podSandboxID="373fbf" x=a-b`,
		`-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabcd\n-----END RSA PRIVATE KEY----- is bad`:                          `[secret] is bad`,
		`-----BEGIN RSA PRIVATE KEY----- MIIEpAIBAAKCAQEA could not be read, 5 of 7`:                                             `[secret] could not be read, 5 of 7`,
		"-----BEGIN EC PRIVATE KEY-----\nMIIEpAIBAAKCAQEAMIIEpAIBAAKCAQEA\nAAAAAAAAAAAAAAAA\nNov 20 kubelet stopped":             "[secret]\nNov 20 kubelet stopped",
		`-----BEGIN CERTIFICATE----- MIIEpAIBAAKCAQEA MIIEpAIBAAKCAQEB -----END CERTIFICATE----- -----BEGIN nothing, it is said`: `[secret] -----BEGIN nothing, it is said`,
	} {
		if got := New(nil).withoutSecrets(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestStable(t *testing.T) {
	a, b := learned([]byte("k")), learned([]byte("k"))
	other := learned([]byte("another"))
	same := 0
	for _, l := range lines {
		if a.Text(l.text) != b.Text(l.text) {
			t.Errorf("two runs with one key differ on %q", l.text)
		}
		if got := a.Text(l.text); got == other.Text(l.text) && !strings.Contains(got, hidden) {
			same++
		}
	}
	if same > 0 {
		t.Errorf("%d lines do not depend on the key", same)
	}
	// A name has the same pseudonym wherever it occurs.
	if got := a.Text("payments and payments/api-7d9f8b6c5-x2x4z"); strings.Count(got, a.names["payments"].pseudonym) != 2 {
		t.Errorf("got %q", got)
	}
}

func TestReplacements(t *testing.T) {
	r := learned(nil)
	r.Text(lines[0].text)
	for _, x := range r.Replacements() {
		if x.Count == 0 || x.Pseudonym == "" || !strings.HasPrefix(x.Pseudonym, string(x.Kind)) {
			t.Errorf("bad entry %+v", x)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, l := range lines {
		f.Add(l.text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := New(nil)
		r.Learn(s)
		r.Settle()
		r.Text(s)
		r.Text(r.Text(s))
	})
}

// TestOnePlace: a name that is a plain word is replaced where it stands in the one place of a sentence that is for names,
// though it stands nowhere else.
func TestOnePlace(t *testing.T) {
	for _, l := range []struct {
		text  string
		names []string
	}{
		{`systemd[1]: Hostname set to <orders>. System hostname changed to 'falcon'. Changed static host name to 'delta'`, []string{"orders", "falcon", "delta"}},
		{`hostname: hostname changed from "orders" to "falcon"; Attempting to register node delta`, []string{"orders", "falcon", "delta"}},
		{`Node orders was previously registered; Container falcon exceeded its local ephemeral storage limit "1Gi".`, []string{"orders", "falcon"}},
		{`hook ([/bin/sh]) for Container "orders" in Pod "a_b(UID)"; couldn't parse image name "falcon": invalid reference format`, []string{"orders", "falcon"}},
		{`Volume is already used by pod(s) orders, falcon, delta`, []string{"orders", "falcon", "delta"}},
		{`Preempted by orders/falcon on node delta; container cart is not valid for pod shop`, []string{"orders", "falcon", "delta", "cart", "shop"}},
		{`error looking up service account orders/falcon: x; ObjectMeta:{Name:delta GenerateName:delta- Namespace:cart}`, []string{"orders", "falcon", "Name:delta", "cart"}},
		{`The container name "/orders" is already in use; No such container: falcon; get delta: no such volume`, []string{"orders", "falcon", "delta"}},
		{`mount.nfs: mount to NFS server 'orders' failed; home-falcon.mount: Deactivated; dial tcp: address delta: missing port in address; ping: cart: Name or service not known`, []string{"orders", "falcon", "delta", "cart"}},
		{`Disconnected from user orders 10.1.2.3 port 50000; session opened for user falcon by delta(uid=1000); CRON[123]: (cart) CMD (x)`, []string{"orders", "falcon", "delta", "cart"}},
		{`type=SYSCALL AUID="orders" UID="falcon"; password for 'delta' changed by 'cart'; (to shop) web on pts/0`, []string{"orders", "falcon", "delta", "cart", "shop", "web"}},
	} {
		r := New(nil)
		r.Learn(l.text)
		r.Settle()
		got := r.Text(l.text)
		for _, n := range l.names {
			if strings.Contains(got, n) {
				t.Errorf("%q stays in %q", n, got)
			}
		}
	}
}
