"""Where the rows of a text are in another version of it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from exportlint.server.line_differences import differences

_LINE_END = re.compile(r"\r\n|\r|\n")


def moved(before: str, after: str) -> Mapping[int, int]:
    """For each row of a text, from 1, where it is now; those that were changed or deleted are nowhere."""
    old, new = _LINE_END.split(before), _LINE_END.split(after)
    found: dict[int, int] = {}
    row = new_row = 0
    for start, end, new_start, new_end in [*differences(old, new), (len(old), len(old), len(new), len(new))]:
        found |= {row + count + 1: new_row + count + 1 for count in range(start - row)}
        assert new_start - new_row == start - row
        row, new_row = end, new_end
    return found
