"""Measure again what the catalogue claims, with the torch of an environment, and say on the pages what was measured.

    python scripts/measure_versions.py [--python PYTHON]... [--page CODE]... [--again] [--no-pages]
    python scripts/measure_versions.py --pages

Each PYTHON (3.11 or newer, with torch and numpy; exportlint need not be installed) exports every bad block of the
catalogue in both modes. What came out is kept in `tests/catalogue/measured`, one file for each torch. What is
there already, of blocks that have not changed, is measured only with `--again`: an interrupted run goes on. Then the
pages are written. `--pages` only writes them. What contradicts a claim is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import logging
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

PROJECT = Path(__file__).parents[1]
sys.path.insert(0, str(PROJECT))

from exportlint.findings import Mode  # noqa: E402
from exportlint.pages import Block, Page  # noqa: E402
from tests.catalogue import DIRECTORY, pages  # noqa: E402
from tests.catalogue.measurements import (  # noqa: E402
    Key,
    Measurement,
    digest,
    measured_blocks,
    measurements,
    path_of,
    with_sentence,
    write,
)

if TYPE_CHECKING:
    from tests.catalogue.prover import Prover

SECONDS = 300
"""After which a block counts as one that ends the process."""


def main() -> None:
    """Measure with each environment, one after the other, and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", default=[], help="an interpreter with torch; several are allowed")
    parser.add_argument("--page", action="append", metavar="CODE", help="only the blocks of this page [all]")
    parser.add_argument("--again", action="store_true", help="measure what is known already as well")
    parser.add_argument("--pages", action="store_true", help="only write the pages")
    parser.add_argument("--no-pages", action="store_true", help="do not write the pages")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work()
        return
    about = [p for p in pages() if not p.code.startswith("EXP0")]
    chosen = [p for p in about if not arguments.page or p.code in arguments.page]
    if not chosen:
        parser.error(f"no page is called {' or '.join(arguments.page)}")
    for python in () if arguments.pages else arguments.python or [sys.executable]:
        release = release_of(python)
        if release is None:
            parser.error(f"{python} has no torch that can be imported")
        measure_all(python, release, chosen, again=arguments.again)
    for page in () if arguments.no_pages else about:
        write_page(page)


def release_of(python: str) -> str | None:
    """The release of torch that an interpreter imports."""
    code = "import numpy, torch; print(torch.__version__)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip().partition("+")[0] or None


def measure_all(python: str, release: str, chosen: list[Page], *, again: bool) -> None:
    """Measure what is not known of the pages with an interpreter's torch."""
    known = {} if not path_of(release).exists() else dict(measurements(release))
    of_today = {(p.code, digest(b), mode) for p in pages() for b, mode in measured_blocks(p)}
    known = {key: found for key, found in known.items() if key in of_today}
    wanted = [(p.code, digest(b), mode) for p in chosen for b, mode in measured_blocks(p)]
    todo = [key for key in wanted if again or key not in known]
    print(f"torch {release}: {len(todo)} of {len(wanted)} to measure", flush=True)
    for found in run_worker(python, todo):
        known[found.key] = found
        write(release, known.values())
    measurements.cache_clear()


def run_worker(python: str, todo: list[Key]) -> Iterator[Measurement]:
    """What a process of an interpreter measures, in order."""
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as directory:
        given = Path(directory, "todo.json")
        given.write_text(json.dumps(todo), encoding="utf-8")
        with given.open(encoding="utf-8") as stream:
            worker = subprocess.Popen(
                [python, str(Path(__file__).resolve()), "--worker"],
                stdin=stream, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=directory,
                env=environment,
            )  # fmt: skip
        assert worker.stdout is not None
        with worker:
            for line in worker.stdout:
                yield Measurement(**json.loads(line))


def work() -> None:
    """Measure what standard input names, and print each result at once."""
    import warnings

    from tests.catalogue.prover import Prover

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    logging.getLogger("torch.__trace").disabled = True  # `logging.disable` has no effect on it
    todo = json.load(sys.stdin)
    blocks = {(p.code, digest(b)): b for p in pages() for b, _ in measured_blocks(p)}
    output, sys.stdout = sys.stdout, sys.stderr  # blocks print as well
    prover = Prover(Path.cwd())
    load_torch()
    for code, key, mode in todo:
        # A failed trace can leave torch in a state in which the next one fails, so each has its own process.
        outcome, detail = forked(blocks[code, key], mode, prover)
        print(json.dumps(asdict(Measurement(code, key, mode, outcome, detail))), file=output, flush=True)


def load_torch() -> None:
    """Import what torch imports at the first export, so that no process of a block has to: that takes seconds."""
    import torch

    for strict in (False, True):
        torch.export.export(torch.nn.Linear(2, 2), (torch.ones(2, 2),), strict=strict)


def forked(block: Block, mode: Mode, prover: Prover) -> tuple[str, str]:
    """What a copy of this process measures; it `crashes` if it ends without an answer, or takes too long."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiving)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        with contextlib.suppress(BaseException), os.fdopen(sending, "w", encoding="utf-8") as stream:
            json.dump(measure(block, mode, prover), stream)
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving, encoding="utf-8") as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    return tuple(json.loads(answer)) if answer else ("crashes", "")


def measure(block: Block, mode: Mode, prover: Prover) -> tuple[str, str]:
    """The outcome of a block in a mode, and what was raised."""
    try:
        if block.is_script:
            error = prover.execute(block).error
            if error is None:
                return compared(block, mode, prover)
            return raised("narrower" if of_input_check(error) else "raises", error)
        if not block.needs_cuda:
            error = prover.eager(block)[0].error
            if block.raises != ("" if error is None else type(error).__name__):
                return raised("unmeasured", error)
        program = prover.export(block, mode)
        if isinstance(program, Exception):
            bare = replace(block, directives=tuple(d for d in block.directives if d[0] != "dynamic"))
            is_static = block.dynamic and not isinstance(prover.export(bare, mode), Exception)
            return raised("narrower" if is_static else "raises", program)
        return ("exports", "") if block.needs_cuda or block.raises else compared(block, mode, prover)
    except Exception as error:  # the block cannot be loaded, or its program not be called
        return raised("unmeasured", error)


def of_input_check(error: BaseException) -> bool:
    """Whether a program raised it because of the sizes of its inputs."""
    return any("input_constraints" in frame.name for frame in traceback.extract_tb(error.__traceback__))


def compared(block: Block, mode: Mode, prover: Prover) -> tuple[str, str]:
    """Whether the program of a block does what its model does."""
    return ("differs" if prover.differences(block, mode) else "agrees"), ""


def raised(outcome: str, error: BaseException | None) -> tuple[str, str]:
    """An outcome and the class of what was raised."""
    return outcome, "" if error is None else type(error).__name__


def write_page(page: Page) -> None:
    """Say on a page what was measured of it."""
    from tests.catalogue.verdicts import contradictions, said

    for line in contradictions(page):
        print(line)
    told = said(page)
    if told:
        (DIRECTORY / page.name).write_text(with_sentence(page.text, told), encoding="utf-8")


if __name__ == "__main__":
    main()
