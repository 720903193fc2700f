"""What only Linux has, and which processes are the worker's own."""

from __future__ import annotations

import ctypes
from pathlib import Path

memory_limit: list[str] = []
"""What is said of how much memory this process may take, once that is limited."""


own_processes: set[int] = set()
"""The processes of a job that are the host's own, and not forked by user code."""


PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
"""Properties of a process, as <linux/prctl.h> numbers them."""


def text_of_file(path: str) -> str:
    """What a file holds, nothing if it cannot be read."""
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def control(option: int, value: int) -> None:
    """Set a property of this process that Linux has and Python does not offer."""
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)
