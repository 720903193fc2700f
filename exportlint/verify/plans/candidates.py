"""The fixes that may help a model: those of findings in code that it runs, and the checks that torch proposes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exportlint.big_stack import on_big_stack
from exportlint.edits import compatible
from exportlint.findings import Applicability, Finding, Fix, Mode, Position, Severity, Span
from exportlint.fix_requests import answered, requests
from exportlint.fixer import EditError, edited
from exportlint.fixes.edit.layout import Layout
from exportlint.linter import merge
from exportlint.source import SourceError, SourceFile, SyntaxProblem, is_notebook, parse
from exportlint.verify.hints import as_fixes
from exportlint.verify.kinds import disagreements, shown
from exportlint.verify.plans.progress import first_failure
from exportlint.verify.quotes import quotes
from exportlint.verify.reach import ran
from exportlint.verify.results import Failure, Frame, Run
from exportlint.verify.statements import Statements
from exportlint.workspace import NO_FIXES, Task, Workspace

TORCH = "torch"
"""The code of findings that stand for what torch proposes by itself."""

_LINTER = "EXP0"
"""The family of rules that say nothing about torch.export."""

Key = tuple[str, str, str, tuple[str, ...], int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A finding with a fix to try.

    `nearness` to what keeps the model from exporting: 0 at the very statement. `number` counts the same fixes in one
    function, from 0.
    """

    finding: Finding
    fix: Fix
    nearness: int
    number: int = 0

    @property
    def key(self) -> Key:
        """By what the same fix is known again where rows have moved."""
        finding = self.finding
        contents = tuple(edit.content for edit in self.fix.edits)
        return finding.filename, finding.symbol, finding.code, contents, self.number

    @property
    def is_assumption(self) -> bool:
        """Whether it has torch take for granted what the inputs that are tried bear out, and others may not."""
        return self.finding.code == TORCH

    @property
    def is_safe(self) -> bool:
        """Whether the fix does not change what the code does."""
        return self.fix.applicability is Applicability.SAFE


@dataclass(frozen=True, slots=True)
class Look:
    """What is found in the code that a model runs: all findings, and of these the candidates, the nearest first."""

    findings: tuple[Finding, ...]
    candidates: tuple[Candidate, ...]


