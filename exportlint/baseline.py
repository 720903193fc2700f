"""Findings that a project accepts for now: a file of them, so that only what is new is reported.

The file has one line for each finding, sorted, in JSON. Lines that two branches add do not depend on each other, so a
merge that keeps both sides is right, and what stands twice or elsewhere in the order does no harm.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from exportlint.findings import Finding, Severity
from exportlint.source.stamps import stamp

NEVER_HELD = frozenset({"EXP001", "EXP003", "EXP004"})
"""The rules that say that a file was not looked at: who accepts these does not know what he accepts."""

_HEAD = {"exportlint-baseline": 1}
"""The first line: what the file is, and the version of its format."""

_SEVERITIES = frozenset(severity.value for severity in Severity)
_CONFLICT = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


class BaselineError(Exception):
    """A baseline that cannot be used. Its text is one line that says what to do."""


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """An accepted finding: the file that it is in, relative to that of the baseline, and what names it there.

    It holds the finding as long as that is no graver than `severity`. `symbol` and `name` are for people.
    """

    path: str
    code: str
    symbol: str
    fingerprint: str
    severity: str
    name: str = ""

    @property
    def rank(self) -> int:
        """That of its severity."""
        return Severity(self.severity).rank


Key = tuple[str, str]
"""The file and the fingerprint of an entry."""


@dataclass(frozen=True)
class Baseline:
    """The entries of a file, by what they are looked up with."""

    file: Path
    entries: Mapping[Key, Entry] = field(default_factory=dict)

    def key(self, finding: Finding) -> Key:
        """What a finding with a fingerprint is looked up with."""
        return self.name(finding.filename), finding.fingerprint

    def name(self, filename: str) -> str:
        """What a file is called in it."""
        return _relative(filename, str(self.file.parent))

    def path(self, name: str) -> Path:
        """The file that is called so in it."""
        return Path(os.path.normpath(self.file.parent / name))

    def holds(self, finding: Finding) -> bool:
        """Whether a finding, which has its fingerprint, is accepted."""
        entry = self.entries.get(self.key(finding))
        return entry is not None and finding.severity.rank >= entry.rank

    def entry(self, finding: Finding) -> Entry:
        """What accepts a finding."""
        path, fingerprint = self.key(finding)
        return Entry(path, finding.code, finding.symbol, fingerprint, finding.severity.value, finding.name)


def load(file: Path) -> Baseline:
    """The baseline of a file.

    Raises:
        BaselineError: there is no such file, or it is not a baseline.
    """
    return _load(file, stamp(str(file)))


@lru_cache(maxsize=64)
def _load(file: Path, _stamp: str) -> Baseline:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BaselineError(f"the baseline {file} does not exist: write it with `--update-baseline`") from None
    except UnicodeDecodeError:
        raise BaselineError(f"{file} is not a baseline of exportlint: it is not UTF-8") from None
    except OSError as error:
        raise BaselineError(f"cannot read the baseline {file}: {error.strerror or error}") from None
    entries: dict[Key, Entry] = {}
    for entry in _entries(text, file):
        known = entries.get((entry.path, entry.fingerprint))
        # Of two branches that accepted it, one may accept more.
        if known is None or entry.rank < known.rank:
            entries[entry.path, entry.fingerprint] = entry
    return Baseline(file, entries)


def _entries(text: str, file: Path) -> Iterator[Entry]:
    lines = text.splitlines()
    if not lines or _value(lines[0]) != _HEAD:
        if lines and isinstance(head := _value(lines[0]), dict) and head.keys() == _HEAD.keys():
            raise BaselineError(f"{file} was written by a later version of exportlint: update exportlint to read it")
        hint = " (a merge conflict)" if lines and lines[0].startswith(_CONFLICT) else ""
        raise BaselineError(f"{file} is not a baseline of exportlint{hint}: its first line must be {json.dumps(_HEAD)}")
    for row, line in enumerate(lines[1:], start=2):
        if line.startswith(_CONFLICT):
            raise BaselineError(f"{file}:{row}: a merge conflict: keep the lines of both sides and remove this one")
        if line.strip() and (value := _value(line)) != _HEAD:
            entry = _entry(value)
            if entry is None:
                raise BaselineError(f"{file}:{row}: not an entry of a baseline: remove this line")
            yield entry


def _value(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _entry(value: Any) -> Entry | None:
    """An entry out of JSON, of which other versions may have written more keys."""
    if not isinstance(value, dict):
        return None
    found: dict[str, Any] = {key: value.get(key) for key in ("path", "code", "symbol", "fingerprint", "severity")}
    if not all(isinstance(one, str) for one in found.values()) or found["severity"] not in _SEVERITIES:
        return None
    return Entry(**found, name=str(value.get("name", "")))


def save(baseline: Baseline) -> None:
    """Write a baseline, as a whole or not at all, unless the file says the same already.

    Raises:
        BaselineError: it cannot be written.
    """
    from exportlint import atomic

    rows = [json.dumps(_HEAD)]
    for entry in sorted(baseline.entries.values()):
        row = {"path": entry.path, "code": entry.code, "name": entry.name, "symbol": entry.symbol}
        rows.append(json.dumps({**row, "severity": entry.severity, "fingerprint": entry.fingerprint}))
    data = "".join(f"{row}\n" for row in rows).encode("ascii")
    try:
        if baseline.file.is_file() and baseline.file.read_bytes() == data:
            return
        baseline.file.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(baseline.file, data)
    except OSError as error:
        raise BaselineError(f"cannot write the baseline {baseline.file}: {error.strerror or error}") from None


def marked(findings: Iterable[Finding], baseline_of: Callable[[Finding], Baseline | None]) -> tuple[Finding, ...]:
    """The findings, which have fingerprints, with those marked that their baseline holds."""
    found = []
    for finding in findings:
        baseline = baseline_of(finding)
        is_held = baseline is not None and finding.code not in NEVER_HELD and baseline.holds(finding)
        found.append(replace(finding, baselined=True) if is_held else finding)
    return tuple(found)


@lru_cache(maxsize=1)  # findings come file by file
def _relative(filename: str, folder: str) -> str:
    try:
        return Path(os.path.relpath(filename, folder)).as_posix()
    except ValueError:  # on another drive
        return Path(filename).as_posix()
