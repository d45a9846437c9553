#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints type, shape and numbers of a .npy file of little-endian unsigned integers (standard input).

Exits 1 when the file breaks a rule of the format: header length, alignment, number of bytes.
"""
import ast
import struct
import sys

data = sys.stdin.buffer.read()
assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
end = 10 + struct.unpack("<H", data[8:10])[0]
assert end % 64 == 0 and data[end - 1:end] == b"\n"
header = ast.literal_eval(data[10:end].decode("ascii"))
assert header["fortran_order"] is False
size = {"<u4": 4, "<u8": 8}[header["descr"]]
count = 1
for axis in header["shape"]:
    count *= axis
assert len(data) == end + size * count
numbers = struct.unpack(f"<{count}{'I' if size == 4 else 'Q'}", data[end:])
print(header["descr"], header["shape"], *numbers)
