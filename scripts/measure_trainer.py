#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what compare_trainers.py does not: threads, growth with the length of one document, memory.

usage: measure_trainer.py --tools BUILD_DIR --corpus NAME=FILE... [-o FILE.md] [--rounds N] [--only PART,...]

BUILD_DIR has tools/bpe-train. Times are those of the whole process, from file to file, the best and the median of all
rounds; MB is the most resident memory. Processes are bound to as many cores as they have threads. Parts:
threads   each corpus with vocabularies of 32,000 and 128,000, one thread and all, alternating; phases of the best run
growth    one document without split: 5, 10 and 20 MB of DNA letters, 16, 32 and 64 MB of Chinese letters
limit     the first corpus under --memory-limit: unlimited, 200 MB, 100 MB; equal results
Exit status 1 where a program fails, results differ or memory passes a limit.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

from compare_encoders import ROOT, cores_for, names
from compare_trainers import named_file
from encoder_report import machine_facts

PARTS = ("threads", "growth", "limit")


class Failure(Exception):
    """A measurement went wrong."""


class Run:
    """One run of the tool."""

    def __init__(self, tool: pathlib.Path, scratch: pathlib.Path, text: pathlib.Path, threads: int, options: list[str]):
        out, report = scratch / "out.json", scratch / "report.json"
        command = [str(tool), "-q", "--progress", "none", "--threads", str(threads), *options, str(text), "-o", str(out),
                   "--report", str(report)]
        start = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                   preexec_fn=lambda: os.sched_setaffinity(0, cores_for(threads)))
        _, status, usage = os.wait4(process.pid, 0)
        self.seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise Failure(f"{' '.join(command)}: exit status {process.returncode}")
        self.megabytes = usage.ru_maxrss * 1024 / 1e6
        self.result = hashlib.sha256(out.read_bytes()).hexdigest()
        self.report = json.loads(report.read_text())


class Measurement:
    def __init__(self, arguments: argparse.Namespace, scratch: pathlib.Path):
        self.tool = (arguments.tools / "tools/bpe-train").resolve()
        self.scratch = scratch
        self.rounds = arguments.rounds
        self.corpora = arguments.corpus

    def runs(self, text: pathlib.Path, variants: list[tuple[int, list[str]]]) -> list[list[Run]]:
        """Alternating runs of variants (threads, options) that must learn the same tokens."""
        runs = [[] for _ in variants]
        for _ in range(self.rounds):
            for kept, (threads, options) in zip(runs, variants):
                kept.append(Run(self.tool, self.scratch, text, threads, options))
        if len({run.result for kept in runs for run in kept}) != 1:
            raise Failure(f"{text.name}: results differ")
        return runs

    def threads(self) -> list[str]:
        all_cores = len(os.sched_getaffinity(0))
        lines = ["| corpus | vocabulary | threads | s, best and median | MB/s | MB | s by phase | gain |",
                 "|---|---:|---:|---:|---:|---:|---|---:|"]
        for name, path in self.corpora:
            for size in (32000, 128000):
                options = ["--pattern", "gpt2", "--vocab-size", str(size)]
                counts = dict.fromkeys((1, all_cores))
                runs = self.runs(path, [(threads, options) for threads in counts])
                one = min(run.seconds for run in runs[0])
                for threads, kept in zip(counts, runs):
                    fastest = min(kept, key=lambda run: run.seconds)
                    phases = ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in
                                       fastest.report["seconds"].items() if seconds >= 0.005)
                    lines.append(f"| {name}, {path.stat().st_size / 1e6:.0f} MB | {size} | {threads} | {best(kept)} | "
                                 f"{path.stat().st_size / 1e6 / fastest.seconds:.0f} | {fastest.megabytes:.0f} | {phases} "
                                 f"| {one / fastest.seconds:.2f} |")
        return lines

    def growth(self) -> list[str]:
        lines = ["| one document | s, best and median | s/MB | MB | double takes |", "|---|---:|---:|---:|---:|"]
        for name, unit, sizes in (("DNA letters", dna, (5, 10, 20)), ("Chinese letters", chinese, (16, 32, 64))):
            before = None
            for megabytes in sizes:
                path = self.scratch / "document"
                path.write_bytes(unit(megabytes * 1_000_000))
                kept = self.runs(path, [(1, ["--pattern", "none", "--vocab-size", "32000"])])[0]
                fastest = min(kept, key=lambda run: run.seconds)
                growth = f"{fastest.seconds / before:.2f}" if before else ""
                before = fastest.seconds
                lines.append(f"| {megabytes} MB of {name} | {best(kept)} | {before / megabytes:.3f} | "
                             f"{fastest.megabytes:.0f} | {growth} |")
        return lines

    def limit(self) -> list[str]:
        name, path = self.corpora[0]
        limits = (None, 200, 100)
        options = ["--pattern", "gpt2", "--vocab-size", "32000"]
        runs = self.runs(path, [(1, options + (["--memory-limit", f"{limit}M", "--temp-dir", str(self.scratch)]
                                               if limit else [])) for limit in limits])
        lines = [f"{name}, one thread, vocabulary 32,000:", "", "| --memory-limit | s, best and median | MB |",
                 "|---|---:|---:|"]
        for limit, kept in zip(limits, runs):
            most = max(run.megabytes for run in kept)
            if limit and most > limit * 1.048576:
                raise Failure(f"limit {limit}M: {most:.0f} MB resident")
            lines.append(f"| {f'{limit}M' if limit else 'none'} | {best(kept)} | {most:.0f} |")
        return lines


