"""The JSON of a Jupyter notebook: its code cells, where they are written, and edits that leave all else alone."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from exportlint.source.errors import SourceError
from exportlint.source.file import Place
from exportlint.source.ipynb_places import SourcePlaces
from exportlint.source.lines import LineIndex

_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)
_ESCAPED = re.compile(r"(?<!\\)(?:\\\\)*\\u(?!00[0-7])")
_FORMAT = 4
_HINT = "open and save it in Jupyter, or run `jupyter nbconvert --to notebook --inplace` on it"


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell: its number among all cells, from 1, and its source as lines or whatever else it is divided into.

    `literals` are the places of these strings in the JSON, with their quotes, and `start`, `end` that of the source.
    """

    number: int
    parts: tuple[str, ...]
    literals: tuple[tuple[int, int], ...]
    start: int
    end: int

    @property
    def text(self) -> str:
        """What the cell holds."""
        return "".join(self.parts)


@dataclass(frozen=True, slots=True)
class Document:
    """A notebook file: its JSON, without byte order mark, and its cells of Python code."""

    bom: bytes
    text: str
    cells: tuple[Cell, ...]

    def rows(self, cell: Cell) -> Iterator[int]:
        """For each row of a cell, the row of the file that its start is written in."""
        file, lines = LineIndex(self.text), LineIndex(cell.text)
        starts = list(accumulate(map(len, cell.parts), initial=0))
        for row in range(1, len(lines) + 1):
            index = min(bisect_right(starts, lines.line_start(row)), len(cell.literals)) - 1
            yield file.position(cell.literals[index][0] if cell.literals else cell.start).row

    def edited(self, edits: Mapping[int, Sequence[Place]]) -> bytes:
        """The file after edits of cells, by their index in `cells`. All bytes outside of their sources stay."""
        escape = self.text.isascii() and _ESCAPED.search(self.text) is not None
        parts, end = [], 0
        for index in sorted(edits):
            cell = self.cells[index]
            parts += [self.text[end : cell.start], self._source(cell, edits[index], escape)]
            end = cell.end
        return self.bom + "".join([*parts, self.text[end:]]).encode()

    def _source(self, cell: Cell, edits: Sequence[Place], escape: bool) -> str:
        """The JSON of a cell's source after edits; the characters that stay are spelled as they were."""
        characters = [c for start, end in cell.literals for c in _CHARACTER.findall(self.text[start + 1 : end - 1])]
        divisions = set(accumulate(map(len, cell.parts[:-1])))
        is_list = self.text[cell.start] == "["
        strings = [""]
        at = 0

        def put(character: str, divides: bool) -> None:
            strings[-1] += character
            if divides and is_list:
                strings.append("")

        def keep(until: int) -> None:
            for offset in range(at, until):
                put(characters[offset], offset + 1 in divisions or characters[offset] == r"\n")

        for start, stop, content in edits:
            keep(start)
            for character in content:
                put(json.dumps(character, ensure_ascii=escape)[1:-1], character == "\n")
            at = stop
        keep(len(characters))
        if not is_list:
            return f'"{strings[0]}"'
        return self._list(cell, [f'"{string}"' for string in strings if string])

    def _list(self, cell: Cell, strings: Sequence[str]) -> str:
        lead, separator, tail = "", ", ", ""
        if cell.literals:
            lead = self.text[cell.start + 1 : cell.literals[0][0]]
            tail = self.text[cell.literals[-1][1] : cell.end - 1]
            between = [self.text[one[1] : other[0]] for one, other in pairwise(cell.literals)]
            separator = between[0] if between else f",{lead or ' '}"
        return f"[{lead}{separator.join(strings)}{tail}]" if strings else "[]"


def document(data: bytes, filename: str) -> Document:
    """Reads a notebook file. Raises SourceError if it is none, or of a format that is not known.

    One whose kernel is not one of Python has no cells of Python code.
    """
    bom = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    try:
        text = data[len(bom) :].decode()
        root = json.loads(text)
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise SourceError(filename, f"byte 0x{data[error.start]:02x} is not UTF-8, as in a notebook", row) from None
    except json.JSONDecodeError as error:
        raise SourceError(filename, f"is not a notebook, because it is not JSON: {error.msg}", error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise SourceError(filename, f"is not a readable notebook: {error}", 1) from None
    cells = _checked(root, filename)
    if not _is_python(root):
        return Document(bom, text, ())
    places = SourcePlaces(text)
    found = []
    for index, cell in enumerate(cells):
        if cell.get("cell_type") == "code" and _is_python_cell(cell):
            source = cell["source"]
            parts = (source,) if isinstance(source, str) else tuple(source)
            found.append(Cell(index + 1, parts, *places.of(index)))
    return Document(bom, text, tuple(found))


def _checked(root: Any, filename: str) -> list[dict[str, Any]]:
    """The cells of a notebook."""
    version = root.get("nbformat") if isinstance(root, dict) else None
    if not isinstance(version, int):
        raise SourceError(filename, "is JSON but not a notebook: it has no `nbformat`", 1)
    if version < _FORMAT:
        raise SourceError(filename, f"is a notebook of format {version}, which is too old: {_HINT}", 1)
    if version > _FORMAT:
        raise SourceError(filename, f"is a notebook of format {version}, but only format {_FORMAT} is supported", 1)
    cells = root.get("cells")
    if not isinstance(cells, list):
        raise SourceError(filename, "is not a notebook: it has no list of `cells`", 1)
    for number, cell in enumerate(cells, start=1):
        source = cell.get("source") if isinstance(cell, dict) else None
        if not isinstance(source, str) and not (isinstance(source, list) and all(isinstance(s, str) for s in source)):
            raise SourceError(filename, f"is not a notebook: the `source` of cell {number} is not text", 1)
    return cells


def _is_python(root: dict[str, Any]) -> bool:
    metadata = root.get("metadata")
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        said = metadata.get(key) if isinstance(metadata, dict) else None
        language = said.get(name) if isinstance(said, dict) else None
        if isinstance(language, str):
            return language.lower() in ("python", "ipython")
    return True


def _is_python_cell(cell: dict[str, Any]) -> bool:
    """Whether a code cell is in the language of the notebook, where VS Code says so."""
    metadata = cell.get("metadata")
    said = metadata.get("vscode") if isinstance(metadata, dict) else None
    language = said.get("languageId", "python") if isinstance(said, dict) else "python"
    return bool(language == "python")
