"""Reads messages from a stream, also those whose headers pygls does not accept."""

from __future__ import annotations

import io
import logging
import os
import re
from typing import BinaryIO

log = logging.getLogger(__name__)

MAX_LENGTH = 1 << 28
"""The most bytes of a body: 256 MiB."""

MAX_LINE = 1024
"""The most bytes of a header line."""

_MAX_LINES = 8
_PIECE = 1 << 20

_LENGTH = re.compile(rb"content-length:[ \t]*0*([0-9]+)[ \t]*\r?\n\Z", re.IGNORECASE)
_WHOLE_LENGTH = re.compile(rb"content-length:[ \t]*([0-9]{1,12})[ \t]*\r?\n", re.IGNORECASE)
_TYPE = re.compile(rb"content-type:[\t\x20-\x7e]*\r?\n", re.IGNORECASE)
_MAX_DIGITS = len(str(MAX_LENGTH))


class NotLspError(Exception):
    """The input is not an LSP message; the text says why, in one line."""


class Header:
    """The header of one message, line by line: a `Content-Length`, perhaps a `Content-Type`, and nothing else.

    HTTP has both fields too, so a web page's request could pass for a message if other lines were ignored.
    """

    def __init__(self) -> None:
        self.length: int | None = None
        self._lines = 0

    def take(self, line: bytes) -> bool:
        """Take the next line, including its line end. Returns whether the header is complete.

        Raises:
            NotLspError: the line is not allowed in an LSP header.
        """
        self._lines += 1
        if line in (b"\r\n", b"\n"):
            if self.length is None:
                raise NotLspError("the header has no Content-Length")
            return True
        if self._lines > _MAX_LINES:
            raise NotLspError("the header is too long")
        found = _WHOLE_LENGTH.fullmatch(line)
        if found is not None:
            if self.length is not None or not 0 < int(found[1]) <= MAX_LENGTH:
                raise NotLspError(f"the header's Content-Length is given twice or not between 1 and {MAX_LENGTH}")
            self.length = int(found[1])
        elif not _TYPE.fullmatch(line):
            raise NotLspError(f"{line[:80]!r} is not a line of an LSP header")
        return False


def first_body(data: bytes, most: int) -> bytes | None:
    """The body of the message that `data` begins with; None if more bytes have to come. It has `most` bytes at most.

    Raises:
        NotLspError: `data` does not begin with a message.
    """
    stream, header = io.BytesIO(data), Header()
    while True:
        line = stream.readline(MAX_LINE)
        if not line.endswith(b"\n"):
            if len(line) == MAX_LINE:
                raise NotLspError("a line of the header is too long")
            return None
        if header.take(line):
            break
    assert header.length is not None
    if header.length > most:
        raise NotLspError(f"the first message has {header.length} bytes, {most} are allowed")
    body = stream.read(header.length)
    return body if len(body) == header.length else None


class Framed:
    """A stream for pygls, with each `Content-Length` in the only spelling that pygls accepts.

    After an invalid header, reading continues at the next valid one, which may follow a body directly, without a line
    break. With `strict`, for clients that are not trusted, the stream ends there instead.
    """

    def __init__(self, stream: BinaryIO, *, strict: bool = False) -> None:
        self._stream = stream
        self._strict = strict
        self._header = Header()

    def readline(self) -> bytes:
        """One line of a header."""
        line = self._stream.readline(MAX_LINE)
        return self._checked(line) if self._strict else self._mended(line)

    def _mended(self, line: bytes) -> bytes:
        # Of a line that does not end, the end is what a message may stand behind.
        while not line.endswith(b"\n") and (more := self._stream.readline(MAX_LINE)):
            line = (line + more)[-MAX_LINE:]
        found = _LENGTH.search(line)
        if found is None:
            return line
        is_readable = len(found[1]) <= _MAX_DIGITS and int(found[1]) <= MAX_LENGTH
        return b"Content-Length: %b\r\n" % found[1] if is_readable else b"\r\n"

    def _checked(self, line: bytes) -> bytes:
        try:
            if line and not line.endswith(b"\n"):
                raise NotLspError("a line of the header is too long or cut off")
            if not line or self._header.take(line):
                self._header = Header()
                return line
        except NotLspError as error:
            log.warning("closed the connection: %s", error)
            return b""
        found = _LENGTH.match(line)
        return line if found is None else b"Content-Length: %b\r\n" % found[1]

    def read(self, count: int) -> bytes:
        """A body of `count` bytes; empty if the stream ends early."""
        # In pieces: memory is taken for what has come, not for what a header promises.
        pieces, missing = [], count
        while missing and (piece := self._stream.read(min(missing, _PIECE))):
            pieces.append(piece)
            missing -= len(piece)
        return b"" if missing else b"".join(pieces)


class Outlet:
    """A stream to a client. If the client stops reading, the process exits with 1."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        """Send all data. Once closed, drop it: requests that are canceled at the end are still answered."""
        if self._stream.closed:
            return
        try:
            self._stream.write(data)
            self._stream.flush()
        except OSError:
            # The thread that reads the client's messages may be waiting for one for ever.
            os._exit(1)

    def flush(self) -> None:
        """Nothing: it is sent."""

    def close(self) -> None:
        """Send no more."""
        self._stream.close()
