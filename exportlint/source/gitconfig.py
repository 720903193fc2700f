"""Where a git repository keeps what it ignores, as its configuration says. git itself is not run.

Read are the configurations of the system, of the user and of the repository; the files that they `include` are not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from exportlint.source.bounded import read_bounded

_MAX_BYTES = 1 << 22
_SECTION = re.compile(r"\s*\[\s*([\w.-]+)\s*(\"(?:\\.|[^\"\\])*\")?\s*\]")
_SETTING = re.compile(r"\s*([A-Za-z][\w-]*)[ \t]*=[ \t]*((?:\"(?:\\[\s\S]|[^\"\\])*\"|\\[\s\S]|[^\"\\\n#;])*)")
_VALUE = re.compile(r"\"((?:\\[\s\S]|[^\"\\])*)\"|((?:\\[\s\S]|[^\"\\])+)")
_ESCAPE = re.compile(r"\\([\s\S])")
_ESCAPED = {"n": "\n", "t": "\t", "b": "\b", "\n": ""}


def is_repository(directory: Path) -> bool:
    """Whether a directory has a `.git`, which is a file in linked worktrees and submodules."""
    try:
        return (directory / ".git").exists()
    except OSError:  # a parent that may be passed through but not looked into
        return False


def exclude_files(directory: Path) -> tuple[Path, Path | None]:
    """The files with the patterns of a repository itself, and of the user: `info/exclude`, `core.excludesFile`."""
    git = _git_directory(directory)
    common = git / (_line(git / "commondir") or ".")
    return common / "info" / "exclude", _excludes_file(directory, common / "config")


def _git_directory(directory: Path) -> Path:
    git = directory / ".git"
    return directory / (_line(git) or "").removeprefix("gitdir:").strip() if _is_file(git) else git


def _excludes_file(directory: Path, config: Path) -> Path | None:
    home = Path("~").expanduser()
    user = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    files = [user / "config", home / ".gitconfig"]
    if (instead := os.environ.get("GIT_CONFIG_GLOBAL")) is not None:
        files = [Path(instead)]
    if os.environ.get("GIT_CONFIG_NOSYSTEM", "0") in ("", "0", "false", "no", "off"):
        files.insert(0, Path(os.environ.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig"))
    named = [value for file in (*files, config) for value in _values(file, "core", "excludesfile")]
    if not named:
        return user / "ignore"
    try:
        return directory / Path(named[-1]).expanduser() if named[-1] else None
    except RuntimeError:  # `~name` of nobody
        return None


def _values(file: Path, section: str, key: str) -> Iterator[str]:
    """What a configuration file sets a key to, in order."""
    text = _text(file) or ""
    inside, at = False, 0
    while at < len(text):
        if heading := _SECTION.match(text, at):
            inside = heading[1].lower() == section and heading[2] is None
            at = heading.end()
        elif setting := _SETTING.match(text, at):
            if inside and setting[1].lower() == key:
                yield _unquoted(setting[2])
            at = _end_of_line(text, setting.end())
        else:
            at = _end_of_line(text, at)


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _unquoted(value: str) -> str:
    parts = (match[1] if match[1] is not None else match[2] for match in _VALUE.finditer(value.rstrip()))
    return "".join(_ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), part) for part in parts)


def _line(file: Path) -> str | None:
    text = _text(file)
    return None if text is None else text.strip()


def _text(file: Path) -> str | None:
    try:
        return read_bounded(file, _MAX_BYTES).decode("utf-8-sig", errors="surrogateescape")
    except OSError:
        return None


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 - `Path.is_file` raises where the directory may not be looked into
