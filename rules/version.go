package rules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// version is the numeric part of a version string: "v1.21.3-gke.1" is 1 21 3,
// "5.4.214-120.368.amzn2" is 5 4 214 120 368. Missing components count as zero.
type version []int

// parseVersion parses up to six leading numbers of s. It returns nil if there are none.
func parseVersion(s string) version {
	s = strings.TrimPrefix(strings.TrimSpace(s), "v")
	var v version
	for len(s) > 0 && len(v) < 6 {
		n := 0
		for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n == 0 {
			break
		}
		x, _ := strconv.Atoi(s[:n])
		v = append(v, x)
		if s = s[n:]; s == "" || s[0] != '.' && s[0] != '-' {
			break
		}
		s = s[1:]
	}
	return v
}

func (v version) at(i int) int {
	if i < len(v) {
		return v[i]
	}
	return 0
}

// compare returns a negative, zero or positive number, like cmp.Compare.
func (v version) compare(w version) int {
	for i := range max(len(v), len(w)) {
		if c := cmp.Compare(v.at(i), w.at(i)); c != 0 {
			return c
		}
	}
	return 0
}

type bound struct {
	op string
	v  version
}

// parseRange parses a range such as ">=1.6 <1.14", of which all bounds must hold.
// Alternatives are separated by "||".
func parseRange(s string) ([][]bound, bool) {
	var out [][]bound
	for _, alt := range strings.Split(s, "||") {
		var all []bound
		for _, f := range strings.Fields(alt) {
			n := 0
			for n < len(f) && strings.IndexByte("<>=", f[n]) >= 0 {
				n++
			}
			v := parseVersion(f[n:])
			if n == 0 || n > 2 || v == nil {
				return nil, false
			}
			all = append(all, bound{f[:n], v})
		}
		if len(all) == 0 {
			return nil, false
		}
		out = append(out, all)
	}
	return out, true
}

// inRange reports whether version s lies in the range. ok is false if s is not a version or
// the range is invalid.
func inRange(s, within string) (in, ok bool) {
	v := parseVersion(s)
	alts, good := parseRange(within)
	if v == nil || !good {
		return false, false
	}
	return slices.ContainsFunc(alts, func(all []bound) bool { return holds(v, all) }), true
}

func holds(v version, all []bound) bool {
	for _, b := range all {
		c := v.compare(b.v)
		ok := map[string]bool{"<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0, "=": c == 0, "==": c == 0}[b.op]
		if !ok {
			return false
		}
	}
	return true
}
