package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/plegforensics/plegforensics/internal/fleet"
	"github.com/plegforensics/plegforensics/internal/redact"
	"github.com/plegforensics/plegforensics/internal/report"
)

// planted collects the names of a cluster that must not appear in redacted output. They consist of
// letters that occur in no word, so that any trace of one is found, in whatever spelling.
type planted struct {
	n     int
	marks map[string]string // text to look for -> template it was planted in
	line  string
}

func (p *planted) mark(text string) string {
	p.marks[strings.ToLower(text)] = p.line
	return text
}

// word returns a new name: a label of rare letters, some with a digit, or an ordinary word or
// hexadecimal digits with a number.
func (p *planted) word() string {
	p.n++
	switch p.n % 5 {
	case 3:
		return p.mark(fmt.Sprintf("%s%04d", []string{"delta", "orders", "gateway"}[p.n%3], p.n))
	case 4:
		return p.mark(fmt.Sprintf("deadbee%04d", p.n))
	}
	w := "qzvq"
	for k := p.n; k > 0; k /= 20 {
		w += string("bcdfghjklmnpqrstvwxz"[k%20])
	}
	if p.n%2 == 0 {
		w += fmt.Sprint(p.n % 10)
	}
	return p.mark(w + "y")
}

func (p *planted) ip() string {
	p.n++
	return p.mark(fmt.Sprintf("10.%d.%d.%d", 60+p.n/200, p.n%200+7, p.n%100+101))
}

func (p *planted) ip6() string {
	p.n++
	tail := p.mark(fmt.Sprintf(":%x", 0xcaf0+p.n))[1:]
	return []string{"2001::" + tail, "fd00:10:96::" + tail, "2001:db8:0:1:1:1:1:" + tail, "fe80::5054:ff:fe12:" + tail}[p.n%4]
}

func (p *planted) uid() string {
	p.n++
	return p.mark(fmt.Sprintf("%08x", 0xbeef0000+p.n)) + "-0c0e-4a0c-9b1e-" + p.mark(fmt.Sprintf("%012x", 0x2a8affff0000+p.n))
}

var canarySlot = regexp.MustCompile(`\{(word|host|ip|ip6|uid|uid_|uidx|uid32|secret|dashed|encoded|hex|digits)(\d?)\}`)

// fill replaces the placeholders {word}, {ip}, … of a template by names. Placeholders with the same
// digit, such as {word1}, get the same name.
func (p *planted) fill(template string) string {
	p.line = template
	same := map[string]string{}
	return canarySlot.ReplaceAllStringFunc(template, func(m string) string {
		if v, ok := same[m]; ok {
			return v
		}
		v := p.one(strings.TrimRight(strings.Trim(m, "{}"), "0123456789"), strings.Trim(m, "{}"))
		if last := m[len(m)-2]; last >= '0' && last <= '9' && m != "{ip6}" && m != "{uid32}" {
			same[m] = v
		}
		return v
	})
}

func (p *planted) one(kind, full string) string {
	switch {
	case strings.HasPrefix(full, "ip6"):
		return p.ip6()
	case strings.HasPrefix(full, "uid32"):
		return p.mark("0d1c" + strings.ReplaceAll(fmt.Sprintf("%028x", 0xfade0000+func() int { p.n++; return p.n }()), "00000000", "1b2c3d4e"))
	case kind == "host":
		return p.word() + "." + p.word() + "." + p.word()
	case kind == "ip":
		return p.ip()
	case kind == "dashed":
		ip := p.ip()
		return p.mark(strings.ReplaceAll(ip, ".", "-"))
	case kind == "uid":
		return p.uid()
	case kind == "uid_":
		return strings.ReplaceAll(p.uid(), "-", "_")
	case kind == "uidx":
		return strings.ReplaceAll(p.uid(), "-", `\x2d`)
	case kind == "encoded":
		p.n++
		return p.mark(base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "password=hunter%d", p.n)))
	case kind == "digits":
		p.n++
		return p.mark(fmt.Sprintf("90817%06d", p.n))
	case kind == "hex":
		p.n++
		return p.mark(fmt.Sprintf("ce04f7d7f8bcd8b464ce4e35e931dcef35824a8b7064d7bae532dca9%08x", p.n))
	case kind == "secret":
		return p.word() + "A1b2C3d4E5f6G7h8"
	}
	return p.word()
}

