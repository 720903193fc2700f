"""The directory of a cache: its files, each written as a whole and signed, and how it stays small."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from hashlib import blake2b
from pathlib import Path

from exportlint.source import read_bounded

VARIABLE = "EXPORTLINT_CACHE_DIR"
"""The variable of the environment that names the directory of the cache."""

_TAG = "CACHEDIR.TAG"
_TAG_TEXT = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n"
    b"# This file is a cache directory tag created by exportlint.\n"
    b"# For information about cache directory tags see https://bford.info/cachedir/\n"
)
_KEY = "key"
_KEY_BYTES = 32
_MAX_FILE = 256 * 2**20
"""Bytes of a file of the cache that is read at all."""
_MAX_FILES = 20_000
_MAX_BYTES = 2**30
_MAX_VERSIONS = 3
_MAX_AGE = 30 * 24 * 3600
"""Seconds for which a file is kept that nobody uses."""
_USED = 24 * 3600
"""Seconds after which a use is noted again."""


class CacheError(Exception):
    """A directory cannot be used as a cache. Its text is one line that says why."""


class CacheDirectory:
    """Signed files of one version of exportlint, by name.

    A file is believed only if it is signed with the key of this user, so what a stranger's repository brings along is
    not. The key of a directory that the user names, which `is_own` says, lies in it; others are signed with one that
    lies where the user's caches are. `problems` are why something could not be kept, in one line each.
    """

    def __init__(self, path: Path, version: str, *, is_own: bool = False) -> None:
        self.path = path
        self.problems: list[str] = []
        self._folder = path / version
        self._key_file = path / _KEY if is_own else user_directory() / _KEY
        self._is_own = is_own
        self._key: bytes | None = None
        self._is_ready = False

    def read(self, name: str) -> bytes | None:
        """What a file holds that this user wrote; None if there is no such file."""
        file = self._folder / name
        try:
            if not self._is_own and self.path.is_symlink():
                return None
            data = read_bounded(file, _MAX_FILE)
            key = self._read_key()
            now = time.time()
            if file.stat().st_mtime < now - _USED:
                os.utime(file)
        except OSError:
            return None
        signature, _, content = data.partition(b"\n")
        if key is None or signature != _signature(key, name, content):
            return None
        return content

    def write(self, name: str, content: bytes) -> None:
        """Keep something under a name, if that is possible."""
        try:
            self._prepare()
            key = self._read_key() or self._make_key()
            _replace(self._folder / name, _signature(key, name, content) + b"\n" + content)
        except OSError as error:
            self._note(error)
        except CacheError as error:
            self.problems.append(str(error))

    def prune(self) -> None:
        """Drop what is old, or too much."""
        with contextlib.suppress(OSError):
            folders = [entry for entry in os.scandir(self.path) if entry.is_dir(follow_symlinks=False)]
            others = sorted((e for e in folders if e.path != str(self._folder)), key=lambda e: e.stat().st_mtime)
            for entry in others[: -(_MAX_VERSIONS - 1)]:
                import shutil

                shutil.rmtree(entry.path, ignore_errors=True)
        with contextlib.suppress(OSError):
            found = [(entry.stat().st_mtime, entry.stat().st_size, entry.path) for entry in os.scandir(self._folder)]
            oldest, count, size = time.time() - _MAX_AGE, 0, 0
            for used, length, path in sorted(found, reverse=True):
                count, size = count + 1, size + length
                if used < oldest or count > _MAX_FILES or size > _MAX_BYTES:
                    os.unlink(path)  # noqa: PTH108

    def _prepare(self) -> None:
        """Have the directory be there, marked as one that nobody needs to keep."""
        if self._is_ready:
            return
        if not self._is_own and self.path.is_symlink():
            raise CacheError(f"{self.path} is a symbolic link, which is not followed")
        try:
            self.path.mkdir(parents=True)
            is_new = True
        except FileExistsError:
            is_new = not any(os.scandir(self.path))
        if is_new:
            _replace(self.path / _TAG, _TAG_TEXT)
            _replace(self.path / ".gitignore", b"# Automatically created by exportlint.\n*\n")
        elif not is_cache(self.path):
            raise CacheError(f"{self.path} holds other files: name a directory for the cache alone")
        self._folder.mkdir(exist_ok=True)
        self._is_ready = True

    def _read_key(self) -> bytes | None:
        if self._key is None:
            with contextlib.suppress(OSError):
                status = self._key_file.stat()
                is_safe = sys.platform == "win32" or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)
                key = read_bounded(self._key_file, _KEY_BYTES)
                self._key = key if is_safe and len(key) == _KEY_BYTES else None
        return self._key

    def _make_key(self) -> bytes:
        """A new key, unless another process makes one at the same time: then that."""
        self._key_file.parent.mkdir(parents=True, exist_ok=True)
        key = os.urandom(_KEY_BYTES)
        temporary = self._key_file.with_name(f".{_KEY}.{os.getpid()}.{os.urandom(4).hex()}")
        try:
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123
                file.write(key)
            try:
                os.link(temporary, self._key_file)
            except FileExistsError:
                known = self._read_key()
                if known is not None:
                    return known
                temporary.replace(self._key_file)
            except OSError:  # a file system without links
                temporary.replace(self._key_file)
        finally:
            temporary.unlink(missing_ok=True)
        self._key = key
        return key

    def _note(self, error: OSError) -> None:
        self.problems.append(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")


def named_directory(cwd: Path) -> Path | None:
    """The directory that the user names by the environment, relative to `cwd`."""
    named = os.environ.get(VARIABLE)
    return Path(os.path.normpath(cwd / named)) if named else None


def is_cache(path: Path) -> bool:
    """Whether a directory was made by exportlint to keep results in."""
    try:
        return read_bounded(path / _TAG, len(_TAG_TEXT)) == _TAG_TEXT
    except OSError:
        return False


def clean(path: Path) -> bool:
    """Remove the directory of a cache. Returns whether there was one.

    Raises:
        CacheError: it is not a cache, or cannot be removed.
    """
    try:
        kind = path.lstat().st_mode
    except FileNotFoundError:
        return False
    except OSError as error:
        raise CacheError(f"{path} cannot be removed: {error.strerror or error}") from None
    if not stat.S_ISDIR(kind) or not is_cache(path):
        raise CacheError(f"{path} is not a cache of exportlint: nothing is removed")
    import shutil

    try:
        shutil.rmtree(path)
    except OSError as error:
        raise CacheError(f"{error.filename or path} cannot be removed: {error.strerror or error}") from None
    return True


def user_directory() -> Path:
    """Where exportlint keeps what is of this user, for all projects."""
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises where there is none
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")  # noqa: PTH118
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Caches")  # noqa: PTH118
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")  # noqa: PTH118
    return Path(base, "exportlint")


def _signature(key: bytes, name: str, content: bytes) -> bytes:
    digest = blake2b(name.encode() + b"\0", key=key, digest_size=32)
    digest.update(content)
    return digest.hexdigest().encode()


def _replace(file: Path, data: bytes) -> None:
    """Make `data` what a file holds, whatever happens meanwhile. Raises OSError."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
