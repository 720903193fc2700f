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
_NAMES = frozenset((*FILE_NAMES, ".gitignore"))
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
        self._changes = _Changes()
        self._found = find(arguments)
        self._known: frozenset[Path] = frozenset()
        """The files that the last run looked at, and what told it how."""
        self._directories: frozenset[Path] = frozenset()
        """Where a change may change what is found."""

    def run(self) -> None:
        is_found = True
        while True:
            self._watch()
            start = time.perf_counter()
            checked = self._check() if is_found else None
            self._watch()
            said = "" if checked is None else f"{_counted(checked)}, {time.perf_counter() - start:.2f} s; "
            _separate(f"{said}waiting for changes; press Ctrl-C to stop")
            changed = self._session.outdated() or self._changed()
            _separate(f"{_listed(changed, self._found.cwd)} changed")
            self._session.refresh(anew=not all(path in self._known and path.is_file() for path in changed))
            is_found = self._find()

    def _find(self) -> bool:
        """Find the files again. Returns whether the configuration allows it, and says why not."""
        try:
            self._found = find(self._arguments)
        except (ConfigError, UsageError) as error:
            fail(str(error))
            return False
        return True

    def _check(self) -> Checked | None:
        try:
            return check(self._arguments, self._found, self._session)
        except (ConfigError, UsageError) as error:
            fail(str(error))
            return None

    def _watch(self) -> None:
        """Watch all that is known to matter by now. What changes from here on is told."""
        found = self._found
        self._known = self._session.reads | {task.path for task in found.tasks} | _configurations(found)
        named = (Path(os.path.normpath(found.cwd / path)).parent for path in found.paths)
        self._directories = found.directories | {found.cwd, *named, *(path.parent for path in self._known)}
        self._changes.watch(self._directories)

    def _changed(self) -> frozenset[Path]:
        """What has changed since somebody last asked; waits until something has."""
        while True:
            changed = frozenset(filter(self._matters, self._changes.next()))
            if changed:
                return changed

    def _matters(self, path: Path) -> bool:
        is_named = path.suffix in _SUFFIXES or path.name in _NAMES or path in self._known or path in self._directories
        if is_named:
            return True
        is_searched = path.parent in self._found.directories  # what comes beside the named paths is nothing to a run
        return is_searched and path.is_dir() and not path.name.startswith((".", "__"))


class _Changes:
    """What changes in directories, but not below these. What changes while nobody asks is told later."""

    def __init__(self) -> None:
        self._watched: dict[str, int] = {}
        self._changes: Iterator[set[tuple[watchfiles.Change, str]]] | None = None
        self._untold: set[Path] = set()

    def watch(self, directories: Iterable[Path]) -> None:
        """From now on, tell of changes in these directories, as far as they exist.

        Raises:
            UsageError: the system does not watch so many.
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
        try:
            self._untold |= {Path(path) for _, path in next(self._changes)}
        except OSError as error:
            hint = "set WATCHFILES_FORCE_POLLING=1 to poll the files"
            raise UsageError(f"--watch: {error}; {hint}") from None


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
