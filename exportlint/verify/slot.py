"""Where one job after the other is done, whatever becomes of the process that does it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exportlint.verify import ends
from exportlint.verify.process import FORKS, Process, StartError
from exportlint.verify.protocol import End
from exportlint.verify.warm import Warmth

START_TIMEOUT = 180.0
"""Seconds in which Python has to start and to import torch, which from a slow disk takes long."""

_GRACE = 0.3
"""Seconds after the end of its time in which a job says where it is."""

_PATIENCE = 5.0
"""Seconds in which a worker kills a job. After that it is killed itself."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended, after how many seconds, and what it printed."""

    end: End
    seconds: float
    output: str


class Slot:
    """Has jobs done by a worker, and by another one if that dies. Each of `run` and `close` may be in a thread."""

    def __init__(
        self,
        python: Path,
        *,
        forks: bool = FORKS,
        threads: int | None = None,
        start_timeout: float = START_TIMEOUT,
        warmth: Warmth | None = None,
    ) -> None:
        """`threads` is how many torch calculates with; `start_timeout` in seconds; `warmth` where workers wait."""
        self._warmth = warmth
        self._python = python
        self._forks = forks
        self._threads = threads
        self._start_timeout = start_timeout
        self._process: Process | None = None
        self._unusable: str | None = None
        self._is_closed = False
        self._lock = threading.Lock()

    def close(self) -> None:
        """Kill what runs. `run` then returns that it was cancelled, also if it is called later."""
        with self._lock:
            self._is_closed = True
            process = self._process
        if process:
            process.kill()

    def run(self, job: Mapping[str, Any], take: Callable[[Mapping[str, Any]], None]) -> Outcome:
        """Do a job, and give `take` what it says meanwhile.

        Raises:
            StartError: there is no worker to be had; and neither later.
        """
        if self._unusable is not None:
            raise StartError(self._unusable)
        try:
            process = self._started()
        except StartError as error:
            if self._is_closed:
                return _CANCELLED
            self._unusable = f"`{self._python}` cannot be used: {error}"
            raise StartError(self._unusable) from None
        if process is None:
            return _CANCELLED
        follower = _Follower(process, job)
        follower.follow(take)
        if follower.lost:
            self._process = None
            process.kill()  # what it may have left behind, which may hold the output open
        output = process.output()
        end = End("cancelled") if self._is_closed else follower.end(output)
        return Outcome(end, follower.seconds, output)

    def _started(self) -> Process | None:
        """The process, which is started if there is none; None if there shall be none any more."""
        with self._lock:
            if self._is_closed:
                return None
            if self._process:
                return self._process
        # Without the lock: it may wait for a worker, which `close` must be able to end.
        process = Process(
            self._python,
            forks=self._forks,
            threads=self._threads,
            warmth=self._warmth,
            is_cancelled=lambda: self._is_closed,
        )
        with self._lock:
            if not self._is_closed:
                self._process = process
        if self._process is None:
            process.kill()
            return None
        try:
            process.wait_until_ready(self._start_timeout)
        except StartError:
            self._process = None
            if self._warmth is None or self._is_closed:
                raise
            self._warmth = None  # one that waited may have ended just then, or been ended
            return self._started()
        return process


class _Follower:
    """Follows a job to its end, which it brings about when the time is up."""

    def __init__(self, process: Process, job: Mapping[str, Any]) -> None:
        self.lost = False
        """Whether the process ended with the job."""
        self.seconds = 0.0
        self._process = process
        self._job = job
        self._is_done = False
        self._is_late = False
        self._crowded = False
        self._code = 0
        self._killed = 0

    def follow(self, take: Callable[[Mapping[str, Any]], None]) -> None:
        self._killed = ends.kills_for_memory()
        self._process.send(self._job)
        began, deadline = time.monotonic(), None
        while True:
            try:
                event = self._process.next(deadline)
            except TimeoutError:
                self._stop()
                deadline = time.monotonic() + _PATIENCE
                continue
            if event is None:
                self._code, self.lost = self._process.exit_code(), True
                break
            if event.get("id") != self._job["id"]:
                continue
            if "ended" in event:
                self._code, self._crowded = event["ended"], event["crowded"]
                break
            if event.get("stage") == "start":
                began = time.monotonic()
                deadline = began + self._job["timeout"] + _GRACE
            self._is_done = self._is_done or event.get("stage") == "done"
            take(event)
        self.seconds = time.monotonic() - began

    def _stop(self) -> None:
        if self._process.forks and not self._is_late:
            self._process.send({"kill": self._job["id"]})
        else:
            self._process.kill()
        self._is_late = True

    def end(self, output: str) -> End:
        if self._is_done:
            return End("finished")
        at = ends.where(output, [self._job["root"], *self._job["paths"]])
        if self._is_late:
            return End("timed out", ", ".join(filter(None, (f"after {self._job['timeout']:g} s", at))))
        starved = ends.kills_for_memory() > self._killed
        memory = self._job["memory"]
        return ends.of_exit(self._code, output, at, crowded=self._crowded, starved=starved, memory=memory)


_CANCELLED = Outcome(End("cancelled"), 0.0, "")
