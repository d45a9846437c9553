#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains on random small corpora with bpe-train and with Hugging Face's `tokenizers` and compares the vocabularies.

usage: fuzz_trainer.py TOOLS [--rounds N] [--seed N]       500 rounds by default

A round is a corpus of few letters (many ties, runs, line ends, characters of two to four bytes) and random options:
split pattern, prefix space, size of the vocabulary, --min-frequency, --max-token-length, special tokens. The peer's
alphabet is all 256 bytes, its documents are ours cut at special tokens (it does not cut them out), and its longest
token is one byte more, as tools/README.md explains. Merges and vocabulary must be equal: for one run over all
documents and for the counts of two parts added up. A difference prints the corpus.
Needs the packages of requirements-compare.txt; without them it says so and exits 77. Last line: N passed, N failed.
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

# Ours, and what the peer is given for it; None: ByteLevel splits, or nothing does.
PATTERNS = {
    "gpt2": None,
    "none": None,
    "cl100k": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
              r"|\s+(?!\S)|\s+",
    "regex": r"[a-c]+| ?\p{L}+|\s+|.",
}
ALPHABETS = ("ab", "abc ", "ab \n", "aA1 '.\n", "\u00e9\u4e2d\U0001f642 a\n", "abcdefgh '\t\r\n0\u3000\u0130")
SPECIALS = ("<|x|>", "<|", "[PAD]", "\u4e2d\u4e2d")


class Round:
    """A corpus and the options of one comparison."""

    def __init__(self, rng: random.Random):
        letters = rng.choice(ALPHABETS)
        self.pattern = rng.choice(tuple(PATTERNS))
        self.prefix_space = self.pattern in ("gpt2", "none") and rng.random() < 0.4
        self.specials = rng.sample(SPECIALS, rng.choice((0, 0, 0, 1, 2)))
        words = ["".join(rng.choices(letters, k=rng.randint(1, 8))) for _ in range(rng.randint(1, 12))]
        words += self.specials
        self.documents = ["".join(rng.choices(words, k=rng.randint(0, rng.choice((2, 30, 200, 600)))))
                          for _ in range(rng.randint(1, 12))]
        self.vocab_size = 256 + len(self.specials) + rng.choice((0, 1, 20, 60, 400, 400))
        self.min_frequency = rng.choice((1, 1, 1, 2, 3, 10))
        self.max_token_length = rng.choice((None, None, None, 2, 3, 5, 9))
        self.threads = rng.randint(1, 4)
        self.cut = rng.randint(0, len(self.documents))

    def counting_options(self) -> list[str]:
        options = ["--pattern-regex", PATTERNS["regex"]] if self.pattern == "regex" else ["--pattern", self.pattern]
        if self.prefix_space:
            options.append("--add-prefix-space")
        for token in self.specials:
            options += ["--special", token]
        return options

    def merge_options(self) -> list[str]:
        options = ["--vocab-size", str(self.vocab_size), "--min-frequency", str(self.min_frequency)]
        return options + (["--max-token-length", str(self.max_token_length)] if self.max_token_length else [])

    def parts(self) -> list[str]:
        """The documents without the text of special tokens: leftmost first, the longest of several."""
        tokens = sorted(self.specials, key=len, reverse=True)
        if not tokens:
            return self.documents
        cut = re.compile("|".join(map(re.escape, tokens)))
        return [part for document in self.documents for part in cut.split(document)]


def peer_model(work: Round) -> tuple[list, dict]:
    import tokenizers
    from tokenizers import models, pre_tokenizers, trainers
    level = pre_tokenizers.ByteLevel(add_prefix_space=work.prefix_space, use_regex=work.pattern == "gpt2")
    regex = PATTERNS[work.pattern]
    peer = tokenizers.Tokenizer(models.BPE())
    peer.pre_tokenizer = level if regex is None else pre_tokenizers.Sequence(
        [pre_tokenizers.Split(tokenizers.Regex(regex), "isolated"), level])
    more = {} if work.max_token_length is None else {"max_token_length": work.max_token_length + 1}
    # An empty part has no piece, not a prefix space of its own.
    peer.train_from_iterator([part for part in work.parts() if part], trainers.BpeTrainer(
        vocab_size=work.vocab_size, min_frequency=work.min_frequency, special_tokens=work.specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False, **more))
    model = json.loads(peer.to_str())["model"]
    return model["merges"], model["vocab"]


class Ours:
    def __init__(self, tools: pathlib.Path, folder: pathlib.Path):
        self.tool = str(tools / "bpe-train")
        self.folder = folder

    def run(self, *options: str, text: str = "") -> None:
        subprocess.run([self.tool, "-q", *options], input=text.encode(), check=True, capture_output=True)

    def model(self) -> tuple[list, dict]:
        model = json.loads((self.folder / "t.json").read_text("utf-8"))["model"]
        return [m if isinstance(m, list) else m.split(" ") for m in model["merges"]], model["vocab"]

    def in_one_run(self, work: Round) -> tuple[list, dict]:
        self.run("--jsonl", "--threads", str(work.threads), *work.counting_options(), *work.merge_options(), "-o",
                 str(self.folder / "t.json"), text=lines_of(work.documents))
        return self.model()

    def by_counts(self, work: Round) -> tuple[list, dict]:
        names = [str(self.folder / name) for name in ("1.counts", "2.counts")]
        for name, part in zip(names, (work.documents[:work.cut], work.documents[work.cut:])):
            self.run("--jsonl", *work.counting_options(), "--counts-out", name, text=lines_of(part))
        self.run("--from-counts", *names, *work.merge_options(), "-o", str(self.folder / "t.json"))
        return self.model()


def lines_of(documents: list[str]) -> str:
    return "".join(json.dumps({"text": document}) + "\n" for document in documents)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tools", type=pathlib.Path, metavar="TOOLS")
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    try:
        import tokenizers  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}; install scripts/requirements-compare.txt")
        return 77
    passed = failed = merges = 0
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(arguments.tools, pathlib.Path(folder))
        for number in range(arguments.rounds):
            work = Round(random.Random(f"{arguments.seed} {number}"))
            wanted = peer_model(work)
            found = {"one run": ours.in_one_run(work), "counts": ours.by_counts(work)}
            wrong = [name for name, model in found.items() if model != wanted]
            merges += len(wanted[0])
            if wrong:
                failed += 1
                print(f"FAILED: seed {arguments.seed}, round {number}, {' and '.join(wrong)}: "
                      f"{[*work.counting_options(), *work.merge_options()]} over {work.documents!r}")
            else:
                passed += 1
    print(f"{merges} merges compared", file=sys.stderr)
    if merges < arguments.rounds:  # corpora that teach nothing would show nothing
        print("FAILED: the corpora have too few merges")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
