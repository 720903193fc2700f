"""Lints many files, in one process or several, with the same result. A file that fails does not affect the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from exportlint.big_stack import on_big_stack
from exportlint.cache import ResultCache
from exportlint.config import Settings
from exportlint.entry_points import packages
from exportlint.findings import Applicability, Finding, Fix, Severity, Span
from exportlint.fix_requests import MAX_ASKED, Look, answered, requests, turn
from exportlint.registry import load_plugins
from exportlint.syntax.unresolved_imports import UnreadFile, UnresolvedImport
from exportlint.units import (
    ANALYSIS_LIMIT,
    INTERNAL_ERROR,
    NO_FIXES,
    FixKey,
    Role,
    Task,
    Unit,
    fix_key,
    internal_error,
    unreadable,
)

if TYPE_CHECKING:
    from exportlint.workspace import Workspace

__all__ = [
    "LintResult",
    "Role",
    "Session",
    "Task",
    "Unit",
    "each",
    "lint",
    "merge",
    "once",
    "result_of",
    "shown",
    "units_of",
    "unreadable",
    "unsaved",
    "with_fixes",
    "worked_out",
]

FEW_FILES = 8
"""Up to this many files, starting processes costs more than it saves."""

_DIED = "the worker process that analyzed this file died"
Done = Callable[[int], None]
"""Called with the number of further items that are done."""

_Key = tuple[Span, str]
_T = TypeVar("_T")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class LintResult:
    """Findings in the order of reports.

    `unresolved` are imports that lead into the project and to no file, in the order of files and rows. `unmatched` are
    patterns of the setting `exported`, where these files have models and it names none of them. `cut_short` says where
    the analysis ended at a limit, whatever is selected or ignored; `unread` are files that are imported and not linted,
    and that cannot be read or parsed.
    """

    findings: tuple[Finding, ...]
    files_checked: int
    unresolved: tuple[UnresolvedImport, ...] = ()
    hidden: tuple[Finding, ...] = ()
    """Findings below `min-severity`."""
    baselined: tuple[Finding, ...] = ()
    """Findings in the baseline, which are not shown either."""
    unmatched: tuple[str, ...] = ()
    cut_short: tuple[Finding, ...] = ()
    unread: tuple[UnreadFile, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether all code was analyzed to the end."""
        return not self.cut_short and not self.unread

    @property
    def failed(self) -> bool:
        """Whether exportlint itself failed on some file."""
        return any(f.code == INTERNAL_ERROR for f in self.findings)


def _ignored(_count: int) -> None:
    pass


def lint(
    tasks: Sequence[Task],
    jobs: int = 1,
    done: Done = _ignored,
    cache: ResultCache | None = None,
    *,
    fixes: bool = True,
    session: Session | None = None,
) -> LintResult:
    """Lint files. The result depends neither on their order nor on `jobs`, the number of processes, nor on `cache`.

    `done` is called with the number of further analyzed files, from any thread. Without `fixes`, none are computed.
    What a `session` kept from an earlier run is reused.
    """
    texts = unsaved(tasks)
    # Those that are asked for fixes import what was parsed a moment ago.
    make = session.workspace if session is not None else _OneWorkspace()
    fixes_of = None if fixes else NO_FIXES
    look = partial(units_of, texts=texts, jobs=jobs, make=make, done=done, fixes=fixes_of, cache=cache)
    tasks, units = _looked_at(tasks, look, done)
    if fixes:
        units = with_fixes(tasks, units, texts, jobs, make, cache)
    if session is not None:
        session.reads = frozenset[Path]().union(*(unit.reads for unit in units))
    return result_of(tasks, units)


LookAt = Callable[[Sequence[Task]], list[Unit]]


def _looked_at(tasks: Sequence[Task], look: LookAt, done: Done) -> tuple[list[Task], list[Unit]]:
    """Files and their units. Files that are only imported are included if something is reported in them."""
    first = [task for task in tasks if task.role is not Role.IMPORTED]
    first, units = looked_at_whole(first, look(first), look)
    linted = {task.filename for task in tasks if task.role is Role.LINTED}
    told = {finding.filename for unit in units for finding in unit.findings if _is_told(finding, linted)}
    rest = [task for task in tasks if task.role is Role.IMPORTED and task.filename in told]
    done(len(tasks) - len(first) - len(rest))
    return [*first, *rest], [*units, *look(rest)]


