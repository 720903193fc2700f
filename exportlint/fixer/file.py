"""Fixes one file: rounds of fixes, each of which is parsed and linted again before it counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from exportlint.edits import compatible
from exportlint.findings import Applicability, Edit, Finding, Span
from exportlint.fixer.edited import EditError, edited
from exportlint.fixer.job import Job, Repair
from exportlint.fixer.shifts import Chain, Shift
from exportlint.fixer.verdict import Mark, Marks, broken, marks, news
from exportlint.fixes.edit.layout import Layout
from exportlint.linter import merge, worked_out
from exportlint.source import SourceError, SourceFile
from exportlint.workspace import NO_FIXES, Unit, Workspace

MAX_ROUNDS = 10
MAX_STEPS = 4
"""So many fixes in a row may each uncover the error that the next one fixes."""


@dataclass(frozen=True, slots=True)
class _State:
    """A text of the file, the findings in it that have a fix to apply, and all findings there are."""

    source: SourceFile
    layout: Layout
    waiting: tuple[Finding, ...]
    marks: Marks
    units: Mapping[Path, Unit]


_Key = tuple[Mark, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why fixes do not hold together, and which of them are next to what is wrong then.

    `uncovers`: all that is wrong are new errors in the file.
    """

    why: str
    suspects: frozenset[Mark] = frozenset()
    uncovers: bool = False


@dataclass(frozen=True, slots=True)
class _Step:
    """Fixes that are applied together, and what the file is before and afterwards."""

    before: _State
    chosen: Sequence[Finding]
    after: _State


def repair(workspace: Workspace, job: Job) -> Repair:
    """Fix a file until nothing more can be fixed. Afterwards the workspace sees it as it was."""
    try:
        source = workspace.read(job.task)
    except SourceError:  # it was there when it was linted
        return Repair(job.task.path, b"", b"")
    try:
        with workspace.keeping_results():
            return _Rounds(workspace, job, source).run()
    finally:
        workspace.hold(job.task.path, source.data)


