#!/bin/sh
# kubelet-watch.sh vX.Y.Z|TREE: says which functions of the kubelet that package pleg
# models have changed since the newest release that it knows. A version is fetched as a
# Go module. By hand, when a minor release is out; afterwards bring the table of rules in
# pleg/rules.go up to it and keep the fingerprints (-write) in
# internal/cmd/kubeletwatch/known.txt.
set -eu
what=${1:?usage: scripts/kubelet-watch.sh vX.Y.Z|TREE}
repo=$(cd "$(dirname "$0")/.." && pwd)
case $what in
v[0-9]*)
  tmp=$(mktemp -d)
  trap 'rm -r "$tmp"' EXIT
  cd "$tmp" && printf 'module watch\n' >go.mod
  GOFLAGS=-mod=mod go mod download "k8s.io/kubernetes@$what"
  what=$(go env GOMODCACHE)/k8s.io/kubernetes@$what
  cd "$repo"
  ;;
esac
cd "$repo" && go run ./internal/cmd/kubeletwatch "$what"
