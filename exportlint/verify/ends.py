"""How a process that worked on a job came to its end, in words."""

from __future__ import annotations

import contextlib
import re
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from exportlint.verify.protocol import End
from exportlint.verify.worker.streams import CLOSED

_THREAD = re.compile(r"^(Current|Thread).* \(most recent call first\):$", re.MULTILINE)
_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$', re.MULTILINE)


def kills_for_memory() -> int:
    """How many processes the system has killed by now since memory ran out, as far as it says so."""
    found = 0
    for file in ("/sys/fs/cgroup/memory.events", "/proc/vmstat"):
        with contextlib.suppress(OSError, ValueError):
            lines = Path(file).read_text().splitlines()
            found += sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))
    return found


def of_exit(code: int, output: str, at: str, *, crowded: bool, starved: bool = False, memory: int | None = None) -> End:
    """How a process ended that was to go on: `code` is its exit code, a signal if negative; `at` is where it was.

    `starved`: the system has killed for want of memory meanwhile. `memory` is the limit, in bytes.
    """
    if crowded:
        return End("crashed", "it started too many processes")
    if code == CLOSED:
        return End("crashed", "it closed the file descriptors of the worker")
    if code >= 0:
        return End("crashed", f"the process ended itself with exit code {code}")
    if -code == getattr(signal, "SIGKILL", None):
        if starved:
            return End("out of memory", "killed by the system because memory ran out")
        return End("crashed", "SIGKILL: killed by itself or another process, not because memory ran out")
    how: Literal["out of memory", "crashed"] = "out of memory" if "std::bad_alloc" in output else "crashed"
    limit = f"`memory` is {memory / 2**30:.3g} GiB" if memory and how == "out of memory" else ""
    return End(how, ", ".join(filter(None, (_name(-code), at, limit))))


def _name(number: int) -> str:
    try:
        return f"{signal.Signals(number).name}: {signal.strsignal(number)}"
    except ValueError:
        return f"signal {number}"


def where(output: str, roots: Sequence[str]) -> str:
    """The innermost line of code below `roots` that was running, as Python tells at the end of an output, or nothing.

    The thread that crashed counts, else the first that was started.
    """
    told = output[max(output.rfind("Timeout ("), output.rfind("Fatal Python error"), 0) :]
    parts = _THREAD.split(told)[1:]
    threads = sorted(zip(parts[::2], parts[1::2], strict=True), key=lambda thread: thread[0] == "Current")
    for _, stack in reversed(threads):
        for file, row, function in _FRAME.findall(stack):
            if "site-packages" not in file and any(Path(file).is_relative_to(root) for root in roots):
                return f"{file}:{row}, in {function}"
    return ""
