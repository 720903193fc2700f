"""What comes in and what goes out."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

CLOSED = 113
"""The exit code of a process whose user code has closed what events are written to."""


class Commands:
    """Lines of JSON from the parent, the end of which means that the parent is gone or wants no more."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._rest = b""

    def read(self) -> list[dict[str, Any]] | None:
        """The lines that came in, after waiting for some if there are none; None at the end."""
        data = os.read(self.descriptor, 1 << 16)
        if not data:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines]


class Events:
    """Lines of JSON to the parent."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._pipe = self._identity()

    def _identity(self) -> tuple[int, int]:
        status = os.fstat(self.descriptor)
        return status.st_dev, status.st_ino

    def send(self, event: Mapping[str, Any]) -> None:
        """Tell the parent. Ends the process if the descriptor was closed, and perhaps is a file of the user's now."""
        # The line before may be half a one, of a process that was killed while it wrote.
        data = f"\n{json.dumps(event, default=str)}\n".encode()
        try:
            if self._identity() != self._pipe:
                os._exit(CLOSED)
            while data:
                data = data[os.write(self.descriptor, data) :]
        except OSError:
            os._exit(CLOSED)
