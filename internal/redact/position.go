package redact

import (
	"cmp"
	"hash/maphash"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// lazy returns a regular expression that is compiled when first used: most runs do not redact.
// Every expression must be listed in TestExpressions.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// span is a piece of text that is a name because of its position.
type span struct {
	from, to int
	kind     Kind
	taken    taken
}

// taken says which texts in a position are taken for names.
type taken int

const (
	sure  taken = iota // any
	prose              // those that messages do not have there; see usual
	odd                // those that are not of words of the reports; see familiar
)

// of reports whether a text in the position is a name.
func (t taken) of(text string) bool {
	return t == sure || t == prose && !usual(text) || t == odd && !familiar(text)
}

// shape is a pattern that reveals names: group i of the expression is a name of kind kinds[i-1], or
// none if that is "".
type shape struct {
	re    func() *regexp.Regexp
	kinds []Kind
	hint  string // literals separated by bars, one of which every match contains
}

// Parts of expressions.
const (
	q     = "\\\\*[\"'`]" // a quotation mark, possibly escaped
	host  = `([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)`
	ref   = `([A-Za-z0-9][A-Za-z0-9._/@:-]*[A-Za-z0-9])`
	label = `([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)`
)

// shapes are tried in this order, which matters because a name keeps the kind it is learned with
// first; see learn.
var shapes = []shape{
	// Pods.
	{lazy(`\b([a-z0-9][a-z0-9.-]*)_([a-z0-9][a-z0-9-]*)\(([0-9a-fA-F-]{8,36})\)`), []Kind{Pod, Namespace, UID}, "("},
	{lazy(`(?:pod|Pod|pods|objectName|pod_ref)"?[=:]\s*\\?"?\[?\\?"?([a-z0-9][a-z0-9-]*)/([a-z0-9][a-z0-9.-]*)`), []Kind{Namespace, Pod}, `od=|od:|od"=|od":|ods=|ods:|ods"=|ods":|objectName|pod_ref`},
	{lazy(q + `([a-z0-9][a-z0-9-]{0,62})/([a-z0-9][a-z0-9.-]{0,252})` + q), []Kind{Namespace, Pod}, aPair},
	{lazy(`[Nn]amespace:(?:\s?` + q + `)?([a-z0-9][a-z0-9-]*)`), []Kind{Namespace}, "amespace:"},
	{lazy(`(?m)^\s*Namespace:\s+([a-z0-9][a-z0-9-]*)\s*$`), []Kind{Namespace}, "Namespace:"},
	{lazy(`PodSandboxMetadata\{Name:([a-z0-9][a-z0-9.-]*)`), []Kind{Pod}, "ame:"},
	{lazy(`\bNamespace:(?:` + q + `)?` + label + `(?:` + q + `)?,? ?Name:(?:` + q + `)?` + label), []Kind{Namespace, Pod}, "Name:"},
	{lazy(`\{Name:(?:` + q + `)?` + label + `(?:` + q + `)?, ?(?:GenerateName:[^,]*,)?Namespace:(?:` + q + `)?` + label + `?`), []Kind{Pod, Namespace}, "{Name:"},
	{lazy(`\bname:` + q + `([a-z0-9][a-z0-9.-]*)`), []Kind{Pod}, "ame:"},
	{lazy(`ContainerMetadata\{Name:([a-z0-9][a-z0-9.-]*)`), []Kind{Container}, "ame:"},
	{lazy(`\bk8s_([A-Za-z0-9.-]+)_([a-z0-9][a-z0-9.-]*)_([a-z0-9][a-z0-9-]*)_[0-9a-f-]{8,}`), []Kind{Container, Pod, Namespace}, "k8s_"},
	{lazy(`/pods/([a-z0-9][a-z0-9-]*)_([a-z0-9][a-z0-9.-]*)_[0-9a-f-]{8,36}(?:/([a-z0-9][a-z0-9.-]*))?`), []Kind{Namespace, Pod, Container}, "/pods/"},
	{lazy(`/containers/([a-z0-9][a-z0-9.-]*)_([a-z0-9][a-z0-9-]*)_([a-z0-9][a-z0-9.-]*)-[0-9a-f]{64}`), []Kind{Pod, Namespace, Container}, "/containers/"},
	{lazy(`\bnamespaces/([a-z0-9][a-z0-9-]*)/(?:pods|events)/([a-z0-9][a-z0-9.-]*)`), []Kind{Namespace, Pod}, "namespaces/"},
	{lazy(`\bnamespaces/([a-z0-9][a-z0-9-]*)/[a-z]+/([a-z0-9][a-z0-9.-]*)`), []Kind{Namespace, Object}, "namespaces/"},
	{lazy(`/apis?/[^\s"']*namespaces/([a-z0-9][a-z0-9-]*)`), []Kind{Namespace}, "namespaces/"},
	{lazy(`(?:container:? (?:[0-9a-f]{8,}: )?|sandbox:? (?:[0-9a-f]{8,}:? )?(?:with infra container: )?|description=)([a-z0-9][a-z0-9-]*)/([a-z0-9][a-z0-9.-]*)/([A-Za-z0-9][A-Za-z0-9.-]*)`), []Kind{Namespace, Pod, Container}, "container|sandbox|description="},
	{lazy(`(?:Container|Sandbox)\\*" for \\*"([a-z0-9][a-z0-9.-]*)\\*"`), []Kind{Container}, " for "},
	{lazy(`\bin (?:the )?namespace:? (?:` + q + `)?([a-z0-9][a-z0-9-]*[a-z0-9])`), []Kind{Namespace}, "namespace"},
	{lazy(`\bpods? ` + q + label + q), []Kind{Pod}, "od \"|od '|od \\|od `|ods \"|ods '|ods \\|ods `"},
	{lazy(`object[ -]` + q + label + q + `/` + q + label + q), []Kind{Namespace, Object}, "object"},
	{lazy(`\b(?:secret|configmap|serviceaccount|lease|deployment|daemonset|statefulset|replicaset|job|cronjob|service|endpoint|endpointslice)s?(?:\.[a-z0-9.]+)? ` + q + label + q), []Kind{Object}, "secret|configmap|serviceaccount|lease|deployment|daemonset|statefulset|replicaset|job|service|endpoint"},
	{lazy(`\b(?:persistentvolume(?:claim)?s?|pvc?|PVC?) ` + q + label + q), []Kind{Volume}, "persistentvolume|pv|PV"},
	{lazy(`system:serviceaccount:([a-z0-9][a-z0-9-]*):([a-z0-9][a-z0-9.-]*[a-z0-9])`), []Kind{Namespace, Object}, "system:serviceaccount:"},
	{lazy(`"name"\s?:\s?"` + label + `"\s?,\s?"namespace"\s?:\s?"` + label + `"`), []Kind{Pod, Namespace}, `"namespace"`},
	{lazy(`"namespace"\s?:\s?"` + label + `"\s?,\s?"name"\s?:\s?"` + label + `"`), []Kind{Namespace, Pod}, `"namespace"`},
	{lazy(`ObjectReference\{Kind:` + q + `[A-Za-z]+` + q + `, Namespace:` + q + label + q + `, Name:` + q + label + q), []Kind{Namespace, Pod}, "ObjectReference"},
	{lazy(`ObjectReference\{Kind:` + q + `Node` + q + `, Namespace:(?:` + q + `){2}, Name:` + q + host + q + `(?:, UID:` + q + host + q + `)?`), []Kind{Node, Node}, "ObjectReference"},
	{lazy(`\bspec\.(?:c|initC|ephemeralC)ontainers\{` + label + `\}`), []Kind{Container}, "ontainers{"},
	{lazy(`/pods/[^/\s"']+/containers/([A-Za-z0-9][A-Za-z0-9._-]*)`), []Kind{Container}, "/containers/"},
	// Nodes. A colon alone is prose ("the node: PLEG unhealthy"), unless what follows cannot be a
	// word.
	{lazy(`\b(?:node|nodeName|kubernetes\.io/hostname|hostname-override|[Hh]ostname|Host):? ?([a-z][a-z0-9.-]*[0-9][a-z0-9.-]*)`), []Kind{Node}, "ode|ostname|Host"},
	{lazy(`\b(?:[Nn]odes?|for node) (?:` + q + `)([A-Za-z0-9][A-Za-z0-9.-]*)`), []Kind{Node}, "ode"},
	{lazy(`\b(?:[Nn]ode|for node) ([A-Za-z0-9][A-Za-z0-9-]*[.-][A-Za-z0-9.-]+)`), []Kind{Node}, "ode "},
	{lazy(`system:node:` + host), []Kind{Node}, "system:node:"},
	{lazy(`/resourceGroups/([^/\s"'\\]+)/.*?/virtualMachine(?:ScaleSet)?s/([^/\s"'\\,;:)]+)`), []Kind{Object, Node}, "/resourceGroups/"},
	{lazy(`gce://([a-z0-9-]+)/[a-z0-9-]+/([a-z0-9-]+)`), []Kind{Host, Node}, "gce://"},
	{lazy(`/api/v1/nodes/` + host), []Kind{Node}, "/api/v1/nodes/"},
	{lazy(`\b(gke-[a-z0-9-]+-[0-9a-f]{8}-[a-z0-9]{4})\b`), []Kind{Node}, "gke-"}, // of cluster and pool
	{lazy(`leases?/([a-z0-9][a-z0-9.-]*[.-][a-z0-9.-]*[a-z0-9])`), []Kind{Node}, "lease"},
	// Images.
	{lazy(`\b[Ii]mages?:? (?:` + q + `)` + ref), []Kind{Image}, "mage"},
	{lazy(`\b(?:[Ii]mage|[Rr]eference|[Pp]ull(?:ing|ed)?|PullImage|ImageStatus)(?: for| of| from)?:? (?:` + q + `)?([A-Za-z0-9][A-Za-z0-9._-]*[/:][A-Za-z0-9._/@:-]*[A-Za-z0-9])`), []Kind{Image}, "mage|eference|ull"},
	{lazy(`(?:[Rr]epoTags|[Rr]epoDigests|[Nn]ames)` + `\\?"?\s?[:=]\s?\[\s*(?:` + q + `)?` + ref), []Kind{Image}, "epoTags|epoDigests|ames"},
	// Volumes.
	{lazy(`\bvolume(?:Name|Spec\.Name)?"?\s*[=:( ]\s*` + q + `([A-Za-z0-9][A-Za-z0-9._-]*)`), []Kind{Volume}, "olume"},
	{lazy(`\b(pvc-[0-9a-f-]{8,})`), []Kind{Volume}, "pvc-"},
	{lazy(`kubernetes\.io~[a-z-]+/([A-Za-z0-9][A-Za-z0-9._-]*)`), []Kind{Volume}, "kubernetes.io~"},
	{lazy(`kubernetes\.io\\+x7e[a-z]+(?:\\+x2d[a-z]+)*-((?:[A-Za-z0-9._-]|\\+x2d)+?)(?:\.mount\b|[\s"':,;]|$)`), []Kind{Volume}, "x7e"},
	{lazy(`/plugins/kubernetes\.io/(?:csi/pv|[a-z-]+/mounts)/([A-Za-z0-9][A-Za-z0-9._-]*)`), []Kind{Volume}, "/plugins/"},
	{lazy(`\b((?:eui|naa)\.[0-9A-Fa-f]{16,32})\b`), []Kind{Volume}, "eui.|naa."},
	{lazy(`(?:\b|_)(?:[Ww][Ww][Pp]?[Nn]?[Nn]|naa|NAA)[ .:=-]{1,2}((?:0x)?[0-9A-Fa-f]{16}(?:[0-9A-Fa-f]{16})?)\b`), []Kind{Volume}, "wwn|WWN|wwpn|WWPN|naa|NAA"},
	{lazy(`\b(iqn\.\d{4}-\d\d\.[A-Za-z0-9.:-]+)`), []Kind{Volume}, "iqn."},
	// Hosts.
	{lazy(`\b[Ss]erver:? (?:` + q + `)?` + host + `(?:` + q + `)?(?::\S* | )(?:not responding|not answering|with error|error:|OK|unreachable|timed out|is not|has not|not found|connection|died|down)`), []Kind{Host}, "erver"},
	{lazy(`(?:^|[^:\w/])//([A-Za-z0-9][A-Za-z0-9._-]*)/([A-Za-z0-9$][A-Za-z0-9._$-]*)`), []Kind{Host, Volume}, "//"},
	{lazy(`\\\\+([A-Za-z0-9][A-Za-z0-9._-]*)\\+([A-Za-z0-9][A-Za-z0-9._$-]*)`), []Kind{Host, Volume}, `\\`},
	{lazy(`\bVFS:(?: [A-Z_]+:)? \\\\+` + host), []Kind{Host}, "VFS: "},
	{lazy(`(?:^|[\s"'=(\[])([A-Za-z0-9][A-Za-z0-9.-]*[A-Za-z0-9]):/(?:[A-Za-z0-9._-]+/)*([A-Za-z0-9._-]*)(?:[^/A-Za-z0-9._-]|$)`), []Kind{Host, Volume}, ":/"},
	{lazy(`\b[a-z][a-z0-9+.-]*://(?:[^/\s"'@]*@)?` + host + `(?::\d+)?(?:,` + host + `)?(?::\d+)?(?:,` + host + `)?`), []Kind{Host, Host, Host}, "://"},
	{lazy(`@tcp\(` + host + `(?::\d+)?\)/([A-Za-z0-9_-]*)`), []Kind{Host, Object}, "@tcp("},
	{lazy(`\b(?:tcp|udp)[46]? ` + host + `:\d+`), []Kind{Host}, "tcp|udp"},
	{lazy(`\blookup ` + host + `(?::| on )`), []Kind{Host}, "lookup "},
	{lazy(`\b(?:to|from|at|with|join|host|peer|registry|mirror|proxy|address|node|dial) (?:` + q + `)?((?:[0-9][0-9.-]*)?[A-Za-z][A-Za-z0-9.-]*[A-Za-z0-9]):\d{2,5}\b`), []Kind{Host}, aPort}, // of digits alone it is a time
}

// places are surroundings in which an ordinary word is a name, but that would match too much to
// learn names from: the host before a line, the node before a sentence.
var places = []shape{
	{lazy(`^(?:[A-Z][a-z]{2} [ \d]\d [\d:.]+|\d{4}-\d\d-\d\d[T ][\d:.,+Z-]+) ([A-Za-z0-9][A-Za-z0-9.-]*) `), []Kind{Node}, " "},
	{lazy(`^([A-Za-z0-9][A-Za-z0-9.-]*): `), []Kind{Node}, ": "},
	{lazy(`_HOSTNAME"?\s*[=:]\s*"?([A-Za-z0-9][A-Za-z0-9.-]*)`), []Kind{Node}, "_HOSTNAME"},
	{lazy(`/nodes/([A-Za-z0-9][A-Za-z0-9.-]*)`), []Kind{Node}, "/nodes/"},
	{lazy(`/namespaces/([a-z0-9][a-z0-9-]*)(?:/pods/([a-z0-9][a-z0-9.-]*))?`), []Kind{Namespace, Pod}, "/namespaces/"},
	{lazy(`(?:^|[\s"'(=\[])nodes?/([A-Za-z0-9][A-Za-z0-9.-]*)`), []Kind{Node}, "node/|nodes/"},
	{lazy(`(?:^|[\s"'(=\[])(?:deployment|daemonset|statefulset|replicaset|job|service|configmap|secret|serviceaccount)s?(?:\.[a-z0-9.]+)?/([a-z0-9][a-z0-9.-]*)`), []Kind{Object}, "deployment|daemonset|statefulset|replicaset|job|service|configmap|secret"},
	{lazy(`\bHost(?:name)?: +([A-Za-z0-9][A-Za-z0-9.-]*)(?:[\s,;"']|$)`), []Kind{Node}, "Host"},
	{lazy(`\bdial \w+: lookup ([A-Za-z0-9][A-Za-z0-9.-]*)`), []Kind{Host}, "lookup "},
	{lazy(`[A-Za-z0-9]@([A-Za-z0-9][A-Za-z0-9-]*)(?:[\s"',;:)\]]|$)`), []Kind{Host}, "@"},
}

// goField matches KEY:value as printed by Go.
var goField = lazy(`\b([A-Za-z][A-Za-z0-9./]*):([A-Za-z0-9][A-Za-z0-9._-]*)`)

// keys maps metric labels, keys of log lines and attributes to the kind of their values. Keys are
// lowercase without separators.
var keys = map[string]Kind{
	"pod": Pod, "podname": Pod, "k8spodname": Pod, "exportedpod": Pod, "kubernetespodname": Pod, "iokubernetespodname": Pod, "podref": Pod, "pods": Pod, "podfullname": Pod, "relatedpod": Pod,
	"namespace": Namespace, "podnamespace": Namespace, "exportednamespace": Namespace, "kubernetesnamespace": Namespace, "kubernetesnamespacename": Namespace,
	"iokubernetespodnamespace": Namespace, "podns": Namespace, "namespacename": Namespace, "ns": Namespace,
	"node": Node, "nodename": Node, "hostname": Node, "host": Node, "kubernetesnode": Node, "kubernetesiohostname": Node, "hostnameoverride": Node, "instance": Node,
	"exportednode": Node, "exportedinstance": Node, "fqdn": Node, "machinename": Node, "computer": Node, "staticname": Node, "statichostname": Node,
	"nodenames": Node, "targetnode": Node, "providerid": Node,
	"container": Container, "containername": Container, "iokubernetescontainername": Container, "exportedcontainer": Container, "ctrname": Container,
	"image": Image, "imagename": Image, "imageref": Image, "imagespec": Image, "imageid": Image, "sandboximage": Image, "podinfracontainerimage": Image, "pauseimage": Image, "rootfsimagename": Image, "fromimage": Image,
	"iokubernetescrioimagename": Image, "iokubernetescriosandboximage": Image, "imageuri": Image, "repotags": Image, "repodigests": Image,
	"volume": Volume, "volumename": Volume, "volumespecname": Volume, "outervolumespecname": Volume, "innervolumespecname": Volume, "persistentvolume": Volume,
	"persistentvolumeclaim": Volume, "pvc": Volume, "pvcname": Volume, "claim": Volume, "claimname": Volume, "volumehandle": Volume, "mdsnamespace": Volume, "export": Volume, "share": Volume,
	"uid": UID, "poduid": UID, "iokubernetespoduid": UID,
	"server": Host, "srv": Host, "registry": Host, "peer": Host, "upstream": Host, "addr": Host, "address": Host, "servername": Host, "remote": Host, "nfsserver": Host, "mirror": Host, "domain": Host, "endpoint": Host, "url": Host,
	"serviceaccount": Object, "configmap": Object, "deployment": Object, "daemonset": Object, "statefulset": Object, "replicaset": Object, "ownername": Object, "cluster": Object, "clustername": Object, "job_name": Object,
	"user": Object, "username": Object, "tenant": Object, "customer": Object, "serveraddress": Host, "database": Object, "dbname": Object, "project": Object, "projectid": Object, "priorityclassname": Object, "storageclassname": Object, "runtimeclassname": Object, "ingressclassname": Object,
	"mac": MAC, "hwaddr": MAC, "hwaddress": MAC, "macaddr": MAC, "macaddress": MAC, "ether": MAC, "lladdr": MAC, "hardwareaddr": MAC,
	"ip": IP, "ipaddr": IP, "ipaddress": IP, "ipv4": IP, "nodeip": IP, "podip": IP, "hostip": IP, "clientip": IP, "sourceip": IP, "srcip": IP, "dstip": IP, "remoteip": IP, "serverip": IP,
	"clusterdomain": Host, "login": Object, "dom": Host,
	"acct": Object, "logname": Object, "sudouser": Object, "serviceaccountname": Object, "secretname": Object, "configmapname": Object, "subdomain": Host, "domainname": Host, "localhostname": Node,
	"instanceid": Node, "storageclass": Object, "owner": Object, "ownedby": Object, "team": Object, "ruser": Object, "rhost": Host, "createdbyname": Object, "service": Object, "workload": Object, "exportedservice": Object,
}

// lists matches KEY=[a b] and KEY: ["a","b"].
var lists = lazy(`\b(unready status|incomplete status|unknown status|pods|volumes|images|nodes|containers|namespaces|repoTags|repoDigests|RepoTags|RepoDigests)\\*"?\s?[=:]\s?\\*"?\[([^\]]+)\]`)

// listKinds are the kinds of elements of lists.
var listKinds = map[string]Kind{"pods": Pod, "volumes": Volume, "images": Image, "nodes": Node, "containers": Container, "namespaces": Namespace,
	"unready status": Container, "incomplete status": Container, "unknown status": Container,
	"repoTags": Image, "repoDigests": Image, "RepoTags": Image, "RepoDigests": Image}

// listed appends the elements of lists.
func listed(out []span, s string, has *pairs) []span {
	if !hinted(s, has, "=[|:[|= [|: [|\"[") {
		return out
	}
	for _, m := range lists().FindAllStringSubmatchIndex(s, -1) {
		k := listKinds[s[m[2]:m[3]]]
		for at := m[4]; at < m[5]; {
			if strings.IndexByte(edges, s[at]) >= 0 {
				at++
				continue
			}
			end := at
			for end < m[5] && strings.IndexByte(" ,\"'\\", s[end]) < 0 {
				end++
			}
			if ns := strings.IndexByte(s[at:end], '/'); k == Pod && ns > 0 {
				out = append(out, span{from: at, to: at + ns, kind: Namespace})
				at += ns + 1
			}
			out = append(out, span{from: at, to: end, kind: k})
			at = end + 1
		}
	}
	return out
}

// certified appends the hosts that a certificate is valid for, and the one it is not.
func certified(out []span, s string, has *pairs) []span {
	const before = "certificate is valid for "
	for at := 0; ; {
		i := strings.Index(s[at:], before)
		if i < 0 {
			return out
		}
		at += i + len(before)
		for more := true; more; {
			wanted, is := strings.CutPrefix(s[at:], "not ")
			from := len(s) - len(strings.TrimPrefix(wanted, "*."))
			at = run(s, from, "._:-")
			name := strings.TrimRight(s[from:at], ".:")
			out = append(out, span{from: from, to: from + len(name), kind: Host})
			if more = !is && strings.HasPrefix(s[at:], ", "); more {
				at += len(", ")
			}
		}
	}
}

// keyKind returns the kind of the values of a key, "" if unknown.
func keyKind(key string) Kind {
	return keys[strings.Map(func(c rune) rune {
		switch {
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		case c == '_' || c == '.' || c == '-' || c == '/':
			return -1
		}
		return c
	}, key)]
}

// value returns the part of a value that is a name of kind k.
func value(k Kind, v string) (from, to int) {
	to = len(v)
	switch k {
	case Node, Host:
		if i := strings.Index(v, "://"); i >= 0 {
			if strings.HasPrefix(v, "unix") || strings.HasPrefix(v, "npipe") || strings.HasPrefix(v, "file") {
				return 0, 0
			}
			if from = i + len("://"); strings.HasPrefix(v[from:], "/") { // aws:///zone/instance
				return strings.LastIndexByte(v, '/') + 1, to
			}
			to = from + run(v[from:], 0, ".-_")
			return from, to
		}
		if strings.ContainsAny(v, "/ ") || strings.Count(v, ":") > 1 {
			return 0, 0
		}
		if i := strings.IndexByte(v, ':'); i >= 0 {
			to = i // without the port
		}
	case Image:
		v = strings.TrimLeft(v, "[")
		if allHex(v) || strings.HasPrefix(v, "sha256:") {
			return 0, 0
		}
	case UID:
		if len(v) < 8 || strings.IndexByte(v, '(') >= 0 { // uid=1000(name)
			return 0, 0
		}
	case MAC: // without separators; others are recognized by their form
		if len(v) != 12 || !allHex(v) {
			return 0, 0
		}
	case IP: // as one number
		if len(v) < 8 || len(v) > 10 || digitsEnd(v, 0) != len(v) {
			return 0, 0
		}
	default:
		if strings.ContainsAny(v, "/ :(") {
			return 0, 0
		}
	}
	return from, to
}

// positions returns the names in s that are revealed by their surroundings, in the order in which
// they are to be learned.
func positions(s string, has *pairs) []span {
	var out []span
	for _, list := range [][]shape{shapes, elsewhere} {
		for _, sh := range list {
			out = sh.spans(out, s, has, sure)
		}
	}
	for _, sh := range sentences {
		out = sh.spans(out, s, has, prose)
	}
	for _, more := range []func([]span, string, *pairs) []span{listed, certified, attributes, properties, paths, addressed, options, labels, samples, references, accounts, processes} {
		out = more(out, s, has)
	}
	for a := range assignments(s) {
		key := s[a.key:a.keyEnd]
		k := keyKind(key)
		taken := sure
		if i := strings.LastIndexAny(key, "-_."); k == "" && i >= 0 {
			k, taken = keyKind(key[i+1:]), prose // --docker-username
		}
		if k == "" {
			continue
		}
		if from, to := value(k, s[a.from:a.to]); to > from {
			out = append(out, span{a.from + from, a.from + to, k, taken})
		}
	}
	if strings.Contains(s, "{") || strings.Contains(s, "map[") {
		for _, m := range goField().FindAllStringSubmatchIndex(s, -1) {
			k := keyKind(s[m[2]:m[3]])
			if k == "" && chosen[s[m[2]:m[3]]] {
				k = Object
			}
			if k != "" {
				taken := prose
				if m[1] < len(s) && s[m[1]] == ':' {
					taken = odd // the name of a recording rule
				} else if strings.HasPrefix(s[m[2]:m[3]], "io.kubernetes.") {
					taken = sure // a label
				}
				if a, b := value(k, s[m[4]:m[5]]); b > a {
					out = append(out, span{m[4] + a, m[4] + b, k, taken})
				}
			}
		}
	}
	return slices.DeleteFunc(out, func(x span) bool { return x.to <= x.from })
}

// assignment is the position of a key and its value.
type assignment struct{ key, keyEnd, from, to int }

// assignments yields KEY="value", KEY: "value" as in JSON and klog lines, both with single quotes
// too, as Python and YAML write them, and KEY=value, also within quoted values.
func assignments(s string) iter.Seq[assignment] {
	return func(yield func(assignment) bool) {
		for at, i := 0, 0; i < len(s); i++ {
			if s[i] != '=' && s[i] != ':' {
				continue
			}
			a := assignment{keyEnd: i}
			blank := i > at && isBlank(s[i-1])
			if blank {
				a.keyEnd--
			}
			if a.keyEnd > at && (s[a.keyEnd-1] == '"' || s[a.keyEnd-1] == '\'') {
				a.keyEnd--
			}
			for a.keyEnd > at && s[a.keyEnd-1] == '\\' {
				a.keyEnd--
			}
			for a.key = a.keyEnd; a.key > at && (isNameByte(s[a.key-1]) || s[a.key-1] == '/'); a.key-- {
			}
			for a.key < a.keyEnd && !isLetter(rune(s[a.key])) {
				a.key++
			}
			if a.key == a.keyEnd {
				continue
			}
			ends, from := `"\`, i+1
			if from < len(s) && isBlank(s[from]) {
				from++
			}
			for from < len(s) && s[from] == '\\' {
				from++
			}
			quoted := from < len(s) && (s[from] == '"' || s[from] == '\'')
			if quoted && s[from] == '\'' {
				ends = `'\`
			}
			if a.from = from + 1; !quoted {
				if a.from, ends = i+1, `"'\,;&)]}`; blank || s[i] == ':' {
					continue
				}
			}
			for a.to = a.from; a.to < len(s) && a.to < a.from+253 && !isBlank(s[a.to]) && strings.IndexByte(ends, s[a.to]) < 0; a.to++ {
			}
			if a.to == a.from || s[a.from] == '-' && !quoted && strings.IndexByte(s[a.from:a.to], '=') > 0 {
				continue // ARGS=--key=value
			}
			if !yield(a) {
				return
			}
			if at = a.from; !quoted {
				at = a.to
			}
			i = at - 1
		}
	}
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' && c != '\v' }

// Hints for what no literal tells. No text contains them.
const (
	aPort = "host:port\x00"       // behind a word, a host with a port; see hasPort
	aPair = "\"namespace/pod\x00" // see hasPair
)

// hasPort reports whether a text contains a host with a port behind another word: name bytes with a
// letter, which a time does not have, a colon and two digits.
func hasPort(s string) bool {
	for at := 0; ; at++ {
		i := strings.IndexByte(s[at:], ':')
		if at += i; i < 0 {
			return false
		}
		if !digitAt(s, at+1) || !digitAt(s, at+2) {
			continue
		}
		k, letter := at-1, false
		for ; k >= 0 && isNameByte(s[k]) && s[k] != '_'; k-- {
			letter = letter || isLetter(rune(s[k]))
		}
		for letter && k >= 0 && (isBlank(s[k]) || s[k] == '\v' || strings.IndexByte("=:\\\"'", s[k]) >= 0) {
			k--
		}
		if letter && k >= 0 && isLetter(rune(s[k])) {
			return true
		}
	}
}

// hasPair reports whether what stands before a slash begins behind a quotation mark.
func hasPair(s string) bool {
	for at := 0; ; at++ {
		i := strings.IndexByte(s[at:], '/')
		if at += i; i < 0 {
			return false
		}
		k := at
		for k > 0 && at-k < labelEnd && (isAlnum(s[k-1]) || s[k-1] == '-') {
			k--
		}
		if k > 0 && k < at && (s[k-1] == '"' || s[k-1] == '\'') {
			return true
		}
	}
}

// hinted reports whether a text contains one of the hints, which are separated by bars.
func hinted(s string, has *pairs, hints string) bool {
	for h := range strings.SplitSeq(hints, "|") {
		switch h {
		case aPort:
			if hasPort(s) {
				return true
			}
		case aPair:
			if hasPair(s) {
				return true
			}
		default:
			if has.all(h) && strings.Contains(s, h) {
				return true
			}
		}
	}
	return false
}

// spans appends the names matched by the shape.
func (sh shape) spans(out []span, s string, has *pairs, taken taken) []span {
	if !hinted(s, has, sh.hint) {
		return out
	}
	for _, m := range sh.re().FindAllStringSubmatchIndex(s, -1) {
		for i, k := range sh.kinds {
			if from, to := m[2*i+2], m[2*i+3]; k != "" && from >= 0 {
				for to > from && s[to-1] == '.' { // of the sentence
					to--
				}
				out = append(out, span{from, to, k, taken})
			}
		}
	}
	return out
}

// Learn learns the names in a text: first by position, then by form, then words that are strange.
func (r *Redactor) Learn(s string) {
	if s == "" {
		return
	}
	key := maphash.String(r.where.seed, s)
	if _, again := r.heard[key]; again {
		return
	}
	if len(r.heard) >= maxHeard {
		clear(r.heard)
	}
	r.heard[key] = struct{}{}
	s = decoded(s)
	f := r.where.find(s)
	for _, p := range f.spans[:f.places] {
		if text := s[p.from:p.to]; p.taken.of(text) {
			r.learnAs(p.kind, text)
		}
	}
	for i := 0; i < len(s); {
		if i += escapeAt(s, i) + breakAt(s, i); i == len(s) || !isAlnum(s[i]) {
			i++
			continue
		}
		j := wordEnd(s, i)
		if f := formAt(s, i, j); f.end > 0 {
			r.learnAs(f.kind, f.text)
			j = max(j, f.end)
		} else if r.strange(s[i:j]) || counted(s, i, j) {
			r.learnStrange(s, i, j)
		}
		i = j
	}
}

// learnAs learns a name and the names derived from it.
func (r *Redactor) learnAs(k Kind, text string) {
	text = strings.Trim(text, edges)
	if strings.Contains(text, "x2d") {
		text = unescaped.Replace(text)
	}
	switch k {
	case Image:
		r.learnImage(text)
	case Node:
		r.learnHostname(text)
	case Host:
		if isIP(text) || len(text) >= 12 && allHex(text) {
			return // found by its form, or a container ID
		}
		if public(text) || isFileName(text) || schemes[strings.ToLower(text)] {
			return
		}
		r.learn(Host, text)
		if short, _, dotted := strings.Cut(text, "."); dotted && strings.ContainsAny(short, "0123456789-") {
			r.learn(Host, short)
		}
	case Namespace, Pod, Container, Volume, Object:
		if isIP(text) || strings.HasSuffix(text, ".go") || public(text) {
			return
		}
		r.learn(k, text)
		if k == Pod {
			r.learnWorkload(text)
		}
	default:
		r.learn(k, text)
	}
}

// unescaped reverts the escaping of systemd unit names.
var unescaped = strings.NewReplacer(`\\x2d`, "-", `\x2d`, "-")

// schemes may precede ":/" but are not hosts.
var schemes = map[string]bool{"http": true, "https": true, "file": true, "unix": true, "npipe": true, "docker": true, "containerd": true, "cri-o": true, "tcp": true, "udp": true, "nfs": true, "aws": true, "gce": true, "azure": true, "overlay": true, "error": true}

func isIP(s string) bool { f := ip4Form(s, 0); return f.end == len(s) && s != "" }

// learnWorkload learns the name of the workload of a pod.
func (r *Redactor) learnWorkload(pod string) {
	if m := replica().FindStringSubmatch(pod); m != nil && !familiar(m[1]) {
		r.learn(Object, m[1])
	}
}

// replica matches the name of a pod of a Deployment.
var replica = lazy(`^(.+)-[bcdf0-9a-z]{5,10}-[bcdfghjklmnpqrstvwxz2456789]{5}$`)

// learnImage learns an image reference with and without its tag, and its registry.
func (r *Redactor) learnImage(text string) {
	text = strings.TrimPrefix(text, "docker-pullable://")
	text = strings.NewReplacer("%2F", "/", "%2f", "/", "%3A", ":", "%3a", ":", "%40", "@").Replace(text)
	if public(text) || allHex(text) || strings.HasPrefix(text, "sha256:") || text == "" {
		return
	}
	end := imageEnd(text, 0)
	text = text[:end]
	bare, _, _ := strings.Cut(text, "@")
	if i := strings.LastIndexByte(bare, ':'); i > strings.LastIndexByte(bare, '/') {
		bare = bare[:i]
	}
	first, path, deep := strings.Cut(bare, "/")
	if !deep && isFileName(bare) {
		return
	}
	r.learn(Image, text)
	r.learn(Image, bare)
	if deep && (isRegistry(first) || strings.Contains(first, ":")) {
		name, _, _ := strings.Cut(first, ":")
		r.learn(Registry, first)
		if !wellKnown[name] {
			r.learn(Registry, name)
		}
		if strings.Contains(path, "/") {
			r.learn(Image, path)
		}
	}
}

// learnHostname learns the name of a node; if that is a domain name, also its first label and the
// domain.
func (r *Redactor) learnHostname(h string) {
	h = strings.Trim(h, edges)
	if isIP(h) || h == "" || public(h) || isFileName(h) {
		return
	}
	r.learn(Node, h)
	if short, domain, ok := strings.Cut(h, "."); ok {
		r.learn(Node, short)
		if strings.Contains(domain, ".") && !public(domain) {
			r.learn(Host, domain)
		}
	}
}

// inContext replaces ordinary words in the position of a name.
func (r *Redactor) inContext(s string) string {
	found := append(slices.Clone(r.where.find(s).spans), r.pairs(s)...)
	slices.SortStableFunc(found, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var b strings.Builder
	last, whole := 0, 0
	for _, f := range found {
		n := r.lookup(s[f.from:f.to])
		if f.from < max(last, whole) || n == nil || n.pseudonym == "" || !f.taken.of(s[f.from:f.to]) {
			continue
		}
		if !n.plain { // is replaced later, wherever it occurs, for which it must be whole
			whole = f.to
			continue
		}
		r.shown.use(n)
		b.WriteString(s[last:f.from])
		b.WriteString(n.pseudonym)
		last = f.to
	}
	if last == 0 {
		return s // not a copy, of which a report would hold very many
	}
	return b.String() + s[last:]
}

// pairs returns the names in ns/pod where both are known names, even without other hints.
func (r *Redactor) pairs(s string) []span {
	var out []span
	for last := 0; ; {
		n := strings.IndexByte(s[last:], '/')
		if n < 0 {
			return out
		}
		slash := last + n
		from, to := slash, run(s, slash+1, ".-")
		for from > last && (isAlnum(s[from-1]) && s[from-1] < 0x80 || s[from-1] == '-') {
			from--
		}
		last = slash + 1
		if ns := r.lookup(s[from:slash]); ns == nil || ns.kind != Namespace {
			continue
		}
		if pod := r.lookup(s[slash+1 : to]); pod != nil && (pod.kind == Pod || pod.kind == Container) {
			out = append(out, span{from: from, to: slash, kind: Namespace}, span{from: slash + 1, to: to, kind: Pod})
			last = to
		}
	}
}
