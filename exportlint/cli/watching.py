"""`exportlint check --watch`: lint again when a file changes."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from exportlint.cli.check import Checked, Found, check, find
from exportlint.cli.output import UsageError, fail, write
from exportlint.config import ConfigError
from exportlint.config.toml import FILE_NAMES
from exportlint.linter import Session
from exportlint.report.context import printable

if TYPE_CHECKING:
    import watchfiles

_SUFFIXES = (".py", ".pyi", ".pyw", ".ipynb")
_NAMES = frozenset((*FILE_NAMES, ".gitignore", ".ignore"))
_TICK = 50
"""Milliseconds after which the watcher says that nothing happened."""
_NAMED = 3
"""Up to so many changed files are named."""


def watch(arguments: argparse.Namespace) -> int:
    """Lint what the arguments say, and again whenever a file of it changes, until Ctrl-C.

    Returns:
        0, once Ctrl-C ended it.

    Raises:
        ConfigError: the configuration cannot be used when the first run begins. Later it is told, and waited for.
        UsageError: watchfiles is not installed, or the arguments contradict each other.
    """
    try:
        import watchfiles  # noqa: F401
    except ImportError:
        raise UsageError(
            "--watch needs the package watchfiles: install it with `pip install 'exportlint[watch]'`"
        ) from None
    try:
        _Watch(arguments).run()
    except KeyboardInterrupt:
        write("\n", sys.stderr)
    return 0


class _Watch:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._session = Session()
        self._found = find(arguments)
        self._changes = _Changes()

    def run(self) -> None:
        self._changes.watch(self._directories())
        is_found = True
        while True:
            start = time.perf_counter()
            checked = self._check() if is_found else None
            self._changes.watch(self._directories())
            said = "" if checked is None else f"{_counted(checked)}, {time.perf_counter() - start:.2f} s; "
            _separate(f"{said}waiting for changes, Ctrl-C ends")
            changed = self._session.outdated() or self._changed()
            _separate(f"{_listed(changed, self._found.cwd)} changed")
            known = self._known()
            self._session.refresh(anew=not all(path in known and path.is_file() for path in changed))
            is_found = self._find()

    def _check(self) -> Checked | None:
        try:
            return check(self._arguments, self._found, self._session)
        except (ConfigError, UsageError) as error:
            fail(str(error))
            return None

    def _find(self) -> bool:
        """Find the files again. Returns whether the configuration allows it, and says why not."""
        try:
            self._found = find(self._arguments)
        except (ConfigError, UsageError) as error:
            fail(str(error))
            return False
        self._changes.watch(self._directories())
        return True

    def _changed(self) -> frozenset[Path]:
        """What has changed since somebody last asked; waits until something has."""
        while True:
            directories = self._directories()
            changed = frozenset(path for path in self._changes.next() if self._matters(path, directories))
            if changed:
                return changed

    def _matters(self, path: Path, directories: frozenset[Path]) -> bool:
        is_named = path.suffix in _SUFFIXES or path.name in _NAMES or path in self._known() or path in directories
        return is_named or (path.is_dir() and not path.name.startswith((".", "__")))

    def _known(self) -> frozenset[Path]:
        """The files that the last run looked at, and what told it how."""
        files = {task.path for task in self._found.tasks} | _configurations(self._found)
        return self._session.reads | files

    def _directories(self) -> frozenset[Path]:
        """Where a change may change what is found."""
        found = self._found
        named = (Path(os.path.normpath(found.cwd / path)).parent for path in found.paths)
        return found.directories | {found.cwd, *named, *(path.parent for path in self._known())}


class _Changes:
    """What changes in directories, but not below these. What changes while nobody asks is told later."""

    def __init__(self) -> None:
        self._watched: dict[str, int] = {}
        self._changes: Iterator[set[tuple[watchfiles.Change, str]]] | None = None
        self._untold: set[Path] = set()

    def watch(self, directories: Iterable[Path]) -> None:
        """From now on, tell of changes in these directories, as far as they exist.

        Raises:
            OSError: the system does not watch so many.
        """
        import watchfiles

        # A directory that was removed and made again is another one.
        wanted = {str(path): path.stat().st_ino for path in directories if path.is_dir()}
        if wanted == self._watched:
            return
        if self._changes is not None:
            self._take()
        self._watched = wanted
        self._changes = watchfiles.watch(
            *wanted,
            watch_filter=None,
            recursive=False,
            step=_TICK,
            rust_timeout=_TICK,
            yield_on_timeout=True,
            raise_interrupt=True,
            ignore_permission_denied=True,
        )
        self._take()  # it watches only once it is asked

    def next(self) -> frozenset[Path]:
        """What has changed by now, which may be nothing."""
        if not self._untold:
            self._take()
        told, self._untold = frozenset(self._untold), set()
        return told

    def _take(self) -> None:
        assert self._changes is not None
        self._untold |= {Path(path) for _, path in next(self._changes)}


def _configurations(found: Found) -> set[Path]:
    settings = (found.here, *(task.settings for task in found.tasks))
    files = (file for each in settings for file in (each.file, each.baseline))
    return {file for file in files if file is not None}


def _counted(checked: Checked) -> str:
    findings = "1 finding" if checked.findings == 1 else f"{checked.findings} findings"
    return f"{findings} in {checked.files} file{'' if checked.files == 1 else 's'}"


def _listed(paths: Iterable[Path], cwd: Path) -> str:
    names = sorted(os.path.relpath(path, cwd) for path in paths)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _separate(text: str) -> None:
    """Say something between two reports. Standard output holds only these."""
    write(f"--- {time.strftime('%H:%M:%S')}: {printable(text)} ---\n", sys.stderr)