// kubeletLines are lines of kubelets, runtimes and others, with names in the positions and forms in
// which they occur.
var kubeletLines = []string{
	`E1120 23:44:30.100000    5203 pod_workers.go:919] "Error syncing pod, skipping" err="failed to \"StartContainer\" for \"{word1}\" with ImagePullBackOff: \"Back-off pulling image \\\"{word}/{word}:v1\\\"\"" pod="{word}/{word}-7d9f8b6c5-x2x4z" podUID={uid}`,
	`E1120 23:44:31.100000    5203 remote_image.go:238] "PullImage from image service failed" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded" image="{word}:5000/{word}/{word}:2026.1"`,
	`E1120 23:44:32.100000    5203 remote_image.go:238] "PullImage from image service failed" err="rpc error: code = DeadlineExceeded desc = failed to pull and unpack image \"{word}.{word}.zone/{word}/{word}@sha256:6f2c0f4ab1d3e5f60718293a4b5c6d7e8f901a2b3c4d5e6f708192a3b4c5d6e7\": failed to resolve reference: dial tcp: lookup {word}.{word}.shop on {ip}:53: i/o timeout" image="{word}"`,
	`E1120 23:44:33.100000    5203 kuberuntime_manager.go:887] PodSandboxStatus of sandbox "373fbf20374b46c6ce88c61c7560bad1c2e30057bbda4680f85226d09400a552" for pod "{word}_{word}({uid})" error: rpc error: code = DeadlineExceeded desc = context deadline exceeded`,
	`E1120 23:44:34.100000    5203 prober.go:104] "Probe errored" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded" probeType="Readiness" pod="{word}/{word}" podUID={uid32} containerName="{word}"`,
	`W1120 23:44:35.100000    5203 prober.go:104] "Probe failed" probeType="Readiness" pod="{word}/{word}" podUID={uid} containerName="{word}" probeResult=failure output="Get \"http://{ip}:8080/healthz\": dial tcp [{ip6}]:8080: connect: connection refused"`,
	`E1120 23:44:36.100000    5203 nestedpendingoperations.go:335] Operation for "{volumeName:kubernetes.io/nfs/{uid}-{word1} podName:{uid} nodeName:}" failed. No retries permitted until 2026-11-20 23:46:36. Error: MountVolume.SetUp failed for volume "{word1}" (UniqueName: "kubernetes.io/nfs/{uid}-{word1}") pod "{word}" (UID: "{uid}") : mount failed: exit status 32 Mounting command: mount Mounting arguments: -t nfs {word}:/export/{word} /var/lib/kubelet/pods/{uid}/volumes/kubernetes.io~nfs/{word1} Output: mount.nfs: Connection timed out`,
	`E1120 23:44:37.100000    5203 kubelet.go:1730] "Unable to attach or mount volumes for pod; skipping pod" err="unmounted volumes=[{word1}], unattached volumes=[{word1}]: timed out waiting for the condition" pod="{word}/{word}"`,
	`E1120 23:44:38.000000    5203 aws.go:1] "Tags are wrong" tags="kubernetes.io/cluster/{word}=owned k8s.io/cluster-autoscaler/{word}" err="pvc \"{word}\" of namespaces/{word}/pods/{word}: kubernetes.io\\x7esecret-{word}.mount is busy"`,
	`E1120 23:44:38.010000    5203 exec.go:1] "Command failed" cmd="rsync -a {word}::{word} /x; rbd map {word}/{word}" out="uid=1000({word}) gid=1000({word}) groups=1000({word}),10({word}) mail from=<{word}@{word}>"`,
	`E1120 23:44:38.020000    5203 dial.go:1] "Dial failed" err="x509: certificate is valid for {word}, {host}, {word}, {word}, {word}, {word}, {word}, not {word}: IP6 {ip6}.53 > {ip6}.4455"`,
	`I1120 23:44:38.100000    5203 setters.go:552] "Node became not ready" node="{word1}.{word}.{word}" condition={"type":"Ready","status":"False","reason":"KubeletNotReady","message":"PLEG is not healthy"}`,
	`E1120 23:44:39.100000    5203 controller.go:144] failed to ensure lease exists, will retry in 7s, error: Get "https://api-int.{word}.{word}:6443/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{word}-{word}?timeout=10s": context deadline exceeded`,
	`E1120 23:44:40.100000    5203 reflector.go:138] object-"{word}"/"{word}": Failed to watch *v1.Secret: failed to list *v1.Secret: secrets "{word}" is forbidden: User "system:node:{host}" cannot list resource "secrets" in API group "" in the namespace "{word}"`,
	`E1120 23:44:41.100000    5203 kubelet_node_status.go:470] "Error updating node status, will retry" err="error getting node \"{word}\": Get \"https://{word}:6443/api/v1/nodes/{word}?resourceVersion=0&timeout=10s\": Authorization: Bearer {secret}: context deadline exceeded"`,
	`E1120 23:44:42.100000    5203 event.go:276] Unable to write event: 'Post "https://{word}:{secret}@{word}.{word}.example/api/v1/namespaces/{word}/events": dial tcp {ip}:6443: connect: connection refused'(may retry after sleeping)`,
	`W1120 23:44:43.100000    5203 container.go:586] Failed to update stats for container "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{uid_}.slice/crio-6f2c0f4ab1d3e5f60718293a4b5c6d7e8f901a2b3c4d5e6f708192a3b4c5d6e7.scope": unable to parse, continuing to push stats`,
	`E1120 23:44:44.100000    5203 kubelet.go:2448] "Container runtime network not ready" networkReady="NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized, {ip6}"`,
	`E1120 23:44:45.100000    5203 kuberuntime_sandbox.go:70] "Failed to create sandbox for pod" err="rpc error: code = DeadlineExceeded desc = failed to set up sandbox container network for pod \"{word}\": plugin type=\"multus\" name=\"multus-cni-network\" failed (add): [{word}/{word}/{uid}:ovn-kubernetes]: error adding container to network" pod="{word}/{word}"`,
	`I1120 23:44:46.100000    5203 kubelet.go:1950] "SyncLoop ADD" source="api" pods=["{word}/{word}","{word}/{word}"]`,
	`I1120 23:44:47.100000    5203 kubelet.go:1975] "SyncLoop (PLEG): event for pod" pod="{word}/{word}" event=&{ID:{uid} Type:ContainerStarted Data:6f2c0f4ab1d3e5f60718293a4b5c6d7e8f901a2b3c4d5e6f708192a3b4c5d6e7}`,
	`I1120 23:44:48.100000    5203 kubelet.go:1975] SyncLoop (PLEG): "{word}_{word}({uid})", event: &pleg.PodLifecycleEvent{ID:"{uid}", Type:"ContainerDied", Data:"6f2c0f4ab1d3e5f60718293a4b5c6d7e8f901a2b3c4d5e6f708192a3b4c5d6e7"}`,
	`E1120 23:44:49.100000    5203 kubelet_volumes.go:154] orphaned pod "{uid}" found, but volume paths are still present on disk : There were a total of 1 errors similar to this. Turn up verbosity to see them.`,
	`E1120 23:44:50.100000    5203 remote_runtime.go:222] "StopPodSandbox from runtime service failed" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded: k8s_POD_{word}_{word}_{uid}_0" podSandboxID="373fbf20374b46c6ce88c61c7560bad1c2e30057bbda4680f85226d09400a552"`,
	`E1120 23:44:51.100000    5203 kubelet.go:1302] "Image garbage collection failed multiple times in a row" err="failed to garbage collect required amount of images: {word}.{word}/{word}:latest"`,
	`E1120 23:44:52.100000    5203 fsHandler.go:119] failed to collect filesystem stats - rootDiskErr: could not stat "/var/log/pods/{word}_{word}_{uid}/{word}/0.log" to get inode usage: stat: no such file or directory, extraDiskErr: <nil>`,
	`E1120 23:44:53.100000    5203 pod_workers.go:919] "Error syncing pod, skipping" err="unmounted volumes: persistentvolumeclaim \"{word}\" not found, configmap \"{word}\" not found, password={secret} token={secret} AKIAQZBBYQZCCYQZDDYQ" pod="{word}/{word}" podUID={uid}`,
	`E1120 23:44:54.100000    5203 summary_sys_containers.go:83] "Failed to get system container stats" err="failed to get cgroup stats for \"/kubepods/burstable/pod{uid}\": failed to get container info" containerName="/kubepods/burstable/pod{uid}"`,
	// Storage, message brokers, directories and machines, in other syntaxes.
	`E1120 23:44:30.100000    5203 csi_attacher.go:241] MountVolume.MountDevice failed: iscsi: failed to attach disk: iqn.2019-05.com.{word}:storage.{word} portal {word}:3260 lun 1`,
	`E1120 23:44:30.100000    5203 csi_attacher.go:241] MountVolume.MountDevice failed: rbd: map failed pool {word} image {word} monitors {word}:6789,{word}:6789 user {word} keyring /etc/ceph/{word}.keyring`,
	`E1120 23:44:30.100000    5203 kubelet_node_status.go:544] "Error updating node status, will retry" err="lookup 7.6.5.10.in-addr.arpa. ptr {host}.: no such host"`,
	`E1120 23:44:30.100000    5203 kubelet_node_status.go:544] "Error updating node status, will retry" err="dial tcp [fe80::5054:ff:fea7:b1c2%{word}]:6443: connect: no route to host"`,
	`E1120 23:44:30.100000    5203 pod_workers.go:1300] "Error syncing pod, skipping" err="ssh: handshake failed for {word}@{word}: key fingerprint SHA256:{secret}abcdefghijklmnopqrstuvwxyz0123456"`,
	`E1120 23:44:30.100000    5203 pod_workers.go:1300] "Error syncing pod, skipping" err="scp {word}@{word}:/srv/{word}/backup failed"`,
	`E1120 23:44:30.100000    5203 pod_workers.go:1300] "Error syncing pod, skipping" err="git clone git@{word}:{word}/{word}.git: exit status 128"`,
	`E1120 23:44:30.100000    5203 pod_workers.go:1300] "Error syncing pod, skipping" err="{\"auths\":{\"{word}.corp:5000\":{\"auth\":\"{secret}\",\"username\":\"{word}\"}}}"`,
	`E1120 23:44:30.100000    5203 pod_workers.go:1300] "Error syncing pod, skipping" err="Get http://169.254.169.254/computeMetadata/v1/instance/attributes/{word}?project={word}&instance={word}: EOF"`,
	`E1120 23:44:30.100000    5203 pod_workers.go:1300] "Error syncing pod, skipping" err="Get /api/v1/pods?labelSelector=%22{word}%22&fieldSelector=spec.nodeName%3D{word}: EOF"`,
	`E1120 23:44:30.100000    5203 pod_workers.go:1300] "Error syncing pod, skipping" err="ldap bind cn={word},ou={word},dc={word},dc=corp: refused"`,
	`E1120 23:44:30.100000    5203 pod_workers.go:1300] "Error syncing pod, skipping" err="kafka brokers={word}:9092,{word}:9092 topic {word}: refused"`,
}

