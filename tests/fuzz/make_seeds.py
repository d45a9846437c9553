#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seed inputs of every fuzzer that are not inputs of former findings.

usage: make_seeds.py [DIR]        gives DIR/<fuzzer>/<what it shows>; DIR: the folder corpus beside this file
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


def byte_vocabulary() -> dict:
    return {symbol: i for i, symbol in enumerate(gpt2_symbols())} | {"ab": 256, "\u0120a": 257}


def tokenizer_json(**changes: object) -> bytes:
    """A byte-level tokenizer; `changes` replace members, those of the model by their name too."""
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    special = {"id": 258, "content": "<|end|>", "single_word": False, "lstrip": False, "rstrip": False,
               "normalized": False, "special": True}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
             "vocab": byte_vocabulary(), "merges": ["a b", "\u0120 a"]}
    whole = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [special],
             "normalizer": None, "pre_tokenizer": byte_level, "post_processor": None,
             "decoder": byte_level, "model": model}
    for name, value in changes.items():
        (model if name in model else whole)[name] = value
    return json.dumps(whole, ensure_ascii=False).encode()


def chat(template: str, **variables: object) -> bytes:
    return template.encode() + b"\0" + json.dumps(variables).encode()


def preset(name: str) -> bytes:
    """A template of data/chat over a conversation with a tool."""
    function = {"name": "f", "description": "d", "parameters": {
        "type": "object", "required": ["a"], "properties": {"a": {"type": "array", "items": {"type": "string"}}}}}
    call = {"id": "123456789", "type": "function", "function": {"name": "f", "arguments": {"a": ["x"]}}}
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "u"}]},
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "123456789", "content": "1"},
                {"role": "assistant", "content": "<think>t</think> a"}]
    folder = pathlib.Path(__file__).resolve().parents[2] / "data" / "chat"
    return chat((folder / f"{name}.jinja").read_text(), messages=messages, bos_token="<s>", eos_token="</s>",
                tools=[{"type": "function", "function": function}], add_generation_prompt=True)


