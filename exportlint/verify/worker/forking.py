"""Does each job in a forked process of its own, and leaves nothing of it behind."""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import time
import warnings
from collections.abc import Iterator
from typing import Any

from .streams import Commands, Events
from .system import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, control, text_of_file
from .words import Job
from .work import work_on

_CROWD = 250
"""How many processes of a job may live at a time, whoever started them."""


_LOOK = 0.5
"""How often these are counted, in seconds."""


class Forking:
    """Has each job done by a forked process, and sees to it that nothing of a job lives longer than that."""

    def __init__(self, commands: Commands, events: Events) -> None:
        self._commands = commands
        self._events = events
        self._job: Job | None = None
        self._child = 0
        self._code: int | None = None
        self._crowded = False
        self._woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        control(PR_SET_CHILD_SUBREAPER, 1)

    def serve(self) -> None:
        """Work until the parent is gone."""
        while True:
            ready, _, _ = select.select([self._commands.descriptor, self._woken], [], [], _LOOK if self._job else None)
            if self._woken in ready:
                os.read(self._woken, 1 << 10)
                self._reap()
            if self._commands.descriptor in ready:
                commands = self._commands.read()
                if commands is None:
                    break
                for command in commands:
                    self._obey(command)
            elif not ready and self._job and len(below(os.getpid())) > _CROWD:
                self._crowded = True
                self._kill()
        self._kill()
        self._clear()
        os._exit(0)  # taking torch down takes half a second

    def _obey(self, command: dict[str, Any]) -> None:
        if "kill" not in command:
            self._start(command)
        elif self._job and command["kill"] == self._job["id"]:
            self._kill()

    def _start(self, job: Job) -> None:
        self._job, self._code, self._crowded = job, None, False
        gc.freeze()  # what torch has made is not looked at again and again, nor copied by that
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of 3.12: that a process with threads is forked
            self._child = os.fork()
        if self._child:
            return
        try:
            control(PR_SET_PDEATHSIG, signal.SIGKILL)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            for descriptor in (self._commands.descriptor, self._woken):
                os.close(descriptor)
            work_on(job, self._events)
        finally:
            os._exit(1)

    def _kill(self) -> None:
        if not self._job:
            return
        for kill in (os.killpg, os.kill):  # a shell's bomb dies only all at once; the other is for a moved leader
            with contextlib.suppress(OSError):
                kill(self._child, signal.SIGKILL)

    def _reap(self) -> None:
        """Take note of what has ended; with the job's process ends the job."""
        for pid, code in reaped():
            if pid == self._child and self._job:
                self._code = code
        if self._job and self._code is not None:
            self._kill()
            self._clear()
            os.write(2, mark(self._job["id"]))
            self._events.send({"id": self._job["id"], "ended": self._code, "crowded": self._crowded})
            self._job = None

    def _clear(self) -> None:
        """Kill what is left of a job. What lost its parent has come to be a child of this process, in any session."""
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid:
                continue
            for orphan in below(os.getpid()):
                with contextlib.suppress(OSError):
                    os.kill(orphan, signal.SIGKILL)
            time.sleep(0.001)


def mark(identity: int) -> bytes:
    """What stands in standard error behind all that a job has printed."""
    return b"\0%d\0" % identity


def reaped() -> Iterator[tuple[int, int]]:
    """The children that have ended since this was last asked, each with its exit code."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        yield pid, os.waitstatus_to_exitcode(status)


def below(ancestor: int) -> list[int]:
    """The processes that descend from one, which has to be alive."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):  # paths take three times as long
        if name.isdigit():
            # The name of the program, in parentheses, may hold anything.
            fields = text_of_file(f"/proc/{name}/stat").rpartition(")")[2].split()
            if fields:
                parents[int(name)] = int(fields[1])
    found = [ancestor]
    for parent in found:
        found += [pid for pid, its in parents.items() if its == parent]
    return found[1:]
