"""Room for deep recursion, also that of native code: syntax trees are as deep as people nest."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

_STACK_BYTES = 256 * 2**20
_RECURSION_LIMIT = 10_000
_T = TypeVar("_T")


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
    thread = threading.Thread(target=run, daemon=True)
    before = threading.stack_size(_STACK_BYTES)
    try:
        thread.start()
    except RuntimeError:
        # The system grants no such stack, as under `ulimit -v`: the default one has to do.
        threading.stack_size(before)
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
    finally:
        threading.stack_size(before)
    return thread