// failures are error messages of the kubelet with names of clouds, storage, certificates and
// people.
var failures = []string{
	`mount failed: mount error(113): could not connect to {word}`,
	`mount failed: Mounting arguments: -t cifs -o username={word},domain={word},vers=3.0 //{word}/{word} /x`,
	`mount failed: Mounting arguments: -t ceph -o name={word},mds_namespace={word} {ip}:6789,{ip}:6789:/volumes/{word}/{word} /x`,
	`mount failed: Mounting arguments: -t glusterfs -o backup-volfile-servers={word}:{word} {word}:{word} /x`,
	`mount failed: Mounting arguments: -t nfs -o nfsvers=4.1,clientaddr={ip},mountaddr={ip} {word}:/a/{word}/{word}/{word} /x`,
	`admission: annotations {\"{word}.{word}.example/owner\":\"{word}\"} and label {word}.{word}.io/t={word}`,
	`postStart: DB_USER={word} CUSTOMER={word} APP_DB={word} jdbc:postgresql://{word}:5432/{word} MY_PASSWORD={secret}`,
	`failed to read kubeconfig: client-key-data: {secret}{secret}`,
	`AccessDenied: arn:aws:sts::123456789012:assumed-role/{word}/{word} on arn:aws:iam::123456789012:role/{word}`,
	`attach: /subscriptions/{word}/resourceGroups/{word}/providers/Microsoft.Compute/disks/{word}`,
	`failed to pull: Head \"https://registry.gitlab.com/v2/{word}/{word}/manifests/v1\": i/o timeout`,
	`failed to pull: https://auth.docker.io/token?scope=repository%3A{word}%2F{word}%3Apull&service=x: 401`,
	`csi: VolumeHandle: \"{word}#{word}\" kubernetes.io/csi/x.csi.ceph.com^0001-{word}-0001`,
	`tls: certificate is valid for {host}, {word}, {word}, not {word}`,
	`tls: unknown authority subject=CN={word},OU={word},O={word}`,
	`User {word}@{word}.{word} of user {word} cannot get resource, home /home/{word}`,
	`cni: [{word}/{word} 6f2c0f4a] failed to configure pod interface`,
	`lvm: /dev/mapper/{word}-lv is full; unit mnt-{word}\x2d{word}.mount and /mnt/{word}`,
	`references non-existent secret key: {word}`,
	`exec: \"{word}\": executable file not found in $PATH`,
	`RuntimeClass \"{word}\" not found for deployment.apps/{word}`,
	`docker login -u bob -p {secret} r; curl -u {word}:{secret} x`,
	`docker login -u {word} -p {secret} r; podman login r --username={word} && helm registry login r -u \"{word}\" x`,
	`exec java -Dteam={word} -Dacme.owner={word} -Djava.io.tmpdir=/tmp -Dx=\"{word}\" -Dlast={word}`,
	`no PriorityClass with name {word} was found`,
	`PriorityClass {word} not found; StorageClass {word} does not exist; priorityClassName={word} storageClassName: \"{word}\"`,
	`kubeconfig {apiVersion: v1, clusters: [{cluster: {server: https://{word}:6443}, name: {word1}}], contexts: [{context: {cluster: {word1}, namespace: {word}, user: {word2}}, name: {word3}}], current-context: {word3}, users: [{name: {word2}, user: {token: {secret}}}]}`,
	`kubeconfig {\"contexts\":[{\"context\":{\"cluster\":\"{word}\",\"user\":\"{word}\"},\"name\":\"{word}\"}],\"current-context\":\"{word}\"}`,
	`dial tcp [{ip6}%25eth0]:10250: connect: connection refused`,
	`proxy HTTPS_PROXY=http://{word}.{word}.{word}:3128 NO_PROXY=.{word}.{word},.svc`,
	// Names in sentences.
	`pull access denied for {word}/{word}, repository does not exist; requested access to the resource is denied: {word}/{word}; layers from manifest of {word}/{word}/{word}: unauthorized`,
	`pull access denied for {word}, initializing source docker://{word}.{word}.io/{word}/{word}:4.2: reading manifest 4.2`,
	`failed to start container \"{word}\": oci; containers with incomplete status: [{word} {word}]; container {word} in pod {word} is waiting`,
	`couldn't find key {word} in ConfigMap {word}/{word}; secret {word}/{word} not registered; namespaces \"{word}\" not found; User \"{word}\" cannot list`,
	`Could not resolve host: {word}; mount.nfs: Failed to resolve server {word}: unknown; connect to host {word} port 22: refused`,
	`redis://:{secret}@{word}:6379/0; amqp://{word}:{word}@{word}/v; postgres://{word}:{word}@{word}/{word}; mongodb://{word}:{word}@{word},{word}:27017/{word}`,
	`networkPlugin cni failed to set up pod \"{word}_{word}\" network; NFSv4 server {word} with error 13; Multus: [{word}/{word}/{uid}]: x; pod {word}/{word} ({uid})`,
	`/var/lib/kubelet/pods/{uid}/volume-subpaths/{word}/{word}/0 and /var/lib/kubelet/pods/{uid}/plugins/{word} and /var/lib/kubelet/pods/{uid}/containers/{word}/ab`,
	`unit var-lib-kubelet-pods-{uidx}-volume\\x2dsubpaths-{word}-{word}-0.mount; projects/{word}/zones/eu/instances/{word}; Get https://{host}:8443/{word}/{word}?a=b`,
	`&{Username:{word} Password:{word} ServerAddress:{word}} --docker-username={word} --docker-server={word}`,
	`username={word} password={secret}; Username: {word} Password: {secret}; database={word}; cluster {word} is gone; tenant {word} exceeded; project {word} suspended`,
	`EnvVar{Name:{word},Value:{word},ValueFrom:nil,} {\"name\":\"{word}\",\"value\":\"{word}\"} --node-labels={word}={word} untolerated taint {{word}: {word}}`,
	`amqp://{word}:{secret}@{word}/%2f{word} s3://{word}/{word}/x arn:aws:s3:::{word}/a/b mongodb://{word}/x?replicaSet={word} kinit {word}@{word}.QZCORP /opt/{word}/bin/run /data/{word}`,
	// Credentials by position.
	`login: password is {word}, tried --password {word} --token {word} --client-secret {word} --certificate-key {secret}`,
	`login: curl --user \"bob:{word}\" x; sshpass -p {secret} ssh x; mysql -u root -p{secret}; passphrase {secret}; invalid token {secret}; token \"{secret}\"`,
	`login: passwd = {word}, password := \"{word}\", PASSWORD = \"{word}\", password: {word}, password=\"{word} {word}\"`,
	`login: DB_PASS={word} MYSQL_PWD={word} secret_id={word}&access_token={word} AccountKey={word}; aws_secret_access_key {secret}`,
	`header X-Api-Key: {word}`, `header Set-Cookie: sid={word}; csrf={word}; Path=/`, `header Ocp-Apim-Subscription-Key: {word}`, `header authorization: token {word}`,
	`query Authorization%3A%20Bearer%20{secret}&token%3D{word} password\\u003d{word} GET /x?code={secret}&state=1`,
	`spec {\"name\":\"DB_PASSWORD\",\"value\":\"{word}\"} EnvVar{Name:DB_PASSWORD,Value:{word},ValueFrom:nil,} &KeyValue{Key:API_TOKEN,Value:{word},}`,
	`spec {\"secretKey\":\"{word}\",\"identitytoken\":\"{word}\",\"tls.key\":\"{secret}\"} .dockerconfigjson: {secret} map[password:[{word}] x:y] <password>{word}</password>`,
	`jdbc:oracle:thin:bob/{word}@{host}:1521 and https://{host}/webhookb2/{word} and https://hooks.slack.com/services/T0/B0/{word}`,
	`key -----BEGIN PGP PRIVATE KEY BLOCK----- {word} -----END PGP PRIVATE KEY BLOCK----- and -----BEGIN OPENSSH PRIVATE KEY----- {word}`,
	// Credentials by form.
	`leaked sk_live_{secret} sk-proj-{secret} SG.{secret}.{secret} hvb.{secret} s.{secret} dckr_pat_{secret} pypi-{secret} ya29.{secret} glsa_{secret} lin_api_{secret} AGE-SECRET-KEY-1{secret}`,
	`leaked root:$6$salt${word}:19000 and bob:$2y$05${word} and {encoded}`,
}

