package redact

import (
	"strings"
	"unicode"
)

// port matches a host before a port; digits alone before the colon would be a time.
const port = `((?:[0-9][0-9.-]*)?[A-Za-z][A-Za-z0-9.-]*[A-Za-z0-9]):\d{2,5}\b`

// elsewhere are shapes of names outside of Kubernetes, of clouds, storage, certificates, people and
// tools, and of sentences of any program that have one place for a name.
var elsewhere = []shape{
	// Sentences with one place for a name, which may be any word.
	{lazy(`\bHostname set to <` + host + `>`), []Kind{Node}, "Hostname set to"},
	{lazy(`\b(?:[Hh]ostname changed|host name|hostname changed from ` + q + host + q + `) to ` + q + host + q), []Kind{Node, Node}, "hostname changed|host name"},
	{lazy(`\b(?:Attempting to register|Successfully registered) node ` + host), []Kind{Node}, "registe"},
	{lazy(`\bNode ` + host + ` was previously registered`), []Kind{Node}, "previously registered"},
	{lazy(`\bContainer ` + label + ` exceeded its local`), []Kind{Container}, "exceeded its local"},
	{lazy(`\bContainer ` + q + label + q), []Kind{Container}, "Container "},
	{lazy(`\bcontainer ` + label + ` is not valid for pod ` + label), []Kind{Container, Pod}, "is not valid for pod"},
	{lazy(`\b(?:image tag|image name) ` + q + ref + q), []Kind{Image}, "image tag|image name"},
	{lazy(`\bused by pod\(s\) ` + label + `(?:, ` + label + `)?(?:, ` + label + `)?(?:, ` + label + `)?`), []Kind{Pod, Pod, Pod, Pod}, "used by pod(s)"},
	{lazy(`\bPreempted by ` + object + ` on node ` + host), []Kind{Namespace, Pod, Node}, "Preempted by"},
	{lazy(`\bservice account ` + object), []Kind{Namespace, Object}, "service account"},
	{lazy(`\bObjectMeta:\{Name:` + label + ` GenerateName:\S* (?:Namespace:` + label + `)?`), []Kind{Pod, Namespace}, "ObjectMeta:{Name:"},
	{lazy(`\bcontainer name ` + q + `/([A-Za-z0-9][A-Za-z0-9_.-]*)` + q), []Kind{Container}, "container name"},
	{lazy(`\bNo such container: ([A-Za-z0-9][A-Za-z0-9_.-]*)`), []Kind{Container}, "No such container"},
	{lazy(`\bget ([A-Za-z0-9][A-Za-z0-9_.-]*): no such volume`), []Kind{Volume}, "no such volume"},
	{lazy(`\bNFS server ` + q + host + q), []Kind{Host}, "NFS server"},
	{lazy(`\bhome-([A-Za-z0-9_]+)\.mount\b`), []Kind{Object}, "home-"},
	{lazy(`\bdial \w+: address ` + host + `: missing port`), []Kind{Host}, "missing port"},
	{lazy(`\b` + host + `: Name or service not known`), []Kind{Host}, "Name or service"},
	{lazy(`\b(?:Disconnected from|Connection closed by)(?: invalid| authenticating)? user (\S+) `), []Kind{Object}, " user "},
	{lazy(`\bsession opened for user [^\s(]+(?:\(uid=\d+\))? by ([A-Za-z_][A-Za-z0-9_.-]*)\(`), []Kind{Object}, "session opened"},
	{lazy(`\bCRON\[\d+\]: \(([A-Za-z_][A-Za-z0-9_.-]*)\) CMD`), []Kind{Object}, "CRON["},
	{lazy(`\b[A-Z]{0,4}UID="([A-Za-z_][A-Za-z0-9_.-]*)"`), []Kind{Object}, "UID=\""},
	{lazy(`\bpassword for '([^']+)' changed by '([^']+)'`), []Kind{Object, Object}, "changed by"},
	{lazy(`\badd '([^']+)' to group '([^']+)'`), []Kind{Object, Object}, "to group"},
	{lazy(`\(to ([A-Za-z_][A-Za-z0-9_.-]*)\) ([A-Za-z_][A-Za-z0-9_.-]*) on (?:pts|tty|none)`), []Kind{Object, Object}, "(to "},
	// Registry requests.
	{lazy(`/v2/([A-Za-z0-9][A-Za-z0-9._%/-]*)/(?:manifests|blobs|tags)/`), []Kind{Image}, "/v2/"},
	{lazy(`repository(?::|%3[Aa])([A-Za-z0-9][A-Za-z0-9._%/-]*?)(?::|%3[Aa])(?:pull|push)`), []Kind{Image}, "repository"},
	{lazy(`(?:pull access denied for|resource is denied:|[Nn]o such image:) (?:` + q + `)?` + ref), []Kind{Image}, "pull access denied|resource is denied|such image"},
	// Requests in queries.
	{lazy(`(?i)%(?:25)?2fnamespaces%(?:25)?2f([a-z0-9-]+)(?:%(?:25)?2f[a-z]+%(?:25)?2f([a-z0-9.-]+))?`), []Kind{Namespace, Pod}, "namespaces%"},
	{lazy(`(?i)%(?:25)?2fnodes%(?:25)?2f([a-z0-9.-]+)`), []Kind{Node}, "nodes%"},
	// Clouds.
	{lazy(`(?i)\baccount(?:[ _-]?(?:id|number|no))?\\*"?\s?[:=]?\s?\\*"?(\d{12})\b`), []Kind{Object}, "ccount"},
	{lazy(`\b(?:mac|MAC|[Hh][Ww]addr|ether|lladdr)(?: address)?[ :=]{1,2}([0-9A-Fa-f]{12})\b`), []Kind{MAC}, "mac|MAC|addr|ADDR|ether"},
	{lazy(`\barn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:(\d{12})?:(?:[a-z-]+[/:])?([A-Za-z0-9._-]+)(?:[/:]([A-Za-z0-9._-]+))?`), []Kind{Object, Object, Object}, "arn:aws"},
	{lazy(`\b(\d{12})\.dkr\.ecr\.`), []Kind{Object}, ".dkr.ecr."},
	{lazy(`\b((?:vol|snap|fs|fsap)-[0-9a-f]{8,18})\b`), []Kind{Volume}, "vol-|snap-|fs-|fsap-"},
	{lazy(`\b((?:vpc|subnet|eni|sg|ami|igw|rtb|nat|acl|lt|eipalloc|eipassoc|eni-attach)-[0-9a-f]{8,18})\b`), []Kind{Object}, "vpc-|subnet-|eni-|sg-|ami-|igw-|rtb-|nat-|acl-|lt-|eip"},
	{lazy(`(?i)/subscriptions/([A-Za-z0-9-]+)`), []Kind{Object}, "ubscriptions/"},
	{lazy(`(?i)/resourceGroups/([A-Za-z0-9._()-]+)`), []Kind{Object}, "esource"},
	{lazy(`/providers/Microsoft\.[A-Za-z.]+/[A-Za-z]+/([A-Za-z0-9._-]+)`), []Kind{Object}, "/providers/"},
	// Storage.
	{lazy(`kubernetes\.io/csi/([A-Za-z0-9][A-Za-z0-9-]*)\^`), []Kind{Object}, "^"},
	{lazy(`kubernetes\.io/[A-Za-z0-9./-]+\^([A-Za-z0-9][^\s"'\\)^]*)`), []Kind{Volume}, "^"},
	{lazy(`:\d{2,5}:/([A-Za-z0-9._-]+)(?:/([A-Za-z0-9._-]+))?(?:/([A-Za-z0-9._-]+))?`), []Kind{Volume, Volume, Volume}, ":/"},
	{lazy(`(?:^|[\s"'=(\[])` + host + `:/([A-Za-z0-9._-]+)/(?:([A-Za-z0-9._-]+)/)?(?:([A-Za-z0-9._-]+)/)?[A-Za-z0-9._-]*`), []Kind{Host, Volume, Volume, Volume}, ":/"},
	{lazy(`-t glusterfs .*? ` + host + `:/?([A-Za-z0-9._-]+)`), []Kind{Host, Volume}, "glusterfs"},
	{lazy(`volfile-servers?=([^:\s,]+)(?::([^:\s,]+))?(?::([^:\s,]+))?`), []Kind{Host, Host, Host}, "volfile-server"},
	{lazy(`-t ceph .*?\bname=([A-Za-z0-9._-]+)`), []Kind{Object}, "-t ceph"},
	{lazy(`\brbd(?:-nbd)? (?:device )?(?:map|unmap|info|status|rm|create|clone|resize|flatten|lock|snap|du|watch)(?: [a-z]+)? ` + label + `/` + label), []Kind{Volume, Volume}, "rbd"},
	{lazy(`\brsync\b.*? (?:[A-Za-z_][A-Za-z0-9._-]*@)?` + host + `::([A-Za-z0-9][A-Za-z0-9._-]*)`), []Kind{Host, Volume}, "::"},
	{lazy(`\brbd:? image ` + label + `/` + label), []Kind{Volume, Volume}, "rbd"},
	{lazy(`\b(?:rbd|ceph)\b.*? pool[ =]([A-Za-z0-9][A-Za-z0-9._-]*)`), []Kind{Volume}, " pool"},
	{lazy(`\b(?:rbd|ceph)\b.*? image[ =]([A-Za-z0-9][A-Za-z0-9._-]*)`), []Kind{Volume}, " image"},
	{lazy(`\b(?:rbd|ceph)\b.*? (?:user|id)[ =]([A-Za-z0-9][A-Za-z0-9._-]*)`), []Kind{Object}, "rbd|ceph"},
	{lazy(`/([A-Za-z0-9][A-Za-z0-9._-]*)\.keyring\b`), []Kind{Object}, ".keyring"},
	{lazy(`\[([A-Za-z0-9._-]+)\] (?:[A-Za-z0-9._-]+/)*([A-Za-z0-9._-]+)\.vmdk`), []Kind{Volume, Volume}, ".vmdk"},
	{lazy(`(?:/dev/mapper/|\bdm-name-)([A-Za-z0-9][A-Za-z0-9._+-]*)`), []Kind{Volume}, "/dev/mapper/|dm-name-"},
	{lazy(`(?:/mnt/|/media/|\bmnt-|\bmedia-)([A-Za-z0-9][A-Za-z0-9_-]*)(?:\\+x2d([A-Za-z0-9_-]+))?`), []Kind{Volume, Volume}, "/mnt/|mnt-|/media/|media-"},
	// Hosts.
	{lazy(`@` + port), []Kind{Host}, "@"},
	{lazy(`(?m)\bserver (?:` + q + `)?` + host + `(?:` + q + `)?\s*$`), []Kind{Host}, "server "},
	{lazy(`mount error\(\d+\): could not connect to ` + host), []Kind{Host}, "mount error"},
	{lazy(`[=,]\.([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)`), []Kind{Host}, "_PROXY|_proxy"},
	{lazy(`(?i)\b(?:monitor|mon|portal|broker|bootstrap|bootstrap.server|server|endpoint|peer|host|addr)s?\\*["']?\s?[ =:]\s?\\*["']?` + port + `(?:,` + port + `)?(?:,` + port + `)?(?:,` + port + `)?`), []Kind{Host, Host, Host, Host}, aPort},
	{lazy(`\b(?:ptr|PTR|cname|CNAME) ` + host + `\.?`), []Kind{Host}, "ptr|PTR|cname|CNAME"},
	{lazy(`\[[0-9A-Fa-f]*:[0-9A-Fa-f:]+%([A-Za-z][A-Za-z0-9._-]*)\]`), []Kind{Object}, "%"},
	{lazy(`(?:^|[\s"'=(])([A-Za-z_][A-Za-z0-9._-]*)@` + host + `:(?:[/~]|[A-Za-z0-9._-]+/)([A-Za-z0-9._-]+)?(?:/([A-Za-z0-9._-]+))?`), []Kind{Object, Host, Volume, Volume}, "@"},
	{lazy(`\bgit@[^\s:]+:([A-Za-z0-9._-]+)/([A-Za-z0-9_-]+)`), []Kind{Object, Object}, "git@"},
	{lazy(`\b(?:ssh|scp|sftp|rsync)\b.*? ([A-Za-z_][A-Za-z0-9._-]*)@` + host), []Kind{Object, Host}, "@"},
	{lazy(`/attributes/([A-Za-z0-9][A-Za-z0-9._-]*)`), []Kind{Object}, "/attributes/"},
	{lazy(`%22([A-Za-z0-9][A-Za-z0-9._-]*)%22`), []Kind{Object}, "%22"},
	{lazy(`(?i)(?:nodeName|hostname|metadata\.name)%3D([A-Za-z0-9][A-Za-z0-9._-]*)`), []Kind{Node}, "%3"},
	{lazy(`\b[Kk]afka\b.*? topics?[ =]([A-Za-z0-9][A-Za-z0-9._-]*)`), []Kind{Object}, "afka"},
	{lazy(`\bmember ` + host + ` https?://`), []Kind{Host}, "member "},
	{lazy(`(?:\b(?:Static|Transient|Pretty) hostname|(?:^|\n|\\n)\s*[Hh]ostname|\bHostname|\bX-Forwarded-Host):\s+` + host + `(?:$|[\s"'\\,;])`), []Kind{Node}, "ostname:|Forwarded-Host:"},
	{lazy(`\bdial [a-z0-9]+: lookup ` + host), []Kind{Host}, "lookup "},
	{lazy(`\blookup ([A-Za-z0-9]+[.-](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)`), []Kind{Host}, "lookup "},
	{lazy(`\b[Hh]ost: ([A-Za-z0-9]+-(?:[A-Za-z0-9.-]*[A-Za-z0-9])?)`), []Kind{Host}, "ost: "},
	{lazy(`(?:PORT|PASV|LPRT|[Pp]assive [Mm]ode)[^0-9]{0,8}(\d{1,3},\d{1,3},\d{1,3},\d{1,3}),\d{1,3},\d{1,3}\b`), []Kind{IP}, "PORT|PASV|LPRT|assive"},
	{lazy(`\bssh -l ([A-Za-z_][A-Za-z0-9._-]*) ` + host), []Kind{Object, Host}, "ssh -l"},
	{lazy(`\bDHCP[A-Z]+ .*?\b([0-9A-Fa-f]{12})\b`), []Kind{MAC}, "DHCP"},
	{lazy(`\bjdbc:[a-z0-9:]+//` + host + `(?::\d+)?[/;](?:databaseName=)?([A-Za-z0-9_.-]+)`), []Kind{Host, Object}, "jdbc:"},
	// People, and subjects of certificates.
	{lazy(`(?:^|[\s"'/,+(=])(?:CN|OU?)\s?=\s?([A-Za-z0-9][^\s,/+"'\\;)=:]*)(?: ([^\s,/+"'\\;)=:]+)(?:[,/+"'\\;)]|$))?`), []Kind{Object, Object}, "CN|O"},
	{lazy(`(?:^|[\s"'/,+(=])(?:cn|ou|uid|dc)=([A-Za-z][^\s,/+"'\\;)=:]*),(?:ou|cn|dc)=([A-Za-z][^\s,/+"'\\;)=:]*)(?:,(?:ou|dc)=([A-Za-z][^\s,/+"'\\;)=:]{3,}))?`), []Kind{Object, Object, Object}, "cn=|ou=|uid=|dc="},
	{lazy(`\b(S-\d-\d+(?:-\d+){3,})\b`), []Kind{UID}, "S-"}, // of an account of Windows
	{lazy(`\bof user ([A-Za-z0-9_][A-Za-z0-9_.-]*)`), []Kind{Object}, "of user "},
	{lazy(`(?:/|\\+)Users(?:/|\\+)([^/\s;"':,\\]+)`), []Kind{Object}, "Users"},
	{lazy(`\bnet use \S*.* /user:(?:[^\s\\]*\\+)?([^\s"'\\]+)`), []Kind{Object}, "net use"},
	{lazy(`\b(?:Accepted|Failed) [a-z/-]+ for (?:invalid user )?([^\s"']+) from `), []Kind{Object}, " for "},
	{lazy(`\bsudo(?:\[\d+\])?: +([^\s:]+) : `), []Kind{Object}, "sudo"},
	{lazy(`/home/([^/\s;"':,\\]+)`), []Kind{Object}, "/home/"},
	{lazy(`/(?:builds|runner/work|jenkins/workspace)/([^/\s;"':,\\]+)(?:/([^/\s;"':,\\]+))?/`), []Kind{Object, Object}, "/builds/|/work"}, // in stack dumps
	{lazy(`\b[A-Z][A-Z0-9_]*_(?:USER|USERNAME|OWNER|TEAM|CUSTOMER|TENANT|PROJECT|CLUSTER|DATABASE|DB)=([A-Za-z0-9][A-Za-z0-9._-]*)`), []Kind{Object}, "ER=|NAME=|TEAM=|TENANT=|PROJECT=|DATABASE=|DB="},
	{lazy(`\b(?:CUSTOMER|TENANT|TEAM|OWNER|PROJECT|CLUSTER)=([A-Za-z0-9][A-Za-z0-9._-]*)`), []Kind{Object}, "CUSTOMER|TENANT|TEAM|OWNER|PROJECT|CLUSTER"},
	{lazy(`[ ,=]\d+\(([A-Za-z_][^()\s,]*)\)`), []Kind{Object}, "uid=|gid=|groups="}, // as the command id writes them
	{lazy(`\b(?:from|to|sender|recipient)=<([^\s<>@"]+)@([A-Za-z0-9.-]+)>`), []Kind{Object, Host}, "=<"},
	// Objects in messages of the kubelet and controllers.
	{lazy(`/(?:containerLogs|exec|attach|portForward|stats)/([a-z0-9][a-z0-9-]*)/([a-z0-9][a-z0-9.-]*)(?:/[0-9a-f-]{36})?(?:/([a-z0-9][a-z0-9.-]*))?`), []Kind{Namespace, Pod, Container}, "/containerLogs/|/exec/|/attach/|/portForward/|/stats/"},
	{lazy(`\breserve (?:container|sandbox) name (?:` + q + `)?([A-Za-z0-9.-]+)_([a-z0-9][a-z0-9.-]*)_([a-z0-9][a-z0-9-]*)_`), []Kind{Container, Pod, Namespace}, "reserve "},
	{lazy(`\bpod ([a-z0-9][a-z0-9-]*)_([a-z0-9][a-z0-9.-]*) (?:to|from) CNI network`), []Kind{Namespace, Pod}, "CNI network"},
	{lazy(`\bassigned ` + object + ` to ` + host), []Kind{Namespace, Pod, Node}, "assigned "},
	{lazy(`\b[Nn]ode ` + host + ` (?:status is now|hasn't been updated)`), []Kind{Node}, "status is now|been updated"},
	{lazy(`\bnodes\\*"?[=:]\s?\\*"([A-Za-z][A-Za-z0-9.-]*)`), []Kind{Node}, "nodes"},
	{lazy(`\bnamespace ` + label + ` is being terminated`), []Kind{Namespace}, "is being terminated"},
	{lazy(`\bserviceaccount:([a-z0-9][a-z0-9-]*):([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)`), []Kind{Namespace, Object}, "serviceaccount:"},
	{lazy(`\bTaskExit event .* namespace ` + label), []Kind{Namespace}, "TaskExit"},
	{lazy(`\bcouldn't find key ([^\s"'\\]+) in Secret ` + object), []Kind{Object, Namespace, Object}, "in Secret"},
	{lazy(`\bVolumeMount\{Name:([^\s,{}]+),.*?MountPath:/?([^\s,{}/]+)[^,]*,(?:SubPath:([^\s,{}/]+))?`), []Kind{Volume, Path, Path}, "VolumeMount{"},
	{lazy(`\bControlled By:\s+[A-Za-z]+/` + label), []Kind{Object}, "Controlled By"},
	{lazy(`\bContainer ` + label + ` was using `), []Kind{Container}, "was using"},
	{lazy(`\brestarting failed container ` + label + ` in pod `), []Kind{Container}, " in pod "},
	{lazy(`\breplica set ` + label + ` to \d`), []Kind{Object}, "replica set "},
	{lazy(`\balready used by pod\(s\) ` + label + `(?:, ` + label + `)?`), []Kind{Pod, Pod}, "used by "},
	{lazy(`(?:^|\n|\\n)\s*(?:SecretName|ClaimName|VolumeName|ConfigMapName):\s+` + label + `\s*(?:$|\n|\\)`), []Kind{Object}, "Name:"},
	// Tools that name what they work on.
	{lazy(`(?m)^\s*-?\s*(?:current-context|cluster|context|user): ([^\s"'{}]+)\s*$`), []Kind{Object}, "ontext:|cluster:|user:"},
	// A kubeconfig on one line.
	{lazy(`[{,\s"](?:current-context|cluster|context|user|name)\\*"?\s?:\s?\\*"?([A-Za-z0-9][A-Za-z0-9._@:/-]*[A-Za-z0-9])`), []Kind{Object}, "current-context|contexts:|contexts\""},
	{lazy(`[{,\s"]namespace\\*"?\s?:\s?\\*"?` + label), []Kind{Namespace}, "current-context|contexts:|contexts\""},
	{lazy(`\blogin\b[^;|&]{0,80}? (?:-u|--user(?:name)?)[ =]\\*["']?([A-Za-z0-9_][A-Za-z0-9._@-]*)`), []Kind{Object}, "login"},
	{lazy(`\[([a-z0-9][a-z0-9-]*)/([a-z0-9][a-z0-9.-]*) (?:[0-9a-f]{4,64}\]|[0-9a-f]{8,64} )`), []Kind{Namespace, Pod}, "["},
	{lazy(`\bpod ([a-z0-9][a-z0-9.-]*[a-z0-9]) (?:in (?:the )?namespace|not found)`), []Kind{Pod}, "pod "},
	{lazy(`\([0-9a-fA-F-]{8,36}\):([a-z0-9][a-z0-9.-]*)`), []Kind{Container}, "):"},
	{lazy(`non-existent (?:config|secret) key: ([^\s"'\\]+)`), []Kind{Object}, "non-existent"},
	{lazy(`\bexec: ` + q + `([^\s"'\\]+)` + q + `: executable file not found`), []Kind{Object}, "exec: "},
	{lazy(`\b(?:Runtime|Priority|Storage|Ingress)Class ` + q + label + q), []Kind{Object}, "Class "},
	{lazy(`\b(?:Runtime|Priority|Storage|Ingress)Class with (?:the )?name:? ` + label), []Kind{Object}, "Class with"},
	{lazy(`\b(?:Runtime|Priority|Storage|Ingress)Class:? ` + label + ` (?:not|was|is|does|has|cannot|could|will|in) `), []Kind{Object}, "Class"},
	{lazy(`\bPriorityClass ([a-z0-9][a-z0-9-]*-[a-z0-9-]*[a-z0-9]|[a-z]*[0-9][a-z0-9]*)`), []Kind{Object}, "PriorityClass "},
	{lazy(`\b(?:[Dd]eployment|[Dd]aemon[Ss]et|[Ss]tateful[Ss]et|[Rr]eplica[Ss]et)(?:\.apps)?/` + label), []Kind{Object}, "eployment|et/|et.apps/"},
	{lazy(`\b(?:job|cronjob)\.batch/` + label), []Kind{Object}, ".batch/"},
	{lazy(`\bpod/` + label + ` (?:created|deleted|evicted|configured|patched|unchanged|condition)`), []Kind{Pod}, "pod/"},
	{lazy(`\bhelm release ` + label), []Kind{Object}, "helm release "},
}

