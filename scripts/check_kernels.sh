#!/usr/bin/env bash
# Compiles every kernels/*.cl alone, warnings as errors: with its defaults, and with each macro set of a
# line "// check: -DNAME=VALUE ..." in its header comment. The last line states the counts.
set -uo pipefail
cd "$(dirname "$0")/../kernels"
clang=${CLANG:-clang}
command -v "$clang" >/dev/null || { echo "check_kernels: $clang is missing (package clang)" >&2; exit 1; }

passed=0 failed=0
compile() {
  if "$clang" -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -fsyntax-only -Wall -Werror "${@:2}" "$1"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $1 ${*:2}"
  fi
}

for file in *.cl; do
  compile "$file"
  while read -r -a macros; do
    [ ${#macros[@]} -eq 0 ] || compile "$file" "${macros[@]}"
  done < <(sed -n 's|^// check: *||p' "$file")
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
