"""Draws what `run.py --json` and `memory.py --json` measured: processor time beside other linters, memory over files.

python benchmarks/plot.py RUN.json MEMORY.json OUTPUT.svg
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

WIDTH, ROW, LEFT, RIGHT = 720, 24, 190, 90
CURVE = 200
"""The height of the curve of memory."""


def main() -> None:
    """Write the plot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, metavar="RUN.json")
    parser.add_argument("memory", type=Path, metavar="MEMORY.json")
    parser.add_argument("output", type=Path, metavar="OUTPUT.svg")
    arguments = parser.parse_args()
    run, memory = (json.loads(path.read_text(encoding="utf-8")) for path in (arguments.run, arguments.memory))
    top = 40 + ROW * len(run["linters"]) + 50
    height = top + CURVE + 50
    style = (
        "text{font:13px sans-serif;fill:#777}.bar{fill:#8aa}.own{fill:#d63}path{fill:none;stroke:#d63;stroke-width:2}"
    )
    parts = [*bars(run), *curve(memory, top)]
    arguments.output.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"><style>{style}</style>\n'
        + "\n".join(parts)
        + "\n</svg>\n",
        encoding="utf-8",
    )


def bars(run: dict[str, Any]) -> Iterator[str]:
    """A bar for each linter and number of processes, on a logarithmic scale from 0.1 s."""
    found = [
        (
            f"{one['name']}, -j{one['jobs']}" if one["jobs"] else one["name"],
            statistics.median(r["cpu"] for r in one["runs"]),
        )
        for one in run["linters"]
    ]
    found.sort(key=lambda bar: bar[1])
    most = max(math.log10(seconds / 0.1) for _, seconds in found)
    yield text(0, 18, f"Processor time, {run['lines']:,} lines in {run['files']} files (seconds, logarithmic)")
    for index, (name, seconds) in enumerate(found):
        y = 40 + ROW * index
        long = max(math.log10(seconds / 0.1) / most, 0.01) * (WIDTH - LEFT - RIGHT)
        kind = "own" if name.startswith("exportlint") else "bar"
        yield text(0, y + 13, name)
        yield f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{long:.0f}" height="{ROW - 6}"/>'
        yield text(LEFT + long + 6, y + 13, f"{seconds:.2f}")


def curve(memory: list[dict[str, float]], top: int) -> Iterator[str]:
    """The memory of a process after each number of files."""
    files, most = memory[-1]["files"], max(point["mebibytes"] for point in memory)
    wide = WIDTH - LEFT - RIGHT

    def x(point: dict[str, float]) -> float:
        return LEFT + wide * point["files"] / files

    def y(point: dict[str, float]) -> float:
        return top + 20 + CURVE * (1 - point["mebibytes"] / most)

    yield text(0, top, f"Resident memory of one process over {files:.0f} files (MiB)")
    yield f'<path d="M{" L".join(f"{x(point):.0f} {y(point):.0f}" for point in memory)}"/>'
    for point in (memory[0], memory[len(memory) // 2], memory[-1]):
        yield text(x(point) - 12, y(point) - 8, f"{point['mebibytes']:.0f}")
        yield text(x(point) - 12, top + CURVE + 38, f"{point['files']:.0f}")


def text(x: float, y: float, what: str) -> str:
    """A piece of text."""
    return f'<text x="{x:.0f}" y="{y:.0f}">{escape(what)}</text>'


if __name__ == "__main__":
    main()
