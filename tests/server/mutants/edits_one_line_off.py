"""A server whose edits are about the line below: `python edits_one_line_off.py server`."""

import sys

from lsprotocol import types

honest = types.TextEdit.__init__


def one_line_off(self: types.TextEdit, range: types.Range, new_text: str) -> None:  # noqa: A002 - as attrs names it
    start, end = (types.Position(place.line + 1, place.character) for place in (range.start, range.end))
    honest(self, types.Range(start, end), new_text)


types.TextEdit.__init__ = one_line_off  # type: ignore[method-assign]

if __name__ == "__main__":
    from exportlint.cli import main

    sys.exit(main())
