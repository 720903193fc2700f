"""A Jupyter notebook as a file whose text is the Python of its code cells."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from exportlint.findings import Position
from exportlint.source.cells import Cells
from exportlint.source.errors import SourceError, SyntaxProblem
from exportlint.source.file import Place, SourceFile
from exportlint.source.magics import Masked, blank, mask
from exportlint.source.parsing import parse

if TYPE_CHECKING:
    from exportlint.source.ipynb import Document

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Notebook(SourceFile):
    """A notebook: `text` is the Python of all its code cells, one after the other.

    What IPython alone understands is blank in `text`, and so is a cell that is not Python, which is one of the
    `problems`. `cells` are the cells as they are, of which `text` has the same rows and columns. `data` is JSON.
    """

    cells: Cells
    document: Document
    broken: tuple[SyntaxProblem, ...]
    gaps: tuple[tuple[int, int], ...]
    """From where to where `text` must not be edited, in whole lines."""

    @property
    def problems(self) -> tuple[SyntaxProblem, ...]:
        """The cells that are not Python."""
        return self.broken

    @property
    def is_faithful(self) -> bool:
        """Always: JSON that is not edited is not written anew."""
        return True

    @cached_property
    def file_rows(self) -> dict[int, list[int]]:
        """The row of the file that each row of a cell is written in, by the number of the cell."""
        found = {}
        for number, cell in zip(self.cells.numbers, self.document.cells, strict=True):
            found[number] = list(self.document.rows(cell))
        return found

    def row_name(self, row: int) -> str:
        """What people call a row of `text`: it has another number in its cell."""
        found = self.cells.locate(Position(row, 1))
        return super().row_name(row) if found is None else f"line {found[1].row} of cell {self.cells.numbers[found[0]]}"

    def block(self, row: int) -> range:
        """The rows of the cell that a row is in."""
        index = self.cells.index(row)
        return super().block(row) if index is None else self.cells.rows(index)

    def admits(self, edits: Sequence[Place]) -> bool:
        """Whether each edit is one of a single cell, and neither touches nor uses what `text` does not show."""
        return all(
            self.cells.place(edit) is not None and all(_misses(edit, gap, self.text) for gap in self.gaps)
            for edit in edits
        )

    def edited(self, edits: Sequence[Place]) -> Notebook:
        """The notebook after edits of its cells; all other bytes stay. Raises SourceError if they are not admitted."""
        cells = self.cells.edits(edits)
        if cells is None or not self.admits(edits):
            raise SourceError(
                self.filename, "cannot be edited at this place: the edit is not within the Python code of one cell"
            )
        return from_json(self.document.edited(cells), self.path, self.filename)


def from_json(data: bytes, path: Path, filename: str) -> Notebook:
    """Reads an `.ipynb` file. Raises SourceError if it is not a notebook of a known format."""
    from exportlint.source.ipynb import document  # brings json, which most runs do not need

    found = document(data, filename)
    cells = Cells([cell.text for cell in found.cells], [cell.number for cell in found.cells])
    masked = [_python(text) for text in cells.texts]
    text = "".join(
        one.text + cells.text[cells.start(index) + len(one.text) : cells.start(index + 1)]
        for index, (one, _) in enumerate(masked)
    )
    problems = [
        SyntaxProblem(problem.message, cells.rows(index).start + problem.row - 1, problem.column)
        for index, (_, problem) in enumerate(masked)
        if problem is not None
    ]
    gaps = [
        (cells.start(index) + start, cells.start(index) + end)
        for index, (one, _) in enumerate(masked)
        for start, end in one.gaps
    ]
    encoding = "utf-8-sig" if data.startswith(_BOM) else "utf-8"
    return Notebook(path, filename, data, text, encoding, cells, found, tuple(problems), tuple(gaps))


def from_cells(texts: Iterable[str], path: Path, filename: str | None = None) -> Notebook:
    """A notebook that an editor holds: its code cells, in order. Their numbers are those in this order, from 1."""
    return from_json(as_json(texts), path, str(path) if filename is None else filename)


def as_json(texts: Iterable[str]) -> bytes:
    """A notebook file of code cells: what `Task.data` and `Workspace.hold` take for a notebook that is not saved."""
    import json

    cells = [{"cell_type": "code", "source": text} for text in texts]
    return json.dumps({"cells": cells, "nbformat": 4}).encode()


@lru_cache(maxsize=512)  # of a notebook that is being edited, most cells stay as they are
def _python(text: str) -> tuple[Masked, SyntaxProblem | None]:
    """The Python of a cell; if that cannot be parsed there is none.

    A statement that has a gap in it is a gap as a whole: who knows what a magic does there.
    """
    masked = mask(text)
    source = SourceFile(Path(), "", b"", masked.text + "\n", "utf-8")
    try:
        tree = parse(source)
    except SyntaxProblem as problem:
        row = min(problem.row, len(source.lines) - 1)
        column = problem.column if row == problem.row else source.lines.position(len(masked.text)).column
        return Masked(blank(text), ((0, len(text)),)), SyntaxProblem(problem.message, row, column)
    return Masked(masked.text, tuple(_grown(gap, tree.body, source) for gap in masked.gaps)), None


def _grown(gap: tuple[int, int], body: Sequence[ast.stmt], source: SourceFile) -> tuple[int, int]:
    start, end = gap
    for statement in body:
        rows = [statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))]
        first = source.lines.line_start(min(rows))
        last = source.lines.line_end(statement.end_lineno or statement.lineno)
        if first < end and start < last:
            start, end = min(start, first), max(end, last)
    return start, end


def _misses(edit: Place, gap: tuple[int, int], text: str) -> bool:
    """Whether an edit leaves a gap alone, and on lines of its own."""
    start, end, content = edit
    first, last = gap
    if start > last:
        return True
    whole = content.endswith(("\n", "\r")) if content else start == 0 or text[start - 1] in "\r\n"
    return end < first or (start < end == first and whole)
