"""Which files a run lints."""

from __future__ import annotations

import itertools
import os
import stat
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from exportlint.source.errors import SourceError, os_reason
from exportlint.source.gitignore import IgnoreRules, rules_at, rules_within
from exportlint.source.patterns import PathPatterns, absolute

DEFAULT_INCLUDE = ("*.py", "*.pyw", "*.ipynb")
DEFAULT_EXCLUDE = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".exportlint_cache",
    ".git",
    ".git-rewrite",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pants.d",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "_build",
    "buck-out",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)


@dataclass(frozen=True, slots=True)
class DiscoveryOptions:
    """What to find in one directory. `root` is the project's: patterns with a `/` are relative to it."""

    root: Path = Path()
    include: tuple[str, ...] = DEFAULT_INCLUDE
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True


@dataclass(frozen=True, slots=True)
class Discovery:
    """The files to lint, each once, sorted by name; and what was named or met and cannot be linted.

    `is_complete`: nothing was left out because there was too much of it.
    """

    files: tuple[Path, ...]
    problems: tuple[SourceError, ...]
    is_complete: bool = True


def discover(
    paths: Iterable[Path], settings_for: Callable[[Path], DiscoveryOptions], limit: int = sys.maxsize
) -> Discovery:
    """Finds the Python files under `paths`. Raises nothing: what goes wrong is among the problems.

    A file that is named is linted whatever its suffix and whatever excludes it, unless `force_exclude`. A directory
    is searched for what matches `include`, is not excluded, and is not ignored by git. Symbolic links are followed;
    a file that can be reached in several ways is listed once, by the way that has no links if there is one.
    `settings_for` is called once for each directory that is searched or holds a named file. After `limit` entries of
    directories, no more directories are searched.
    """
    search = _Search(settings_for, limit)
    directories = [path for path in paths if search.named(path)]
    for path in directories:
        search.tree(path)
    search.follow_links()
    files = sorted(search.files.values(), key=str)
    problems = tuple(sorted(search.problems, key=lambda problem: problem.args[:2]))
    return Discovery(tuple(files), problems, search.left > 0)


def is_excluded(path: Path, options: DiscoveryOptions) -> bool:
    """Whether the path, or a directory that it lies in below the project's root, is excluded by the settings."""
    excluded = _exclude(options)
    root = absolute(options.root)
    place = absolute(path)
    while place not in (root, "/", ""):
        if excluded.match(place):
            return True
        place = place.rpartition("/")[0]
    return False


class _Directory(NamedTuple):
    """A directory to search: as the user names it, its absolute name, and where it really is (`/` between names)."""

    shown: Path
    absolute: str
    real: str
    rules: IgnoreRules | None


