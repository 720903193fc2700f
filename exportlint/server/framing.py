"""Messages on a stream, also where their headers are not as pygls wants them."""

from __future__ import annotations

import os
import re
from typing import BinaryIO

_LENGTH = re.compile(rb"content-length:[ \t]*0*([0-9]+)[ \t]*\r?\n\Z", re.IGNORECASE)
_MAX_DIGITS = 9


class Framed:
    """A stream as pygls reads it, each `Content-Length` in the one spelling that it knows.

    After a header that is wrong, messages are found again at the next one that is right, though it stands right behind
    a body and so not at the start of a line.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        """One line of a header."""
        line = self._stream.readline()
        found = _LENGTH.search(line)
        if found is None:
            return line
        return b"Content-Length: %b\r\n" % found[1] if len(found[1]) <= _MAX_DIGITS else b"\r\n"

    def read(self, count: int) -> bytes:
        """A body; nothing if the stream ends before it does."""
        body = self._stream.read(count)
        return body if len(body) == count else b""


class Outlet:
    """A stream to a client. Once nobody reads on, there is nothing left to do, and the process ends with 1."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        """Send all of it; nothing once it is closed, because what is cancelled at the end is answered all the same."""
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