class Finder:
    """Finds candidates in the files as they are at some state."""

    def __init__(self, task_of: Callable[[Path], Task | None], most: Applicability) -> None:
        """`task_of` gives how a file is linted, or None if it is not to be touched. Fixes are taken up to `most`."""
        self._task_of = task_of
        self._most = most
        self._workspace = Workspace({}, keeps_results=True)
        self._looks: dict[tuple[object, ...], Look] = {}
        self._disk: dict[Path, bytes] = {}
        """What files held when they were first read: a plan is for these."""

    def look(self, runs: Sequence[Run], texts: Mapping[Path, bytes]) -> Look:
        """What there is to try where files hold `texts`, and the models came to `runs`."""
        key = frozenset(texts.items()), tuple(map(id, runs))
        if key not in self._looks:
            self._looks[key] = on_big_stack(lambda: self._look(runs, texts))
        return self._looks[key]

    def blamed(self, run: Run, look: Look, texts: Mapping[Path, bytes]) -> list[Finding]:
        """The findings about what keeps a run from exporting, the gravest first."""
        nearness = _Nearness([run], lambda path: self._source(path, texts))
        found = (finding for finding in look.findings if finding.mode == run.mode and nearness.of(finding) == 0)
        return sorted(found, key=lambda finding: (finding.severity.rank, finding.sort_key))

    def text(self, path: Path, texts: Mapping[Path, bytes]) -> bytes:
        """What a file holds at a state, or held when it was first read; nothing if it cannot be read."""
        source = self._source(path, texts)
        return b"" if source is None else source.data

    def applied(self, candidates: Sequence[Candidate], texts: Mapping[Path, bytes]) -> dict[Path, bytes]:
        """The texts with fixes that go together.

        Raises:
            EditError: they do not, or a file would not parse.
        """
        return on_big_stack(lambda: self._applied(candidates, texts))

    def together(self, candidates: Sequence[Candidate], texts: Mapping[Path, bytes]) -> list[Candidate]:
        """Of these as many as go together."""
        chosen: set[int] = set()
        for path, own in _by_file(candidates).items():
            source = self._source(path, texts)
            if source is not None:
                chosen |= {id(fix) for fix in compatible([one.fix for one in own], source.lines)}
        return [one for one in candidates if id(one.fix) in chosen]

    def _applied(self, candidates: Sequence[Candidate], texts: Mapping[Path, bytes]) -> dict[Path, bytes]:
        if len(self.together(candidates, texts)) < len(candidates):
            raise EditError("its edits conflict with another fix")
        now = dict(texts)
        for path, own in _by_file(candidates).items():
            source, task = self._source(path, texts), self._task_of(path)
            if source is None or task is None or not source.is_faithful:
                raise EditError("its file cannot be written back in its encoding")
            edits = [edit for one in own for edit in one.fix.edits]
            now[path] = edited(source, Layout(source, task.settings.line_length).edits(edits)).data
        return now

    def _source(self, path: Path, texts: Mapping[Path, bytes]) -> SourceFile | None:
        task = self._task_of(path)
        if task is None:
            return None
        try:
            if path not in self._disk:
                self._disk[path] = task.read().data
            self._workspace.see({**self._disk, **texts})
            return self._workspace.read(task)
        except SourceError:
            return None

    def _look(self, runs: Sequence[Run], texts: Mapping[Path, bytes]) -> Look:
        findings: dict[object, Finding] = {}
        for mode in dict.fromkeys(run.mode for run in runs):
            for finding in self._found([run for run in runs if run.mode == mode], mode, texts):
                key = finding.filename, finding.span, finding.code
                known = findings.get(key)
                if known is None or (known.fix is None and finding.fix is not None):
                    findings[key] = finding
        nearness = _Nearness(runs, lambda path: self._source(path, texts))
        candidates = [
            Candidate(finding, finding.fix, nearness.of(finding))
            for finding in findings.values()
            if finding.fix is not None and finding.fix.applicability.rank <= self._most.rank
        ]
        if self._most is not Applicability.SAFE:
            proposals = (one for run in runs for one in self._proposed(run, texts))
            candidates += {one.key: one for one in proposals}.values()
        return Look(tuple(findings.values()), tuple(sorted(_numbered(candidates), key=_order)))

    def _found(self, runs: Sequence[Run], mode: Mode, texts: Mapping[Path, bytes]) -> Iterator[Finding]:
        """The findings in code that ran, those with fixes that are wanted with their fixes."""
        rows: dict[Path, set[int]] = {}
        for run in runs:
            for file, seen in run.lines.items():
                rows.setdefault(Path(file), set()).update(seen)
        known = [task for path in sorted(rows) if self._source(path, texts) and (task := self._task_of(path))]
        tasks = [replace(task, settings=replace(task.settings, mode=mode)) for task in known if _is_text(task)]
        self._workspace.see({**self._disk, **texts})
        units = [self._workspace.lint(task, NO_FIXES) for task in tasks]
        by_name = {task.filename: task for task in tasks}
        trees = {task.filename: self._tree(task) for task in tasks}

        def runs_it(finding: Finding) -> bool:
            tree = trees.get(finding.filename)
            return tree is not None and ran(tree, rows[by_name[finding.filename].path], finding.span)

        def is_wanted(finding: Finding) -> bool:
            task = by_name[finding.filename]
            return task.settings.offers_fix(finding) and runs_it(finding)

        while asked := requests(tasks, units, (f for f in merge(tasks, units) if f.fix_pending and is_wanted(f))):
            for index, look in asked.items():
                unit = self._workspace.lint(look.task, look.fixes)
                units[index] = answered(units[index], unit, look.fixes or frozenset())
        yield from (f for f in merge(tasks, units) if not f.code.startswith(_LINTER) and runs_it(f))

    def _tree(self, task: Task) -> ast.Module | None:
        try:
            return parse(self._workspace.read(task))
        except (SourceError, SyntaxProblem):
            return None

    def _proposed(self, run: Run, texts: Mapping[Path, bytes]) -> Iterator[Candidate]:
        """What torch proposes to write before the line that it fails at. Whether it holds, verify finds out."""
        failure = first_failure(run)
        if failure is None or run.verdict != "fails" or not failure.frames or not failure.hints:
            return
        frame = failure.frames[-1]
        source = self._source(Path(frame.file), texts)
        if source is None or is_notebook(source.path) or not 1 <= frame.row <= len(source.lines):
            return
        row = Statements(source).row_to_insert(frame.row)
        place = Span(Position(row, 1), Position(row, 1))
        for fix in as_fixes([hint for hint in failure.hints if _is_comparison(hint)], source.lines, row):
            unsafe = replace(fix, applicability=Applicability.UNSAFE)
            name, message = failure.type, failure.message
            yield Candidate(
                Finding(TORCH, name, Severity.ERROR, message, frame.file, place, frame.function, run.mode, fix=unsafe),
                unsafe,
                0,
            )


