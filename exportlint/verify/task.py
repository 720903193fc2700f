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
from exportlint.verify.target import Device, Script, Target


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


MAX_MEETINGS = 8
"""How many models of one call of torch.export in a script are verified: each has the script run anew."""


def next_target(target: Target, run: Run) -> Target | None:
    """The same call of torch.export with the next model that it meets, where a run says that there may be one."""
    given = target.inputs
    if not run.again or not isinstance(given, Script) or leaves_models_out(target, run):
        return None
    name = target.name.removesuffix(_nth(given.meeting))
    further = replace(given, meeting=given.meeting + 1)
    return replace(target, name=f"{name}{_nth(further.meeting)}", inputs=further)


def leaves_models_out(target: Target, run: Run) -> bool:
    """Whether a run is the last one of a call of torch.export that may meet further models."""
    return run.again and isinstance(target.inputs, Script) and target.inputs.meeting >= MAX_MEETINGS


def next_of(task: Task, run: Run) -> Task | None:
    """The task that a run of another one leads to."""
    target = next_target(task.target, run)
    return None if target is None else replace(task, target=target)


def is_unmet(task: Task, run: Run) -> bool:
    """Whether a call did not meet one more model, so that the run is about nothing."""
    given = task.target.inputs
    return isinstance(given, Script) and given.meeting > 1 and run.call is None


def longest_name(target: Target) -> int:
    """How many characters the name of a target has, or of one that a run of it leads to."""
    return len(target.name) + (len(_nth(MAX_MEETINGS)) if isinstance(target.inputs, Script) else 0)


def _nth(meeting: int) -> str:
    return f", model {meeting}"


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
    lasts = not run.deleted and outcome.end.how in ("finished", "timed out")
    return Result(run, lasts and (run.verdict != "cannot be built" or is_unmet(task, run)))


def never_run(task: Task, reason: str) -> Result:
    """What comes of a task that cannot be run, for a reason on one line that has nothing to do with the target."""
    run = Record(task.target, task.mode, task.device).run(End("crashed"), 0.0, "")
    return Result(replace(run, reason=reason), lasts=False)
