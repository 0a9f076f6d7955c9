package logs

import "github.com/plegforensics/plegforensics/parse"

var oomRE = onDemand(`(Memory cgroup out of memory|Out of memory): Kill(?:ed)? process (\d+)(?:, UID \d+,)? \(([^)]+)\)`)

// extractOOM reads the victim of the OOM killer. scope distinguishes a cgroup that
// hit its own limit ("cgroup") from a node out of memory ("node").
func extractOOM(r *record) ([]parse.Field, bool) {
	m := oomRE().FindStringSubmatch(r.raw)
	if m == nil {
		return nil, false
	}
	scope := "node"
	if m[1][0] == 'M' {
		scope = "cgroup"
	}
	return []parse.Field{{Name: "scope", Value: scope}, {Name: "pid", Value: m[2]}, {Name: "comm", Value: m[3]}}, true
}