class _Search:
    def __init__(self, settings_for: Callable[[Path], DiscoveryOptions], limit: int) -> None:
        self.left = limit
        self.files: dict[str, Path] = {}  # by where they really are
        self.problems: list[SourceError] = []
        self._make_options = settings_for
        self._options: dict[Path, DiscoveryOptions] = {}
        self._searched: set[str] = set()
        self._links: list[tuple[_Directory, str]] = []

    def named(self, path: Path) -> bool:
        """Takes in a file that the user names; True for a directory to search."""
        try:
            is_directory = stat.S_ISDIR(path.stat().st_mode)
        except (OSError, ValueError) as error:
            self.problems.append(SourceError(str(path), _why_not(path, error)))
            return False
        options = self._options_for(path if is_directory else path.parent)
        if options.force_exclude and is_excluded(path, options):
            return False
        if not is_directory:
            self.files.setdefault(_real(path), path)
        return is_directory

    def tree(self, path: Path) -> None:
        """Searches a directory, but for its symbolic links."""
        real = _real(path)
        rules = rules_at(Path(real)) if self._options_for(path).respect_gitignore else None
        pending = [_Directory(path, absolute(path), real, rules)]
        while pending and self.left > 0:
            directory = pending.pop()
            if directory.real not in self._searched:
                self._searched.add(directory.real)
                pending += self._entries(directory)

    def follow_links(self) -> None:
        """Follows the links that were met, until there are no new ones."""
        while self._links:
            links, self._links = self._links, []
            for directory, name in sorted(links, key=lambda link: str(link[0].shown / link[1])):
                self._follow(directory, name)

    def _entries(self, directory: _Directory) -> list[_Directory]:
        """Takes in the files of a directory, keeps its links for later, and returns its directories."""
        options = self._options_for(directory.shown)
        include, exclude = _include(options), _exclude(options)
        try:
            with os.scandir(directory.shown) as scan:
                entries = [
                    (
                        entry.name,
                        entry.is_symlink(),
                        entry.is_dir(follow_symlinks=False),
                        entry.is_file(follow_symlinks=False),
                    )
                    for entry in itertools.islice(scan, max(0, self.left))
                ]
        except OSError as error:
            self.problems.append(SourceError(str(directory.shown), f"cannot be searched: {os_reason(error)}"))
            return []
        self.left -= len(entries)
        rules = directory.rules if options.respect_gitignore else None
        if options.respect_gitignore and any(name in (".git", ".gitignore") for name, *_ in entries):
            rules = rules_within(Path(directory.real), rules)
        inner: list[_Directory] = []
        for name, is_link, is_directory, is_file in entries:
            place = _join(directory.absolute, name)
            if exclude.match(place):
                continue
            if is_link:
                self._links.append((directory._replace(rules=rules), name))
                continue
            if not is_directory and not (is_file and include.match(place)):
                continue
            real = _join(directory.real, name)
            if rules is not None and rules.ignores(real, is_directory):
                continue
            if is_directory:
                inner.append(_Directory(directory.shown / name, place, real, rules))
            else:
                self.files.setdefault(real, directory.shown / name)
        return inner

    def _follow(self, directory: _Directory, name: str) -> None:
        shown = directory.shown / name
        options = self._options_for(directory.shown)
        included = _include(options).match(_join(directory.absolute, name))
        try:
            mode = shown.stat().st_mode
        except OSError as error:
            # Emacs marks an edited file by a link to nowhere, `.#net.py`.
            if included and not name.startswith(".#"):
                self.problems.append(SourceError(str(shown), _why_not(shown, error)))
            return
        is_directory = stat.S_ISDIR(mode)
        if directory.rules is not None and directory.rules.ignores(_join(directory.real, name), is_directory):
            return
        real = _real(shown)
        if _exclude(options).match(real):
            return
        if is_directory:
            # A link to a directory that holds the link is a loop.
            if not _join(directory.real, "").startswith(_join(real, "")):
                self.tree(shown)
        elif included and stat.S_ISREG(mode):
            self.files.setdefault(real, shown)

    def _options_for(self, directory: Path) -> DiscoveryOptions:
        if directory not in self._options:
            self._options[directory] = self._make_options(directory)
        return self._options[directory]


@lru_cache(maxsize=64)
def _include(options: DiscoveryOptions) -> PathPatterns:
    return PathPatterns(options.include, options.root)


@lru_cache(maxsize=64)
def _exclude(options: DiscoveryOptions) -> PathPatterns:
    return PathPatterns(options.exclude + options.extend_exclude, options.root)


def _real(path: Path) -> str:
    """Where a path really is, `/` between names."""
    # `Path.resolve` raises RuntimeError for a loop of links that comes to be during the walk.
    return Path(os.path.realpath(path)).as_posix()


def _join(directory: str, name: str) -> str:
    return directory + name if directory.endswith("/") else f"{directory}/{name}"


def _why_not(path: Path, error: OSError | ValueError) -> str:
    reason = os_reason(error)
    missing = isinstance(error, FileNotFoundError)
    try:
        if path.is_symlink():
            target = path.readlink()
            if missing:
                return f"is a broken symbolic link: '{target}' does not exist"
            return f"is a symbolic link to '{target}': {reason}"
        nearest = _nearest(path) if missing else None
    except OSError:
        nearest = None
    return reason if nearest is None else f"{reason}; did you mean '{nearest}'?"


def _nearest(path: Path) -> Path | None:
    """The path with its first missing name replaced by the most similar one that is there."""
    from difflib import get_close_matches

    missing = next(place for place in (path, *path.parents) if place.parent.is_dir())
    similar = get_close_matches(missing.name, [entry.name for entry in missing.parent.iterdir()], n=1)
    if not similar:
        return None
    found = missing.parent / similar[0]
    whole = found / path.relative_to(missing)
    return whole if whole.exists() else found
