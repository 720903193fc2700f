"""The files that paths stand for, with their settings, and those that are looked at beside them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from exportlint.config import Configuration
from exportlint.findings import Finding
from exportlint.importers import MAX_SOURCE, Importers, importers
from exportlint.linter import Task, unreadable
from exportlint.source import DiscoveryOptions, discover


@dataclass(frozen=True, slots=True)
class Selection:
    """The files to lint, the directories that were searched for them, and what is wrong with paths that cannot be."""

    tasks: tuple[Task, ...]
    directories: frozenset[Path] = frozenset()
    problems: tuple[Finding, ...] = ()


def select(paths: Sequence[Path], settings: Configuration, cwd: Path) -> Selection:
    """What paths stand for.

    Raises:
        ConfigError: a configuration cannot be used.
    """
    directories: set[Path] = set()

    def absolute(path: Path | str) -> Path:
        return Path(os.path.normpath(cwd / path))

    def options_for(directory: Path) -> DiscoveryOptions:
        directories.add(absolute(directory))
        return settings.for_directory(absolute(directory)).discovery

    found = discover(paths, options_for)
    files = [absolute(file) for file in found.files]
    tasks = tuple(Task(file, settings.for_file(file)) for file in files)
    problems = []
    for problem in found.problems:
        path = absolute(problem.filename)
        holds = settings.for_file(path)
        finding = unreadable(problem, str(path), holds.mode)
        if finding.code in holds.rules_for(path):
            problems.append(finding)
    return Selection(tasks, frozenset(directories), tuple(problems))


def beside(tasks: Sequence[Task], named: Set[Path], settings: Configuration, *, of_all: bool = False) -> Importers:
    """The files that are looked at together with those that are linted; `of_all`: all that import any of these."""
    named = {Path(os.path.normpath(path)) for path in named}
    always = {task.path for task in tasks if of_all or task.settings.follow_importers == "always"}
    auto = {task.path for task in tasks if task.settings.follow_importers == "auto" and task.path in named}
    if not always | auto:
        return Importers()
    return importers(tasks, sorted(always | auto), settings.for_directory, sys.maxsize if always else MAX_SOURCE)
