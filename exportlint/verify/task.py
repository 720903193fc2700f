"""One thing to be done: a target in one mode on one device."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from exportlint.findings import Mode
from exportlint.verify.process import StartError
from exportlint.verify.protocol import End, Record, job, jobs_of
from exportlint.verify.results import Run, Stage
from exportlint.verify.slot import Slot
from exportlint.verify.target import Device, Target


@dataclass(frozen=True, slots=True)
class Task:
    """A target in one mode on one device."""

    target: Target
    mode: Mode
    device: Device


@dataclass(frozen=True, slots=True)
class Progress:
    """What is being done about a target right now, in one mode on one device."""

    target: str
    mode: Mode
    device: Device
    stage: Stage


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a task. It `lasts` if it would come again, as long as nothing that it depends on changes."""

    run: Run
    lasts: bool


def tasks_of(target: Target) -> list[Task]:
    """Everything that is to be done about a target."""
    return [Task(target, mode, device) for mode, device in jobs_of(target)]


def do(task: Task, slot: Slot, tell: Callable[[Progress], None], settled: Path | None = None) -> Result | None:
    """What comes of a task, or None if it was cancelled.

    `settled` is a directory with a file for each program that keeps its results when it is decomposed, and saved.
    """
    target, mode, device = task.target, task.mode, task.device
    record = Record(target, mode, device)
    told: Stage | None = None

    def take(event: Mapping[str, Any]) -> None:
        nonlocal told
        record.take(event)
        if settled is not None and re.fullmatch("[0-9a-f]{64}", str(event.get("settled"))):
            with contextlib.suppress(OSError):
                settled.mkdir(parents=True, exist_ok=True)
                (settled / f"{event['settled']}.program").touch()
        if record.stage != told:
            told = record.stage
            tell(Progress(target.name, mode, device, told))

    try:
        # Nobody who does not know the number can say anything about the job.
        wanted = job(target, mode, device, secrets.randbits(48))
        outcome = slot.run({**wanted, "settled": settled and os.fspath(settled)}, take)
    except StartError as error:
        return never_run(task, str(error))
    if outcome.end.how == "cancelled":
        return None
    run = record.run(outcome.end, outcome.seconds, outcome.output)
    # What cannot be built may lack a file, of which there is no digest; and memory may be short only now.
    lasts = not run.deleted and outcome.end.how in ("finished", "timed out") and run.verdict != "cannot be built"
    return Result(run, lasts)


def never_run(task: Task, reason: str) -> Result:
    """What comes of a task that cannot be run, for a reason on one line that has nothing to do with the target."""
    run = Record(task.target, task.mode, task.device).run(End("crashed"), 0.0, "")
    return Result(replace(run, reason=reason), lasts=False)
