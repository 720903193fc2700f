"""Measures how often findings about published libraries are right, and writes docs/accuracy.md from what is on record.

    python scripts/measure_libraries.py --python PYTHON --library torchvision --limit 40 --seconds 600
    python scripts/measure_libraries.py --page

PYTHON has the libraries and torch. Each model is built with random weights and exported in both modes, with a static
and with a dynamic batch, each in a process of its own; the library is linted for each of these. What happened is one
JSON line a run, in docs/accuracy/LIBRARY.jsonl, without any code. What is on record is not run again; the results of
runs are kept under --runs, and the findings of today's rules are held against them each time.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from pathlib import Path

from library_accuracy import records
from library_accuracy.cases import UnknownLibraryError, cases, find_library, zoo_digest
from library_accuracy.measuring import Runs, configuration, judged, prepare, run_models
from library_accuracy.page import CAUSES, page

DOCS = Path(__file__).parents[1] / "docs"


def main() -> int:
    """Measure, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", action="append", default=[], metavar="NAME", help="a package; may be repeated")
    parser.add_argument("--limit", type=int, default=1_000_000, metavar="N", help="models of each library")
    parser.add_argument(
        "--seconds",
        type=float,
        default=3600.0,
        metavar="S",
        help="start no run of a library after so long; 0 runs nothing",
    )
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="has the libraries and torch")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each run")
    parser.add_argument("--memory", type=float, default=6.0, help="GiB for each run")
    parser.add_argument("--runs", type=Path, default=Path(tempfile.gettempdir()) / "exportlint-accuracy")
    parser.add_argument("--only-run", action="store_true", help="export, and hold no findings against it yet")
    parser.add_argument("--docs", type=Path, default=DOCS, help="where accuracy.md and accuracy/ are")
    parser.add_argument("--page", action="store_true", help="only write docs/accuracy.md from what is on record")
    parser.add_argument("--check", action="store_true", help="only say whether docs/accuracy.md is up to date")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.check:
        return _check(options.docs)
    try:
        for name in options.library:
            _measure(name, options)
    except UnknownLibraryError as error:
        print(error, file=sys.stderr)
        return 2
    (options.docs / "accuracy.md").write_text(_page(options.docs), "utf-8")
    return 0


def _page(docs: Path) -> str:
    data = docs / "accuracy"
    return page(records.read_all(data), records.read_all(data / "first_runs"), data / CAUSES)


def _check(docs: Path) -> int:
    if (docs / "accuracy.md").read_text("utf-8") == _page(docs):
        return 0
    print(
        "docs/accuracy.md is not what the data say: run `python scripts/measure_libraries.py --page`", file=sys.stderr
    )
    return 1


def _measure(name: str, options: argparse.Namespace) -> None:
    prepare(name, options.python)
    library = find_library(name, options.python)
    file = options.docs / "accuracy" / f"{name}.jsonl"
    known = {record.key: record for record in records.read(file) if record.version == library.version}
    runs = Runs(options.runs, library)
    kept = runs.directory / f"models-{zoo_digest(name)}.json"
    every = cases(library, options.python, configuration("non-strict", "dynamic"), kept)
    listed = list(itertools.islice(every, options.limit))
    until = time.monotonic() + options.seconds
    if options.seconds > 0:
        memory = int(options.memory * 2**30)
        timeout, jobs = options.timeout, options.jobs
        run_models(listed, known, options.python, runs, jobs=jobs, until=until, timeout=timeout, memory=memory)
    if options.only_run:
        return
    found = known | {record.key: record for record in judged(library, listed, runs, options.jobs)}
    records.write(file, found.values())
    print(f"{name} {library.version}: {len(listed)} models listed, {len(found)} runs on record", flush=True)


if __name__ == "__main__":
    sys.exit(main())
