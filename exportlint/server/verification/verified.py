"""The outcome of verifying a model, and which texts that holds for."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from exportlint.source import SourceError, read

if TYPE_CHECKING:
    from exportlint.verify.results import Run
    from exportlint.verify.verdicts import Judged, Surprise

real = lru_cache(maxsize=10_000)(os.path.realpath)
"""The one name that a file has, also where links lead to it."""


@dataclass(frozen=True)
class Verified:
    """The outcome of a model in all its modes and on all its devices; no runs, and why, if it cannot be built.

    `name` is that of the target, `model` what the file calls what is exported, `place` where that stands.
    `needs_target`: it cannot be built as long as no target in the configuration says how. `judged` are
    findings in all files that ran, `missed` is what nothing was found of. It holds for files with these `digests`, by
    their real paths; `texts` are those of the files in which there is something to show.
    """

    name: str
    model: str
    place: tuple[str, int]
    runs: tuple[Run, ...] = ()
    reason: str = ""
    needs_target: bool = False
    judged: tuple[Judged, ...] = ()
    missed: tuple[Surprise, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)


def digests_of(place: str, before: str | None, runs: Iterable[Run]) -> dict[str, str]:
    """The digests of the files that decided the outcome of runs; `before` is that of the model's own at the start."""
    found = {} if before is None else {place: before}
    for run in runs:
        found |= {real(file): digest for file, digest in run.files.items()}
    return found


def texts_of(digests: Mapping[str, str], files: Iterable[str]) -> dict[str, str]:
    """The texts of files, of those that still are as they were verified."""
    found = {}
    for file in set(files):
        try:
            source = read(Path(file))
        except SourceError:
            continue
        if hashlib.sha256(source.data).hexdigest() == digests.get(file):
            found[file] = source.text
    return found
