#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the toolkit with the course's own package, netcl 0.4.4, on an OpenCL device.

usage: compare_netcl.py TOOLS_DIR [--device SPEC] [--corpus FILE]

RotaryAttention: the same weights and input, ours through attn-run, outputs equal to 1e-5.
BPETokenizer: trained on the same text; both merge lists are replayed against fresh pair counts, and
every difference must be one of the known rules (tie-break, base ids, split of '_' and of No/Nl numbers).
Runs in the virtual environment of requirements-netcl.txt. Last line: N passed, N failed.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import regex
from safetensors.numpy import save_file

TOLERANCE = 1e-5
NETCL_SPLIT = regex.compile(r"'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?[^\s\w]+|\s+(?!\S)|\s+|.", regex.DOTALL)
GPT2_SPLIT = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")

results: list[bool] = []


def report(good: bool, line: str) -> None:
    results.append(good)
    print(("pass " if good else "FAIL ") + line, flush=True)


def run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, check=False)


def compare_attention(tools: pathlib.Path, device: str, scratch: pathlib.Path) -> None:
    from netcl.core.device import manager
    from netcl.core.tensor import Tensor
    from netcl.nn.modern import RotaryAttention

    queue = manager.default("auto").queue
    cases = [  # name, batch, length, dim, heads, module options
        ("chapter shape", 2, 16, 256, 4, {"qk_norm": False}),
        ("chapter shape, qk norm", 2, 16, 256, 4, {}),
        ("prime length", 2, 17, 64, 4, {"qk_norm": False}),
        ("bias, base 500, qk norm", 1, 33, 48, 6, {"bias": True, "rope_base": 500.0}),
        ("bias without norm", 1, 31, 48, 3, {"bias": True, "qk_norm": False}),
        ("head_dim 2", 1, 5, 6, 3, {"qk_norm": False}),
        ("long", 1, 512, 64, 2, {"qk_norm": False}),
    ]
    for number, (name, batch, length, dim, heads, options) in enumerate(cases):
        np.random.seed(number)
        rng = np.random.default_rng(number)
        module = RotaryAttention(dim=dim, n_head=heads, queue=queue, **options)
        x = rng.standard_normal((batch, length, dim)).astype(np.float32)
        qkv = module.qkv.weight.to_host()
        weights = {
            "q_proj.weight": qkv[:, :dim].T, "k_proj.weight": qkv[:, dim:2 * dim].T,
            "v_proj.weight": qkv[:, 2 * dim:].T, "o_proj.weight": module.proj.weight.to_host().T,
        }
        if options.get("bias"):
            bias = module.qkv.bias.to_host()
            weights |= {"q_proj.bias": bias[:dim], "k_proj.bias": bias[dim:2 * dim],
                        "v_proj.bias": bias[2 * dim:], "o_proj.bias": module.proj.bias.to_host()}
        if module.qk_norm:
            for gamma, key in ((module.q_norm, "q_norm.weight"), (module.k_norm, "k_norm.weight")):
                gamma.write(rng.uniform(0.5, 1.5, dim // heads).astype(np.float32))
                weights[key] = gamma.to_host()
        expected = module(Tensor.from_host(queue, x))
        expected = getattr(expected, "value", expected).to_host()

        np.save(scratch / "x.npy", x)
        save_file({key: np.ascontiguousarray(value) for key, value in weights.items()},
                  scratch / "w.safetensors")
        (scratch / "config.json").write_text(json.dumps({
            "hidden_size": dim, "num_attention_heads": heads, "num_key_value_heads": heads,
            "max_position_embeddings": 4096, "rope_theta": options.get("rope_base", 10000.0),
            "attention_bias": bool(options.get("bias")), "rms_norm_eps": 1e-6}))
        done = run(str(tools / "attn-run"), "--x", str(scratch / "x.npy"), "--module",
                   str(scratch / "w.safetensors"), "--config", str(scratch / "config.json"), "--causal",
                   "--rope-pairing", "interleaved", "--device", device, "-o", str(scratch / "y.npy"), "-q")
        if done.returncode != 0:
            report(False, f"RotaryAttention {name}: {done.stderr.decode().strip()}")
            continue
        got = np.load(scratch / "y.npy")
        error = float(np.abs(got - expected).max()) if got.shape == expected.shape else float("nan")
        report(bool(error <= TOLERANCE), f"RotaryAttention {name}: max difference {error:.2e}")


def count_pairs(words: dict[tuple[int, ...], int]) -> collections.Counter:
    counts: collections.Counter = collections.Counter()
    for word, weight in words.items():
        for pair in zip(word, word[1:]):
            counts[pair] += weight
    return counts


def merge_all(words: dict[tuple[int, ...], int], pair: tuple[int, int], new: int) -> dict[tuple[int, ...], int]:
    merged: dict[tuple[int, ...], int] = {}
    for word, weight in words.items():
        if pair[0] in word:
            out, i = [], 0
            while i < len(word):
                if word[i:i + 2] == pair:
                    out.append(new)
                    i += 2
                else:
                    out.append(word[i])
                    i += 1
            word = tuple(out)
        merged[word] = merged.get(word, 0) + weight
    return merged


def replay(text: str, split: regex.Pattern, merges: list[tuple[int, int]]) -> tuple[int, int]:
    """Recounts from scratch after each merge; returns (merges that had the highest count, ties met)."""
    words: dict[tuple[int, ...], int] = collections.Counter(
        tuple(piece.encode()) for piece in split.findall(text))
    best, ties = 0, 0
    for index, pair in enumerate(merges):
        counts = count_pairs(words)
        top = max(counts.values())
        best += counts[pair] == top
        ties += sum(value == top for value in counts.values()) > 1
        words = merge_all(words, pair, 256 + index)
    return best, ties


def compare_bpe(tools: pathlib.Path, corpus: pathlib.Path, scratch: pathlib.Path) -> None:
    from netcl.text import BPETokenizer

    vocab_size = 512
    text = corpus.read_bytes().decode()
    theirs = BPETokenizer()
    theirs.train(text, vocab_size)
    their_file = scratch / "netcl.json"
    theirs.save(str(their_file))
    their_merges = [tuple(pair) for pair in json.loads(their_file.read_text())["merges"]]

    done = run(str(tools / "bpe-train"), str(corpus), "--vocab-size", str(vocab_size), "--pattern", "gpt2",
               "--byte-order", "raw", "--min-frequency", "2", "-o", str(scratch / "ours.json"), "-q")
    if done.returncode != 0:
        report(False, f"BPETokenizer: {done.stderr.decode().strip()}")
        return
    model = json.loads((scratch / "ours.json").read_text())["model"]
    vocab = model["vocab"]
    our_merges = [(vocab[a], vocab[b]) for a, b in
                  (merge if isinstance(merge, list) else merge.split(" ") for merge in model["merges"])]

    report(len(our_merges) == len(their_merges),
           f"BPETokenizer: {len(our_merges)} merges, netcl {len(their_merges)}")
    common = next((i for i, (a, b) in enumerate(zip(our_merges, their_merges)) if a != b), len(our_merges))
    ours_best, ours_ties = replay(text, GPT2_SPLIT, our_merges)
    theirs_best, theirs_ties = replay(text, NETCL_SPLIT, their_merges)
    report(ours_best == len(our_merges),
           f"BPETokenizer: every merge of ours had the highest count ({ours_ties} ties met, smallest ids win)")
    report(theirs_best == len(their_merges),
           f"BPETokenizer: every merge of netcl had the highest count ({theirs_ties} ties met, first seen wins)")
    if common < len(our_merges):
        words = collections.Counter(tuple(piece.encode()) for piece in GPT2_SPLIT.findall(text))
        for index in range(common):
            words = merge_all(words, our_merges[index], 256 + index)
        counts = count_pairs(words)
        report(counts[our_merges[common]] == counts[their_merges[common]],
               f"BPETokenizer: the first difference, merge {common}, is a tie: {our_merges[common]} and "
               f"{their_merges[common]} both occur {counts[our_merges[common]]} times")
    sample = text[:20000]
    ids = theirs.encode(sample)
    report(theirs.decode(ids) == sample, "BPETokenizer: netcl decodes its own ids")
    done = subprocess.run([str(tools / "bpe-encode"), "-t", str(scratch / "ours.json"), "--format", "json"],
                          input=sample.encode(), capture_output=True, check=False)
    back = subprocess.run([str(tools / "bpe-decode"), "-t", str(scratch / "ours.json"), "--format", "json"],
                          input=done.stdout, capture_output=True, check=False)
    report(back.stdout == sample.encode(), "BPETokenizer: ours decodes its own ids")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--corpus", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        corpus = arguments.corpus
        if corpus is None:
            corpus = scratch / "corpus.txt"
            licence = pathlib.Path(__file__).resolve().parent.parent / "LICENSE"
            corpus.write_bytes(licence.read_bytes() * 3 + b"snake_case __init__ x_1 \xc2\xbd \xc2\xb2\n")
        compare_attention(arguments.tools, arguments.device, scratch)
        compare_bpe(arguments.tools, corpus, scratch)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
