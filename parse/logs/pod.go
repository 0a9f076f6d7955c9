package logs

import (
	"encoding/json"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// podFields splits a pod in any spelling into pod_ns, pod_name and pod_uid:
// name_ns(uid) (≤ 1.20 and 1.36), ns/name (≥ 1.21), {"name":…,"namespace":…} (JSON
// logs), name_ns (network plugins), or a lone name or UID.
func podFields(s string) []parse.Field { return addPod(nil, s) }

// addPod appends the fields of a pod.
func addPod(out []parse.Field, s string) []parse.Field {
	ns, name, uid := splitPod(s)
	out = addField(out, "pod_ns", ns)
	out = addField(out, "pod_name", name)
	return addField(out, "pod_uid", uid)
}

func splitPod(s string) (ns, name, uid string) {
	s = strings.Trim(s, `"' `)
	switch {
	case strings.HasPrefix(s, "{"):
		return jsonPod(s)
	case strings.HasSuffix(s, ")"):
		name, rest, ok := strings.Cut(s, "_")
		if !ok {
			return "", "", ""
		}
		ns, uid, _ = strings.Cut(strings.TrimSuffix(rest, ")"), "(")
		return ns, name, uid
	case strings.Contains(s, "/"):
		ns, name, _ = strings.Cut(s, "/")
		return ns, name, ""
	case isUID(s):
		return "", "", s
	case strings.ContainsAny(s, " =,"):
		return "", "", ""
	}
	name, ns, _ = strings.Cut(s, "_")
	return ns, name, ""
}

func jsonPod(s string) (ns, name, uid string) {
	var p struct{ Name, Namespace, UID string }
	if json.Unmarshal([]byte(s), &p) != nil {
		return "", "", ""
	}
	return p.Namespace, p.Name, p.UID
}

// isUID reports whether s looks like a pod UID: a UUID, or the 32 hex digits of a
// static pod.
func isUID(s string) bool {
	if len(s) != 36 && len(s) != 32 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f':
		case c == '-' && len(s) == 36 && (i == 8 || i == 13 || i == 18 || i == 23):
		default:
			return false
		}
	}
	return true
}
