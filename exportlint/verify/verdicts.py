"""What runs of torch.export say about findings: confirmed, refuted, not reached; and what the linter missed."""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from exportlint.findings import Finding, Fix, Mode, Severity, Step
from exportlint.messages import recognize
from exportlint.source import SourceError, SourceFile, SyntaxProblem, parse, read
from exportlint.verify.constraints import GUARD, Violation, as_fix, restrictions, violation
from exportlint.verify.hints import as_fixes
from exportlint.verify.kinds import NUMBERS, agreed, disagreements, kept, shown
from exportlint.verify.quotes import quotes
from exportlint.verify.reach import may_be_skipped, ran
from exportlint.verify.results import Comparison, Failure, Frame, Run
from exportlint.verify.rulings import (
    RULINGS,
    Judged,
    Judgement,
    Ruling,
    Surprise,
    described,
    one_line,
    raised_by,
    raised_in,
    said_by,
)
from exportlint.verify.statements import Statement, Statements

__all__ = ["RULINGS", "Judged", "Judgement", "Ruling", "Sources", "Surprise", "judge"]

Sources = Callable[[str], SourceFile | None]
"""Gives the file of a name, or None if it cannot be read."""

_OF_DECLARED_SIZES = frozenset({"EXP401", "EXP402", "EXP403", "EXP407"})
"""What is an error only where a call gives the dimension a `Dim`, and else says that the program is narrower."""
_OF_CALLS, _OF_SIZES = "EXP8", "EXP4"
_OF_WHAT_IS_CALLED = frozenset({"EXP614"})
"""Rules about a call because of what is inside: torch blames that."""
_OF_WHAT_IS_MADE = frozenset({"EXP701"})
"""Rules about the place where something is made that the output holds: torch blames the output."""
_ABOUT_SYMBOLS = ("GuardOnDataDependentSymNode", "PendingUnbackedSymbolNotFound", GUARD)

_Place = tuple[str, Mode]
"""A file by its real path, and a mode."""


def judge(findings: Sequence[Finding], runs: Sequence[Run], sources: Sources | None = None) -> Judgement:
    """Hold findings, each in the mode that it was made for, against runs.

    The rows of findings must be those of the files that ran: `sources` gives these, by default from the disk. Where
    several runs say something about one finding, the strongest word counts.
    """
    court = _Court(findings, runs, sources or _from_disk)
    judged = tuple(court.judged(finding) for finding in findings)
    missed: dict[tuple[object, ...], Surprise] = {}
    for run in runs:
        for surprise in court.missed(run):
            missed.setdefault((surprise.frame or run.target, surprise.what, surprise.message), surprise)
    return Judgement(judged, tuple(missed.values()))


def exported(run: Run) -> bool:
    """Whether export passed, whatever came of the program."""
    return run.verdict in ("exports", "not compared", "diverges", "narrower") or bool(run.comparisons)


def _from_disk(filename: str) -> SourceFile | None:
    try:
        return read(Path(filename))
    except SourceError:
        return None


