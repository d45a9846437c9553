#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that tokenizer files written by bpe-train load elsewhere with equal ids.

usage: compare_hf.py TOOLS_DIR [--corpus FILE]

For several patterns a tokenizer is trained on the corpus (default: this folder's scripts and README), written as
tokenizer.json and as .tiktoken, and sample texts are encoded by bpe-encode and by Hugging Face `tokenizers` 0.23.2 and
`tiktoken`. Needs the packages of requirements-compare.txt; without them it says so and exits 77.
Last line: N passed, N failed; exit 1 on a failure.
"""
import argparse
import base64
import json
import pathlib
import random
import subprocess
import sys
import tempfile

PATTERNS = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "cl100k": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
              r"|\s+(?!\S)|\s+",
}
SPECIAL = "<|endoftext|>"


def samples(corpus: str) -> list[str]:
    rng = random.Random(1)
    texts = ["", "Hello world!", "  two\n\n lines\r\n", "don't DON'T", "e\u0301 \u0130 \u4e2d\u6587 \U0001f642 1234567"]
    for _ in range(200):
        start = rng.randrange(len(corpus))
        texts.append(corpus[start:start + rng.randrange(1, 300)])
        texts.append("".join(chr(rng.choice([rng.randrange(32, 127), rng.randrange(0xA0, 0x3000)])) for _ in range(40)))
    return texts


def encode(tools: pathlib.Path, options: list[str], texts: list[str]) -> list[list[int]]:
    rows = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    done = subprocess.run([tools / "bpe-encode", *options, "--jsonl", "--format", "jsonl", "--special", "plain", "-"],
                          input=rows.encode(), capture_output=True, check=True)
    return [json.loads(line)["ids"] for line in done.stdout.splitlines()]


def main() -> int:
    try:
        import tiktoken
        import tokenizers
    except ImportError as error:
        print(f"skipped: {error}; install scripts/requirements-compare.txt")
        return 77
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("--corpus", type=pathlib.Path)
    args = parser.parse_args()
    here = pathlib.Path(__file__).resolve().parent
    files = [args.corpus] if args.corpus else [*sorted(here.glob("*.py")), here.parent / "README.md"]
    texts = samples("".join(file.read_text("utf-8") for file in files))
    results: list[bool] = []

    def check(name: str, equal: bool) -> None:
        results.append(equal)
        print(f"{'ok' if equal else 'FAILED'}: {name}")

    with tempfile.TemporaryDirectory() as folder:
        for name, pattern in PATTERNS.items():
            stem = pathlib.Path(folder) / name
            for form in ("json", "tiktoken"):
                subprocess.run([args.tools / "bpe-train", *files, "-o", f"{stem}.{form}", "--format", form, "--vocab-size",
                                "1000", "--pattern", name, "--special", SPECIAL, "-q"], check=True)
            ours = encode(args.tools, ["-t", f"{stem}.json"], texts)
            theirs = tokenizers.Tokenizer.from_file(f"{stem}.json")
            theirs.encode_special_tokens = True
            check(f"{name}: tokenizer.json in tokenizers {tokenizers.__version__}",
                  [theirs.encode(text, add_special_tokens=False).ids for text in texts] == ours)
            check(f"{name}: the special token has the id 0",
                  tokenizers.Tokenizer.from_file(f"{stem}.json").encode(SPECIAL).ids == [0])
            ranks = {}
            for line in pathlib.Path(f"{stem}.tiktoken").read_bytes().splitlines():
                token, rank = line.split()
                ranks[base64.b64decode(token)] = int(rank)
            peer = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={SPECIAL: 0})
            check(f"{name}: .tiktoken in tiktoken {tiktoken.__version__}",
                  [peer.encode_ordinary(text) for text in texts] == ours)
            check(f"{name}: .tiktoken read back",
                  encode(args.tools, ["-t", f"{stem}.tiktoken", "--pattern-regex", pattern], texts) == ours)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
