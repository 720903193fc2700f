"""The results of a run that are known already, and those that are to be known next time."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from exportlint.cache.directory import CacheDirectory
from exportlint.cache.encoding import Steps, decoded, encoded
from exportlint.cache.freshness import Freshness, plain
from exportlint.cache.shard import Entry, Shard, packed
from exportlint.config import Settings
from exportlint.findings import Finding, Severity
from exportlint.registry import rule_ids
from exportlint.syntax.inputs import Inputs, fingerprint
from exportlint.units import ANALYSIS_LIMIT, Task, Unit

_DAMAGED = (ValueError, TypeError, LookupError, AttributeError, RecursionError, MemoryError)
"""What data raises that is not what it should be."""


@dataclass(slots=True)
class _Known:
    """A shard as it was read, and what is to be added to it."""

    shard: Shard
    data: bytes | None
    steps: Steps
    added: dict[str, Entry]


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
        self._tokens: dict[str, str] = {}
        self._trials: dict[str, bytes] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """Why results could not be kept, in one line each."""
        return tuple(dict.fromkeys(self._directory.problems))

    def find(self, task: Task) -> Unit | None:
        """What looking at a file gives, if that is known."""
        known = self._shard(task.path)
        try:
            found = known.shard.result(_key(task), self._freshness)
            if found is None:
                return None
            result, token, reads = found
            unit, fixes_of = decoded(result[:-1], known.steps, frozenset(map(Path, reads))), result[-1]
        except _DAMAGED:
            return None
        narrowed = _narrowed(unit, fixes_of, task.settings)
        if narrowed is not None:
            self._tokens[task.filename] = token
        return narrowed

    def keep(self, task: Task, unit: Unit) -> None:
        """Know what looking at a file gave, unless it is not on the disk, where a later run would find it."""
        if unit.inputs is None or task.data is not None:
            return
        key = _key(task)
        fixes_of = _fixes_of(task.settings)
        token = _token([key, fixes_of], unit.inputs)
        self._tokens[task.filename] = token
        entry = Entry(task.path.as_posix(), token, [*encoded(unit), fixes_of], unit.inputs)
        self._shard(task.path).added[key] = entry

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
                data = packed(entries | known.added).dumped()
            else:
                data = known.shard.dumped()
            self._directory.write(name, data)
        for name, data in self._trials.items():
            self._directory.write(name, data)
        if is_changed:
            self._directory.prune()

    def obstacles(self, tasks: Sequence[Task], limit: str) -> list[str] | None:
        """What was found to keep the fixes of each finding of some files from being applied, if that is known.

        All of the files have been found or kept before. `limit` says which fixes were tried.
        """
        name, key = self._trial(tasks, limit)
        data = self._directory.read(name) if key else None
        try:
            if data is None:
                return None
            known, files, questions, found = json.loads(data)
            shard = Shard(files, questions, results={"": ["", "", [], *_all(files, questions)]})
            is_fresh = known == key and shard.result("", self._freshness) is not None
            return found if is_fresh and all(isinstance(one, str) for one in found) else None
        except _DAMAGED:
            return None

    def keep_obstacles(self, tasks: Sequence[Task], limit: str, inputs: Inputs | None, found: Sequence[str]) -> None:
        """Know what keeps fixes from being applied; `inputs` is what trying them depended on."""
        name, key = self._trial(tasks, limit)
        if key and inputs is not None:
            files = [[path, state.fingerprint, state.stamp] for path, state in inputs.files.items()]
            questions = [
                [list(inputs.search), list(question), plain(answer)] for question, answer in inputs.answers.items()
            ]
            self._trials[name] = json.dumps([key, files, questions, list(found)]).encode()

    def _trial(self, tasks: Sequence[Task], limit: str) -> tuple[str, str]:
        """The file for what comes of trying fixes, and what that depends on; nothing if some of it is not known."""
        names = [task.filename for task in tasks]
        about = [
            [name, self._tokens.get(name), _fix_settings(task.settings)]
            for name, task in zip(names, tasks, strict=True)
        ]
        if any(name not in self._tokens for name in names):
            return "", ""
        return f"trials-{_digest([limit, names])}", _digest(about)

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


def _all(files: Sequence[object], questions: Sequence[object]) -> tuple[str, str]:
    return f"{(1 << len(files)) - 1:x}", f"{(1 << len(questions)) - 1:x}"


def _key(task: Task) -> str:
    return f"{task.role.value} {_analysis_settings(task.settings)} {task.filename}"


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
            settings.train,
            settings.dynamic_dims,
            settings.line_length,
        ]
    )


@functools.lru_cache(maxsize=256)
def _fix_settings(settings: Settings) -> str:
    """A digest of the settings that fixing depends on."""
    about = [settings.root, settings.rules, settings.per_file_ignores, settings.fixes]
    about += [settings.min_severity, settings.min_fixed]
    return _digest([_analysis_settings(settings), _plain_settings(about)])


def _plain_settings(value: object) -> object:
    """Settings as JSON, which is the same in every process."""
    if isinstance(value, (frozenset, set)):
        return sorted(map(str, value))
    if isinstance(value, (tuple, list)):
        return list(map(_plain_settings, value))
    if is_dataclass(value):
        return [[one.name, _plain_settings(getattr(value, one.name))] for one in fields(value)]
    return value if isinstance(value, (bool, int, float, type(None))) else str(value)


def _fixes_of(settings: Settings) -> list[Any]:
    """For which findings fixes are worked out: not for those of these rules, and down to this severity."""
    ignored = sorted({rule.code for rule in rule_ids()} - settings.rules)
    return [ignored, max(settings.min_severity.rank, settings.min_fixed.rank)]


def _narrowed(unit: Unit, fixes_of: list[Any], settings: Settings) -> Unit | None:
    """What was worked out as it is for other settings of fixes; None if these want more of them."""
    wanted = _fixes_of(settings)
    if fixes_of == wanted:
        return unit
    ignored, rank = fixes_of
    if not settings.rules.isdisjoint(ignored) or wanted[1] > rank or any(map(_is_late, unit.findings)):
        return None
    findings = (
        f if f.fix is None or (f.code in settings.rules and f.severity.rank <= wanted[1]) else replace(f, fix=None)
        for f in unit.findings
    )
    return replace(unit, findings=tuple(findings))


def _is_late(finding: Finding) -> bool:
    """Whether a finding says that not all fixes were worked out, which depends on for which that is done."""
    return finding.code == ANALYSIS_LIMIT and finding.severity is Severity.INFO


def _token(about: object, inputs: Inputs) -> str:
    files = sorted((path, state.fingerprint) for path, state in inputs.files.items())
    answers = sorted((question, json.dumps(plain(answer))) for question, answer in inputs.answers.items())
    return _digest([about, files, answers, inputs.search])


def _digest(about: object) -> str:
    return fingerprint(json.dumps(about).encode())
