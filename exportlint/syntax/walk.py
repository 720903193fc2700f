"""A walk over syntax trees that is several times as fast as that of `ast`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_LEAVES = frozenset({"ctx", "id", "attr", "kind", "type_comment", "lineno", "op", "ops", "level", "module"})
"""Fields that hold no nodes which anybody asks for by walking."""
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}


def walk(root: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, but contexts and operators, in no order that counts."""
    waiting: list[object] = [root]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.AST):
            continue
        yield node
        kind = type(node)
        fields = _FIELDS.get(kind)
        if fields is None:
            fields = _FIELDS[kind] = tuple(name for name in kind._fields if name not in _LEAVES)
        for name in fields:
            value = getattr(node, name, None)
            if type(value) is list:
                waiting += value
            else:
                waiting.append(value)
