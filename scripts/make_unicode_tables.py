#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates lib/text/unicode_tables.cpp from plain range lists of one Unicode version.

usage: make_unicode_tables.py [--check] UNICODE_DIR OUTPUT.cpp

UNICODE_DIR holds general_category-16.0.0.txt and properties-16.0.0.txt (lines "first..last ; value").
Without --check OUTPUT is written; with --check it is compared and the exit status is 1 on a difference.
"""

import argparse
import pathlib
import sys

VERSION = "16.0.0"
CODE_POINTS = 0x110000
BLOCK = 128

# Order of the enumerators of text::Category (unicode.h); Cn is 0 so that a zero entry is unassigned.
CATEGORIES = ["Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps",
              "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"]
WHITE_SPACE = 0x20
HAN = 0x40


def ranges(path):
    """Yields (first, last, value) of each line that is not a comment."""
    for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        try:
            span, value = (part.strip() for part in line.split(";"))
            first, last = (int(part, 16) for part in span.split(".."))
        except ValueError:
            sys.exit(f"{path}:{number}: expected 'first..last ; value'")
        if not 0 <= first <= last < CODE_POINTS:
            sys.exit(f"{path}:{number}: range is empty or outside Unicode")
        yield first, last, value


def properties(folder):
    """One byte for every code point: category | White_Space | Script=Han."""
    table = bytearray(CODE_POINTS)
    for first, last, value in ranges(folder / f"general_category-{VERSION}.txt"):
        table[first:last + 1] = bytes([CATEGORIES.index(value)]) * (last + 1 - first)
    bits = {"White_Space": WHITE_SPACE, "Han": HAN}
    for first, last, value in ranges(folder / f"properties-{VERSION}.txt"):
        for code in range(first, last + 1):
            table[code] |= bits[value]
    return table


def numbers(values):
    """Rows of numbers, 100 columns at most."""
    lines, line = [], "   "
    for value in values:
        text = f" {value},"
        if len(line) + len(text) > 100:
            lines.append(line)
            line = "   "
        line += text
    return "\n".join(lines + [line])


def generate(folder):
    table = properties(folder)
    index, blocks = [], {}
    for start in range(0, CODE_POINTS, BLOCK):
        index.append(blocks.setdefault(bytes(table[start:start + BLOCK]), len(blocks)))
    if len(blocks) > 0xFFFF:
        sys.exit("too many distinct blocks for a 16-bit index")
    data = [byte for block in blocks for byte in block]
    return f"""// SPDX-License-Identifier: Apache-2.0
// Generated, do not edit: scripts/make_unicode_tables.py UNICODE_DIR lib/text/unicode_tables.cpp
// Unicode {VERSION}: General_Category, White_Space, Script=Han. Data: Unicode, Inc.,
// Unicode License V3.
#include "text/unicode_tables.h"

namespace netcl::text::tables {{

// clang-format off
const uint16_t kBlockIndex[kBlockCount] = {{
{numbers(index)}
}};

const uint8_t kBlockData[] = {{
{numbers(data)}
}};
// clang-format on

}}  // namespace netcl::text::tables
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("unicode_dir", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    args = parser.parse_args()
    if not (args.unicode_dir / f"general_category-{VERSION}.txt").is_file():
        print(f"no Unicode data in {args.unicode_dir}")
        sys.exit(77 if args.check else 4)
    text = generate(args.unicode_dir)
    if not args.check:
        args.output.write_text(text, encoding="ascii")
    elif args.output.read_text(encoding="ascii") != text:
        sys.exit(f"{args.output}: differs from what the Unicode data gives; run {sys.argv[0]} again")


if __name__ == "__main__":
    main()
