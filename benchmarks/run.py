"""How fast exportlint lints, beside other linters on the same files, as whole processes from start to end.

    python benchmarks/run.py DIRECTORY [--files N] [-j N] [--repeat N] [--peers PYTHON]...

`--peers` names the Python of an environment with torchfix or fixit, which need not be the same one, as they may want
different versions of libcst; those that are not there are left out. The best of `--repeat` runs counts. Memory is the
peak of the largest process of a run, as the operating system counts it. fixit has no option for the number of
processes: it takes all processors. exportlint also reads the files that the given ones import, so a sample shows it
slower than a whole tree does. For POSIX systems only.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from sample import count_lines, sample

MAX_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes a unit of `ru_maxrss`."""


class Run(NamedTuple):
    """What a process took."""

    seconds: float
    peak_bytes: int
    code: int


def main() -> None:
    """Print a line for each linter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--files", type=int, metavar="N", help="take N files evenly [all]")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="processes of each linter [2]")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="run everything N times [1]")
    parser.add_argument("--peers", action="append", default=[], metavar="PYTHON", help="environment with other linters")
    arguments = parser.parse_args()
    files = sample(arguments.directory, arguments.files)
    lines = count_lines(files)
    print(f"{len(files)} files, {lines} lines, -j{arguments.jobs}, {os.cpu_count()} processors")
    base: float | None = None
    for name, command in commands(arguments.jobs, arguments.peers):
        run = min(measure([*command, *map(str, files)]) for _ in range(arguments.repeat))
        base = base or run.seconds
        speed = f"{run.seconds:>9.2f} s {lines / run.seconds:>10,.0f} lines/s {run.seconds / base:>7.1f}x"
        print(f"{name:<12} {speed} {run.peak_bytes / 2**20:>7,.0f} MiB   exit code {run.code}", flush=True)


def commands(jobs: int, peers: list[str]) -> list[tuple[str, list[str]]]:
    """What to run, by name; the files are still to be added. exportlint comes first."""
    flags = [f"-j{jobs}", "--no-cache", "--exit-zero", "--isolated", "--quiet"]
    found = [("exportlint", [sys.executable, "-m", "exportlint", "check", *flags])]
    others = {"torchfix": ["--jobs", str(jobs)], "fixit": ["lint"]}
    for directory in (Path(peer).parent for peer in peers):
        for name, words in others.items():
            if (directory / name).is_file():
                found.append((name, [str(directory / name), *words]))
    return found


def measure(command: list[str]) -> Run:
    """Run a command to its end, without its output."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Run(time.perf_counter() - start, usage.ru_maxrss * MAX_RSS_UNIT, process.returncode)


if __name__ == "__main__":
    main()
