"""How much the cache saves: processor time of runs with it and without, and of Ruff without its own, in turns.

    python benchmarks/cache.py [DIRECTORY] [--repeat N] [-j N] [--quick]

The directory is copied, so that a file of it can be edited and the cache starts empty. `cold` fills the cache, `second`
is the first run after that and reads what is too new to be known by its times, `unchanged` are those after it, `edited`
follow a change of the one file that the most lines are in. Processor time is that of all processes of a run together.
For POSIX systems only.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sample import OWN, count_lines


def main() -> None:
    """Print the median of each kind of run, and its ratio to Ruff's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, nargs="?", help="[exportlint itself, with --quick its rules]")
    parser.add_argument("--repeat", type=int, metavar="N", help="runs of an unchanged tree [5, with --quick 1]")
    parser.add_argument("--quick", action="store_true", help="a few files, once, for CI")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="processes [1]")
    arguments = parser.parse_args()
    directory = arguments.directory or (OWN / "rules" if arguments.quick else OWN)
    with tempfile.TemporaryDirectory() as temporary:
        tree, kept = Path(temporary, directory.resolve().name), Path(temporary, "kept")
        shutil.copytree(directory, tree, ignore=shutil.ignore_patterns("__pycache__"))
        files = sorted(tree.rglob("*.py"))
        longest = max(files, key=lambda path: count_lines([path]))
        check = [sys.executable, "-m", "exportlint", "check", "--isolated", "--exit-zero", "-q", f"-j{arguments.jobs}"]
        own = [*check, "--cache-dir", str(kept), str(tree)]
        ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--exit-zero", "-q", str(tree)]
        runs: dict[str, list[float]] = {
            "ruff": [],
            "without": [],
            "cold": [],
            "second": [],
            "unchanged": [],
            "edited": [],
        }
        seconds([*check, "--no-cache", str(files[0])])  # what Python compiles is compiled from here on
        runs["without"].append(seconds([*check, "--no-cache", str(tree)]))
        runs["cold"].append(seconds(own))
        time.sleep(3)
        runs["second"].append(seconds(own))
        for _ in range(arguments.repeat or (1 if arguments.quick else 5)):
            runs["ruff"].append(seconds(ruff))
            runs["unchanged"].append(seconds(own))
            with longest.open("a", encoding="utf-8") as file:
                file.write("\n")
            runs["edited"].append(seconds(own))
            time.sleep(3)
            seconds(own)
        size = sum(path.stat().st_size for path in kept.rglob("*") if path.is_file())
        print(f"{len(files)} files, {count_lines(files)} lines, -j{arguments.jobs}, cache of {size / 2**20:.1f} MiB")
        base = statistics.median(runs["ruff"])
        for name, found in runs.items():
            middle = statistics.median(found)
            print(f"{name:<10} {middle:>8.2f} s {middle / base:>8.2f}x Ruff")


def seconds(command: list[str]) -> float:
    """The processor time of a command and of the processes that it starts."""
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


if __name__ == "__main__":
    main()
