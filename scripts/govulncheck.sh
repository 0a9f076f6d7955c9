#!/bin/sh
# govulncheck.sh: looks for known vulnerabilities in what is linked, where the
# database can be reached; where it cannot, or gives no answer within TIMEOUT seconds
# (300 unless set), it says so and that nothing was checked, and goes on.
set -u
cd "$(dirname "$0")/.."
limit=
command -v timeout >/dev/null && limit="timeout ${TIMEOUT:-300}"
out=$($limit go run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./cmd/plegforensics 2>&1)
status=$?
case $status,$out in
*"Vulnerability #"*) echo "$out"; exit 1 ;;
0,*"No vulnerabilities found"*) echo "$out" | tail -n 3; exit 0 ;;
124,*) out="no answer within ${TIMEOUT:-300} s" ;;
esac
echo "govulncheck could not run, nothing was checked: $(echo "$out" | grep -v "^exit status" | tail -n 1)" >&2