def looked_at_whole(tasks: Sequence[Task], units: Sequence[Unit], look: LookAt) -> tuple[list[Task], list[Unit]]:
    """Files and their units; importers that alone lead to an error or a warning are analyzed completely.

    Of what is found at one place, what has the shortest trail counts, and that may come of a class that does not lead
    to the linted files: then it is not told. Within these files, whatever is found comes of classes that lead there.
    """
    linted = {task.filename for task in tasks if task.role is Role.LINTED}
    known = {
        fix_key(finding)
        for task, unit in zip(tasks, units, strict=True)
        for finding in unit.findings
        if task.role is Role.LINTED
    }

    def is_in_doubt(finding: Finding) -> bool:
        is_elsewhere = finding.filename not in linted and fix_key(finding) not in known
        return is_elsewhere and finding.severity is not Severity.INFO and _is_told(finding, linted)

    whole = {
        number: replace(task, leads_by=None)
        for number, (task, unit) in enumerate(zip(tasks, units, strict=True))
        if task.leads_by is not None and any(map(is_in_doubt, unit.findings))
    }
    found = dict(zip(whole, look([*whole.values()]), strict=True)) if whole else {}
    return (
        [whole.get(number, task) for number, task in enumerate(tasks)],
        [found.get(number, unit) for number, unit in enumerate(units)],
    )


def result_of(tasks: Sequence[Task], units: Sequence[Unit]) -> LintResult:
    """The result of linting, from the units of the files."""
    linted = [unit for task, unit in zip(tasks, units, strict=True) if task.role is Role.LINTED]
    unresolved = {one for unit in linted for one in unit.unresolved}
    cut_short = {f for unit in linted for f in unit.findings if _is_cut(f)}
    own = {task.path.as_posix() for task in tasks if task.role is Role.LINTED}
    return LintResult(
        merge(tasks, units),
        len(linted),
        tuple(sorted(unresolved)),
        unmatched=_unmatched(tasks, units),
        cut_short=tuple(sorted(cut_short, key=lambda finding: finding.sort_key)),
        unread=tuple(sorted({one for unit in linted for one in unit.unread if one.filename not in own})),
    )


def _is_cut(finding: Finding) -> bool:
    """Whether a finding says that code was not analyzed, and not that a fix was not worked out."""
    return finding.code == ANALYSIS_LIMIT and finding.severity is Severity.WARNING


def _unmatched(tasks: Sequence[Task], units: Sequence[Unit]) -> tuple[str, ...]:
    """The patterns of `exported` settings that match none of the models that they apply to."""
    named: dict[tuple[str, ...], bool] = {}
    for task, unit in zip(tasks, units, strict=True):
        if unit.exported is not None:
            patterns = task.settings.exported
            named[patterns] = named.get(patterns, False) or unit.exported
    return tuple(dict.fromkeys(pattern for patterns, found in named.items() if not found for pattern in patterns))


