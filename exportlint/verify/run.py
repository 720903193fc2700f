"""Verifies targets: workers side by side, and the outcome of each job as soon as it is known."""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path

from exportlint.verify.cache import Cache
from exportlint.verify.results import Run
from exportlint.verify.slot import Slot
from exportlint.verify.target import Target
from exportlint.verify.task import Progress, Result, Task, do, is_unmet, next_of, tasks_of
from exportlint.verify.warm import Warmth

_LOOK = 0.05
"""How often it is asked whether all is cancelled, in seconds."""


def verify(
    targets: Sequence[Target],
    python: Path,
    *,
    jobs: int = 1,
    cache: Cache | None = None,
    tell: Callable[[Progress], None] = lambda _: None,
    cancelled: threading.Event | None = None,
    warmth: Warmth | None = None,
) -> Generator[Run, None, None]:
    """Run torch.export on targets, each mode and device by itself, and yield each outcome as it comes.

    What `cache` knows is not run. `tell` is called in the thread that takes the results. When `cancelled` is set, or
    the iterator is closed, everything is killed; what is not finished then has no result. With `warmth`, workers are
    found that have imported torch already, and left for the next run.
    """
    waiting: deque[Task] = deque()
    for first in (task for target in targets for task in tasks_of(target)):
        known, task = cache.known(first) if cache else ([], first)
        yield from known
        if task is not None:
            waiting.append(task)
    crew = _Crew(waiting, python, min(jobs, len(waiting)), warmth, cache.settled if cache else None)
    try:
        for task, result in crew.results(tell, cancelled or threading.Event()):
            if cache and result.lasts:
                cache.put(task, result.run)
            if not is_unmet(task, result.run):
                yield result.run
    finally:
        crew.dismiss()


class _Crew:
    """Threads, each with a slot of its own, which take tasks until there are none left."""

    def __init__(
        self, waiting: deque[Task], python: Path, size: int, warmth: Warmth | None, settled: Path | None
    ) -> None:
        self._waiting = waiting
        self._settled = settled
        self._is_dismissed = False
        self._news: queue.SimpleQueue[Progress | tuple[Task, Result] | BaseException | None] = queue.SimpleQueue()
        # A worker may use three processes; threads of torch that share a processor wait for each other by spinning.
        threads = max(1, (os.cpu_count() or 1) // (3 * max(1, size)))
        self._slots = [Slot(python, threads=threads, warmth=warmth) for _ in range(size)]
        self._threads = [
            threading.Thread(target=self._work, args=(slot,), name="exportlint-verify", daemon=True)
            for slot in self._slots
        ]
        for thread in self._threads:
            thread.start()

    def results(self, tell: Callable[[Progress], None], cancelled: threading.Event) -> Iterator[tuple[Task, Result]]:
        """What comes of the tasks, until all are done or cancelled. Raises what a thread raises."""
        working = len(self._threads)
        while working and not cancelled.is_set():
            try:
                news = self._news.get(timeout=_LOOK)
            except queue.Empty:
                continue
            if news is None:
                working -= 1
            elif isinstance(news, Progress):
                tell(news)
            elif isinstance(news, BaseException):
                raise news
            else:
                yield news

    def dismiss(self) -> None:
        """Kill all that runs, and wait until it is gone."""
        self._is_dismissed = True
        self._waiting.clear()
        for slot in self._slots:
            slot.close()
        for thread in self._threads:
            thread.join()

    def _work(self, slot: Slot) -> None:
        try:
            while True:
                try:
                    task = self._waiting.popleft()
                except IndexError:
                    break
                result = do(task, slot, self._news.put, self._settled)
                if result is None:
                    break
                self._news.put((task, result))
                further = next_of(task, result.run)
                if further is not None and not self._is_dismissed:
                    self._waiting.append(further)
        except BaseException as error:
            self._news.put(error)
        finally:
            slot.close()
            self._news.put(None)
