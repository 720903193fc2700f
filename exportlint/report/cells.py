"""Findings in notebooks, as people see them: by cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from exportlint.findings import Caller, Edit, Finding, Step
from exportlint.source import Cells, Notebook, SourceFile, is_notebook

_P = TypeVar("_P", Caller, Finding, Step)


def in_cells(finding: Finding, sources: Callable[[str], SourceFile | None]) -> Finding:
    """The finding with rows of cells instead of rows of the text, wherever it, its trail and its fix are in notebooks.

    `sources` gives the file of a name, or None if it cannot be read.
    """

    def cells(filename: str) -> Cells | None:
        source = sources(filename) if is_notebook(filename) else None
        return source.cells if isinstance(source, Notebook) else None

    own = cells(finding.filename)
    fix = finding.fix
    if own is not None and fix is not None:
        fix = replace(fix, edits=tuple(_edit(edit, own) for edit in fix.edits))
    trail = tuple(_located(step, cells(step.filename)) for step in finding.trail)
    callers = tuple(_caller(caller, cells(caller.filename)) for caller in finding.callers)
    return _located(replace(finding, trail=trail, fix=fix, callers=callers), own)


def _caller(caller: Caller, cells: Cells | None) -> Caller:
    definition = None if cells is None else cells.span(caller.definition)
    return _located(caller if definition is None else replace(caller, definition=definition[1]), cells)


def _located(place: _P, cells: Cells | None) -> _P:
    found = None if cells is None else cells.span(place.span)
    if cells is None or found is None:
        return place
    index, span = found
    return replace(place, cell=cells.numbers[index], span=span)


def _edit(edit: Edit, cells: Cells) -> Edit:
    found = cells.edit(edit)
    return edit if found is None else found[1]
