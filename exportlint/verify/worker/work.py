"""One job, in a process that is limited in what it may take."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .deletions import watch_deletions
from .examine import examine
from .failures import failure
from .streams import Commands, Events
from .system import memory_limit, own_processes, text_of_file
from .words import Job

_MOST_STARTED = 64
"""How many processes a model may start: loaders of data and calls of tools do not come near it."""


def serve_one(commands: Commands, events: Events) -> None:
    """Do the first job that comes, here."""
    lines: list[dict[str, Any]] | None = []
    while not lines:
        lines = commands.read()
        if lines is None:
            return
    threading.Thread(target=_end_with_parent, args=(commands,), daemon=True).start()
    work_on(lines[0], events)


def _end_with_parent(commands: Commands) -> None:
    while commands.read() is not None:
        pass
    if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def work_on(job: Job, events: Events) -> None:
    """Do a job in this process, which is good for nothing else then, and end it."""
    stage, owner = "start", os.getpid()

    def emit(event: Mapping[str, Any]) -> None:
        nonlocal stage
        if os.getpid() != owner:
            os._exit(0)  # user code has forked, and has not ended the child
        stage = event.get("stage", stage)
        if stage == "done":
            look_for_files()
        events.send({"id": job["id"], **event})

    def deleted(file: str) -> None:
        if os.getpid() == owner:
            events.send({"id": job["id"], "deleted": file})

    look_for_files = watch_deletions(job["root"], deleted)
    emit({"stage": stage})
    # Says where it hangs, to standard error, just before the parent ends it.
    faulthandler.enable(sys.__stderr__ or 2)
    faulthandler.dump_traceback_later(job["timeout"], file=sys.__stderr__ or 2)
    _limit_itself(job["memory"])
    _refuse_swarms()
    try:
        examine(job, emit)
    except BaseException as error:  # also SystemExit: nothing that user code raises ends the host
        emit({"failure": failure(error, stage, [])})
        emit({"stage": "done"})
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # user code may have closed or replaced it
            stream.flush()
    os._exit(0)  # without waiting for threads, and without what user code left to be run at exit


def _limit_itself(memory: int | None) -> None:
    """Leave this process so many bytes on top of what torch takes, half of the machine's if nothing is said."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "linux":
        return  # elsewhere there are such limits, and nothing enforces them
    limit = _taken() + (memory or _half_of_memory())
    shown = f"{(memory or _half_of_memory()) / 2**30:.3g} GiB"
    memory_limit.append(f"`memory` is {shown}" if memory else f"half of the machine's memory, {shown}, may be taken")
    # Not the address space, of which torch and CUDA reserve more than they take.
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    # When the system is short of memory nevertheless, this is what is to go, and not the editor.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _taken() -> int:
    for line in text_of_file("/proc/self/status").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) << 10
    return 0


def _half_of_memory() -> int:
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    group = text_of_file("/sys/fs/cgroup/memory.max").strip()
    return min(machine, int(group) if group.isdigit() else machine) // 2


def _refuse_swarms() -> None:
    """Let no process that is forked here start others, and this one only so many."""
    started = 0
    own_processes.add(os.getpid())
    starts = frozenset({"os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"})

    def hook(event: str, _: object) -> None:
        nonlocal started
        if event in starts:
            started += 1
            if started > _MOST_STARTED or os.getpid() not in own_processes:
                raise RuntimeError(f"{event}: the model starts too many processes")

    sys.addaudithook(hook)
