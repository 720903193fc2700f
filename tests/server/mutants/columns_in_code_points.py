"""A server that counts columns in code points whatever was agreed upon: `python columns_in_code_points.py server`."""

import sys

from exportlint.server import ranges
from exportlint.source import ClientPosition, LineIndex, PositionEncoding, to_client


def in_code_points(lines: LineIndex, offset: int, encoding: PositionEncoding) -> ClientPosition:
    return to_client(lines, offset, PositionEncoding.UTF32)


ranges.to_client = in_code_points  # type: ignore[attr-defined]

if __name__ == "__main__":
    from exportlint.cli import main

    sys.exit(main())
