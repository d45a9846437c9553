#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates lib/text/unicode_scripts_table.cpp from the range list of one Unicode version.

usage: make_script_table.py [--check] SCRIPTS.txt OUTPUT.cpp

SCRIPTS.txt holds lines "first..last ; script" in the manner of Scripts.txt of the Unicode Character Database; the version
is read from its first line. Without --check OUTPUT is written; with --check it is compared and the exit status is 1 on a
difference.
"""

import argparse
import pathlib
import re
import sys


def read_ranges(path):
    """(version, [(first, last, script)]), the ranges ascending, neighbours of one script joined."""
    lines = path.read_text(encoding="ascii").splitlines()
    version = re.search(r"(\d+\.\d+\.\d+)", lines[0] if lines else "")
    if not version:
        sys.exit(f"{path}:1: expected the Unicode version in a comment")
    ranges = []
    for number, line in enumerate(lines, 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        found = re.fullmatch(r"([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*;\s*(\w+)", line)
        if not found:
            sys.exit(f"{path}:{number}: expected 'first..last ; script'")
        first = int(found[1], 16)
        ranges.append((first, int(found[2] or found[1], 16), found[3]))
    ranges.sort()
    joined = []
    for first, last, script in ranges:
        if last < first or last > 0x10FFFF or (joined and first <= joined[-1][1]):
            sys.exit(f"{path}: range {first:04X}..{last:04X} is empty, outside Unicode or given twice")
        if joined and joined[-1][1] + 1 == first and joined[-1][2] == script:
            joined[-1] = (joined[-1][0], last, script)
        else:
            joined.append((first, last, script))
    return version[1], joined


def generate(path):
    version, ranges = read_ranges(path)
    scripts = sorted({script for _, _, script in ranges})
    if len(scripts) > 255:
        sys.exit("too many scripts for one byte")
    rows = "\n".join(f"    {{0x{first:04X}, 0x{last:04X}, {scripts.index(script) + 1}}},  // {script}"
                     for first, last, script in ranges)
    named = "\n".join(f"const uint8_t k{script} = {scripts.index(script) + 1};"
                      for script in ("Han", "Hiragana", "Katakana"))
    return f"""// SPDX-License-Identifier: Apache-2.0
// Generated, do not edit: scripts/make_script_table.py data/unicode/{path.name}
// lib/text/unicode_scripts_table.cpp
// Unicode {version}: Script. Data: Unicode, Inc., Unicode License V3.
#include "text/unicode_scripts.h"

namespace netcl::text::scripts {{

// clang-format off
{named}

const size_t kRangeCount = {len(ranges)};
const ScriptRange kRanges[] = {{
{rows}
}};
// clang-format on

}}  // namespace netcl::text::scripts
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("scripts", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    args = parser.parse_args()
    text = generate(args.scripts)
    if not args.check:
        args.output.write_text(text, encoding="ascii")
    elif args.output.read_text(encoding="ascii") != text:
        sys.exit(f"{args.output}: differs from what the Unicode data gives; run {sys.argv[0]} again")


if __name__ == "__main__":
    main()
