#!/usr/bin/env bash
# Installs a build into a scratch prefix, then builds and runs a consumer outside the tree against it.
#   scripts/check_install.sh BUILD_DIR
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:?usage: scripts/check_install.sh BUILD_DIR}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/prefix" >"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
cp -r tests/install "$scratch/consumer"
cmake -S "$scratch/consumer" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix" \
  -DCMAKE_BUILD_TYPE=Release >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
cmake --build "$scratch/build" -j "$(nproc)" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
"$scratch/build/consumer"
for tool in "$scratch"/prefix/bin/*; do
  "$tool" --version >/dev/null
done
