#!/bin/sh
# govulncheck.sh: looks for known vulnerabilities in what is linked, where the
# database can be reached; says so and goes on where it cannot.
set -eu
cd "$(dirname "$0")/.."
out=$(go run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./cmd/plegforensics 2>&1) && { echo "$out" | tail -n 3; exit 0; }
case $out in
*"Vulnerability #"*) echo "$out"; exit 1 ;;
esac
echo "govulncheck could not run, nothing was checked: $(echo "$out" | tail -n 1)" >&2
