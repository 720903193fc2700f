"""What becomes of the variables around a statement.

`read_later` asks what is read behind it, `require_unread` the same of what is bound on the way, `is_bound` what has a
value in front of it, `assigned` what it binds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.live_variables import bound, needed_after


def read_later(code: Code, statement: ast.stmt, name: str) -> bool:
    """Whether code that may run behind a statement reads a variable of the function."""
    return code.tree.function(statement) is None or name in needed_after(code.tree, statement)


def require_unread(code: Code, statement: ast.stmt, *nodes: ast.AST) -> None:
    """Raises DeclinedError if other code reads a variable that nodes of a statement bind by `:=`."""
    parts = [part for node in nodes for part in ast.walk(node)]
    names = {part.target.id for part in parts if isinstance(part, ast.NamedExpr)}
    if not names:
        return
    own = set(parts)
    beside = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and n not in own}
    for name in sorted(names):
        if name in beside or read_later(code, statement, name):
            raise DeclinedError(f"the program needs `{name}`, which it assigns")


def is_bound(code: Code, name: str, *, maybe: bool = False) -> bool:
    """Whether a variable surely has a value at the finding; `maybe` asks whether it can have one."""
    found = [snapshot.variable(name) is not None for snapshot in code.observed.snapshots]
    return (any(found) or not found) if maybe else (bool(found) and all(found))


def assigned(statements: Iterable[ast.stmt]) -> set[str]:
    """The variables that statements bind."""
    return set(bound(statements))
