"""Whether findings are the same whichever way they are computed, on files of any project.

    python scripts/compare_incremental.py PATH... [--edits N] [--seed N] [--lines MIN MAX] [--each N]

Copies the Python files of the PATHs, opens some of them with modules that they import in a language server, and edits
them at random: statements are added, removed, moved and copied, names and values changed, decorators added, blocks
indented, text broken and mended, edits undone. After each edit, what the server shows (diagnostics with their trails,
lenses, code actions with their edits) is compared with what a new server shows; every --each edits, the edited files
are linted on the command line with a cache, without, and in two processes. Differences are printed, with the last
versions of the text in a folder. The exit code is 1 if there are any.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))

from exportlint.big_stack import on_big_stack  # noqa: E402
from exportlint.cli import main as exportlint  # noqa: E402
from exportlint.config.settings import combine  # noqa: E402
from exportlint.workspace import NO_FIXES, Task, Workspace  # noqa: E402
from tests.incremental.walk import Difference, Walk  # noqa: E402


def copied(paths: list[Path], root: Path) -> list[Path]:
    """The Python files of some trees in one folder, which is a project."""
    (root / ".git").mkdir()
    (root / "pyproject.toml").write_text("[tool.exportlint]\n", encoding="utf-8")
    for path in paths:
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            to = root / file.relative_to(path.parent)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, to)
    return sorted(root.rglob("*.py"))


def chosen(files: list[Path], rng: random.Random, least: int, most: int) -> Iterator[Path]:
    """Files with models, of so many lines, in random order, again and again."""
    fit = [f for f in files if least <= (data := f.read_bytes()).count(b"\n") <= most and b"forward(" in data]
    if not fit:
        raise SystemExit(f"no file with models has {least} to {most} lines: name other PATHs or other --lines")
    while True:
        rng.shuffle(fit)
        yield from fit


def opened(path: Path, root: Path, rng: random.Random, most: int) -> dict[Path, str]:
    """A file and up to two of those that looking at it reads, by what they hold."""
    unit = on_big_stack(lambda: Workspace({}).lint(Task(path, combine([], root)), NO_FIXES))
    read = sorted(other for other in unit.reads - {path} if other.is_file() and other.suffix == ".py")
    near = [other for other in read if other.read_bytes().count(b"\n") <= most]
    picked = rng.sample(near, min(len(near), rng.randrange(3)))
    return {one: one.read_bytes().decode() for one in (path, *picked)}


def runs(root: Path, paths: list[Path]) -> dict[str, str]:
    """What the command line prints of files: with the results of earlier runs, without, and in two processes."""
    ways = {"-j1 --no-cache": ["-j1", "--no-cache"], "-j2 --no-cache": ["-j2", "--no-cache"]}
    ways |= {"cache": ["-j1"], "cache, again": ["-j1"], "cache, -j2": ["-j2"]}
    told: dict[str, str] = {}
    here = Path.cwd()
    os.chdir(root)
    for name, flags in ways.items():
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = exportlint([*flags, "--output-format", "json", "--show-info", "--unsafe-fixes", *map(str, paths)])
        told[name] = f"{code}\n{out.getvalue()}"
    os.chdir(here)
    return told


def linted(root: Path, texts: Mapping[Path, str], rng: random.Random) -> list[str]:
    """In which ways of running the command line it prints something else of edited files and some around them."""
    before = {path: path.read_bytes() for path in texts}
    around = sorted({*texts, *(f for path in texts for f in path.parent.glob("*.py"))})
    picked = sorted({*texts, *rng.sample(around, min(10, len(around)))})
    try:
        for path, text in texts.items():
            path.write_bytes(text.encode())
        told = runs(root, picked)
    finally:
        for path, data in before.items():
            path.write_bytes(data)
    expected = told["-j1 --no-cache"]
    return [name for name, printed in told.items() if printed != expected]


def keep(difference: Difference, folder: Path) -> None:
    """Write down the versions that led to a difference."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, versions in difference.texts.items():
        for number, text in enumerate(versions):
            (folder / f"{path.stem}.{number:03}.py").write_bytes(text.encode())


def main() -> int:
    """Runs it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="a package or a file")
    parser.add_argument("--edits", type=int, default=1000, help="how many edits to make in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lines", type=int, nargs=2, default=(20, 600), metavar=("MIN", "MAX"), help="of a file")
    parser.add_argument("--each", type=int, default=20, help="edits of one file, after which the command line is run")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    made = found = walks = 0
    compared: Counter[str] = Counter()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve() / "tree"
        root.mkdir()
        os.environ["XDG_CACHE_HOME"] = str(root.parent / "caches")
        files = copied([path.resolve() for path in arguments.paths], root)
        for path in chosen(files, rng, *arguments.lines):
            if made >= arguments.edits:
                break
            count = min(arguments.each, arguments.edits - made)
            seed = rng.randrange(10**6)
            walk = Walk(root, opened(path, root, rng, arguments.lines[1]), random.Random(seed), around=True, asked=4)
            differences = asyncio.run(walk.differences(count))
            made, walks = made + count, walks + 1
            compared += walk.compared
            for difference in differences:
                found += 1
                folder = Path(tempfile.gettempdir(), f"incremental-{arguments.seed}-{walks}")
                keep(difference, folder)
                print(f"{difference}\n  versions: {folder}", flush=True)
            ways = linted(root, walk.texts, rng)
            found += len(ways)
            for way in ways:
                print(f"{path}: {way} prints something else", flush=True)
            if sys.stderr.isatty() or not walks % 10:
                seconds = time.monotonic() - start
                print(
                    f"{made} edits of {walks} files in {seconds:.0f} s, {found} differences",
                    file=sys.stderr,
                    flush=True,
                )
    told = ", ".join(f"{count} {what}" for what, count in compared.items())
    print(f"{made} edits of {walks} files, {told}: {found} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