// attribute matches a label, taint or annotation with its value: example.com/team=a.
var attribute = lazy(`([A-Za-z0-9][A-Za-z0-9.-]*\.[a-z]+)/[A-Za-z0-9._-]+\\*"?(?:=|\s?:\s?|" value )\\*"?([A-Za-z0-9][A-Za-z0-9._-]*)`)

// property matches a system property of a Java program whose value may be a name: -Dteam=a.
var property = lazy(`\B-D([A-Za-z][A-Za-z0-9._-]*)=\\*["']?([A-Za-z0-9_][A-Za-z0-9._-]*)(?:[\s"'\\,;)\]}]|$)`)

// properties appends the values of system properties, except those of Java itself and plain
// settings.
func properties(out []span, s string, has *pairs) []span {
	if !strings.Contains(s, "-D") {
		return out
	}
	for _, m := range property().FindAllStringSubmatchIndex(s, -1) {
		family, _, _ := strings.Cut(s[m[2]:m[3]], ".")
		switch value := s[m[4]:m[5]]; {
		case family == "java", family == "sun", family == "jdk", family == "file", value == "true", value == "false", !strings.ContainsFunc(value, unicode.IsLetter):
			continue
		}
		out = append(out, span{from: m[4], to: m[5], kind: Object})
	}
	return out
}

// attributes appends the values of labels and annotations, except those of Kubernetes itself, which
// are the same in every cluster.
func attributes(out []span, s string, has *pairs) []span {
	if !hasDomain(s) {
		return out
	}
	for _, m := range attribute().FindAllStringSubmatchIndex(s, -1) {
		if domain := s[m[2]:m[3]]; strings.HasSuffix(domain, "kubernetes.io") || strings.HasSuffix(domain, "k8s.io") {
			continue
		}
		out = append(out, span{from: m[4], to: m[5], kind: Object})
	}
	return out
}

// hasDomain reports whether a slash follows the last label of a domain name.
func hasDomain(s string) bool {
	for at := 0; ; at++ {
		i := strings.IndexByte(s[at:], '/')
		if at += i; i < 0 {
			return false
		}
		k := at
		for k > 0 && s[k-1] >= 'a' && s[k-1] <= 'z' {
			k--
		}
		if k > 1 && k < at && s[k-1] == '.' && isNameByte(s[k-2]) {
			return true
		}
	}
}
