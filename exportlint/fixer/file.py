"""Fixes one file: rounds of fixes, each of which is parsed and linted again before it counts."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exportlint.edits import apply, compatible, places
from exportlint.findings import Applicability, Edit, Finding, Span
from exportlint.fixer.job import Job, Repair
from exportlint.fixer.shifts import Chain, Shift
from exportlint.fixer.verdict import Mark, Marks, broken, marks, news
from exportlint.fixes.edit.layout import laid_out_edits
from exportlint.linter import merge, worked_out
from exportlint.source import SourceError, SourceFile
from exportlint.workspace import NO_FIXES, Unit, Workspace

MAX_ROUNDS = 10
MAX_FOLLOW_UPS = 3
"""How many times the new errors of a fix are fixed along with it."""


@dataclass(frozen=True, slots=True)
class _State:
    """A text of the file, the findings in it that have a fix to apply, and all findings there are.

    `shift` leads there from the text that was fixed.
    """

    source: SourceFile
    waiting: tuple[Finding, ...]
    marks: Marks
    units: Mapping[Path, Unit]
    shift: Chain = Chain()


_Key = tuple[Mark, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why fixes do not hold together, and which of them are next to what is wrong then.

    `errors` are all that is wrong if these are new errors in the file itself, and `after` is the text that has them.
    """

    why: str
    suspects: frozenset[Mark] = frozenset()
    after: _State | None = None
    errors: frozenset[Mark] = frozenset()


def repair(workspace: Workspace, job: Job) -> Repair:
    """Fix a file until nothing more can be fixed. Afterwards the workspace sees it as it was."""
    try:
        source = workspace.read(job.task)
    except SourceError:  # it was there when it was linted
        return Repair(job.task.path, b"", b"")
    try:
        return _Rounds(workspace, job, source).run()
    finally:
        workspace.hold(job.task.path, source.data)


class _Rounds:
    def __init__(self, workspace: Workspace, job: Job, source: SourceFile) -> None:
        self._workspace = workspace
        self._job = job
        self._original = source
        self._reads: set[Path] = set()
        self._failed: dict[_Key, str] = {}
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
            if not waiting:
                if all_tried:
                    return self._result(state.source, fixed, units=state.units)
                # What failed with an earlier text may hold now.
                self._failed.clear()
                all_tried = True
                continue
            if rounds == limit:
                return self._result(original, endless=waiting)
            together = _together(waiting, state)
            if not rounds:
                # Fixes that wait for others to be out of their way do not show that there is no end.
                limit += len(waiting) - len(together)
            accepted, after = self._settle(state, ([], state), together)
            if accepted:
                self._follow(after.shift)
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
            chosen = [*good[0], *more]
            completed = self._completed(base, chosen, outcome)
            if completed is not None:
                return chosen, completed
            self._failed[_key(more[0])] = outcome.why
            return good
        suspects = [finding for finding in more if Mark.of(finding) in outcome.suspects]
        others = [finding for finding in more if Mark.of(finding) not in outcome.suspects]
        if not suspects or not others:
            half = len(more) // 2
            others, suspects = [*more[:half]], [*more[half:]]
        return self._settle(base, self._settle(base, good, others), suspects)

    def _completed(self, base: _State, chosen: Sequence[Finding], failure: _Failure) -> _State | None:
        """What comes of fixes together with those of the new errors that they lead to; None if errors remain.

        State that becomes a tensor makes a condition on it data-dependent, and the fix of that condition holds only
        then: neither of the two fixes holds alone.
        """
        for _ in range(MAX_FOLLOW_UPS):
            state, errors = failure.after, failure.errors
            waiting = [finding for finding in state.waiting if Mark.of(finding) in errors] if state else []
            if state is None or not waiting or len({Mark.of(finding) for finding in waiting}) < len(errors):
                return None
            outcome = self._attempt(base, chosen, follow_ups=_together(waiting, state), start=state)
            if isinstance(outcome, _State):
                return outcome
            failure = outcome
        return None

    def _attempt(
        self,
        base: _State,
        chosen: Sequence[Finding],
        *,
        follow_ups: Sequence[Finding] = (),
        start: _State | None = None,
    ) -> _State | _Failure:
        """What comes of fixes, or why one of them does not do what it is for, or does harm.

        `start` is what came of them before, to which their follow-ups are applied.
        """
        start = start or replace(base, shift=Chain())
        edits = self._laid_out(start, follow_ups or chosen)
        try:
            source = start.source.edited(places(edits, start.source.lines))
        except SourceError:
            return _Failure("its text does not fit the file")
        if source.text != apply(edits, start.source.lines) or source.data in {start.source.data, base.source.data}:
            return _Failure("it changes nothing")
        if not _compiles(source) and _compiles(start.source):
            return _Failure("the file would not parse")
        shift = Chain((*start.shift.shifts, Shift(edits, start.source.lines, source.lines)))
        after = replace(self._look(source), shift=shift)
        fixed = {Mark.of(finding) for finding in chosen}
        if broken(base.marks, after.marks):
            return _Failure("the file could not be analyzed any more")
        wrong = news(base.marks, after.marks, {source.filename: shift}, fixed)
        if not wrong:
            return after
        harmed = [each.mark.span for each in wrong if each.mark.filename == source.filename]
        suspects = frozenset(
            Mark.of(finding)
            for finding in chosen
            for span in (finding.span, *(edit.span for edit in _edits([finding])))
            if any(_touches(shift.reach(span), place) for place in harmed)
        )
        is_new = len(harmed) == len(wrong) and not any(each.remains for each in wrong)
        errors = frozenset(each.mark for each in wrong) if is_new else frozenset[Mark]()
        return _Failure(str(wrong[0]), suspects, after, errors)

    def _laid_out(self, state: _State, findings: Iterable[Finding]) -> list[Edit]:
        """The edits of fixes that go together, which may make lines too long that none makes too long by itself."""
        return laid_out_edits(state.source, _edits(findings), self._job.task.settings.line_length)

    def _look(self, source: SourceFile) -> _State:
        task, most = self._job.task, self._job.most
        self._workspace.hold(task.path, source.data)
        tasks = (task, *self._job.witnesses)
        looked = [self._workspace.lint(task), *(self._workspace.lint(one, NO_FIXES) for one in self._job.witnesses)]
        units = worked_out(
            tasks, looked, lambda asked: [self._workspace.lint(one.task, one.fixes) for one in asked], task.filename
        )
        self._reads.update(*(unit.reads for unit in units))
        findings = [f for f in merge(tasks, units) if f.filename == task.filename]
        waiting = tuple(wanted(filter(task.settings.shows, findings), most))
        found = marks([*(f for unit in units for f in unit.findings), *findings])
        return _State(source, waiting, found, {task.path: unit for task, unit in zip(tasks, units, strict=True)})

    def _is_unwanted(self, finding: Finding) -> bool:
        span = finding.span
        return any(
            mark.code == finding.code and mark.span.start <= span.start and span.end <= mark.span.end
            for mark in self._unwanted
        )

    def _follow(self, shift: Chain) -> None:
        """Know what failed by its new place. Where that was edited, it may be tried again."""
        self._shift = Chain((*self._shift.shifts, *shift.shifts))
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


def _compiles(source: SourceFile) -> bool:
    """Whether Python takes the text, also beyond its syntax."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            # A notebook may await something at its top level; any other file that does so does not run anyway.
            compile(source.text, source.filename, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True
