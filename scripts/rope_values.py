#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Frequencies of scaled RoPE, from the definitions, with 50 digits: expected values of tests/nn/rope_scaling_test.cpp.

usage: rope_values.py FILE           writes tests/golden/rope_scaling.json
       rope_values.py --check FILE   exit 1 unless FILE is what would be written

A case is a config.json, the elements of a head and the largest position of a call plus one; the values are radians a
position of every pair, rounded to double, and the factor of cos and sin. scripts/compare_rope.py compares the same
cases with transformers. Needs nothing but Python.
"""
import json
import math
import sys
from decimal import Decimal, getcontext

getcontext().prec = 50
TWO_PI = 2 * Decimal("3.14159265358979323846264338327950288419716939937510582")

# microsoft/Phi-3-vision-128k-instruct
PHI3_SHORT = [1.05] * 3 + [1.1] * 3 + [1.2500000000000002] * 2 + [
    1.4000000000000004, 1.4500000000000004, 1.5500000000000005, 1.8500000000000008, 1.9000000000000008] + [
    2.000000000000001] * 19 + [2.1000000000000005] * 2 + [2.2] + [2.3499999999999996] * 4 + [2.3999999999999995] * 2 + [
    2.6499999999999986, 2.6999999999999984, 2.8999999999999977, 2.9499999999999975] + [3.049999999999997] * 3
PHI3_LONG = [
    1.0299999713897705, 1.0499999523162842, 1.0499999523162842, 1.0799999237060547, 1.2299998998641968,
    1.2299998998641968, 1.2999999523162842, 1.4499999284744263, 1.5999999046325684, 1.6499998569488525,
    1.8999998569488525, 2.859999895095825, 3.68999981880188, 5.419999599456787, 5.489999771118164, 5.489999771118164,
    9.09000015258789, 11.579999923706055, 15.65999984741211, 15.769999504089355, 15.789999961853027,
    18.360000610351562, 21.989999771118164, 23.079999923706055, 30.009998321533203, 32.35000228881836,
    32.590003967285156, 35.56000518798828, 39.95000457763672, 53.840003967285156, 56.20000457763672, 57.95000457763672,
    59.29000473022461, 59.77000427246094, 59.920005798339844, 61.190006256103516, 61.96000671386719, 62.50000762939453,
    63.3700065612793, 63.48000717163086, 63.48000717163086, 63.66000747680664, 63.850006103515625, 64.08000946044922,
    64.760009765625, 64.80001068115234, 64.81001281738281, 64.81001281738281]


def llama(head_dim: int, theta: float, positions: int, **more: object) -> dict:
    return {"hidden_size": 4 * head_dim, "num_attention_heads": 4, "head_dim": head_dim, "rope_theta": theta,
            "max_position_embeddings": positions, **more}


def yarn(**more: object) -> dict:
    return {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048, **more}


def llama3(factor: float) -> dict:
    return {"rope_type": "llama3", "factor": factor, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192}


def longrope(**more: object) -> dict:
    return {"rope_type": "longrope", "short_factor": [1.0, 1.25, 2.0, 3.5], "long_factor": [1.5, 4.0, 9.0, 27.5], **more}


DEEPSEEK_V3 = {"type": "yarn", "factor": 40, "beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0,
               "original_max_position_embeddings": 4096}
GPT_OSS = {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
           "original_max_position_embeddings": 4096}
PHI3 = {"type": "su", "short_factor": PHI3_SHORT, "long_factor": PHI3_LONG}
DYNAMIC = {"type": "dynamic", "factor": 2.0}

# (name, config, sequence length)
CASES = [
    ("default", llama(8, 10000.0, 64), 5),
    ("default, new key", {"num_attention_heads": 1, "hidden_size": 16,
                          "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}, 5),
    ("phi-2, partial", llama(80, 10000.0, 2048, partial_rotary_factor=0.4), 5),
    ("gemma 3, linear", llama(256, 1000000.0, 131072, rope_scaling={"rope_type": "linear", "factor": 8.0}), 5),
    ("linear, partial, new key", llama(64, 10000.0, 4096, rope_parameters={
        "rope_type": "linear", "rope_theta": 250000.0, "factor": 3.0, "partial_rotary_factor": 0.5}), 5),
    ("llama 3.1 8b", llama(128, 500000.0, 131072, rope_scaling=llama3(8.0)), 5),
    ("llama 3.2 1b", llama(64, 500000.0, 131072, rope_scaling=llama3(32.0)), 200000),
    ("dynamic, short", llama(128, 10000.0, 2048, rope_scaling=DYNAMIC), 2048),
    ("dynamic, one more", llama(128, 10000.0, 2048, rope_scaling=DYNAMIC), 2049),
    ("dynamic, long", llama(128, 10000.0, 2048, rope_scaling=DYNAMIC), 8192),
    ("dynamic, small head", llama(4, 100.0, 7, rope_scaling={"rope_type": "dynamic", "factor": 3.5}), 20),
    ("qwen 2.5", llama(128, 1000000.0, 32768, rope_scaling=yarn(original_max_position_embeddings=32768)), 5),
    ("deepseek v3", llama(64, 10000.0, 163840, rope_scaling=DEEPSEEK_V3), 5),
    ("deepseek, unequal mscales", llama(64, 10000.0, 163840, rope_scaling={**DEEPSEEK_V3, "mscale": 0.707, "mscale_all_dim": 0.5}), 5),
    ("gpt-oss", llama(64, 150000.0, 131072, rope_scaling=GPT_OSS), 5),
    ("gpt-oss, new key", {"num_attention_heads": 64, "hidden_size": 2880, "head_dim": 64,
                          "max_position_embeddings": 131072, "rope_parameters": {**GPT_OSS, "rope_theta": 150000.0}}, 5),
    ("yarn, given attention factor", llama(32, 10000.0, 8192, rope_scaling=yarn(attention_factor=0.75, mscale=2.0)), 5),
    ("yarn, no factor", llama(32, 10000.0, 9000, rope_scaling=yarn(factor=None)), 5),
    ("yarn, factor below 1", llama(32, 10000.0, 2048, rope_scaling=yarn(factor=0.5)), 5),
    ("yarn, other betas", llama(64, 10000.0, 8192, rope_scaling=yarn(beta_fast=16.5, beta_slow=2.25)), 5),
    ("yarn, mscale alone", llama(64, 10000.0, 8192, rope_scaling=yarn(mscale=0.5)), 5),
    ("yarn, partial", llama(64, 10000.0, 8192, partial_rotary_factor=0.25, rope_scaling=yarn()), 5),
    ("yarn, ramp of no width", llama(8, 10000.0, 64, rope_scaling=yarn(original_max_position_embeddings=4)), 5),
    ("yarn, ramp past the pairs", llama(8, 10000.0, 64, rope_scaling=yarn(original_max_position_embeddings=10**12)), 5),
    ("longrope, at the length", llama(8, 10000.0, 4096, rope_scaling=longrope(original_max_position_embeddings=512)), 512),
    ("longrope, one more", llama(8, 10000.0, 4096, rope_scaling=longrope(original_max_position_embeddings=512)), 513),
    ("longrope, given factors", llama(8, 10000.0, 4096, rope_scaling=longrope(
        original_max_position_embeddings=512, factor=2.0, attention_factor=1.25)), 5),
    ("longrope, factor", llama(8, 10000.0, 4096, rope_scaling=longrope(
        original_max_position_embeddings=512, factor=32.0)), 5),
    ("longrope, factor 1", llama(8, 10000.0, 512, rope_scaling=longrope()), 5),
    ("phi-3, short", llama(96, 10000.0, 131072, original_max_position_embeddings=4096, rope_scaling=PHI3), 4096),
    ("phi-3, long", llama(96, 10000.0, 131072, original_max_position_embeddings=4096, rope_scaling=PHI3), 131072),
]


def dec(value: float) -> Decimal:
    """The exact value of a number of a JSON file."""
    return Decimal(value)


def yarn_attention_factor(rope: dict, factor: Decimal) -> Decimal:
    def grown(weight: object) -> Decimal:
        return Decimal(1) if factor <= 1 else Decimal("0.1") * dec(weight) * factor.ln() + 1
    if rope.get("attention_factor") is not None:
        return dec(rope["attention_factor"])
    if rope.get("mscale") and rope.get("mscale_all_dim"):
        return grown(rope["mscale"]) / grown(rope["mscale_all_dim"])
    return grown(1)


def yarn_ramp(rope: dict, theta: Decimal, size: int, original: Decimal, pair: int) -> Decimal:
    """How much of a pair's frequency is divided: 0 for fast pairs, 1 for slow ones."""
    def pair_of(turns: Decimal) -> Decimal:
        return size * (original / (turns * TWO_PI)).ln() / (2 * theta.ln())
    low, high = (pair_of(dec(rope.get(key, default))) for key, default in (("beta_fast", 32), ("beta_slow", 1)))
    if rope.get("truncate", True):
        low, high = Decimal(math.floor(low)), Decimal(math.ceil(high))
    low, high = max(low, Decimal(0)), min(high, Decimal(size - 1))
    if low == high:
        high += Decimal("0.001")
    return min(max((pair - low) / (high - low), Decimal(0)), Decimal(1))


