package rules

import (
	"slices"
	"strings"
)

// errorClass is a meaning of an error, recognized by its text wherever that is nested: in a
// line, the description of a gRPC status, an event, a condition or a label.
type errorClass struct {
	Name   string
	Expr   string // regular expression
	Source string // where the text is produced
}

// errorClasses lists them. A clause requires one with "error", and excludes lines whose
// text matches one with "except".
var errorClasses = []errorClass{
	{"deadline", `(?i)deadline ?exceeded|timed[ _]?out|time-?out|code = 4\b|request canceled|time allotted`, "grpc-go codes.DeadlineExceeded; net.Error of Go"},
	{"refused", `connect: (?:connection refused|no such file or directory)|Cannot connect to the Docker daemon|cannot connect to Docker endpoint|TransientFailure|connection is unavailable|transport is closing|error reading from server: EOF|connection reset by peer`, "Go net.OpError of ECONNREFUSED and ENOENT; grpc-go clientconn.go; moby client/errors.go"},
	{"unreachable", `dial (?:tcp|udp) \S+ (?:i/o timeout|connect: (?:no route to host|network is unreachable))`, "Go net.OpError of a connection that nobody answers"},
	{"too-large", `message larger than max`, "grpc-go rpc_util.go"},
	{"no-files", `too many open files`, "EMFILE and ENFILE, errno(3)"},
	{"no-watches", `inotify|fsnotify|[wW]atcher\b`, "inotify(7): EMFILE and ENOSPC mean the limits of instances and watches"},
	{"no-space", `no space left on device`, "ENOSPC, errno(3)"},
	{"no-memory", `cannot allocate memory`, "ENOMEM, errno(3)"},
	{"no-process", `resource temporarily unavailable|pthread_create failed|failed to create new OS thread`, "EAGAIN of fork(2); Go runtime os_linux.go newosproc"},
	{"no-network-config", `uninitialized|not initialized|failed to find plugin|no networks found`, "containernetworking/cni libcni; go-cni errors.go"},
	{"not-found", `NotFound|not found|[Nn]o such (?:container|object|sandbox)|does not exist`, "CRI: codes.NotFound"},
	{"whole-node", `(?:^|[^p] )Out of memory: Kill|CONSTRAINT_NONE|global_oom`, "Linux mm/oom_kill.c"},
	{"one-container", `memory cgroup out of memory|Memory cgroup out of memory|CONSTRAINT_MEMCG|killed as a result of limit`, "Linux mm/oom_kill.c, mm/memcontrol.c"},
}

// errorExpr returns the expression that matches any of the named classes, or the first name
// that does not exist.
func errorExpr(names []string) (expr, unknown string) {
	var parts []string
	for _, name := range names {
		i := slices.IndexFunc(errorClasses, func(c errorClass) bool { return c.Name == name })
		if i < 0 {
			return "", name
		}
		parts = append(parts, errorClasses[i].Expr)
	}
	return strings.Join(parts, "|"), ""
}
