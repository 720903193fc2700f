"""Whether an `except` handles what code raises, so that the model goes on where it is raised.

`require_unhandled` asks about the function of a statement, and about those whose calls led to it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.syntax.definitions import TRIES, FunctionNode


def require_unhandled(code: Code, statement: ast.stmt, error: str) -> None:
    """Raises DeclinedError if an `except` may handle what a statement raises, a class of the name `error`.

    Where callers are concerned, any call in a `try` counts as the one that leads here.
    """
    if any(_handles(each, error) for each in _around(code, statement)) or any(
        _handles(each, error)
        for snapshot in code.observed.snapshots
        for caller in snapshot.running[:-1]
        for each in ast.walk(caller)
        if isinstance(each, TRIES) and any(isinstance(n, ast.Call) for s in each.body for n in ast.walk(s))
    ):
        raise DeclinedError("an `except` handles the error")


def _around(code: Code, statement: ast.stmt) -> Iterator[ast.AST]:
    """The `try` statements of the function in whose body a statement is."""
    child: ast.AST = statement
    for parent in code.tree.ancestors(statement):
        if isinstance(parent, FunctionNode):
            return
        if isinstance(parent, TRIES) and child in parent.body:
            yield parent
        child = parent


def _handles(node: ast.AST, error: str) -> bool:
    return any(
        _may_catch(handler.type, error) and not isinstance(handler.body[-1], ast.Raise)
        for handler in getattr(node, "handlers", ())
    )


def _may_catch(caught: ast.expr | None, error: str) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(_may_catch(one, error) for one in caught.elts)
    if not isinstance(caught, ast.Name):
        return True
    wide, narrow = getattr(builtins, caught.id, None), getattr(builtins, error, None)
    is_known = isinstance(wide, type) and isinstance(narrow, type)
    return caught.id == error or not is_known or issubclass(narrow, wide)  # type: ignore[arg-type]