class _Nearness:
    """How near findings are to what keeps runs from exporting with equal results."""

    def __init__(self, runs: Iterable[Run], source: Callable[[Path], SourceFile | None]) -> None:
        self._runs = [run for run in runs if run.verdict != "exports"]
        self._source = source
        self._statements: dict[str, Statements] = {}

    def of(self, finding: Finding) -> int:
        """0: at what torch blames; 1: at a statement that leads there; 2: elsewhere in code that runs."""
        return min((self._by(run, finding) for run in self._runs if run.mode == finding.mode), default=2)

    def _by(self, run: Run, finding: Finding) -> int:
        failure = first_failure(run)
        if run.verdict != "fails" or failure is None:
            seen = any(shown(finding.code).is_shown_by(one) for one in disagreements(run))
            return 0 if seen else 2
        if not failure.frames:
            return 0 if quotes(finding.code, failure) else 2
        near = [self._is_at(frame, finding) for frame in failure.frames]
        if near[-1]:
            return 0
        return 1 if any(near) or self._leads_to(failure, finding) else 2

    def _is_at(self, frame: Frame, finding: Finding) -> bool:
        """Whether a finding is about the statement at a place."""
        if Path(frame.file) != Path(finding.filename):
            return False
        statements = self._of_file(frame.file)
        return statements.at(frame.row) == statements.at(finding.span.start.row)

    def _leads_to(self, failure: Failure, finding: Finding) -> bool:
        """Whether the value that a finding is about comes from the statement that torch blames."""
        return any(
            Path(step.filename) == Path(failure.frames[-1].file) and step.span.start.row == failure.frames[-1].row
            for step in finding.trail
        )

    def _of_file(self, filename: str) -> Statements:
        if filename not in self._statements:
            self._statements[filename] = Statements(self._source(Path(filename)))
        return self._statements[filename]


def _is_comparison(hint: str) -> bool:
    """Whether a check compares something. One that only names a number would make that the number of the example."""
    try:
        call = ast.parse(hint, mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return isinstance(call, ast.Call) and bool(call.args) and isinstance(call.args[0], ast.Compare)


def _numbered(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    counts: dict[Key, int] = {}
    for one in sorted(candidates, key=lambda one: one.finding.sort_key):
        counts[one.key] = counts.get(one.key, -1) + 1
        yield replace(one, number=counts[one.key])


def _by_file(candidates: Iterable[Candidate]) -> dict[Path, list[Candidate]]:
    found: dict[Path, list[Candidate]] = {}
    for one in candidates:
        found.setdefault(Path(one.finding.filename), []).append(one)
    return found


def _order(one: Candidate) -> tuple[object, ...]:
    rank = one.fix.applicability.rank
    return one.nearness, one.finding.code == TORCH, rank, one.finding.filename, one.finding.span, one.finding.code


def _is_text(task: Task) -> bool:
    return not is_notebook(task.path)
