#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One measurement of compare_encoders.py: one encoder, one vocabulary, one text, in a process of its own.

usage: encoder_peers.py REQUEST.json        runs in the environment of requirements-encoders.txt

The request names peer, vocab, vocabs (folder), text (file), bytes (its length to use), threads, cores,
passes; for the whole process of our tool also tool and scratch. Prints one JSON object: load, cold and warm
seconds with a clock check each, number and sha256 of the ids (u32, little-endian), the call that was timed.
"unsupported" instead means that the peer has no such vocabulary.

A reference (peer "reference") is encoded in parts by all cores and not timed.
"""
import base64
import enum
import hashlib
import importlib.metadata
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import time

PART_BYTES = 250_000  # of a text given in parts; bpe-openai refuses texts of more than 200,000 ids
WARM_SECONDS = 10.0   # no further warm pass begins after this time

# Files of each vocabulary: rank file, tokenizer.json, where its split pattern is found in manifest.json.
VOCABS = {
    "gpt2": ("r50k_base.tiktoken", "gpt2.tokenizer.json", "r50k_base"),
    "cl100k": ("cl100k_base.tiktoken", "gpt35turbo.tokenizer.json", "cl100k_base"),
    "o200k": ("o200k_base.tiktoken", "gptoss.tokenizer.json", "o200k_base"),
    "llama3": ("llama3.tiktoken", "llama3.tokenizer.json", "cl100k_base"),
    "qwen3": (None, "qwen3.tokenizer.json", None),
}
SAFE_CUT = re.compile(rb"[A-Za-z] [A-Za-z]")


class Unsupported(Exception):
    pass


def cut(data: bytes) -> list[bytes]:
    """Parts whose ids, joined, are the ids of the whole: cut before a space between two ASCII letters, where
    the pattern of every vocabulary here ends a piece, whatever stands around it, and where NFC joins nothing."""
    parts, start = [], 0
    while start < len(data):
        found = SAFE_CUT.search(data, start + PART_BYTES)
        end = found.start() + 1 if found else len(data)
        parts.append(data[start:end])
        start = end
    return parts


def clock_check() -> float:
    """Seconds for SHA-256 over 3 MB in cache, a chain of dependent instructions: it shows when the core is
    slower than at other times. The best of three, so that an interrupt does not count."""
    block, best = bytes(32768), 1e9
    for _ in range(3):
        start = time.perf_counter()
        digest = hashlib.sha256()
        for _ in range(100):
            digest.update(block)
        digest.digest()
        best = min(best, time.perf_counter() - start)
    return best


# One generator for each peer: up to the first yield it imports, up to the second it loads (timed) and then gives
# distribution, call shown in the results, form of the input, and the function to time. flat() joins the result
# with the clock off. Peers without parallel encoding of one text get it in parts for several threads.

class Form(enum.Enum):
    BYTES = "bytes"
    TEXT = "text"
    LIST = "list of the text"
    PARTS = "list of its parts"

    def of(self, data: bytes):
        if self == Form.BYTES:
            return data
        if self == Form.PARTS:
            return [part.decode() for part in cut(data)]
        return [data.decode()] if self == Form.LIST else data.decode()


OPENAI = {"cl100k": "cl100k_base", "o200k": "o200k_base"}


def one_of(vocab: str, names: dict[str, str]) -> str:
    if vocab not in names:
        raise Unsupported(vocab)
    return names[vocab]


def gigatoken(request):
    import awkward  # noqa: F401  else imported by the first call
    import gigatoken as package
    folder = request["vocabs"]
    ranks, file, _ = VOCABS[request["vocab"]]
    yield
    if ranks and request["vocab"] != "llama3":
        tokenizer = package.Tokenizer.from_tiktoken(folder + ranks)
    else:
        tokenizer = package.Tokenizer.from_json(pathlib.Path(folder + file).read_bytes())
    if request["threads"] == 1:
        yield "gigatoken", "Tokenizer.encode(bytes)", Form.BYTES, tokenizer.encode
    yield ("gigatoken", "Tokenizer.encode_batch([bytes])", Form.BYTES,
           lambda data: tokenizer.encode_batch([data], parallel=True))


def toktok(request):
    import toktok as package
    name = one_of(request["vocab"], OPENAI)
    yield
    tokenizer = package._encoding(name)
    yield ("toktok-rs", "_encoding().encode_batch_to_numpy(texts, threads), its surface with ids",
           Form.LIST if request["threads"] == 1 else Form.PARTS,
           lambda texts: tokenizer.encode_batch_to_numpy(texts, request["threads"])[0])


def quicktok(request):
    import quicktok as package
    name = one_of(request["vocab"], OPENAI | {"llama3": "llama3", "qwen3": "qwen3"})
    yield
    tokenizer = package.get_encoding(name)
    yield ("quicktok-v1", "Tokenizer.encode_batch(texts, threads)",
           Form.LIST if request["threads"] == 1 else Form.PARTS,
           lambda texts: tokenizer.encode_batch(texts, request["threads"])[0])


def bpe_openai(request):
    import bpe_openai as package
    from bpe_openai import _bindings
    name = one_of(request["vocab"], OPENAI)
    yield
    if request["threads"] == 1:
        tokenizer = _bindings.tokenizer_for_encoding(name)
        yield ("bpe-openai", "_bindings.PyTokenizer.encode(text); its Encoding refuses long texts", Form.TEXT,
               tokenizer.encode)
    encoding = package.get_encoding(name)
    yield ("bpe-openai", "Encoding.encode_ordinary_batch(texts, num_threads)", Form.PARTS,
           lambda texts: encoding.encode_ordinary_batch(texts, num_threads=request["threads"]))


def rs_bpe(request):
    from rs_bpe.bpe import openai
    name = one_of(request["vocab"], OPENAI)
    yield
    tokenizer = getattr(openai, name)()
    if request["threads"] == 1:
        yield "rs_bpe", "Tokenizer.encode(text)", Form.TEXT, tokenizer.encode
    options = openai.ParallelOptions(min_batch_size=1, chunk_size=1, max_threads=request["threads"])
    yield ("rs_bpe", "Tokenizer.encode_batch_parallel(texts)", Form.PARTS,
           lambda texts: tokenizer.encode_batch_parallel(texts, options)[0])


def tokie(request):
    import tokie as package
    yield
    tokenizer = package.Tokenizer.from_json(request["vocabs"] + VOCABS[request["vocab"]][1])
    if request["threads"] == 1:
        yield ("tokie", "Tokenizer.encode(text).ids", Form.TEXT,
               lambda text: tokenizer.encode(text, add_special_tokens=False).ids)
    yield ("tokie", "Tokenizer.encode_batch(texts), .ids of each", Form.PARTS,
           lambda texts: [row.ids for row in tokenizer.encode_batch(texts, add_special_tokens=False)])


def tiktoken_encoding(request):
    import tiktoken as package
    ranks, _, pattern_of = VOCABS[request["vocab"]]
    folder = pathlib.Path(request["vocabs"])
    pattern = json.loads((folder / "manifest.json").read_text())["vocabs"][pattern_of]["pattern"]
    with open(folder / ranks, "rb") as file:
        table = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in file)}
    return package.Encoding(request["vocab"], pat_str=pattern, mergeable_ranks=table, special_tokens={})


def tiktoken(request):
    import tiktoken as _  # noqa: F401  so that its import is no part of the load
    one_of(request["vocab"], {name: name for name, files in VOCABS.items() if files[0]})
    yield
    encoding = tiktoken_encoding(request)
    if request["threads"] == 1:
        yield "tiktoken", "Encoding.encode_ordinary(text)", Form.TEXT, encoding.encode_ordinary
    yield ("tiktoken", "Encoding.encode_ordinary_batch(texts, num_threads)", Form.PARTS,
           lambda texts: encoding.encode_ordinary_batch(texts, num_threads=request["threads"]))


def tokenizers(request):
    import tokenizers as package
    yield
    tokenizer = package.Tokenizer.from_file(request["vocabs"] + VOCABS[request["vocab"]][1])
    yield ("tokenizers", "Tokenizer.encode_batch_fast(texts), .ids of each", Form.PARTS,
           lambda texts: [row.ids for row in tokenizer.encode_batch_fast(texts, add_special_tokens=False)])


def whole_process(request):
    """bpe-encode from its start to its end. The text lies in the page cache, the result is a new file."""
    source, out = request["scratch"] + "/process.txt", request["scratch"] + "/process.npy"
    pattern = [] if request["pattern"] == "-" else ["--pattern", request["pattern"]]
    command = [request["tool"], "-t", request["vocabs"] + request["tokenizer"], *pattern, "--special", "none",
               "--format", "npy", "--threads", str(request["threads"]), "--progress", "none", source, "-o", out]
    with open(request["text"], "rb") as file:
        pathlib.Path(source).write_bytes(file.read(request["bytes"]))

    def encode(_):
        pathlib.Path(out).unlink(missing_ok=True)
        subprocess.run(command, check=True)
        return pathlib.Path(out)
    yield
    yield None, "bpe-encode --format npy -o FILE, the whole process", Form.BYTES, encode


PEERS = {peer.__name__: peer for peer in
         (gigatoken, toktok, quicktok, bpe_openai, rs_bpe, tokie, tiktoken, tokenizers, whole_process)}


def flat(result):
    """Any of the forms above as one array of u32."""
    import numpy
    if isinstance(result, pathlib.Path):
        return numpy.load(result).astype("<u4")
    if type(result).__module__.startswith("awkward"):
        import awkward
        return numpy.asarray(awkward.flatten(result)).astype("<u4")
    if isinstance(result, list) and result and not isinstance(result[0], int):
        result = list(itertools.chain.from_iterable(result))
    return numpy.asarray(result, dtype="<u4")


def identity(result) -> dict:
    ids = flat(result)
    return {"ids": len(ids), "sha256": hashlib.sha256(ids.tobytes()).hexdigest()}


def cpu_seconds() -> float:
    """Of this process and of those that it waited for."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def timed(work) -> tuple[dict, object]:
    before = clock_check()
    cpu, start = cpu_seconds(), time.perf_counter()
    result = work()
    seconds, cpu = time.perf_counter() - start, cpu_seconds() - cpu
    return {"seconds": seconds, "cpu": cpu, "clock": max(before, clock_check())}, result


