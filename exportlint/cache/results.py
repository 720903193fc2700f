"""The results of a run that are known already, and those that are to be known next time."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path

from exportlint.cache.directory import CacheDirectory
from exportlint.cache.encoding import Steps, decoded, encoded
from exportlint.cache.freshness import Freshness, plain
from exportlint.cache.shard import Entry, Shard, packed
from exportlint.config import Settings
from exportlint.findings import Finding, Severity
from exportlint.syntax.inputs import Inputs, fingerprint, merged
from exportlint.units import ANALYSIS_LIMIT, FixKey, Task, Unit, fix_key, wanted_fixes

_DAMAGED = (ValueError, TypeError, LookupError, AttributeError, RecursionError, MemoryError)
"""What data raises that is not what it should be."""


@dataclass(slots=True)
class _Known:
    """A shard as it was read, and what is to be added to it."""

    shard: Shard
    data: bytes | None
    steps: Steps
    added: dict[str, tuple[Entry, Unit]]


class ResultCache:
    """What looking at files gave in earlier runs.

    `find` looks for it, `keep` takes in what was worked out instead, `save` writes that down. `unsaved` is what files
    are to be seen as holding instead of what is on the disk. Nothing raises: what cannot be read or written is not
    there.
    """

    def __init__(self, directory: CacheDirectory, unsaved: Mapping[Path, bytes] | None = None) -> None:
        self._directory = directory
        self._freshness = Freshness(unsaved or {})
        self._known: dict[str, _Known] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """Why results could not be kept, in one line each."""
        return tuple(dict.fromkeys(self._directory.problems))

    def find(self, task: Task, fixes: Set[FixKey] | None = None) -> Unit | None:
        """What looking at a file gives, if that is known with all `fixes` that this works out."""
        unit = self._stored(task)
        if unit is None:
            return None
        wanted = set(map(fix_key, wanted_fixes(task, unit.suppressions, fixes, unit.findings)))
        findings: list[Finding] = []
        for finding in unit.findings:
            if fix_key(finding) not in wanted:
                is_known = finding.fix is not None
                findings.append(replace(finding, fix=None, fix_pending=True) if is_known else finding)
            elif finding.fix_pending:
                return None
            else:
                findings.append(finding)
        return replace(unit, findings=tuple(findings))

    def keep(self, task: Task, unit: Unit) -> None:
        """Know what looking at a file gave, unless it is not on the disk, where a later run would find it.

        Fixes that were worked out before are still known.
        """
        if unit.inputs is None or task.data is not None or any(map(_is_late, unit.findings)):
            return
        inputs = Inputs(unit.inputs.files, {q: plain(a) for q, a in unit.inputs.answers.items()}, unit.inputs.search)
        key, shard = _key(task), self._shard(task.path)
        before = self._stored(task)
        if before is not None:
            known = shard.added[key][0].inputs if key in shard.added else shard.shard.inputs(key)
            together = merged([known, inputs])
            if together is not None:
                inputs = together
                answers = {(f.code, f.sort_key): f for f in before.findings if not f.fix_pending}
                unit = replace(unit, findings=tuple(_answered(f, answers) for f in unit.findings))
        shard.added[key] = Entry(task.path.as_posix(), encoded(unit), inputs), unit

    def _stored(self, task: Task) -> Unit | None:
        """What was kept of a file, in this run or in one before, with all fixes that are known."""
        known, key = self._shard(task.path), _key(task)
        if key in known.added:
            return known.added[key][1]
        try:
            found = known.shard.result(key, self._freshness)
            return None if found is None else decoded(found[0], known.steps, frozenset(map(Path, found[1])))
        except _DAMAGED:
            return None

    def save(self) -> None:
        """Write down what was kept, for the next run."""
        is_changed = False
        for name, known in self._known.items():
            is_refreshed = known.shard.refresh(self._freshness)
            if not known.added and not is_refreshed:
                continue
            is_changed = True
            if known.added:
                before = self._read(name, known)
                try:
                    entries = {key: entry for key, entry in before.entries() if key not in known.added}
                except _DAMAGED:
                    entries = {}
                new = {key: entry for key, (entry, _) in known.added.items()}
                data = packed(entries | new).dumped()
            else:
                data = known.shard.dumped()
            self._directory.write(name, data)
        if is_changed:
            self._directory.prune()

    def _shard(self, path: Path) -> _Known:
        name = _digest(path.parent.as_posix())
        if name not in self._known:
            self._known[name] = _Known(*_loaded(self._directory.read(name)), added={})
        return self._known[name]

    def _read(self, name: str, known: _Known) -> Shard:
        """A shard as it is now: another process may have written it meanwhile."""
        data = self._directory.read(name)
        return known.shard if data == known.data else _loaded(data)[0]


def _loaded(data: bytes | None) -> tuple[Shard, bytes | None, Steps]:
    try:
        shard = Shard() if data is None else Shard.loaded(data)
    except _DAMAGED:
        shard = Shard()
    return shard, data, Steps(shard.steps)


def _key(task: Task) -> str:
    leads_by = "" if task.leads_by is None else f" by {','.join(sorted(task.leads_by))}"
    return f"{task.role.value}{leads_by} {_analysis_settings(task.settings)} {task.filename}"


@functools.lru_cache(maxsize=256)
def _analysis_settings(settings: Settings) -> str:
    """A digest of the settings that what is found depends on."""
    return _digest(
        [
            settings.mode,
            settings.torch_version,
            [str(folder) for folder in settings.src],
            settings.module_bases,
            settings.entry_points,
            settings.exported,
            settings.returns_tensor,
            [[one.pattern, one.returns, one.reads_data] for one in settings.functions],
            settings.train,
            settings.dynamic_dims,
            settings.line_length,
        ]
    )


def _answered(finding: Finding, known: Mapping[tuple[str, tuple[object, ...]], Finding]) -> Finding:
    """A finding with its fix, if that was worked out before."""
    before = known.get((finding.code, finding.sort_key)) if finding.fix_pending else None
    return finding if before is None else replace(finding, fix=before.fix, fix_pending=False, declined=before.declined)


def _is_late(finding: Finding) -> bool:
    """Whether a finding says that not all fixes were worked out, which depends on for which that is done."""
    return finding.code == ANALYSIS_LIMIT and finding.severity is Severity.INFO


def _digest(about: object) -> str:
    return fingerprint(json.dumps(about).encode())