def character_tokenizer_json() -> bytes:
    """A tokenizer on characters with byte fallback, as Llama 2 has it."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{b:02X}>" for b in range(256)), "\u2581", "a", "b", "ab", "\u2581a"]
    specials = [{"id": i, "content": tokens[i], "single_word": False, "lstrip": False, "rstrip": False,
                 "normalized": False, "special": True} for i in range(3)]
    return tokenizer_json(
        added_tokens=specials, pre_tokenizer=None, unk_token="<unk>", fuse_unk=True, byte_fallback=True,
        vocab={token: i for i, token in enumerate(tokens)}, merges=["a b", "\u2581 a"],
        normalizer={"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "\u2581"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
        decoder={"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
            {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})


def tiktoken() -> bytes:
    tokens = [bytes([b]) for b in range(256)] + [b"ab", b" a"]
    return b"".join(base64.b64encode(token) + f" {rank}\n".encode() for rank, token in enumerate(tokens))


def vocab_merges() -> bytes:
    return (json.dumps(byte_vocabulary(), ensure_ascii=False) + "\0#version: 0.2\na b\n\u0120 a\n").encode()


def tekken() -> bytes:
    tokens = [bytes([b]) for b in range(256)] + [b"ab", b" a"]
    config = {"pattern": "\\S+|\\s+", "num_vocab_tokens": 258, "default_vocab_size": 261,
              "default_num_special_tokens": 3, "version": "v3"}
    vocab = [{"rank": i, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
             for i, token in enumerate(tokens)]
    specials = [{"rank": 0, "token_str": "<unk>", "is_control": True}]
    return json.dumps({"config": config, "vocab": vocab, "special_tokens": specials}).encode()


def counts(words: dict, magic: str = "counts", **changes: object) -> bytes:
    """A file of counted pre-tokens; words are in their escaped form, changes are members of its first line."""
    header = {"pattern": "gpt2", "add_prefix_space": False, "special_tokens": []} | changes
    lines = [f"!!netcl-{magic} 1 " + json.dumps(header, separators=(",", ":"))]
    lines += [f"{word}\t{count}" for word, count in words.items()]
    lines += ["~~bytes\t99", "~~documents\t2", f"~~pieces\t{sum(words.values())}", f"~~words\t{len(words)}"]
    return "".join(line + "\n" for line in lines).encode()


def dump(words: dict, merges: str) -> bytes:
    return counts(words, "dump", vocab_size=300, special_place="first", min_frequency=1, max_token_length=0,
                  byte_order="gpt2") + merges.encode()


def round_trip(rule: str, pattern: int, merges: list[tuple[int, int]], text: str | bytes,
               after_long_piece: bool = False) -> bytes:
    """rule: "list", "ranks" or "ignore"; a merge is two bytes, from 0xE0 on tokens made before."""
    choice = {"list": 0, "ranks": 1, "ignore": 2}[rule] | pattern << 2
    pairs = bytes(part for merge in merges for part in merge)
    return bytes([choice, len(merges) | after_long_piece << 7]) + pairs + (text.encode() if isinstance(text, str) else text)


GPT2, CL100K, O200K, QWEN2 = 0, 3, 4, 6  # places in splitter_names()
PATTERNS = {"gpt2": GPT2, "cl100k": CL100K, "o200k": O200K, "qwen2": QWEN2}
SPLIT_TEXTS = {
    "words": "It's 1234 \u00e9t\u00e9\r\n\t \u4e2d\u6587 Ab!".encode() + b"\xff",
    "across_blocks": ("x" * 61 + " don't\n\n  1234567 \u0627\u0644\u0639 e\u0301 " + "\u3042" * 30 + "HTTPServer'LL//\n").encode(),
    "ill_formed": b"a \xe4\xb8 b \xed\xa0\x80 \xf4\x90\x80\x80 \xc0\xaf \xf0\x9f\x98",
}
A, B, C = b"abc"
FIRST, SECOND = 0xE0, 0xE1
RUN = "aaabaaab aab" * 12

entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
seeds = {
    "fuzz_npy": {
        "matrix_f32": npy("<f4", False, "(2, 3)", bytes(24)),
        "version_2_fortran_big_endian": npy(">f2", True, "(2, 3)", bytes(12), 2),
        "version_3_scalar_bool": npy("|b1", False, "()", b"\1", 3),
        "empty_axis": npy("<i8", False, "(0, 4)", b""),
    },
    "fuzz_safetensors": {
        "one_tensor": safetensors({"x": entry}, bytes(8)),
        "metadata_and_bool": safetensors(
            {"__metadata__": {"a": "b"}, "x": entry,
             "y": {"dtype": "BOOL", "shape": [], "data_offsets": [8, 9]}}, bytes(9)),
        "dtype_without_tensors": safetensors({"z": {"dtype": "F4", "shape": [4], "data_offsets": [0, 2]}}, bytes(2)),
        "no_tensors": safetensors({}, b""),
    },
    "fuzz_model_config": {
        "llama3": json.dumps({"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "rope_theta": 500000.0,
                              "max_position_embeddings": 128, "attention_bias": False, "rope_scaling": {
                                  "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                  "original_max_position_embeddings": 32}}).encode(),
        "by_layer": json.dumps({"head_dim": 8, "num_attention_heads": 2, "layer_types": ["sliding_attention"],
                                "sliding_window": 4, "rope_parameters": {
                                    "full_attention": {"rope_type": "linear", "factor": 8, "rope_theta": 1e6},
                                    "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}}).encode(),
        "longrope": json.dumps({"type": "longrope", "short_factor": [1, 1.5, 2, 3], "long_factor": [2, 4, 8, 16],
                                "factor": 4, "original_max_position_embeddings": 16}).encode(),
        "yarn_dynamic": b'{"type":"yarn","rope_type":"dynamic","factor":2,"max_position_embeddings":8,"truncate":false,'
                        b'"beta_fast":32,"beta_slow":1,"mscale":1,"mscale_all_dim":0.5,"attention_factor":null}',
        "head_dim_largest": b'{"rope_theta":1,"head_dim":9223372036854775807,"num_attention_heads":1}',
    },
    "fuzz_json_tensor": {
        "f32_nan": tensor("f32", [2, 2], [1, -2.5, "NaN", 1e-7]),
        "u64_largest": tensor("u64", [1], [2**64 - 1]),
        "bool": tensor("bool", [2], [True, 0]),
        "bf16_empty": tensor("bf16", [0], []),
    },
    "fuzz_utf8": {
        "lengths": "a\u00e9\u4e2d\U0001F600\ud7ff\ue000\U0010ffff\0".encode(),
        "overlong_and_surrogates": b"\xc0\x80\xe0\x9f\xbf\xed\xa0\x80\xf0\x8f\xbf\xbf\xf4\x90\x80\x80\xf5",
        "cut_at_the_end": b"\xe4\xb8\xad\xf0\x9f\x98",
    },
    "fuzz_splitter": {f"{name}_{text}": bytes([pattern]) + data
                      for name, pattern in PATTERNS.items() for text, data in SPLIT_TEXTS.items()},
    "fuzz_pattern": {
        "gpt2": rb"'s|'t| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        "possessive": rb"(?i:'s|'ll)|[^\r\n\p{L}\p{N}]?\p{L}++|\p{N}{1,3}|\s*[\r\n]+|\s+$",
        "class_operations": rb"[\p{Lu}&&[^A-F]]*(?<=a)\b\x{4E00}",
        "script": rb"\p{Han}+|[\p{Ll}--[a-z]]{2,}?|.",
    },
    "fuzz_tokenizer_json": {
        "byte_level": tokenizer_json(),
        "characters": character_tokenizer_json(),
        "normalizer_and_split": tokenizer_json(
            normalizer={"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]},
            pre_tokenizer={"type": "Sequence", "pretokenizers": [
                {"type": "Digits", "individual_digits": True},
                {"type": "Split", "pattern": {"Regex": "\\s+|\\w+"}, "behavior": "Isolated", "invert": False},
                {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False}]}),
        "template": tokenizer_json(
            post_processor={"type": "TemplateProcessing",
                            "single": [{"SpecialToken": {"id": "<|end|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                            "special_tokens": {"<|end|>": {"id": "<|end|>", "ids": [258], "tokens": ["<|end|>"]}}},
            ignore_merges=True),
    },
    "fuzz_counts": {
        "words": counts({"!20the": 12, "low": 2, "~C3~A9": 1}),
        "no_words": counts({}),
        "largest": counts({"a": 2**63 - 2, "aa": 1}),
        "specials": counts({"!0A!0A": 5, "ab": 3}, special_tokens=["<|end|>", "\u4e2d"], add_prefix_space=True),
        "cut_off": counts({"ab": 3})[:-9],
        "out_of_order": counts({"b": 1, "a": 1}),
    },
    "fuzz_dump": {
        "two_merges": dump({"abab": 1}, "64 65\t2\n256 256\t1\n~~merges\t2\n"),
        "torn": dump({"abab": 1}, "64 65\t2\n~~merges\t1\n256 25"),
        "no_merges": dump({"abab": 1, "cd": 7}, ""),
        "other_merges": dump({"abab": 1}, "65 64\t1\n~~merges\t1\n"),
    },
    "fuzz_tiktoken": {"bytes_and_two": tiktoken(), "no_bytes": b"YWI= 0\n"},
    "fuzz_tekken": {"bytes_and_two": tekken()},
    "fuzz_vocab_merges": {"bytes_and_two": vocab_merges()},
    "fuzz_specials": {
        "two": b'{"<|end|>": 256, "<|pad|>": 300}',
        "prefixes": '{"ab": 256, "abc": 257, "b\u00e9": 258, "\\n\\n": 259}'.encode(),
        "taken_id": b'{"x": 7}',
        "two_names_of_one_id": b'{"ab": 256, "abc": 256}',
    },
    "fuzz_documents": {
        "whole": b"\0one\r\ntwo",
        "lines": b"\1one\r\n\ntwo\nno end",
        "lines_with_ends": b"\2one\r\n\ntwo\nno end",
        "json_lines": b'\3{"text": "a\\u00e9", "id": 7}\n{"id": "x", "text": ""}\n',
        "compressed": b"\0\x1f\x8b\x08\0",
        "compressed_raw": b"\x80\x1f\x8b\x08\0",
    },
    "fuzz_jinja": {
        "loop": chat("{%- for m in messages -%}\n  <{{ m.role }}>{{ m['content'] | trim }}{{ loop.index }}\n{% endfor %}",
                     messages=[{"role": "user", "content": " hi "}]),
        "blocks": chat("{% macro m(a, b=1) %}{{ a ~ b }}{{ caller() }}{% endmacro %}{% call m('x') %}c{% endcall %}"
                       "{% set ns = namespace(n=0) %}{% filter upper %}{% generation %}g{% endgeneration %}{% endfilter %}"
                       "{% with v = d %}{% for k, v in d | dictsort if v %}{% set ns.n = ns.n + v %}{% continue %}{% else %}e"
                       "{% endfor %}{{ ns.n }}{% endwith %}{% raw %}{{ x }}{% endraw %}{# c #}", d={"b": 2, "a": 1}),
        "expressions": chat("{{ x[::-1] }}{{ x[1:]|map('upper')|join(', ') }}{{ -7 // 2 }}{{ 2 ** 10 }}{{ 1 < n <= 3 }}"
                            "{{ 'a' in x and not y is defined }}{{ '%5.2f|%-4s' % (f, n) }}{{ '{:>{}}'.format(n, 5) }}"
                            "{{ d|tojson(indent=2) }}{{ x|groupby('k')|list if z }}{{ (n, f, none, true)|pprint }}",
                            x=["a", "b"], n=3, f=2.5, d={"k": [1, None, "\u00e9\"\n"]}),
        "strings": chat("{{ s.split(',')|list }}{{ s|wordwrap(4) }}{{ s.replace('a', s, 2)|title|center(30) }}"
                        "{{ s|truncate(5) }}{{ d|xmlattr }}{{ d|urlencode }}{{ s|indent('\\u0020') }}{{ s.strip('a ') }}"
                        "{{ s|e|safe }}{{ s.format(1, a=2) }}{{ s[2:-1:2] }}", s="a long-er, a \u65e5 {a} line", d={"a": "<b>"}),
        "recursion": chat("{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}"),
        "endless": chat("{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}"),
        "error": chat("a\n  {{ raise_exception('no ' ~ x) }}", x=1),
        "unclosed": b"{% if x %}{{ 'a",
        "gpt_oss": preset("gpt-oss"),
        "mistral": preset("mistral"),
        "qwen": preset("qwen"),
    },
    "fuzz_id_files": {
        "guessed_json": b"\0 [[1, 2], [], [3]]",
        "text": b"\1 1 22 4294967295\n\n3\r\n4",
        "json": b'\2{"ids": [1, 2, 3]}',
        "json_lines": b'\3{"ids":[1,2],"id":"a"}\n[3]\n',
        "npy_u32": b"\4" + npy("<u4", False, "(3,)", struct.pack("<3I", 1, 2, 3)),
        "npy_i64_big_endian": b"\4" + npy(">i8", False, "(1,)", struct.pack(">q", 5), 2),
        "u16": b"\5" + struct.pack("<3H", 1, 2, 65535),
        "u32_left_over": b"\6" + struct.pack("<2I", 1, 2) + b"\1",
    },
    "fuzz_round_trip": {
        "list_growing": round_trip("list", CL100K, [(A, A), (A, B), (FIRST, B), (FIRST, FIRST)], RUN),
        "list_result_made_twice": round_trip("list", GPT2, [(B, C), (A, FIRST), (A, B), (0xE2, C)], "abcabc bcabc"),
        "ranks": round_trip("ranks", O200K, [(A, B), (B, C), (FIRST, C), (C, C)], "abccabccc ABCab 123"),
        "ignore_merges": round_trip("ignore", QWEN2, [(A, A), (B, C), (FIRST, SECOND)], "aabc bcaa\n\n" * 5),
        "medium_piece": round_trip("list", CL100K, [(A, B), (B, A), (FIRST, FIRST), (SECOND, B)], "abba" * 10 + " ba"),
        "medium_piece_after_long_one": round_trip(
            "list", CL100K, [(A, B), (B, A), (FIRST, FIRST), (SECOND, B)], "abba" * 10 + " ba", True),
        "long_piece": round_trip("list", CL100K, [(A, B), (FIRST, A), (SECOND, B)], "ab" * 200 + "a"),
        "added_token": round_trip("list", CL100K, [(ord("<"), ord("|")), (ord("e"), ord("n"))], "a <|end|><|end b<|end|>\n"),
        "ill_formed": round_trip("list", CL100K, [(0xC3, 0xA9)], "\u00e9t\u00e9 \u4e2d".encode() + b"\xff\xe4\xb8"),
    },
}

folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent / "corpus"
for name, inputs in seeds.items():
    (folder / name).mkdir(parents=True, exist_ok=True)
    for what, data in inputs.items():
        (folder / name / what).write_bytes(data)