// strangers are messages in which nothing but the word itself reveals that it is a name: at the end
// of a sentence, as a process or unit, in a path, after any noun, in any syntax.
var strangers = []string{
	// At the end and in the middle of free text.
	`backend gave up after 3 attempts on {word}`, `no quorum, lost {word}`, `fenced by {word} because of {word}`, `handed over to {word}`,
	`still owned by {word}, wanted by {word}`, `please call {word} of {word}`, `rolled out with {word} and {word} to {word}`, `blocked: {word}`,
	`{word} says: not before {word} is done`, `this belongs to {word}'s {word}`, `deployed via {word}/{word}, then {word}`, `{word} (formerly {word}) is in maintenance`,
	`dependency {word} -> {word} -> {word} is circular`, `[{word}] [{word}] request refused`, `<{word}> is on call, escalate to <{word}>`, `see ticket {word}-4711 and runbook {word}`,
	`migration from {word} to {word} at step {word}`, `{word}, {word} and {word} disagree`, `quorum of {word}|{word}|{word}`, `"{word}" != "{word}"`,
	`expected {word}, got {word}`, `{word}=>{word}`, `#{word} @{word} ~{word}`, `alias {word}`,
	// Processes and units.
	`task {word}:4711 blocked for more than 120 seconds`, `Killed process 4711 ({word}) total-vm:1kB`, `CPU: 3 PID: 4711 Comm: {word} Tainted: G`, `{word}[4711]: segfault at 0 ip 00007f in {word}.so[7f+1000]`,
	`{word}.service: Main process exited, code=killed; Dependency failed for {word}; Stopping {word} Agent`, `Started Session 4 of {word}; Reached target {word}.target`, `{word}@{word}.service: start operation timed out`,
	`pid 4711 ({word}) holds the lock, parent 1 ({word}), cgroup /system.slice/{word}.slice/{word}.scope`, `hung: sh -c {word} --once --mode={word} | {word} > /dev/null`, `supervisord: exited: {word} (exit status 1), spawned: '{word}'`,
	`python3 -m {word}.worker -A {word} -l {word}`, `java -jar {word}.jar --spring.profiles.active={word} com.{word}.{word}.Main`, `node {word}.js; ruby {word}.rb; perl {word}.pl; ./{word}.sh`, `strace -p of {word}: futex`,
	`fuse daemon {word} is gone; plugin {word} speaks version 2`, `core dumped by {word} of group {word}`,
	// Paths.
	`stat /{word}/{word}/{word}: stale`, `/usr/local/{word}/bin/{word}: not found`, `/etc/{word}/{word}.d/10-{word}.conf: syntax`, `/var/log/{word}/{word}.log is 99 % full`,
	`/var/lib/{word}/{word}/{word}.db: corrupt`, `/run/{word}/{word}.sock: refused`, `C:\\\\{word}\\\\{word}\\\\{word}.exe: denied`, `D:/{word}/{word}: denied`,
	`./{word}/../{word}: loop; ~/{word}: loop; ~{word}/x`, `file:///{word}/{word}`, `/proc/1/root/{word}/{word}`, `/sys/fs/cgroup/{word}/{word}/memory.max`,
	`/var/lib/kubelet/pods/{uid}/etc-hosts and /{word}_{word}/{word}+{word}/{word},{word}`, `//{word}/{word}/{word}/{word}`, `\\\\\\\\{word}\\\\{word}\\\\{word}`, `smb://{word};{word}@{word}/{word}/{word}`,
	// After a noun.
	`zone {word}: too many reallocations`, `vg {word} lv {word} pv {word}`, `vlan {word} on bridge {word}`, `rack {word} row {word} room {word} site {word}`,
	`region {word} az {word} cell {word}`, `queue {word} exchange {word} vhost {word}`, `index {word} shard {word}`, `topic {word} group {word} consumer {word}`,
	`bucket {word} object {word}`, `schema {word} table {word} column {word}`, `tablespace {word} owner {word}`, `lun {word} target {word} initiator {word}`,
	`raid {word} array {word} pool {word} dataset {word}/{word}@{word}`, `realm {word} domain {word} forest {word}`, `workspace {word} team {word} org {word}`, `department {word}, cost center {word}`,
	`license of {word} for {word} has run out`, `chassis {word} blade {word} switch {word} port {word}`, `device {word} on hub {word}`, `tunnel {word} via {word} peer {word}`,
	`policy {word} rule {word} chain {word}`, `feature {word} in ring {word}`, `release {word} chart {word} repo {word}`, `branch {word} of {word} by {word}`,
	// Connection strings and settings.
	`Data Source={word};Initial Catalog={word};User ID={word};Password={secret}`, `Server={word};Database={word};Uid={word};Pwd={secret}`, `Driver={SQL};Dsn={word};Host={word};Svc={word}`, `(DESCRIPTION=(ADDRESS=(HOST={word}))(CONNECT_DATA=(SERVICE_NAME={word})(SID={word})))`,
	`host={word} dbname={word} user={word} application_name={word}`, `AccountName={word};EndpointSuffix={word}`, `spring.datasource.name={word} app.owner={word} {word}.{word}.enabled=true`, `{word}_{word}_URL=x {word}_HOME=y`,
	`labels: {word}={word},{word}!={word},{word} in ({word},{word})`, `selector {word}:{word}`, `{\"{word}\":{\"{word}\":[\"{word}\",1]}}`, `[{word}]\n{word} = {word}`,
	`<{word} {word}=\"{word}\"><{word}/></{word}>`, `map[{word}:{word} {word}:{word}]`, `&{Foo:{word} Bar:[{word} {word}]}`, `- {word}\n- {word}: {word}`,
	`?{word}={word}&{word}={word}#{word}`, `%7B{word}%3A{word}%7D`, `&lt;{word}&gt;`, `\\u003c{word}\\u003e`,
	// Keys, numbers, and tails of passwords.
	`\"key\": \"{hex}\"`, `SECRET_KEY_BASE={hex} private key {hex} api key {hex} refused`, `GET https://h/x?key={hex}&y=1 creds={hex}`, `sudo: password for bob: {hex}`,
	`https://bob:Winter/{digits}@h/x`, `password=Winter,{digits} refused`, `password=Winter;{digits} password=Winter)]{digits}`, `password=\"Winter\\\"{digits}\" refused`,
	`curl -ubob:{digits} x`, `curl -u \"bob:Winter {digits}\" x`, `mysql -p\"Winter {digits}\" x`, `wrong password {digits}`, `token: {digits}`, `X-Vault-Token: {digits}`, `mysql -u root -p{digits}`,
	`REDIS_AUTH={digits}`, `PIN {digits}, otp={digits}`, `bindpw=blue-{digits}`, `userPassword:: blue-{digits}`, `IDENTIFIED BY 'blue-{digits}'`, `PASSWORD set to blue-{digits}`,
	`- name: DB_PASSWORD\n  value: blue-{digits}`, `password(\"blue-{digits}\") WithToken(\"blue-{digits}\")`, `ldapsearch -w {digits}`, `ipmitool -P {digits}`, `vault login blue-{digits}`, `--from-literal=a=blue-{digits}`,
	// Plain passwords.
	`mysqldump -u {word} -p{word} {word}`, `sshpass -p {word} ssh {word}`, `ldapsearch -w {word} -D {word} -b {word}`, `redis-cli -a {word} -h {word}`,
	`the password of {word} was {word}, now it is {word}`, `logged in as {word}/{word}`, `use {word}:{word} to log in`, `pin {word}, pass phrase {word} {word}`,
	`psql: FATAL: role {word} does not exist, tried {word}`, `net use x: {word} /user:{word}\\\\{word} {word}`, `smbclient -U {word}%{word} -W {word}`, `openssl enc -k {word}; gpg --recipient {word}; htpasswd -b x {word} {word}`,
	// From other programs.
	`etcdserver: member {word} is slow, leader {word}`, `vault: lease {word}/creds/{word} expired`, `consul: {word}.service.{word}: critical`, `calico: endpoint {word} profile {word} tier {word}`,
	`cilium: identity {word} of {word} denied to {word}`, `istio: cluster outbound|80|{word}|{word}.{word}`, `argocd: app {word} of project {word} out of sync`, `flux: kustomization {word}/{word} from {word}`,
	`terraform: module.{word}.{word}.{word}: tainted`, `ansible: TASK [{word} : {word}] on {word}`, `puppet: Class[{word}::{word}] on {word}`, `jenkins: {word} #42 by {word} on agent {word}`,
	`snmp: trap from {word} community {word}`, `zabbix: {word}: item {word} unsupported`, `nagios: {word};{word};CRITICAL`, `dns: {word}. 30 IN CNAME {word}.`,
	`oracle: ORA-12154 {word}_{word}`, `db2: SQL1224N {word}.{word}`, `mssql: Login failed for {word}`, `mysql: Access denied for {word}@{word}`,
	`veeam: job {word} repository {word}`, `netapp: aggr {word} svm {word} qtree {word}`, `dell: {word} enclosure {word}`, `vmware: [{word}] {word}/{word}.vmx on {word}`,
	`sap: {word}_{word}_00 dispatcher of {word}`, `cron: ({word}) CMD ({word} {word})`, `su: {word} to {word} on pts`, `audit: auid={word} exe={word} key={word} subj={word}_u:{word}_r:{word}_t`,
	// Other spellings.
	`{word}{word}: two in one`, `My{word}Service, the{word}_{word}Thing and {word}4prod`, `{word}™ and »{word}« and „{word}“`, `dev.{word}.{word}: refused; {word}.{word}: refused`,
	`{word}--{word}..{word}__{word}`, `({word})({word}){{word}}[{word}]`, `k8s:{word} ns:{word} env:{word} app:{word} tier:{word}`, `urn:{word}:{word}:{word}`,
}

