#!/usr/bin/env bash
# Compiles every header of lib/ alone: a header includes what it uses.
#   scripts/check_headers.sh BUILD_DIR      (for the configured version.h)
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: scripts/check_headers.sh BUILD_DIR}
compile_alone() {
  printf '#include "%s"\n' "${1#lib/}" |
    g++ -std=c++20 -fsyntax-only -Wall -Wextra -Ilib -I"$2/lib" -Ikernels -I. \
      -DCL_HPP_TARGET_OPENCL_VERSION=120 -DCL_HPP_MINIMUM_OPENCL_VERSION=120 \
      -DCL_TARGET_OPENCL_VERSION=120 -DCL_HPP_ENABLE_EXCEPTIONS -x c++ - ||
    { echo "check_headers: $1 does not compile alone" >&2; return 1; }
}
export -f compile_alone
git ls-files 'lib/*.h' | xargs -P "$(nproc)" -I{} bash -c 'compile_alone {} '"$build"
