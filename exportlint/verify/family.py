"""A process with everything that it starts, which is killed as a whole."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

VARIABLE = "EXPORTLINT_FAMILY"
"""What all of a family have in their environment, with a value of its own."""

_UNKILLABLE = 5.0
"""Seconds after which what does not die is left to the system."""


class Family:
    """A process in a session of its own, whose three standard streams are `process.stdin` and so on."""

    def __init__(self, command: Sequence[str | Path], environment: Mapping[str, str]) -> None:
        """Start it.

        Raises:
            OSError: the system cannot.
        """
        self._value = secrets.token_hex(16)
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environment, VARIABLE: self._value},
            start_new_session=True,
        )

    def kill(self, patience: float = 0.0) -> None:
        """Kill it. May be called from any thread, and more than once.

        Its standard input ends first, and for `patience` seconds it may do what has to be done by itself. What there is
        then is found by its group, and on Linux by the environment, in whatever group and session it is.
        """
        process = self.process
        if process.stdin:
            with contextlib.suppress(OSError):
                process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
        if sys.platform == "win32":
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
        else:
            # The group outlives its leader, and its number is not given to others as long as there is one in it.
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
        end = time.monotonic() + _UNKILLABLE
        while (pids := self._members()) and time.monotonic() < end:
            for pid in pids:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_UNKILLABLE)

    def _members(self) -> list[int]:
        """The processes that live and started with the variable in their environment."""
        entry = f"{VARIABLE}={self._value}".encode()
        found = []
        for name in os.listdir("/proc") if sys.platform == "linux" else ():  # noqa: PTH208 - paths take longer
            if name.isdigit():
                with contextlib.suppress(OSError):
                    if entry in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                        found.append(int(name))
        return found
