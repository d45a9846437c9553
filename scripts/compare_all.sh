#!/usr/bin/env bash
# Runs every comparison with other implementations, each in its own virtual environment.
#   scripts/compare_all.sh [BUILD_DIR]      build/release by default; last line: N passed, N failed, N skipped
set -uo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
passed=0 failed=0 skipped=0

# compare REQUIREMENTS SCRIPT ARGUMENTS...
compare() {
  local requirements=$1 python line
  shift
  echo "-- $1"
  python=$(scripts/venv.sh "$requirements")
  if [ -z "$python" ]; then
    skipped=$((skipped + 1))
    return
  fi
  line=$("$python" "$@" | tee /dev/stderr | tail -n 1)
  read -r p f s < <(sed -E 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?.*/\1 \2 \4/' <<<"$line")
  if [[ "$p" =~ ^[0-9]+$ ]]; then
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + ${s:-0}))
  else
    failed=$((failed + 1))
  fi
}

compare scripts/requirements-compare.txt scripts/compare_numpy.py "$build"
compare scripts/requirements-compare.txt scripts/compare_hf.py "$build/tools"
compare scripts/requirements-compare.txt scripts/fuzz_trainer.py "$build/tools"
compare scripts/requirements-rope.txt scripts/compare_rope.py
compare scripts/requirements-netcl.txt scripts/compare_netcl.py "$build/tools"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
