#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what compare_encoders.py does not: loading, process start, small documents, worst cases, memory.

usage: measure_encoder.py --tools BUILD_DIR --corpus DIR [-o FILE.md] [--rounds N] [--only PART,...]

BUILD_DIR and DIR as for compare_encoders.py, whose virtual environment has the tokenizers that loading is compared
with. Every process is bound to one core, the last one; what is compared alternates. Parts:
load     until one letter is encoded: tokenizer.json here and in Hugging Face tokenizers, .tiktoken here
start    bpe-encode from its start to the end of a one-letter text, with cl100k
small    documents of 1 kB to 1 MB: the first one of a process, and again
worst    one text of 1 and of 2 MB of a kind: milliseconds for each MB, first time and again
memory   most resident memory of bpe-encode over texts of 1, 5 and 10 million different words
Exit status 77 where something is missing, 1 where a program fails. The ids are checked by bench_encode, by decoding.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import compare_encoders as comparison
import encoder_report as report

LOADED = {"cl100k": "gpt35turbo.tokenizer.json", "qwen3": "qwen3.tokenizer.json",
          "o200k (gpt-oss)": "gptoss.tokenizer.json", "llama3": "llama3.tokenizer.json"}
HF_LOAD = """import sys, time
from tokenizers import Tokenizer
start = time.perf_counter()
Tokenizer.from_file(sys.argv[1]).encode("a").ids
print(time.perf_counter() - start)"""
SIZES = {"1 kB": 1000, "10 kB": 10_000, "100 kB": 100_000, "1 MB": 1_000_000}
WORDS = (1_000_000, 5_000_000, 10_000_000)


class Measurement:
    def __init__(self, arguments: argparse.Namespace, scratch: pathlib.Path):
        self.rounds = arguments.rounds
        self.scratch = scratch
        self.corpus = arguments.corpus
        self.tool = (arguments.tools / "tools/bpe-encode").resolve()
        self.bench = (arguments.tools / "tests/bench/bench_encode").resolve()
        arguments.vocabs, arguments.python = None, None
        arguments.files, arguments.megabytes = ["en"], None
        peers = comparison.Comparison(arguments, scratch)
        self.vocabs, self.python = pathlib.Path(peers.vocabs), peers.python
        self.core = comparison.cores_for(1)

    def output_of(self, command: list[str], **more) -> str:
        bind = lambda: os.sched_setaffinity(0, self.core)  # noqa: E731
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, preexec_fn=bind, **more).stdout.decode()

    def bench_of(self, tokenizer: str, text: pathlib.Path, passes: int) -> dict:
        pattern = "cl100k" if tokenizer.endswith(".tiktoken") else "-"
        return json.loads(self.output_of([str(self.bench), "--json", "--passes", str(passes),
                                          str(self.vocabs / tokenizer), pattern, str(text)]))

    def text(self, name: str, content: bytes) -> pathlib.Path:
        path = self.scratch / name
        path.write_bytes(content)
        return path

    def load(self) -> list[str]:
        letter = self.text("letter", b"a")
        lines = ["| tokenizer | ms here, best and median | ms in tokenizers | ratio, best and median |", "|---|---:|---:|---:|"]
        for name, file in LOADED.items():
            ours, theirs = [], []
            for _ in range(self.rounds):
                ours.append(1e3 * self.bench_of(file, letter, 1)["load"]["seconds"])
                theirs.append(1e3 * float(self.output_of([self.python, "-c", HF_LOAD, str(self.vocabs / file)])))
            lines.append(f"| {name}, tokenizer.json | {best(ours)} | {best(theirs)} | {min(theirs) / min(ours):.1f}, "
                         f"{statistics.median(theirs) / statistics.median(ours):.1f} |")
        ours = [1e3 * self.bench_of("cl100k_base.tiktoken", letter, 1)["load"]["seconds"] for _ in range(self.rounds)]
        return lines + [f"| cl100k_base.tiktoken | {best(ours)} | | |"]

    def start(self) -> list[str]:
        command = [str(self.tool), "-t", str(self.vocabs / "cl100k_base.tiktoken"), "--pattern", "cl100k"]
        times = []
        for _ in range(3 * self.rounds):
            begin = time.perf_counter()
            self.output_of(command, input=b"a")
            times.append(1e3 * (time.perf_counter() - begin))
        return [f"bpe-encode -t cl100k_base.tiktoken, one letter: {best(times)} ms, best and median of {len(times)}"]

    def small(self) -> list[str]:
        english = (self.corpus / "en.txt").read_bytes()
        lines = ["| document | MB/s, first | again |", "|---|---:|---:|"]
        for name, size in SIZES.items():
            path = self.text("small", english[5_000_000:5_000_000 + size])
            rows = [self.bench_of("cl100k_base.tiktoken", path, 20)["files"][0] for _ in range(self.rounds)]
            cold = min(row["cold"]["seconds"] for row in rows)
            warm = min(done["seconds"] for row in rows for done in row["warm"])
            lines.append(f"| {name} | {size / 1e6 / cold:.0f} | {size / 1e6 / warm:.0f} |")
        return lines

    def worst(self) -> list[str]:
        lines = ["| 1 and 2 MB of | ms/MB cl100k, first | again | double takes, again | ms/MB llama3, first | again |",
                 "|---|---:|---:|---:|---:|---:|"]
        for name, texts in worst_texts().items():
            cells = []
            for tokenizer in ("cl100k_base.tiktoken", "llama3.tokenizer.json"):
                cold, warm = [], []
                for number, content in enumerate(texts):
                    path = self.text(f"worst{number}", content)
                    rows = [self.bench_of(tokenizer, path, 3)["files"][0] for _ in range(self.rounds)]
                    cold.append(1e3 * min(row["cold"]["seconds"] for row in rows))
                    warm.append(1e3 * min(done["seconds"] for row in rows for done in row["warm"]))
                megabytes = len(texts[0]) / 1e6
                cells += [f"{cold[0] / megabytes:.1f}", f"{warm[0] / megabytes:.1f}"]
                if tokenizer.endswith(".tiktoken"):
                    cells.append(f"{warm[1] / warm[0]:.2f}")
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return lines

    def memory(self) -> list[str]:
        command = [str(self.tool), "-t", str(self.vocabs / "cl100k_base.tiktoken"), "--pattern", "cl100k", "--threads",
                   "1", "--format", "u32", "-o", os.devnull]
        lines = ["| different words | most resident MB |", "|---|---:|"]
        for count in WORDS:
            child = subprocess.Popen(command, stdin=subprocess.PIPE)
            generator = random.Random(count)
            for first in range(0, count, 100_000):
                numbers = range(first, first + 100_000)
                words = (f"{number * 0x9E3779B1 & 0xFFFFFFFF:08x}{generator.choice('ghijk')}" for number in numbers)
                child.stdin.write(" ".join(hex_to_letters(word) for word in words).encode() + b"\n")
            child.stdin.close()
            _, status, usage = os.wait4(child.pid, 0)
            if status != 0:
                raise subprocess.CalledProcessError(status, command)
            lines.append(f"| {count:,} | {usage.ru_maxrss / 1000:.0f} |")
        return lines


