#!/usr/bin/env bash
# Builds the fuzz preset, replays the seeds of every libFuzzer target and runs it for SECONDS, two at a time.
#   scripts/fuzz.sh SECONDS [NAME...]        NAME: fuzz_npy, ... (default: all)
# Seeds are the files of tests/fuzz/corpus/NAME, which stay as they are; what a run finds worth keeping goes to
# build/fuzz/scratch/NAME/corpus, where the next run goes on from. A finding leaves its input in
# build/fuzz/scratch/NAME and the exit code 1. The last line states the counts.
set -euo pipefail
cd "$(dirname "$0")/.."
[[ "${1:-}" =~ ^[1-9][0-9]*$ ]] || { echo "usage: scripts/fuzz.sh SECONDS [NAME...]" >&2; exit 2; }
seconds=$1
shift
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  for source in tests/fuzz/fuzz_*.cpp; do
    names+=("$(basename "$source" .cpp)")
  done
fi
build=$PWD/build/fuzz
mkdir -p "$build"
cmake --preset fuzz >"$build/configure.log" 2>&1 || { cat "$build/configure.log" >&2; exit 1; }
cmake --build --preset fuzz -j "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" --target "${names[@]}"

fuzz_one() {
  local name=$1 work=$build/scratch/$1 seeds=tests/fuzz/corpus/$1
  # -timeout: one input; the memory limits catch sizes that are believed before they are checked.
  local program=("$build/tests/fuzz/$name" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=512
    -artifact_prefix="$work/")
  mkdir -p "$work/corpus"
  if ! "${program[@]}" "$seeds"/* >"$work/log" 2>&1; then
    tail -n 60 "$work/log"
    echo "$name: finding; seed $(sed -n 's/^Running: //p' "$work/log" | tail -n 1)"
  elif ! "${program[@]}" -max_total_time="$seconds" -max_len=16384 -print_final_stats=1 "$work/corpus" "$seeds" \
      >"$work/log" 2>&1; then
    tail -n 60 "$work/log"
    echo "$name: finding; input in $work"
  else
    echo "$name: ok, $(grep -oE 'number_of_executed_units: [0-9]+' "$work/log" | grep -oE '[0-9]+$') inputs"
  fi
}
export -f fuzz_one
export build seconds
results=$build/results
printf '%s\n' "${names[@]}" | xargs -P 2 -I '{}' bash -c 'fuzz_one {}' | tee "$results"
passed=$(grep -c '^fuzz_[a-z0-9_]*: ok' "$results" || true)
failed=$((${#names[@]} - passed))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
