"""Messages on a stream, also where their headers are not as pygls wants them."""

from __future__ import annotations

import re
from typing import BinaryIO

_LENGTH = re.compile(rb"content-length:[ \t]*([0-9]{1,10})[ \t]*\r?\n\Z", re.IGNORECASE)
_MAX_LENGTH = 2**30


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
        length = int(found[1])
        return b"Content-Length: %d\r\n" % length if length <= _MAX_LENGTH else b"\r\n"

    def read(self, count: int) -> bytes:
        """A body; less of it if the stream ends."""
        return self._stream.read(count)
