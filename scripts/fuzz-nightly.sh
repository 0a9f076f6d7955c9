#!/usr/bin/env bash
# fuzz-nightly.sh [TIME [TARGET]]: runs each fuzz target (or those whose name
# TARGET matches) for TIME, an hour unless told otherwise, on one worker, and tells
# how many executions each reached. TIME may be a number of executions: 1000x. An
# input that fails is filed by the engine under testdata/fuzz of its package: commit
# it with the fix. Of what was found on new paths the smallest inputs, 20 a target at
# most, are filed there too, so that every go test runs them; the rest stays in the
# build cache of Go. Inputs are made small for ten tries only, as the engine would
# spend a minute on each otherwise.
set -uo pipefail
cd "$(dirname "$0")/.."
time=${1:-1h}
only=${2:-.}
failed=0
cache=$(go env GOCACHE)/fuzz

# file_corpus DIR TARGET files what the engine kept.
file_corpus() {
  local from to have
  from=$cache/$(go list "$1")/$2
  to=$1/testdata/fuzz/$2
  [ -d "$from" ] || return
  mkdir -p "$to"
  have=$(find "$to" -type f | wc -l)
  find "$from" -type f -size -5k -printf '%s %f\n' | sort -n | while read -r _ name; do
    [ "$have" -lt 20 ] || break
    [ -e "$to/$name" ] && continue
    cp "$from/$name" "$to/$name"
    have=$((have + 1))
  done
}

for dir in $(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do
  for target in $(grep -rhoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | sed 's/^func //' | sort -u | grep -E -- "$only"); do
    out=$(go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -parallel 1 -fuzzminimizetime 10x "$dir" 2>&1)
    if [ $? -ne 0 ]; then
      failed=1
      grep -A20 -E 'Failing input|panic:|--- FAIL|^FAIL|build failed' <<<"$out"
    else
      file_corpus "$dir" "$target"
    fi
    printf '%-45s %s\n' "$dir $target" "$(grep -E '^fuzz: elapsed' <<<"$out" | tail -n 1)"
  done
done
exit $failed
