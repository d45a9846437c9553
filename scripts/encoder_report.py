# SPDX-License-Identifier: Apache-2.0
"""Figures, tables and the run folder of compare_encoders.py."""
import datetime
import json
import os
import pathlib
import platform
import shlex
import subprocess

SLOW_CLOCK = 0.93   # share of the best clock seen; below it a figure is not comparable
SHARED_CORE = 0.95  # processor time / wall time of one thread; below it others ran on its core


def passes(answer: dict) -> list[dict]:
    return [answer["load"], answer["cold"], *answer["warm"]]


def row(vocab: str, file: str, name: str, threads: int, size: int, kind: str, answers: list[dict]) -> dict:
    """One measurement from its attempts: each figure is that of the fastest attempt, since all do the same work
    and a slow machine makes none faster. kind names the clock check used."""
    last = answers[-1]
    result = {"vocab": vocab, "file": file, "name": name, "threads": threads, "bytes": size, "clock_kind": kind,
              "attempts": len(answers)}
    if "unsupported" in last:
        return result | {"state": "unsupported"}
    if "error" in last:
        return result | {"state": "fails", "error": last["error"]}
    result |= {"call": last["call"], "version": last["version"], "ids": last["ids"], "sha256": last["sha256"]}
    if "differs" in last:
        return result | {"state": "differs"}
    result |= {"state": "verified", "load": fastest([answer["load"] for answer in answers]),
               "cold": fastest([answer["cold"] for answer in answers]),
               "warm": fastest([done for answer in answers for done in answer["warm"]])}
    if "decode" in last:
        result["decode"] = fastest([done for answer in answers for done in answer["decode"]])
    return result


def fastest(passes_made: list[dict]) -> dict:
    return min(passes_made, key=lambda done: done["seconds"])


def clock_ratio(result: dict, which: str, best_clock: dict[str, float]) -> float:
    return best_clock[result["clock_kind"]] / result[which]["clock"]


def slow(result: dict, best_clock: dict[str, float]) -> bool:
    """Whether the machine was slow in the cold or warm pass. What waits for files or for another thread is not
    held to have had a core to itself."""
    alone = result["threads"] > 1 or result["name"] == "netcl process" or all(
        result[which]["cpu"] >= SHARED_CORE * result[which]["seconds"] for which in ("cold", "warm"))
    return not alone or any(clock_ratio(result, which, best_clock) < SLOW_CLOCK for which in ("cold", "warm"))


def speed(result: dict, which: str) -> float:
    return result["bytes"] / 1e6 / result[which]["seconds"]


def progress(result: dict) -> str:
    head = f"{result['vocab']:7} {result['threads']} thread(s) {result['file']:6} {result['name']:14}"
    if result["state"] == "verified":
        return f"{head} cold {speed(result, 'cold'):7.1f}  warm {speed(result, 'warm'):7.1f} MB/s"
    if result["state"] == "differs":
        return f"{head} differs: {result['ids']} ids"
    return f"{head} {result['state']} {result.get('error', '')}".rstrip()


def first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return (done.stdout.strip().splitlines() or ["unknown"])[0]


def machine_facts(root: pathlib.Path) -> dict:
    def field(path: str, name: str) -> str:
        try:
            with open(path, encoding="utf-8") as file:
                return next((line.split(":", 1)[1].strip() for line in file if line.startswith(name)), "unknown")
        except OSError:
            return "unknown"

    changed = first_line(["git", "-C", str(root), "status", "--porcelain", "--untracked-files=no"]) != "unknown"
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": first_line(["git", "-C", str(root), "rev-parse", "HEAD"]) + (" with changes" if changed else ""),
        "cpu": field("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory": field("/proc/meminfo", "MemTotal"),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", "unknown"),
        "compiler": first_line(["c++", "--version"]),
        "load": " ".join(f"{value:.2f}" for value in os.getloadavg()),
    }


