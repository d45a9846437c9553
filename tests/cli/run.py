#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the command-line cases of one or more tools.

usage: run.py --tools DIR [--shared DIR] [--update] [--jobs N] [--only PART] TOOL...

A case is a folder <tool>/<case>/ beside this file:
  cmd        shell script, run by bash -euo pipefail in an empty folder with the tools on PATH
  stdin      what it reads; absent: nothing
  stdout     exact expectation; absent: nothing may be written
  stderr     exact expectation, or stderr.re: one regular expression a line, each for a whole line;
             absent: nothing may be written
  exit       exit status; absent: 0
  needs      what the case cannot do without, one a line, else it is skipped:
             "shared" (the project's shared test data, at $NETCL_SHARED_DIR), "vocab FILE" (unpacked
             to $VOCABS/FILE), "command NAME", "not-root", "tmpfs" (small file systems can be mounted),
             "no-sanitizer" (limits of memory or stack)
In its environment: CASE_DIR, SUPPORT (scripts for cases), VOCABS. A case also fails when it leaves
a temporary file (*.tmp.*) behind or takes longer than two minutes.

Prints one line per failing case, then what was expected and what came; the last line is
"N passed, N failed, N skipped". Exit status 1 when a case failed or none passed. --update writes
what came as the new expectation (not for stderr.re).
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_SECONDS = 120


class Vocabularies:
    """Unpacks vocabularies of the shared data once per run."""

    def __init__(self, shared: pathlib.Path | None, folder: pathlib.Path):
        self.shared, self.folder = shared, folder

    def find(self, name: str) -> bool:
        target = self.folder / name
        if target.exists():
            return True
        packed = self.shared / "vocabs" / (name + ".xz") if self.shared else None
        if packed is None or not packed.exists() or shutil.which("xz") is None:
            return False
        with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as out:
            subprocess.run(["xz", "-dc", str(packed)], stdout=out, check=True)
        os.replace(out.name, target)
        return True


