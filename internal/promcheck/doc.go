// Package promcheck holds no code, only a comparison with the real thing: the
// samples that we read, from snapshots and from database blocks, against what
// promtool says, and PromQL results against those of a Prometheus server. It
// runs where the environment names snapshot directories:
//
//	PROMCHECK_DIRS=dir1:dir2 go test ./internal/promcheck -v
//
// promtool and prometheus must be on the PATH; the server listens on loopback.
// Verdicts on rule files and on tests of rules need promtool alone; those on the
// rules of testdata/deployed over recorded kubelets need the captures too. The
// program of the linked version is built, outside the module's own list of what it needs, with
//
//	cp go.mod /tmp/p.mod && cp go.sum /tmp/p.sum
//	go build -mod=mod -modfile=/tmp/p.mod -o promtool github.com/prometheus/prometheus/cmd/promtool
package promcheck
