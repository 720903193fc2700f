"""Whether the linter says the same of programs that do the same.

    python scripts/metamorphic.py TREE... [--transform NAME]... [--files N] [--seed N] [--part K/N] [--mode MODE]

Rewrites each file in ways that change nothing about torch.export (the order of its classes, the names of its variables,
its line ends, where its code stands) and lints it again: findings that come or go are printed, with the text of their
lines. The transformations `jobs` and `hash-seed` change nothing about the files but how the linter is run, and
`repeated` lints a file once more after all its variants. N files are drawn from each TREE; `--part 2/5` takes the
second fifth of those. The exit code is 1 if there is a difference.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))

from exportlint.big_stack import on_big_stack  # noqa: E402
from exportlint.config import Layer  # noqa: E402
from exportlint.config.settings import combine  # noqa: E402
from exportlint.findings import Finding  # noqa: E402
from exportlint.linter import Task, lint  # noqa: E402
from exportlint.source import SourceError  # noqa: E402
from exportlint.workspace import Workspace  # noqa: E402
from tests.metamorphic.comparison import Difference, difference  # noqa: E402
from tests.metamorphic.transformations import TRANSFORMATIONS, DoesNotApply, Variant  # noqa: E402

RUNS = ("repeated", "jobs", "hash-seed")
SEEDS = ("0", "1", "4711")


def tasks_of(tree: Path, files: int, seed: int, mode: str) -> list[Task]:
    """Files of a tree that mention torch, as many as are wanted, as its root's files."""
    root = tree if tree.is_dir() else tree.parent
    layer = Layer(root, {"mode": mode, "src": [str(root.parent), str(root)]})
    found = sorted(tree.rglob("*.py")) if tree.is_dir() else [tree]
    random.Random(seed).shuffle(found)
    chosen: list[Path] = []
    for path in found:
        if len(chosen) >= files:
            break
        if path.is_file() and b"torch" in path.read_bytes():
            chosen.append(path)
    return [Task(path, combine([layer], root)) for path in sorted(chosen)]


def part_of(text: str) -> tuple[int, int]:
    """Which part of how many `K/N` names. Raises ArgumentTypeError."""
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"expected K/N with K from 1 to N, got {text}")
    return int(part), int(parts)


def differences(tasks: Sequence[Task], names: Sequence[str], applied: Counter[str]) -> Iterator[Difference]:
    """What the transformations of files change about their findings. Counts in `applied` where each applies."""
    workspace = Workspace({})
    for task in tasks:
        try:
            text = workspace.read(task).text
        except SourceError:
            continue
        workspace.hold(task.path, text.encode())
        before = workspace.lint(task).findings
        for name in names:
            transformation = TRANSFORMATIONS.get(name) or (Variant if name == "repeated" else None)
            if transformation is None:
                continue
            try:
                found = difference(task, name, transformation, workspace, before)
            except DoesNotApply:
                continue
            applied[name] += 1
            if found is not None:
                yield found
        workspace.forget(task.path)


def report(tasks: Sequence[Task], jobs: int) -> list[str]:
    """All that is found in files, with rows, trails and fixes, in the order of reports."""
    return [_text(finding) for finding in lint(tasks, jobs).findings]


def _text(finding: Finding) -> str:
    """All of a finding in one line. What is a set has no order to print."""
    names = sorted(finding.fix.names) if finding.fix is not None else []
    fix = finding.fix and replace(finding.fix, names=frozenset())
    return f"{replace(finding, fix=fix, through=frozenset())!r} {sorted(finding.through)} {names}"


def main(argv: Sequence[str]) -> int:
    """Print the differences of trees, and how often each transformation applied."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path, metavar="TREE")
    parser.add_argument("--transform", action="append", choices=(*TRANSFORMATIONS, *RUNS), metavar="NAME")
    parser.add_argument("--files", type=int, default=100, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", type=part_of, default=(1, 1), metavar="K/N")
    parser.add_argument("--mode", choices=("non-strict", "strict"), default="non-strict")
    parser.add_argument("--report", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    missing = [str(tree) for tree in options.trees if not tree.exists()]
    if missing:
        print(f"metamorphic.py: no such file or directory: {', '.join(missing)}", file=sys.stderr)
        return 2
    names = options.transform or [*TRANSFORMATIONS, *RUNS]
    tasks = [t for tree in options.trees for t in tasks_of(tree.resolve(), options.files, options.seed, options.mode)]
    part, parts = options.part
    tasks = tasks[len(tasks) * (part - 1) // parts : len(tasks) * part // parts]
    if options.report:
        print("\n".join(report(tasks, 1)))
        return 0
    return on_big_stack(lambda: compare(tasks, names, argv))


def compare(tasks: Sequence[Task], names: Sequence[str], argv: Sequence[str]) -> int:
    """Print what differs; 1 if anything does, else 0."""
    applied: Counter[str] = Counter()
    differing: Counter[str] = Counter()
    for found in differences(tasks, names, applied):
        differing[found.transformation] += 1
        print(found, flush=True)
    for name, said in _runs(tasks, names, argv):
        applied[name] += 1
        differing[name] += bool(said)
        for line in said:
            print(line)
    print(f"{len(tasks)} file{'' if len(tasks) == 1 else 's'}")
    for name in names:
        print(f"{name}: applied {applied[name]}, differs {differing[name]}")
    return 1 if differing.total() else 0


def _runs(tasks: Sequence[Task], names: Sequence[str], argv: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Runs of the linter in other circumstances, each with the findings in which it differs."""
    if "jobs" in names:
        one = report(tasks, 1)
        for other in (report(tasks, 2), report(tasks[::-1], 1)):
            yield "jobs", _lines_that_differ(one, other)
    if "hash-seed" in names:
        texts = [_report_with_seed(seed, argv).splitlines() for seed in SEEDS]
        for other in texts[1:]:
            yield "hash-seed", _lines_that_differ(texts[0], other)


def _report_with_seed(seed: str, argv: Sequence[str]) -> str:
    command = [sys.executable, __file__, *argv, "--report"]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def _lines_that_differ(one: Sequence[str], other: Sequence[str]) -> list[str]:
    gone, new = Counter(one) - Counter(other), Counter(other) - Counter(one)
    order = [] if gone or new or list(one) == list(other) else ["  the findings are the same, and their order differs"]
    return [*(f"  - {line}" for line in sorted(gone)), *(f"  + {line}" for line in sorted(new)), *order]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
