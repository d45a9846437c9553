#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the merges of a tokenizer.json, one "left right" a line in the printable byte form.

usage: show_merges.py FILE
"""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    for merge in json.load(file)["model"]["merges"]:
        print(merge if isinstance(merge, str) else " ".join(merge))
