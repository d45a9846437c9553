#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the arrows between rooms and the hard rules of CONTRIBUTING.md over the tracked sources.

usage: check_layers.py [ROOT]     exit 0 clean, 1 with one line per violation
"""
import pathlib
import re
import sys

# room -> rooms it may include
ALLOWED = {
    "base": {"base"},
    "text": {"text", "base"},
    "core": {"core", "base"},
    "nn": {"nn", "core", "base"},
    "autograd": {"autograd", "nn", "core", "base"},
}
ROOMS = set(ALLOWED)
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)

# package header prefix -> test on the file that may include it
PACKAGES = {
    "CL/": lambda f: f.startswith("lib/core/opencl"),
    "nlohmann/": lambda f: f == "lib/base/json_file.h" or f.endswith(".cpp"),
    "spdlog/": lambda f: f.startswith("tools/"),
    "CLI/": lambda f: f.startswith("tools/"),
    "catch2/": lambda f: f.startswith("tests/"),
    "pcre2.h": lambda f: "/text/" in f and f.endswith(".cpp"),  # the tests use it as an oracle
    "utf8proc.h": lambda f: f.startswith("lib/text/") and f.endswith(".cpp"),
}

# what library code must not do (comments and strings removed before the search)
BANNED = [
    (r"\bgetenv\s*\(", "reads the environment"),
    (r"\bstd::cout\b|\bstd::cerr\b|\bstd::clog\b|(?<![\w:.])printf\s*\(|\bfprintf\s*\(|\bputs\s*\(", "prints"),
    (r"(?<![\w:.])(?:std::)?(?:exit|abort|_exit|quick_exit)\s*\(", "ends the process"),
    (r"\bcurrent_path\s*\(|\bgetcwd\s*\(", "reads the current directory"),
]


def strip(code: str) -> str:
    code = re.sub(r"//[^\n]*", "", code)
    code = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n"), code, flags=re.S)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', code)


def check(root: pathlib.Path) -> list[str]:
    problems = []
    files = [p for folder in ("lib", "tools", "tests", "kernels") for p in sorted((root / folder).rglob("*"))
             if p.suffix in (".h", ".cpp", ".cl")]
    names: dict[str, str] = {}
    for path in files:
        name = path.relative_to(root).as_posix()
        raw = path.read_bytes()
        text = raw.decode("utf-8", "replace")
        if any(byte > 126 or (byte < 32 and byte not in (9, 10)) for byte in raw):
            problems.append(f"{name}: not plain ASCII")
        if b"\t" in raw:
            problems.append(f"{name}: tab character")
        if "SPDX-License-Identifier: Apache-2.0" not in text[:200]:
            problems.append(f"{name}:1: no SPDX line")
        if name.startswith("lib/") and path.name in names:
            problems.append(f"{name}: same file name as {names[path.name]}")
        names.setdefault(path.name, name)
        room = name.split("/")[1] if name.startswith("lib/") else None
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            bracket, target = match.groups()
            first = target.split("/")[0]
            if room in ROOMS and bracket == '"' and first in ROOMS and first not in ALLOWED[room]:
                problems.append(f"{name}:{line}: {room} must not include {target}")
            if room is not None and first in ("tools", "tests", "support", "cli"):
                problems.append(f"{name}:{line}: library includes {target}")
            for prefix, allowed in PACKAGES.items():
                if target.startswith(prefix) and not allowed(name):
                    problems.append(f"{name}:{line}: {target} is not for this file")
        if room is not None:
            code = strip(text)
            for pattern, what in BANNED:
                for match in re.finditer(pattern, code):
                    line = code.count("\n", 0, match.start()) + 1
                    problems.append(f"{name}:{line}: library code {what}")
    return problems


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    problems = check(root.resolve())
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
