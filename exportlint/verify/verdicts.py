"""What runs of torch.export say about findings: confirmed, refuted, not reached; and what the linter missed."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from exportlint.findings import Finding, Fix, Severity
from exportlint.source import SourceError, SourceFile, read
from exportlint.verify.hints import as_fixes
from exportlint.verify.kinds import Shown, shown
from exportlint.verify.results import Comparison, Failure, Frame, Run
from exportlint.verify.statements import Statement, Statements

Ruling = Literal["confirmed", "refuted", "not reached"]

RULINGS: tuple[Ruling, ...] = ("confirmed", "refuted", "not reached")
"""The stronger ones first."""

Sources = Callable[[str], SourceFile | None]
"""Gives the file of a name, or None if it cannot be read."""

_MAX_WHY = 240


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding, what became of its claim, in one line why, and the run that says so, if one does.

    `near` says whether anything of the class or function around it ran or is blamed, or else it was hardly meant.
    """

    finding: Finding
    ruling: Ruling
    why: str
    run: Run | None = None
    near: bool = True


@dataclass(frozen=True, slots=True)
class Surprise:
    """What a run met and no finding claims. `frame` is the place in the user's code, None where torch names none.

    `severity` is that of the finding that there should have been, `what` the type of the exception or the kind of the
    comparison. `fixes` are what torch proposes; they are only to be shown.
    """

    run: Run
    severity: Severity
    frame: Frame | None
    what: str
    message: str
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What becomes of each finding, in their order, and what was missed, in the order of the runs."""

    findings: tuple[Judged, ...]
    missed: tuple[Surprise, ...]


def judge(findings: Sequence[Finding], runs: Sequence[Run], sources: Sources | None = None) -> Judgement:
    """Hold findings, each in the mode that it was made for, against runs.

    The rows of findings must be those of the files that ran: `sources` gives these, by default from the disk. Where
    several runs say something about one finding, the strongest word counts.
    """
    court = _Court(sources or _from_disk)
    judged = tuple(court.judged(finding, runs) for finding in findings)
    missed: dict[tuple[object, ...], Surprise] = {}
    for run in runs:
        for surprise in court.missed(findings, run):
            missed.setdefault((surprise.frame or run.target, surprise.what, surprise.message), surprise)
    return Judgement(judged, tuple(missed.values()))


def one_line(message: str) -> str:
    """What an exception says, as far as one line has it."""
    text = next((" ".join(line.split()) for line in message.splitlines() if line.strip()), "")
    return text if len(text) <= _MAX_WHY else text[: _MAX_WHY - 1].rstrip() + "…"


def exported(run: Run) -> bool:
    """Whether export passed, whatever came of the program."""
    return run.verdict in ("exports", "diverges", "narrower") or bool(run.comparisons)


def _from_disk(filename: str) -> SourceFile | None:
    try:
        return read(Path(filename))
    except SourceError:
        return None


class _Court:
    def __init__(self, sources: Sources) -> None:
        self._sources = functools.cache(sources)
        self._path = functools.cache(os.path.realpath)
        self._statements = functools.cache(self._parsed)
        self._rows: dict[int, Mapping[str, frozenset[int]]] = {}

    def _parsed(self, filename: str) -> Statements:
        source = self._sources(filename)
        return Statements() if source is None else Statements(source)

    def _statement(self, finding: Finding) -> Statement:
        return self._statements(finding.filename).at(finding.span.start.row)

    def judged(self, finding: Finding, runs: Sequence[Run]) -> Judged:
        said = [self._by(finding, run) for run in runs if run.mode == finding.mode]
        none = Judged(finding, "not reached", f"nothing was run in {finding.mode} mode", near=False)
        return min(said, key=lambda judged: (RULINGS.index(judged.ruling), not judged.near), default=none)

    def _by(self, finding: Finding, run: Run) -> Judged:
        """What one run says."""
        statement = self._statement(finding)
        for failure in _failures(run):
            if any(self._is_at(frame, finding.filename, statement) for frame in failure.frames):
                return Judged(finding, "confirmed", f"export raises here: {said_by(failure)}", run)
        if run.verdict == "cannot be built":
            return Judged(finding, "not reached", f"the target cannot be built: {run.reason}", run, near=False)
        if not self._ran(run, finding.filename, statement.witnesses):
            near = self._ran(run, finding.filename, statement.outermost.witnesses)
            return Judged(finding, "not reached", "the line did not run on the example", run, near)
        if not exported(run):
            return Judged(finding, "not reached", f"the line ran, but export {_ended(run)}", run)
        if finding.severity is Severity.ERROR:
            return Judged(finding, "refuted", "the line ran, and export passed", run)
        if finding.severity is Severity.WARNING:
            return _by_comparisons(finding, run)
        return Judged(finding, "not reached", "the line ran, and nothing was seen that it is about", run)

    def _is_at(self, frame: Frame, filename: str, statement: Statement) -> bool:
        return frame.row in statement.rows and self._path(frame.file) == self._path(filename)

    def _ran(self, run: Run, filename: str, rows: range) -> bool:
        if id(run) not in self._rows:  # it cannot be hashed
            self._rows[id(run)] = {self._path(file): frozenset(rows) for file, rows in run.lines.items()}
        return not self._rows[id(run)].get(self._path(filename), frozenset()).isdisjoint(rows)

    def missed(self, findings: Sequence[Finding], run: Run) -> Iterator[Surprise]:
        """What a run met that no finding in its mode claims."""
        own = [finding for finding in findings if finding.mode == run.mode]
        places = [(f, self._statement(f)) for f in own]
        for failure in _failures(run):
            if not any(self._is_at(frame, f.filename, s) for frame in failure.frames for f, s in places):
                frame = failure.frames[-1] if failure.frames else None
                message, fixes = one_line(failure.message), self._fixes(failure, frame)
                yield Surprise(run, Severity.ERROR, frame, failure.type, message, fixes)
        if run.verdict == "fails" and not any(_failures(run)):  # torch itself crashed
            yield Surprise(run, Severity.ERROR, None, "crash", one_line(run.reason))
        claimed = [f for f, s in places if f.severity is not Severity.INFO and self._ran(run, f.filename, s.witnesses)]
        for comparison in _disagreements(run):
            if not any(f.severity is Severity.ERROR or comparison.kind in shown(f.code).by for f in claimed):
                yield Surprise(run, Severity.WARNING, None, comparison.kind, described(comparison))

    def _fixes(self, failure: Failure, frame: Frame | None) -> tuple[Fix, ...]:
        source = None if frame is None else self._sources(frame.file)
        if frame is None or source is None or not 1 <= frame.row <= len(source.lines):
            return ()
        return as_fixes(failure.hints, source.lines, self._statements(frame.file).row_to_insert(frame.row))


def _by_comparisons(warning: Finding, run: Run) -> Judged:
    claim = shown(warning.code)
    against = next(_against(claim, run), None)
    if against is not None:
        return Judged(warning, "confirmed", described(against), run)
    if not claim.needed:
        return Judged(warning, "not reached", "the line ran, but nothing that is compared can show this", run)
    agreed = {c.kind for c in run.comparisons if c.agreement == "agrees"}
    lacking = sorted(claim.needed - agreed)
    if lacking:
        return Judged(warning, "not reached", f"the line ran, but was not compared: {', '.join(lacking)}", run)
    return Judged(warning, "refuted", f"the line ran, and program and model agree: {', '.join(sorted(agreed))}", run)


def _against(claim: Shown, run: Run) -> Iterator[Comparison]:
    """The disagreements that show a claim.

    Where the example disagrees already, all else does so as well: then what disagrees in the same way shows nothing
    that a claim is about which the example is not to show.
    """
    always = {c.agreement for c in run.comparisons if c.kind == "example" and "example" not in claim.by}
    return (c for c in _disagreements(run) if c.kind in claim.by and c.agreement not in always)


def _failures(run: Run) -> Iterator[Failure]:
    return (failure for failure in run.failures if failure.stage == "export")


def _disagreements(run: Run) -> Iterator[Comparison]:
    return (c for c in run.comparisons if c.agreement in ("diverges", "narrower"))


def said_by(failure: Failure) -> str:
    """The type of an exception, and its message in one line."""
    return f"{failure.type}: {one_line(failure.message)}"


def described(comparison: Comparison) -> str:
    """A comparison in one line."""
    what = "is narrower" if comparison.agreement == "narrower" else comparison.agreement
    label = (
        f"{comparison.kind}, {comparison.label}" if comparison.label not in ("", comparison.kind) else comparison.kind
    )
    return f"the program {what} ({label})" + (f": {one_line(comparison.detail)}" if comparison.detail else "")


def _ended(run: Run) -> str:
    return "timed out" if run.verdict == "times out" else "failed elsewhere"
