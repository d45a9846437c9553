#!/usr/bin/env bash
# Runs clang-tidy on C++ sources.
#   scripts/check_tidy.sh BUILD_DIR [--all]     without --all: sources changed in the last five commits
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: scripts/check_tidy.sh BUILD_DIR [--all]}
base=$(git rev-parse -q --verify HEAD~5 || true)
if [ "${2:-}" = --all ] || [ -z "$base" ]; then
  mapfile -t files < <(git ls-files 'lib/*.cpp' 'tools/*.cpp')
else
  mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- 'lib/*.cpp' 'tools/*.cpp')
fi
[ ${#files[@]} -gt 0 ] || exit 0
printf '%s\n' "${files[@]}" | grep -v unicode_tables.cpp |
  xargs -P "$(nproc)" -n 2 clang-tidy -quiet -p "$build" --extra-arg=-Wno-unknown-warning-option 2>/dev/null
