#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of a Markdown file, so that what it shows stays true.

usage: run_examples.py --tools DIR FILE.md

An example is a ```sh block right after a line "<!-- run -->". All examples of a file run in order in
one empty folder with the tools on PATH. A block must end with status 0; when a ```text block follows
it, the standard output must be that text. The last line is "N passed, N failed, 0 skipped".
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

EXAMPLE = re.compile(r"^<!-- run -->\n+```sh\n(.*?)^```\n(?:\n*```text\n(.*?)^```\n)?", re.M | re.S)


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the examples of a Markdown file.")
    parser.add_argument("--tools", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("file", type=pathlib.Path)
    options = parser.parse_args()
    environment = dict(os.environ, PATH=f"{options.tools}:{os.environ['PATH']}", LC_ALL="C.UTF-8")
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="netcl-examples-") as scratch:
        text = options.file.read_text()
        for example in EXAMPLE.finditer(text):
            line = text.count("\n", 0, example.start()) + 1
            script, wanted = example.groups()
            result = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=scratch, env=environment,
                                    capture_output=True, text=True, timeout=120, check=False)
            if result.returncode == 0 and (wanted is None or result.stdout == wanted):
                passed += 1
                continue
            failed += 1
            print(f"FAILED: {options.file}:{line}: exit status {result.returncode}")
            print(f"    expected: {wanted!r}\n    got:      {result.stdout!r}\n    stderr:   {result.stderr!r}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
