"""Verifying models of a file, which takes as long as torch does."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from exportlint.config import Configuration
from exportlint.server.verification.verified import Verified, digests_of, real, texts_of
from exportlint.source import read
from exportlint.verify.interpreter import find_interpreter
from exportlint.verify.linting import Linted
from exportlint.verify.results import Run
from exportlint.verify.run import verify
from exportlint.verify.target import Target
from exportlint.verify.targets import find_targets
from exportlint.verify.task import Progress
from exportlint.verify.warm import Warmth, default_directory

_NAMED_BY = "the setting `exportlint.verify.python`"

Tell = Callable[[str, int], None]
"""Given what is being done, and the percentage of all that is done."""


@dataclass(frozen=True)
class Wanted:
    """Which models to verify: those of a file, or one of its classes.

    `python` is the interpreter that the user named for it in the editor, `chosen` the one that the editor runs code of
    the project with, if that is known.
    """

    path: Path
    name: str | None
    root: Path
    configuration: Configuration
    python: str | None = None
    chosen: str | None = None


def work(wanted: Wanted, tell: Tell, cancelled: threading.Event) -> list[Verified]:
    """The outcome of the models; nothing, once it is `cancelled`, and what had been begun is killed then.

    Raises:
        ConfigError, InterpreterError, SourceError: what the user has to see to first, in one line.
    """
    place = real(wanted.path)
    before = read(wanted.path)
    digest, configuration = hashlib.sha256(before.data).hexdigest(), wanted.configuration
    settings = configuration.for_file(wanted.path).verify
    path = f"{wanted.path}::{wanted.name}" if wanted.name else str(wanted.path)
    tell("looking for what can be verified", 0)
    found = find_targets([path], configuration, wanted.root, calls=settings.calls and wanted.name is None)
    runs = list(_runs(found.targets, wanted, tell, cancelled)) if found.targets and not cancelled.is_set() else []
    if cancelled.is_set():
        return []
    linted = Linted(configuration)

    def verified(target: Target) -> Verified:
        own = tuple(run for run in runs if run.target == target.name)
        judgement = linted.judge(own, [target.place[0]])
        digests = digests_of(place, digest, own)
        blamed = (real(surprise.frame.file) for surprise in judgement.missed if surprise.frame is not None)
        return Verified(
            target.name,
            target.model.name,
            (real(target.place[0]), target.place[1]),
            own,
            needs_target=_needs_target(target, own),
            judged=judgement.findings,
            missed=judgement.missed,
            digests=digests,
            texts={**texts_of(digests, blamed), place: before.text},
        )

    unbuildable = (
        Verified(
            one.name,
            one.name.partition(":")[2],
            (real(one.place[0]), one.place[1]),
            reason=one.reason,
            needs_target=one.needs_target,
            digests={place: digest},
            texts={place: before.text},
        )
        for one in found.unbuildable
    )
    return [*map(verified, found.targets), *unbuildable]


_BUILDING = ("build", "inputs", "eager")
"""The stages in which it matters how a model is built and called."""


def _needs_target(target: Target, runs: Sequence[Run]) -> bool:
    """Whether nobody has said how to build and call a model, and what was tried does not do."""
    failed = (run.failures[0].stage for run in runs if run.verdict == "cannot be built" and run.failures)
    return target.origin in ("inferred", "convention") and any(stage in _BUILDING for stage in failed)


def _runs(targets: Iterable[Target], wanted: Wanted, tell: Tell, cancelled: threading.Event) -> Iterator[Run]:
    targets = list(targets)
    settings = wanted.configuration.for_file(wanted.path).verify
    named = wanted.python or settings.python or wanted.chosen
    interpreter = find_interpreter(named, wanted.root, wanted.root, _NAMED_BY, cancelled)
    count = sum(len(target.modes) * len(target.devices) for target in targets)
    done = 0

    def say(now: Progress) -> None:
        tell(f"{now.target}: {now.stage} ({now.mode}, {now.device})", 100 * done // count)

    directory = default_directory()
    warmth = None if directory is None else Warmth(directory, interpreter)
    runs = verify(targets, interpreter.path, jobs=settings.jobs, tell=say, cancelled=cancelled, warmth=warmth)
    for done, run in enumerate(runs, start=1):  # noqa: B007 - it is told
        yield run