def read(path: pathlib.Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def sanitized(tool: pathlib.Path) -> bool:
    libraries = subprocess.run(["ldd", str(tool)], capture_output=True, text=True, check=False).stdout
    return re.search(r"lib(a|t|ub)san", libraries) is not None


def may_mount() -> bool:
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", tempfile.gettempdir()]
    return shutil.which("unshare") is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0


def missing(case: pathlib.Path, tools: pathlib.Path, vocabularies: Vocabularies) -> str | None:
    """What the case needs and this machine lacks."""
    for line in read(case / "needs").decode().split("\n"):
        words = line.split()
        if not words:
            continue
        have = {
            "shared": lambda: vocabularies.shared is not None,
            "vocab": lambda: vocabularies.find(words[1]),
            "command": lambda: shutil.which(words[1]) is not None,
            "not-root": lambda: os.geteuid() != 0,
            "tmpfs": may_mount,
            "no-sanitizer": lambda: not sanitized(tools / case.parent.name),
        }.get(words[0])
        if have is None:
            raise SystemExit(f"{case}/needs: unknown need '{line}'")
        if not have():
            return line
    return None


def show(expected: bytes, got: bytes) -> list[str]:
    def lines(data: bytes) -> list[str]:
        return [repr(part)[1:] for part in data.splitlines(keepends=True)]
    diff = list(difflib.unified_diff(lines(expected), lines(got), "expected", "got", lineterm="", n=1))
    return ["    " + line for line in diff[:40]]


def check_patterns(patterns: str, got: bytes) -> bool:
    wanted = patterns.splitlines()
    lines = got.decode("utf-8", "surrogateescape").splitlines()
    return len(wanted) == len(lines) and all(re.fullmatch(p, s) for p, s in zip(wanted, lines))


def judge(case: pathlib.Path, update: bool, status: int | None, out: bytes, err: bytes, left: list[str]) -> list[str]:
    if status is None:
        return [f"    took longer than {LIMIT_SECONDS} s"]
    patterns = case / "stderr.re"
    if update:
        for name, data in (("stdout", out), ("stderr", b"" if patterns.exists() else err),
                           ("exit", b"" if status == 0 else b"%d\n" % status)):
            if data:
                (case / name).write_bytes(data)
            else:
                (case / name).unlink(missing_ok=True)
    problems = []
    wanted = int(read(case / "exit") or b"0")
    if status != wanted:
        problems.append(f"    exit status: expected {wanted}, got {status}")
    if out != read(case / "stdout"):
        problems += ["    standard output:"] + show(read(case / "stdout"), out)
    if patterns.exists():
        if not check_patterns(patterns.read_text(), err):
            problems += ["    standard error (against stderr.re):"] + show(patterns.read_bytes(), err)
    elif err != read(case / "stderr"):
        problems += ["    standard error:"] + show(read(case / "stderr"), err)
    if left:
        problems.append("    temporary files left: " + " ".join(left))
    return problems


def run_case(case: pathlib.Path, options: argparse.Namespace, vocabularies: Vocabularies) -> list[str]:
    environment = {name: value for name, value in os.environ.items()
                   if name in ("HOME", "TMPDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS",
                               "UBSAN_OPTIONS")}
    environment.update(PATH=f"{options.tools}:{os.environ.get('PATH', '/usr/bin:/bin')}", LC_ALL="C.UTF-8",
                       CASE_DIR=str(case), SUPPORT=str(HERE / "support"), VOCABS=str(vocabularies.folder))
    if vocabularies.shared is not None:
        environment["NETCL_SHARED_DIR"] = str(vocabularies.shared)
    with tempfile.TemporaryDirectory(prefix="netcl-cli-") as scratch:
        process = subprocess.Popen(["bash", "-euo", "pipefail", str(case / "cmd")], cwd=scratch, env=environment,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True, restore_signals=True)
        try:
            out, err = process.communicate(read(case / "stdin"), timeout=LIMIT_SECONDS)
            status = process.returncode if process.returncode >= 0 else 128 - process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            status = None
        # What a case closed to reading must not keep it from being removed.
        for folder, names, _ in os.walk(scratch):
            for name in names:
                os.chmod(os.path.join(folder, name), 0o700)
        left = sorted(p.name for p in pathlib.Path(scratch).rglob("*.tmp.*"))
    return judge(case, options.update, status, out, err, left)


def find_shared(given: str | None) -> pathlib.Path | None:
    folder = pathlib.Path(given or os.environ.get("NETCL_SHARED_DIR") or HERE.parent.parent.parent / "shared")
    return folder.resolve() if folder.is_dir() else None


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the command-line cases of tools.")
    parser.add_argument("--tools", required=True, type=lambda p: pathlib.Path(p).resolve(), help="folder of the executables")
    parser.add_argument("--shared", help="shared test data; default: $NETCL_SHARED_DIR, else ../shared")
    parser.add_argument("--update", action="store_true", help="write what comes as the expectation")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("tool", nargs="+")
    options = parser.parse_args()

    cases = [case.parent for tool in options.tool for case in sorted((HERE / tool).glob("*/cmd"))
             if options.only in case.parent.name]
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="netcl-vocabs-") as vocab_folder, \
            concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as executor:
        vocabularies = Vocabularies(find_shared(options.shared), pathlib.Path(vocab_folder))
        lacking = {case: missing(case, options.tools, vocabularies) for case in cases}
        runs = {case: executor.submit(run_case, case, options, vocabularies)
                for case in cases if lacking[case] is None}
        for case in cases:
            name = f"{case.parent.name}/{case.name}"
            if lacking[case] is not None:
                skipped += 1
                print(f"skipped: {name}: needs {lacking[case]}")
                continue
            problems = runs[case].result()
            if problems:
                failed += 1
                print("\n".join([f"FAILED: {name}"] + problems))
            else:
                passed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
