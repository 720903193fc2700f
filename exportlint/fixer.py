"""Fixes files: rounds of fixes, each of which is parsed and linted again before it counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from exportlint.edits import apply, compatible
from exportlint.findings import Finding, Severity
from exportlint.linter import Task, lint
from exportlint.source import SourceError

MAX_ROUNDS = 10

_BROKEN = frozenset({"EXP001", "EXP003", "EXP004"})


@dataclass(frozen=True, slots=True)
class Fixed:
    """What fixing a file came to: its new bytes, the findings that were fixed, and those that remain.

    `converged` is False if there was something to fix after the last round; then the bytes are the old ones.
    """

    data: bytes
    fixed: tuple[Finding, ...]
    remaining: tuple[Finding, ...]
    converged: bool = True


def fix_file(task: Task, wanted: Callable[[Finding], bool]) -> Fixed:
    """Apply the fixes of the findings that are `wanted` until none is left. Raises SourceError."""
    source = task.read()
    original = source.data
    current = replace(task, data=original)
    findings = lint([current]).findings
    fixed: list[Finding] = []
    dropped: set[object] = set()
    for _ in range(MAX_ROUNDS):
        waiting = [f for f in findings if f.fix is not None and wanted(f) and _key(f) not in dropped]
        if not waiting:
            return Fixed(current.data or b"", tuple(fixed), findings)
        together = _together(current, waiting)
        progress = _attempt(current, findings, together)
        if progress is None:
            for finding in together:
                progress = _attempt(current, findings, [finding]) if len(together) > 1 else None
                if progress is not None:
                    together = [finding]
                    break
                dropped.add(_key(finding))
        if progress is not None:
            current, findings = progress
            fixed += together
    return Fixed(original, (), lint([replace(task, data=original)]).findings, converged=False)


def _together(task: Task, findings: Sequence[Finding]) -> list[Finding]:
    chosen = compatible([f.fix for f in findings if f.fix is not None], task.read().lines)
    return [f for f in findings if any(f.fix is fix for fix in chosen)]


def _attempt(
    task: Task, before: Sequence[Finding], chosen: Sequence[Finding]
) -> tuple[Task, tuple[Finding, ...]] | None:
    """The file with fixes applied, and its findings; None if a finding is still there or there is a new error."""
    source = task.read()
    edits = [edit for finding in chosen if finding.fix is not None for edit in finding.fix.edits]
    try:
        fixed = replace(task, data=source.encode(apply(edits, source.lines)))
    except SourceError:
        return None
    after = lint([fixed]).findings
    if any(f.code in _BROKEN for f in after) or fixed.data == task.data:
        return None
    expected = Counter(map(_kind, before))
    expected.subtract(map(_kind, chosen))
    found = Counter(map(_kind, after))
    gone = all(found[_kind(f)] <= expected[_kind(f)] for f in chosen)
    errors = Counter(f.code for f in before if f.severity is Severity.ERROR)
    new = Counter(f.code for f in after if f.severity is Severity.ERROR)
    return (fixed, after) if gone and all(new[code] <= errors[code] for code in new) else None


def _kind(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.symbol


def _key(finding: Finding) -> object:
    assert finding.fix is not None
    return finding.code, finding.symbol, finding.message, tuple(e.content for e in finding.fix.edits)
