package redact

import (
	"slices"
	"strings"
)

// object matches a namespace and a name in it.
const object = `([a-z0-9][a-z0-9-]*)/([a-z0-9][a-z0-9.-]*[a-z0-9])`

// alone matches what follows a value that is the whole of a field.
const alone = `(?:$|[,;)\]}"'\\\n]|\s+[A-Za-z][A-Za-z_-]*[:=])`

// sentences are shapes of prose with the position of a name. Words that stand there in messages are
// not names.
var sentences = []shape{
	// Images.
	{lazy(`(?:access denied for|layers from manifest of|manifest for|signatures for|signature of|pulling image|[Tt]rying to pull|with image) (?:` + q + `)?` + ref), []Kind{Image}, "denied|manifest |image|signature|to pull"},
	{lazy(`\b(?:docker|oci|docker-pullable)://` + ref), []Kind{Image}, "://"},
	{lazy(`(?:PullImage|reference|ImageSpec\{Image:|Image:) ?(?:` + q + `)?([A-Za-z0-9][A-Za-z0-9._/@:-]*[A-Za-z0-9])[,"'\\} ]`), []Kind{Image}, "PullImage|reference|Image:"},
	{lazy(`\brepository ` + ref + ` not found`), []Kind{Image}, "repository "},
	// Hosts.
	{lazy(`\b(?:lockd: cannot monitor|Unable to determine destination address:) ` + host), []Kind{Host}, "cannot monitor|destination address"},
	{lazy(`\b[Cc]onnect to ` + host + ` port \d`), []Kind{Host}, "onnect to "},
	// Fields: behind a name in camel case stands a value; behind a word, if it is alone.
	{lazy(`\b(?:nodeName|node_name|hostname|hostName|host_name)s?: ` + host), []Kind{Node}, "ame: "},
	{lazy(`\b(?:podName|pod_name): ` + label), []Kind{Pod}, "ame: "},
	{lazy(`\b(?:clusterName|cluster_name|cluster-name): ` + host), []Kind{Object}, "ame: "},
	{lazy(`\b(?:containerName|container_name): ` + label), []Kind{Container}, "ame: "},
	{lazy(`\b(?:[Nn]ode|[Hh]ost): ` + host + alone), []Kind{Node}, "ode: |ost: "},
	{lazy(`\b[Pp]od: ` + label + alone), []Kind{Pod}, "od: "},
	{lazy(`\b[Nn]amespace: ` + label + alone), []Kind{Namespace}, "amespace: "},
	{lazy(`\b[Ii]mage: ` + ref + alone), []Kind{Image}, "mage: "},
	{lazy(`\b[Nn]ode ` + host + ` (?:not found|is not|not registered|cordoned|drained)`), []Kind{Node}, "ode "},
	{lazy(`\b[Uu]ser ([A-Za-z0-9_][A-Za-z0-9_.-]*) logged `), []Kind{Object}, "ser "},
	// Kubernetes objects.
	{lazy(`\b[Pp]ods? (?:` + q + `)?` + object), []Kind{Namespace, Pod}, "od |ods "},
	{lazy(`\b[Pp]ods? ` + q + label + `_([a-z0-9][a-z0-9-]*)` + q), []Kind{Pod, Namespace}, "od \"|od '|od \\|od `|ods \"|ods '|ods \\|ods `"},
	{lazy(`\b(?:[Ss]ecret|[Cc]onfig[Mm]ap|[Ss]ervice[Aa]ccount|PersistentVolumeClaim|pvc|nad|[Dd]eployment|[Dd]aemon[Ss]et|[Ss]tateful[Ss]et|[Rr]eplica[Ss]et|[Jj]ob|[Ss]ervice)s? (?:` + q + `)?` + object), []Kind{Namespace, Object}, "ecret|onfig|ervice|PersistentVolumeClaim|pvc|nad|eployment|et |ets |ob"},
	{lazy(`\bfind key ([^\s"'\\]+) in (?:ConfigMap|Secret)`), []Kind{Object}, "find key "},
	{lazy(`\b[Nn]amespaces? ` + q + label + q), []Kind{Namespace}, "amespace"},
	{lazy(`\bcontainers? ` + q + label + q), []Kind{Container}, `ontainer "|ontainer '|ontainer \|ontainers "|ontainers '|ontainers \`},
	{lazy(`\bcontainer ` + label + ` in pod ` + label), []Kind{Container, Pod}, " in pod "},
	{lazy(`\b(?:configmap|secret|serviceaccount|pvc) ([a-z0-9][a-z0-9.-]*[a-z0-9]) (?:missing|not found|does not exist|already exists)`), []Kind{Object}, "missing|not found|exist"},
	{lazy(`\bpods? ([a-z0-9][a-z0-9.-]*[a-z0-9]) already exists`), []Kind{Pod}, "already exists"},
	{lazy(`\bPod ([a-z0-9][a-z0-9.-]*[a-z0-9]) in ([a-z0-9][a-z0-9-]*[a-z0-9]) `), []Kind{Pod, Namespace}, "Pod "},
	{lazy(`\b(?:[Cc]reated|[Ss]tarted|[Ss]topping|[Rr]emoving|restarting failed) container:? ` + label + `(?:[ ,.;"]|$)`), []Kind{Container}, " container"},
	{lazy(`\bContainer ` + label + ` (?:was|is|failed|in|has|did) `), []Kind{Container}, "Container "},
	{lazy(`\b(?:Created|Deleted|Killed) pod:? ` + label), []Kind{Pod}, "eated pod|eleted pod|illed pod"},
	{lazy(`\b(?:Registered|Removing) Node ` + host + ` (?:in|from) Controller`), []Kind{Node}, "Controller"},
	{lazy(`\b(?:Node|Deleting node) ` + host + ` (?:event: |has been |because it does not exist)`), []Kind{Node}, "event: |has been |does not exist"},
	{lazy(`\b(?:Pod|Claim) ` + label + ` in StatefulSet ` + label), []Kind{Pod, Object}, " in StatefulSet "},
	{lazy(`\breplica set ` + label), []Kind{Object}, "replica set "},
	{lazy(`\bused by (?:pod\(s\)|node) ` + label + `(?:, ` + label + `)?`), []Kind{Pod, Pod}, "used by "},
	{lazy(`\bkubelet, ` + host + `(?:  |\t|$)`), []Kind{Node}, "kubelet, "},
	// Names in kubectl describe, YAML and JSON.
	{lazy(`(?:^|\n|\\n)\s*(?:Name|Secret ?Name|Claim ?Name|VolumeName|Service Account|Priority Class Name):\s+` + label + `\s*(?:$|\n|\\)`), []Kind{Object}, "ame:|Account:"},
	{lazy(`(?:^|\n|\\n)\s*Node:\s+` + host + `/`), []Kind{Node}, "Node:"},
	{lazy(`(?:^|\n|\\n)\s*(?:- )?(?:name|namespace|nodeName|secretName|claimName|serviceAccountName|hostname|app):\s+\\*"?` + label + `\\*"?\s*(?:$|\n|\\)`), []Kind{Object}, "ame:|space:|app:"},
	{lazy(`"name\\*"\s?:\s?\\*"` + label + `\\*"`), []Kind{Object}, `"name`},
	{lazy(`/(?:docker/volumes|mapper|by-label|cgroup/[a-z.]+)/([A-Za-z0-9][A-Za-z0-9_-]*)`), []Kind{Volume}, "/volumes/|/mapper/|/by-label/|/cgroup/"},
	// Sessions.
	{lazy(`\bsession opened for user ([^\s(]+)`), []Kind{Object}, "session opened"},
	{lazy(`\bauthenticating user (\S+) `), []Kind{Object}, "authenticating user "},
	{lazy(`\[([a-z0-9][a-z0-9-]*)/([a-z0-9][a-z0-9.-]*)/[0-9a-f-]{8,36}[\]:]`), []Kind{Namespace, Pod}, "["},
	{lazy(`\b(?:exceeded quota:|quota exceeded in namespace|admission webhook|calling webhook) (?:` + q + `)?` + label), []Kind{Object}, "quota|webhook"},
	{lazy(`\bInsufficient ([a-z0-9.-]+)/`), []Kind{Host}, "Insufficient "},
	// Paths of the kubelet, also as systemd units.
	{lazy(`/(?:volume-subpaths|plugins|containers)/([A-Za-z0-9][A-Za-z0-9._-]*)(?:/([A-Za-z][A-Za-z0-9._-]*))?`), []Kind{Volume, Container}, "/volume-subpaths/|/plugins/|/containers/"},
	{lazy(`volume\\+x2dsubpaths-((?:[A-Za-z0-9._]|\\+x2d)+)-((?:[A-Za-z0-9._]|\\+x2d)+)`), []Kind{Volume, Container}, "x2dsubpaths-"},
	// Hosts.
	{lazy(`\b(?:resolve host(?:name)?:?|resolve server|resolve address for|getaddrinfo|route to host|connect to host|[Ff]ailed to connect to|error from|catalog from|set hostname to|showmount -e|nslookup|ping|upstream|SMTP|NFSv4 server|nfs4:|multipathd?:?) (?:` + q + `)?` + host), []Kind{Host}, "resolve|getaddrinfo|route to|connect to|error from|catalog from|hostname|showmount|nslookup|ping |upstream|SMTP|NFSv4|nfs4:"},
	{lazy(`\bmounting ` + host + `:`), []Kind{Host}, "mounting "},
	{lazy(`@` + q + host + q), []Kind{Host}, "@"},
	{lazy(`\bprojects/([a-z0-9][a-z0-9-]*)(?:/(?:zones|regions)/[a-z0-9-]+/[a-zA-Z]+/([a-z0-9][a-z0-9-]*))?`), []Kind{Object, Object}, "projects/"},
	{lazy(`@tcp\d*:/([A-Za-z0-9._-]+)`), []Kind{Volume}, "@tcp"},
	{lazy(`\bdatastore ([^\s:"'\\]+)`), []Kind{Volume}, "datastore "},
	{lazy(`[a-z0-9]://[^/\s"']+/%2[fF]([A-Za-z0-9][A-Za-z0-9._-]*)`), []Kind{Object}, "%2"},
	{lazy(`(?:^|[\s"'\[(=])/(?:opt|srv|data)/([A-Za-z0-9][A-Za-z0-9._-]*)`), []Kind{Path}, "/opt/|/srv/|/data/"},
	{lazy(`\barn:aws:s3:::([A-Za-z0-9._-]+)`), []Kind{Object}, "arn:aws"},
	{lazy(`\bjdbc:oracle:\S*:\d{2,5}[:/]([A-Za-z0-9_.-]+)`), []Kind{Object}, "jdbc:"},
	{lazy(`\bauths\\*":\s?\{\\*"([A-Za-z0-9][A-Za-z0-9.-]*)`), []Kind{Host}, "auths"},
	// Owners.
	{lazy(`\b(?:kubernetes\.io/cluster|k8s\.io/cluster-autoscaler)/([A-Za-z0-9][A-Za-z0-9._-]*)(?:[=\s"'\\,;:)\]}]|$)`), []Kind{Object}, "io/cluster"},
	{lazy(`\b(?:[Cc]luster|[Tt]enant|[Cc]ustomer|[Pp]roject|[Aa]ccount|[Mm]ember|[Ii]nstance) ([A-Za-z0-9][A-Za-z0-9._-]*) (?:is|was|has|over|exceeded|suspended|locked|gone|missing|disabled|denied)\b`), []Kind{Object}, "uster |enant |ustomer |roject |ccount |ember |nstance "},
	{lazy(`\b(?:[Nn]ame|[Kk]ey)\\*"?:\s?\\*"?([A-Za-z0-9_.-]+)\\*"?,\s?\\*"?[Vv]alue\\*"?:\s?\\*"?([^\s"'\\,{}]+)`), []Kind{Object, Object}, "alue"},
	{lazy(`"node"\s?:\s?\{"name"\s?:\s?"` + label + `"`), []Kind{Node}, `"node"`},
	{lazy(`\btaint \{([^\s:{}"']+):? ?([^\s{}"']*)\}`), []Kind{Object, Object}, "taint {"},
	{lazy(`\bunknown authority (?:` + q + `)?([A-Za-z0-9][^\s"'\\]*)`), []Kind{Object}, "unknown authority"},
	// People.
	{lazy(`\b[Uu]ser(?:name)?: ([A-Za-z0-9_][^\s"'\\,;]*)`), []Kind{Object}, "ser"},
	{lazy(`([A-Za-z0-9_][A-Za-z0-9_.-]*):\$(?:\d|apr1|y)`), []Kind{Object}, ":$"},
	{lazy(`\b[Uu]ser (?:name )?` + q + `([^\s"'\\:]+)` + q), []Kind{Object}, "ser "},
	{lazy(`\buser ([A-Za-z0-9_][A-Za-z0-9_.-]*) (?:is not|not|cannot|does not)`), []Kind{Object}, "user "},
	{lazy(`\bInvalid user ([^\s"'\\]+) from `), []Kind{Object}, "Invalid user "},
}

// visited matches the path of a URL; elements that are not of the Kubernetes API may identify its
// owner.
var visited = lazy(`[a-z0-9]://([^/\s"'\\]+)/([A-Za-z0-9][A-Za-z0-9._~-]*)(?:/([A-Za-z0-9][A-Za-z0-9._~-]*))?(?:/([A-Za-z0-9][A-Za-z0-9._~-]*))?`)

// served are first elements of paths that are the same on everybody's servers.
var served = strings.Fields("api apis healthz livez readyz metrics version openapi v1 v2 docs")

// paths appends the path elements of URLs.
func paths(out []span, s string, has *pairs) []span {
	if !strings.Contains(s, "://") {
		return out
	}
	for _, m := range visited().FindAllStringSubmatchIndex(s, -1) {
		host := s[m[2]:m[3]]
		if strings.HasSuffix(host, "kubernetes.io") || strings.HasSuffix(host, "k8s.io") || slices.Contains(served, s[m[4]:m[5]]) {
			continue
		}
		for i := 4; i < len(m); i += 2 {
			if m[i] >= 0 {
				out = append(out, span{m[i], m[i+1], Path, odd})
			}
		}
	}
	return out
}
