"""What Ctrl-C must not come in between."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Puts off Ctrl-C for something that takes no time. Processes that are started meanwhile do not get it at all.

    So is one that was seen where it cannot be raised, in a destructor, and comes by `_thread.interrupt_main`, which no
    mask of signals keeps away.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    answer = signal.getsignal(signal.SIGINT)
    came: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        came.append(number)

    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    answers = callable(answer) and threading.current_thread() is threading.main_thread()
    if answers:
        signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        if answers:
            signal.signal(signal.SIGINT, answer)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if came and callable(answer):
            answer(came[0], None)
