package redact

import (
	"slices"
	"strings"
)

// Positions that say that a name stands there, whatever word it is, and that take more than an
// expression to tell.

// addressed appends the hosts of x:user@host, as in mailto:, sip: and owner:, on any domain. The
// user goes with the credentials; see logins.
func addressed(out []span, s string, has *pairs) []span {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '@')
		if i < 0 {
			return out
		}
		from := at + i + 1
		at = from
		user := from - 1
		for user > 0 && from-user < labelEnd && strings.IndexByte(" \t\r\n\"'@:/\\", s[user-1]) < 0 {
			user--
		}
		if user == from-1 || user < 2 || s[user-1] != ':' || !isAlnum(s[user-2]) {
			continue
		}
		end := run(s, from, ".-")
		for end > from && !isAlnum(s[end-1]) {
			end--
		}
		host := s[from:end]
		if !slices.ContainsFunc(strings.FieldsFunc(host, func(c rune) bool { return c == '.' || c == '-' }), func(l string) bool { return lettersOnly(strings.ToLower(l)) }) {
			continue // a digest or a version; other names with digits are found by their form
		}
		out = append(out, span{from, end, Host, sure})
	}
}

// option matches a flag and, behind a blank or a sign, its value.
var option = lazy(`(?:^|[\s"'\[(,])--([a-z][a-z0-9-]*)(?:=| +)\\*["']?([^\s"'\\-][^\s"'\\]*)`)

// labelled are flags with a list of labels or taints.
var labelled = wordSet("node-labels register-with-taints labels taints")

// configured are flags with the path of a file that a cluster's owner names.
var configured = wordSet("kubeconfig bootstrap-kubeconfig cloud-config config")

// standard are elements of paths that are the same everywhere.
var standard = wordSet(`etc var lib run usr local opt home root srv mnt data bin tmp kubernetes kubelet pki config conf kubeconfig bootstrap bootstrap-kubeconfig
	bootstrap-kubelet admin controller-manager scheduler rancher rke2 k3s k0s origin node microk8s snap current args credentials cloud-config cloud azure aws gce
	openstack vsphere cloud-provider kubelet-config kubelet-kubeconfig agent server client manifests cfg default`)

// options appends the values of flags that are names.
func options(out []span, s string, has *pairs) []span {
	if !strings.Contains(s, "--") {
		return out
	}
	for _, m := range option().FindAllStringSubmatchIndex(s, -1) {
		flag, from, to := s[m[2]:m[3]], m[4], m[5]
		switch {
		case labelled[flag]:
			out = pairsIn(out, s, from, to)
		case configured[flag]:
			out = elements(out, s, from, to)
		case s[m[3]] == ' ':
			if k := keyKind(flag); k != "" {
				if a, b := value(k, s[from:to]); b > a {
					out = append(out, span{from + a, from + b, k, sure})
				}
			}
		}
	}
	return out
}

// pairsIn appends the names in a list of labels or taints: a=b,c=d:NoSchedule.
func pairsIn(out []span, s string, from, to int) []span {
	for from < to {
		end := from + len(upTo(s[from:to], ","))
		key := from + len(upTo(s[from:end], "=:"))
		v := min(key+1, end)
		stop := v + len(upTo(s[v:end], ":"))
		if key < end && s[key] == '=' {
			out = append(out, span{v, stop, Object, sure})
		}
		if strings.IndexByte(s[from:key], '/') < 0 {
			out = append(out, span{from, key, Object, sure})
		}
		from = end + 1
	}
	return out
}

// elements appends the elements of a path, without their endings, that are not standard.
func elements(out []span, s string, from, to int) []span {
	for from < to {
		end := from + len(upTo(s[from:to], "/"))
		stem := end
		if i := strings.LastIndexByte(s[from:end], '.'); i > 0 {
			stem = from + i
		}
		if stem-from > 2 && !standard[s[from:stem]] {
			out = append(out, span{from, stem, Path, odd})
		}
		from = end + 1
	}
	return out
}

// goLabels matches a map of labels as printed by Go.
var goLabels = lazy(`map\[string\]string\{([^{}]*)\}`)

// chosen are labels that name what they are on.
var chosen = wordSet("app k8s-app name run release team app.kubernetes.io/name app.kubernetes.io/instance app.kubernetes.io/part-of job-name")

// labels appends the values in maps of labels, {app: a,io.kubernetes.pod.name: b,}.
func labels(out []span, s string, has *pairs) []span {
	if !strings.Contains(s, "map[string]string{") {
		return out
	}
	for _, m := range goLabels().FindAllStringSubmatchIndex(s, -1) {
		for from := m[2]; from < m[3]; {
			end := from + len(upTo(s[from:m[3]], ","))
			if i := strings.Index(s[from:end], ": "); i > 0 {
				key, v := strings.TrimSpace(s[from:from+i]), from+i+2
				k := keyKind(key)
				switch text := s[v:end]; {
				case k != "":
					if a, b := value(k, text); b > a {
						out = append(out, span{v + a, v + b, k, sure})
					}
				case chosen[key] && text != "" && !strings.ContainsAny(text, "/ :"):
					out = append(out, span{v, end, Object, sure})
				}
			}
			from = end + 1
		}
	}
	return out
}

