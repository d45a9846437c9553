#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the tensor files with NumPy and the safetensors package, both ways.

usage: compare_numpy.py BUILD_DIR        uses BUILD_DIR/tests/core/netcl_tensor_convert

Files of NumPy and safetensors are read by ours and come back equal to the bit; ours are equal to theirs
byte for byte where the format leaves no choice; what NumPy's formats hold and ours does not is refused
with exit code 3. Runs in the virtual environment of requirements-compare.txt. Last line: N passed, N failed.
"""
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from numpy.lib import format as npy_format
from safetensors.numpy import load_file, save_file

results: list[bool] = []
DTYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]
SHAPES = [(), (1,), (5,), (2, 3), (2, 3, 4), (0,), (2, 0, 8), (1, 2, 1, 2, 1, 2, 1, 2)]
OUR_NAME = {"f2": "f16", "f4": "f32", "f8": "f64", "?": "bool"}


def report(good: bool, line: str) -> None:
    results.append(good)
    if not good:
        print("FAIL " + line, flush=True)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal in dtype, shape and every bit, but for the byte order in memory."""
    b = b.astype(a.dtype.newbyteorder("="))
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def random_array(rng: np.random.Generator, dtype: str, shape: tuple) -> np.ndarray:
    if dtype == "?":
        return np.asarray(rng.integers(0, 2, shape)).astype("?")
    size = np.dtype(dtype).itemsize
    count = int(np.prod(shape, dtype=int))
    return np.frombuffer(rng.bytes(count * size), dtype).reshape(shape)


def convert(program: pathlib.Path, *arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)


def compare_npy(program: pathlib.Path, folder: pathlib.Path, rng: np.random.Generator) -> None:
    jobs, wanted = [], []
    for dtype, shape, order, fortran, version in itertools.product(
            DTYPES, SHAPES, "<>", (False, True), ((1, 0), (2, 0), (3, 0))):
        array = random_array(rng, dtype, shape)
        stored = array.astype(array.dtype.newbyteorder(order))
        if fortran:
            stored = np.array(stored, order="F")
        theirs, ours = folder / f"{len(wanted)}.npy", folder / f"{len(wanted)}.out.npy"
        with open(theirs, "wb") as file:
            npy_format.write_array(file, stored, version=version)
        jobs += [theirs, ours]
        wanted.append((f"npy {stored.dtype.str} {shape} fortran={fortran} version={version}", array, ours))
    done = convert(program, *jobs)
    report(done.returncode == 0, f"npy files are read: {done.stderr}")
    for name, array, ours in wanted:
        report(same(array, np.load(ours)), name)
        np.save(folder / "plain.npy", array)
        report(ours.read_bytes() == (folder / "plain.npy").read_bytes(), name + ": bytes of numpy.save")


def compare_refusals(program: pathlib.Path, folder: pathlib.Path) -> None:
    arrays = [np.zeros(2, "c8"), np.array(["ab"]), np.array([b"ab"]), np.zeros(1, "M8[s]"), np.zeros(1, "g"),
              np.zeros(1, [("a", "f4")]), np.array([{}], dtype=object), np.zeros((1,) * 9, "f4")]
    for number, array in enumerate(arrays):
        path = folder / f"refused{number}.npy"
        np.save(path, array, allow_pickle=True)
        done = convert(program, path, folder / "none.npy")
        report(done.returncode == 3 and done.stderr.startswith(str(path)), f"refuses {array.dtype}: {done.stderr}")


def compare_safetensors(program: pathlib.Path, folder: pathlib.Path, rng: np.random.Generator) -> None:
    tensors = {f"{dtype} {shape}": random_array(rng, dtype, shape)
               for dtype, shape in itertools.product(DTYPES, SHAPES)}
    path = folder / "all.safetensors"
    save_file(tensors, path, metadata={"format": "np"})
    names = list(tensors)
    outputs = [folder / f"st{i}.npy" for i in range(len(names))]
    pairs = [x for name, out in zip(names, outputs) for x in (f"{path}:{name}", out)]
    done = convert(program, *pairs)
    report(done.returncode == 0, f"safetensors file is read: {done.stderr}")
    for name, out in zip(names, outputs):
        report(same(tensors[name], np.load(out)), f"safetensors {name}")
        ours, theirs = folder / "ours.safetensors", folder / "theirs.safetensors"
        done = convert(program, out, f"{ours}:{name}")
        save_file({name: tensors[name]}, theirs)
        report(done.returncode == 0 and same(tensors[name], load_file(ours)[name]), f"written {name}")
        report(ours.read_bytes() == theirs.read_bytes(), f"bytes of safetensors {name}")


def compare_json(program: pathlib.Path, folder: pathlib.Path, rng: np.random.Generator) -> None:
    for dtype in DTYPES:
        array = random_array(rng, dtype, (200,))
        if dtype[0] == "f":
            array = np.where(np.isnan(array), np.array(np.nan, dtype), array)
        name = OUR_NAME.get(dtype, dtype[0] + str(8 * np.dtype(dtype).itemsize))
        text = json.dumps({"dtype": name, "shape": [200], "data": array.tolist()})
        # json writes NaN and the infinities bare; the tensor format quotes them.
        for word in ("NaN", "-Infinity", "Infinity"):
            text = text.replace(f" {word}", f' "{word}"').replace(f"[{word}", f'["{word}"')
        (folder / "in.json").write_text(text)
        done = convert(program, folder / "in.json", folder / "out.npy", folder / "out.npy", folder / "out.json")
        got = np.load(folder / "out.npy") if done.returncode == 0 else np.zeros(0)
        good = np.array_equal(array, got, equal_nan=dtype[0] == "f")
        report(done.returncode == 0 and good, f"json read {name}: {done.stderr}")
        back = np.array([float(x) if isinstance(x, str) else x
                         for x in json.loads((folder / "out.json").read_text())["data"]], dtype)
        report(np.array_equal(array, back, equal_nan=dtype[0] == "f"), f"json written {name}")


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    program = pathlib.Path(sys.argv[1]).resolve() / "tests/core/netcl_tensor_convert"
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compare_npy(program, folder, rng)
        compare_refusals(program, folder)
        compare_safetensors(program, folder, rng)
        compare_json(program, folder, rng)
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


sys.exit(main())
