#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One measurement of compare_trainers.py: one trainer, one corpus, one vocabulary size, in a process of its own.

usage: trainer_peers.py REQUEST.json        runs in the environment of requirements-trainers.txt

The request names peer, text (file), bytes (its length to use), vocab_size, threads, cores, scratch (folder). Prints one
JSON object: seconds and processor seconds of training, a clock check, the peak memory of the process (text included,
which lies in memory before), number and sha256 of the tokens learned (each with its length, in id order), the call that
was timed. "error" stands in place of all that when the package is not there.
"""
import hashlib
import importlib
import importlib.metadata
import json
import os
import pathlib
import resource
import struct
import sys

from encoder_peers import cut, timed

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
NO_LIMIT = 1 << 30  # of the length of a token


def printable_bytes() -> dict[str, int]:
    """GPT-2's character of every byte, and back."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + i): byte for i, byte in enumerate(hidden)}


def in_id_order(vocab: dict) -> list:
    return sorted(vocab, key=vocab.get)


# One function for each peer: prepares (not timed) and gives distribution, the call shown in the results, the function
# to time, and what makes the list of all tokens, bytes each, of its result; None where the model is another one.

def tokenizers(request, parts):
    import tokenizers as package
    from tokenizers import models, pre_tokenizers, trainers
    peer = package.Tokenizer(models.BPE())
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    trainer = trainers.BpeTrainer(vocab_size=request["vocab_size"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())

    def tokens(_):
        table = printable_bytes()
        return [bytes(table[c] for c in token) for token in in_id_order(peer.get_vocab())]
    return ("tokenizers", "Tokenizer.train_from_iterator(parts), ByteLevel, all 256 bytes",
            lambda: peer.train_from_iterator(parts, trainer), tokens)


def rustbpe(request, parts):
    import rustbpe as package
    peer = package.Tokenizer()
    return ("rustbpe", "Tokenizer.train_from_iterator(parts, pattern)",
            lambda: peer.train_from_iterator(iter(parts), request["vocab_size"], pattern=GPT2),
            lambda _: [bytes(token) for token, _ in sorted(peer.get_mergeable_ranks(), key=lambda pair: pair[1])])


def bpeasy(request, parts):
    import bpeasy as package
    return ("bpeasy", "train_bpe(parts, pattern)",
            lambda: package.train_bpe(iter(parts), GPT2, NO_LIMIT, request["vocab_size"]),
            lambda vocab: [bytes(token) for token in in_id_order(vocab)])


def gigatoken(request, parts):
    import gigatoken as package
    path = request["text"] if os.path.getsize(request["text"]) == request["bytes"] else written(request, parts)
    return ("gigatoken", "train_bpe(TextFileSource), from file",
            lambda: package.train_bpe(package.TextFileSource([path]), request["vocab_size"], []),
            lambda result: [bytes(result[0][number]) for number in sorted(result[0])])


def ffbpe(request, parts):
    import ffbpe as package

    def train():
        counter = package.PreTokenizer([], pat_str=GPT2).word_counter()
        counter.add_source(parts)
        trainer = package.BpeTrainer([], unit="byte", initial_alphabet="byte_level", tie_break="smallest_pair_id")
        trainer.add_word_counter(counter)
        trainer.train(request["vocab_size"])
        return trainer.validate_model()
    return ("ffbpe", "WordCounter.add_source(parts), BpeTrainer.train, smallest_pair_id", train,
            lambda model: [bytes(token) for token in in_id_order(dict(model.vocab))])


def youtokentome(request, parts):
    import youtokentome as package
    path, model = written(request, parts), request["scratch"] + "/yttm.model"
    return ("youtokentome", "BPE.train(file): on characters of words",
            lambda: package.BPE.train(data=path, model=model, vocab_size=request["vocab_size"],
                                      n_threads=request["threads"]), None)


def sentencepiece(request, parts):
    import sentencepiece as package
    path = written(request, parts)
    return ("sentencepiece", "SentencePieceTrainer.train(bpe, byte_fallback): on characters of words",
            lambda: package.SentencePieceTrainer.train(
                input=path, model_prefix=request["scratch"] + "/spm", model_type="bpe", byte_fallback=True,
                vocab_size=request["vocab_size"], num_threads=request["threads"], max_sentence_length=1 << 20,
                normalization_rule_name="identity", minloglevel=2), None)


PEERS = {peer.__name__: peer for peer in
         (tokenizers, rustbpe, bpeasy, gigatoken, ffbpe, youtokentome, sentencepiece)}


def written(request, parts) -> str:
    path = request["scratch"] + "/corpus.txt"
    with open(path, "w", encoding="utf-8", newline="") as out:
        out.writelines(parts)
    return path


def identity(tokens: list[bytes]) -> dict:
    """Of what was learned: the first 256 tokens are the bytes."""
    digest = hashlib.sha256()
    for token in tokens[256:]:
        digest.update(struct.pack("<I", len(token)) + token)
    return {"learned": len(tokens) - 256, "sha256": digest.hexdigest()}


def main() -> int:
    request = json.loads(pathlib.Path(sys.argv[1]).read_text())
    os.sched_setaffinity(0, request["cores"])
    try:
        importlib.import_module(request["peer"])
    except ImportError as error:
        print(json.dumps({"missing": str(error)}))
        return 0
    with open(request["text"], "rb") as file:
        parts = [part.decode() for part in cut(file.read(request["bytes"]))]
    package, call, train, tokens = PEERS[request["peer"]](request, parts)
    done, result = timed(train)
    answer = {"call": call, "version": importlib.metadata.version(package), "train": done,
              "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
    if tokens is not None:
        answer |= identity(tokens(result))
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
