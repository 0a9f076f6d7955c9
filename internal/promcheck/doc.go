// Package promcheck contains only tests, which compare with the real tools: the samples that we
// read from snapshots and database blocks with those that promtool reads, and PromQL results with
// those of a Prometheus server. They run if the environment names snapshot directories:
//
//	PROMCHECK_DIRS=dir1:dir2 go test ./internal/promcheck -v
//
// promtool and prometheus must be in PATH; the server listens on loopback. Checks of rule files and
// rule tests need only promtool; those of testdata/deployed over recorded kubelets also need the
// captures. promtool of the linked version, whose dependencies go.mod does not list completely, is
// built by
//
//	cp go.mod /tmp/p.mod && cp go.sum /tmp/p.sum
//	go build -mod=mod -modfile=/tmp/p.mod -o promtool github.com/prometheus/prometheus/cmd/promtool
package promcheck
