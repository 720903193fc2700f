"""Results on the disk, shared with the command line: taken for files that are as they were, kept for files as saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from exportlint.cache import CacheDirectory, ResultCache, is_cache, named_directory, version
from exportlint.source import SourceError, read
from exportlint.units import NO_FIXES, Task, Unit


class StoredResults:
    """What looking at files gave in earlier runs of the server or of the command line.

    `begin` says what files are to be seen as holding from then on, and in which folders the client works: outside of
    these, no directory is made. Nothing raises: what cannot be read or written is not there.
    """

    def __init__(self) -> None:
        self._unsaved: Mapping[Path, bytes] = {}
        self._folders: tuple[Path, ...] = ()
        self._caches: dict[tuple[Path, bool], ResultCache] = {}
        self._waiting: dict[Path, tuple[Task, Unit]] = {}

    def begin(self, unsaved: Mapping[Path, bytes], folders: Iterable[Path]) -> None:
        """From now on, files hold what they do now, and some what is not saved."""
        self._unsaved, self._folders = unsaved, tuple(folders)
        self._caches.clear()

    def find(self, task: Task) -> Unit | None:
        """What looking at a file gives, without fixes, if that is known of what it holds now."""
        self._waiting.pop(task.path, None)
        return self._cache(task).find(task, NO_FIXES)

    def keep(self, task: Task, unit: Unit) -> None:
        """Have `save` write down what looking at a file gave."""
        self._waiting[task.path] = task, unit

    def save(self) -> None:
        """Write down what was kept of files that are as on the disk, and read no others."""
        waiting, self._waiting = self._waiting, {}
        caches = {}
        for task, unit in waiting.values():
            cache = self._cache(task)
            if self._may_write(task) and not any(map(self._is_edited, {task.path, *unit.reads})):
                cache.keep(replace(task, data=None), unit)
                caches[id(cache)] = cache
        for cache in caches.values():
            cache.save()
        self._caches.clear()

    def _cache(self, task: Task) -> ResultCache:
        where = _directory(task)
        if where not in self._caches:
            path, is_own = where
            self._caches[where] = ResultCache(CacheDirectory(path, version(), is_own=is_own), self._unsaved)
        return self._caches[where]

    def _may_write(self, task: Task) -> bool:
        path, is_own = _directory(task)
        return is_own or is_cache(path) or not set(self._folders).isdisjoint((path, *path.parents))

    def _is_edited(self, path: Path) -> bool:
        """Whether a file is open and holds something else on the disk."""
        held = self._unsaved.get(path)
        try:
            return held is not None and held != read(path).data
        except SourceError:
            return True


def _directory(task: Task) -> tuple[Path, bool]:
    """Where the results of a file are, and whether the user names that place, and not a file of the project."""
    named = named_directory(Path.cwd())
    return (task.settings.cache_dir, False) if named is None else (named, True)
