package redact

import (
	"slices"
	"strings"
)

// publicHosts are the origins of source code and API groups. They look like hosts but identify
// nobody.
var publicHosts = []string{"k8s.io", "kubernetes.io", "golang.org", "github.com", "google.golang.org", "containerd.io", "systemd.io", "freedesktop.org", "apache.org", "kernel.org", "openshift.io", "cncf.io", "gopkg.in", "prometheus.io", "w3.org", "json-schema.org", "schemastore.org"}

func public(host string) bool {
	host, _, _ = strings.Cut(host, "/")
	host, _, _ = strings.Cut(strings.ToLower(host), ":")
	for _, p := range publicHosts {
		if host == p || strings.HasSuffix(host, "."+p) {
			return true
		}
	}
	return false
}

// fileEnds are last labels of dotted names that are not hosts: files, systemd units, parts of the
// cgroup tree.
var fileEnds = strings.Fields(`go log logs txt json ndjson jsonl yaml yml conf cfg toml ini service slice scope mount socket sock timer target device swap path
	automount so gz xz bz2 zst lz4 tar tgz txz zip rpm deb sh py rb pl js ts css html htm md rst csv tsv xml pem crt key cer csr p12 pid lock tmp bak old orig db sqlite prom openmetrics
	metrics journal out err env rules proto pb wal snap img iso qcow2 vmdk vhd exe dll sys bin dat data cache state d max min high low current stat events pressure peak cpu
	cpus mems procs threads weight idle svg png jpg woff sarif junit summary plegp`)

// commonDomains are the last labels that make a name of two labels a host. With three or more
// labels, any last label will do.
var commonDomains = strings.Fields(`internal local lan intra intranet corp home private localdomain test example invalid com net org io dev cloud app de fr uk cn jp eu us
	ru in br nl ch se it es pl au ca kr gov edu mil int biz info tech online site xyz ai co zone`)

// selectors are first labels of dotted names that are keys or settings.
var selectors = strings.Fields(`io com org net kernel vm fs user dev abi debug crypto sunrpc cpu cpuset memory hugetlb pids rdma misc cgroup blkio systemd prometheus go`)

// hostForm recognizes domain names: dotted labels, the last of which consists of letters.
func hostForm(s string, i int) form {
	if i > 0 && !startsHost(s, i) {
		return form{}
	}
	end := run(s, i, ".-")
	for end > i && (s[end-1] == '.' || s[end-1] == '-') {
		end--
	}
	if end < len(s) && (s[end] == '_' || s[end] == '(' || s[end] == '=') {
		return form{}
	}
	host := strings.ToLower(s[i:end])
	if !isHost(host) || public(host) {
		return form{}
	}
	return form{i, end, Host, host}
}

// startsHost reports whether a host may begin at i: after "//" it may, as an element of a path it
// may not.
func startsHost(s string, i int) bool {
	switch s[i-1] {
	case '/':
		return i > 1 && s[i-2] == '/'
	case '.', '-', '$':
		return false
	}
	return true
}

// isHost reports whether a dotted name is a host.
func isHost(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if len(last) == len(host) || len(host) > 253 || !lettersOnly(last) || slices.Contains(fileEnds, last) || host[0] == '.' || strings.Contains(host, "..") {
		return false
	}
	first, rest, _ := strings.Cut(host, ".")
	two := len(rest) == len(last)
	if slices.Contains(commonDomains, last) {
		return !two || !slices.Contains(selectors, first) && !figures().MatchString(first)
	}
	if two || slices.Contains(selectors, first) {
		return false
	}
	return !familiar(host)
}

// imageForm recognizes image references: a path with a tag or a digest.
func imageForm(s string, i int) form {
	if i > 0 && strings.IndexByte("/.:@_-$~", s[i-1]) >= 0 {
		return form{}
	}
	end := imageEnd(s, i)
	if end == 0 {
		return form{}
	}
	ref := s[i:end]
	first, path, _ := strings.Cut(ref, "/")
	_, digest, pinned := strings.Cut(ref, "@sha256:")
	name := ref[strings.LastIndexByte(ref, '/')+1:]
	_, tag, tagged := strings.Cut(name, ":")
	switch {
	case pinned && len(digest) == 64:
	case path == "" || strings.ToLower(path) != path && !tagged:
		return form{}
	case !tagged || public(first):
		if !strings.ContainsAny(first, ".:") || !isRegistry(first) {
			return form{}
		}
	case strings.ContainsAny(first, ":"): // registry with a port
	case strings.Contains(first, ".") && isRegistry(first) && !isFileName(name[:strings.IndexByte(name, ':')]):
	case isFileName(name[:strings.IndexByte(name, ':')]), !strings.ContainsFunc(tag, isLetter) && !strings.Contains(tag, "."):
		return form{} // a file and a line number
	}
	if public(first) {
		return form{}
	}
	return form{i, end, Image, ref}
}

func isLetter(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// isRegistry reports whether the first element of a path is a registry: a host with a port, or a
// domain name.
func isRegistry(first string) bool {
	host, port, has := strings.Cut(first, ":")
	if has {
		return port != "" && strings.Trim(port, "0123456789") == ""
	}
	return isHost(strings.ToLower(host))
}

func isFileName(s string) bool {
	dot := strings.LastIndexByte(s, '.')
	return dot >= 0 && slices.Contains(fileEnds, s[dot+1:])
}

// imageEnd returns the end of the longest image reference at i, 0 if there is none:
// [HOST[:PORT]/]PATH[:TAG][@sha256:DIGEST].
func imageEnd(s string, i int) int {
	at := run(s, i, "._-")
	if at < len(s) && s[at] == ':' && digitAt(s, at+1) {
		port := run(s, at+1, "")
		if port < len(s) && s[port] == '/' && strings.Trim(s[at+1:port], "0123456789") == "" {
			at = port
		}
	}
	for at < len(s) && s[at] == '/' {
		next := run(s, at+1, "._-")
		if next == at+1 {
			return 0
		}
		at = next
	}
	if at+1 < len(s) && s[at] == ':' && isAlnum(s[at+1]) {
		at = run(s, at+1, "._-")
	}
	if rest := s[at:]; strings.HasPrefix(rest, "@sha256:") && len(rest) >= 72 && allHex(rest[8:72]) {
		at += 72
	}
	for at > i && strings.IndexByte("._-", s[at-1]) >= 0 {
		at--
	}
	return at
}
