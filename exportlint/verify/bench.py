"""Runs targets as they are and with fixes, and says what there is against the fixes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from exportlint.verify.results import Comparison, Run
from exportlint.verify.slot import Slot
from exportlint.verify.target import Target, Trial
from exportlint.verify.task import Task, do, tasks_of


@dataclass(frozen=True, slots=True)
class Objection:
    """Why fixes are not proven, in one line. `in_eager`: the model itself does something else, exported or not.

    `places` are what export blames, as files and rows. `by` is the target that objects.
    """

    why: str
    in_eager: bool = False
    places: tuple[tuple[str, int], ...] = ()
    by: str = ""


@dataclass(frozen=True, slots=True)
class Original:
    """A target as it is: its outcome, and the file that tells what the model does."""

    task: Task
    run: Run
    outcomes: Path

    @property
    def runs(self) -> bool:
        """Whether the model can be called, so that there is something to compare with."""
        return bool(self.run.lines) and self.outcomes.exists()


class Bench:
    """A worker, and what it told of targets as they are. `folder` is for what models do; `tell` gets what is done."""

    def __init__(self, slot: Slot, folder: Path, tell: Callable[[str], None]) -> None:
        self._slot = slot
        self._folder = folder
        self._tell = tell

    def originals(self, targets: Sequence[Target]) -> list[Original]:
        """What comes of targets as they are, in each of their modes and on each of their devices.

        Raises:
            StartError: there is no worker to be had.
        """
        found: list[Original] = []
        for task in (task for target in targets for task in tasks_of(target)):
            outcomes = self._folder / f"{len(found)}.pt"
            self._tell(f"{task.target.name}: as it is")
            found.append(Original(task, self._run(task, Trial({}, outcomes)), outcomes))
        return found

    def objections(self, originals: Sequence[Original], texts: Mapping[Path, bytes]) -> Iterator[Objection]:
        """What there is against files holding other texts, by each of these targets that objects, as they are run."""
        for original in originals:
            objection = _objection(original.run, self.run_with(original, texts))
            if objection is not None:
                yield replace(objection, by=original.task.target.name)

    def run_with(self, original: Original, texts: Mapping[Path, bytes]) -> Run:
        """What comes of a target if files hold other texts. Its comparisons tell whether the model does what it did."""
        self._tell(f"{original.task.target.name}: with fixes")
        return self._run(original.task, Trial(texts, original.outcomes))

    def _run(self, task: Task, trial: Trial) -> Run:
        target = replace(task.target, trial=trial)
        result = do(Task(target, task.mode, task.device), self._slot, lambda _: None)
        if result is None:
            raise KeyboardInterrupt  # the slot was closed
        return result.run


def _objection(before: Run, after: Run) -> Objection | None:
    name = f"`{after.target}`"
    original = next((c for c in after.comparisons if c.kind == "original"), None)
    if original is None:
        return Objection(f"{name} cannot be run any more: {after.reason}", in_eager=True)
    if original.agreement != "agrees":
        return Objection(f"{name} behaves differently: {_of(original)}", in_eager=True)
    if after.verdict == "fails":
        failures = [failure for failure in after.failures if not failure.further]
        frames = [frame for failure in failures for frame in failure.frames[-1:]]
        where = f" ({Path(frames[0].file).name}:{frames[0].row})" if frames else ""
        places = tuple((frame.file, frame.row) for frame in frames)
        return Objection(f"{name} cannot be exported: {after.reason}{where}", places=places)
    if after.verdict not in ("exports", "narrower"):
        return Objection(f"{name} {after.verdict}: {after.reason}")
    if after.verdict == "narrower" and before.verdict == "exports":
        return Objection(f"{name} is narrower than before: {after.reason}")
    if after.verdict == before.verdict == "narrower" and not _narrowed(after) < _narrowed(before):
        return Objection(f"{name} is still narrower: {after.reason}")
    return None


def _narrowed(run: Run) -> Set[tuple[str, str]]:
    """What a program refuses that its model accepts."""
    return {(c.kind, c.label) for c in run.comparisons if c.agreement == "narrower"}


def _of(comparison: Comparison) -> str:
    return comparison.detail or comparison.agreement
