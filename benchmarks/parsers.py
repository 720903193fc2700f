"""How fast `ast` and libcst parse the same files.

    python benchmarks/parsers.py [DIRECTORY] [--files N] [--quick]

Each parses all files once, in this process, with the garbage collector paused. What is counted is processor time,
without that of reading and decoding. A file that either cannot parse is left out.
"""

from __future__ import annotations

import argparse
import ast
import gc
import platform
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import libcst
from sample import OWN, sample


def main() -> None:
    """Print a line for each parser."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, nargs="?", default=OWN, help="[exportlint itself]")
    parser.add_argument("--files", type=int, metavar="N", help="take N files evenly [all, with --quick 30]")
    parser.add_argument("--quick", action="store_true", help="a few files, for CI")
    arguments = parser.parse_args()
    texts = [
        text
        for file in sample(arguments.directory, arguments.files or (30 if arguments.quick else None))
        if (text := parseable(file)) is not None
    ]
    lines = sum(text.count("\n") for text in texts)
    print(f"{len(texts)} files, {lines} lines, Python {platform.python_version()}, libcst {version('libcst')}")
    slow = measure("libcst.parse_module", libcst.parse_module, texts, lines)
    fast = measure("ast.parse", ast.parse, texts, lines)
    print(f"{'ratio':<20} {slow / fast:>10.1f}")


def parseable(file: Path) -> str | None:
    """The text of a file that both can parse."""
    warnings.simplefilter("ignore", SyntaxWarning)
    try:
        text = file.read_text(encoding="utf-8")
        ast.parse(text)
        libcst.parse_module(text)
    except (UnicodeDecodeError, SyntaxError, ValueError, RecursionError, libcst.ParserSyntaxError):
        return None
    return text


def measure(name: str, parse: Callable[[str], object], texts: list[str], lines: int) -> float:
    """Print and return the seconds that `parse` takes for all texts."""
    seconds = 0.0
    for text in texts:
        gc.disable()
        start = time.process_time()
        parse(text)
        seconds += time.process_time() - start
        gc.enable()
    print(f"{name:<20} {seconds:>8.2f} s {lines / seconds:>10,.0f} lines/s")
    return seconds


if __name__ == "__main__":
    main()
