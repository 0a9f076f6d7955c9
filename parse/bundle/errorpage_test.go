package bundle

import (
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// An error page is a failed snapshot where snapshots are kept and nothing anywhere
// else.
func TestErrorPagesAmongSnapshots(t *testing.T) {
	const page = "An error has occurred while serving metrics:\n\n1 error(s) occurred:\n"
	for _, tt := range []struct {
		path, head string
		want       parse.Role
	}{
		{"metrics/20261120T233100Z.prom", page, parse.RoleMetrics},
		{"a/kubelet-metrics.txt", "<!DOCTYPE html>\n<html>", parse.RoleMetrics},
		{"metrics/n1", "Error from server (ServiceUnavailable): the server is currently unable", parse.RoleMetrics},
		{"a/index.html", "<!DOCTYPE html>\n<html>", parse.RoleUnknown},
		{"a/notes.txt", page, parse.RoleUnknown},
		{"a/x.prom", "nothing of the kind\n", parse.RoleUnknown},
		{"a.prom", "2026-11-20T23:31:00Z\nkubelet_x 1\n", parse.RoleMetrics},
		{"a.txt", "$ curl localhost\n# Fri Nov 20 23:31:00 UTC 2026\n```\nx_y{a=\"b\"} 12\n```\n", parse.RoleMetrics},
		{"a/lsmod", "Module                  Size  Used by\nveth_drv             34816  0\nbr_netfilter         32768  0\nxt_conntrack         16384  4\n", parse.RoleUnknown},
		{"a/modules.txt", "root@n1:~# lsmod | grep drv\nveth_drv 1527808  4\ndrv_core  77824  0\ndrv_ext   56832  1 drv_core\n", parse.RoleUnknown},
		{"a/counters.txt", "nr_free_pages 81234\nnr_zone_inactive_anon 3113\n", parse.RoleFacts},
		{"a/counters.txt", "go_goroutines 81\nmy_own_total 3113\n", parse.RoleMetrics},
		{"a/x", "a_x{l=\"" + strings.Repeat("v", headLen), parse.RoleMetrics},
	} {
		head := tt.head[:min(len(tt.head), headLen)]
		if got := byContent(&parse.File{Path: tt.path}, []byte(head)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.path, got, tt.want)
		}
	}
}
