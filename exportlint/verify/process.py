"""One worker: a process of the project's Python that does one job after the other, and what it says of them."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from exportlint.verify import worker
from exportlint.verify.family import Family
from exportlint.verify.output import Output
from exportlint.verify.warm import WarmHost, Warmth, connect
from exportlint.verify.worker.forking import mark

_SCRIPT = Path(worker.__file__).parent

FORKS = sys.platform == "linux"
"""Whether a process can import torch once for many jobs."""

_PATIENCE_OF_SOCKETS = 30.0
"""Seconds in which a worker that is to wait for runs has to listen, which it does before it imports torch."""

_PATIENCE = 2.0
"""Seconds that something may take which should take none."""


class StartError(Exception):
    """No worker can be had with this Python; the message says why, in one line."""


class Process:
    """A worker that has been started."""

    def __init__(
        self,
        python: Path,
        *,
        forks: bool = FORKS,
        threads: int | None = None,
        warmth: Warmth | None = None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        """Start it. `threads` is how many torch is to calculate with, where the environment does not say.

        With `warmth`, it is forked by a worker that waits for that, if there is one or can be. Starting that one ends
        when `is_cancelled`.

        Raises:
            StartError: the system cannot run it, or it was cancelled.
        """
        self.forks = forks
        environment = dict(os.environ)
        if threads is not None:
            environment.setdefault("OMP_NUM_THREADS", str(threads))
        self._family: Family | WarmHost
        found = connect(warmth, environment, _PATIENCE_OF_SOCKETS, is_cancelled) if warmth and forks else None
        if found is None and is_cancelled():
            raise StartError("it was cancelled")
        try:
            self._family = found or Family([python, _SCRIPT, *(["--fork"] if forks else [])], environment)
        except OSError as error:
            raise StartError(f"it cannot be run: {error.strerror or error}") from None
        self._events: queue.SimpleQueue[Mapping[str, Any] | None] = queue.SimpleQueue()
        self._printed: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._mark = b""
        self._is_ready = False
        for read in (self._read_events, self._read_output):
            threading.Thread(target=read, name="exportlint-worker", daemon=True).start()

    def wait_until_ready(self, seconds: float) -> None:
        """Wait until it takes jobs.

        Raises:
            StartError: it does not, and has ended.
        """
        try:
            event = self.next(time.monotonic() + seconds)
        except TimeoutError:
            self.kill()
            raise StartError(f"it has not answered within {seconds:g} seconds") from None
        if event and "ready" in event:
            self._is_ready = True
            if isinstance(self._family, WarmHost):
                self._family.pid = event["pid"]
            return
        self.kill()
        if event and "unusable" in event:
            raise StartError(str(event["unusable"]))
        last = next(filter(None, map(str.strip, reversed(self.output().splitlines()))), "")
        said = f"it says `{last}`" if last else f"it ended with exit code {self.exit_code()}"
        raise StartError(f"it is not a Python that can run exportlint's worker: {said}")

    def send(self, command: Mapping[str, Any]) -> None:
        """Give it a job, or have it kill one. If it is gone, that is seen by what it says."""
        if "id" in command:
            self._mark = mark(command["id"])
        assert self._family.process.stdin
        with contextlib.suppress(OSError, ValueError):
            self._family.process.stdin.write(json.dumps(command).encode() + b"\n")
            self._family.process.stdin.flush()

    def next(self, until: float | None = None) -> Mapping[str, Any] | None:
        """The next event; None if there will be none any more.

        Raises:
            TimeoutError: it is `until` (in the time of `time.monotonic`), and there was none.
        """
        try:
            return self._events.get(timeout=None if until is None else max(0.0, until - time.monotonic()))
        except queue.Empty:
            raise TimeoutError from None

    def output(self) -> str:
        """What was printed since this was last asked. To be called once the job, or the process, has ended."""
        with contextlib.suppress(queue.Empty):
            return self._printed.get(timeout=_PATIENCE)
        return ""

    def exit_code(self) -> int:
        """The exit code, negative for a signal, of a process that says nothing any more."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._family.process.wait(_PATIENCE)
        return 0

    def kill(self) -> None:
        """Kill it with all that it has started. May be called from any thread, and more than once."""
        self._family.kill(_PATIENCE if self._is_ready and self.forks else 0)

    def _read_events(self) -> None:
        assert self._family.process.stdout
        with self._family.process.stdout as stream:
            for line in filter(bytes.strip, stream):
                with contextlib.suppress(ValueError):
                    event = json.loads(line)
                    self._events.put(event if isinstance(event, dict) else {})
        self._events.put(None)

    def _read_output(self) -> None:
        assert self._family.process.stderr
        output = Output()
        with self._family.process.stderr as stream:
            while data := os.read(stream.fileno(), 1 << 16):
                output.feed(data)
                if self._mark and output.ends_with(self._mark):
                    self._printed.put(output.take(self._mark))
        self._printed.put(output.take())