// systemLines are lines of the kernel, systemd and runtimes, to be prefixed by time and host.
var systemLines = []string{
	`kernel: nfs: server {host} not responding, still trying`,
	`kernel: nfs: server {word} not responding, still trying`,
	`kernel: nfs: server {ip} not responding, still trying`,
	`kernel: CIFS: VFS: \\{word}\{word} Send error in SessSetup = -126`,
	`kernel: CIFS: VFS: Server {word} has not responded in 180 seconds. Reconnecting...`,
	`kernel: CIFS VFS: cifs_mount failed for //{word}/{word} w/return code = -112`,
	`kernel: Task in /kubepods/burstable/pod{uid} killed as a result of limit of /kubepods/burstable/pod{uid}`,
	`kernel: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{uid_}.slice,task_memcg=/kubepods.slice/kubepods-pod{uid_}.slice,task=java,pid=4711,uid=0`,
	`systemd[1]: var-lib-kubelet-pods-{uidx}-volumes-kubernetes.io\x7enfs-{word}.mount: Mount process exited, code=killed status=15`,
	`systemd[1]: Timeout waiting for systemd to create kubepods-burstable-pod{uid_}.slice`,
	`containerd[991]: time="2026-11-20T23:45:01.000000000Z" level=error msg="PullImage \"{word}.{word}.{word}/{word}:1.0\" failed" error="failed to pull and unpack image: failed to do request: Head \"https://{word}.{word}.{word}/v2/{word}/manifests/1.0\": dial tcp {ip}:443: i/o timeout"`,
	`containerd[991]: time="2026-11-20T23:45:02.000000000Z" level=info msg="RunPodSandbox for &PodSandboxMetadata{Name:{word},Uid:{uid},Namespace:{word},Attempt:0,}"`,
	`containerd[991]: time="2026-11-20T23:45:03.000000000Z" level=error msg="RunPodSandbox for &PodSandboxMetadata{Name:{word},Uid:{uid},Namespace:{word},Attempt:0,} failed, error" error="rpc error: code = DeadlineExceeded desc = context deadline exceeded"`,
	`containerd[991]: time="2026-11-20T23:45:04.000000000Z" level=info msg="CreateContainer within sandbox \"5a11cafe5a11cafe\" for container &ContainerMetadata{Name:{word},Attempt:0,}"`,
	`crio[991]: time="2026-11-20 23:45:05.000000000Z" level=info msg="Created container c0ffee01c0ffee01: {word}/{word}/{word}" id=a734f153-e8c4-4e29-bb8b-7846d862d604 name=/runtime.v1.RuntimeService/CreateContainer`,
	`crio[991]: time="2026-11-20 23:45:06.000000000Z" level=info msg="Started container" PID=4711 containerID=c0ffee01c0ffee02 description={word}/{word}/{word} id=a734f153-e8c4-4e29-bb8b-7846d862d604 name=/runtime.v1.RuntimeService/StartContainer`,
	`dockerd[991]: time="2026-11-20T23:45:07.000000000Z" level=error msg="Handler for POST /v1.24/images/create?fromImage={word}%2F{word}&tag=v2 returned error: Get https://{word}.{word}.{word}/v2/: net/http: request canceled while waiting for connection"`,
	`dockerd[991]: 2026-11-20T23:45:08.123456789Z container die c0ffee01c0ffee03 (exitCode=137, image={word}/{word}:1, io.kubernetes.container.name={word}, io.kubernetes.docker.type=container, io.kubernetes.pod.name={word}, io.kubernetes.pod.namespace={word}, io.kubernetes.pod.uid={uid}, name=k8s_{word}_{word}_{word}_{uid}_0)`,
	`multipathd[77]: mpatha: iqn.2001-04.com.{word}:storage.{word} remaining active paths: 0`,
	`chronyd[88]: Source {ip} offline, mail to {word}@{word}.{word} from 52:54:00:{word}`,
	`kernel: INFO: task {word}:4711 blocked for more than 122 seconds.`,
	`kernel: task:{word} state:D stack:0 pid:4711 ppid:1 flags:0x00000006`,
	`kernel: Out of memory: Killed process 4711 ({word}) total-vm:1kB, anon-rss:1kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0`,
	`kernel: oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset={word},mems_allowed=0,global_oom,task_memcg=/{word}.slice/{word}.scope,task={word},pid=4711,uid=0`,
	`kernel: {word}[4711]: segfault at 0 ip 00007f0000001000 sp 00007f0000002000 error 4 in {word}.so[7f0000000000+1000]`,
	`kernel: watchdog: BUG: soft lockup - CPU#1 stuck for 23s! [{word}:4711]`,
	`kernel: EXT4-fs error (device {word}): {word}: {word}`,
	`kernel: XFS ({word}): log I/O error -5`,
	`systemd[1]: {word}.service: Main process exited, code=killed, status=9/KILL`,
	`systemd[1]: Started {word} for {word}.`,
	`containerd[991]: time="2026-11-20T23:45:09.000000000Z" level=error msg="failed to handle {word}" error="{word}: {word}" {word}={word}`,
	`dockerd[991]: time="2026-11-20T23:45:10.000000000Z" level=error msg="Handler for GET /v1.40/containers/{word}/json returned error: driver {word} failed"`,
	`kernel: BUG: workqueue lockup - pool cpus=1 node=0 flags=0x0 nice=0 stuck for 36s! {dashed}`,
}

