"""Finds what can be verified: what the configuration names, and what the code offers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from exportlint.config import Configuration
from exportlint.verify.target import Target
from exportlint.verify.targets.candidates import Unbuildable
from exportlint.verify.targets.named import UnknownTargetError

__all__ = ["Found", "Unbuildable", "UnknownTargetError", "find_targets"]


@dataclass(frozen=True, slots=True)
class Found:
    """What can be tried, and what cannot, each in the order of files and their lines.

    `calls` is how many calls of torch.export are left out, as nobody asks for them.
    """

    targets: tuple[Target, ...]
    unbuildable: tuple[Unbuildable, ...]
    calls: int = 0


def find_targets(paths: Sequence[str], settings: Configuration, cwd: Path, *, calls: bool = False) -> Found:
    """What `paths` name: files, directories, `file.py::Name`, `pkg.mod:Name`, names of configured targets.

    Without paths that is what the configuration names, or else what is in the working directory. With `calls`, or where
    the settings say so, calls of torch.export are targets too.

    Raises:
        UnknownTargetError: there is nothing of such a name.
        ConfigError: the configuration cannot be used.
    """
    from exportlint.big_stack import on_big_stack
    from exportlint.source import gc_paused
    from exportlint.verify.targets.search import Search

    search = Search(settings, cwd, calls=calls)
    with gc_paused():  # all trees are kept
        return on_big_stack(lambda: search.found(paths))
