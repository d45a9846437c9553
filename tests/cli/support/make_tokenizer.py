#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a small byte-level tokenizer.json whose ids 0-255 are the byte values.

usage: make_tokenizer.py [OPTIONS] [MERGE...]      a merge is LEFT+RIGHT in the printable byte form

Merges get the ids from 256 on. Options:
  --strings           merges as "left right" strings in place of pairs
  --ignore-merges     set the model's ignore_merges
  --token TEXT        one more vocabulary entry (printable byte form), after the merges
  --added TEXT        an added token with special = true, after those
  --added-plain TEXT  the same with special = false
"""
import json
import sys


def printable_bytes() -> list[str]:
    """GPT-2's printable form of each byte value."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table, extra = {}, 0
    for byte in range(256):
        if byte in shown:
            table[byte] = chr(byte)
        else:
            table[byte] = chr(256 + extra)
            extra += 1
    return [table[byte] for byte in range(256)]


def main() -> None:
    arguments = sys.argv[1:]
    strings = ignore_merges = False
    merges, tokens, added = [], [], []
    while arguments:
        word = arguments.pop(0)
        if word == "--strings":
            strings = True
        elif word == "--ignore-merges":
            ignore_merges = True
        elif word == "--token":
            tokens.append(arguments.pop(0))
        elif word in ("--added", "--added-plain"):
            added.append((arguments.pop(0), word == "--added"))
        else:
            merges.append(word.split("+", 1))
    vocabulary = {symbol: i for i, symbol in enumerate(printable_bytes())}
    for token in ["".join(merge) for merge in merges] + tokens:
        vocabulary.setdefault(token, len(vocabulary))
    json.dump({
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": len(vocabulary) + i, "content": text, "single_word": False, "lstrip": False,
                          "rstrip": False, "normalized": False, "special": special}
                         for i, (text, special) in enumerate(added)],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "ignore_merges": ignore_merges, "vocab": vocabulary,
                  "merges": [" ".join(m) for m in merges] if strings else merges},
    }, sys.stdout, ensure_ascii=False)


if __name__ == "__main__":
    main()
