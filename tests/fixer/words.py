"""A linter of words instead of Python, to see what fixing does with fixes of any kind.

A file is linted together with those that it imports. What is found, and what the fix makes of it:

| word | severity | fix |
|---|---|---|
| `bad` | error | `good` |
| `poor` | warning | `good` |
| `odd` | warning | `good`, unsafe |
| `show` | warning | `good`, display-only |
| `same` | warning | `same_`, which is found as well |
| `awful` | error | none |
| `evil` | warning | `awful` |
| `deep` | warning | `bad`, which has a fix |
| `deeper` | warning | `bad + wait`: `wait` is an error whose fix is `bad` |
| `mixed` | warning | `bad + awful` |
| `ping`, `pong` | warnings of two rules | each other |
| `torn` | warning | `)`, no Python |
| `late` | warning | `awful` unless `good` stands in front of it in its line, else nothing |
| `api` | warning | `new`, but whoever imports the file and says `uses` finds an error in `new` |
| `named` | warning | `good`, with a variable that all such fixes bring |
| `first3` | warning | `first2`, of another rule, and so on to `first0` |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from exportlint.analysis.project import Project
from exportlint.config import Layer, Settings
from exportlint.config.settings import combine
from exportlint.findings import Applicability, Edit, Finding, Fix, Severity
from exportlint.linter import Task
from exportlint.source import SourceFile
from exportlint.syntax.definitions import Import, Module

_WORD = re.compile(r"[a-z_]+\d?")
_FIXES = {
    "bad": ("EXP101", "good"),
    "poor": ("EXP201", "good"),
    "odd": ("EXP202", "good"),
    "show": ("EXP203", "good"),
    "same": ("EXP301", "same_"),
    "same_": ("EXP301", None),
    "awful": ("EXP102", None),
    "evil": ("EXP302", "awful"),
    "deep": ("EXP303", "bad"),
    "deeper": ("EXP304", "bad + wait"),
    "wait": ("EXP103", "bad"),
    "mixed": ("EXP306", "bad + awful"),
    "ping": ("EXP401", "pong"),
    "pong": ("EXP402", "ping"),
    "torn": ("EXP501", ")"),
    "late": ("EXP502", "awful"),
    "named": ("EXP503", "good"),
    "api": ("EXP601", "new"),
    **{f"first{n}": (f"EXP{301 + n}", f"first{n - 1}") for n in range(1, 10)},
}
_APPLICABILITIES = {"odd": Applicability.UNSAFE, "show": Applicability.DISPLAY_ONLY}


def check_words(source: SourceFile, project: Project, settings: Settings, *_: object) -> list[Finding]:
    """What is found in a file and in those that it imports; stands in for `check_file`."""
    module = project.add(source)
    imports = [binding.target for binding in module.bindings.values() if isinstance(binding, Import)]
    helpers = [module, *(found[0] for name in imports if (found := project.find(name, module)))]
    uses = "uses" in source.text
    return [finding for helper in helpers for finding in _findings(helper, settings, is_used=uses and helper != module)]


def _findings(module: Module, settings: Settings, *, is_used: bool) -> Iterator[Finding]:
    source = module.source
    for match in _WORD.finditer(source.text):
        word, span = match.group(), source.lines.span(*match.span())
        if word == "new" and is_used:
            yield Finding("EXP602", "x", Severity.ERROR, word, source.filename, span)
        if word not in _FIXES:
            continue
        code, content = _FIXES[word]
        line = source.text[: match.start()].rpartition("\n")[2]
        if word == "late" and "good" in line:
            content = "x"
        fix = None
        if content is not None:
            applicability = _APPLICABILITIES.get(word, Applicability.SAFE)
            names = frozenset({(0, "good")} if word == "named" else ())
            fix = Fix(applicability, f"Say {content}", (Edit(span, content),), names)
        severity = Severity.ERROR if word in {"bad", "awful", "wait"} else Severity.WARNING
        yield Finding(code, "x", severity, word, source.filename, span, fix=fix)


def tasks(directory: Path, files: dict[str, str]) -> list[Task]:
    """Files to fix, written to a directory."""
    settings = combine([Layer(directory, {"torch-version": (2, 13)})], directory)
    found = []
    for name, text in files.items():
        path = directory / name
        path.write_bytes(text.encode())
        found.append(Task(path, settings))
    return found
