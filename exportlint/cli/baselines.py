"""`--baseline` and `--update-baseline`: what of a run's findings is accepted, and what is accepted from now on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exportlint.baseline import NEVER_HELD, Baseline, BaselineError, Key, load, marked, save
from exportlint.cli.output import UsageError
from exportlint.config import Settings
from exportlint.findings import Finding
from exportlint.linter import LintResult, Role, Task
from exportlint.units import ANALYSIS_LIMIT

SettingsOf = Callable[[Finding], Settings]

_UNSEEN = NEVER_HELD | {ANALYSIS_LIMIT}
"""The rules that say that something of a file was not looked at, so that what is not found may still be there."""


@dataclass(frozen=True)
class Baselines:
    """The baselines of a run, by their files. Settings of different directories may name different ones."""

    by_file: Mapping[Path, Baseline]

    @classmethod
    def of(cls, tasks: Sequence[Task], *, update: bool) -> Baselines:
        """The baselines of the files of a run; those that it is to `update` need not exist.

        Raises:
            UsageError: one of them cannot be used, or there is none to update.
        """
        files = sorted({task.settings.baseline for task in tasks if task.settings.baseline is not None})
        if update and any(task.data is not None for task in tasks):
            raise UsageError("--update-baseline is about files, so it cannot be used with standard input")
        if update and tasks and not files:
            raise UsageError("--update-baseline: name the file with `--baseline FILE` or the setting `baseline`")
        try:
            return cls({file: Baseline(file) if update and not file.exists() else load(file) for file in files})
        except BaselineError as error:
            raise UsageError(str(error)) from None

    def mark(self, findings: Iterable[Finding], settings_of: SettingsOf) -> tuple[Finding, ...]:
        """The findings, which have fingerprints, with those marked that their baseline holds."""

        def baseline_of(finding: Finding) -> Baseline | None:
            file = settings_of(finding).baseline
            return None if file is None else self.by_file.get(file)

        return marked(findings, baseline_of)

    def update(self, tasks: Sequence[Task], result: LintResult, settings_of: SettingsOf) -> tuple[Baselines, list[str]]:
        """Write what is found, and take out what is not found any more; what is held now, and one line for each file.

        What the settings hide is not written. Of files that are not linted, or not wholly, nothing is taken out.

        Raises:
            UsageError: a baseline cannot be written.
        """
        updated, notes = {}, []
        for file, baseline, own, found in self._parts(tasks, result, settings_of):
            gone = _stale(baseline, own, found)
            accepted = [f for f in found if f.code not in NEVER_HELD and settings_of(f).fixes_severity(f)]
            entries = {key: entry for key, entry in baseline.entries.items() if key not in gone}
            entries |= {baseline.key(finding): baseline.entry(finding) for finding in accepted}
            updated[file] = replace(baseline, entries=entries)
            try:
                save(updated[file])
            except BaselineError as error:
                raise UsageError(str(error)) from None
            added = len(entries.keys() - baseline.entries.keys())
            removed = len(baseline.entries.keys() - entries.keys())
            holds = "1 finding" if len(entries) == 1 else f"{len(entries)} findings"
            notes.append(f"The baseline {file.name} holds {holds} ({added} added, {removed} removed).")
        return Baselines(updated), notes

    def stale_notes(self, tasks: Sequence[Task], result: LintResult, settings_of: SettingsOf) -> list[str]:
        """One line for each baseline that has entries whose findings are gone.

        Only a run that looks at all files of a baseline can tell: a finding may be there by way of another file.
        """
        notes = []
        for file, baseline, own, found in self._parts(tasks, result, settings_of):
            count = len(_stale(baseline, own, found)) if _covers(baseline, own) else 0
            said, them = ("1 entry is", "it") if count == 1 else (f"{count} entries are", "them")
            if count:
                notes.append(f"{said} stale in the baseline {file.name}; `--update-baseline` removes {them}.")
        return notes

    def _parts(
        self, tasks: Sequence[Task], result: LintResult, settings_of: SettingsOf
    ) -> Iterator[tuple[Path, Baseline, list[Task], list[Finding]]]:
        """Each baseline with the files that it is for, and what is found in these."""
        for file, baseline in self.by_file.items():
            own = [task for task in tasks if task.settings.baseline == file]
            yield file, baseline, own, [f for f in result.findings if settings_of(f).baseline == file]


def _stale(baseline: Baseline, tasks: Sequence[Task], findings: Sequence[Finding]) -> frozenset[Key]:
    """The entries whose findings are gone: of files that were linted as a whole, and of those that are gone."""
    unseen = {finding.filename for finding in findings if finding.code in _UNSEEN}
    looked_at = {baseline.name(task.filename): task for task in tasks}
    found = {baseline.key(finding) for finding in findings}

    def is_gone(path: str, code: str) -> bool:
        task = looked_at.get(path)
        if task is None:
            return not baseline.path(path).exists()
        is_seen = task.role is Role.LINTED and task.filename not in unseen
        return is_seen and code in task.settings.rules_for(task.path)

    return frozenset(
        key for key, entry in baseline.entries.items() if key not in found and is_gone(entry.path, entry.code)
    )


def _covers(baseline: Baseline, tasks: Sequence[Task]) -> bool:
    """Whether a run looks at all files that a baseline is about."""
    linted = {baseline.name(task.filename) for task in tasks if task.role is Role.LINTED}
    named = {entry.path for entry in baseline.entries.values()} - linted
    return not any(baseline.path(path).exists() for path in named)
