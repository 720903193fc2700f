"""Where text goes: standard output, standard error or a file, whatever they can show."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO


class UsageError(Exception):
    """The command line cannot be obeyed. Its text is one line that says what to do instead."""


def write(text: str, stream: TextIO | None = None) -> None:
    """Write to standard output or `stream`. Says nothing if nobody reads on, and escapes what it cannot encode."""
    out = sys.stdout if stream is None else stream

    def put() -> None:
        try:
            out.write(text)
        except UnicodeEncodeError as error:
            out.write(text.encode(error.encoding, "backslashreplace").decode(error.encoding))

    _to_whoever_reads(out, put)


def write_bytes(data: bytes) -> None:
    """Write to standard output what must come out as it is."""
    out = sys.stdout
    _to_whoever_reads(out, lambda: out.buffer.write(data))


def _to_whoever_reads(stream: TextIO, put: Callable[[], object]) -> None:
    try:
        put()
        stream.flush()
    except OSError as error:
        # What is still buffered must not raise again when the interpreter flushes it at its end.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise


def write_file(text: str, file: Path) -> None:
    """Write a report to a file, as a whole or not at all, making its directory.

    Raises:
        UsageError: that is not possible.
    """
    from exportlint import atomic

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(file, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror or error}") from None


def warn(message: str) -> None:
    """Tell the user something that changes no result."""
    _say("warning", message)


def fail(message: str) -> None:
    """Tell the user why there is no result."""
    _say("error", message)


def _say(kind: str, message: str) -> None:
    from exportlint.report.context import printable

    write(f"{kind}: {printable(message)}\n", sys.stderr)


def width_of(stream: TextIO) -> int | None:
    """The number of columns of the terminal that shows a stream, or COLUMNS if that is set; None without a terminal."""
    import shutil

    return shutil.get_terminal_size().columns if stream.isatty() else None


def wants_color(choice: str, stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether to colour what goes to `stream`.

    `choice` is `always`, `never` or `auto`. With `auto` a terminal gets colour, unless NO_COLOR is set or TERM is
    `dumb`; FORCE_COLOR and CLICOLOR_FORCE ask for colour elsewhere too, and CLICOLOR=0 for none.
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "") not in ("", "0") or environment.get("CLICOLOR_FORCE", "") not in ("", "0"):
        return True
    if environment.get("CLICOLOR") == "0" or environment.get("TERM") == "dumb":
        return False
    return stream.isatty()
