"""Room for deep recursion, also that of native code: syntax trees are as deep as people nest."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

_STACK_BYTES = 256 * 2**20
_RECURSION_LIMIT = 10_000
_FRAME_SLOTS = 2**20
_NAME = "exportlint-big-stack"
_T = TypeVar("_T")


def _call(run: Callable[[], None]) -> None:
    run()


# CPython 3.11 and later keep the frames of a thread in chunks of 16 KiB, and give a chunk back as soon as it is empty:
# recursion that goes to and fro over the end of one maps and unmaps memory at every call (140,000 times for the models
# of timm, a tenth of the time). A chunk is as large as its first frame needs, rounded up to a power of two, so this
# frame claims more than half of 16 MiB, and all those above it share the rest. Memory that is not touched costs none.
_call.__code__ = _call.__code__.replace(co_stacksize=_FRAME_SLOTS)


def on_big_stack(function: Callable[[], _T]) -> _T:
    """What `function` returns or raises, run with room for deep recursion, also that of native code."""
    outcome: dict[str, _T] = {}
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome["value"] = function()
        except BaseException as error:  # raised again below
            failure.append(error)

    limit = sys.getrecursionlimit()
    try:
        start_on_big_stack(run).join()
    finally:
        sys.setrecursionlimit(limit)
    if failure:
        raise failure[0]
    return outcome["value"]


def start_on_big_stack(run: Callable[[], None]) -> threading.Thread:
    """A running thread with room for deep recursion. The process keeps the recursion limit that this needs."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION_LIMIT))
    thread = threading.Thread(target=_call, args=(run,), name=_NAME, daemon=True)
    before = threading.stack_size(_STACK_BYTES)
    try:
        thread.start()
    except RuntimeError:
        # The system grants no such stack, as under `ulimit -v`: the default one has to do.
        threading.stack_size(before)
        thread = threading.Thread(target=run, name=_NAME, daemon=True)
        thread.start()
    finally:
        threading.stack_size(before)
    return thread


def is_at_work() -> bool:
    """Whether such a thread still runs, as after an interrupt of the thread that waits for it."""
    return any(thread.name == _NAME for thread in threading.enumerate())
