#!/usr/bin/env bash
# Cross builds the tokenizer tools for aarch64 and runs the tests of the base and text rooms, and the tools' case of
# --cpu, under qemu: the NEON scanners against the scalar ones and PCRE2, everything else against its references.
# Libraries for aarch64 are unpacked below build/aarch64; no package of another architecture is installed.
# Without the cross compiler, qemu or those libraries it skips with exit code 77. The last line states the counts.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$PWD/build/aarch64
sysroot=$build/sysroot
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
# Apt names of what NetclPackages.cmake looks for, and the shared libraries behind them.
libraries=(
  nlohmann-json3-dev libcli11-dev catch2
  libpcre2-dev libpcre2-8-0 libsimdjson-dev libsimdjson14 libutf8proc-dev libutf8proc2
  libspdlog-dev libspdlog1.10 libfmt-dev libfmt9
)

skip() {
  echo "check_neon: skipped: $1" >&2
  echo "0 passed, 0 failed, 1 skipped"
  exit 77
}

# Downloads with lists and state of our own, as an apt of aarch64 alone, and unpacks.
fill_sysroot() {
  local apt=$build/apt
  rm -rf "$sysroot" "$apt"
  mkdir -p "$sysroot" "$apt/lists/partial" "$apt/archives/partial" "$apt/debs"
  : >"$apt/status"
  local options=(-q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root
    -o "Dir::State=$apt" -o "Dir::State::lists=$apt/lists" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt")
  (cd "$apt/debs" && apt-get "${options[@]}" update && apt-get "${options[@]}" download "${libraries[@]}") \
    >"$apt/log" 2>&1 || { tail -n 5 "$apt/log" >&2; return 1; }
  for deb in "$apt"/debs/*.deb; do
    dpkg-deb -x "$deb" "$sysroot" || return 1
  done
  rm -rf "$apt"
  touch "$sysroot/.complete"
}

scripts/packages.sh neon || skip "the cross compiler and qemu cannot be installed"
for command in aarch64-linux-gnu-g++ qemu-aarch64-static; do
  command -v "$command" >/dev/null || skip "no $command on this machine"
done
[ -e "$sysroot/.complete" ] || fill_sysroot || skip "the libraries for aarch64 cannot be downloaded"

cmake --preset aarch64 -DNETCL_BUILD_TESTS=ON >"$build/configure.log" 2>&1 || { cat "$build/configure.log" >&2; exit 1; }
cmake --build --preset aarch64 -j "$jobs" --target test_base test_text_split test_text_bpe bpe-train bpe-encode

status=0
report=$build/ctest.xml
rm -f "$report"
ctest --preset aarch64 -j "$jobs" -R '^test_(base|text_split|text_bpe):' --output-junit "$report" || status=1

# The tools as programs of this machine.
mkdir -p "$build/emulated"
for tool in bpe-train bpe-encode; do
  printf '#!/bin/sh\nexec qemu-aarch64-static -L /usr/aarch64-linux-gnu "%s" "$@"\n' "$build/tools/$tool" \
    >"$build/emulated/$tool"
  chmod +x "$build/emulated/$tool"
done
tools=$(python3 tests/cli/run.py --tools "$build/emulated" --only cpu_level bpe-encode | tee /dev/stderr | tail -n 1)
[[ "$tools" == "1 passed, 0 failed"* ]] || status=1

tests=$(python3 scripts/count_tests.py "$report" | tee /dev/stderr | tail -n 1) || status=1
read -r passed failed skipped < <(printf '%s\n%s\n' "$tests" "$tools" |
  sed -E 's/[^0-9 ]//g' | awk '{ p += $1; f += $2; s += $3 } END { print p, f, s }')
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && exit "$status"
exit 1
