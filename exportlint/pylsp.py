"""A plugin of python-lsp-server: findings as diagnostics, fixes as code actions.

python-lsp-server finds it by its entry point, and calls the functions by their names and those of their parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pluggy

from exportlint.api import fixed_of, shown_of, task_of
from exportlint.config import ConfigError, Configuration
from exportlint.findings import Applicability, Edit, Finding, Position, Severity, Span
from exportlint.linter import Task, lint
from exportlint.registry import find_rule
from exportlint.source import LineIndex, PositionEncoding, position_to_client

hookimpl = pluggy.HookimplMarker("pylsp")

_SOURCE = "exportlint"
_QUICK_FIX, _FIX_ALL = "quickfix", "source.fixAll"
_SEVERITIES = {Severity.ERROR: 1, Severity.WARNING: 2, Severity.INFO: 3}
_TITLES = {Applicability.SAFE: "", Applicability.UNSAFE: " (unsafe)"}

Json = dict[str, Any]


class Document(Protocol):
    """What is needed of a document of python-lsp-server."""

    uri: str
    path: str
    source: str


@hookimpl
def pylsp_settings() -> Json:
    """The settings of the plugin: it is on. All others are exportlint's own."""
    return {"plugins": {"exportlint": {"enabled": True}}}


@hookimpl
def pylsp_lint(document: Document) -> list[Json]:
    """The diagnostics of a document."""
    lines = LineIndex(document.source)
    try:
        return [_diagnostic(finding, lines) for finding in _findings(document, fixes=False)]
    except ConfigError as error:
        start = Span(Position(1, 1), Position(1, 1))
        return [{"range": _range(start, lines), "severity": 1, "source": _SOURCE, "message": str(error)}]


@hookimpl
def pylsp_code_actions(document: Document, range: Json, context: Json) -> list[Json]:  # noqa: A002 - the server's name
    """The fixes of the findings that a range touches, and, if the client asks for it, that of the whole document."""
    only = context.get("only")
    actions: list[Json] = []
    try:
        if _wants(only, _QUICK_FIX):
            actions += _quick_fixes(document, range)
        if only is not None and _wants(only, _FIX_ALL):
            actions += _fix_all(document)
    except ConfigError:  # the diagnostic says why
        return []
    return actions


def _findings(document: Document, *, fixes: bool) -> tuple[Finding, ...]:
    task = _task(document)
    return shown_of([task], lint([task], fixes=fixes), task.settings)


def _task(document: Document) -> Task:
    # The working directory of the server says nothing about the project.
    folder = Path(document.path).parent if document.path else Path.cwd()
    return task_of(document.source, document.path or None, Configuration(folder))


def _quick_fixes(document: Document, asked: Json) -> Iterator[Json]:
    lines = LineIndex(document.source)
    for finding in _findings(document, fixes=True):
        fix = finding.fix
        if fix is None or fix.applicability not in _TITLES or not _touches(_range(finding.span, lines), asked):
            continue
        yield {
            "title": fix.message + _TITLES[fix.applicability],
            "kind": _QUICK_FIX,
            "isPreferred": fix.applicability is Applicability.SAFE,
            "diagnostics": [_diagnostic(finding, lines)],
            "edit": {"changes": {document.uri: _text_edits(fix.edits, lines)}},
        }


def _fix_all(document: Document) -> Iterator[Json]:
    """One action that applies all safe fixes."""
    text = document.source
    fixed = fixed_of(_task(document), text, Applicability.SAFE)
    if fixed.source != text:
        lines = LineIndex(text)
        whole = Span(Position(1, 1), lines.position(len(text)))
        edit = {"range": _range(whole, lines), "newText": fixed.source}
        title = "Fix all with exportlint"
        yield {"title": title, "kind": f"{_FIX_ALL}.exportlint", "edit": {"changes": {document.uri: [edit]}}}


def _wants(only: Sequence[str] | None, kind: str) -> bool:
    """Whether a client that wants some kinds of actions wants one of this kind."""
    return only is None or any(f"{kind}.exportlint.".startswith(f"{wanted}.") for wanted in only)


def _diagnostic(finding: Finding, lines: LineIndex) -> Json:
    rule = find_rule(finding.code)
    shown: Json = {
        "range": _range(finding.span, lines),
        "severity": _SEVERITIES[finding.severity],
        "source": _SOURCE,
        "code": finding.code,
        "message": "\n".join([finding.message, *([f"help: {finding.help}"] if finding.help else [])]),
    }
    if rule is not None:
        shown["codeDescription"] = {"href": rule.url}
    return shown


def _text_edits(edits: Sequence[Edit], lines: LineIndex) -> list[Json]:
    return [{"range": _range(edit.span, lines), "newText": edit.content} for edit in edits]


def _range(span: Span, lines: LineIndex) -> Json:
    return {"start": _position(span.start, lines), "end": _position(span.end, lines)}


def _position(position: Position, lines: LineIndex) -> Json:
    return dict(position_to_client(lines, position, PositionEncoding.UTF16)._asdict())


def _touches(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return _order(one["start"]) <= _order(other["end"]) and _order(other["start"]) <= _order(one["end"])


def _order(position: Mapping[str, int]) -> tuple[int, int]:
    return position["line"], position["character"]
