package redact

import (
	"regexp"
	"strings"
	"sync"
)

// lazy is an expression that is compiled when it is first needed: most runs do
// not redact. The tests need each.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// shape is a form of text that tells what the names in it are: group i of the
// expression is of kind kinds[i-1], "" for none.
type shape struct {
	re    func() *regexp.Regexp
	kinds []Kind
	hint  string // a line without it cannot match
}

// shapes are tried in this order; see learn on why that matters.
var shapes = []shape{
	{lazy(`\b([a-z0-9][a-z0-9.-]*)_([a-z0-9][a-z0-9-]*)\(([0-9a-fA-F-]{8,36})\)`), []Kind{Pod, Namespace, UID}, "("},
	{lazy(`(?:pod|Pod|pods|objectName|pod_ref)"?[=:]\s*\\?"?\[?\\?"?([a-z0-9][a-z0-9-]*)/([a-z0-9][a-z0-9.-]*)`), []Kind{Namespace, Pod}, "od"},
	{lazy(`\\?"([a-z0-9][a-z0-9-]{0,62})/([a-z0-9][a-z0-9.-]{0,252})\\?"`), []Kind{Namespace, Pod}, "/"},
	{lazy(`\bnamespace(?:\\?"?\s*[=:]\s*\\?"|=)([a-z0-9][a-z0-9-]*)`), []Kind{Namespace}, "namespace"},
	{lazy(`[Nn]amespace:\\?"?([a-z0-9][a-z0-9-]*)`), []Kind{Namespace}, "amespace:"},
	{lazy(`(?:PodSandboxMetadata\{Name:|name:\\?")([a-z0-9][a-z0-9.-]*)`), []Kind{Pod}, "ame:"},
	// A colon alone is prose ("the node: PLEG unhealthy") unless what follows looks like no word.
	{lazy(`\b(?:node|nodeName|kubernetes\.io/hostname|hostname-override)(?:\\?"?\s*[=:]\s*\\?"|=)([A-Za-z0-9][A-Za-z0-9.-]*)`), []Kind{Node}, "no"},
	{lazy(`\b(?:node|nodeName|kubernetes\.io/hostname|hostname-override): ?([a-z][a-z0-9.-]*[0-9][a-z0-9.-]*)`), []Kind{Node}, "no"},
	{lazy(`\b(?:[Nn]ode|for node) \\?"?([A-Za-z0-9][A-Za-z0-9-]*[.-][A-Za-z0-9.-]+)`), []Kind{Node}, "ode "},
	{lazy(`\b(?:containerName|container)(?:\\?"?\s*[=:]\s*\\?"|=)([a-z0-9][a-z0-9.-]*)`), []Kind{Container}, "ontainer"},
	{lazy(`\bk8s_([A-Za-z0-9.-]+)_([a-z0-9][a-z0-9.-]*)_([a-z0-9][a-z0-9-]*)_[0-9a-f-]{8,}`), []Kind{Container, Pod, Namespace}, "k8s_"},
	{lazy(`\b(?:pod|pod_name|exported_pod)="([a-z0-9][a-z0-9.-]*)"`), []Kind{Pod}, "pod"},
	{lazy(`\bvolume(?:Name|Spec\.Name)?"?\s*[=:( ]\s*\\?"([A-Za-z0-9][A-Za-z0-9._-]*)`), []Kind{Volume}, "olume"},
	{lazy(`\b(pvc-[0-9a-f-]{8,})`), []Kind{Volume}, "pvc-"},
	{lazy(`server ([A-Za-z0-9][A-Za-z0-9.-]*[A-Za-z0-9]) (?:not responding|OK)`), []Kind{Host}, "server "},
}