class _Rounds:
    def __init__(self, workspace: Workspace, job: Job, source: SourceFile) -> None:
        self._workspace = workspace
        self._job = job
        self._original = source
        self._held: bytes | None = None
        self._fixes_crash = False
        self._reads: set[Path] = set()
        self._failed: dict[_Key, str] = {}
        self._uncovering: set[_Key] = set()
        self._unwanted = job.without
        self._shift = Chain()

    def run(self) -> Repair:
        original = self._original
        state = self._look(original)
        if state.waiting and not original.is_faithful:
            problem = SourceError(original.filename, f"cannot be written back as {original.encoding}: it is not fixed")
            return self._result(original, problem=problem)
        fixed: list[Finding] = []
        rounds, limit = 0, MAX_ROUNDS
        all_tried = True
        while True:
            waiting = [f for f in state.waiting if _key(f) not in self._failed and not self._is_unwanted(f)]
            if not waiting and not all_tried:
                # What failed with an earlier text may hold now.
                self._failed.clear()
                all_tried = True
                continue
            steps = [] if waiting else self._pursue(state)
            if not waiting and not steps:
                return self._result(state.source, fixed, units=state.units)
            if rounds == limit:
                return self._result(original, endless=waiting or steps[0].chosen)
            if steps:
                for step in steps:
                    self._follow(step.chosen, step.before, step.after)
                fixed += steps[0].chosen
                state = steps[-1].after
                rounds += 1
                all_tried = not self._failed
                continue
            together = _together(waiting, state)
            if not rounds:
                # Fixes that wait for others to be out of their way do not show that there is no end.
                limit += len(waiting) - len(together)
            accepted, after = self._settle(state, ([], state), together)
            if accepted and not self._fixes_crash:
                # The fixes of what fails, or of what more fixes are added to, are not needed: they cost the most.
                after = self._look(after.source)
                if broken(state.marks, after.marks):
                    self._fixes_crash = True
                    continue
            if accepted:
                self._follow(accepted, state, after)
                state = after
                fixed += accepted
                rounds += 1
                all_tried = not self._failed

    def _settle(
        self, base: _State, good: tuple[list[Finding], _State], more: Sequence[Finding]
    ) -> tuple[list[Finding], _State]:
        """Of more fixes those that hold, together with those that are known to, and what comes of them."""
        outcome = self._attempt(base, [*good[0], *more])
        if isinstance(outcome, _State):
            return [*good[0], *more], outcome
        if len(more) == 1:
            self._failed[_key(more[0])] = outcome.why
            if outcome.uncovers:
                self._uncovering.add(_key(more[0]))
            return good
        suspects = [finding for finding in more if Mark.of(finding) in outcome.suspects]
        others = [finding for finding in more if Mark.of(finding) not in outcome.suspects]
        if not suspects or not others:
            half = len(more) // 2
            others, suspects = [*more[:half]], [*more[half:]]
        return self._settle(base, self._settle(base, good, others), suspects)

    def _attempt(self, base: _State, chosen: Sequence[Finding]) -> _State | _Failure:
        """What comes of fixes, or why one of them does not do what it is for, or does harm."""
        made = self._made(base, chosen, with_fixes=self._fixes_crash)
        if isinstance(made, _Failure):
            return made
        after, shift = made
        fixed = {Mark.of(finding) for finding in chosen}
        wrong = news(base.marks, after.marks, {after.source.filename: Chain((shift,))}, fixed)
        if not wrong:
            return after
        harmed = [each.mark.span for each in wrong if each.mark.filename == after.source.filename]
        suspects = frozenset(
            Mark.of(finding)
            for finding in chosen
            for span in (finding.span, *(edit.span for edit in _edits([finding])))
            if any(_touches(shift.reach(span), place) for place in harmed)
        )
        uncovers = len(harmed) == len(wrong) and not any(each.remains for each in wrong)
        return _Failure(str(wrong[0]), suspects, uncovers)

    def _made(
        self, base: _State, chosen: Sequence[Finding], *, with_fixes: bool = True
    ) -> tuple[_State, Shift] | _Failure:
        """The file with fixes, if it can be looked at then."""
        edits = self._laid_out(base, chosen)
        try:
            source = edited(base.source, edits)
        except EditError as error:
            return _Failure(str(error))
        after = self._look(source, with_fixes=with_fixes)
        if broken(base.marks, after.marks):
            return _Failure("the file could no longer be analyzed")
        return after, Shift(edits, base.source.lines, source.lines)

    def _pursue(self, state: _State) -> list[_Step]:
        """Steps that begin with a fix that failed only because it uncovers errors, which the next steps fix.

        If no fix can be the first, all of them are: `if i > j` has a fix once both are known to be data.
        """
        tried: list[Finding] = []
        for finding in state.waiting:
            key = _key(finding)
            if key in self._uncovering and not self._is_unwanted(finding):
                self._uncovering.remove(key)
                steps = self._chain(state, [finding])
                if steps:
                    return steps
                tried.append(finding)
        return self._chain(state, _together(tried, state)) if len(tried) > 1 else []

    def _chain(self, base: _State, first: Sequence[Finding]) -> list[_Step]:
        """Fixes, and those of the errors that they uncover, until no error is new; empty if that does not happen."""
        steps: list[_Step] = []
        shifts: list[Shift] = []
        state, chosen = base, first
        filename = base.source.filename
        while len(steps) < MAX_STEPS:
            made = self._made(state, chosen)
            if isinstance(made, _Failure):
                return []
            after, shift = made
            shifts.append(shift)
            steps.append(_Step(state, chosen, after))
            fixed = {Mark.of(one) for one in chosen}
            if any(each.remains for each in news(state.marks, after.marks, {filename: Chain((shift,))}, fixed)):
                return []
            wrong = news(base.marks, after.marks, {filename: Chain(tuple(shifts))}, {*map(Mark.of, first)})
            if not wrong:
                return steps
            uncovered = {each.mark for each in wrong}
            fixable = [one for one in after.waiting if Mark.of(one) in uncovered]
            if any(each.remains for each in wrong) or not fixable:  # the fix of an `if` may take in its `elif`
                return []
            state, chosen = after, _together(fixable, after)
        return []

    def _laid_out(self, state: _State, findings: Iterable[Finding]) -> list[Edit]:
        """The edits of fixes that go together, which may make lines too long that none makes too long by itself."""
        return state.layout.edits(_edits(findings))

    def _look(self, source: SourceFile, *, with_fixes: bool = True) -> _State:
        task, most = self._job.task, self._job.most
        if self._held != source.data:
            self._workspace.hold(task.path, source.data)
            self._held = source.data
        tasks = (task, *self._job.witnesses)
        fixes = None if with_fixes else NO_FIXES
        units = [self._workspace.lint(task, fixes)]
        units += (self._workspace.lint(one, NO_FIXES) for one in self._job.witnesses)
        if with_fixes:
            units = worked_out(
                tasks, units, lambda asked: [self._workspace.lint(one.task, one.fixes) for one in asked], task.filename
            )
        self._reads.update(*(unit.reads for unit in units))
        findings = [f for f in merge(tasks, units) if f.filename == task.filename]
        waiting = tuple(wanted(filter(task.settings.shows, findings), most))
        found = marks([*(f for unit in units for f in unit.findings), *findings])
        layout = Layout(source, task.settings.line_length)
        return _State(
            source, layout, waiting, found, {task.path: unit for task, unit in zip(tasks, units, strict=True)}
        )

    def _is_unwanted(self, finding: Finding) -> bool:
        span = finding.span
        return any(
            mark.code == finding.code and mark.span.start <= span.start and span.end <= mark.span.end
            for mark in self._unwanted
        )

    def _follow(self, accepted: Iterable[Finding], before: _State, after: _State) -> None:
        """Know what failed by its new place. Where that was edited, it may be tried again."""
        shift = Shift(self._laid_out(before, accepted), before.source.lines, after.source.lines)
        self._shift = Chain((*self._shift.shifts, shift))
        self._failed = {
            (mark.at(shift.span(mark.span)), contents): why
            for (mark, contents), why in self._failed.items()
            if not shift.is_edited(mark.span)
        }
        self._unwanted = frozenset(mark.at(shift.span(mark.span) or shift.reach(mark.span)) for mark in self._unwanted)

    def _result(
        self,
        source: SourceFile,
        fixed: Iterable[Finding] = (),
        endless: Iterable[Finding] = (),
        problem: SourceError | None = None,
        units: Mapping[Path, Unit] | None = None,
    ) -> Repair:
        task, before = self._job.task, self._original.data
        shift = self._shift if source.data != before else Chain()
        reads = frozenset(self._reads)
        dropped = {mark: why for (mark, _), why in self._failed.items()}
        if problem is not None:
            dropped = {}
        return Repair(
            task.path, before, source.data, tuple(fixed), shift, tuple(endless), dropped, problem, reads, units or {}
        )


def wanted(findings: Iterable[Finding], most: Applicability) -> Iterator[Finding]:
    """The findings that have a fix which is to be applied."""
    return (f for f in findings if f.fix is not None and f.fix.applicability.rank <= most.rank)


def _edits(findings: Iterable[Finding]) -> list[Edit]:
    return [edit for finding in findings if finding.fix is not None for edit in finding.fix.edits]


def _together(waiting: Sequence[Finding], state: _State) -> list[Finding]:
    chosen = {id(fix) for fix in compatible([f.fix for f in waiting if f.fix is not None], state.source.lines)}
    return [finding for finding in waiting if id(finding.fix) in chosen]


def _key(finding: Finding) -> _Key:
    assert finding.fix is not None
    return Mark.of(finding), tuple(edit.content for edit in finding.fix.edits)


def _touches(one: Span, other: Span) -> bool:
    return one.start <= other.end and other.start <= one.end
