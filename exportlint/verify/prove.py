"""Keeps of fixes those that torch.export itself bears out, and takes the others back.

A fix is kept if a target runs the code that it is about, the fixed model does what the original one does, and can be
exported to a program that agrees.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from exportlint.findings import Applicability, Finding
from exportlint.fixer import Fixed, Job, Mark, Repair, repair, wanted
from exportlint.linter import merge, units_of, unsaved
from exportlint.source import from_bytes, parse
from exportlint.verify.bench import Bench, Objection, Original
from exportlint.verify.reach import ran
from exportlint.verify.slot import Slot
from exportlint.verify.subsets import largest
from exportlint.verify.target import Target
from exportlint.workspace import Task, Unit, Workspace, on_big_stack


@dataclass(frozen=True, slots=True)
class Refused:
    """A fix that is not kept, by its finding in the file as it was, and why, in one line."""

    finding: Finding
    why: str


@dataclass(frozen=True, slots=True)
class Proof:
    """The files with the fixes that are proven, and the fixes that are not."""

    fixed: tuple[Fixed, ...]
    refused: tuple[Refused, ...]


def prove(
    fixed: Sequence[Fixed],
    tasks: Sequence[Task],
    most: Applicability,
    targets: Sequence[Target],
    python: Path,
    jobs: int = 1,
    tell: Callable[[str], None] = lambda _: None,
) -> Proof:
    """Prove fixes file by file, each together with what was kept of the files before. Nothing is written.

    `fixed` is what the fixes up to `most` make of files that are among `tasks`, `python` the interpreter of the
    project, `jobs` the number of processes that lint. `tell` gets what is being done.

    Raises:
        StartError: the interpreter cannot be used.
    """
    prover = _Prover(tasks, most, jobs)
    changed = {one.task.path for one in fixed}
    with TemporaryDirectory(prefix="exportlint-") as folder, closing(Slot(python)) as slot:
        bench = Bench(slot, Path(folder), tell)
        originals = bench.originals([target for target in targets if prover.may_run(target, changed)])
        for one in fixed:
            prover.file(one, bench, originals)
    return Proof(tuple(prover.kept), tuple(prover.refused))


@dataclass
class _Attempt:
    repair: Repair
    objection: Objection | None


@dataclass
class _Prover:
    """What is known of the files, and what has been decided about them so far."""

    tasks: Sequence[Task]
    most: Applicability
    jobs: int
    kept: list[Fixed] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._texts: dict[Path, bytes] = unsaved(self.tasks)
        units = units_of(self.tasks, self._texts, self.jobs)
        self._units: dict[Path, Unit] = {task.path: unit for task, unit in zip(self.tasks, units, strict=True)}

    def may_run(self, target: Target, files: set[Path]) -> bool:
        """Whether a target can have to do with files, as far as its imports tell."""
        file = target.model.file
        if file is None or file in files:
            return True
        unit = self._units.get(file)
        if unit is None:
            unit = units_of([Task(file, self.tasks[0].settings)], self._texts)[0]
        return bool(unit.reads & files)

    def file(self, one: Fixed, bench: Bench, originals: Sequence[Original]) -> None:
        """Decide about the fixes of a file."""
        path = one.task.path
        source = from_bytes(one.before, path, one.task.filename)
        witnesses = tuple(t for t in self.tasks if t.path != path and self._finds_in(t, one.task))
        findings = merge([one.task, *witnesses], [self._units[t.path] for t in (one.task, *witnesses)])
        here = (f for f in findings if f.filename == one.task.filename and one.task.settings.shows(f))
        fixable = list(wanted(here, self.most))
        covering = [original for original in originals if _rows(original, path)]
        rows = {row for original in covering for row in _rows(original, path)}
        tree = parse(source)
        reached = {Mark.of(f): f for f in fixable if rows and ran(tree, rows, f.span)}
        left = {Mark.of(f): f for f in fixable if Mark.of(f) not in reached}
        why = _uncovered(covering, originals, path)
        self.refused += (Refused(finding, why) for finding in left.values())
        if not reached:
            return
        job = Job(one.task, witnesses, self.most)
        trials = _Trials(job, frozenset(left | reached), bench, covering, dict(self._fixed_so_far()), self._texts)
        chosen, reasons = largest(list(reached), trials.objection, lambda o: o.in_eager, trials.is_hopeless)
        made = trials.attempt(frozenset(chosen)).repair
        if made.data != made.before:
            self.kept.append(Fixed(one.task, made.before, made.data, made.fixed))
        self.refused += (Refused(reached[mark], reasons[mark].why) for mark in reached if mark not in chosen)

    def _fixed_so_far(self) -> Mapping[Path, bytes]:
        return {one.task.path: one.data for one in self.kept}

    def _finds_in(self, task: Task, other: Task) -> bool:
        return any(finding.filename == other.filename for finding in self._units[task.path].findings)


@dataclass
class _Trials:
    """Fixes of one file, some of which are tried at a time."""

    job: Job
    all: frozenset[Mark]
    bench: Bench
    originals: Sequence[Original]
    others: Mapping[Path, bytes]
    texts: Mapping[Path, bytes]

    def __post_init__(self) -> None:
        self._attempts: dict[frozenset[Mark], _Attempt] = {}
        self._known: dict[bytes, Objection | None] = {}

    def objection(self, chosen: Sequence[Mark]) -> Objection | None:
        """What there is against just these."""
        return self.attempt(frozenset(chosen)).objection

    def attempt(self, chosen: frozenset[Mark]) -> _Attempt:
        """What just these make of the file, and what there is against it."""
        if chosen not in self._attempts:
            self._attempts[chosen] = self._attempt(chosen)
        return self._attempts[chosen]

    def _attempt(self, chosen: frozenset[Mark]) -> _Attempt:
        task = self.job.task
        job = Job(task, self.job.witnesses, self.job.most, self.all - chosen)
        made = on_big_stack(lambda: repair(Workspace({**self.texts, **self.others}), job))
        if made.data == made.before:
            return _Attempt(made, None)
        if made.data not in self._known:
            self._known[made.data] = self.bench.objection(self.originals, {**self.others, task.path: made.data})
        return _Attempt(made, self._known[made.data])

    def is_hopeless(self, chosen: Sequence[Mark], objection: Objection) -> bool:
        """Whether what export objects to lies where no fix has changed anything, so that leaving some out is no use."""
        if not objection.places:
            return False
        made = self.attempt(frozenset(chosen)).repair
        before, after = (from_bytes(data, made.path, "").text.splitlines() for data in (made.before, made.data))
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        changed = [(low, high) for tag, _, _, low, high in matcher.get_opcodes() if tag != "equal"]
        return not any(
            Path(file) == made.path and any(low < row <= max(high, low + 1) for low, high in changed)
            for file, row in objection.places
        )


def _rows(original: Original, path: Path) -> tuple[int, ...]:
    """The rows of a file that a target runs."""
    return original.run.lines.get(str(path), ()) if original.runs else ()


def _uncovered(covering: Sequence[Original], originals: Sequence[Original], path: Path) -> str:
    """Why fixes of a file cannot be proven at all."""
    if covering:
        names = ", ".join(dict.fromkeys(f"`{original.task.target.name}`" for original in covering))
        return f"not verified: {names} does not run it"
    broken = next((o for o in originals if o.task.target.model.file == path and not o.runs), None)
    if broken is not None:
        return f"not verified: `{broken.task.target.name}` {broken.run.verdict}: {broken.run.reason}"
    return "not verified: no target runs this file"
