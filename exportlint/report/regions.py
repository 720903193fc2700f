"""Places in files as programs count them: in the rows of the file itself, where people count in cells of a notebook."""

from __future__ import annotations

from dataclasses import dataclass

from exportlint.findings import Finding, Span, Step
from exportlint.report.context import Context
from exportlint.source import Notebook


@dataclass(frozen=True, slots=True)
class Region:
    """Rows of a file, from 1, and columns in code points, from 1, the end not included.

    There are no columns in a notebook: in its JSON, they are others.
    """

    start_row: int
    end_row: int
    start_column: int | None = None
    end_column: int | None = None


def region(place: Finding | Step, context: Context) -> Region:
    """Where a finding or a step of a trail is in its file."""
    return region_of(place.filename, place.span, place.cell, context)


def region_of(filename: str, span: Span, cell: int | None, context: Context) -> Region:
    """Where a span, of a cell if one is given, is in its file."""
    start, end = span.start, span.end
    if cell is None:
        return Region(start.row, end.row, start.column, end.column)
    source = context.sources(filename)
    if not isinstance(source, Notebook):
        return Region(start.row, end.row)
    rows = source.file_rows[cell]
    return Region(rows[start.row - 1], rows[end.row - 1])
