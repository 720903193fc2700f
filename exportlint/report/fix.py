"""What a fix would change, as lines taken out and put in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from exportlint.edits import apply
from exportlint.findings import Applicability, Edit, Finding, Fix, Position
from exportlint.report.context import Context, printable
from exportlint.report.frame import clip, code_width, expand, offset_of
from exportlint.report.wrapping import wrapped
from exportlint.source import LineIndex

_CONTEXT_ROWS = 1

_NOTES = {
    Applicability.UNSAFE: "This is an unsafe fix and may change runtime behavior (`exportlint rule {code}`)",
    Applicability.DISPLAY_ONLY: "This is a proposal and is never applied",
}

_Row = tuple[int | None, str, str]
"""Its number in the fixed file, its sign, and its text; without number what is taken out."""


def shown(fix: Fix, finding: Finding, context: Context) -> list[str]:
    """The lines to print of the fix of a finding: its message, the rows that it changes, how far it can be trusted."""
    lines = wrapped(f"{context.style('bold', 'help')}: {printable(fix.message)}", context.width, "      ")
    for cell, edits in groupby(fix.edits, key=lambda edit: edit.cell):
        text = context.lines(finding.filename, cell)
        if text is not None:
            lines += _part(list(edits), cell, text, context)
    if (note := _NOTES.get(fix.applicability)) is not None:
        lines.append(f"{context.style('bold', 'note')}: {note.format(code=finding.code)}")
    return lines


def _part(edits: Sequence[Edit], cell: int | None, text: LineIndex, context: Context) -> Iterator[str]:
    """What becomes of one text: the file, or a cell of a notebook."""
    hunks = list(_hunks(edits, text))
    width = max((len(str(number)) for rows in hunks for number, _, _ in rows if number), default=1)
    bar = context.style("frame", f" {'':>{width}} |")
    if cell is not None:
        yield f" {'':>{width}}{context.style('frame', ':::')} cell {cell}"
    yield bar
    for index, rows in enumerate(hunks):
        if index:
            yield context.style("frame", f" {'.' * 3:<{width}}")
        yield from (_line(row, width, edits[0].span.start, text, context) for row in rows)
    yield bar


def _line(row: _Row, width: int, start: Position, lines: LineIndex, context: Context) -> str:
    number, sign, text = row
    gutter = context.style("frame", f" {'' if number is None else number:>{width}}")
    style = {"-": "removed", "+": "added"}.get(sign, "frame")
    limit = code_width(context, width + 4)
    shown = clip(expand(text), offset_of(lines.line(start.row), start.column, limit), limit)
    code = context.style(style, f"{sign} {shown}".rstrip()) if sign != "|" else f"{context.style(style, sign)} {shown}"
    return f"{gutter} {code}".rstrip()


def _hunks(edits: Sequence[Edit], lines: LineIndex) -> Iterator[list[_Row]]:
    """The rows that edits change, with those around them, and apart from each other what is far apart."""
    from difflib import SequenceMatcher

    after = apply(edits, lines)
    moved, shift = 0, 0  # how far what follows has moved, in characters and in rows
    for group in _groups(edits):
        first = max(1, group[0].span.start.row - _CONTEXT_ROWS)
        last = min(len(lines), group[-1].span.end.row + _CONTEXT_ROWS)
        start, end = lines.line_start(first), lines.line_end(last)
        grown = sum(len(edit.content) - len(lines.slice(edit.span)) for edit in group)
        old = _rows(lines.text[start:end])
        new = _rows(after[start + moved : end + moved + grown])
        for changes in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT_ROWS):
            rows: list[_Row] = []
            for tag, i, i_end, j, j_end in changes:
                numbered = [(first + shift + k, "|" if tag == "equal" else "+", new[k]) for k in range(j, j_end)]
                rows += [*((None, "-", row) for row in old[i:i_end] if tag != "equal"), *numbered]
            yield rows
        moved += grown
        shift += len(new) - len(old)


def _groups(edits: Sequence[Edit]) -> Iterator[list[Edit]]:
    group: list[Edit] = []
    for edit in edits:
        if group and edit.span.start.row - group[-1].span.end.row > 2 * _CONTEXT_ROWS:
            yield group
            group = []
        group.append(edit)
    if group:
        yield group


def _rows(text: str) -> list[str]:
    lines = LineIndex(text)
    return [lines.line(row) for row in range(1, len(lines) + 1)]
