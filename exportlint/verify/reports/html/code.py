"""The code on the page: which lines ran, and what is said of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from exportlint.findings import Finding
from exportlint.source import LineIndex
from exportlint.verify.reports import Outcome
from exportlint.verify.reports.html.note import Said, note
from exportlint.verify.reports.html.parts import shown, text
from exportlint.verify.results import Frame
from exportlint.verify.verdicts import Sources

_WHOLE = 400
"""Files of so many rows are shown as a whole."""

_AROUND = 4
"""So many rows are shown around what ran or was found in longer ones."""


class Code:
    """The files that ran or in which something was found, each with an anchor for each row."""

    def __init__(self, said: Sequence[Said], outcome: Outcome, sources: Sources) -> None:
        self._root = outcome.root
        self._sources = sources
        self._said: dict[str, list[Said]] = {}
        for one in said:
            self._said.setdefault(os.path.realpath(one[0].filename), []).append(one)
        self._ran: dict[str, set[int]] = {}
        for run in outcome.runs:
            for file, rows in run.lines.items():
                self._ran.setdefault(os.path.realpath(file), set()).update(rows)
        files = sorted(self._said.keys() | {file for file, rows in self._ran.items() if rows})
        self._numbers = {file: number for number, file in enumerate(files)}

    def link(self, frame: Frame) -> str:
        """A place in the code, which leads there if it is on the page."""
        number = self._numbers.get(os.path.realpath(frame.file))
        place = f"{text(shown(Path(frame.file), self._root))}:{frame.row}"
        return place if number is None else f'<a href="#f{number}-{frame.row}">{place}</a>'

    def sections(self) -> str:
        """All files."""
        return "\n".join(self._section(file, number) for file, number in self._numbers.items())

    def _section(self, file: str, number: int) -> str:
        source = self._sources(file)
        lines = LineIndex("") if source is None else source.lines
        ran = self._ran.get(file, set())
        said: dict[int, list[Said]] = {}
        for one in self._said.get(file, ()):
            said.setdefault(min(one[0].span.end.row, len(lines)), []).append(one)
        wanted = _wanted(lines, ran | said.keys())
        rows, previous = [], 0
        for row in wanted:
            if row != previous + 1:
                rows.append('<tr class="gap"><td colspan="3">⋯</td></tr>')
            rows.append(self._row(number, row, lines.line(row), row in ran, said.get(row, ())))
            previous = row
        name = text(shown(Path(file), self._root))
        return (
            f'<h3 id="f{number}">{name}</h3>\n'
            f'<div class="scroll" role="region" tabindex="0" aria-label="{name}"><table class="code">\n'
            f'<caption class="hidden">{name}: number of each line, whether it ran, and what it says</caption>\n'
            + "\n".join(rows)
            + "\n</table></div>"
        )

    def _row(self, number: int, row: int, line: str, ran: bool, said: Sequence[Said]) -> str:
        marks = [f for f, *_ in said if f.span.start.row == f.span.end.row == row]
        place = f'<th scope="row" id="f{number}-{row}"><a href="#f{number}-{row}">{row}</a></th>'
        mark = '<td class="ran"><span class="hidden">ran</span></td>' if ran else "<td></td>"
        code = f"<tr{' class=hit' if said else ''}>{place}{mark}<td><code>{_marked(line, marks)}</code></td></tr>"
        notes = [(one[1], note(one, self._root)) for one in said]
        return code + "".join(f'\n<tr class="note" data-verdict="{v}"><td colspan="3">{n}</td></tr>' for v, n in notes)


def _wanted(lines: LineIndex, rows: set[int]) -> list[int]:
    if len(lines) <= _WHOLE:
        return list(range(1, len(lines) + 1))
    around = {near for row in rows for near in range(row - _AROUND, row + _AROUND + 1)}
    return sorted(row for row in around if 1 <= row <= len(lines))


def _marked(line: str, findings: Sequence[Finding]) -> str:
    """A line with the places of findings marked, as far as they do not overlap."""
    parts, end = [], 0
    for finding in sorted(findings, key=lambda f: f.span):
        start, stop = finding.span.start.column - 1, finding.span.end.column - 1
        if start < end or stop <= start:
            continue
        parts += [text(line[end:start]), f'<mark class="{finding.severity.value}">{text(line[start:stop])}</mark>']
        end = stop
    return "".join([*parts, text(line[end:])])