class _Court:
    """Knows of each file which findings there are, and which runs came by, so that nothing else is looked at."""

    def __init__(self, findings: Sequence[Finding], runs: Sequence[Run], sources: Sources) -> None:
        self._sources = functools.cache(sources)
        self._path = functools.cache(os.path.realpath)
        self._statements = functools.cache(self._parsed)
        self._tree = functools.cache(self._parsed_tree)
        self._findings: dict[_Place, list[Finding]] = {}
        self._runs: dict[_Place, list[Run]] = {}
        self._in_mode: dict[Mode, list[Run]] = {}
        self._rows: dict[int, Mapping[str, frozenset[int]]] = {}
        for finding in findings:
            self._findings.setdefault((self._path(finding.filename), finding.mode), []).append(finding)
        for run in runs:
            self._in_mode.setdefault(run.mode, []).append(run)
            self._rows[id(run)] = {self._path(file): frozenset(rows) for file, rows in run.lines.items()}
            for file in self._files(run):
                self._runs.setdefault((file, run.mode), []).append(run)

    def _parsed(self, filename: str) -> Statements:
        source = self._sources(filename)
        return Statements() if source is None else Statements(source)

    def _statement(self, finding: Finding) -> Statement:
        return self._statements(finding.filename).at(finding.span.start.row)

    def _files(self, run: Run) -> set[str]:
        """Those that a run came by."""
        blamed = {self._path(frame.file) for failure in _failures(run) for frame in failure.frames}
        blamed |= set() if run.call is None else {self._path(run.call.file)}
        return blamed | self._rows[id(run)].keys()

    def judged(self, finding: Finding) -> Judged:
        """What all runs say of a finding."""
        runs = self._runs.get((self._path(finding.filename), finding.mode), [])
        in_mode = self._in_mode.get(finding.mode, [])
        if not runs:
            runs = in_mode if len(in_mode) == 1 else []  # a single one may say why it did not come by
        why = "no run reached it" if in_mode else f"nothing was run in {finding.mode} mode"
        none = Judged(finding, "not reached", why, near=False)
        said = (self._by(finding, run) for run in runs)
        return min(said, key=lambda judged: (RULINGS.index(judged.ruling), not judged.near), default=none)

    def _by(self, finding: Finding, run: Run) -> Judged:
        """What one run says. One that came to the line from elsewhere refutes nothing of what the trail shows."""
        judged = self._of_line(finding, run)
        if judged.ruling != "refuted":
            return judged
        if not all(self._came_by(step, run) for step in finding.trail):
            return Judged(finding, "not reached", "the line ran, but some of its trail did not", run)
        tree, source = self._tree(finding.filename), self._sources(finding.filename)
        if tree is not None and source is not None and may_be_skipped(tree, source.lines, finding.span):
            why = "the line ran, but a condition in it decides whether this part does"
            return Judged(finding, "not reached", why, run)
        return judged

    def _came_by(self, step: Step, run: Run) -> bool:
        """Whether the code that a step of a trail shows ran, where that is known."""
        tree = self._tree(step.filename) if step.cell is None else None
        return tree is None or ran(tree, self._rows[id(run)].get(self._path(step.filename), frozenset()), step.span)

    def _parsed_tree(self, filename: str) -> ast.Module | None:
        source = self._sources(filename)
        try:
            return None if source is None else parse(source)
        except SyntaxProblem:
            return None

    def _of_line(self, finding: Finding, run: Run) -> Judged:
        """What one run says of the line of a finding.

        An info claims nothing of the mode that it is shown in, so nothing confirms it. But where `dynamic_shapes` has a
        size vary that the line fixes, what is said there is an error of this run.
        """
        statement = self._statement(finding)
        for failure in _failures(run):
            if _claims(finding) and self._raises(failure, finding, statement):
                return Judged(finding, "confirmed", raised_by(failure, "here"), run)
            if self._constrains(failure, finding, statement, run, restrictions(failure, run)):
                fixed = finding if finding.fix else replace(finding, fix=next(iter(self._fixes(failure, run)), None))
                fixed = fixed if _claims(finding) else replace(fixed, severity=Severity.ERROR)
                return Judged(fixed, "confirmed", raised_by(failure, "because of this"), run)
        if run.verdict == "cannot be built":
            return Judged(finding, "not reached", f"the target cannot be built: {run.reason}", run, near=False)
        if not self._ran(run, finding.filename, statement.witnesses):
            near = self._ran(run, finding.filename, statement.outermost.witnesses)
            return Judged(finding, "not reached", "the line did not run on the example", run, near)
        if not _claims(finding):
            return Judged(
                finding, "not reached", f"the line ran, and an info finding makes no claim about {run.mode} mode", run
            )
        if not exported(run):
            return self._by_failures(finding, run)
        if finding.severity is Severity.ERROR and finding.code not in _OF_DECLARED_SIZES:
            return Judged(finding, "refuted", "the line ran, and export passed", run)
        judged = _by_comparisons(finding, run)
        if finding.severity is Severity.ERROR and judged.ruling == "refuted":
            return Judged(finding, "not reached", "the line ran, but it is about a call that gives a `Dim`", run)
        return judged

    def _by_failures(self, finding: Finding, run: Run) -> Judged:
        """What a run says of a finding that ran, if export failed and torch does not blame its line."""
        if run.verdict == "times out":
            return Judged(finding, "not reached", "the line ran, but export timed out", run)
        placeless = [failure for failure in _failures(run) if not failure.frames and not _is_guess(failure)]
        if not placeless:
            statement = self._statement(finding)
            frames = (frame for failure in _failures(run) for frame in failure.frames)
            here = any(self._is_at(frame, finding.filename, statement) for frame in frames)
            how = "for another reason" if here else "elsewhere"
            return Judged(finding, "not reached", f"the line ran, but export failed {how}", run)
        if finding.severity is Severity.ERROR:
            quoted = next((failure for failure in placeless if quotes(finding.code, failure)), None)
            if quoted is not None:
                return Judged(finding, "confirmed", raised_by(quoted, "what this rule is about"), run)
            if [f.severity for f in self._that_ran(run)].count(Severity.ERROR) == 1:
                why = f"export raises, and no other line that ran has an error finding: {said_by(placeless[0])}"
                return Judged(finding, "confirmed", why, run)
        return Judged(finding, "not reached", "the line ran, but export failed and torch does not say where", run)

    def _that_ran(self, run: Run) -> list[Finding]:
        """The findings in the mode of a run whose lines ran."""
        near = (finding for file in self._files(run) for finding in self._findings.get((file, run.mode), ()))
        return [f for f in near if self._ran(run, f.filename, self._statement(f).witnesses)]

    def _raises(self, failure: Failure, finding: Finding, statement: Statement) -> bool:
        """Whether a statement raises itself. What calls the one that does is hardly ever to blame."""
        if failure.type == GUARD and not finding.code.startswith(_OF_SIZES):
            return False
        if finding.severity is not Severity.ERROR and self._has_error(failure, finding, statement):
            return False
        made = finding.code in _OF_WHAT_IS_MADE and _is_about(failure, finding)
        frames = (f for f in failure.frames if f.lowest or made or finding.code in _OF_WHAT_IS_CALLED)
        at = (frame for frame in frames if self._is_at(frame, finding.filename, statement))
        return any(not self._is_of_another(frame, finding, statement) for frame in at)

    def _has_error(self, failure: Failure, finding: Finding, statement: Statement) -> bool:
        """Whether a statement has an error, which claims that it raises, beside a warning that does not claim this."""
        if _is_about(failure, finding):
            return False
        errors = (f for f in self._beside(finding, statement) if f.severity is Severity.ERROR)
        return any(self._raises(failure, error, statement) for error in errors)

    def _is_of_another(self, frame: Frame, finding: Finding, statement: Statement) -> bool:
        """Whether a statement has several findings of a rule, and what raises is in that of another one."""
        alike = [f for f in self._beside(finding, statement) if f.code == finding.code]
        at = [f.span for f in alike if self._is_in(f, frame)]
        at = at or [f.span for f in alike if _spans(f, frame.row)]
        return bool(at) and finding.span not in at

    def _beside(self, finding: Finding, statement: Statement) -> list[Finding]:
        """The findings of a statement in the mode of one of them, which is among them."""
        found = self._findings.get((self._path(finding.filename), finding.mode), ())
        return [other for other in found if self._statement(other) == statement]

    def _is_in(self, finding: Finding, frame: Frame) -> bool:
        """Whether a finding has some of the expression that was at work, where that is known."""
        source = self._sources(finding.filename)
        if frame.extent is None or source is None:
            return False
        row, column, last, end = frame.extent
        if last > len(source.lines):
            return False
        start, stop = source.lines.from_ast(row, column), source.lines.from_ast(last, end)
        return finding.span.start < stop and start < finding.span.end

    def _constrains(
        self, failure: Failure, finding: Finding, statement: Statement, run: Run, restricting: Sequence[Frame]
    ) -> bool:
        """Whether a finding is about the sizes that torch refuses to vary, of which it names only the dimensions.

        `restricting` are the lines that restrict these sizes, as far as they are known.
        """
        violated = violation(failure)
        if violated is None:
            return False
        if finding.code.startswith(_OF_CALLS):
            at_call = run.call is not None and self._is_at(run.call, finding.filename, statement)
            text = self._text(finding.filename, statement)
            return at_call or any(re.search(rf"\bDim\(\s*{name}\b", text) for name in violated.dimensions)
        placed = self._of_sizes_at(restricting, run)
        return finding in placed if placed else self._of_sizes(violated, run) == [finding]

    def _of_sizes_at(self, places: Sequence[Frame], run: Run) -> list[Finding]:
        """The findings about sizes, infos as well, of the statements at these places."""
        return [
            finding
            for frame in places
            for finding in self._findings.get((self._path(frame.file), run.mode), ())
            if finding.code.startswith(_OF_SIZES) and self._is_at(frame, finding.filename, self._statement(finding))
        ]

    def _of_sizes(self, violated: Violation, run: Run) -> list[Finding]:
        """The findings that ran and are about sizes of the inputs that are named: of several, it may be any."""
        ran = [f for f in self._that_ran(run) if f.code.startswith(_OF_SIZES) and _claims(f)]
        named = [f for f in ran if not violated.inputs.isdisjoint(self._words(f.filename, self._statement(f), f))]
        return named or ran

    def _words(self, filename: str, statement: Statement, finding: Finding | None = None) -> set[str]:
        """The names and strings of a statement, and of the trail of what is found there."""
        trail = [step.message for step in finding.trail] if finding else []
        return set(re.findall(r"\w+", "\n".join([self._text(filename, statement), *trail])))

    def _text(self, filename: str, statement: Statement) -> str:
        """The text of a statement, with blanks for quotes."""
        source = self._sources(filename)
        lines = [] if source is None else [source.lines.line(r) for r in statement.rows if r <= len(source.lines)]
        return re.sub(r"[\s'\"]", " ", "\n".join(lines))

    def _is_at(self, frame: Frame, filename: str, statement: Statement) -> bool:
        return self._path(frame.file) == self._path(filename) and self._statements(filename).at(frame.row) == statement

    def _ran(self, run: Run, filename: str, rows: range) -> bool:
        if run.call is not None and run.call.row in rows and self._path(run.call.file) == self._path(filename):
            return True
        return not self._rows[id(run)].get(self._path(filename), frozenset()).isdisjoint(rows)

    def missed(self, run: Run) -> Iterator[Surprise]:
        """What a run met that no finding in its mode claims."""
        findings = [f for file in self._files(run) for f in self._findings.get((file, run.mode), ()) if _claims(f)]
        near = [(finding, self._statement(finding)) for finding in findings]
        claimed = [finding for finding in self._that_ran(run) if _claims(finding)]
        errors = any(finding.severity is Severity.ERROR for finding in claimed)
        for failure in _failures(run):
            if _is_guess(failure) or (errors and not failure.frames):  # it may be any of those that ran
                continue
            restricted = restrictions(failure, run)
            said = any(self._raises(failure, f, s) or self._constrains(failure, f, s, run, restricted) for f, s in near)
            if not said and not self._of_sizes_at(restricted, run):
                frame = failure.frames[-1] if failure.frames else run.call or next(iter(restricted), None)
                message, fixes = one_line(failure.message), self._fixes(failure, run)
                yield Surprise(
                    run,
                    Severity.ERROR,
                    frame,
                    failure.type,
                    message,
                    fixes,
                    failure.further,
                    (failure.type, message),
                    tuple(place for place in restricted if place != frame),
                )
        if run.verdict == "fails" and not any(_failures(run)):  # torch itself crashed
            yield Surprise(run, Severity.ERROR, None, "crash", one_line(run.reason))
        unclaimed: dict[str, Comparison] = {}
        found = [(c, errors or any(_is_shown(f, c) for f in claimed)) for c in disagreements(run)]
        explains_numbers = any(c.kind in NUMBERS and c.agreement == "diverges" and said for c, said in found)
        for comparison, said in found:
            # What an earlier call leaves behind, for instance, is also seen with other sizes.
            if not said and not (explains_numbers and comparison.kind == "size" and comparison.agreement == "diverges"):
                unclaimed.setdefault(comparison.kind, comparison)
        for kind, comparison in unclaimed.items():
            raised = raised_in(comparison)
            yield Surprise(run, Severity.WARNING, None, kind, described(comparison), raised=raised)

    def _fixes(self, failure: Failure, run: Run) -> tuple[Fix, ...]:
        """What torch proposes: of the dimensions where it was called, or in the line that it blames."""
        called = None if run.call is None else self._sources(run.call.file)
        if called is not None and (fix := as_fix(failure, called)) is not None:
            return (fix,)
        frame = failure.frames[-1] if failure.frames else None
        source = None if frame is None else self._sources(frame.file)
        if frame is None or source is None or not 1 <= frame.row <= len(source.lines):
            return ()
        return as_fixes(failure.hints, source.lines, self._statements(frame.file).row_to_insert(frame.row))


