"""Configurations that are files of Python, as `model = dict(type="Net", width=8)`, read from the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_DATA_CALLS = frozenset(
    {"dict", "list", "tuple", "set", "range", "int", "float", "str", "len", "sum", "max", "min", "sorted", "round"}
)
_NUMERIC = ("math.", "np.", "numpy.")

_Mapping = tuple[tuple[object, ...], frozenset[str], frozenset[str]]
"""Where a mapping is: the keys that lead to it. Its keys, and the strings among its values."""


def is_data(text: str) -> bool:
    """Whether a file of Python only assigns data, with a dictionary among it."""
    if "dict(" not in text and "{" not in text:
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    values: list[ast.expr] = []
    for statement in tree.body:
        match statement:
            case ast.Import() | ast.ImportFrom(level=0) | ast.Expr(ast.Constant()):
                continue
            case (
                ast.Assign(targets=[ast.Name()], value=value)
                | ast.AnnAssign(target=ast.Name(), value=ast.expr() as value)
                | ast.AugAssign(target=ast.Name(), value=value)
            ):
                values.append(value)
            case _:
                return False
    return all(map(_is_plain, values)) and any(True for value in values for _ in _inner((), value))


def mappings(text: str) -> Iterator[_Mapping]:
    """The dictionaries of such a file, each before those that it holds: first that of its variables."""
    names: dict[str, ast.expr] = {}
    for statement in ast.parse(text).body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                names[name] = value
    waiting: list[tuple[tuple[object, ...], dict[str, ast.expr]]] = [((), names)]
    while waiting:
        path, items = waiting.pop(0)
        texts = (v.value for v in items.values() if isinstance(v, ast.Constant) and isinstance(v.value, str))
        yield path, frozenset(items), frozenset(texts)
        for key, value in items.items():
            waiting += _inner((*path, key), value)


def _inner(path: tuple[object, ...], value: ast.expr) -> Iterator[tuple[tuple[object, ...], dict[str, ast.expr]]]:
    if items := _items(value):
        yield path, items
    elif isinstance(value, ast.List | ast.Tuple) and not any(isinstance(one, ast.Starred) for one in value.elts):
        for index, one in enumerate(value.elts):
            yield from _inner((*path, index), one)


def _items(value: ast.expr) -> dict[str, ast.expr]:
    """The values that a dictionary has under strings, as it is written."""
    match value:
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {k.value: v for k, v in pairs if isinstance(k, ast.Constant) and isinstance(k.value, str)}
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            return {keyword.arg: keyword.value for keyword in keywords if keyword.arg}
    return {}


def _is_plain(value: ast.expr) -> bool:
    """Whether an expression only makes data, as far as that can be told."""
    waiting: list[ast.AST] = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name not in _DATA_CALLS and not name.startswith(_NUMERIC):
                return False
        if isinstance(node, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            return False
        waiting += ast.iter_child_nodes(node)
    return True
