"""Works on files in several processes, and outlives the death of any of them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Generic, TypeVar

from exportlint.big_stack import on_big_stack
from exportlint.interrupts import uninterrupted
from exportlint.workspace import Workspace

_MAX_CHUNK = 32
_SECONDS_TO_END = 5
_SAFE_PATH = "PYTHONSAFEPATH"

_T = TypeVar("_T")
_R = TypeVar("_R")

_own: list[Workspace] = []
"""In a process that does the work: what it has read already."""


def work_in_processes(
    items: Sequence[_T],
    make: Callable[[], Workspace],
    work: Callable[[Workspace, _T], _R],
    lost: Callable[[_T], _R],
    jobs: int,
    done: Callable[[int], None],
) -> list[_R]:
    """What `work` gives for each of `items`, in their order; what `lost` gives for one that ends its process.

    `done` is told of items as they are done.
    """
    return _Work(items, make, work, lost, jobs, done).results()


class _Work(Generic[_T, _R]):
    def __init__(
        self,
        items: Sequence[_T],
        make: Callable[[], Workspace],
        work: Callable[[Workspace, _T], _R],
        lost: Callable[[_T], _R],
        jobs: int,
        tell: Callable[[int], None],
    ) -> None:
        self._items = items
        self._make = make
        self._work = work
        self._lost = lost
        self._jobs = jobs
        self._tell = tell
        size = max(1, min(_MAX_CHUNK, len(items) // (jobs * 4)))
        self._waiting = [range(start, min(start + size, len(items))) for start in range(0, len(items), size)][::-1]
        self._done: dict[int, _R] = {}

    def results(self) -> list[_R]:
        with _importing_nothing_from_here():
            while self._waiting:
                for chunk in self._run():
                    for index in chunk:
                        self._done[index] = self._alone(self._items[index])
        return [self._done[index] for index in range(len(self._items))]

    def _run(self) -> list[range]:
        """Work on what waits until nothing does or a process dies; then return what was being worked on.

        No more chunks are handed out than there are processes, so that few are suspected of a death.
        """
        running: dict[Future[list[_R]], range] = {}
        suspects: list[range] = []
        pool = self._pool(self._jobs)
        try:
            while (self._waiting and not suspects) or running:
                while self._waiting and not suspects and len(running) < self._jobs:
                    chunk = self._waiting.pop()
                    try:
                        items = [self._items[index] for index in chunk]
                        with uninterrupted():  # it may start processes, which would answer for themselves
                            running[pool.submit(_work_here, self._work, items)] = chunk
                    except BrokenProcessPool:
                        suspects.append(chunk)
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    chunk = running.pop(future)
                    try:
                        self._done.update(zip(chunk, future.result(), strict=True))
                        self._tell(len(chunk))
                    except BrokenProcessPool:
                        suspects.append(chunk)
        except BaseException:
            _abandon(pool)
            raise
        pool.shutdown()
        return suspects

    def _alone(self, item: _T) -> _R:
        pool = self._pool(1)
        try:
            with uninterrupted():
                future = pool.submit(_work_here, self._work, [item])
            return future.result()[0]
        except BrokenProcessPool:
            return self._lost(item)
        except BaseException:
            _abandon(pool)
            raise
        finally:
            pool.shutdown(wait=False)

    def _pool(self, jobs: int) -> ProcessPoolExecutor:
        # Forked processes start at once and share what is loaded already; elsewhere than on Linux they are not safe.
        context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        return ProcessPoolExecutor(jobs, mp_context=context, initializer=_prepare, initargs=(self._make,))


@contextlib.contextmanager
def _importing_nothing_from_here() -> Iterator[None]:
    """Keep Pythons that start meanwhile from looking for modules in the working directory, which is to be linted.

    Python 3.10 cannot be kept from it; where processes are forked, none starts.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def _prepare(make: Callable[[], Workspace]) -> None:
    # Ctrl-C goes to the whole process group; the parent alone answers to it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _own[:] = [make()]


def _work_here(work: Callable[[Workspace, Any], _R], items: Sequence[Any]) -> list[_R]:
    return on_big_stack(lambda: [work(_own[0], item) for item in items])


def _abandon(pool: ProcessPoolExecutor) -> None:
    with uninterrupted():  # one that is left waits for ever
        processes = list((pool._processes or {}).values())
        manager: Any = pool._executor_manager_thread
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()
        if manager is not None:
            manager.join(_SECONDS_TO_END)  # at its end, Python up to 3.11 would wake one whose pipe is closed meanwhile
