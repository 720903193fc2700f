"""What a report needs to know beside the findings."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath

from exportlint.findings import Applicability, Finding, Step
from exportlint.source import LineIndex, Notebook, SourceFile

_STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "bold": "1",
    "frame": "1;34",
    "dim": "2",
    "removed": "31",
    "added": "32",
    "fixable": "36",
}


@dataclass(frozen=True, slots=True)
class Context:
    """`sources` gives the file of a finding, or None if there is none to show. `color`: write ANSI colours.

    `most` is the applicability up to which fixes are applied, `fixing` whether they were. `verbose`: show trails as a
    whole. `width` is the number of columns of the terminal that shows the report, None where it goes elsewhere. `root`
    is the folder that a code host names files from: that of the repository; None if that is `cwd`.
    """

    cwd: Path
    sources: Callable[[str], SourceFile | None]
    color: bool = False
    most: Applicability = Applicability.SAFE
    verbose: bool = False
    width: int | None = None
    fixing: bool = False
    root: PurePath | None = None

    def lines(self, filename: str, cell: int | None) -> LineIndex | None:
        """The text that the rows of a finding or an edit are those of."""
        source = self.sources(filename)
        if isinstance(source, Notebook) and cell is not None:
            return source.cells.lines(source.cells.numbers.index(cell))
        return None if source is None else source.lines

    def is_fixable(self, finding: Finding) -> bool:
        """Whether `--fix` would fix it."""
        fix = finding.fix
        return fix is not None and not fix.obstacle and fix.applicability.rank <= self.most.rank

    def shown(self, filename: str) -> str:
        """A file name as people read it: relative to the working directory if it is below it."""
        below = str(self.cwd).rstrip(os.sep) + os.sep
        name = filename.removeprefix(below)
        return printable(f".{os.sep}{name}" if _is_command(name) else name)

    def style(self, style: str, text: str) -> str:
        """`text` in the colour of a severity, or `bold`, `frame` and the like."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.color else text


def located(place: Finding | Step) -> str:
    """Row and column of a finding or a step, `5:12`; in a notebook with the number of the cell, `cell 3:5:12`."""
    start = place.span.start
    cell = "" if place.cell is None else f"cell {place.cell}:"
    return f"{cell}{start.row}:{start.column}"


def printable(text: str) -> str:
    """`text`, which others wrote, as a line in which nothing is obeyed: whatever is shown or logged goes through this.

    Control characters, which a terminal obeys, become visible ones. What makes a line a workflow command of GitHub
    Actions, `::` at its start or `##[` anywhere, becomes something that only looks like it, and so does what Azure
    Pipelines and TeamCity obey, `##vso[` and `##teamcity[`.
    """
    if _is_command(text):
        text = text.replace("::", "\ua789:", 1)
    if "##" in text:
        text = IN_LINE_COMMAND.sub("\\1\u2045", text)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\t" else _picture(c) for c in text)


IN_LINE_COMMAND = re.compile(r"(##\w*)\[")
"""What makes something a command wherever it stands in a line of a log."""


def _is_command(line: str) -> bool:
    return "::" in line and line.lstrip().startswith("::")


def _picture(char: str) -> str:
    code = ord(char)
    if 0xD800 <= code < 0xE000:  # a byte of a file name that is not UTF-8, say
        return f"\\u{code:04x}"
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if char == "\u00a0":
        return " "
    # Marks and joiners are no harm; what turns the direction of writing around, or ends lines elsewhere, is.
    return char if code >= 0xA0 and char not in _HARMFUL else "\ufffd"


_HARMFUL = frozenset("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
