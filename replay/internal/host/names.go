package host

import "strings"

// SameHost reports whether two host names are equal, ignoring case. A short name equals
// a full name that begins with it and a dot.
func SameHost(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	return a != "" && len(b) > len(a) && b[len(a)] == '.' && strings.EqualFold(a, b[:len(a)])
}

// ObjectName unwraps a node name from a JSON log, which writes an object reference:
// {"name":"worker-3"}. It returns "" for what cannot be a name, such as the placeholder
// <node-name> of a guide, or XXX or another letter alone in the place of a name that was taken out.
func ObjectName(s string) string {
	if strings.HasSuffix(s, "...") || strings.HasSuffix(s, "…") {
		return "" // truncated by whatever displayed the line
	}
	if rest, ok := strings.CutPrefix(s, `{"name":"`); ok {
		s, _, _ = strings.Cut(rest, `"`)
	}
	if strings.ContainsAny(s, "<>{}[]$#*") || len(s) > 1 && strings.Trim(s, "xX-._") == "" || len(s) > 3 && strings.Trim(s, s[:1]) == "" {
		return ""
	}
	return s
}
