// Package promcheck holds no code, only a comparison with the real thing: the
// samples that we read, from snapshots and from database blocks, against what
// promtool says, and PromQL results against those of a Prometheus server. It
// runs where the environment names snapshot directories:
//
//	PROMCHECK_DIRS=dir1:dir2 go test ./internal/promcheck -v
//
// promtool and prometheus must be on the PATH; the server listens on loopback.
// Verdicts on rule files and on tests of rules need promtool alone.
package promcheck