class Results:
    def __init__(self, rows, names, best_clock, references, texts):
        self.rows = rows
        self.names = names
        self.best_clock = best_clock
        self.references = references
        self.texts = texts
        self.by_key = {(r["vocab"], r["threads"], r["file"], r["name"]): r for r in rows}

    def cell(self, vocab: str, threads: int, file: str, name: str) -> str:
        result = self.by_key[vocab, threads, file, name]
        if result["state"] == "unsupported":
            return "-"
        if result["state"] == "fails":
            return "fails"
        if result["state"] == "differs":
            return f"differs ({result['ids']} ids)"
        mark = "~" if slow(result, self.best_clock) else ""
        text = f"{mark}{speed(result, 'cold'):.1f} / {speed(result, 'warm'):.1f}"
        ours = self.by_key[vocab, threads, file, "netcl"]
        if name == "netcl" or ours["state"] != "verified":
            return text
        cold, warm = (result[which]["seconds"] / ours[which]["seconds"] for which in ("cold", "warm"))
        if name == "netcl process":  # always starts cold; its share of the rate in memory
            return f"{text} ({100 * ours['cold']['seconds'] / result['warm']['seconds']:.0f} %)"
        return f"{text} ({factor(cold)} / {factor(warm)})"

    def load_cell(self, vocab: str, threads: int, name: str) -> str:
        """Shortest load over the files, in ms. The whole process has no load apart."""
        times = [r["load"]["seconds"] for r in self.rows if (r["vocab"], r["threads"], r["name"]) ==
                 (vocab, threads, name) and r["state"] == "verified"]
        return f"{1e3 * min(times):.0f}" if times and name != "netcl process" else "-"

    def grids(self):
        """(title, rows of cells) of each vocabulary and number of threads, heading first."""
        for vocab, threads in dict.fromkeys((r["vocab"], r["threads"]) for r in self.rows):
            files = list(self.texts)
            grid = [["encoder", "load ms", *(f"{name} {self.texts[name][1] / 1e6:.1f} MB" for name in files)]]
            for name in self.names:
                grid.append([name, self.load_cell(vocab, threads, name),
                             *(self.cell(vocab, threads, file, name) for file in files)])
            yield f"{vocab}, {threads} thread{'s' if threads > 1 else ''}", grid

    def notes(self) -> list[str]:
        lines = ["MB/s cold / warm (in brackets: how many times as fast as it we are); MB = 10^6 bytes.",
                 "netcl process: first run / best of the later ones, from start to end, result in the temporary "
                 "folder (in brackets: best, as a share of netcl cold).",
                 "~ at every attempt the clock was slow or the core shared; - has not this vocabulary; differs: "
                 "other ids, not timed."]
        by: dict[str, list[str]] = {}
        for vocab, files in self.references.items():
            by.setdefault(next(iter(files.values()))["by"], []).append(vocab)
            for file, right in files.items():
                if right["specials"]:
                    lines.append(f"{file}.txt holds text of added tokens of {vocab}: {' '.join(right['specials'])}; "
                                 "encoders that recognise them have other ids.")
        lines.append("Reference ids: " + "; ".join(f"{', '.join(names)} by {who}" for who, names in by.items()) + ".")
        return lines

    def table(self) -> str:
        lines = []
        for title, grid in self.grids():
            widths = [max(len(cells[i]) for cells in grid) for i in range(len(grid[0]))]
            lines.append("\n" + title)
            lines += ["  ".join([cells[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(cells[1:], widths[1:])])
                      for cells in grid]
        return "\n".join([*lines, "", *self.notes()])

    def markdown(self, command: list[str], machine: dict) -> str:
        lines = ["# Encoders compared", "", "    " + shlex.join(command), ""]
        lines += [f"* {name}: {value}" for name, value in machine.items()]
        for title, grid in self.grids():
            lines += ["", "## " + title, "", "| " + " | ".join(grid[0]) + " |",
                      "|---|" + "---:|" * (len(grid[0]) - 1)]
            lines += ["| " + " | ".join(cells) + " |" for cells in grid[1:]]
        lines += ["", *("* " + line for line in self.notes()), "", "## What is timed", ""]
        calls = {(r["name"], r["threads"] > 1): (r.get("version"), r["call"]) for r in self.rows if "call" in r}
        for (name, several), (version, call) in sorted(calls.items()):
            lines.append(f"* {name}{' ' + version if version else ''}, "
                         f"{'several threads' if several else 'one thread'}: {call}")
        lines += ["", "## Not shown as a figure", ""]
        lines += ["* " + progress(r) for r in self.rows if r["state"] in ("differs", "fails")] or ["* nothing"]
        return "\n".join(lines) + "\n"

    def write(self, folder: pathlib.Path, given: list[str], root: pathlib.Path) -> None:
        machine = machine_facts(root)
        command = [pathlib.Path(word).name if word.startswith("/") else word for word in given]
        folder.mkdir(parents=True, exist_ok=True)
        for result in self.rows:
            if result["state"] == "verified":
                result |= {which + "_mb_per_s": round(speed(result, which), 2) for which in ("cold", "warm")}
                result |= {which + "_clock_ratio": round(clock_ratio(result, which, self.best_clock), 3)
                           for which in ("cold", "warm")}
        (folder / "results.json").write_text(json.dumps(
            {"command": command, "machine": machine, "best_clock_seconds": self.best_clock,
             "references": self.references, "rows": self.rows}, indent=1) + "\n")
        (folder / "results.md").write_text(self.markdown(command, machine))


def factor(value: float) -> str:
    return f"{value:.0f}x" if value >= 10 else f"{value:.2f}x"
