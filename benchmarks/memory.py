"""How much memory a run holds after each file: whether it stays within bounds however many files there are.

    python benchmarks/memory.py [DIRECTORY] [--files N] [--every N] [--json FILE] [--allocations N] [--quick]

Lints the files one after the other in this process, without cache, as each process of a run does, and prints the
resident memory every so many files. `--allocations` names the N places in the code from which most of the memory comes
that is held in the end; that takes several times as long. `--json` has what was measured up to now. For Linux only.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
import tracemalloc
from pathlib import Path

from sample import OWN, count_lines, sample

from exportlint.big_stack import on_big_stack
from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.server.memory import resident
from exportlint.units import Task, Unit
from exportlint.workspace import Workspace


def main() -> None:
    """Print a line every so many files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, nargs="?", default=OWN, help="[exportlint itself]")
    parser.add_argument("--files", type=int, metavar="N", help="take N files evenly [all, with --quick 60]")
    parser.add_argument("--quick", action="store_true", help="a few files, for CI")
    parser.add_argument("--every", type=int, metavar="N", help="files between two lines [50, with --quick 20]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    parser.add_argument("--allocations", type=int, metavar="N", help="the places that hold most memory")
    arguments = parser.parse_args()
    files = [
        path.resolve() for path in sample(arguments.directory, arguments.files or (60 if arguments.quick else None))
    ]
    every = arguments.every or (20 if arguments.quick else 50)
    if arguments.allocations:
        tracemalloc.start()
    curve: list[dict[str, float]] = []

    def lint() -> list[Unit]:
        workspace, units = Workspace({}), []
        settings = combine([Layer(arguments.directory.resolve(), {})], arguments.directory.resolve())
        print(f"{'files':>7}{'lines':>10}{'MiB':>8}{'cpu [s]':>10}")
        for count, path in enumerate(files):
            if count % every == 0:
                note(count)
            units.append(workspace.lint(Task(path, settings)))
        note(len(files))
        if arguments.allocations:
            show_allocations(arguments.allocations)
        return units

    def note(count: int) -> None:
        lines, seconds = count_lines(files[:count]), time.process_time()
        curve.append({"files": count, "lines": lines, "mebibytes": resident() / 2**20, "seconds": seconds})
        print(f"{count:>7}{lines:>10,}{resident() / 2**20:>8.0f}{seconds:>10.1f}", flush=True)
        if arguments.json is not None:
            arguments.json.write_text(json.dumps(curve, indent=1) + "\n", encoding="utf-8")

    on_big_stack(lint)


def show_allocations(count: int) -> None:
    """The lines of code from which most of the memory comes that is held."""
    gc.collect()
    for statistic in tracemalloc.take_snapshot().statistics("lineno")[:count]:
        print(f"{statistic.size / 2**20:>8.1f} MiB {statistic.count:>9,}  {statistic.traceback[0]}")


if __name__ == "__main__":
    main()
