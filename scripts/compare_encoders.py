#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the speed of our encoder with other byte-level BPE encoders, ids verified first.

usage: compare_encoders.py --tools BUILD_DIR --corpus DIR [options]; --help lists them

BUILD_DIR has tools/bpe-encode and tests/bench/bench_encode (cmake -DNETCL_BUILD_TESTS=ON), DIR the texts of
encode_corpus.sh. The peers run in the virtual environment of requirements-encoders.txt.

Rules. A measurement is a process of its own, bound to as many cores as it has threads; load (until one letter is
encoded) is apart, the text is in memory before. cold = the first text that the encoder sees, warm = the best of up to three more passes
over the same text (fewer once they have taken 10 s). Timed is text to a list or array of ids, by the fastest call that the peer offers (named in
the results). With one thread a text goes in whole (tokenizers: in parts, else it needs 100 times the memory);
with more, peers that only share out whole texts get parts of 250 kB cut where no id changes. Before a figure
is shown, number and sha256 of the ids must equal the reference: tiktoken where the vocabulary has a rank file,
else tokenizers; --reference ours takes our scalar build, which the goldens test. A peer with other ids is shown
as "differs" without a figure, one without the vocabulary as "-". A clock check stands before and after every
pass. Each measurement is made in two processes (one if its first pass takes over 2 s) and the better figure counts;
one on a slow clock, or whose one thread had less than 95 % of its core, is repeated, up to four times in all, and
marked ~ if that did not help.
big.txt (450 MB): peers that make Python lists or objects, and the references from tiktoken, take an estimated 5 to
15 GB for it; --files big --reference ours --peers gigatoken,toktok,quicktok take less.
Last line: N passed, N failed; a measurement of ours with other ids is a failure. Exit 77 where the corpus, the
vocabularies or the packages are missing.
"""
import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import encoder_report as report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
VOCABS = {  # our tokenizer file, our pattern
    "gpt2": ("r50k_base.tiktoken", "r50k"),
    "cl100k": ("cl100k_base.tiktoken", "cl100k"),
    "o200k": ("o200k_base.tiktoken", "o200k"),
    "llama3": ("llama3.tokenizer.json", "-"),
    "qwen3": ("qwen3.tokenizer.json", "-"),
}
FILES = ("en", "code", "multi", "cjk", "log", "big")
OURS = ("netcl", "netcl process")
PEERS = ("gigatoken", "toktok", "quicktok", "bpe_openai", "rs_bpe", "tokie", "tiktoken", "tokenizers")
WARM_PASSES = 3
PROCESSES = 2  # a fresh process may meet memory that the system gives out slowly
LONG = 2  # seconds of a first pass that is not repeated
ATTEMPTS = 4
TIMEOUT = 1200  # seconds for one measurement


class Skip(Exception):
    """The comparison cannot be made here."""


def names(allowed):
    """The type of an argument that lists some of the allowed names."""
    def split(value: str) -> list[str]:
        chosen = value.split(",")
        for name in chosen:
            if name not in allowed:
                raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(allowed)}")
        return chosen
    return split


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, required=True, metavar="BUILD_DIR")
    parser.add_argument("--corpus", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--vocab", type=names(tuple(VOCABS)), default=list(VOCABS), metavar="NAMES",
                        help="some of " + ",".join(VOCABS) + "; default: all")
    parser.add_argument("--files", type=names(FILES), default=list(FILES[:-1]), metavar="NAMES",
                        help="some of " + ",".join(FILES) + "; default: all but big (encode_corpus.sh --big)")
    parser.add_argument("--peers", type=names(PEERS), default=list(PEERS), metavar="NAMES",
                        help="some of " + ",".join(PEERS) + "; default: all")
    parser.add_argument("--threads", default="1", metavar="LIST", help="such as 1,2 or 1,all; default: 1")
    parser.add_argument("--megabytes", type=float, help="only the first N MB of each file")
    parser.add_argument("--reference", choices=("peers", "ours"), default="peers")
    parser.add_argument("--vocabs", type=pathlib.Path, metavar="DIR", help="unpacked vocabularies; default: "
                        "unpacked from ../shared/vocabs into the corpus folder")
    parser.add_argument("--python", metavar="FILE", help="interpreter that has the peers; default: made by venv.sh")
    parser.add_argument("-o", "--out", type=pathlib.Path, metavar="DIR",
                        help="run folder for results.json and results.md, such as data/bench/DATE-MACHINE")
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    try:
        arguments.threads = [len(cores) if word == "all" else int(word) for word in arguments.threads.split(",")]
    except ValueError:
        parser.error("--threads is a list of numbers and 'all'")
    if not all(1 <= count <= len(cores) for count in arguments.threads):
        parser.error(f"--threads: this process may run on {len(cores)} cores")
    arguments.threads = list(dict.fromkeys(arguments.threads))
    if arguments.megabytes is not None and arguments.megabytes <= 0:
        parser.error("--megabytes is a positive number")
    return arguments


class Comparison:
    def __init__(self, arguments: argparse.Namespace, scratch: pathlib.Path):
        self.arguments = arguments
        self.scratch = scratch
        self.tool = (arguments.tools / "tools/bpe-encode").resolve()
        self.bench = (arguments.tools / "tests/bench/bench_encode").resolve()
        for program in (self.tool, self.bench):
            if not program.exists():
                raise Skip(f"{program} is not built (cmake -DNETCL_BUILD_TESTS=ON)")
        for name in arguments.files:
            if not (arguments.corpus / f"{name}.txt").exists():
                raise Skip(f"no {name}.txt in {arguments.corpus}; scripts/encode_corpus.sh makes it")
        self.vocabs = arguments.vocabs or self.unpack()
        self.python = arguments.python or self.environment()
        self.best_clock: dict[str, float] = {}
        self.texts = {name: self.slice_of(name) for name in arguments.files}

    def unpack(self) -> pathlib.Path:
        script = ROOT.parent / "shared/vocabs/unpack.sh"
        if not script.exists():
            raise Skip(f"no vocabularies: {script} is missing")
        folder = self.arguments.corpus / "vocabs"
        subprocess.run(["sh", str(script), str(folder)], check=True)
        return folder

    def environment(self) -> str:
        done = subprocess.run([str(HERE / "venv.sh"), "scripts/requirements-encoders.txt"], stdout=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode != 0 or not done.stdout.strip():
            raise Skip("the packages of requirements-encoders.txt are not available")
        return done.stdout.strip()

    def slice_of(self, name: str) -> tuple[str, int]:
        """Path and length of a text: the file up to the last line end within --megabytes."""
        path = (self.arguments.corpus / f"{name}.txt").resolve()
        size = path.stat().st_size
        if self.arguments.megabytes is None or self.arguments.megabytes * 1e6 >= size:
            return str(path), size
        with open(path, "rb") as file:
            return str(path), file.read(int(self.arguments.megabytes * 1e6)).rfind(b"\n") + 1

    # Ids that are right ------------------------------------------------------------------------------------

    def expected(self, vocab: str, file: str) -> dict:
        """Number and sha256 of the right ids, from the corpus folder where they were computed before."""
        path, size = self.texts[file]
        with open(path, "rb") as opened:
            digest = hashlib.sha256(opened.read(size)).hexdigest()
        store = self.arguments.corpus / "references.json"
        known = json.loads(store.read_text()) if store.exists() else {}
        key = f"{self.arguments.reference} {vocab} {digest}"
        if key not in known:
            print(f"reference ids of {file}, {vocab}", file=sys.stderr)
            if self.arguments.reference == "ours":
                known[key] = self.expected_by_scalar(vocab, file)
            else:
                known[key] = self.work(vocab, file, "reference", os.cpu_count() or 1, {})
            if "error" in known[key]:
                raise RuntimeError(f"no reference ids of {file}, {vocab}: {known[key]['error']}")
            part = store.with_suffix(".part")
            part.write_text(json.dumps(known, indent=1))
            part.replace(store)
        return known[key]

    def expected_by_scalar(self, vocab: str, file: str) -> dict:
        answer = self.run_bench(vocab, file, 1, ["--level", "scalar", "--passes", "0"], None)
        kept = {key: answer[key] for key in ("ids", "sha256", "error") if key in answer}
        return kept | {"by": "netcl, scalar", "specials": []}

    # Measurements ------------------------------------------------------------------------------------------

    def work(self, vocab: str, file: str, peer: str, threads: int, more: dict) -> dict:
        """One run of encoder_peers.py."""
        path, size = self.texts[file]
        request = self.scratch / "request.json"
        request.write_text(json.dumps({
            "peer": peer, "vocab": vocab, "vocabs": str(self.vocabs), "text": path, "bytes": size,
            "threads": threads, "cores": cores_for(threads), "passes": WARM_PASSES, "scratch": str(self.scratch),
            "tool": str(self.tool), "tokenizer": VOCABS[vocab][0], "pattern": VOCABS[vocab][1]} | more))
        environment = os.environ | {"RAYON_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads),
                                    "TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false"}
        return run_json([self.python, str(HERE / "encoder_peers.py"), str(request)], environment)

    def run_bench(self, vocab: str, file: str, threads: int, options: list[str], cores: list[int] | None) -> dict:
        """One run of bench_encode, in the form that encoder_peers.py prints."""
        path, size = self.texts[file]
        if size != os.path.getsize(path):
            with open(path, "rb") as opened:
                (self.scratch / "text").write_bytes(opened.read(size))
            path = str(self.scratch / "text")
        ids = self.scratch / "ids.u32"
        tokenizer, pattern = VOCABS[vocab]
        answer = run_json([str(self.bench), "--json", "--ids", str(ids), "--threads", str(threads), *options,
                           str(self.vocabs / tokenizer), pattern, path], os.environ, cores)
        if "error" in answer:
            return answer
        row = answer["files"][0]
        return {"call": f"BpeTokenizer::encode, {answer['level']}", "version": None, "load": answer["load"],
                "cold": row["cold"], "warm": row["warm"], "decode": row["decode"], "ids": row["ids"],
                "sha256": hashlib.sha256(ids.read_bytes()).hexdigest()}

    def attempt(self, vocab: str, file: str, name: str, threads: int, right: dict) -> dict:
        if name == "netcl":
            return self.run_bench(vocab, file, threads, ["--passes", str(WARM_PASSES)], cores_for(threads))
        peer = "whole_process" if name == "netcl process" else name
        return self.work(vocab, file, peer, threads, {"sha256": right["sha256"]})

    def measure(self, vocab: str, file: str, name: str, threads: int) -> dict:
        """PROCESSES runs, and up to ATTEMPTS until the machine was at its full speed in the passes that count."""
        right = self.expected(vocab, file)
        kind = "additions" if name == "netcl" else "sha256"
        answers: list[dict] = []
        for _ in range(ATTEMPTS):
            answer = self.attempt(vocab, file, name, threads, right)
            if "unsupported" in answer or "error" in answer:
                return report.row(vocab, file, name, threads, self.texts[file][1], kind, [answer])
            if (answer["ids"], answer["sha256"]) != (right["ids"], right["sha256"]):
                answer["differs"] = True
                return report.row(vocab, file, name, threads, self.texts[file][1], kind, [answer])
            answers.append(answer)
            for done in report.passes(answer):
                self.best_clock[kind] = min(done["clock"], self.best_clock.get(kind, done["clock"]))
            row = report.row(vocab, file, name, threads, self.texts[file][1], kind, answers)
            enough = len(answers) >= PROCESSES or answer["cold"]["seconds"] > LONG
            if enough and not report.slow(row, self.best_clock):
                break
        return row


def cores_for(threads: int) -> list[int]:
    """The last cores: the first ones take most interrupts."""
    return sorted(os.sched_getaffinity(0))[-threads:]


def run_json(command: list[str], environment, cores: list[int] | None = None, timeout: float = TIMEOUT) -> dict:
    """Runs a program that prints one JSON object last; its failure becomes {"error": last line of stderr}."""
    bind = (lambda: os.sched_setaffinity(0, cores)) if cores else None
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment,
                              preexec_fn=bind, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"no result after {timeout:.0f} s"}
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return {"error": lines[-1] if lines else f"exit status {done.returncode}"}
    return json.loads(done.stdout.strip().splitlines()[-1])


def main() -> int:
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        try:
            comparison = Comparison(arguments, pathlib.Path(folder))
        except Skip as reason:
            print(f"compare_encoders: skipped: {reason}", file=sys.stderr)
            return 77
        names = OURS + tuple(arguments.peers)
        rows = []
        for vocab in arguments.vocab:
            for threads in arguments.threads:
                for file in arguments.files:
                    for name in names:
                        rows.append(comparison.measure(vocab, file, name, threads))
                        print(report.progress(rows[-1]), file=sys.stderr)
        references = {vocab: {file: comparison.expected(vocab, file) for file in arguments.files}
                      for vocab in arguments.vocab}
    results = report.Results(rows, names, comparison.best_clock, references, comparison.texts)
    print(results.table())
    if arguments.out:
        results.write(arguments.out, sys.argv, ROOT)
    failed = [row for row in rows if row["name"] in OURS and row["state"] in ("differs", "fails")]
    for row in failed:
        print("FAILED " + report.progress(row))
    passed = sum(row["state"] == "verified" for row in rows)
    print(f"{passed} passed, {len(failed)} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
