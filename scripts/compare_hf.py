#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that tokenizer files written by bpe-train and bpe-convert load elsewhere with equal ids.

usage: compare_hf.py TOOLS_DIR [--corpus FILE] [--shared DIR]

For several patterns a tokenizer is trained on the corpus (default: this folder's scripts and README), written as
tokenizer.json and as .tiktoken, and sample texts are encoded by bpe-encode and by Hugging Face `tokenizers` 0.23.2 and
`tiktoken`. Then bpe-convert turns those files, and published vocabularies of the shared test data (at DIR, else
$NETCL_SHARED_DIR, else ../shared) where it is there, into the other formats, and both load the results. Then files that
bpe-train does not write are compared with `tokenizers`: the pre-tokenizer UnicodeScripts on every code point, truncation and
padding, and tokenizers on characters (hand-made ones, and Llama 2's where it is there), decoded too. Needs the packages of
requirements-compare.txt; without them it says so and exits 77.
Last line: N passed, N failed; exit 1 on a failure.
"""
import argparse
import base64
import itertools
import json
import lzma
import os
import pathlib
import random
import subprocess
import sys
import tempfile

PATTERNS = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "cl100k": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
              r"|\s+(?!\S)|\s+",
}
SPECIAL = "<|endoftext|>"


def samples(corpus: str) -> list[str]:
    rng = random.Random(1)
    texts = ["", "Hello world!", "  two\n\n lines\r\n", "don't DON'T", "e\u0301 \u0130 \u4e2d\u6587 \U0001f642 1234567"]
    for _ in range(200):
        start = rng.randrange(len(corpus))
        texts.append(corpus[start:start + rng.randrange(1, 300)])
        texts.append("".join(chr(rng.choice([rng.randrange(32, 127), rng.randrange(0xA0, 0x3000)])) for _ in range(40)))
    return texts


def encode(tools: pathlib.Path, options: list[str], texts: list[str]) -> list[list[int]]:
    rows = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    done = subprocess.run([tools / "bpe-encode", *options, "--jsonl", "--format", "jsonl", "--special", "plain", "-"],
                          input=rows.encode(), capture_output=True, check=True)
    return [json.loads(line)["ids"] for line in done.stdout.splitlines()]


def convert(tools: pathlib.Path, source: list[str], out: str, *options: str) -> None:
    subprocess.run([tools / "bpe-convert", "-q", "-t", *source, "-o", out, *options], check=True)


def read_ranks(path: str) -> dict[bytes, int]:
    pairs = (line.split() for line in pathlib.Path(path).read_bytes().splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


def tiktoken_ids(path: str, pattern: str, texts: list[str]) -> list[list[int]]:
    import tiktoken
    peer = tiktoken.Encoding("peer", pat_str=pattern, mergeable_ranks=read_ranks(path), special_tokens={})
    return [peer.encode_ordinary(text) for text in texts]


def json_ids(path: str, texts: list[str]) -> list[list[int]]:
    import tokenizers
    peer = tokenizers.Tokenizer.from_file(path)
    peer.encode_special_tokens = True
    return [peer.encode(text, add_special_tokens=False).ids for text in texts]


def merges_ids(folder: str, pattern: str, texts: list[str]) -> list[list[int]]:
    import tokenizers
    from tokenizers import pre_tokenizers
    peer = tokenizers.Tokenizer(tokenizers.models.BPE.from_file(f"{folder}/vocab.json", f"{folder}/merges.txt"))
    peer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return [peer.encode(text, add_special_tokens=False).ids for text in texts]


def check_conversions(tools: pathlib.Path, check, name: str, source: list[str], stem: str, pattern: str,
                      texts: list[str], merges: bool = True) -> None:
    """Every format that bpe-convert makes of `source`, in the library it is for."""
    ours = encode(tools, ["-t", *source], texts)
    convert(tools, source, f"{stem}.to.json")
    check(f"{name}: converted tokenizer.json in tokenizers", json_ids(f"{stem}.to.json", texts) == ours)
    convert(tools, source, f"{stem}.to.tiktoken")
    check(f"{name}: converted .tiktoken in tiktoken", tiktoken_ids(f"{stem}.to.tiktoken", pattern, texts) == ours)
    if merges:
        convert(tools, source, f"{stem}.to", "--to", "merges")
        check(f"{name}: converted vocab.json and merges.txt in tokenizers",
              merges_ids(f"{stem}.to", pattern, texts) == ours)


def check_published(tools: pathlib.Path, check, shared: pathlib.Path, folder: pathlib.Path, texts: list[str]) -> None:
    manifest = shared / "vocabs" / "manifest.json"
    if not manifest.exists():
        print(f"published vocabularies: skipped, no {manifest}")
        return
    vocabularies = json.loads(manifest.read_text())["vocabs"]
    patterns = {name: entry["pattern"] for name, entry in vocabularies.items() if "pattern" in entry}
    cases = [  # file, options, pattern, whether merges alone give all tokens
        ("r50k_base.tiktoken", ["--pattern", "r50k"], patterns["r50k_base"], True),
        ("cl100k_base.tiktoken", ["--pattern", "cl100k"], patterns["cl100k_base"], True),
        ("o200k_base.tiktoken", ["--pattern", "o200k"], patterns["o200k_base"], True),
        ("tekken_240718.tiktoken", ["--pattern", "tekken"], patterns["tekken_240718"], True),
        ("llama3.tiktoken", ["--pattern", "llama3"], patterns["cl100k_base"], False),
        ("llama3.tokenizer.json", [], patterns["cl100k_base"], False),
        ("gpt2.tokenizer.json", [], patterns["r50k_base"], True),
    ]
    for file, options, pattern, merges in cases:
        path = folder / file
        path.write_bytes(lzma.decompress((shared / "vocabs" / f"{file}.xz").read_bytes()))
        check_conversions(tools, check, file, [str(path), *options], str(path), pattern, texts, merges)


def byte_level(**fields) -> dict:
    """A tokenizer.json on bytes without merges; fields stand in place of its members."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    vocab = {chr(byte): byte for byte in shown}
    vocab.update({chr(256 + i): byte for i, byte in enumerate(b for b in range(256) if b not in shown)})
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
            "pre_tokenizer": level, "post_processor": None, "decoder": level,
            "model": {"type": "BPE", "vocab": vocab, "merges": []}, **fields}


def on_characters(unk: bool, fuse: bool, fallback: bool, byte_tokens: bool) -> dict:
    """A small tokenizer.json in the manner of Llama 2."""
    tokens = ["<unk>", "a", "b", "\u2581", "\u00e9", *(f"<0x{byte:02X}>" for byte in range(256) if byte_tokens),
              "ab", "\u2581a", "\u2581ab", "<unk>a", "ba", "abab", "\u2581\u2581"]
    merges = [["a", "b"], ["\u2581", "a"], ["\u2581", "ab"], ["b", "a"], ["<unk>", "a"], ["\u2581", "\u2581"]]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
            "normalizer": {"type": "Sequence", "normalizers": [
                {"type": "Prepend", "prepend": "\u2581"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
            "pre_tokenizer": None, "post_processor": None,
            "decoder": {"type": "Sequence", "decoders": [
                {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"},
                {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
            "model": {"type": "BPE", "unk_token": "<unk>" if unk else None, "fuse_unk": fuse, "byte_fallback": fallback,
                      "vocab": {token: i for i, token in enumerate(tokens)}, "merges": merges}}


def compare_files(tools: pathlib.Path, shared: pathlib.Path, folder: str, texts: list[str], check) -> None:
    import tokenizers
    path = pathlib.Path(folder) / "file.json"

    def both(value: dict | str, texts: list[str], options: tuple[str, ...] = ()) -> tuple[list, list, object]:
        path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
        peer = tokenizers.Tokenizer.from_file(str(path))
        peer.encode_special_tokens = True
        # A batch, so that padding to the longest means the same.
        theirs = [encoding.ids for encoding in peer.encode_batch(texts, add_special_tokens=False)]
        return encode(tools, ["-t", str(path), *options], texts), theirs, peer

    # A merge of the last byte of a character (or of a or 1) with the first of the next one happens where no cut is made.
    scripts = byte_level(pre_tokenizer={"type": "Sequence", "pretokenizers": [
        {"type": "UnicodeScripts"}, byte_level()["pre_tokenizer"]]})
    vocab = scripts["model"]["vocab"]
    key = {byte: token for token, byte in vocab.items()}
    merges = [[left, key[lead]] for left in ["a", "1", *(key[byte] for byte in range(0x80, 0xC0))]
              for lead in range(0xC2, 0xF5)]
    scripts["model"]["merges"] = merges
    vocab.update({left + right: 256 + i for i, (left, right) in enumerate(merges)})
    points = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    parts = [points[i:i + 4096] for i in range(0, len(points), 4096)]
    lines = ["".join(part) for part in parts] + ["".join("a" + c + " 1" + c for c in part) for part in parts]
    ours, theirs, _ = both(scripts, lines)
    check("UnicodeScripts on every code point", ours == theirs)

    for direction, stride in (("Left", 0), ("Right", 3)):
        cut = {"direction": direction, "max_length": 20, "strategy": "LongestFirst", "stride": stride}
        fill = {"strategy": "BatchLongest", "direction": direction, "pad_to_multiple_of": 7, "pad_id": 1, "pad_type_id": 0,
                "pad_token": "x"}
        ours, theirs, _ = both(byte_level(truncation=cut, padding=fill), texts, ("--truncate", "--pad"))
        check(f"truncation and padding, {direction}", ours == theirs)

    # Tokens that take white space, next to and inside each other.
    rng = random.Random(3)
    differ = compared = 0
    for _ in range(150):
        contents = {"".join(rng.choice("abA \n") for _ in range(rng.randint(1, 3))) for _ in range(3)}
        added = [{"id": 256 + i, "content": content, "single_word": rng.random() < 0.2, "lstrip": rng.random() < 0.4,
                  "rstrip": rng.random() < 0.4, "normalized": False, "special": False} for i, content in enumerate(sorted(contents))]
        lines = ["".join(rng.choice("abA \n ") for _ in range(rng.randint(1, 10))) for _ in range(20)]
        path.write_text(json.dumps(byte_level(added_tokens=added)), "utf-8")
        peer = tokenizers.Tokenizer.from_file(str(path))
        for line, ours in zip(lines, encode(tools, ["-t", str(path)], lines)):
            try:
                theirs = peer.encode(line, add_special_tokens=False).ids
            except BaseException as error:  # tokenizers 0.23.2 panics on some neighbours: "bad split"
                if type(error).__name__ != "PanicException":
                    raise
                continue
            compared += 1
            differ += ours != theirs
    check(f"added tokens that take white space, {compared} texts", differ == 0 and compared > 2000)

    models = {f"on characters {flags}": on_characters(*flags) for flags in itertools.product((True, False), repeat=4)}
    packed = shared / "vocabs" / "llama2.tokenizer.json.xz"
    if packed.is_file():
        models["Llama 2"] = lzma.decompress(packed.read_bytes()).decode()
    rng = random.Random(2)
    small = ["".join(rng.choice("aabb  \u00e9xy\u4e2d\n") for _ in range(rng.randrange(30))) for _ in range(300)]
    for name, model in models.items():
        ours, theirs, peer = both(model, small + texts)
        check(f"{name}: ids", ours == theirs)
        rows = "".join(json.dumps({"ids": ids}) + "\n" for ids in ours)
        done = subprocess.run([tools / "bpe-decode", "-t", path, "--format", "jsonl", "-"], input=rows.encode(),
                              capture_output=True, check=True)
        check(f"{name}: decoded", done.stdout.decode() == "".join(peer.decode(ids, skip_special_tokens=False) for ids in ours))


def main() -> int:
    try:
        import tiktoken
        import tokenizers
    except ImportError as error:
        print(f"skipped: {error}; install scripts/requirements-compare.txt")
        return 77
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--shared", type=pathlib.Path)
    args = parser.parse_args()
    here = pathlib.Path(__file__).resolve().parent
    shared = args.shared or pathlib.Path(os.environ.get("NETCL_SHARED_DIR") or here.parent.parent / "shared")
    files = [args.corpus] if args.corpus else [*sorted(here.glob("*.py")), here.parent / "README.md"]
    texts = samples("".join(file.read_text("utf-8") for file in files))
    results: list[bool] = []

    def check(name: str, equal: bool) -> None:
        results.append(equal)
        print(f"{'ok' if equal else 'FAILED'}: {name}")

    with tempfile.TemporaryDirectory() as folder:
        for name, pattern in PATTERNS.items():
            stem = pathlib.Path(folder) / name
            for form in ("json", "tiktoken"):
                subprocess.run([args.tools / "bpe-train", *files, "-o", f"{stem}.{form}", "--format", form, "--vocab-size",
                                "1000", "--pattern", name, "--special", SPECIAL, "-q"], check=True)
            ours = encode(args.tools, ["-t", f"{stem}.json"], texts)
            check(f"{name}: tokenizer.json in tokenizers {tokenizers.__version__}",
                  json_ids(f"{stem}.json", texts) == ours)
            check(f"{name}: the special token has the id 0",
                  tokenizers.Tokenizer.from_file(f"{stem}.json").encode(SPECIAL).ids == [0])
            check(f"{name}: .tiktoken in tiktoken {tiktoken.__version__}",
                  tiktoken_ids(f"{stem}.tiktoken", pattern, texts) == ours)
            check(f"{name}: .tiktoken read back",
                  encode(args.tools, ["-t", f"{stem}.tiktoken", "--pattern-regex", pattern], texts) == ours)
            specials = pathlib.Path(f"{stem}.specials")
            specials.write_text(json.dumps({SPECIAL: 0}))
            check_conversions(args.tools, check, f"{name}.json", [f"{stem}.json"], f"{stem}.j", pattern, texts)
            check_conversions(args.tools, check, f"{name}.tiktoken", [
                f"{stem}.tiktoken", "--pattern", name, "--specials", str(specials)], f"{stem}.t", pattern, texts)
            check(f"{name}: the special token of the converted tokenizer.json has the id 0",
                  tokenizers.Tokenizer.from_file(f"{stem}.t.to.json").encode(SPECIAL).ids == [0])
        check_published(args.tools, check, shared, pathlib.Path(folder), texts)
        compare_files(args.tools, shared, folder, texts, check)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
