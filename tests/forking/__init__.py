"""A Python that has imported exportlint already, for the tests start hundreds of processes of it.

`[*python(), "-m", "exportlint", ...]` does what `[sys.executable, "-m", "exportlint", ...]` does: see `server`.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

_HERE = Path(__file__).parent


def python() -> list[str]:
    """A command that takes `-m MODULE ARGUMENT...` or `-c PROGRAM ARGUMENT...`; Python itself where no system forks."""
    if not hasattr(os, "fork"):
        return [sys.executable]
    return [sys.executable, "-I", "-S", str(_HERE / "client.py"), _server().socket]


@functools.cache
def _server() -> _Server:
    return _Server()


class _Server:
    """A fork server that ends with this process, and leaves nothing behind."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="exportlint-")  # below pytest's the path may be too long
        self.socket = str(Path(self._folder.name) / "socket")
        command = [sys.executable, str(_HERE / "server.py"), self.socket]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"
