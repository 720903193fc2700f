"""The Python API: source text in; findings, fixed text and explanations out. `exportlint` itself hands it on."""

from __future__ import annotations

import io
import os
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from exportlint.baseline import BaselineError, load, marked
from exportlint.config import ConfigError, Configuration, Layer, Settings, check
from exportlint.diagnosis import Explainer, Explanation, explained, read_errors
from exportlint.diagnosis.explanation import Place
from exportlint.findings import Applicability, Caller, Edit, Finding, Fix, Mode, Position, Severity, Span, Step
from exportlint.fingerprints import fingerprinted
from exportlint.linter import LintResult, Task, lint, once, shown
from exportlint.registry import Rule, all_rules, find_rule, page
from exportlint.source import SourceError, SourceFile

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "Applicability",
    "Caller",
    "ConfigError",
    "Edit",
    "Explanation",
    "Finding",
    "Fix",
    "FixedSource",
    "Mode",
    "Place",
    "Position",
    "Rule",
    "SettingValues",
    "Severity",
    "Span",
    "Step",
    "all_rules",
    "check_paths",
    "check_source",
    "explain_errors",
    "find_rule",
    "fix_source",
    "rule_page",
]

_NO_NAME = "<string>"
_MOST_ERRORS = 50


class SettingValues(TypedDict, total=False):
    """Settings that override those of the configuration, with `_` for `-`; `exportlint config NAME` explains each."""

    mode: Mode
    torch_version: str
    select: Sequence[str]
    ignore: Sequence[str]
    extend_select: Sequence[str]
    min_severity: str
    src: Sequence[str]
    module_bases: Sequence[str]
    entry_points: Sequence[str]
    exported: Sequence[str]
    returns_tensor: Sequence[str]
    functions: Mapping[str, Mapping[str, object]]
    train: bool
    dynamic_dims: Sequence[int]
    fixable: Sequence[str]
    unfixable: Sequence[str]
    extend_fixable: Sequence[str]
    extend_safe_fixes: Sequence[str]
    extend_unsafe_fixes: Sequence[str]


@dataclass(frozen=True, slots=True)
class FixedSource:
    """What became of a text.

    `applied` are the findings whose fixes are in `source`, each at its place when its fix was applied. `remaining` are
    those that are found in `source`. `problems` say in one line each why fixes could not be applied.
    """

    source: str
    applied: tuple[Finding, ...]
    remaining: tuple[Finding, ...]
    problems: tuple[str, ...] = ()


def check_source(
    source: str | bytes,
    *,
    filename: str | os.PathLike[str] | None = None,
    isolated: bool = False,
    fixes: bool = True,
    **settings: Unpack[SettingValues],
) -> tuple[Finding, ...]:
    """What is found in a text, in order of place. The text is not run, and neither is what it imports.

    Args:
        source: the contents of a Python file, or of a notebook if `filename` ends in `.ipynb`.
        filename: where the text belongs; the file need not exist. Its configuration holds, its imports are followed
            from there, and findings bear its name. By default it is a file in the working directory.
        isolated: do without configuration files.
        fixes: work out fixes, which takes longer than finding.
        **settings: override the configuration. `min_severity` is `info` unless something says otherwise.

    Returns:
        The findings that no comment ignores and no baseline holds. A text that is not Python is a finding too (EXP001).

    Raises:
        ConfigError: a setting or a configuration file cannot be used.
    """
    task = task_of(source, filename, _configuration(settings, isolated=isolated))
    return shown_of([task], lint([task], fixes=fixes), task.settings)


def check_paths(
    paths: Iterable[str | os.PathLike[str]],
    *,
    isolated: bool = False,
    fixes: bool = True,
    jobs: int = 1,
    **settings: Unpack[SettingValues],
) -> tuple[Finding, ...]:
    """What is found in files and in the files of directories, in order of file and place, as `exportlint check` does.

    Args:
        paths: files and directories.
        isolated: as in `check_source`.
        fixes: as in `check_source`.
        jobs: the number of processes. With more than one, a script needs `if __name__ == "__main__":`.
        **settings: as in `check_source`.

    Returns:
        As `check_source` does. A path that cannot be read is a finding (EXP003).

    Raises:
        ConfigError: a setting or a configuration file cannot be used.
    """
    from exportlint.selection import beside, select

    cwd = Path.cwd()
    configuration = _configuration(settings, isolated=isolated)
    named = [Path(path) for path in paths]
    selected = select(named, configuration, cwd)
    importing = beside(selected.tasks, {cwd / path for path in named}, configuration)
    looked_at = (*selected.tasks, *importing.tasks)
    result = lint(looked_at, jobs, fixes=fixes)
    findings = once(sorted((*result.findings, *selected.problems), key=lambda finding: finding.sort_key))
    return shown_of(looked_at, replace(result, findings=findings), configuration.for_directory(cwd))


