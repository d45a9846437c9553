# SPDX-License-Identifier: Apache-2.0
"""Figures, tables and the run folder of compare_trainers.py."""
import json
import pathlib
import shlex

from encoder_report import factor, machine_facts

SLOW_CLOCK = 0.93  # share of the best clock seen; below it a figure is not comparable


def learned(answer: dict) -> dict | None:
    """What was learned, to compare; None where nothing was."""
    return {key: answer[key] for key in ("learned", "sha256")} if "sha256" in answer else None


def state_of(answer: dict, right: dict | None, other_model: bool) -> str:
    if "missing" in answer:
        return "not installed"
    if "error" in answer:
        return "fails"
    if other_model:
        return "other model"
    return "verified" if right is None or learned(answer) == right else "differs"


def row(corpus: str, vocab_size: int, threads: int, name: str, size: int, state: str, answers: list[dict]) -> dict:
    """One measurement from its attempts: the fastest counts, since all do the same work."""
    result = {"corpus": corpus, "vocab_size": vocab_size, "threads": threads, "name": name, "bytes": size,
              "state": state, "attempts": len(answers)}
    if state in ("not installed", "fails"):
        return result | {"error": answers[-1].get("missing") or answers[-1].get("error")}
    best = min(answers, key=lambda answer: answer["train"]["seconds"])
    result |= {"call": best["call"], "version": best["version"]} | (learned(best) or {})
    if state == "differs":
        return result
    return result | {"train": best["train"], "peak_bytes": best["peak_bytes"]}


def progress(result: dict) -> str:
    head = f"{result['corpus']:8} {result['vocab_size']:7} {result['threads']} thread(s) {result['name']:14}"
    if "train" in result:
        return (f"{head} {result['train']['seconds']:8.2f} s  {result['peak_bytes'] / 1e6:7.0f} MB"
                + ("" if result["state"] == "verified" else f"  {result['state']}"))
    if result["state"] == "differs":
        return f"{head} differs: {result['learned']} tokens learned"
    return f"{head} {result['state']}: {result['error']}"


class Results:
    def __init__(self, rows: list[dict], best_clock: float):
        self.rows = rows
        self.best_clock = best_clock

    def grids(self):
        """(title, rows of cells) of each corpus, vocabulary and number of threads, heading first."""
        keys = dict.fromkeys((r["corpus"], r["vocab_size"], r["threads"]) for r in self.rows)
        for key in keys:
            rows = [r for r in self.rows if (r["corpus"], r["vocab_size"], r["threads"]) == key]
            ours = next((r for r in rows if r["name"] == "netcl"), {})
            grid = [["trainer", "seconds", "times ours", "MB/s", "peak MB", ""]]
            for result in sorted(rows, key=lambda r: (r["name"] != "netcl", r.get("train", {}).get("seconds", 1e9))):
                grid.append(self.cells(result, ours))
            corpus, vocab_size, threads = key
            title = (f"{corpus}, {rows[0]['bytes'] / 1e6:.1f} MB, vocabulary {vocab_size}, "
                     f"{threads} thread{'s' if threads > 1 else ''}")
            yield title, grid

    def cells(self, result: dict, ours: dict) -> list[str]:
        if "train" not in result:
            return [result["name"], "-", "-", "-", "-", result["state"]]
        seconds = result["train"]["seconds"]
        slow = self.best_clock < SLOW_CLOCK * result["train"]["clock"]
        times = factor(seconds / ours["train"]["seconds"]) if "train" in ours else "-"
        return [result["name"], f"{'~' if slow else ''}{seconds:.2f}", times,
                f"{result['bytes'] / 1e6 / seconds:.1f}", f"{result['peak_bytes'] / 1e6:.0f}",
                "same tokens" if result["state"] == "verified" else result["state"]]

    def notes(self) -> list[str]:
        lines = ["Seconds of training; ours from the start of the process to its end. MB = 10^6 bytes; peak MB: of the "
                 "process, a peer's with the text.",
                 "~ at every attempt the clock was slow; differs: other tokens, not timed; other model: merges "
                 "characters of words, not comparable token by token."]
        missing = [f"{r['name']}, {r['corpus']}, {r['vocab_size']}: {r['error']}" if r["state"] == "fails" else
                   f"{r['name']}: {r['error']}" for r in self.rows if r["state"] in ("not installed", "fails")]
        return lines + list(dict.fromkeys(missing))

    def table(self) -> str:
        lines = []
        for title, grid in self.grids():
            widths = [max(len(cells[i]) for cells in grid) for i in range(len(grid[0]))]
            lines.append("\n" + title)
            lines += ["  ".join([cells[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(cells[1:-1], widths[1:-1])),
                                 cells[-1]]).rstrip() for cells in grid]
        return "\n".join([*lines, "", *self.notes()])

    def markdown(self, command: list[str], machine: dict) -> str:
        lines = ["# Trainers compared", "", "    " + shlex.join(command), ""]
        lines += [f"* {name}: {value}" for name, value in machine.items()]
        for title, grid in self.grids():
            lines += ["", "## " + title, "", "| " + " | ".join(grid[0]) + " |", "|---|---:|---:|---:|---:|---|"]
            lines += ["| " + " | ".join(cells) + " |" for cells in grid[1:]]
        lines += ["", *("* " + line for line in self.notes()), "", "## What is timed", ""]
        calls = {r["name"]: (r["version"], r["call"]) for r in self.rows if "call" in r}
        lines += [f"* {name}{' ' + version if version else ''}: {call}" for name, (version, call) in calls.items()]
        return "\n".join(lines) + "\n"

    def write(self, folder: pathlib.Path, given: list[str], root: pathlib.Path) -> None:
        machine = machine_facts(root)
        command = [shown(word) for word in given]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "results.json").write_text(json.dumps(
            {"command": command, "machine": machine, "best_clock_seconds": self.best_clock, "rows": self.rows},
            indent=1) + "\n")
        (folder / "results.md").write_text(self.markdown(command, machine))


def shown(word: str) -> str:
    """A word of the command without the folders of this machine."""
    name, equals, path = word.partition("=")
    if equals and path.startswith("/"):
        return f"{name}={pathlib.Path(path).name}"
    return pathlib.Path(word).name if word.startswith("/") else word
