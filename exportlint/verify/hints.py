"""What torch proposes to write before the line that it fails at, as fixes that are shown and never applied."""

from __future__ import annotations

from collections.abc import Sequence

from exportlint.findings import Applicability, Edit, Fix, Position, Span
from exportlint.source import LineIndex


def as_fixes(hints: Sequence[str], lines: LineIndex, row: int) -> tuple[Fix, ...]:
    """One fix for each line of code, which stands before `row` then; several are alternatives."""
    line = lines.line(row)
    indentation = line[: len(line) - len(line.lstrip())]
    place = Span(Position(row, 1), Position(row, 1))
    end = "\r\n" if "\r\n" in lines.text else "\n"
    return tuple(
        Fix(
            Applicability.DISPLAY_ONLY,
            f"Tell torch.export what it cannot know: `{hint}`",
            (Edit(place, f"{indentation}{hint}{end}"),),
        )
        for hint in dict.fromkeys(" ".join(hint.split()) for hint in hints)
    )