// sample matches the labels of a sample of a metric, which may be damaged behind them.
var sample = lazy(`\b[a-zA-Z_:][a-zA-Z0-9_:]*\{((?:[a-zA-Z_][a-zA-Z0-9_]*=\\*"[^"\\]*\\*",?)+)`)

// samples appends the values of the labels of metrics in texts, such as a warning about a damaged
// line. As in series, they are names, but for those of enumerations.
func samples(out []span, s string, has *pairs) []span {
	if !strings.Contains(s, "=\"") && !strings.Contains(s, "=\\") || !strings.Contains(s, "{") {
		return out
	}
	for _, m := range sample().FindAllStringSubmatchIndex(s, -1) {
		for from := m[2]; from < m[3]; {
			key := upTo(s[from:m[3]], "=")
			v := skipQuote(s, from+len(key)+1)
			end := v + len(upTo(s[v:m[3]], "\"\\"))
			if keyKind(key) == "" && !enumerations[key] && !strings.ContainsAny(s[v:end], "/ :") && end > v {
				out = append(out, span{v, end, Object, odd})
			}
			for from = end; from < m[3] && s[from] != ','; {
				from++
			}
			from++
		}
	}
	return out
}

// reference matches TYPE/NAME, as kubectl and controllers write it.
var reference = lazy(`(?:^|[\s"'(\[,;=])(pods?|nodes?|ns|namespaces?)/` + label + `(?:$|[^/a-zA-Z0-9])`)

// subresources follow TYPE/ and are not names.
var subresources = strings.Fields(`status proxy metrics stats log logs spec exec attach portforward ephemeralcontainers eviction evictions binding finalize configz healthz
	pods pod resize checkpoint container containers node namespace volume volumes image sandbox service services host kubelet name uid`)

// references appends the names in pod/a, node/b and ns/c.
func references(out []span, s string, has *pairs) []span {
	if !hinted(s, has, "pod/|pods/|node/|nodes/|ns/|namespace/|namespaces/") {
		return out
	}
	for _, m := range reference().FindAllStringSubmatchIndex(s, -1) {
		if slices.Contains(subresources, s[m[4]:m[5]]) {
			continue
		}
		k := map[byte]Kind{'p': Pod, 'n': Node}[s[m[2]]]
		if word := s[m[2]:m[3]]; word == "ns" || strings.HasPrefix(word, "name") {
			k = Namespace
		}
		taken := sure
		if strings.HasSuffix(s[m[2]:m[3]], "s") && s[m[2]:m[3]] != "ns" {
			taken = odd // prose has plurals
		}
		out = append(out, span{m[4], m[5], k, taken})
	}
	return out
}

// account matches a user in a sentence.
var account = lazy(`\b(?:[Ff]or|[Bb]y|[Aa]s|of) [Uu]ser (?:` + q + `)?([A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*)`)

// noUsers are words after "for user" that are no name.
var noUsers = wordSet("namespace namespaces space id ids data request requests mode code input output interaction and or with in is to the from process processes slice slices session sessions instance manager service services runtime directory")

// accounts appends the users of sentences such as "session closed for user bob".
func accounts(out []span, s string, has *pairs) []span {
	if !strings.Contains(s, "ser ") {
		return out
	}
	for _, m := range account().FindAllStringSubmatchIndex(s, -1) {
		if !noUsers[s[m[2]:m[3]]] {
			out = append(out, span{m[2], m[3], Object, sure})
		}
	}
	return out
}

// process matches the name of a process where the kernel tells which it killed or found blocked.
var process = lazy(`\b(?:Killed process \d+,? \(|[Tt]ask(?::| |=) ?)([A-Za-z0-9_]+(?:[-_][A-Za-z0-9_]+)+)(?:\)|:\d+ blocked| state:|,pid=)`)

// programs are first words of the names of programs of nodes, which reports need.
var programs = wordSet(`containerd systemd kube kubelet docker dockerd runc cri crio conmon calico cilium flannel weave antrea multus node ovs ovn coredns core etcd aws amazon gce gke azure csi nfs rpc
	xfs ext4 jbd2 btrfs dbus multipath iscsi ceph rbd gluster local cloud ip nvidia gpu auditd rsyslogd journald fluent filebeat metricbeat vector prometheus cluster
	network NetworkManager java python python3 php nginx mysql postgres redis sd kthreadd watchdog migration kworker chronyd ssm dd load`)

// processes appends names of processes that are joined of words, unless the first is that of a
// program of nodes.
func processes(out []span, s string, has *pairs) []span {
	if !hinted(s, has, "Killed process|ask") {
		return out
	}
	for _, m := range process().FindAllStringSubmatchIndex(s, -1) {
		if first := upTo(s[m[2]:m[3]], "-_"); !programs[first] {
			out = append(out, span{m[2], m[3], Object, sure})
		}
	}
	return out
}
