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
_kept: list[subprocess.Popen[bytes]] = []


def python() -> list[str]:
    """A command that takes `-m MODULE ARGUMENT...` or `-c PROGRAM ARGUMENT...`; Python itself where no system forks."""
    if not hasattr(os, "fork"):
        return [sys.executable]
    return [sys.executable, "-I", "-S", str(_HERE / "client.py"), _server()]


@functools.cache
def _server() -> str:
    """The socket of a fork server that ends with this process."""
    path = str(Path(tempfile.mkdtemp(prefix="exportlint-")) / "socket")  # below pytest's folders it may be too long
    command = [sys.executable, str(_HERE / "server.py"), path]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    _kept.append(process)
    return path
