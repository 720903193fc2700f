"""Lints files in several processes, and outlives the death of any of them."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from exportlint.linter import Task, Unit, internal_error, lint_here

_MAX_CHUNK = 32


def lint_in_processes(tasks: Sequence[Task], jobs: int) -> list[Unit]:
    """The units of `tasks`, in their order."""
    size = max(1, min(_MAX_CHUNK, len(tasks) // (jobs * 4)))
    waiting = [range(start, min(start + size, len(tasks))) for start in range(0, len(tasks), size)][::-1]
    units: dict[int, Unit] = {}
    while waiting:
        for chunk in _run(tasks, waiting, units, jobs):
            for index in chunk:
                units[index] = _lint_alone(tasks[index])
    return [units[index] for index in range(len(tasks))]


def _run(tasks: Sequence[Task], waiting: list[range], units: dict[int, Unit], jobs: int) -> list[range]:
    """Work on `waiting` until it is empty or a process dies; then return what was being worked on.

    No more chunks are handed out than there are processes, so that few are suspected of a death.
    """
    running: dict[Future[list[Unit]], range] = {}
    suspects: list[range] = []
    pool = _pool(jobs)
    try:
        while (waiting and not suspects) or running:
            while waiting and not suspects and len(running) < jobs:
                chunk = waiting.pop()
                try:
                    running[pool.submit(lint_here, [tasks[index] for index in chunk])] = chunk
                except BrokenProcessPool:
                    suspects.append(chunk)
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                chunk = running.pop(future)
                try:
                    units.update(zip(chunk, future.result(), strict=True))
                except BrokenProcessPool:
                    suspects.append(chunk)
    except BaseException:
        _abandon(pool)
        raise
    pool.shutdown()
    return suspects


def _lint_alone(task: Task) -> Unit:
    pool = _pool(1)
    try:
        return pool.submit(lint_here, [task]).result()[0]
    except BrokenProcessPool:
        return internal_error(task, "the process that looked at this file died")
    except BaseException:
        _abandon(pool)
        raise
    finally:
        pool.shutdown(wait=False)


def _pool(jobs: int) -> ProcessPoolExecutor:
    # Forked processes start at once and share what is loaded already; elsewhere than on Linux they are not safe.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_prepare)


def _prepare() -> None:
    # Ctrl-C goes to the whole process group; the parent alone answers to it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _abandon(pool: ProcessPoolExecutor) -> None:
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()
