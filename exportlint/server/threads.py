"""Work that takes too long for the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")

Stopped = Callable[[], bool]


def hand_over(loop: asyncio.AbstractEventLoop, function: Callable[..., object], *arguments: object) -> None:
    """Have the event loop call a function, from another thread; it is not called if the loop has ended meanwhile."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(function, *arguments)


async def in_thread(work: Callable[[Stopped], _T]) -> _T:
    """What `work` returns or raises in a thread of its own, which never keeps the process from ending.

    `work` is given a function that tells whether whoever waits for it was cancelled.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[_T] = loop.create_future()

    def settle(value: _T | None, error: BaseException | None) -> None:
        if outcome.done():
            return
        if error is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(value)  # type: ignore[arg-type]

    def run() -> None:
        value, error = None, None
        try:
            value = work(stopped.is_set)
        except BaseException as raised:  # raised again where it is awaited
            error = raised
        hand_over(loop, settle, value, error)

    stopped = threading.Event()
    threading.Thread(target=run, daemon=True).start()
    try:
        return await outcome
    finally:
        stopped.set()
