"""What becomes of the variables around a statement.

`read_later` asks what is read behind it, `is_bound` what has a value in front of it, `assigned` what it binds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from exportlint.fixes.edit.code import Code
from exportlint.fixes.proofs.live_variables import bound, needed_after


def read_later(code: Code, statement: ast.stmt, name: str) -> bool:
    """Whether code that may run behind a statement reads a variable of the function."""
    return code.tree.function(statement) is None or name in needed_after(code.tree, statement)


def is_bound(code: Code, name: str, *, maybe: bool = False) -> bool:
    """Whether a variable surely has a value at the finding; `maybe` asks whether it can have one."""
    found = [snapshot.variable(name) is not None for snapshot in code.observed.snapshots]
    return (any(found) or not found) if maybe else (bool(found) and all(found))


def assigned(statements: Iterable[ast.stmt]) -> set[str]:
    """The variables that statements bind."""
    return set(bound(statements))
