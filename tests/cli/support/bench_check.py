#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks attn-bench's JSON: bench_check.py FILE FLOP BYTES (the two as Python expressions of numbers).

Prints "ok", or what is wrong, and exits 1.
"""
import json
import math
import sys


def refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def problems(path: str, flop: float, size: float) -> list[str]:
    document = json.load(open(path), parse_constant=refuse_constant)
    found = []
    for key in ("executable", "num_cpus", "device", "driver"):
        if key not in document["context"]:
            found.append(f"context lacks {key}")
    if len(document["benchmarks"]) != 1:
        return found + ["not one benchmark"]
    b = document["benchmarks"][0]
    if (b["run_type"], b["time_unit"], b["threads"]) != ("iteration", "ms", 1) or b["name"] != b["run_name"]:
        found.append("not Google Benchmark's fields")
    if (b["flop"], b["bytes"]) != (flop, size):
        found.append(f"flop {b['flop']} and bytes {b['bytes']}, not {flop} and {size}")
    for name, amount in (("gflop_per_second", flop), ("gbyte_per_second", size)):
        if b["cpu_time"] > 0 and not math.isclose(b[name], amount / b["cpu_time"] / 1e6, rel_tol=1e-9):
            found.append(f"{name} {b[name]}")
    if not 0 < b["wall_ms_min"] <= b["real_time"] <= b["wall_ms_max"]:
        found.append("wall times out of order")
    if b["device_ms_median"] is not None:
        if not 0 <= b["device_ms_min"] <= b["device_ms_median"] <= b["device_ms_max"]:
            found.append("device times out of order")
        if b["device_ms_min"] > b["wall_ms_min"]:
            found.append("device time above wall time")
    if not (0 <= b["max_abs_error"] < 1e-2 and b["checked_rows"] > 0 and b["first_call_ms"] > 0 and b["iterations"] > 0):
        found.append("check or first call")
    return found


def main() -> int:
    flop, size = (eval(text, {"__builtins__": {}}) for text in sys.argv[2:4])
    found = problems(sys.argv[1], flop, size)
    print("; ".join(found) or "ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
