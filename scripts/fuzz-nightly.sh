#!/usr/bin/env bash
# fuzz-nightly.sh [TIME [TARGET]]: runs each fuzz target (or those whose name
# TARGET matches) for TIME, an hour unless told otherwise, on one worker, and tells
# how many executions each reached. TIME may be a number of executions: 1000x; "list"
# names the targets instead.
#
# LEDGER, .fuzz-ledger.tsv unless set, keeps for each target how often it was executed
# in all runs so far, the inputs of its corpus and how much of the statements of its package,
# of a program those of all its packages, these cover. Those that were executed least come first, and those that have reached
# GOAL executions, 10,000,000 unless set, are left out: a run that was broken off is
# gone on with by starting it again.
#
# An input that fails is filed by the engine under testdata/fuzz of its package: commit
# it with the fix. Of what was found on new paths the smallest inputs, 20 a target at
# most, are filed there too (not with FILE=no), so that every go test runs them; the rest
# stays in the build cache of Go. Inputs are made small for ten tries only, as the engine
# would spend a minute on each otherwise.
set -uo pipefail
cd "$(dirname "$0")/.."
time=${1:-1h}
only=${2:-.}
ledger=${LEDGER:-.fuzz-ledger.tsv}
goal=${GOAL:-10000000}
failed=0
[ "$time" != list ] || ledger=/dev/null
cache=$(go env GOCACHE)/fuzz
touch "$ledger" || exit 1

# file_corpus DIR TARGET files what the engine kept.
file_corpus() {
  local from to have
  from=$cache/$(go list "$1")/$2
  to=$1/testdata/fuzz/$2
  [ "${FILE:-yes}" = yes ] && [ -d "$from" ] || return
  mkdir -p "$to"
  have=$(find "$to" -type f | wc -l)
  find "$from" -type f -size -5k -printf '%s %f\n' | sort -n | while read -r _ name; do
    [ "$have" -lt 20 ] || break
    [ -e "$to/$name" ] && continue
    cp "$from/$name" "$to/$name"
    have=$((have + 1))
  done
}

# coverage DIR TARGET prints how many inputs the corpus has and what they cover. The
# engine's own are read beside those of the package in a directory next to it, where
# relative paths hold.
coverage() {
  local package covered beside inputs percent
  package=$(go list "$1")
  covered=$package
  [ "$(go list -f '{{.Name}}' "$1")" != main ] || covered=$(go list -deps "$1" | grep "^$(go list -m)/" | paste -sd,)
  beside=$(mktemp -d "$(dirname "$1")/.fuzz-cover.XXXXXX")
  mkdir -p "$beside/testdata/fuzz/$2"
  find "$PWD/$1" -mindepth 1 -maxdepth 1 ! -name testdata -exec ln -s -t "$beside" {} +
  [ -d "$1/testdata" ] && find "$PWD/$1/testdata" -mindepth 1 -maxdepth 1 ! -name fuzz -exec ln -s -t "$beside/testdata" {} +
  for from in "$PWD/$1/testdata/fuzz/$2" "$cache/$package/$2"; do
    [ -d "$from" ] && find "$from" -type f -exec ln -sf -t "$beside/testdata/fuzz/$2" {} +
  done
  inputs=$(find "$beside/testdata/fuzz/$2" -type l | wc -l)
  percent=
  if go test -c -cover -coverpkg "$covered" -o "$beside/.test" "$1" >/dev/null 2>&1; then
    percent=$(cd "$beside" && ./.test -test.run "^$2\$" -test.coverprofile /dev/null 2>/dev/null | grep -oE 'coverage: [0-9.]+%' | grep -oE '[0-9.]+')
  fi
  rm -r "$beside"
  printf '%s\t%s\n' "$inputs" "${percent:-unknown}"
}

# so_far DIR TARGET prints the executions that the ledger has.
so_far() { awk -F'\t' -v d="$1" -v t="$2" '$1 == d && $2 == t { n = $3 } END { print n + 0 }' "$ledger"; }

# enter DIR TARGET EXECUTIONS INPUTS COVERAGE replaces a line of the ledger.
enter() {
  local next=$ledger.next
  { awk -F'\t' -v d="$1" -v t="$2" '!($1 == d && $2 == t)' "$ledger"; printf '%s\t%s\t%s\t%s\t%s\n' "$@"; } | sort >"$next" && mv "$next" "$ledger"
}

targets() {
  grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u | while read -r dir; do
    grep -rhoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | sed 's/^func //' | sort -u | grep -E -- "$only" | while read -r target; do
      echo "$(so_far "$dir" "$target") $dir $target"
    done
  done | sort -n
}

if [ "$time" = list ]; then
  targets | cut -d' ' -f2-
  exit
fi
while read -r before dir target; do
  if [ "$before" -ge "$goal" ]; then
    printf '%-45s %s executions so far: enough\n' "$dir $target" "$before"
    continue
  fi
  out=$(go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -parallel 1 -fuzzminimizetime 10x "$dir" 2>&1 </dev/null)
  if [ $? -ne 0 ]; then
    failed=1
    grep -A20 -E 'Failing input|panic:|--- FAIL|^FAIL|build failed' <<<"$out"
  else
    file_corpus "$dir" "$target"
  fi
  last=$(grep -E '^fuzz: elapsed.* execs: [0-9]+ ' <<<"$out" | tail -n 1) # whole: behind the number goes a blank
  now=$(grep -oE 'execs: [0-9]+' <<<"$last" | grep -oE '[0-9]+')
  if [ -z "$now" ]; then
    printf '%-45s ended before executions were counted: not entered\n' "$dir $target"
    continue
  fi
  IFS=$'\t' read -r inputs percent < <(coverage "$dir" "$target")
  enter "$dir" "$target" $((before + now)) "$inputs" "$percent"
  printf '%-45s %s; %s so far, %s inputs cover %s %%\n' "$dir $target" "$last" $((before + now)) "$inputs" "$percent"
done < <(targets)
exit $failed