def load(steps):
    """Loads and encodes one letter, so that what is set up by the first call is no part of the cold pass."""
    package, call, form, encode = next(steps)
    encode(form.of(b"a"))
    return package, call, form, encode


def measure(request: dict, data: bytes) -> dict:
    try:
        steps = PEERS[request["peer"]](request)
        next(steps)
    except Unsupported:
        return {"unsupported": request["vocab"]}
    loaded, (package, call, form, encode) = timed(lambda: load(steps))
    given = form.of(data)
    cold, result = timed(lambda: encode(given))
    answer = {"call": call, "version": importlib.metadata.version(package) if package else None,
              "load": loaded, "cold": cold, "warm": []} | identity(result)
    if answer["sha256"] != request["sha256"]:
        return answer
    begin = time.perf_counter()
    while len(answer["warm"]) < request["passes"]:
        del result  # so that no pass frees the ids of the one before
        done, result = timed(lambda: encode(given))
        answer["warm"].append(done)
        if time.perf_counter() - begin > WARM_SECONDS:
            break
    # The last pass must agree too: a cache that goes wrong shows there.
    return answer | identity(result)


def specials_in(request: dict, text: str) -> list[str]:
    """Texts of added tokens that occur: an encoder that recognises them has other ids than one that does not."""
    file = json.loads(pathlib.Path(request["vocabs"] + VOCABS[request["vocab"]][1]).read_text())
    return [token["content"] for token in file["added_tokens"] if token["content"] in text]


def reference(request: dict, data: bytes) -> dict:
    """tiktoken where there is a rank file, else tokenizers; in parts, by all cores."""
    parts = [part.decode() for part in cut(data)]
    if VOCABS[request["vocab"]][0]:
        by = "tiktoken"
        rows = tiktoken_encoding(request).encode_ordinary_batch(parts, num_threads=os.cpu_count() or 1)
    else:
        by = "tokenizers"
        import tokenizers as package
        tokenizer = package.Tokenizer.from_file(request["vocabs"] + VOCABS[request["vocab"]][1])
        rows = [row.ids for row in tokenizer.encode_batch_fast(parts, add_special_tokens=False)]
    name = f"{by} {importlib.metadata.version(by)}"
    return {"by": name, "specials": specials_in(request, data.decode())} | identity(rows)


def main() -> int:
    request = json.loads(pathlib.Path(sys.argv[1]).read_text())
    request["vocabs"] = request["vocabs"].rstrip("/") + "/"
    with open(request["text"], "rb") as file:
        data = file.read(request["bytes"])
    if request["peer"] == "reference":
        print(json.dumps(reference(request, data)))
        return 0
    os.sched_setaffinity(0, request["cores"])
    print(json.dumps(measure(request, data)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
