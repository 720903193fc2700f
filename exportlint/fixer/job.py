"""What fixing one file takes, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from exportlint.findings import Applicability, Finding
from exportlint.fixer.shifts import Chain
from exportlint.fixer.verdict import Mark
from exportlint.source import SourceError
from exportlint.workspace import Task, Unit


@dataclass(frozen=True, slots=True)
class Job:
    """A file to fix, and others whose code also leads to findings in it.

    `without` are findings whose fixes are not wanted, by their places in the file as it is.
    """

    task: Task
    witnesses: tuple[Task, ...]
    most: Applicability
    without: frozenset[Mark] = frozenset()


@dataclass(frozen=True, slots=True)
class Repair:
    """What a file was and what comes of it. `data` is as `before` where nothing could be fixed.

    `fixed` are the findings that are gone, each at its place in the round in which it was fixed. `endless` are those
    that are fixed again and again: then the file is as it was. `dropped` is why fixes do not hold, for each finding
    that is left in `data`. `problem` is why it can be given no fixes at all. The outcome depends on what the files
    `reads` hold. `units` are what looking at it and at its witnesses gives then.
    """

    path: Path
    before: bytes
    data: bytes
    fixed: tuple[Finding, ...] = ()
    shift: Chain = field(default_factory=Chain)
    endless: tuple[Finding, ...] = ()
    dropped: Mapping[Mark, str] = field(default_factory=dict)
    problem: SourceError | None = None
    reads: frozenset[Path] = frozenset()
    units: Mapping[Path, Unit] = field(default_factory=dict)
