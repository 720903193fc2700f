"""Which fixes are still to be worked out after files were looked at, and by looking at which of them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

from exportlint.findings import Finding
from exportlint.syntax.inputs import merged
from exportlint.units import ANALYSIS_LIMIT, INTERNAL_ERROR, FixKey, Task, Unit, fix_key

MAX_ASKED = 3
"""Files that may know the fix of a finding: a helper without one would have hundreds of models looked at again."""


@dataclass(frozen=True, slots=True)
class Look:
    """A file to look at; `fixes` are as in `Workspace.lint`."""

    task: Task
    fixes: Set[FixKey] | None = None


def requests(tasks: Sequence[Task], units: Sequence[Unit], findings: Iterable[Finding]) -> dict[int, Look]:
    """What to look at again, by its index, for the fixes of `findings` that are pending; they are merged from `units`.

    The files that lead to a finding work out its fix in `turn`, until one knows it or MAX_ASKED do not. Only if that
    fix is safe, all others are asked whether it holds for them as well.
    """
    pending = {fix_key(finding): finding for finding in findings if finding.fix_pending}
    leading: dict[FixKey, dict[str, tuple[int, bool]]] = {}
    for index in range(len(units)) if pending else ():
        for finding in units[index].findings:
            if (key := fix_key(finding)) in pending:
                leading.setdefault(key, {})[tasks[index].filename] = index, finding.fix_pending
    asked: dict[int, set[FixKey]] = {}
    for key, by_name in leading.items():
        names = sorted(by_name, key=partial(turn, key[0]))
        waiting = [name for name in names if by_name[name][1]]
        for name in waiting if pending[key].fix is not None else waiting[:1]:
            asked.setdefault(by_name[name][0], set()).add(key)
    return {index: Look(tasks[index], frozenset(asked[index])) for index in sorted(asked)}


def turn(filename: str, name: str) -> tuple[bool, str]:
    """Orders the names of files that lead to a finding in a file: in this order they are asked for its fix."""
    return name != filename, name


def answered(unit: Unit, again: Unit, asked: Set[FixKey]) -> Unit:
    """What looking at a file gave, with the fixes that looking at it `again` was asked for."""
    known = {(f.code, f.sort_key) for f in unit.findings}
    fixed = {f.sort_key: f for f in again.findings if fix_key(f) in asked}
    findings = [
        replace(f, fix=fixed[f.sort_key].fix if f.sort_key in fixed else None, fix_pending=False)
        if f.fix_pending and fix_key(f) in asked
        else f
        for f in unit.findings
    ]
    # What failed, or took too long, while fixes were worked out.
    findings += (
        f for f in again.findings if f.code in (ANALYSIS_LIMIT, INTERNAL_ERROR) and (f.code, f.sort_key) not in known
    )
    inputs = None if unit.inputs is None or again.inputs is None else merged([unit.inputs, again.inputs])
    return replace(unit, findings=tuple(findings), inputs=inputs)
