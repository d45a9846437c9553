#!/usr/bin/env bash
# Runs the smallest meaningful shape of every kernel under Oclgrind: races, uninitialised values, bad
# accesses; with work-groups of any size and of at most 64, 16 and 1 work-items. Any report is a failure.
#   scripts/check_oclgrind.sh [BUILD_DIR]        default build/release, with the tests built
# The last line states the counts.
set -uo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
[ "$build" != "${build#/}" ] || build=$PWD/$build
smoke=$build/tests/nn/oclgrind_smoke
command -v oclgrind >/dev/null || { echo "check_oclgrind: oclgrind is missing (package oclgrind)" >&2; exit 1; }
[ -x "$smoke" ] || { echo "check_oclgrind: $smoke is missing; build the tests first" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

passed=0 failed=0
# run NAME OCLGRIND_OPTIONS... -- SMOKE_ARGUMENTS...
run() {
  local name=$1 status=0 p=0 f=0 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  rm -f "$scratch/report"
  oclgrind --max-errors 20 --log "$scratch/report" "${options[@]}" "$smoke" auto "$@" >"$scratch/out" || status=$?
  grep -vE '^[0-9]+ passed' "$scratch/out" | sed "s/^/$name: /"
  read -r p f < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$scratch/out" | tail -n 1)
  passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0}))
  if [ -s "$scratch/report" ]; then
    echo "$name: Oclgrind reports:"
    cat "$scratch/report"
    failed=$((failed + 1))
  elif [ $status -ne 0 ] && [ "${f:-0}" -eq 0 ]; then
    echo "$name: ended with status $status"
    failed=$((failed + 1))
  fi
}

run "any group" --data-races --
calls=$(grep -cE '^(ok|FAILED) ' "$scratch/out")
kernels=$(grep -cE '^(ok|FAILED) kernel ' "$scratch/out")
for limit in 64 16 1; do
  run "groups of $limit" --data-races --max-wgsize "$limit" --
done
# The check for uninitialised values does not know the instruction `freeze`, which optimised code
# contains, and reports memory that was written when a buffer takes the place of a released one: so
# without optimisation, and each call in a process of its own.
for ((call = 0; call < calls - kernels; ++call)); do
  run "uninitialised values" --uninitialized --build-options -cl-opt-disable -- "$call"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
