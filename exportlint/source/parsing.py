"""From a file to its `ast`, or to the one thing that is wrong with it."""

from __future__ import annotations

import ast
import threading
import warnings

from exportlint.findings import Position
from exportlint.source.errors import SyntaxProblem
from exportlint.source.file import SourceFile
from exportlint.source.garbage import gc_paused

_NO_FILE = "<exportlint>"
"""Python reads the line of a syntax error from the file of this name, which may hold another text than the editor."""

_BYTES_A_CHARACTER = 256
"""What parsing may take at most: 190 bytes for each character of 40,000 lines of arithmetic (Python 3.11)."""

_ALONE = threading.RLock()


class OutOfMemoryProblem(SyntaxProblem):
    """A text for whose tree there is no memory, at least at the moment."""


def tree_of(text: str) -> ast.Module:
    """What `ast.parse` gives and raises, in any number of threads at once; its warnings are not shown."""
    # CPython 3.11 counts the depth of the trees that it builds for all threads together. Where the garbage collector
    # lets another thread parse meanwhile, it raises SystemError.
    with _ALONE, gc_paused(), warnings.catch_warnings():
        # Not only against noise: under `-W error` a doubtful escape would be a syntax error.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text, _NO_FILE)
        except SystemError:
            return ast.parse(text, _NO_FILE)


def parse(source: SourceFile) -> ast.Module:
    """The syntax tree of a file; its warnings are not shown. Raises SyntaxProblem if there is none."""
    if "\0" in source.text:  # else Python tells no place
        raise _unspeakable(source)
    try:
        return tree_of(source.text)
    except SyntaxError as error:
        problem = problem_of(source, error)
    except (RecursionError, MemoryError):
        # CPython raises a MemoryError for both.
        is_deep = _has_memory_for(source.text)
        problem = _too_deep() if is_deep else OutOfMemoryProblem("does not fit into memory", 1, 1)
    except ValueError:
        problem = _unspeakable(source)
    raise problem


def _has_memory_for(text: str) -> bool:
    try:
        bytearray(len(text) * _BYTES_A_CHARACTER)
    except MemoryError:
        return False
    return True


def _too_deep() -> SyntaxProblem:
    return SyntaxProblem("nested too deeply for Python's parser", 1, 1)


def problem_of(source: SourceFile, error: SyntaxError) -> SyntaxProblem:
    """What Python says of the text of a file."""
    # Python names places past the end of the text, or of a line, when it waits for more.
    place = source.lines.clamped(Position(error.lineno or 1, error.offset or 1))
    return SyntaxProblem(error.msg, place.row, place.column)


def _unspeakable(source: SourceFile) -> SyntaxProblem:
    """Texts that never reach the parser: with NUL characters or halves of surrogate pairs."""
    for offset, char in enumerate(source.text):
        if char == "\0" or "\ud800" <= char <= "\udfff":
            place = source.lines.position(offset)
            return SyntaxProblem(f"U+{ord(char):04X} is not allowed in Python", place.row, place.column)
    return SyntaxProblem("Python cannot parse this text", 1, 1)