// forms are telling wherever they stand. A whole match, or its group, is a name.
var forms = []struct {
	re   func() *regexp.Regexp
	kind Kind
	hint string
}{
	{lazy(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), UID, "-"},
	{lazy(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b`), Mail, "@"},
	{lazy(`\b(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}\b`), MAC, ":"},
	{lazy(`\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b`), IP, "."},
	{lazy(`\b(?:[0-9a-fA-F]{1,4}:){2,7}(?::?[0-9a-fA-F]{1,4}){1,6}\b|\bf[cde][0-9a-f]{2}::(?:[0-9a-f]{1,4}:?){0,6}`), IP, ":"},
	{lazy(`\b[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+\.(?:internal|local|lan|intra|corp|com|net|org|io|dev|cloud|app|de|fr|uk|cn|jp|eu|us|ru|in|br|nl|ch|se|it|es|pl|au|ca|kr|gov|edu|mil)(?::\d+)?(?:/[A-Za-z0-9._/-]*[A-Za-z0-9])?(?::[A-Za-z0-9._-]+)?(?:@sha256:[0-9a-f]{64})?`), Host, "."},
}

// sources of code and of API groups look like hosts and tell nothing.
var publicHosts = []string{"k8s.io", "kubernetes.io", "golang.org", "github.com", "google.golang.org", "containerd.io", "systemd.io", "freedesktop.org", "apache.org", "kernel.org", "openshift.io", "cncf.io"}

func public(host string) bool {
	host, _, _ = strings.Cut(host, "/")
	host, _, _ = strings.Cut(host, ":")
	for _, p := range publicHosts {
		if host == p || strings.HasSuffix(host, "."+p) {
			return true
		}
	}
	return false
}

// Learn notes the names of a text by their surroundings, then by their form.
func (r *Redactor) Learn(s string) {
	for _, sh := range shapes {
		if !strings.Contains(s, sh.hint) {
			continue
		}
		for _, m := range sh.re().FindAllStringSubmatch(s, -1) {
			if strings.Contains(m[0], "://") || len(m) > 2 && public(m[1]) {
				continue
			}
			for i, k := range sh.kinds {
				if k != "" && worth(k, m[i+1]) {
					r.learn(k, m[i+1])
				}
			}
		}
	}
	for _, f := range forms {
		if !strings.Contains(s, f.hint) {
			continue
		}
		for _, m := range f.re().FindAllString(s, -1) {
			if f.kind == Host {
				r.learnHost(m)
				continue
			}
			if f.kind == IP && clockLike(m) {
				continue
			}
			r.learn(f.kind, m)
		}
	}
}

// learnHost tells images from hosts by what follows the host.
func (r *Redactor) learnHost(m string) {
	if public(m) || codeLike(m) {
		return
	}
	host, path, isPath := strings.Cut(m, "/")
	if isPath && path != "" {
		r.learn(Image, m)
		r.learn(Registry, host)
		return
	}
	bare, _, _ := strings.Cut(host, ":")
	r.learn(Host, bare)
}

// codeLike are file names of programs: "io.go" is no host.
func codeLike(m string) bool {
	return strings.HasSuffix(m, ".service") || strings.Contains(m, ".go:")
}

// clockLike tells "12:03:05" and "0:0:1" from an IPv6 address.
func clockLike(m string) bool {
	return strings.Count(m, ":") < 3 && !strings.Contains(m, "::") && strings.Contains(m, ":")
}

// worth reports whether a name is long enough to stand for something: one or
// two letters would be replaced in every sentence.
func worth(k Kind, name string) bool { return len(name) >= 3 || k == UID }

// isNameRune reports whether names are made of r.
func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.'
}

// Text replaces every learned name in s.
func (r *Redactor) Text(s string) string {
	if len(r.names) == 0 {
		return s
	}
	if len(r.plain) > 0 {
		s = r.inContext(s)
	}
	s = r.longNames(s)
	var b strings.Builder
	last := 0
	for i := 0; i < len(s); {
		if !isWordByte(s[i]) {
			i++
			continue
		}
		j := i
		for j < len(s) && isWordByte(s[j]) {
			j++
		}
		if p, ok := r.word(s[i:j]); ok {
			b.WriteString(s[last:i])
			b.WriteString(p)
			last = j
		}
		i = j
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}

// word replaces the names in a run of name characters. A name may be the whole
// run or any part of it that dots and dashes set off ("kubelet-node7.log"); of
// names that overlap the first and longest counts.
func (r *Redactor) word(w string) (string, bool) {
	var b strings.Builder
	last, start := 0, 0
	for start < len(w) {
		end, name := r.nameAt(w, start)
		if name != "" {
			b.WriteString(w[last:start])
			b.WriteString(name)
			last, start = end, end
		}
		next := strings.IndexAny(w[start:], "-.")
		if next < 0 {
			break
		}
		start += next + 1
	}
	if last == 0 {
		return w, false
	}
	b.WriteString(w[last:])
	return b.String(), true
}

// nameAt returns the pseudonym of the longest name that begins at start and
// ends at a boundary, and its end.
func (r *Redactor) nameAt(w string, start int) (int, string) {
	for end := len(w); end > start; end = start + max(strings.LastIndexAny(w[start:end], "-."), 0) {
		if p, ok := r.names[w[start:end]]; ok && !r.plain[w[start:end]] {
			r.count[w[start:end]]++
			return end, p
		}
	}
	return start, ""
}

// longNames replaces the names that hold other than word characters: images,
// IPv6 and mail addresses, volumes with underscores.
func (r *Redactor) longNames(s string) string {
	for _, f := range forms {
		if f.kind != Host && f.kind != IP && f.kind != MAC && f.kind != Mail || !strings.Contains(s, f.hint) {
			continue
		}
		s = f.re().ReplaceAllStringFunc(s, func(m string) string {
			p, ok := r.names[m]
			if !ok {
				return m
			}
			r.count[m]++
			return p
		})
	}
	for _, v := range r.odd {
		if !r.plain[v] && strings.Contains(s, v) {
			r.count[v] += strings.Count(s, v)
			s = strings.ReplaceAll(s, v, r.names[v])
		}
	}
	return s
}
