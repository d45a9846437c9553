#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small valid inputs for every fuzzer.

usage: make_seeds.py DIR        gives DIR/<fuzzer>/<number>
"""
import base64
import json
import pathlib
import struct
import sys


def npy(descr: str, order: bool, shape: str, data: bytes, version: int = 1) -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def safetensors(header: dict, data: bytes) -> bytes:
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(dtype: str, shape: list, data: list) -> bytes:
    return json.dumps({"dtype": dtype, "shape": shape, "data": data}).encode()


def gpt2_symbols() -> list[str]:
    """The printable character of every byte, as GPT-2's tokenizer files have it."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [b for b in range(256) if b not in shown]
    table = {b: chr(b) for b in shown} | {b: chr(256 + i) for i, b in enumerate(hidden)}
    return [table[b] for b in range(256)]


def tokenizer_json() -> bytes:
    vocab = {symbol: i for i, symbol in enumerate(gpt2_symbols())}
    vocab |= {"ab": 256, "\u0120a": 257}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    special = {"id": 258, "content": "<|end|>", "single_word": False, "lstrip": False, "rstrip": False,
               "normalized": False, "special": True}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "vocab": vocab,
             "merges": ["a b", "\u0120 a"]}
    return json.dumps({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [special],
                       "normalizer": None, "pre_tokenizer": byte_level, "post_processor": None,
                       "decoder": byte_level, "model": model}, ensure_ascii=False).encode()


def tiktoken() -> bytes:
    tokens = [bytes([b]) for b in range(256)] + [b"ab", b" a"]
    return b"".join(base64.b64encode(token) + f" {rank}\n".encode() for rank, token in enumerate(tokens))


def vocab_merges() -> bytes:
    vocab = {symbol: i for i, symbol in enumerate(gpt2_symbols())} | {"ab": 256, "\u0120a": 257}
    return json.dumps(vocab, ensure_ascii=False).encode() + b"\0#version: 0.2\na b\n\xc4\xa0 a\n"


def tekken() -> bytes:
    tokens = [bytes([b]) for b in range(256)] + [b"ab", b" a"]
    config = {"pattern": "\\S+|\\s+", "num_vocab_tokens": 258, "default_vocab_size": 261,
              "default_num_special_tokens": 3, "version": "v3"}
    vocab = [{"rank": i, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
             for i, token in enumerate(tokens)]
    specials = [{"rank": 0, "token_str": "<unk>", "is_control": True}]
    return json.dumps({"config": config, "vocab": vocab, "special_tokens": specials}).encode()


entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
seeds = {
    "fuzz_npy": [
        npy("<f4", False, "(2, 3)", bytes(24)),
        npy(">f2", True, "(2, 3)", bytes(12), 2),
        npy("|b1", False, "()", b"\1", 3),
        npy("<i8", False, "(0, 4)", b""),
    ],
    "fuzz_safetensors": [
        safetensors({"x": entry}, bytes(8)),
        safetensors({"__metadata__": {"a": "b"}, "x": entry,
                     "y": {"dtype": "BOOL", "shape": [], "data_offsets": [8, 9]}}, bytes(9)),
        safetensors({"z": {"dtype": "F4", "shape": [4], "data_offsets": [0, 2]}}, bytes(2)),
        safetensors({}, b""),
    ],
    "fuzz_json_tensor": [
        tensor("f32", [2, 2], [1, -2.5, "NaN", 1e-7]),
        tensor("u64", [1], [2**64 - 1]),
        tensor("bool", [2], [True, 0]),
        tensor("bf16", [0], []),
    ],
    "fuzz_splitter": [bytes([i]) + "It's 1234 \u00e9t\u00e9\r\n\t \u4e2d\u6587 Ab!".encode() + b"\xff" for i in range(8)],
    "fuzz_pattern": [
        rb"'s|'t| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        rb"(?i:'s|'ll)|[^\r\n\p{L}\p{N}]?\p{L}++|\p{N}{1,3}|\s*[\r\n]+|\s+$",
        rb"[\p{Lu}&&[^A-F]]*(?<=a)\b\x{4E00}",
    ],
    "fuzz_tokenizer_json": [tokenizer_json()],
    "fuzz_tiktoken": [tiktoken()],
    "fuzz_tekken": [tekken()],
    "fuzz_vocab_merges": [vocab_merges()],
}

folder = pathlib.Path(sys.argv[1])
for name, inputs in seeds.items():
    (folder / name).mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(inputs):
        (folder / name / str(number)).write_bytes(data)
