#!/bin/sh
# profile.sh: makes cmd/plegforensics/release.pgo anew, by which the compiler knows
# what to inline in a release: the profile of BenchmarkAnalyze. A stale profile costs a little
# speed and nothing else; make it anew when the hot paths have changed. Needs an
# idle machine and xz.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -r "$tmp"' EXIT
CGO_ENABLED=0 go test -trimpath ./cmd/plegforensics -run '^$' -bench Analyze -benchtime 8s -o "$tmp/test" -cpuprofile "$tmp/cpu"
go tool pprof -proto "$tmp/cpu" >"$tmp/pgo"
mv "$tmp/pgo" cmd/plegforensics/release.pgo
