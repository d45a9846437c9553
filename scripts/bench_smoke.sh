#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs attn-bench once at a tiny size on every device, the host engine included, and checks its JSON;
# runs the benchmarks of tests/bench, which check their results themselves, on a small text.
#   scripts/bench_smoke.sh BUILD_DIR
# The last line is "N passed, N failed"; exit status 1 when a run failed or none passed.
set -uo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
build=${1:?usage: bench_smoke.sh BUILD_DIR}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
devices=$("$build/tools/attn-run" --list-devices | cut -f 1)
for device in $devices; do
  for options in "--seq 16 --causal false" "--seq 17 --causal true --dtype f16"; do
    # shellcheck disable=SC2086
    if "$build/tools/attn-bench" --device "$device" $options --heads 2 --kv-heads 1 --head-dim 8 --repeats 1 \
        --format json -o "$work/bench.json" &&
      python3 - "$work/bench.json" <<'PY'
import json, sys
b = json.load(open(sys.argv[1]))["benchmarks"][0]
sys.exit(0 if b["real_time"] > 0 and b["checked_rows"] > 0 and b["gflop_per_second"] is not None else 1)
PY
    then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "FAILED: device $device: attn-bench $options"
    fi
  done
done
if "$build/tests/bench/bench_scanners" --runs 1 "$here/README.md" >/dev/null; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "FAILED: bench_scanners"
fi
# bench_encode: the ids that it times are those that bpe-encode writes.
if "$build/tools/bpe-train" "$here/README.md" --vocab-size 400 -o "$work/tokenizer.json" -q &&
  "$build/tools/bpe-encode" -t "$work/tokenizer.json" --special none --format u32 "$here/README.md" -o "$work/tool.u32" -q &&
  "$build/tests/bench/bench_encode" --json --threads 2 --passes 1 --ids "$work/bench.u32" \
    "$work/tokenizer.json" - "$here/README.md" >"$work/encode.json" &&
  cmp "$work/tool.u32" "$work/bench.u32" &&
  python3 - "$work/encode.json" <<'PY'
import json, sys
row = json.load(open(sys.argv[1]))["files"][0]
sys.exit(0 if row["ids"] > 0 and all(p["seconds"] > 0 and p["clock"] > 0 for p in [row["cold"], *row["warm"]]) else 1)
PY
then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "FAILED: bench_encode"
fi
# bench_train: two threads give the merges of one, and another hash is refused.
train() { "$build/tests/bench/bench_train" --vocab 400 --json "$@" "$here/README.md" "$here/CHANGELOG.md"; }
if train >"$work/train.json" &&
  hash=$(python3 - "$work/train.json" <<'PY'
import json, sys
run = json.load(open(sys.argv[1]))
print(run["hash"])
sys.exit(0 if run["merges"] == 144 and run["pieces"] > 0 and all(t >= 0 for t in run["seconds"].values()) else 1)
PY
  ) &&
  train --threads 2 --expect "$hash" >/dev/null && ! train --expect 0123456789abcdef >/dev/null 2>&1
then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "FAILED: bench_train"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
