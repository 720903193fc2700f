"""A file with edits: whole, faithful to the edits, and still a file that Python takes."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable

from exportlint.edits import apply, places
from exportlint.findings import Edit
from exportlint.source import SourceError, SourceFile


class EditError(Exception):
    """Edits cannot be made. The text is one clause that says why."""


def edited(source: SourceFile, edits: Iterable[Edit]) -> SourceFile:
    """The file after edits that do not overlap.

    Raises:
        EditError: it would not hold what the edits say, would stay as it is, or would not parse any more.
    """
    edits = list(edits)
    try:
        after = source.edited(places(edits, source.lines))
    except SourceError:
        raise EditError("its text does not fit the file") from None
    if after.text != apply(edits, source.lines) or after.data == source.data:
        raise EditError("it changes nothing")
    if not _compiles(after) and _compiles(source):
        raise EditError("the file would not parse")
    return after


def _compiles(source: SourceFile) -> bool:
    """Whether Python takes the text, also beyond its syntax."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            # A notebook may await something at its top level; any other file that does so does not run anyway.
            compile(source.text, source.filename, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True
