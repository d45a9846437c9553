#!/usr/bin/env bash
# Fails when a tracked C++ file is not formatted as .clang-format says; --fix formats instead.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(git ls-files 'lib/*.h' 'lib/*.cpp' 'tools/*.h' 'tools/*.cpp' 'tests/*.h' 'tests/*.cpp' |
  grep -v -e unicode_tables.cpp -e unicode_scripts_table.cpp)
if [ "${1:-}" = --fix ]; then
  clang-format -i "${files[@]}"
else
  clang-format --dry-run -Werror "${files[@]}"
fi
