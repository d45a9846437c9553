#!/usr/bin/env bash
# Installs the Debian packages that one step needs, and only those that are missing.
#   scripts/packages.sh build|test|ci|neon|spark [--list]
# Says what it installs and why; uses sudo when not root. --list prints the names instead.
set -euo pipefail

build_packages=(
  g++ cmake make                       # compiler and build
  libcli11-dev libspdlog-dev           # options and logging of the tools
  nlohmann-json3-dev libsimdjson-dev   # JSON
  libpcre2-dev libutf8proc-dev         # split patterns, Unicode normalisation
  ocl-icd-opencl-dev opencl-headers opencl-clhpp-headers  # OpenCL loader and headers
  pocl-opencl-icd                      # an OpenCL device on every CPU
)
test_packages=("${build_packages[@]}" catch2 python3 python3-venv xz-utils)
ci_packages=("${test_packages[@]}" git clang clang-format clang-tidy libclang-rt-14-dev oclgrind)
neon_packages=(cmake make python3 g++-aarch64-linux-gnu qemu-user-static)
spark_packages=(openjdk-17-jre-headless python3 python3-venv)

usage() { echo "usage: scripts/packages.sh build|test|ci|neon|spark [--list]" >&2; exit 2; }
[ $# -ge 1 ] || usage
case "$1" in
  build) wanted=("${build_packages[@]}"); why="to build the tools" ;;
  test) wanted=("${test_packages[@]}"); why="to build and test" ;;
  ci) wanted=("${ci_packages[@]}"); why="for the strict checks" ;;
  neon) wanted=("${neon_packages[@]}"); why="to build and test for aarch64" ;;
  spark) wanted=("${spark_packages[@]}"); why="to run a Spark cluster" ;;
  *) usage ;;
esac
if [ "${2:-}" = --list ]; then
  printf '%s\n' "${wanted[@]}"
  exit 0
fi

if ! command -v dpkg-query >/dev/null; then
  echo "packages: not a Debian system; install the equivalents of: ${wanted[*]}" >&2
  exit 0
fi
missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null ||
    { echo "packages: missing ${missing[*]}; run as root: apt-get install ${missing[*]}" >&2; exit 4; }
  as_root=(sudo)
fi
echo "packages: installing $why: ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update -q &&
       "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
         apt-get install -y -q --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "packages: apt-get failed; see the lines above" >&2
  exit 4
fi
