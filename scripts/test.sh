#!/usr/bin/env bash
# Installs what is missing, builds the release preset and runs every test.
#   scripts/test.sh [PRESET] [ctest arguments...]        PRESET: release (default), dev, asan, tsan, text-only
# The last line states the counts. Zero tests run is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=release
if [ $# -gt 0 ] && [[ "$1" != -* ]]; then
  preset=$1
  shift
fi
jobs=$(nproc)
scripts/packages.sh test
cmake --preset "$preset" -DNETCL_BUILD_TESTS=ON >build-configure.log 2>&1 ||
  { cat build-configure.log >&2; rm -f build-configure.log; exit 1; }
rm -f build-configure.log
cmake --build --preset "$preset" -j "$jobs"

report=build/$preset/ctest.xml
rm -f "$report"
status=0
ctest --preset "$preset" -j "$jobs" --output-junit "$PWD/$report" "$@" || status=$?
python3 scripts/count_tests.py "$report" || status=1
exit "$status"
