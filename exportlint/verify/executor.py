"""Verifies targets elsewhere: with any executor that does as those of `concurrent.futures` do."""

from __future__ import annotations

import contextlib
import functools
import importlib
import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, Executor, Future
from pathlib import Path
from typing import Any

from exportlint.verify.cache import Cache
from exportlint.verify.results import Run
from exportlint.verify.slot import Slot
from exportlint.verify.target import Target
from exportlint.verify.task import Progress, Result, Task, do, is_unmet, never_run, next_of, tasks_of

_LOOK = 0.05
"""How often it is asked whether all is cancelled, in seconds."""


class ExecutorError(Exception):
    """There is no such executor; the message says why, in one line."""


def load_executor(reference: str) -> Executor:
    """The executor that `pkg.mod:name` names: itself one, or something that gives one when it is called.

    Raises:
        ExecutorError: it does not.
    """
    module, _, name = reference.partition(":")
    if not module or not name:
        raise ExecutorError(
            f"--executor {reference}: expected `package.module:name` of an executor, or of a function that returns one"
        )
    try:
        found: Any = functools.reduce(getattr, name.split("."), importlib.import_module(module))
        given: Executor = found() if callable(found) else found
    except Exception as error:
        raise ExecutorError(f"--executor {reference}: {type(error).__name__}: {error}".split("\n", 1)[0]) from None
    if not callable(getattr(given, "submit", None)):
        raise ExecutorError(f"--executor {reference}: it is a {type(given).__name__}, which has no `submit`")
    return given


def verify_with(
    executor: Executor,
    targets: Sequence[Target],
    python: Path,
    *,
    cache: Cache | None = None,
    tell: Callable[[Progress], None] = lambda _: None,
    cancelled: threading.Event | None = None,
) -> Generator[Run, None, None]:
    """As `exportlint.verify.run.verify` does, with a worker on the machine that the executor takes for each target.

    There, exportlint has to be installed, and `python` and the files of the project have to be at the same paths. What
    has begun on other machines goes on to its end if all is cancelled; it is only not waited for. The executor is left
    as it is.
    """
    done: queue.SimpleQueue[Future[list[tuple[Task, Result]]]] = queue.SimpleQueue()
    running: dict[Future[list[tuple[Task, Result]]], list[Task]] = {}
    try:
        for target in targets:
            tasks = []
            for first in tasks_of(target):
                known, task = cache.known(first) if cache else ([], first)
                yield from known
                if task is not None:
                    tasks.append(task)
            if tasks:
                future = executor.submit(work, tasks, python)
                running[future] = tasks
                future.add_done_callback(done.put)
                tell(Progress(target.name, tasks[0].mode, tasks[0].device, "start"))
        while running and not (cancelled and cancelled.is_set()):
            with contextlib.suppress(queue.Empty):
                future = done.get(timeout=_LOOK)
                for task, result in _results(future, running.pop(future)):
                    if cache and result.lasts:
                        cache.put(task, result.run)
                    if not is_unmet(task, result.run):
                        yield result.run
    finally:
        for future in running:
            future.cancel()


def _results(future: Future[list[tuple[Task, Result]]], tasks: list[Task]) -> list[tuple[Task, Result]]:
    try:
        return future.result()
    except (Exception, CancelledError) as error:  # whatever goes wrong between here and there
        reason = f"the executor failed: {type(error).__name__}: {error}".split("\n", 1)[0]
        return [(task, never_run(task, reason)) for task in tasks]


def work(tasks: Sequence[Task], python: Path) -> list[tuple[Task, Result]]:
    """Do tasks with a worker here, wherever that is."""
    slot = Slot(python, threads=1)
    try:
        waiting, results = deque(tasks), []
        while waiting:
            task = waiting.popleft()
            result = do(task, slot, lambda _: None)
            if result is not None:
                results.append((task, result))
                further = next_of(task, result.run)
                waiting += [] if further is None else [further]
        return results
    finally:
        slot.close()
