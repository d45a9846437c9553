#!/usr/bin/env bash
# The chapter end to end on real text: trains an 8,192-token tokenizer, encodes and decodes a sample, looks
# up embedding rows, runs rotary attention on the best device, checks it and draws what attends to what.
#   scripts/quickstart.sh [TEXT FILES...]      without files: documentation and headers of this machine
# Installs only what is missing. Results go to out/: tokenizer.json, ids.npy, y.npy, report.json, attention.svg
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
texts=()
for file in "$@"; do
  [ -r "$file" ] && [ -f "$file" ] || { echo "quickstart: error: $file: not a readable file" >&2; exit 4; }
  texts+=("$(realpath "$file")")
done
cd "$here"

scripts/packages.sh build
build=build/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/build.log
if [ ! -f "$build/CMakeCache.txt" ]; then
  echo "quickstart: configuring" >&2
  cmake --preset release -DNETCL_BUILD_TESTS=OFF >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
fi
[ -x "$build/tools/attn-run" ] ||
  echo "quickstart: building the tools (a few minutes the first time)" >&2
cmake --build "$build" --target tools -j "$(nproc)" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
PATH="$here/$build/tools:$PATH"

# field NAME FILE: a number or text of a report with one field a line
field() { sed -nE "s/^ *\"$1\": \"?([^\",]*)\"?,?\$/\1/p" "$2" | sed 's/^null$/0/'; }

mkdir -p out

if [ ${#texts[@]} -eq 0 ]; then
  # Text that every such machine has, in a fixed order, 8 MB of it at most.
  { find /usr/share/common-licenses /usr/share/perl5 /usr/share/doc -type f \
      \( -name '*.pod' -o -name '*.txt' -o -name 'README*' -o -name copyright -o -path '*common-licenses*' \) \
      -size -512k -print0 2>/dev/null
    find /usr/include -type f -name '*.h' -size -256k -print0 2>/dev/null; } |
    sort -zu | xargs -0 cat 2>/dev/null | head -c 8000000 >"$work/corpus.txt" || true
  texts=("$work/corpus.txt")
fi
bytes=$(cat "${texts[@]}" | wc -c)
[ "$bytes" -ge 1000 ] || { echo "quickstart: error: only $bytes bytes of text; give larger files" >&2; exit 3; }

bpe-train "${texts[@]}" -q --vocab-size 8192 --special '<|endoftext|>' \
  -o out/tokenizer.json --report "$work/train.json"
trained=$(field vocab_size "$work/train.json")

# A sample of the same text: ids and back, compared byte by byte.
head -c 1000000 "${texts[0]}" >"$work/sample.txt"
bpe-encode -t out/tokenizer.json --special plain --format npy "$work/sample.txt" -o "$work/sample.npy"
bpe-decode -t out/tokenizer.json "$work/sample.npy" | cmp - "$work/sample.txt" ||
  { echo "quickstart: decoding does not give the sample back" >&2; exit 1; }
sample_bytes=$(wc -c <"$work/sample.txt")
sample_tokens=$(bpe-encode -t out/tokenizer.json --special plain --count "$work/sample.txt" | awk '{print $1}')

# One sentence through the whole chapter: ids -> embedding rows -> rotary attention -> picture.
printf 'Every token asks a question, and every earlier token may answer it.' >"$work/sentence.txt"
bpe-encode -t out/tokenizer.json --format npy "$work/sentence.txt" -o out/ids.npy
bpe-encode -t out/tokenizer.json --pieces --format jsonl "$work/sentence.txt" -o "$work/pieces.jsonl"
attn-run --ids out/ids.npy --vocab-size "$trained" --init 7 --dim 256 --heads 4 --kv-heads 4 \
  --max-seq-len 512 --causal --check -q -o out/y.npy --report out/report.json \
  --heatmap out/attention.svg --labels "$work/pieces.jsonl"

awk -v b="$bytes" -v sb="$sample_bytes" -v st="$sample_tokens" -v v="$trained" 'BEGIN {
  printf "corpus      %.1f MB of text\n", b / 1e6
  printf "tokenizer   %d tokens, %.2f bytes per token on a sample of %d bytes, decoded back without a difference\n", v, sb / st, sb
}'
r=out/report.json
printf 'sentence    %s tokens -> embedding rows of %s numbers -> %s heads of %s, causal, RoPE pairing %s\n' \
  "$(field q_len $r)" "$(field dim $r)" "$(field heads $r)" "$(field head_dim $r)" "$(field rope_pairing $r)"
printf 'device      %s, kernel %s\n' "$(field device $r)" "$(field kernel $r)"
printf 'time        %.2f ms on the device, %.2f ms wall\n' "$(field device_ms $r)" "$(field wall_ms $r)"
printf 'error       %.1e at most against the double-precision oracle\n' "$(field max_abs_error $r)"
echo "written     out/tokenizer.json out/ids.npy out/y.npy out/report.json out/attention.svg"
