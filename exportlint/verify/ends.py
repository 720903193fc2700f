"""How a process that worked on a job came to its end, in words."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from exportlint.verify.protocol import End
from exportlint.verify.worker.streams import CLOSED

_THREAD = re.compile(r"^(Current|Thread).* \(most recent call first\):$", re.MULTILINE)
_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$', re.MULTILINE)


def of_exit(code: int, output: str, at: str, *, crowded: bool) -> End:
    """How a process ended that was to go on: `code` is its exit code, a signal if negative; `at` is where it was."""
    if crowded:
        return End("crashed", "it started too many processes")
    if code == CLOSED:
        return End("crashed", "it closed the file descriptors of the worker")
    if code >= 0:
        return End("crashed", f"the process ended itself with exit code {code}")
    if -code == getattr(signal, "SIGKILL", None):
        return End("out of memory", "killed, as the system does when memory runs out")
    how: Literal["out of memory", "crashed"] = "out of memory" if "std::bad_alloc" in output else "crashed"
    return End(how, ", ".join(filter(None, (_name(-code), at))))


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
