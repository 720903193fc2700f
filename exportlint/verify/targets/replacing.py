"""Code in which another expression stands for one, which shares with the original what does not change."""

from __future__ import annotations

import ast
import copy
import operator
from collections.abc import Sequence
from typing import TypeVar

_Node = TypeVar("_Node", bound=ast.AST)


def replaced(body: Sequence[ast.stmt], old: ast.expr, new: ast.expr) -> list[ast.stmt]:
    """Statements with `new` wherever they have an expression that is written as `old` is."""
    replacing = _Replacing(old, new)
    return [replacing.below(statement) for statement in body]


class _Replacing:
    def __init__(self, old: ast.expr, new: ast.expr) -> None:
        self._kind = type(old)
        self._old = ast.dump(old)
        self._new = new

    def below(self, node: _Node) -> _Node:
        """A node, or a copy of it if something in it changes."""
        changed: dict[str, object] = {}
        for name, value in ast.iter_fields(node):
            made = list(map(self._visit, value)) if isinstance(value, list) else self._visit(value)
            if isinstance(value, list) and isinstance(made, list):
                is_same = all(map(operator.is_, made, value))
            else:
                is_same = made is value
            if not is_same:
                changed[name] = made
        if not changed:
            return node
        found = copy.copy(node)
        for name, value in changed.items():
            setattr(found, name, value)
        return found

    def _visit(self, value: object) -> object:
        if type(value) is self._kind and isinstance(value, ast.AST) and ast.dump(value) == self._old:
            return self._new
        return self.below(value) if isinstance(value, ast.AST) else value
