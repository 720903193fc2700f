"""The token that a client has to show over TCP."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import MutableMapping
from pathlib import Path

VARIABLE = "EXPORTLINT_SERVER_TOKEN"
"""The environment variable in which an editor that starts the server can hand it a token."""

_TOKEN = re.compile(r"[\x21-\x7e]{16,1024}")
_MAX_BYTES = 4096


class TokenError(Exception):
    """The token that the user names cannot be used; the message says why, in one line."""


def given(file: Path | None, environment: MutableMapping[str, str] = os.environ) -> str | None:
    """The token of `file` or of the environment, or None if nobody gives one.

    It is taken out of the environment, so that no program that is started gets to know it.

    Raises:
        TokenError: it cannot be read, others can read it, or it is too short.
    """
    in_environment = environment.pop(VARIABLE, None)
    if file is not None:
        return _checked(_content(file), f"--token-file `{file}`")
    return None if in_environment is None else _checked(in_environment, VARIABLE)


def fresh() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(32)


def _content(file: Path) -> str:
    try:
        handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        with os.fdopen(handle, "rb") as stream:
            mode = os.fstat(handle).st_mode
            if not stat.S_ISREG(mode):
                raise TokenError(f"--token-file `{file}`: not a regular file")
            if os.name != "nt" and mode & 0o077:
                raise TokenError(f"--token-file `{file}`: others can read it, run `chmod 600` on it")
            return stream.read(_MAX_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise TokenError(f"--token-file `{file}`: {error.strerror or error}") from None


def _checked(text: str, origin: str) -> str:
    token = text.strip()
    if not _TOKEN.fullmatch(token):
        raise TokenError(f"{origin}: expected a token of 16 to 1024 printable ASCII characters without spaces")
    return token
