#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the expected values of scaled RoPE with transformers' own functions.

usage: compare_rope.py [FILE]        default: tests/golden/rope_scaling.json

The functions of transformers.modeling_rope_utils run on NumPy arrays of doubles, by a stand-in for the few calls of
torch that they make; so they are compared to rounding of doubles, not of floats, and torch is not needed. Runs in the
virtual environment of requirements-rope.txt. Last line: N passed, N failed.
"""
import json
import os
import pathlib
import sys
import types

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import numpy as np
import transformers
from transformers import modeling_rope_utils

TOLERANCE = 1e-13  # of a frequency: some ten roundings of doubles, and one of a power


class Array(np.ndarray):
    """An array of doubles with the methods of a tensor."""

    def to(self, *_: object, **__: object) -> "Array":
        return self

    def float(self) -> "Array":
        return self


def array(values: object) -> Array:
    return np.asarray(values, dtype=np.float64).view(Array)


def stand_in() -> types.SimpleNamespace:
    return types.SimpleNamespace(
        arange=lambda *limits, **_: array(np.arange(*limits)),
        tensor=lambda values, **_: array(values),
        clamp=lambda values, low, high: array(np.clip(values, low, high)),
        where=lambda condition, a, b: array(np.where(condition, a, b)),
        Tensor=Array, float=None, float32=None, int64=None)


def theirs(case: dict) -> tuple[np.ndarray, float]:
    """Frequencies and attention factor for a call of the case's length, as a model of transformers chooses them."""
    config = dict(case["config"])
    rope = dict(config.get("rope_scaling") or config.get("rope_parameters") or {})
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind == "su":  # Phi3Config does the same
        rope["type"] = kind = "longrope"
    if "rope_scaling" in config:
        config["rope_scaling"] = rope
    # A config without the top-level field takes that of the rope parameters.
    original = config.pop("original_max_position_embeddings", None)
    made = transformers.LlamaConfig(**config)
    if original is not None:
        made.original_max_position_embeddings = original
        made.standardize_rope_params()
    if kind == "default":
        size = int(made.head_dim * made.rope_parameters.get("partial_rotary_factor", 1.0))
        return 1.0 / made.rope_parameters["rope_theta"] ** (np.arange(0, size, 2) / size), 1.0
    function = modeling_rope_utils.ROPE_INIT_FUNCTIONS[kind]
    # Models make their frequencies without a length and again for longer sequences.
    length = case["sequence_length"]
    limit = made.max_position_embeddings if kind == "dynamic" else made.rope_parameters.get(
        "original_max_position_embeddings", 0)
    frequencies, factor = function(made, None, seq_len=length if length > limit else None)
    return np.asarray(frequencies), float(factor)


def main() -> int:
    default = pathlib.Path(__file__).resolve().parent.parent / "tests/golden/rope_scaling.json"
    cases = json.loads(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else default).read_text(encoding="utf-8"))
    modeling_rope_utils.torch = stand_in()
    failed = 0
    for case in cases:
        frequencies, factor = theirs(case)
        wanted = np.array(case["radians"])
        good = frequencies.shape == wanted.shape
        error = float(np.max(np.abs(frequencies / wanted - 1))) if good else float("inf")
        good = good and error <= TOLERANCE and abs(factor - case["attention_factor"]) <= TOLERANCE
        failed += not good
        if not good:
            print(f"FAIL {case['name']}: frequencies off by {error}, attention factor {factor}, "
                  f"wanted {case['attention_factor']}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