def best(runs: list[Run]) -> str:
    seconds = [run.seconds for run in runs]
    return f"{min(seconds):.2f}, {statistics.median(seconds):.2f}"


def dna(size: int) -> bytes:
    """Random letters and copies of earlier parts with changes, as genomes have them."""
    generator = random.Random(size)
    text = bytearray(generator.choices(b"ACGT", k=size // 4))
    while len(text) < size:
        length = generator.randrange(1000, 20_000)
        start = generator.randrange(max(len(text) - length, 1))
        copy = text[start:start + length]
        for _ in range(length // 50):
            copy[generator.randrange(len(copy))] = generator.choice(b"ACGT")
        text += copy
    return bytes(text[:size])


def chinese(size: int) -> bytes:
    """Han letters as frequent as words are (Zipf), in phrases that come back."""
    generator = random.Random(size)
    letters = [chr(0x4E00 + i) for i in range(4000)]
    weights = [1 / (rank + 3) for rank in range(len(letters))]
    phrases = ["".join(generator.choices(letters, weights, k=generator.randrange(2, 12))) for _ in range(200_000)]
    text = "".join(generator.choices(phrases, k=size // 18))
    while len(text.encode()) < size:
        text += "".join(generator.choices(phrases, k=size // 180))
    encoded = text.encode()
    return encoded[:size - size % 3]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, required=True, metavar="BUILD_DIR")
    parser.add_argument("--corpus", type=named_file, action="append", required=True, metavar="NAME=FILE")
    parser.add_argument("-o", "--out", type=pathlib.Path, metavar="FILE.md")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--only", type=names(PARTS), default=list(PARTS), metavar="PARTS", help=",".join(PARTS))
    arguments = parser.parse_args()
    facts = machine_facts(ROOT)
    lines = [f"# Trainer, {facts['date']}", "", f"`scripts/measure_trainer.py` with {arguments.rounds} rounds; "
             f"{facts['cpu']}, {facts['cores']} cores, {facts['commit']}."]
    with tempfile.TemporaryDirectory() as folder:
        measurement = Measurement(arguments, pathlib.Path(folder))
        for name in arguments.only:
            try:
                lines += ["", f"## {name}", "", *getattr(measurement, name)()]
            except (Failure, OSError) as error:
                print(f"measure_trainer: {name}: {error}", file=sys.stderr)
                return 1
            print("\n".join(lines[-12:]), file=sys.stderr)
    text = "\n".join(lines) + "\n"
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(text)
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
