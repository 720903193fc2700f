"""Whether fixes did what they are for: their findings are gone, and nothing has become worse."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from exportlint.findings import Finding, Severity, Span
from exportlint.fixer.shifts import Chain
from exportlint.workspace import INTERNAL_ERROR, SYNTAX_ERROR, UNREADABLE_FILE

_BROKEN = frozenset({SYNTAX_ERROR, UNREADABLE_FILE, INTERNAL_ERROR})

_STILL = Chain()


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """By what a finding is known again: where it is, and of what rule."""

    filename: str
    span: Span
    code: str

    @classmethod
    def of(cls, finding: Finding) -> Mark:
        """The mark of a finding."""
        return cls(finding.filename, finding.span, finding.code)

    def at(self, span: Span | None) -> Mark:
        """The same at another place, if that is known."""
        return self if span is None else replace(self, span=span)


@dataclass(frozen=True, slots=True)
class Wrong:
    """A finding that speaks against fixes. `remains`: they should have fixed it; else it is a new error."""

    mark: Mark
    remains: bool

    def __str__(self) -> str:
        place = f"{Path(self.mark.filename).name}:{self.mark.span.start.row}"
        return "the finding would remain" if self.remains else f"it would introduce {self.mark.code} at {place}"


Marks = Mapping[Mark, bool]
"""Findings, and whether they are errors."""


def marks(findings: Iterable[Finding]) -> Marks:
    """The marks of findings, each once."""
    found: dict[Mark, bool] = {}
    for finding in findings:
        mark = Mark.of(finding)
        found[mark] = found.get(mark, False) or finding.severity is Severity.ERROR
    return found


def broken(before: Marks, after: Marks) -> bool:
    """Whether a file cannot be looked at any more."""
    files = {mark.filename for mark in before if mark.code in _BROKEN}
    return any(mark.code in _BROKEN and mark.filename not in files for mark in after)


def news(before: Marks, after: Marks, shifts: Mapping[str, Chain], fixed: Collection[Mark] = ()) -> list[Wrong]:
    """What is wrong after fixes: findings that they should have `fixed` and that are still there, and new errors.

    `shifts` are what edits did to files. A finding in code that they replaced is found again where the new code has one
    of the same rule, first of all one that was not to be fixed. An error is not new where there was another one: of
    several errors at one place only one is told.
    """
    gone = set(fixed)
    old = {mark: shifts.get(mark.filename, _STILL).span(mark.span) for mark in before}
    places = {(mark.filename, span, mark.code): mark for mark, span in old.items()}
    wrong: list[Wrong] = []
    left: list[Mark] = []
    for new in sorted(after):
        known = places.get((new.filename, new.span, new.code))
        if known is None:
            left.append(new)
        elif known in gone or after[new] > before[known]:
            wrong.append(Wrong(new, known in gone))
        old.pop(known, None)  # type: ignore[arg-type]
    errors = {(mark.filename, span) for mark, span in old.items() if before[mark] and mark not in gone}
    for new in left:
        candidates = [
            (mark in gone, reach, mark)
            for mark in old
            if (mark.filename, mark.code) == (new.filename, new.code) and before[mark] >= after[new]
            if (shift := shifts.get(mark.filename, _STILL)).is_edited(mark.span)
            if (reach := shift.reach(mark.span)).start <= new.span.end and new.span.start <= reach.end
        ]
        if candidates:
            was_fixed, _, known = min(candidates)
            del old[known]
            if was_fixed:
                wrong.append(Wrong(new, remains=True))
        elif after[new] and (new.filename, new.span) not in errors:
            wrong.append(Wrong(new, remains=False))
    return wrong
