"""A server whose edits are about the line below: `python edits_one_line_off.py server`."""

import sys

from lsprotocol import types

from exportlint.findings import Edit
from exportlint.server import ranges
from exportlint.source import LineIndex, PositionEncoding

honest = ranges.text_edit


def one_line_off(edit: Edit, lines: LineIndex, encoding: PositionEncoding) -> types.TextEdit:
    moved = honest(edit, lines, encoding)
    for place in (moved.range.start, moved.range.end):
        place.line += 1
    return moved


ranges.text_edit = one_line_off

if __name__ == "__main__":
    from exportlint.cli import main

    sys.exit(main())