def llama3_frequency(rope: dict, original: Decimal, factor: Decimal, w: Decimal) -> Decimal:
    low, high = dec(rope["low_freq_factor"]), dec(rope["high_freq_factor"])
    turns = original * w / TWO_PI
    if turns < low:
        return w / factor
    if turns > high:
        return w
    kept = (turns - low) / (high - low)
    return (1 - kept) * w / factor + kept * w


def values(config: dict, length: int) -> tuple[int, list[Decimal], Decimal]:
    """Rotary size, frequencies and attention factor."""
    rope = config.get("rope_scaling") or config.get("rope_parameters") or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    theta = dec(rope.get("rope_theta", config.get("rope_theta")))
    head_dim = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    size = int(head_dim * rope.get("partial_rotary_factor", config.get("partial_rotary_factor", 1.0)))
    most = config.get("max_position_embeddings", 0)
    original = dec(config.get("original_max_position_embeddings", rope.get("original_max_position_embeddings", most)))
    factor = dec(rope["factor"]) if rope.get("factor") is not None else dec(most) / (original or 1)
    attention_factor = Decimal(1)
    if kind == "dynamic" and length > most:
        theta *= (factor * length / most - (factor - 1)) ** (Decimal(size) / (size - 2))
    if kind == "yarn":
        attention_factor = yarn_attention_factor(rope, factor)
    if kind in ("longrope", "su"):
        if rope.get("attention_factor") is not None:
            attention_factor = dec(rope["attention_factor"])
        elif factor > 1:
            attention_factor = (1 + factor.ln() / original.ln()).sqrt()
    frequencies = []
    for pair in range(size // 2):
        w = theta ** (-Decimal(2 * pair) / size)
        if kind == "linear":
            w /= factor
        elif kind == "yarn":
            ramp = yarn_ramp(rope, theta, size, original, pair)
            w = ramp * w / factor + (1 - ramp) * w
        elif kind == "llama3":
            w = llama3_frequency(rope, original, factor, w)
        elif kind in ("longrope", "su"):
            w /= dec(rope["long_factor" if length > original else "short_factor"][pair])
        frequencies.append(w)
    return size, frequencies, attention_factor


def golden() -> str:
    lines = []
    for name, config, length in CASES:
        size, frequencies, attention_factor = values(config, length)
        lines.append(json.dumps({"name": name, "sequence_length": length, "rope_dim": size,
                                 "attention_factor": float(attention_factor),
                                 "radians": [float(w) for w in frequencies], "config": config}))
    return "[\n" + ",\n".join(lines) + "\n]\n"


def main() -> int:
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        with open(sys.argv[2], encoding="utf-8") as file:
            if file.read() == golden():
                return 0
        print(f"{sys.argv[2]} is not what scripts/rope_values.py writes", file=sys.stderr)
        return 1
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(golden())
    return 0


if __name__ == "__main__":
    sys.exit(main())
