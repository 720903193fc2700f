"""The hook of exportlint in the configuration of pre-commit."""

from __future__ import annotations

import re
from pathlib import Path

from exportlint import __version__
from exportlint.atomic import write
from exportlint.cli.output import UsageError
from exportlint.registry import HOME

HOOKS = ".pre-commit-config.yaml"
_ITEM = f"""\
- repo: {HOME}
  rev: v{__version__}
  hooks:
    - id: exportlint
"""
HOOK = "repos:\n" + re.sub("^", "  ", _ITEM.rstrip("\n"), flags=re.MULTILINE) + "\n"
"""A configuration with this hook alone."""

_OWN = re.compile(r"^[^#\n]*\bid:\s*[\"']?exportlint", re.MULTILINE)
_KEY = re.compile(r"[^\s#-][^#]*:(?:\s|$)")
_START = re.compile(r"( *)- ")


def has_hook(file: Path) -> bool:
    """Whether a configuration has a hook of exportlint."""
    try:
        return _OWN.search(file.read_text(encoding="utf-8", errors="replace")) is not None
    except OSError:
        return False


def add_hook(file: Path) -> str:
    """Add the hook unless it is there, and return what was done, in one line.

    Raises:
        UsageError: the file cannot be read or written, or its end cannot take another repository.
    """
    if has_hook(file):
        return f"{file.name} already has an exportlint hook and is left unchanged.\n"
    try:
        if file.exists():
            data = file.read_bytes()
            write(file, data + _addition(data.decode("utf-8")).encode())
        else:
            write(file, HOOK.encode())
    except UnicodeDecodeError:
        raise UsageError(f"{file.name}: not UTF-8: add the hook that `exportlint init` prints") from None
    except OSError as error:
        raise UsageError(f"{file.name}: cannot be written: {error.strerror or error}") from None
    return f"Added the hook `exportlint` to {file.name}.\n"


def _addition(before: str) -> str:
    """What to append to a configuration whose last key is a list of repositories in block style."""
    lines = before.splitlines()
    keys = [at for at, line in enumerate(lines) if _KEY.match(line)]
    below = lines[keys[-1] + 1 :] if keys else []
    starts = [match[1] for line in below if (match := _START.match(line))]
    ends = any(line.startswith(("...", "---")) for line in below)
    if not starts or ends or lines[keys[-1]].partition("#")[0].rstrip() != "repos:":
        raise UsageError(f"{HOOKS} does not end with a list of `repos:`: add the hook that `exportlint init` prints")
    newline = "\r\n" if "\r\n" in before else "\n"
    item = "".join(f"{starts[0]}{line}{newline}" for line in _ITEM.splitlines())
    return item if before.endswith("\n") else newline + item
