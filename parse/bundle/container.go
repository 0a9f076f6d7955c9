package bundle

import (
	"regexp"

	"github.com/plegforensics/plegforensics/parse/logs"
)

// containerLogs are the paths of logs of containers, with the name of the container: as the kubelet lays them out, its
// links to them, and the copies of must-gather.
var containerLogs = regexp.MustCompile(`(?:^|/)(?:pods/[^/]+_[^/]+_[^/]+/([^/]+)/\d+\.log[^/]*|` +
	`containers/[^/]+_[^/]+_([^/]+)-[0-9a-f]+\.log[^/]*|pods/[^/]+/([^/]+)/[^/]+/logs/[^/]+\.log[^/]*)$`)

// containerOf returns the name of the container whose log has this path in a bundle, "" if it is none or may be that
// of a kubelet in a container.
func containerOf(path string) string {
	m := containerLogs.FindStringSubmatch(path)
	if m == nil || logs.MayBeKubelet(m[1]+m[2]+m[3]) {
		return ""
	}
	return m[1] + m[2] + m[3]
}