def fix_source(
    source: str,
    *,
    filename: str | os.PathLike[str] | None = None,
    unsafe: bool = False,
    isolated: bool = False,
    **settings: Unpack[SettingValues],
) -> FixedSource:
    """A text with the fixes that hold. Fixing it again changes nothing.

    Args:
        source: as in `check_source`.
        filename: as in `check_source`. Nothing is written.
        unsafe: apply unsafe fixes as well as safe ones.
        isolated: as in `check_source`.
        **settings: as in `check_source`.

    Raises:
        ConfigError: a setting or a configuration file cannot be used.
    """
    task = task_of(source, filename, _configuration(settings, isolated=isolated))
    return fixed_of(task, source, Applicability.UNSAFE if unsafe else Applicability.SAFE)


def fixed_of(task: Task, source: str, most: Applicability) -> FixedSource:
    """The text of a file with fixes up to an applicability. Raises ConfigError."""
    from exportlint.fixer import fix

    outcome = fix([task], lambda _task: most)
    applied = [finding for fixed in outcome.fixed for finding in fixed.findings]
    text = next((fixed.data.decode(_encoding(source), "surrogatepass") for fixed in outcome.fixed), source)
    (after,) = outcome.tasks
    remaining = shown_of([after], outcome.remaining, task.settings)
    return FixedSource(text, tuple(applied), remaining, tuple(map(str, outcome.problems)))


def explain_errors(
    text: str,
    *,
    roots: Iterable[str | os.PathLike[str]] = (),
    isolated: bool = False,
    **settings: Unpack[SettingValues],
) -> tuple[Explanation, ...]:
    """What the errors in a text are: a traceback, or a log with tracebacks in it.

    Args:
        text: what torch.export, or a program that calls it, printed.
        roots: the directories to look for the files in that the text names; by default the working directory.
        isolated: do without configuration files.
        **settings: as in `check_source`.

    Returns:
        One explanation for all errors that say the same, in the order of the text. Beside errors that are known, those
        that are not are left out.

    Raises:
        ConfigError: a setting or a configuration file cannot be used.
    """
    explainer = Explainer(_configuration(settings, isolated=isolated), [Path(root) for root in roots] or [Path.cwd()])
    return tuple(explained(read_errors(text.splitlines()), explainer, _MOST_ERRORS))


def rule_page(rule: Rule | str) -> str:
    """The Markdown page of a rule, given by itself, its code or its name.

    Raises:
        KeyError: there is no such rule.
        FileNotFoundError: the installation lacks the page.
    """
    found = rule if isinstance(rule, Rule) else find_rule(rule)
    if found is None:
        raise KeyError(rule)
    return page(found)


def task_of(source: str | bytes, filename: str | os.PathLike[str] | None, configuration: Configuration) -> Task:
    """A text as a file to look at. Raises ConfigError."""
    name = _NO_NAME if filename is None else os.fspath(filename)
    path = Path(os.path.normpath(Path.cwd() / name))
    data = source.encode(_encoding(source), "surrogatepass") if isinstance(source, str) else source
    return Task(path, configuration.for_file(path), name, data)


def shown_of(tasks: Sequence[Task], result: LintResult, settings: Settings) -> tuple[Finding, ...]:
    """The findings that are grave enough, and that no baseline holds; `settings` are for what is in no file.

    Raises:
        ConfigError: a baseline cannot be used.
    """
    by_name = {task.filename: task for task in tasks}

    def settings_of(finding: Finding) -> Settings:
        task = by_name.get(finding.filename)
        return settings if task is None else task.settings

    files = {task.settings.baseline: task.settings.file for task in tasks if task.settings.baseline is not None}
    if files:
        try:
            held = {file: load(file) for file in files}
        except BaselineError as error:
            raise ConfigError(str(error), next(iter(files.values()))) from None
        named = fingerprinted(result.findings, lambda name: _source(by_name.get(name)))
        findings = marked(named, lambda finding: held.get(settings_of(finding).baseline or Path()))
        result = replace(result, findings=findings)
    return shown(result, settings_of).findings


def _source(task: Task | None) -> SourceFile | None:
    try:
        return None if task is None else task.read()
    except SourceError:
        return None


def _configuration(settings: Mapping[str, object], *, isolated: bool) -> Configuration:
    cwd = Path.cwd()
    values = {key.replace("_", "-"): value for key, value in settings.items()}
    return Configuration(cwd, isolated=isolated, overrides=(Layer(cwd, check(values, None)),))


def _encoding(source: str) -> str:
    """The encoding that a text declares. What it cannot be written in, it is read as, and found to be wrong."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source.encode("utf-8", "surrogatepass")).readline)
        source.encode(encoding)
    except (SyntaxError, ValueError):
        return "utf-8"
    return "utf-8" if encoding == "utf-8-sig" else encoding