def once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in order; of findings that say the same about one line, only the first."""
    kept: dict[object, Finding] = {}
    for finding in findings:
        kept.setdefault((finding.filename, finding.span.start.row, finding.code, finding.message), finding)
    return tuple(kept.values())


def shown(result: LintResult, settings_of: Callable[[Finding], Settings]) -> LintResult:
    """The result in which findings below `min-severity` and those in a baseline are separate."""
    kept: list[Finding] = []
    hidden: list[Finding] = []
    baselined: list[Finding] = []
    for finding in result.findings:
        is_grave = settings_of(finding).shows(finding)
        (hidden if not is_grave else baselined if finding.baselined else kept).append(finding)
    return replace(
        result,
        findings=tuple(kept),
        hidden=(*result.hidden, *hidden),
        baselined=(*result.baselined, *baselined),
    )


def unsaved(tasks: Iterable[Task]) -> dict[Path, bytes]:
    """The contents of the files that do not come from disk."""
    return {task.path: task.data for task in tasks if task.data is not None}


def units_of(
    tasks: Sequence[Task],
    texts: Mapping[Path, bytes],
    jobs: int = 1,
    make: Callable[[Mapping[Path, bytes]], Workspace] | None = None,
    done: Done = _ignored,
    fixes: Set[FixKey] | None = None,
    cache: ResultCache | None = None,
) -> list[Unit]:
    """The units of files, in which `texts` replace the contents of some files on disk.

    `fixes` is as in `Workspace.lint`. Units in `cache` are reused, new ones are added to it.
    """
    return _looked([Look(task, fixes) for task in tasks], texts, jobs, make, done, cache)


def _looked(
    looks: Sequence[Look],
    texts: Mapping[Path, bytes],
    jobs: int,
    make: Callable[[Mapping[Path, bytes]], Workspace] | None,
    done: Done = _ignored,
    cache: ResultCache | None = None,
) -> list[Unit]:
    """The units of files. Raises PluginError before the first one if a package adds something invalid."""
    known = [cache.find(look.task, look.fixes) if cache is not None else None for look in looks]
    missing = [look for look, unit in zip(looks, known, strict=True) if unit is None]
    if len(missing) < len(looks):
        done(len(looks) - len(missing))
    if not missing:
        return [unit for unit in known if unit is not None]
    if packages():
        from exportlint.check import packaged_functions

        load_plugins()
        packaged_functions()
    new = each(missing, partial(make or _workspace, texts), _look, _lost, jobs if len(missing) > FEW_FILES else 1, done)
    if cache is not None:
        for look, unit in zip(missing, new, strict=True):
            cache.keep(look.task, unit)
    found = iter(new)
    return [next(found) if unit is None else unit for unit in known]


class _OneWorkspace:
    """Creates a workspace once per process, and returns the same one on later calls."""

    def __init__(self, *, keeps_results: bool = False) -> None:
        self.made: Workspace | None = None
        self._keeps_results = keeps_results

    def __call__(self, texts: Mapping[Path, bytes]) -> Workspace:
        if self.made is None:
            self.made = _workspace(texts, keeps_results=self._keeps_results)
        return self.made

    def __reduce__(self) -> tuple[object, ...]:
        return (_OneWorkspace, ())


class Session:
    """What a process that lints the same files repeatedly keeps between two runs.

    `reads` are the files that the last run depends on.
    """

    def __init__(self) -> None:
        self.workspace = _OneWorkspace(keeps_results=True)
        self.reads: frozenset[Path] = frozenset()

    def outdated(self) -> frozenset[Path]:
        """The files that this process has read and that have changed on disk since."""
        return frozenset() if self.workspace.made is None else self.workspace.made.outdated()

    def refresh(self, *, anew: bool) -> None:
        """Drop what has changed on disk; `anew` if files were added or removed, so that imports may lead elsewhere."""
        if anew:
            self.workspace = _OneWorkspace(keeps_results=True)
        elif self.workspace.made is not None:
            for path in self.outdated():
                self.workspace.made.forget(path)


def _workspace(texts: Mapping[Path, bytes], *, keeps_results: bool = False) -> Workspace:
    from exportlint.workspace import Workspace

    return Workspace(texts, keeps_results=keeps_results)


def with_fixes(
    tasks: Sequence[Task],
    units: Sequence[Unit],
    texts: Mapping[Path, bytes],
    jobs: int = 1,
    make: Callable[[Mapping[Path, bytes]], Workspace] | None = None,
    cache: ResultCache | None = None,
) -> list[Unit]:
    """The units with the fixes of all findings that are shown in linted files."""
    return worked_out(tasks, units, lambda looks: _looked(looks, texts, jobs, make, cache=cache))


def worked_out(
    tasks: Sequence[Task],
    units: Sequence[Unit],
    look: Callable[[Sequence[Look]], Sequence[Unit]],
    filename: str | None = None,
) -> list[Unit]:
    """The units with the fixes of all findings that are shown, or of those in one file."""
    shown_in = {
        task.filename: task.settings for task in tasks if task.role is Role.LINTED and filename in (None, task.filename)
    }
    found = list(units)
    while True:
        pending = (f for f in merge(tasks, found) if f.fix_pending and f.filename in shown_in)
        asked = requests(tasks, found, (f for f in pending if shown_in[f.filename].offers_fix(f)))
        if not asked:
            return found
        for (index, one), unit in zip(asked.items(), look(list(asked.values())), strict=True):
            found[index] = answered(found[index], unit, one.fixes or frozenset())


def each(
    items: Sequence[_T],
    make: Callable[[], Workspace],
    work: Callable[[Workspace, _T], _R],
    lost: Callable[[_T], _R],
    jobs: int,
    done: Done = _ignored,
) -> list[_R]:
    """The results of `work` for `items`, in order, computed by `jobs` processes that each `make` a workspace.

    `lost` returns the result for an item whose process died.
    """
    from exportlint.source.garbage import gc_between_files

    with gc_between_files():
        if jobs > 1 and len(items) > 1:
            from exportlint.workers import work_in_processes

            return work_in_processes(items, make, work, lost, jobs, done)
        workspace = make()

        def work_on(item: _T) -> _R:
            result = work(workspace, item)
            done(1)
            return result

        return on_big_stack(lambda: [work_on(item) for item in items])


def _look(workspace: Workspace, look: Look) -> Unit:
    return workspace.lint(look.task, look.fixes)


def _lost(look: Look) -> Unit:
    return Unit((internal_error(look.task, _DIED),), reads=frozenset({look.task.path}))


def merge(tasks: Sequence[Task], units: Sequence[Unit]) -> tuple[Finding, ...]:
    """The findings of all units that are reported at their place, each once, in order.

    In files that are not linted, they are those that a linted file leads to, without fixes, and failures of exportlint.
    """
    by_file: dict[str, dict[_Key, list[tuple[str, Finding]]]] = {task.filename: {} for task in tasks}
    linted = {task.filename for task in tasks if task.role is Role.LINTED}
    for looked_at, unit in zip(tasks, units, strict=True):
        told = (f for f in unit.findings if _is_told(f, linted))
        for (filename, key), finding in _one_a_place(told).items():
            if filename in by_file:
                by_file[filename].setdefault(key, []).append((looked_at.filename, finding))
    merged: list[Finding] = []
    for task, unit in zip(tasks, units, strict=True):
        enabled = task.settings.rules_for(task.path)
        wanted = [_agreed(found) for (_, code), found in by_file[task.filename].items() if code in enabled]
        if task.role is Role.LINTED:
            kept = unit.suppressions.apply(
                wanted, enabled, task.filename, task.settings.mode, require_reason=task.settings.require_reason
            )
            merged += map(task.settings.fixes.apply, kept)
        else:
            merged += (replace(finding, fix=None, fix_pending=False) for finding in unit.suppressions.remaining(wanted))
    return tuple(sorted(merged, key=lambda f: f.sort_key))


def _is_told(finding: Finding, linted: Set[str]) -> bool:
    is_near = finding.filename in linted or not linted.isdisjoint(finding.through)
    return is_near or finding.code == INTERNAL_ERROR


def _one_a_place(findings: Iterable[Finding]) -> dict[tuple[str, _Key], Finding]:
    found: dict[tuple[str, _Key], Finding] = {}
    for finding in findings:
        key = finding.filename, (finding.span, finding.code)
        known = found.get(key)
        found[key] = finding if known is None else _with_callers((known, finding))
    return found


def _with_callers(findings: Sequence[Finding]) -> Finding:
    """The first of the findings at one place, as reached by whatever reaches any of them, through the files of any."""
    if len(findings) == 1 and len(findings[0].callers) < 2:
        return findings[0]
    finding = min(findings, key=lambda f: f.sort_key)
    callers = {caller for one in findings for caller in one.callers}
    through = finding.through.union(*(one.through for one in findings))
    ordered = tuple(sorted(callers))
    if ordered == finding.callers and through == finding.through:
        return finding
    return replace(finding, callers=ordered, through=through)


def _agreed(found: Sequence[tuple[str, Finding]]) -> Finding:
    """One finding for what looking at several files, by their names, found at one place.

    A fix is no safer than what each of them, who call the code with values of their own, can tell of it. The first in
    `turn` that knows a fix tells which it is, of MAX_ASKED; only if that is safe, the others count. So it makes no
    difference who was asked in vain, or before something changed.
    """
    findings = [finding for _, finding in found]
    finding = _with_callers(findings)
    if len(found) == 1 and not (finding.fix is not None and finding.fix_pending):
        return finding
    first = sorted(found, key=lambda one: turn(finding.filename, one[0]))[:MAX_ASKED]
    own = next((f for _, f in first if _counts(f)), first[0][1])
    if own.fix is None or own.fix.applicability is not Applicability.SAFE:
        return replace(finding, fix=own.fix, fix_pending=own.fix_pending, declined=own.declined)
    fixes = {f.fix for f in findings if not f.fix_pending}
    chosen = max((fix for fix in fixes if fix is not None), key=_order)
    same = None not in fixes and len({fix.edits for fix in fixes if fix is not None}) == 1
    if not same and chosen.applicability is Applicability.SAFE:
        chosen = replace(chosen, applicability=Applicability.UNSAFE)
    # Files that were not asked can only make it unsafe.
    pending = any(f.fix_pending for f in findings) and chosen.applicability is Applicability.SAFE
    return replace(finding, fix=chosen, fix_pending=pending)


def _counts(finding: Finding) -> bool:
    return finding.fix_pending or finding.fix is not None


def _order(fix: Fix) -> tuple[object, ...]:
    return fix.applicability.rank, fix.edits, fix.message
