"""For how many modules of repositories verify finds a way to build and call them, without any configuration.

    python scripts/verify_repositories.py REPOSITORY... [--under FOLDER] [-v]

The interpreter must have what the repositories import. Each module is built and called in a process of its own, in
eager; nothing is exported. Abstract classes, and those without a `forward`, do not count. `-v` shows the inputs, or why
there are none.
"""

from __future__ import annotations

import argparse
import collections
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from verify_inputs import in_child

from exportlint.config import Configuration
from exportlint.verify.protocol import job
from exportlint.verify.targets import find_targets

LIMIT = 300.0
"""Seconds for a module, on a machine that may have other things to do."""
NOT_FOR_ITSELF = ("is abstract", "has no `forward`", "is defined inside of a function")


def main() -> None:
    """Print a line for each repository."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", type=Path, nargs="+", metavar="REPOSITORY")
    parser.add_argument("--under", default=".", metavar="FOLDER", help="only the modules in this folder of each")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    totals: collections.Counter[str] = collections.Counter()
    for repository in [path.resolve() for path in options.repositories]:
        counts = measured(repository, options.under, verbose=options.verbose)
        print(f"{repository.name}: {shown(counts)}", flush=True)
        totals += counts
    print(f"all: {shown(totals)}")


def measured(repository: Path, under: str, *, verbose: bool) -> collections.Counter[str]:
    """How many modules were found in each way."""
    os.chdir(repository)
    found = find_targets([under], Configuration(repository), repository)
    counts: collections.Counter[str] = collections.Counter()
    for target in found.targets:
        given = job(target, "non-strict", "cpu", 1)
        results = [*in_child(lambda: attempted(given), LIMIT)]  # noqa: B023
        result = results[0] if results else {"way": "none", "shown": "it took too long, or crashed"}
        counts[result["way"]] += 1
        if verbose:
            print(f"  {target.name}  {result['way']}  {result['shown']}", flush=True)
    for other in found.unbuildable:
        if not other.reason.startswith(NOT_FOR_ITSELF):
            counts["none"] += 1
            if verbose:
                print(f"  {other.name}  none  {other.reason}")
    return counts


def shown(counts: Mapping[str, int]) -> str:
    """The counts in one line."""
    whole = sum(counts.values())
    ways = ", ".join(f"{way} {count}" for way, count in sorted(counts.items()) if way != "none")
    return f"{whole - counts.get('none', 0)} of {whole} ({ways})"


def attempted(given: dict[str, Any]) -> Iterator[dict[str, str]]:
    """The way that leads to a module, and its inputs; `none` and why not if there is none."""
    try:
        yield sourced(given)
    except BaseException as error:
        yield {"way": "none", "shown": f"{type(error).__name__}: {error}"[:300]}


def sourced(given: dict[str, Any]) -> dict[str, str]:
    """Build the model of a job and call it."""
    import sys

    from exportlint.verify.worker import sources
    from exportlint.verify.worker.calls import call
    from exportlint.verify.worker.examine import described
    from exportlint.verify.worker.varying import varying_of

    sys.path[:0] = given["paths"]
    way, original = "", sources._by_one_way

    def noted(one: dict[str, Any], *others: Any) -> Any:
        nonlocal way
        result = original(one, *others)
        way = {"snippet": "made", "guessed": "tried"}.get(kind := next(iter(one["inputs"])), kind)
        if kind == "snippet" and one["inputs"]["snippet"]["inputs"] is not None:
            way = "usage"
        return result

    sources._by_one_way = noted  # type: ignore[assignment]
    subject, example = sources.find_source(given, lambda _: None)
    outcome = call(subject.fresh(), (example.arguments, dict(example.keywords)), 0)
    if outcome.error is not None:
        raise outcome.error
    return {"way": way, "shown": "; ".join(described(example, varying_of(subject.model, example, given["varying"])))}


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    main()
