"""Something that is worked out in a process of its own, beside the rest."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from .lazily import torch
from .system import PR_SET_PDEATHSIG, control, own_processes
from .words import Emit


class Aside:
    """Something that is done meanwhile by a forked process, for the events it gives, as soon as this is made."""

    @staticmethod
    def is_possible() -> bool:
        """Whether there are several processors, and nothing here that a forked process would stumble over."""
        alone = threading.active_count() == 1 and not torch.cuda.is_initialized()
        return sys.platform == "linux" and alone and (os.cpu_count() or 1) > 1

    @staticmethod
    def is_faster() -> bool:
        """Whether a processor is idle. Else all takes longer aside than here, since memory is copied."""
        return os.getloadavg()[0] < (os.cpu_count() or 1)

    def __init__(self, work: Callable[[Emit], None]) -> None:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()  # else both write what is in there
        self._reading, writing = os.pipe()
        self._child = os.fork()
        if self._child:
            os.close(writing)
            return
        try:
            control(PR_SET_PDEATHSIG, signal.SIGKILL)
            own_processes.add(os.getpid())
            torch.set_num_threads(1)  # the other threads of torch are not forked
            events: list[Mapping[str, Any]] = []
            work(events.append)
            with open(writing, "wb") as stream:
                stream.write(json.dumps(events, default=str).encode() + b"\n")
        finally:
            os._exit(0)

    def events(self, until: float) -> list[dict[str, Any]] | None:
        """What it told, or None if it has ended without that, or is not done `until` then, or after long."""
        told = b""
        until = min(until, time.monotonic() + 60 + 3 * time.process_time())
        with open(self._reading, "rb", buffering=0) as stream:
            while select.select([stream], [], [], max(0.0, until - time.monotonic()))[0]:
                data = stream.read(1 << 16)
                told += data
                if not data or data.endswith(b"\n"):  # what the model has left running may hold the pipe open
                    break
        os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)
        try:
            found: list[dict[str, Any]] = json.loads(told)
        except ValueError:
            return None
        return found
