"""Keeps of fixes those that torch.export itself bears out, and takes the others back.

A fix is judged by the targets that run the code that it is about, and by no others. It is kept if the fixed models do
what the original ones do, and can be exported to programs that agree. A target that export refuses for something else,
in code that no fix has changed, says nothing of a fix that another target proves.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from exportlint.big_stack import on_big_stack
from exportlint.findings import Applicability, Finding
from exportlint.fixer import Fixed, Job, Mark, Repair, repair, wanted
from exportlint.linter import merge, units_of, unsaved, with_fixes
from exportlint.source import from_bytes, parse
from exportlint.verify.bench import Bench, Objection, Original
from exportlint.verify.reach import ran
from exportlint.verify.slot import Slot
from exportlint.verify.subsets import largest
from exportlint.verify.target import Target
from exportlint.verify.warm import Warmth
from exportlint.workspace import NO_FIXES, Role, Task, Unit, Workspace


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
    warmth: Warmth | None = None,
) -> Proof:
    """Prove fixes file by file, each together with what was kept of the files before. Nothing is written.

    `fixed` is what the fixes up to `most` make of files that are among `tasks`, `python` the interpreter of the
    project, `jobs` the number of processes that lint. `tell` gets what is being done. With `warmth`, a worker is found
    that has imported torch already, and left for the next run.

    Raises:
        StartError: the interpreter cannot be used.
    """
    prover = _Prover([task for task in tasks if task.role is not Role.IMPORTED], most, jobs)
    changed = {one.task.path for one in fixed}
    with TemporaryDirectory(prefix="exportlint-") as folder, closing(Slot(python, warmth=warmth)) as slot:
        bench = Bench(slot, Path(folder), tell)
        originals = bench.originals([target for target in targets if prover.may_run(target, changed)])
        for one in fixed:
            prover.file(one, bench, originals)
    return Proof(tuple(prover.kept), tuple(prover.refused))


_Group = Mapping[Mark, Sequence[Original]]
"""Fixes that have targets in common, each with the targets that run it."""


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
        looked = units_of(self.tasks, self._texts, self.jobs)
        units = with_fixes(self.tasks, looked, self._texts, self.jobs)
        self._units: dict[Path, Unit] = {task.path: unit for task, unit in zip(self.tasks, units, strict=True)}

    def may_run(self, target: Target, files: set[Path]) -> bool:
        """Whether a target can have to do with files, as far as its imports tell."""
        file = target.model.file
        if file is None or file in files:
            return True
        unit = self._units.get(file)
        if unit is None:
            unit = units_of([Task(file, self.tasks[0].settings)], self._texts, fixes=NO_FIXES)[0]
        return bool(unit.reads & files)

    def file(self, one: Fixed, bench: Bench, originals: Sequence[Original]) -> None:
        """Decide about the fixes of a file."""
        path = one.task.path
        source = from_bytes(one.before, path, one.task.filename)
        witnesses = tuple(t for t in self.tasks if t.path != path and self._finds_in(t, one.task))
        findings = merge([one.task, *witnesses], [self._units[t.path] for t in (one.task, *witnesses)])
        here = (f for f in findings if f.filename == one.task.filename and one.task.settings.fixes_severity(f))
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
        trials = _Trials(job, frozenset(left | reached), bench, dict(self._fixed_so_far()), self._texts)
        chosen: list[Mark] = []
        reasons: dict[Mark, Objection] = {}
        for group in _groups({mark: _runners(tree, f, covering, path) for mark, f in reached.items()}):
            good, against = trials.judged(group, chosen)
            chosen += good
            reasons |= against
        made = trials.attempt(frozenset(chosen))
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
    others: Mapping[Path, bytes]
    texts: Mapping[Path, bytes]

    def __post_init__(self) -> None:
        self._attempts: dict[frozenset[Mark], Repair] = {}
        self._known: dict[tuple[bytes, str], Objection | None] = {}

    def judged(self, group: _Group, kept: Sequence[Mark]) -> tuple[list[Mark], dict[Mark, Objection]]:
        """Which fixes of a group hold on top of those that are kept, and what there is against each of the others."""
        stuck: frozenset[str] = frozenset()
        against: dict[Mark, Objection] = {}
        items = list(group)
        while True:
            runners = list({id(o): o for mark in items for o in group[mark]}.values())

            def test(
                some: Sequence[Mark], runners: Sequence[Original] = runners, stuck: Set[str] = stuck
            ) -> Objection | None:
                return self._objection([*kept, *some], runners, stuck)

            def is_hopeless(some: Sequence[Mark], objection: Objection) -> bool:
                return self.is_hopeless([*kept, *some], objection)

            chosen, reasons = largest(items, test, lambda o: o.in_eager, is_hopeless)
            against |= reasons
            blocking = {o.by for o in reasons.values() if not o.in_eager and is_hopeless(items, o)} - stuck
            stuck |= blocking
            # what a target proves that is not stuck is tried again without those that are
            again = [m for m in items if any(o.task.target.name not in stuck for o in group[m])]
            if not blocking or not set(again) - set(chosen):
                return chosen, against
            items = again

    def _objection(self, chosen: Sequence[Mark], runners: Sequence[Original], stuck: Set[str]) -> Objection | None:
        """What there is against just these, by targets of which some are `stuck`: export refuses them anyway."""
        made = self.attempt(frozenset(chosen))
        if made.data == made.before:
            return None
        texts = {**self.others, self.job.task.path: made.data}
        for original in runners:
            name = original.task.target.name
            key = made.data, f"{name} {original.task.mode} {original.task.device}"
            if key not in self._known:
                self._known[key] = next(self.bench.objections([original], texts), None)
            found = self._known[key]
            if found is not None and (found.in_eager or name not in stuck):
                return found
        return None

    def attempt(self, chosen: frozenset[Mark]) -> Repair:
        """What just these make of the file."""
        if chosen not in self._attempts:
            job = Job(self.job.task, self.job.witnesses, self.job.most, self.all - chosen)
            self._attempts[chosen] = on_big_stack(lambda: repair(Workspace({**self.texts, **self.others}), job))
        return self._attempts[chosen]

    def is_hopeless(self, chosen: Sequence[Mark], objection: Objection) -> bool:
        """Whether what export objects to lies where no fix has changed anything, so leaving some out does not help."""
        if not objection.places:
            return False
        made = self.attempt(frozenset(chosen))
        before, after = (from_bytes(data, made.path, "").text.splitlines() for data in (made.before, made.data))
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        changed = [(low, high) for tag, _, _, low, high in matcher.get_opcodes() if tag != "equal"]
        return not any(
            Path(file) == made.path and any(low < row <= max(high, low + 1) for low, high in changed)
            for file, row in objection.places
        )


def _runners(tree: ast.Module, finding: Finding, covering: Sequence[Original], path: Path) -> list[Original]:
    """The targets that run the code of a finding."""
    return [original for original in covering if ran(tree, set(_rows(original, path)), finding.span)]


def _groups(runners: _Group) -> list[_Group]:
    """Fixes, those together that a target has to judge together."""
    groups: list[_Group] = []
    for mark, found in runners.items():
        names = {id(original) for original in found}
        shared = [g for g in groups if any(id(original) in names for known in g.values() for original in known)]
        groups = [g for g in groups if not any(g is one for one in shared)]
        groups.append({m: known for g in [*shared, {mark: found}] for m, known in g.items()})
    return groups


def _rows(original: Original, path: Path) -> tuple[int, ...]:
    """The rows of a file that a target runs."""
    return original.run.lines.get(str(path), ()) if original.runs else ()


def _uncovered(covering: Sequence[Original], originals: Sequence[Original], path: Path) -> str:
    """Why fixes of a file cannot be proven at all."""
    if covering:
        names = list(dict.fromkeys(f"`{original.task.target.name}`" for original in covering))
        return f"unproven: {', '.join(names)} {'does' if len(names) == 1 else 'do'} not run it"
    broken = next((o for o in originals if o.task.target.model.file == path and not o.runs), None)
    if broken is not None:
        return f"unproven: `{broken.task.target.name}` {broken.run.verdict}: {broken.run.reason}"
    return "unproven: no target runs this file"
