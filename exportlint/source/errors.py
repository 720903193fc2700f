"""What can be wrong with an input, each as one line that says what to do."""

from __future__ import annotations


class SourceError(Exception):
    """A path that cannot be linted at all: it is not there, not readable, or not Python text.

    `message` is one line without the file's name, `row` (from 1) is None where the whole file is meant.
    """

    def __init__(self, filename: str, message: str, row: int | None = None) -> None:
        super().__init__(filename, message, row)
        self.filename = filename
        self.message = message
        self.row = row

    def __str__(self) -> str:
        place = self.filename if self.row is None else f"{self.filename}:{self.row}"
        return f"{place}: {self.message}"


class SyntaxProblem(Exception):  # noqa: N818 - a finding about the user's file, not an error of ours
    """A text that Python cannot parse: one line of message, row and column from 1, in code points, inside the text."""

    def __init__(self, message: str, row: int, column: int) -> None:
        super().__init__(message, row, column)
        self.message = message
        self.row = row
        self.column = column


def os_reason(error: OSError | ValueError) -> str:
    """Why the operating system refused a path, in lower case and without the path."""
    if isinstance(error, FileNotFoundError):
        return "no such file or directory"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return "not a valid path"