// canaryFiles are further files of the bundle.
var canaryFiles = map[string]string{
	"etc/hostname":                                   "{word1}.{word}.{word}\n",
	"sos_commands/host/hostnamectl_status":           "   Static hostname: {word}.{word}.{word}\n        Machine ID: {uid32}\n           Boot ID: {uid32}\n  Operating System: Red Hat Enterprise Linux CoreOS\n            Kernel: Linux 5.14.0\n",
	"sos_commands/networking/ip_-o_addr":             "1: lo    inet 127.0.0.1/8 scope host lo\n2: eth0    inet {ip}/24 brd {ip} scope global eth0\n2: eth0    inet6 {ip6}/64 scope global\n",
	"sos_commands/filesys/mount_-l":                  "{word}:/vol/{word} on /var/lib/kubelet/pods/{uid}/volumes/kubernetes.io~nfs/{word} type nfs4 (rw,addr={ip})\n//{word}/{word} on /mnt/{word} type cifs (rw,username={word},password={secret})\n",
	"sos_commands/crio/crictl_ps_-a":                 "CONTAINER           IMAGE                                    CREATED             STATE               NAME                ATTEMPT             POD ID              POD\n6f2c0f4ab1d3e       {word}/{word}:v1   2 hours ago         Running             {word}              0                   5a11cafe5a11c       {word}\n7f2c0f4ab1d3e       {word}:5000/{word}@sha256:6f2c0f4ab1d3e5f60718293a4b5c6d7e8f901a2b3c4d5e6f708192a3b4c5d6e7   2 hours ago         Exited             {word}              0                   6a11cafe5a11c       {word}\n",
	"sos_commands/kubernetes/kubectl_get_nodes.yaml": "apiVersion: v1\nkind: Node\nmetadata:\n  name: {word}.{word}.{word}\n  uid: {uid}\n  labels:\n    kubernetes.io/hostname: {word}\nspec:\n  providerID: aws:///{word}/i-0abcdef1234567890\nstatus:\n  addresses:\n  - address: {ip}\n    type: InternalIP\n  images:\n  - names:\n    - {word}/{word}:v3\n  conditions:\n  - type: Ready\n    status: \"False\"\n    reason: KubeletNotReady\n    message: 'PLEG is not healthy'\n    lastHeartbeatTime: \"2026-11-20T23:45:00Z\"\n    lastTransitionTime: \"2026-11-20T23:45:00Z\"\n",
	"metrics/kubelet.prom":                           "# TYPE kubelet_pleg_relist_duration_seconds histogram\nkubelet_pleg_relist_duration_seconds_bucket{le=\"10\",instance=\"{ip}:10250\",node=\"{word}\",namespace=\"{word}\"} 10\nkubelet_pleg_relist_duration_seconds_bucket{le=\"+Inf\",instance=\"{ip}:10250\",node=\"{word}\"} 12\nkubelet_pleg_relist_duration_seconds_sum 130\nkubelet_pleg_relist_duration_seconds_count 12\n# TYPE kubelet_running_pods gauge\nkubelet_running_pods{node=\"{word}\",pod=\"{word}\",container=\"{word}\",image=\"{word}/{word}:v1\",id=\"/kubepods/burstable/pod{uid}/6f2c0f4ab1d3e5f60718293a4b5c6d7e8f901a2b3c4d5e6f708192a3b4c5d6e7\",name=\"k8s_{word}_{word}_{word}_{uid}_0\"} 20\nkubelet_volume_stats_used_bytes{namespace=\"{word}\",persistentvolumeclaim=\"{word}\"} 5\nrest_{word}_total{node=\"{word}\"} 3\nrest_calls_total{{word}=\"{word}\",label_{word}=\"1\",tenant=\"{word}\",label_app=\"{word}\",kube_cluster=\"{word}\",prometheus=\"{word}/{word}\",job=\"{word}\",url=\"https://{word}/{word}?token={secret}\",device=\"/dev/mapper/{word}-{word}\",volume_plugin=\"kubernetes.io/csi:{word}.{word}.com\"} 1\ncontainer_cpu_usage_seconds_total{pod=\"{word}\",namespace=\"{word}\",image=\"{word}.{word}.{word}/{word}:9\"} 5\n",
	"sos_commands/process/ps_auxwwwm":                "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n{word}    4711  0.0  0.1  12345  6789 ?        Ds   10:00   0:01 /opt/{word}/bin/{word} --{word}={word} {word}\n",
	"proc/cmdline":                                   "BOOT_IMAGE=/{word} root=/dev/{word}/{word} {word}={word} {word}\n",
	"sos_commands/docker/docker_info":                "Server Version: 20.10.7\n Storage Driver: {word}\n Labels:\n  {word}={word}\n Name: {word}\n",
	"broken/{word}.tar.gz":                           "\x1f\x8b\x08 no",
	"{word}%2F{word}\\{word}.bin":                    "\x00\x01",
	"{word}/{word}-notes.bin":                        "\x00\x01\x02\x03{word}",
}

