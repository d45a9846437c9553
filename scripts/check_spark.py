#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts a corpus with spark_bpe_counts.py on a small Spark cluster of this machine and compares the tokenizers.

usage: check_spark.py [BUILD_DIR]        build/release by default

Starts a standalone master and two workers on loopback, counts documents that lie in 8 files, and trains from the
counts: the tokenizer must equal, byte for byte, the one that bpe-train learns from the files. Then once more, and one
worker with all it runs is killed in the middle of the job. Needs Java 17 (packages.sh spark) and PySpark
(requirements-spark.txt); without them it says so and exits 77. Last line: N passed, N failed.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
PARTS = 8
LIMIT = 300  # seconds for one job
OPTIONS = ["--pattern", "cl100k", "--special", "<|endoftext|>"]


class Skip(Exception):
    """The check cannot be made here."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def find_java_home() -> str:
    """A Java that the pinned PySpark runs on: 17, from its Debian package or as JAVA_HOME says."""
    candidates = [os.environ.get("JAVA_HOME", ""), *map(str, pathlib.Path("/usr/lib/jvm").glob("java-1.17*"))]
    for home in candidates:
        if home and os.access(f"{home}/bin/java", os.X_OK):
            done = subprocess.run([f"{home}/bin/java", "-version"], capture_output=True, text=True, check=False)
            if re.search(r'version "17[."]', done.stderr):
                return home
    raise Skip("no Java 17; scripts/packages.sh spark installs it")


def find_python() -> str:
    done = subprocess.run([str(HERE / "venv.sh"), "scripts/requirements-spark.txt"], stdout=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode != 0 or not done.stdout.strip():
        raise Skip("the packages of requirements-spark.txt are not available")
    return done.stdout.strip()


class Cluster:
    """A master and two workers; their logs and scratch lie in `folder`."""

    def __init__(self, folder: pathlib.Path, python: str, java_home: str):
        home = subprocess.run([python, "-c", "import pyspark; print(pyspark.__path__[0])"], capture_output=True,
                              text=True, check=True).stdout.strip()
        self.folder = folder
        self.home = pathlib.Path(home)
        self.port, self.web_port = free_port(), free_port()
        self.environment = {
            "PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder), "LC_ALL": "C.UTF-8",
            "SPARK_HOME": home, "JAVA_HOME": java_home, "PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": python,
            "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_DAEMON_MEMORY": "512m"}
        self.daemons: dict[str, subprocess.Popen] = {}

    @property
    def url(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.start_daemon("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port",
                          str(self.port), "--webui-port", str(self.web_port))
        self.wait_for_workers(0)
        for name in ("worker1", "worker2"):
            self.start_daemon(name, "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--cores", "1",
                              "--memory", "512m", "--webui-port", "0", "--work-dir", str(self.folder / name), self.url)
        self.wait_for_workers(2)

    def start_daemon(self, name: str, *arguments: str) -> None:
        # A session of its own, so that a worker can be killed with the executor that it started.
        with open(self.folder / f"{name}.log", "wb") as log:
            self.daemons[name] = subprocess.Popen(
                [str(self.home / "bin/spark-class"), *arguments], stdout=log, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL, env=self.environment, start_new_session=True)

    def alive_workers(self) -> int:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.web_port}/json/", timeout=5) as answer:
                return int(json.load(answer)["aliveworkers"])
        except (OSError, ValueError, KeyError):
            return -1

    def wait_for_workers(self, count: int) -> None:
        for _ in range(240):
            if self.alive_workers() >= count:
                return
            for name, daemon in self.daemons.items():
                if daemon.poll() is not None:
                    raise RuntimeError(f"the {name} ended: {tail(self.folder / (name + '.log'))}")
            time.sleep(0.25)
        raise RuntimeError(f"no {count} workers after a minute: {tail(self.folder / 'master.log')}")

    def kill(self, name: str) -> None:
        os.killpg(self.daemons[name].pid, signal.SIGKILL)
        self.daemons.pop(name).wait()

    def stop(self) -> None:
        for name in list(self.daemons):
            try:
                self.kill(name)
            except ProcessLookupError:
                pass

    def start_job(self, arguments: list[str], log: pathlib.Path) -> subprocess.Popen:
        settings = {"spark.executor.memory": "512m", "spark.executor.cores": "1", "spark.driver.memory": "512m",
                    "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
                    "spark.ui.enabled": "false", "spark.sql.files.maxPartitionBytes": "2m"}
        command = [str(self.home / "bin/spark-submit"), "--master", self.url]
        for name, value in settings.items():
            command += ["--conf", f"{name}={value}"]
        with open(log, "wb") as out:
            return subprocess.Popen([*command, str(HERE / "spark_bpe_counts.py"), *arguments], stdout=out,
                                    stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=self.environment)


def tail(path: pathlib.Path) -> str:
    return "\n".join(path.read_text("utf-8", "replace").splitlines()[-25:])


def write_corpus(folder: pathlib.Path) -> list[pathlib.Path]:
    """Documents of the sources of this repository, which hold text of many scripts in tests and tables."""
    documents = []
    for path in sorted([*ROOT.glob("lib/**/*.cpp"), *ROOT.glob("tests/**/*.jsonl"), *ROOT.glob("**/*.md")]):
        if "build" not in path.relative_to(ROOT).parts:
            documents += re.split(r"(?<=\n\n)", path.read_text("utf-8", "replace"))
    documents += ["", "\n\n", "zero\0byte <|endoftext|> tab\t\U0001f642", "\u4e2d\u6587" * 50]
    paths = [folder / f"part{i}.jsonl" for i in range(PARTS)]
    for i, path in enumerate(paths):
        with open(path, "w", encoding="utf-8") as out:
            for k, document in enumerate(documents[i::PARTS]):
                # Both ways of writing a character.
                out.write(json.dumps({"text": document}, ensure_ascii=k % 2 == 0) + "\n")
    return paths


def run_job(cluster: Cluster, folder: pathlib.Path, name: str, program: pathlib.Path, parts: list[pathlib.Path],
            started: pathlib.Path, kill_after: int | None) -> tuple[pathlib.Path, int]:
    """The folder of counts, and how many tasks were begun. With kill_after one worker dies when so many were."""
    out, log = folder / f"counts-{name}", folder / f"{name}.log"
    started.write_text("")
    job = cluster.start_job(["--bpe-train", str(program), "--out", str(out), "--partitions", "3", *OPTIONS,
                             *map(str, parts)], log)
    killed = kill_after is None
    begin = time.monotonic()
    while job.poll() is None:
        if time.monotonic() - begin > LIMIT:
            job.kill()
            job.wait()
            raise RuntimeError(f"{name}: no result after {LIMIT} s: {tail(log)}")
        if not killed and len(started.read_text().splitlines()) >= kill_after:
            cluster.kill("worker1")
            killed = True
        time.sleep(0.05)
    if job.returncode != 0:
        raise RuntimeError(f"{name}: exit status {job.returncode}: {tail(log)}")
    if not killed:
        raise RuntimeError(f"{name}: the job ended before a worker was killed")
    return out, len(started.read_text().splitlines())


def check(build: pathlib.Path, folder: pathlib.Path) -> list[tuple[str, bool]]:
    tool = (build / "tools/bpe-train").resolve()
    if not tool.exists():
        raise Skip(f"{tool} is not built")
    python, java_home = find_python(), find_java_home()
    parts = write_corpus(folder)
    train = [str(tool), "-q", "--vocab-size", "2000"]
    whole = subprocess.run([*train, *OPTIONS, "--jsonl", *map(str, parts)], capture_output=True, check=True).stdout

    # Notes that a task began, and takes long enough for one to be killed in the middle.
    started, slow = folder / "started", folder / "slow-bpe-train"
    slow.write_text(f"#!/bin/sh\necho begun >>'{started}'\nsleep 1\nexec '{tool}' \"$@\"\n")
    slow.chmod(0o755)
    results = []
    cluster = Cluster(folder, python, java_home)
    try:
        cluster.start()
        for name, kill_after in (("two workers", None), ("one worker killed", 5)):
            out, begun = run_job(cluster, folder, name.replace(" ", "-"), slow, parts, started, kill_after)
            files = sorted(map(str, out.glob("part-*")))
            merged = subprocess.run([*train, "--from-counts", *files], capture_output=True, check=True).stdout
            results.append((f"{name}: {len(whole)} bytes of tokenizer equal", merged == whole))
            # One task more asks for the header.
            expected = begun == PARTS + 1 if kill_after is None else begun > PARTS + 1
            results.append((f"{name}: {begun} tasks begun for {PARTS} parts and the header", expected))
    finally:
        cluster.stop()
    return results


def main() -> int:
    build = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/release"
    subprocess.run([str(HERE / "packages.sh"), "spark"], check=False)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="netcl-spark-"))
    try:
        results = check(build, folder)
    except Skip as reason:
        print(f"check_spark: skipped: {reason}", file=sys.stderr)
        print("0 passed, 0 failed, 1 skipped")
        return 77
    except (RuntimeError, subprocess.CalledProcessError) as error:
        print(f"check_spark: {error}", file=sys.stderr)
        results = [("the cluster runs both jobs", False)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for name, equal in results:
        print(f"{'ok' if equal else 'FAILED'}: {name}")
    passed = sum(equal for _, equal in results)
    print(f"{passed} passed, {len(results) - passed} failed")
    return 0 if passed == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
