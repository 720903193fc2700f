"""What the server writes about its own doings: to standard error, or to a file that the command line names."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path
from typing import TextIO

from exportlint.report.context import printable

_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"

_MARK = "# log of exportlint server\n"
"""The first line of a log, by which another run knows that it may write to the file."""


class LogFileError(Exception):
    """A file cannot be the log; the message says why, in one line."""


class _Lines(logging.Formatter):
    """A record on one line, and below it, set in, the lines of its traceback; nothing in them that a terminal obeys."""

    def format(self, record: logging.LogRecord) -> str:
        record = logging.makeLogRecord({**record.__dict__, "msg": printable(record.getMessage()), "args": None})
        # A traceback quotes what others wrote, which must not look like the next record.
        first, *more = super().format(record).split("\n")
        return "\n".join([first, *(f"    {printable(line)}" for line in more)])


def open_log(path: Path) -> TextIO:
    """Create a log that only its owner can read, or go on with one that exportlint wrote before.

    Raises:
        LogFileError: that is not possible, or the file is not a log of ours: it is left as it is.
    """
    flags = os.O_RDWR | os.O_APPEND
    # No link is followed, no pipe waited for, and no child process inherits it.
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        try:
            handle = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            handle = _reopened(path, flags)
        else:
            os.write(handle, _MARK.encode())
    except OSError as error:
        raise LogFileError(f"{error.strerror or error}") from None
    return os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace", buffering=1)


def _reopened(path: Path, flags: int) -> int:
    handle = -1
    is_ours = False
    try:
        if not path.is_symlink():  # where the system has no flag for that
            handle = os.open(path, flags)
            status = os.fstat(handle)
            is_alone = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
            is_ours = is_alone and _is_mine(status) and os.read(handle, len(_MARK)) == _MARK.encode()
    finally:
        if handle >= 0 and not is_ours:
            os.close(handle)
    if not is_ours:
        raise LogFileError("the file exists and is not an exportlint log; name another file")
    return handle


def _is_mine(status: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def start(stream: TextIO | None = None) -> None:
    """Log to `stream`, by default to standard error."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_Lines(_FORMAT))
    logging.basicConfig(handlers=[handler], force=True)
    set_level("warning")


def set_level(level: str) -> None:
    """Log messages of a level and graver ones."""
    number = _LEVELS[level]
    logging.getLogger().setLevel(number)
    # Every message with its contents is pygls' idea of `info`.
    logging.getLogger("pygls").setLevel(number if number == logging.DEBUG else max(number, logging.WARNING))
