#!/usr/bin/env bash
# Makes (once) a virtual environment with the packages of a requirements file and prints its python.
#   python=$(scripts/venv.sh scripts/requirements-netcl.txt)
# Prints nothing and exits 77 where the packages cannot be had (no network, no venv module). NAME-source.txt beside
# NAME.txt lists packages that are then built from source with what NAME.txt installed; one that cannot be built is
# said and left out.
set -euo pipefail
cd "$(dirname "$0")/.."
requirements=${1:?usage: scripts/venv.sh REQUIREMENTS}
sources=${requirements%.txt}-source.txt
[ -f "$sources" ] || sources=/dev/null
folder=build/venv/$(basename "$requirements" .txt)
if [ ! -f "$folder/.complete" ] || ! cat "$requirements" "$sources" | cmp -s - "$folder/.complete"; then
  rm -rf "$folder"
  mkdir -p build/venv
  python3 -m venv "$folder" >&2 &&
    "$folder/bin/python" -m pip install -q --disable-pip-version-check -r "$requirements" >&2 ||
    { echo "venv: the packages of $requirements are not available here" >&2; exit 77; }
  while read -r package; do
    "$folder/bin/python" -m pip install -q --disable-pip-version-check --no-build-isolation "$package" >&2 ||
      echo "venv: $package cannot be built here" >&2
  done <"$sources"
  cat "$requirements" "$sources" >"$folder/.complete"
fi
echo "$PWD/$folder/bin/python"
