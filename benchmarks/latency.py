"""How long after a keystroke a user sees what it does to the diagnostics.

    python benchmarks/latency.py [--lines N ...] [--files FILE ...] [--keystrokes N] [--quick]

Starts the real server, opens a generated model file of each length or real files, which may be given as
`path/in/an/installed/package.py`, and types inside of one method in the middle, a character at a time. What is counted
is the time from sending `textDocument/didChange` until `textDocument/publishDiagnostics` of that version has first been
read, so pipes, JSON and the client's reading are part of it. `parse` is the median of `ast.parse` of the whole text,
taken between keystrokes, and `ratio` is p95 against it.
"""

from __future__ import annotations

import argparse
import ast
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.server.client import COMMAND
from tests.server.models import model
from tests.server.raw import PUSHING, Process, process

TYPED = "gate = self.wide(states).sigmoid() * 2.0 + 1"
WARM_UP = 10
LENGTHS = [500, 1_000, 2_000, 5_000, 10_000, 20_000]


def main() -> None:
    """Print a line for each length."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--lines", type=int, nargs="+", metavar="N", help="[500 1000 2000 5000 10000 20000, with --quick 500 1000]"
    )
    parser.add_argument("--files", nargs="+", metavar="FILE", help="type in these instead")
    parser.add_argument("--keystrokes", type=int, metavar="N", help="[100, with --quick 20]")
    parser.add_argument("--quick", action="store_true", help="short files and few keystrokes, for CI")
    arguments = parser.parse_args()
    lengths = arguments.lines or (LENGTHS[:2] if arguments.quick else LENGTHS)
    keystrokes = arguments.keystrokes or (20 if arguments.quick else 100)
    print(f"Python {platform.python_version()}, {keystrokes} keystrokes each, ms")
    print(f"{'lines':>8} {'findings':>8} {'first':>8} {'p50':>8} {'p95':>8} {'max':>8} {'parse':>8} {'ratio':>8}")
    if arguments.files:
        for name in arguments.files:
            file = installed(name)
            print(f"{run(root_of(file), file, file.read_text('utf-8'), keystrokes)}  {name}", flush=True)
        return
    for lines in lengths:
        with tempfile.TemporaryDirectory() as root:
            print(run(Path(root), Path(root) / "model.py", model(lines), keystrokes), flush=True)


def installed(name: str) -> Path:
    """A file, by its path or by that from the directory in which packages are installed."""
    places = [Path(name), *(Path(folder) / name for folder in sys.path)]
    found = next((place.resolve() for place in places if place.is_file()), None)
    if found is None:
        raise SystemExit(f"{name}: no such file, neither here nor among the installed packages")
    return found


def root_of(file: Path) -> Path:
    """The directory from which a file is imported."""
    return next(folder for folder in file.parents if not (folder / "__init__.py").exists())


def run(root: Path, file: Path, text: str, keystrokes: int) -> str:
    """The line about one file, with a server of its own."""
    with process(root, [*COMMAND, "--no-cache"]) as server:
        return measure(server, root, file, text, keystrokes)


def measure(server: Process, root: Path, file: Path, text: str, keystrokes: int) -> str:
    """The line about one file."""
    server.start(root, PUSHING)
    uri = file.as_uri()
    started = time.perf_counter()
    server.open(uri, text, version=1)
    findings = len(server.published(uri, 1))
    first = time.perf_counter() - started
    row, column = place_in(text)
    server.change(uri, 2, _insert(row, 0, " " * column + "\n"))
    server.published(uri, 2)
    times, parses = [], []
    for version in range(3, keystrokes + WARM_UP + 3):
        typed = (version - 3) % len(TYPED)
        change = _insert(row, column + typed, TYPED[typed])
        if typed == 0:
            end = {"line": row, "character": column + len(TYPED) if version > 3 else column}
            change = {"range": {"start": {"line": row, "character": column}, "end": end}, "text": TYPED[0]}
        started = time.perf_counter()
        server.change(uri, version, change)
        server.published(uri, version)
        times.append((time.perf_counter() - started) * 1_000)
        time.sleep(0.01)
        if version % 10 == 0:
            started = time.perf_counter()
            ast.parse(text)
            parses.append((time.perf_counter() - started) * 1_000)
    assert server.stop() == 0
    times = sorted(times[WARM_UP:])
    p95 = statistics.quantiles(times, n=20)[-1]
    parse = statistics.median(parses)
    shown = (first * 1_000, statistics.median(times), p95, times[-1], parse, p95 / parse)
    return f"{text.count(chr(10)):>8} {findings:>8} " + " ".join(f"{value:>8.1f}" for value in shown)


def place_in(text: str) -> tuple[int, int]:
    """A row in the middle of the forwards of a file, on a line of its own, and its indentation, both from 0."""
    forwards = [
        statement
        for cls in ast.parse(text).body
        if isinstance(cls, ast.ClassDef)
        for statement in cls.body
        if isinstance(statement, ast.FunctionDef) and statement.name == "forward"
    ]
    if not forwards:
        raise SystemExit("no class with a forward to type in")
    body = forwards[len(forwards) // 2].body
    first = body[1] if ast.get_docstring(forwards[len(forwards) // 2]) and len(body) > 1 else body[0]
    return first.lineno - 1, first.col_offset


def _insert(row: int, column: int, text: str) -> dict[str, object]:
    place = {"line": row, "character": column}
    return {"range": {"start": place, "end": place}, "text": text}


if __name__ == "__main__":
    main()
