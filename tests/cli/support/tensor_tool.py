#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small tensors for the cases of the attention tools, without NumPy.

  random SHAPE SEED DTYPE     a JSON tensor of values in [-2, 2), multiples of 1/64
  npy FILE.json [--fortran] [--big]      the same tensor as .npy on standard output (f32, f64, f16, u4)
  show FILE...                name, type, shape, values with four decimals (.json, .npy)
  close A B                   exit 1 unless shapes are equal and values agree to 1e-5
"""
import ast
import itertools
import json
import math
import struct
import sys

CODES = {"f4": "f", "f8": "d", "f2": "e", "u4": "I", "i8": "q"}
DTYPES = {"f32": "f4", "f64": "f8", "f16": "f2", "u32": "u4", "i64": "i8"}
NAMES = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def load(path: str) -> tuple[str, list[int], list]:
    data = open(path, "rb").read()
    if path.endswith(".json"):
        value = json.loads(data)
        return value["dtype"], value["shape"], [NAMES.get(v, v) if isinstance(v, str) else v for v in value["data"]]
    end = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:end].decode("ascii"))
    code = header["descr"][1:]
    names = {code: name for name, code in DTYPES.items()}
    count = math.prod(header["shape"])
    values = list(struct.unpack(f"{header['descr'][0]}{count}{CODES[code]}", data[end:]))
    assert not header["fortran_order"]
    return names[code], list(header["shape"]), values


def npy(path: str, flags: list[str]) -> bytes:
    dtype, shape, values = load(path)
    order = "--fortran" in flags
    endian = ">" if "--big" in flags else "<"
    if order:
        strides = [math.prod(shape[axis + 1:]) for axis in range(len(shape))]
        places = itertools.product(*(range(size) for size in reversed(shape)))
        values = [values[sum(i * s for i, s in zip(reversed(place), strides))] for place in places]
    text = f"{{'descr': '{endian}{DTYPES[dtype]}', 'fortran_order': {order}, 'shape': ({''.join(f'{n}, ' for n in shape)}), }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
    return head + struct.pack(f"{endian}{len(values)}{CODES[DTYPES[dtype]]}", *values)


def main() -> int:
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "random":
        shape = [int(n) for n in arguments[0].split(",")]
        state = int(arguments[1]) * 2654435761 % 2**32
        values = []
        for _ in range(math.prod(shape)):
            state = (state * 1664525 + 1013904223) % 2**32
            values.append(((state >> 16) % 256 - 128) / 64)
        print(json.dumps({"dtype": arguments[2], "shape": shape, "data": values}))
    elif command == "npy":
        sys.stdout.buffer.write(npy(arguments[0], arguments[1:]))
    elif command == "show":
        for path in arguments:
            dtype, shape, values = load(path)
            print(path, dtype, shape, *(f"{v:.4f}".replace("-0.0000", "0.0000") for v in values))
    elif command == "close":
        a, b = load(arguments[0]), load(arguments[1])
        if a[1] != b[1] or any(not (x == y or abs(x - y) <= 1e-5) for x, y in zip(a[2], b[2])):
            print(f"{arguments[0]} and {arguments[1]} differ: {a} {b}"[:400])
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
