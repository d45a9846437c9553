#!/usr/bin/env bash
# Makes the texts that compare_encoders.py encodes: en.txt (27 MB), code.txt (35 MB), multi.txt (40 MB),
# cjk.txt (30 MB of Chinese and Japanese), log.txt (20 MB, full of white space). Same packages, same bytes.
#   scripts/encode_corpus.sh DIR [--work WORK] [--big]
# --big: also big.txt, 1.0 GB of English documentation (then 0.64 GB of downloads in all, and 7.6 GB in WORK).
# WORK (DIR/work) holds the downloaded and unpacked packages: 1.3 GB, and not needed afterwards.
# en, code and multi are the parts of ../shared/corpora/make_corpus.sh kept apart; encode_corpus.py checks
# that together they are that corpus. Exit 77 with a message where ../shared or a package cannot be had.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
usage() { echo "usage: scripts/encode_corpus.sh DIR [--work WORK] [--big]" >&2; exit 2; }
skip() { echo "encode_corpus: skipped: $*" >&2; exit 77; }
[ $# -ge 1 ] || usage
case $1 in -*) usage ;; esac
out=$1 work=$1/work big=()
shift
while [ $# -gt 0 ]; do
  case $1 in
    --work) [ $# -ge 2 ] || usage; work=$2; shift 2 ;;
    --big) big=("$here/encode_corpus_big_packages.txt"); shift ;;
    *) usage ;;
  esac
done
corpora=$here/../../shared/corpora
[ -f "$corpora/corpus_packages.txt" ] || skip "no corpus_packages.txt in $corpora"
for tool in apt-get dpkg-deb sha256sum python3; do
  command -v "$tool" >/dev/null || skip "no $tool"
done
mkdir -p "$out" "$work/debs" "$work/x"

# unpack PACKAGE VERSION SHA256: downloads the package unless it is there and unpacks it to WORK/x/PACKAGE.
unpack() {
  local package=$1 version=$2 wanted=$3 files got
  [ ! -d "$work/x/$package" ] || return 0
  files=("$work/debs/${package}_"*.deb)
  if [ ! -f "${files[0]}" ]; then
    (cd "$work/debs" && { apt-get -qq download "$package=$version" || apt-get -qq download "$package"; }) 2>/dev/null ||
      skip "package $package cannot be downloaded (apt-get update may help)"
    files=("$work/debs/${package}_"*.deb)
  fi
  got=$(sha256sum "${files[0]}" | cut -d ' ' -f 1)
  [ "$got" = "$wanted" ] ||
    echo "encode_corpus: warning: $package is not the recorded version $version; the texts may differ" >&2
  rm -rf "$work/x/$package.part"
  dpkg-deb -x "${files[0]}" "$work/x/$package.part"
  mv "$work/x/$package.part" "$work/x/$package"
}

while read -r package version sha256; do
  case $package in '' | \#*) continue ;; esac
  unpack "$package" "$version" "$sha256"
done < <(cat "$corpora/corpus_packages.txt" "$here/encode_corpus_packages.txt" "${big[@]}")
python3 "$here/encode_corpus.py" "$work/x" "$out" "$corpora/corpus_tokens.json" "${big[@]}"
