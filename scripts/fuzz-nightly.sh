#!/usr/bin/env bash
# fuzz-nightly.sh [TIME]: runs each fuzz target for TIME, an hour unless told
# otherwise, on one worker, and tells how many executions each reached. An input
# that fails is filed by the engine under testdata/fuzz of its package: commit it
# with the fix. Inputs are made small for ten tries only, as the engine would spend
# a minute on each otherwise. The corpus that was found stays in the build cache of Go.
set -uo pipefail
cd "$(dirname "$0")/.."
time=${1:-1h}
failed=0
for dir in $(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do
  for target in $(grep -rhoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | sed 's/^func //' | sort -u); do
    out=$(go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -parallel 1 -fuzzminimizetime 10x "$dir" 2>&1) || failed=1
    printf '%-45s %s\n' "$dir $target" "$(grep -E '^fuzz: elapsed' <<<"$out" | tail -n 1)"
    grep -A20 -E 'Failing input|panic:' <<<"$out"
  done
done
exit $failed