def hex_to_letters(word: str) -> str:
    """Letters only, so that each word is one pre-token."""
    return word.translate(str.maketrans("0123456789", "lmnopqrstu"))


def best(values: list[float]) -> str:
    return f"{min(values):.1f}, {statistics.median(values):.1f}"


def worst_texts() -> dict[str, tuple[bytes, bytes]]:
    generator = random.Random(1)
    million = 1_000_000

    def letters(count: int) -> bytes:
        return bytes(generator.choices(b"abcdefghijklmnopqrstuvwxyz", k=count))

    def han(count: int) -> bytes:
        return "".join(map(chr, generator.choices(range(0x4E00, 0x9FA5), k=count))).encode()

    repeated = {"a": b"a", "^": b"^", "_": b"_", "spaces": b" ", "newlines": b"\n", "0xFF": b"\xff"}
    texts = {name: (byte * million, byte * 2 * million) for name, byte in repeated.items()}
    texts["random letters"] = (letters(million), letters(2 * million))
    texts["random Han (0.6 and 1.2 MB)"] = (han(200_000), han(400_000))
    return texts


PARTS = ("load", "start", "small", "worst", "memory")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, required=True, metavar="BUILD_DIR")
    parser.add_argument("--corpus", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("-o", "--out", type=pathlib.Path, metavar="FILE.md")
    parser.add_argument("--rounds", type=int, default=7, metavar="N")
    parser.add_argument("--only", type=comparison.names(PARTS), default=list(PARTS), metavar="PARTS", help=",".join(PARTS))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            measurement = Measurement(arguments, pathlib.Path(folder))
        except comparison.Skip as reason:
            print(f"measure_encoder: skipped: {reason}", file=sys.stderr)
            return 77
        facts = report.machine_facts(comparison.ROOT)
        lines = [f"# Encoder, {facts['date']}", "", "`scripts/measure_encoder.py` " +
                 f"with {arguments.rounds} rounds; {facts['cpu']}, {facts['commit']}."]
        for name in arguments.only:
            try:
                lines += ["", f"## {name}", "", *getattr(measurement, name)()]
            except subprocess.CalledProcessError as error:
                print(f"measure_encoder: {name}: {error}", file=sys.stderr)
                return 1
            print("\n".join(lines[-12:]), file=sys.stderr)
    text = "\n".join(lines) + "\n"
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
