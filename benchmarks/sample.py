"""Which files to measure: those of a directory, or some taken evenly."""

from __future__ import annotations

from pathlib import Path

OWN = Path(__file__).parents[1] / "exportlint"
"""What is linted where nothing else is there: exportlint itself."""


def sample(directory: Path, count: int | None) -> list[Path]:
    """`count` of the Python files under `directory`, at even distances in the order of their names; None is all.

    Raises:
        SystemExit: there are none.
    """
    files = sorted(path for path in directory.rglob("*.py") if path.is_file())
    if not files:
        raise SystemExit(f"{directory}: no Python files")
    if count is None or count >= len(files):
        return files
    return [files[index * len(files) // count] for index in range(count)]


def count_lines(files: list[Path]) -> int:
    """The number of line ends in the files."""
    return sum(path.read_bytes().count(b"\n") for path in files)
