"""Whether a script may come to a call once more, and when it has left the code that leads there."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .frames import extent_of, is_of_user

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class LeftError(BaseException):
    """A script has left the code that leads to a call. Not an `Exception`: no `except` there stops it."""


@dataclass(frozen=True)
class Way:
    """A running frame, and the rows of it from which a call may be met again."""

    frame: Any
    rows: range

    def end_behind(self) -> None:
        """Raise `LeftError` in the frame as soon as it leaves the rows.

        Tracing is what tells of each line of a frame that runs already, in each version of Python.
        """

        def follow(frame: Any, event: str, _: Any) -> Any:
            if event == "return" or (event == "line" and frame.f_lineno not in self.rows):
                sys.settrace(None)
                raise LeftError
            return follow

        self.frame.f_trace = follow
        sys.settrace(lambda *_: None)


def way_to_the_same_call(frame: Any) -> Way | None:
    """The outermost frame that may come again to the call that `frame` is at; None if the source shows none.

    That is so in a loop or a comprehension, and before a later call of the function that makes the call.
    """
    found, called = None, ""
    while frame is not None:
        name = frame.f_code.co_name
        if is_of_user(frame.f_code.co_filename):
            rows = _rows(frame.f_code.co_filename, _place(frame), called)
            found = found if rows is None else Way(frame, rows)
        if name == "<module>":  # what runs the script is not part of it
            break
        called = called if name.startswith("<") else name
        frame = frame.f_back
    return found


_Place = tuple[tuple[int, int], tuple[int, int]]
"""Where an expression begins and ends, each as row and column."""


def _place(frame: Any) -> _Place:
    """The call that a frame is at. Before Python 3.11 only the row is known, which any column is taken to be in."""
    extent = extent_of(frame.f_code, frame.f_lasti)
    if extent is not None:
        return (extent[0], extent[1]), (extent[2], extent[3])
    return (frame.f_lineno, sys.maxsize), (frame.f_lineno, -1)


def _rows(file: str, place: _Place, called: str) -> range | None:
    try:
        with open(file, "rb") as stream:
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return None
    scope: ast.AST = tree
    ends: list[tuple[int, int]] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _SCOPES):
            scope, ends = node, []
        if _is_repeated(node, place):
            ends.append((node.lineno, node.end_lineno))  # type: ignore[attr-defined]
        waiting += (child for child in _children(node) if _holds(child, place))
    later = [call for call in _calls(scope, called) if (call.lineno, call.col_offset) > place[0]] if called else []
    ends += [(place[0][0], call.end_lineno or call.lineno) for call in later]
    return range(min(first for first, _ in ends), max(last for _, last in ends) + 1) if ends else None


def _is_repeated(node: ast.AST, place: _Place) -> bool:
    """Whether a loop or a comprehension runs a place for each item. What it goes over, and an `else`, run once."""
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return any(_holds(statement, place) for statement in node.body)
    if isinstance(node, ast.While):
        return any(_holds(one, place) for one in (node.test, *node.body))
    return isinstance(node, _COMPREHENSIONS) and not _holds(node.generators[0].iter, place)


def _holds(node: Any, place: _Place) -> bool:
    first, last = place
    return (node.lineno, node.col_offset) <= first and last <= (node.end_lineno, node.end_col_offset)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below that have a place."""
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _children(child)


def _calls(scope: ast.AST, name: str) -> Iterator[ast.Call]:
    """The calls of a function of this name in a scope, but not in those within."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, ast.Call) and ast.unparse(child.func).rpartition(".")[2] == name:
            yield child
        if not isinstance(child, _SCOPES):
            yield from _calls(child, name)
