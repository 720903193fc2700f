"""Which fixes are still to be worked out after files were looked at, and by looking at which of them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace

from exportlint.findings import Applicability, Finding
from exportlint.syntax.inputs import merged
from exportlint.units import ANALYSIS_LIMIT, INTERNAL_ERROR, FixKey, Task, Unit, fix_key


@dataclass(frozen=True, slots=True)
class Look:
    """A file to look at; `fixes` are as in `Workspace.lint`."""

    task: Task
    fixes: Set[FixKey] | None = None


def requests(tasks: Sequence[Task], units: Sequence[Unit], findings: Iterable[Finding]) -> dict[int, Look]:
    """What to look at again, by its index, for the fixes of `findings` that are pending; they are merged from `units`.

    Of the files that lead to a finding, the file of the finding itself works out its fix, or else the first one in the
    order of names. Only if that fix is safe, all others are asked whether it holds for them as well.
    """
    pending = {fix_key(finding): finding for finding in findings if finding.fix_pending}
    asked: dict[int, set[FixKey]] = {}
    begun: set[FixKey] = set()
    for index in sorted(range(len(units)) if pending else (), key=lambda index: tasks[index].filename):
        name = tasks[index].filename
        for key in {fix_key(f) for f in units[index].findings if f.fix_pending} & pending.keys():
            fix, is_own = pending[key].fix, key[0] == name
            if (fix is not None and fix.applicability is Applicability.SAFE) or is_own or key not in begun:
                asked.setdefault(index, set()).add(key)
                begun.add(key)
    return {index: Look(tasks[index], frozenset(keys)) for index, keys in asked.items()}


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