// plants returns lines with names and credentials, as kubelets, runtimes, systems, clouds and
// people write them.
func plants(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/redact", file))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// TestCanaryForms: a planted name of any form is redacted from each planted line, tested line by
// line.
func TestCanaryForms(t *testing.T) {
	lines := slices.Concat(kubeletLines, systemLines, failures, strangers, plants(t, "names.txt"), plants(t, "credentials.txt"))
	for _, content := range canaryFiles {
		lines = append(lines, strings.Split(content, "\n")...)
	}
	forms := map[string]func(n int) string{
		"a word with a number": func(n int) string {
			return fmt.Sprintf("%s%03d", []string{"delta", "orders", "cart", "gateway"}[n%4], n)
		},
		"a word with a digit": func(n int) string {
			return fmt.Sprintf("%s%d", []string{"delta", "orders", "cart", "gateway"}[n%4], n%10)
		},
		"a hexadecimal word": func(n int) string { return fmt.Sprintf("%s%02d", []string{"deadbeef", "cafe", "feed"}[n%3], n%100) },
		"a word and a padded number": func(n int) string {
			return fmt.Sprintf("%s-%02d", []string{"delta", "orders", "cart", "gateway"}[n%4], 1+n%9)
		},
		"a word of two, with a number": func(n int) string { return fmt.Sprintf("%s%02d", []string{"db", "pg", "web", "qa"}[n%4], 20+n%80) },
	}
	for what, form := range forms {
		n := 0
		for _, line := range lines {
			p := &planted{marks: map[string]string{}}
			var names []string
			same := map[string]string{}
			text := canarySlot.ReplaceAllStringFunc(line, func(m string) string {
				if !strings.HasPrefix(m, "{word") && m != "{host}" {
					return m
				}
				if same[m] == "" || m == "{word}" || m == "{host}" {
					n++
					same[m] = form(n)
					names = append(names, regexp.QuoteMeta(same[m]))
				}
				if m == "{host}" {
					return same[m] + ".qzvqh.qzvqj"
				}
				return same[m]
			})
			text = p.fill(text)
			red := redact.New(nil)
			red.Learn(text)
			red.Settle()
			got := red.Text(text)
			if len(names) > 0 {
				if left := regexp.MustCompile(`(?i)(?:^|[^a-z0-9])(?:` + strings.Join(names, "|") + `)(?:[^a-z0-9]|$)`).FindString(got); left != "" {
					t.Errorf("%s: %q is left in %.500q", what, left, got)
				}
			}
			for _, m := range p.seen(got) {
				t.Errorf("%q is left in %.500q", m, got)
			}
		}
	}
}

// bundle writes the bundle as a directory below dir, whose name contains the node, and returns its
// path.
func (p *planted) bundle(t *testing.T, dir string) string {
	t.Helper()
	node := p.word()
	fqdn := node + "." + p.word() + "." + p.word()
	log, err := os.ReadFile(filepath.Join(samples, "stuck-pods", "kubelet.log"))
	if err != nil {
		t.Fatal(err)
	}
	p.line = "the log of stuck-pods"
	text := strings.NewReplacer("worker-10", fqdn, "10.0.12.34", p.ip(), "prod/", p.word()+"/").Replace(string(log))
	klog := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for _, l := range kubeletLines {
		klog = append(klog, p.fill(l))
	}
	failures := slices.Clone(failures)
	for _, s := range slices.Concat(plants(t, "names.txt"), plants(t, "credentials.txt")) {
		failures = append(failures, strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`).Replace(s))
	}
	for _, s := range strangers {
		failures = append(failures, regexp.MustCompile(`\\*"`).ReplaceAllString(s, `\"`))
	}
	for i, what := range failures {
		line := fmt.Sprintf(`E1120 23:46:%02d.%02d0000    5203 pod_workers.go:919] "Error syncing pod, skipping" err="%s" pod="{word}/{word}" podUID={uid}`, i%60, 10+i/60, what)
		klog = append(klog, p.fill(line))
	}
	slices.SortStableFunc(klog, func(a, b string) int {
		return strings.Compare(a[min(1, len(a)):min(21, len(a))], b[min(1, len(b)):min(21, len(b))])
	})
	var lines []string
	for _, l := range klog {
		if len(l) > 20 && l[0] >= 'A' && l[0] <= 'Z' && l[5] == ' ' {
			l = "Nov 20 " + l[6:14] + " " + fqdn + " kubelet[5203]: " + l
		}
		lines = append(lines, l)
	}
	for i, l := range systemLines {
		for k := range 3 { // some causes need more than one
			lines = append(lines, fmt.Sprintf("Nov 20 23:%d:%02d %s %s", 50+k, i, fqdn, p.fill(l)))
		}
	}
	root := filepath.Join(dir, "sosreport-"+node+"-01234567-2026-11-20-"+p.word())
	p.marks["01234567"] = "number of the case"
	files := map[string]string{"var/log/messages": strings.Join(lines, "\n") + "\n"}
	for name, content := range canaryFiles {
		files[name] = content
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content, path := files[name], filepath.Join(root, p.fill(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if name != "var/log/messages" {
			content = p.fill(content)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// packedTree packs the bundle as an archive.
func packedTree(t *testing.T, root string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(filepath.Dir(root), path)
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	if err != nil || w.Close() != nil || z.Close() != nil {
		t.Fatal(err)
	}
	path := root + ".tar.gz"
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// seen returns the planted names that occur in text, ignoring case. All kinds of dashes count as
// one, so that a UID is found in any spelling.
func (p *planted) seen(text string) []string {
	text = strings.ToLower(text)
	var out []string
	for m := range p.marks {
		if strings.Contains(text, m) {
			out = append(out, m)
		}
	}
	slices.Sort(out)
	return out
}

// canaryRuns returns all commands in all of their formats. In the arguments DIR stands for a
// directory the run may write to, IN and PACK for the bundle.
func canaryRuns() [][]string {
	var out [][]string
	add := func(args ...string) { out = append(out, args) }
	all := func(formats []report.Format, args ...string) {
		for _, f := range formats {
			args = append(args, "-o", f.Name+"=DIR/"+f.Name)
		}
		add(args...)
	}
	all(report.Formats, "analyze", "--verbose", "IN")
	all(report.Formats, "analyze", "PACK")
	all(report.TimelineFormats, "timeline", "IN")
	all(report.EventFormats, "events", "--verbose", "IN")
	all(report.InspectFormats, "inspect", "--verbose", "PACK")
	all(compareFormats(), "compare", "--verbose", filepath.Join(samples, "healthy", "kubelet.log"), "IN")
	add("analyze", "IN")
	for _, f := range []string{"text", "json", "csv"} {
		add("query", "-o", f, "--expr", `{__name__=~"kubelet_.+|container_.+|rest_.+"}`, "IN")
		add("query", "-o", f, "--list", "IN")
	}
	add("query", "-o", "json", "--alerts", "IN")
	add("query", "--expr", "no_such_series", "IN")
	for _, f := range []string{"text", "json"} {
		add("replay", "-o", f, "IN")
	}
	// Error messages repeat what was given.
	add("analyze", "IN/no-such-file")
	add("analyze", "--node", "qznodey", "IN")
	add("analyze", "--qzflagy", "IN")
	add("analyze", "--qzflagy=x", "IN")
	add("qzflagy", "IN")
	add("analyze", "--strict", "--fail-on", "info", "IN")
	add("analyze", "IN/broken", "IN/etc")
	add("analyze", "--separate", "IN", "PACK")
	add("inspect", "IN/metrics")
	return out
}

// TestCanary: none of some 300 names planted in logs, metrics, facts, objects, paths and names of
// inputs appears in the output of a redacted run: in no format of any command, no file name, not on
// standard error, with or without a key. Without --redact the same runs show most of them, so the
// test is able to fail.
func TestCanary(t *testing.T) {
	p := &planted{marks: map[string]string{"qznodey": "--node", "qzflagy": "a flag that does not exist"}}
	root := p.bundle(t, t.TempDir())
	archive := packedTree(t, root)
	t.Logf("%d names", len(p.marks))
	if len(p.marks) < 300 {
		t.Errorf("only %d names are planted", len(p.marks))
	}
	shown := map[string]bool{}
	for _, flags := range [][]string{nil, {"--redact"}, {"--redact-key", "k"}} {
		for _, args := range canaryRuns() {
			text := canaryRun(t, args, flags, root, archive)
			for _, m := range p.seen(text) {
				if flags == nil {
					shown[m] = true
				} else {
					t.Errorf("%v %v: %s is left, planted in %.300s\n%s", flags, args, m, p.marks[m], around(text, m))
				}
			}
		}
	}
	for _, m := range canaryBatch(t, p, root, archive) {
		shown[m] = true
	}
	for _, flags := range [][]string{{"--redact"}, {"--redact-key", "k"}} {
		for _, m := range canaryBatch(t, p, root, archive, flags...) {
			t.Errorf("batch %v: %s is left, planted in %.300s", flags, m, p.marks[m])
		}
	}
	t.Logf("%d of %d names are seen without --redact", len(shown), len(p.marks))
	if len(shown) < len(p.marks)/2 {
		t.Errorf("only %d of %d names come out without --redact: the test proves little", len(shown), len(p.marks))
	}
}

func around(text, mark string) string {
	i := strings.Index(strings.ToLower(text), mark)
	return fmt.Sprintf("%q", text[max(0, i-120):min(len(text), i+80)])
}

// canaryRun returns everything a run writes: both streams, and files with their names.
func canaryRun(t *testing.T, args, flags []string, root, archive string) string {
	t.Helper()
	dir := t.TempDir()
	full := append([]string{"plegforensics", args[0]}, flags...)
	for _, a := range args[1:] {
		a = strings.Replace(strings.Replace(strings.Replace(a, "DIR", dir, 1), "PACK", archive, 1), "IN", root, 1)
		full = append(full, a)
	}
	var stdout, stderr bytes.Buffer
	run(context.Background(), full, strings.NewReader(""), &stdout, &stderr)
	text := stdout.String() + islandOf(t, stdout.Bytes()) + "\n--- stderr\n" + stderr.String()
	return text + written(t, dir)
}

// written returns the names and contents of all files below dir, decompressed.
func written(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")) {
			z, err := zstd.NewReader(nil)
			if err != nil {
				return err
			}
			defer z.Close()
			if data, err = z.DecodeAll(data, nil); err != nil {
				return err
			}
		}
		rel, _ := filepath.Rel(dir, path)
		b.WriteString("\n--- " + rel + "\n")
		b.Write(data)
		b.WriteString(islandOf(t, data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// canaryBatch runs a fleet of bundles, some of them broken, from arguments, a manifest and a
// directory, anew, resumed and in shards, merges the partials, and returns the names that appear in
// the output, which is all that the runs write: reports and their file names, what the next run
// resumes from, and both streams.
func canaryBatch(t *testing.T, p *planted, root, archive string, flags ...string) []string {
	t.Helper()
	dir := t.TempDir()
	broken := filepath.Join(filepath.Dir(root), p.word()+".tar.xz")
	if err := os.WriteFile(broken, []byte("\xfd7zXZ\x00no"), 0o644); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	one := func(args ...string) {
		var stdout, stderr bytes.Buffer
		run(context.Background(), append([]string{"plegforensics", "batch"}, args...), strings.NewReader(""), &stdout, &stderr)
		all.WriteString(stdout.String() + islandOf(t, stdout.Bytes()) + stderr.String())
	}
	args := append(slices.Clone(flags), "--out-dir", filepath.Join(dir, "out"), "--partial", filepath.Join(dir, "p.plegp"))
	for _, f := range report.Formats {
		args = append(args, "--report", f.Name)
	}
	one(append(args, root, archive, broken, root+"-gone")...)
	one(append(args, "--resume", root, archive, broken, root+"-gone")...)
	one(append(args, root, archive)...) // refused, since the directory has reports
	manifest := filepath.Join(t.TempDir(), p.word()+".txt")
	if err := os.WriteFile(manifest, []byte(archive+"\n"+broken+"\n"+root+"-gone\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	one(append(slices.Clone(flags), "--manifest", manifest, "--shard", "1/2", "--partial", filepath.Join(dir, "1.plegp"))...)
	one(append(slices.Clone(flags), "--manifest", manifest+"-gone")...)
	one(append(slices.Clone(flags), "--strict", "--fail-on", "info", filepath.Dir(root), filepath.Dir(root)+"/*.tar.xz", "-o", "ndjson")...)
	one(append(append([]string{"merge"}, flags...), filepath.Join(dir, "1.plegp"), broken, manifest)...)
	rest := []string{"--verbose"}
	for _, f := range fleet.Formats {
		rest = append(rest, "-o", f.Name+"="+filepath.Join(dir, f.Name))
	}
	one(append(append(rest, flags...), root, broken)...)
	one(append([]string{"merge"}, append(rest, filepath.Join(dir, "p.plegp"))...)...)
	seen := p.seen(all.String() + written(t, dir))
	if len(flags) > 0 {
		for _, m := range seen {
			t.Logf("%s", around(all.String()+written(t, dir), m))
		}
	}
	return seen
}

// TestCanaryMap: the map lists all replaced names, except credentials.
func TestCanaryMap(t *testing.T) {
	p := &planted{marks: map[string]string{}}
	root := p.bundle(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "map.json")
	var stdout, stderr bytes.Buffer
	run(context.Background(), []string{"plegforensics", "analyze", "--redact", "--redact-map", path, "-o", "html", root}, strings.NewReader(""), &stdout, &stderr)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ Name string }
	if err := json.Unmarshal(data, &list); err != nil || len(list) < 50 {
		t.Fatalf("%v, %d entries", err, len(list))
	}
	if bytes.Contains(bytes.ToLower(data), []byte("a1b2c3d4e5f6g7h8")) {
		t.Errorf("the map holds a credential")
	}
}
