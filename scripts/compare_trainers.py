#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the speed of our trainer with other BPE trainers on the same corpora, merges verified first.

usage: compare_trainers.py --tools BUILD_DIR --corpus NAME=FILE... [options]; --help lists them

BUILD_DIR has tools/bpe-train. The peers run in the virtual environment of requirements-trainers.txt; youtokentome is
built from source there, and a package that does not install is said and left out.

Rules. All train on the split pattern of GPT-2 where they take one, to the same size of vocabulary, without special
tokens. A measurement is a process of its own, bound to as many cores as it has threads. Peers get the text in memory,
in parts of 250 kB cut where no piece changes, and only the call that trains is timed; ours is the whole process, from
file to file. tokenizers, gigatoken and ffbpe number bytes as we do and must learn the same tokens in the same order;
rustbpe and bpeasy number them by value, which decides ties, and must equal bpe-train --byte-order raw. The reference
is tokenizers' (ours with --reference ours, which spares its time). A trainer with other tokens is shown as "differs"
without a figure. youtokentome and sentencepiece merge characters of words, another model: marked, not verified. A
clock check stands before and after each; one on a slow clock is repeated, up to --attempts in all, and marked ~ if
that did not help; what takes less than --repeat-below seconds runs twice at least and the better figure counts. A peer
that ran out of --timeout is not tried on what is no smaller. The run folder is written anew after each trainer.
Last line: N passed, N failed; ours with other tokens is a failure. Exit 77 where the tools or tokenizers are missing.
"""
import argparse
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import trainer_report as report
from compare_encoders import cores_for, names, run_json
from encoder_peers import clock_check
from trainer_peers import identity

HERE = pathlib.Path(__file__).resolve().parent
SAME_MODEL = {"tokenizers": "gpt2", "gigatoken": "gpt2", "ffbpe": "gpt2", "rustbpe": "raw", "bpeasy": "raw"}
OTHER_MODEL = ("youtokentome", "sentencepiece")
PEERS = (*SAME_MODEL, *OTHER_MODEL)


class Skip(Exception):
    """The comparison cannot be made here."""


def named_file(value: str) -> tuple[str, pathlib.Path]:
    """The type of an argument NAME=FILE."""
    name, _, path = value.partition("=")
    if not name or not pathlib.Path(path).is_file():
        raise argparse.ArgumentTypeError(f"'{value}' is not NAME=FILE with a file that is there")
    return name, pathlib.Path(path).resolve()


def parse_arguments() -> argparse.Namespace:
    def numbers(value: str) -> list[int]:
        return list(dict.fromkeys(int(word) for word in value.split(",")))

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, required=True, metavar="BUILD_DIR")
    parser.add_argument("--corpus", type=named_file, action="append", required=True, metavar="NAME=FILE",
                        help="valid UTF-8; once for each corpus")
    parser.add_argument("--vocab-size", type=numbers, default=[32000, 128000], metavar="LIST",
                        help="default: 32000,128000")
    parser.add_argument("--threads", type=numbers, default=[2], metavar="LIST", help="default: 2")
    parser.add_argument("--peers", type=names(PEERS), default=list(PEERS), metavar="NAMES",
                        help="some of " + ",".join(PEERS) + "; default: all")
    parser.add_argument("--megabytes", type=float, help="only the first N MB of each corpus")
    parser.add_argument("--reference", choices=("tokenizers", "ours"), default="tokenizers")
    parser.add_argument("--repeat-below", type=float, default=60, metavar="SECONDS", help="default: 60")
    parser.add_argument("--attempts", type=int, default=3, metavar="N", help="at most, of one measurement; default: 3")
    parser.add_argument("--timeout", type=float, default=7200, metavar="SECONDS", help="of one measurement")
    parser.add_argument("--python", metavar="FILE", help="interpreter that has the peers; default: made by venv.sh")
    parser.add_argument("-o", "--out", type=pathlib.Path, metavar="DIR",
                        help="run folder for results.json and results.md, such as data/bench/DATE-MACHINE")
    arguments = parser.parse_args()
    if not all(1 <= count <= len(os.sched_getaffinity(0)) for count in arguments.threads):
        parser.error(f"--threads: this process may run on {len(os.sched_getaffinity(0))} cores")
    if arguments.attempts < 1:
        parser.error("--attempts is 1 or more")
    if arguments.megabytes is not None and arguments.megabytes <= 0:
        parser.error("--megabytes is a positive number")
    if arguments.reference == "tokenizers" and "tokenizers" not in arguments.peers:
        parser.error("without tokenizers among --peers it takes --reference ours")
    return arguments


class Comparison:
    def __init__(self, arguments: argparse.Namespace, scratch: pathlib.Path):
        self.arguments = arguments
        self.scratch = scratch
        self.tool = (arguments.tools / "tools/bpe-train").resolve()
        if not self.tool.exists():
            raise Skip(f"{self.tool} is not built")
        self.python = arguments.python or self.environment()
        self.best_clock = clock_check()
        self.corpora = {name: self.slice_of(name, path) for name, path in arguments.corpus}
        self.rows: list[dict] = []
        self.too_slow: dict[str, tuple[int, int]] = {}  # trainer: the bytes and vocabulary it had not the time for

    def environment(self) -> str:
        done = subprocess.run([str(HERE / "venv.sh"), "scripts/requirements-trainers.txt"], stdout=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode != 0 or not done.stdout.strip():
            raise Skip("the packages of requirements-trainers.txt are not available")
        return done.stdout.strip()

    def slice_of(self, name: str, path: pathlib.Path) -> tuple[str, int]:
        """Path and length; with --megabytes a copy that ends at a line end."""
        size = path.stat().st_size
        if self.arguments.megabytes is None or self.arguments.megabytes * 1e6 >= size:
            return str(path), size
        with open(path, "rb") as file:
            data = file.read(int(self.arguments.megabytes * 1e6))
        data = data[:data.rfind(b"\n") + 1]
        copy = self.scratch / f"{name}.txt"
        copy.write_bytes(data)
        return str(copy), len(data)

    # Measurements ------------------------------------------------------------------------------------------

    def run_ours(self, corpus: str, vocab_size: int, threads: int, byte_order: str) -> dict:
        """One run of the tool, in the form that trainer_peers.py prints."""
        path, _ = self.corpora[corpus]
        out = self.scratch / "ours.tiktoken"
        command = [str(self.tool), "-q", "--progress", "none", "--pattern", "gpt2", "--byte-order", byte_order,
                   "--vocab-size", str(vocab_size), "--threads", str(threads), path, "-o", str(out)]
        before = clock_check()
        start = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: os.sched_setaffinity(0, cores_for(threads)))
        message = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            return {"error": message.strip() or f"exit status {process.returncode}"}
        ranks = (line.split() for line in out.read_bytes().splitlines())
        tokens = sorted(((int(rank), base64.b64decode(token)) for token, rank in ranks))
        return {"call": f"bpe-train --byte-order {byte_order}, the whole process", "version": None,
                "train": {"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime,
                          "clock": max(before, clock_check())},
                "peak_bytes": usage.ru_maxrss * 1024} | identity([token for _, token in tokens])

    def run_peer(self, corpus: str, vocab_size: int, threads: int, name: str) -> dict:
        path, size = self.corpora[corpus]
        beyond = self.too_slow.get(name)
        if beyond and size >= beyond[0] and vocab_size >= beyond[1]:
            return {"error": f"not tried: no result for {beyond[0] / 1e6:.0f} MB and {beyond[1]} in "
                             f"{self.arguments.timeout:.0f} s"}
        request = self.scratch / "request.json"
        request.write_text(json.dumps({"peer": name, "text": path, "bytes": size, "vocab_size": vocab_size,
                                       "threads": threads, "cores": cores_for(threads),
                                       "scratch": str(self.scratch)}))
        environment = os.environ | {"RAYON_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads),
                                    "TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false"}
        start = time.monotonic()
        answer = run_json([self.python, str(HERE / "trainer_peers.py"), str(request)], environment,
                          timeout=self.arguments.timeout)
        if "error" in answer and time.monotonic() - start >= self.arguments.timeout:
            self.too_slow[name] = (size, vocab_size)
        return answer

    def measure(self, corpus: str, vocab_size: int, threads: int, name: str, right: dict | None) -> dict:
        """Runs until the clock was at its full speed; `right` is what must have been learned, if known."""
        answers: list[dict] = []
        for _ in range(self.arguments.attempts):
            answer = (self.run_ours(corpus, vocab_size, threads, "gpt2") if name == "netcl" else
                      self.run_peer(corpus, vocab_size, threads, name))
            state = report.state_of(answer, right, name in OTHER_MODEL)
            if state not in ("verified", "other model"):
                answers = [answer]
                break
            answers.append(answer)
            self.best_clock = min(self.best_clock, answer["train"]["clock"])
            slow = min(done["train"]["clock"] for done in answers) * report.SLOW_CLOCK > self.best_clock
            if not slow and (len(answers) > 1 or answer["train"]["seconds"] > self.arguments.repeat_below):
                break
        return report.row(corpus, vocab_size, threads, name, self.corpora[corpus][1], state, answers)

    def write(self) -> None:
        """What is measured so far, once ours is, which the others are compared with."""
        if self.arguments.out and any(row["name"] == "netcl" for row in self.rows):
            report.Results(self.rows, self.best_clock).write(self.arguments.out, sys.argv, HERE.parent)

    def compare(self, corpus: str, vocab_size: int, threads: int) -> None:
        """The reference first, then ours, then the others."""
        def add(name: str, right: dict | None) -> dict:
            self.rows.append(self.measure(corpus, vocab_size, threads, name, right))
            print(report.progress(self.rows[-1]), file=sys.stderr)
            self.write()
            return self.rows[-1]

        peers = list(self.arguments.peers)
        wanted: dict[str, dict | None] = {"gpt2": None, "raw": None}
        if self.arguments.reference == "tokenizers":
            peers.remove("tokenizers")
            wanted["gpt2"] = report.learned(add("tokenizers", None))
            if wanted["gpt2"] is None:
                raise Skip(f"no reference: {self.rows[-1].get('error', 'tokenizers failed')}")
        ours = add("netcl", wanted["gpt2"])
        wanted["gpt2"] = wanted["gpt2"] or report.learned(ours)
        if any(SAME_MODEL.get(name) == "raw" for name in peers):
            wanted["raw"] = report.learned(self.run_ours(corpus, vocab_size, threads, "raw"))
        for name in peers:
            add(name, wanted[SAME_MODEL[name]] if name in SAME_MODEL else None)


def main() -> int:
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        try:
            comparison = Comparison(arguments, pathlib.Path(folder))
            for corpus, _ in arguments.corpus:
                for vocab_size in arguments.vocab_size:
                    for threads in arguments.threads:
                        comparison.compare(corpus, vocab_size, threads)
        except Skip as reason:
            print(f"compare_trainers: skipped: {reason}", file=sys.stderr)
            return 77
    print(report.Results(comparison.rows, comparison.best_clock).table())
    failed = [row for row in comparison.rows if row["name"] == "netcl" and row["state"] != "verified"]
    for row in failed:
        print("FAILED " + report.progress(row))
    passed = sum(row["state"] == "verified" for row in comparison.rows)
    print(f"{passed} passed, {len(failed)} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