def _by_comparisons(warning: Finding, run: Run) -> Judged:
    claim = shown(warning.code)
    against = next((c for c in (*disagreements(run), *kept(run)) if _is_shown(warning, c)), None)
    if against is not None:
        return Judged(warning, "confirmed", described(against), run)
    if not claim.needed:
        return Judged(warning, "not reached", "the line ran, but no comparison can detect this", run)
    shown_by = agreed(run)
    lacking = sorted(claim.needed - shown_by)
    if lacking:
        said = {c.agreement for c in run.comparisons if c.kind in lacking}
        if said - {"agrees", "skipped"}:
            why = "differs for another reason"
        elif said == {"agrees"}:
            why = "agrees only within the tolerance"
        else:
            why = "was not compared in full" if "agrees" in said else "was not compared"
        return Judged(warning, "not reached", f"the line ran, but {why}: {', '.join(lacking)}", run)
    return Judged(warning, "refuted", f"the line ran, and program and model agree: {', '.join(sorted(shown_by))}", run)


def _is_shown(finding: Finding, comparison: Comparison) -> bool:
    """Whether a disagreement is about the claim of a warning: by its kind, or by what the program raises."""
    raised = raised_in(comparison)
    known = recognize(*raised) if raised is not None else None
    return shown(finding.code).is_shown_by(comparison) or (known is not None and finding.code in known.codes)


def _is_about(failure: Failure, finding: Finding) -> bool:
    """Whether what torch says is known to be of the rule of a finding."""
    known = recognize(failure.type, failure.message)
    return known is not None and finding.code in known.codes


def _spans(finding: Finding, row: int) -> bool:
    return finding.span.start.row <= row <= finding.span.end.row


def _claims(finding: Finding) -> bool:
    return finding.severity is not Severity.INFO


def _failures(run: Run) -> Iterator[Failure]:
    return (failure for failure in run.failures if failure.stage == "export")


def _is_guess(failure: Failure) -> bool:
    """Whether draft_export alone met it, and it is about a symbol or about no line.

    It goes on with the numbers of the example where export cannot, and so also meets what export passes by.
    """
    return failure.further and (failure.type in _ABOUT_SYMBOLS or not failure.frames)
