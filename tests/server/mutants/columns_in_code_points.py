"""A server that counts columns in code points whatever was agreed upon: `python columns_in_code_points.py server`."""

import sys

from exportlint.findings import Position
from exportlint.server import ranges
from exportlint.source import ClientPosition, LineIndex, PositionEncoding, position_to_client, to_client


def offset_in_code_points(lines: LineIndex, offset: int, encoding: PositionEncoding) -> ClientPosition:
    return to_client(lines, offset, PositionEncoding.UTF32)


def position_in_code_points(lines: LineIndex, position: Position, encoding: PositionEncoding) -> ClientPosition:
    return position_to_client(lines, position, PositionEncoding.UTF32)


ranges.to_client = offset_in_code_points  # type: ignore[attr-defined]
ranges.position_to_client = position_in_code_points  # type: ignore[attr-defined]

if __name__ == "__main__":
    from exportlint.cli import main

    sys.exit(main())
