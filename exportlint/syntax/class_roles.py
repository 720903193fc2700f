"""Who uses the names of a file: which of its classes are parts of others, which it makes, which it registers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.syntax.walk import walk

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def parts(tree: ast.Module) -> frozenset[str]:
    """The names that other classes of the file need: in their own code, or in the functions that they call.

    So are names that are handed on rather than called: `resnet(BasicBlock)`, `BLOCKS = {"basic": BasicBlock}`.
    """
    definitions: dict[str, list[Definition]] = {}
    found: set[str] = set()
    waiting: list[str] = []
    for node in walk(tree):
        if isinstance(node, Definition):
            definitions.setdefault(node.name, []).append(node)
        if isinstance(node, ast.ClassDef):
            waiting += set(_loaded(node)) - {node.name}
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            for definition in definitions.get(name, ()):
                if not isinstance(definition, ast.ClassDef):
                    waiting += _loaded(definition)
    for statement in tree.body:
        if not isinstance(statement, ast.ClassDef):
            local = {node.name for node in walk(statement) if isinstance(node, ast.ClassDef)}
            found |= set(_loaded(statement, called=False)) - local
    return frozenset(found)


def _loaded(node: ast.AST, *, called: bool = True) -> Iterator[str]:
    """The names that are read in a node, but for those in annotations and, unless `called`, those that are called."""
    waiting = [node]
    while waiting:
        for field, value in ast.iter_fields(waiting.pop()):
            if field in {"annotation", "returns"}:
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.Name):
                    if isinstance(child.ctx, ast.Load) and (called or field != "func"):
                        yield child.id
                elif isinstance(child, ast.AST) and (called or not isinstance(child, ast.ClassDef)):
                    waiting.append(child)


def made(tree: ast.Module) -> frozenset[str]:
    """The names that the file calls when it is run or in functions that export: its models, if they are classes."""
    return frozenset(
        node.func.id
        for statement in tree.body
        if not isinstance(statement, Definition) or any(_exports(node) for node in walk(statement))
        for node in walk(statement)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    )


def _exports(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and "export" in _last_name(node.func)


def registered(tree: ast.Module) -> frozenset[str]:
    """The names that stand where something is registered: `register_dataclass(Batch)`, `@register` over a class.

    It does not matter what they are registered with: a class that is registered somewhere is not surely unknown.
    """
    found: set[str] = set()
    helpers: set[str] = set()
    statements = list(tree.body)
    while True:
        known = len(helpers)
        for statement in statements:
            if not isinstance(statement, ast.ClassDef) and any(_registers(node, helpers) for node in walk(statement)):
                found.update(_loaded(statement))
                if isinstance(statement, Definition):
                    helpers.add(statement.name)
        if len(helpers) == known:
            break
    for node in walk(tree):
        if isinstance(node, ast.ClassDef) and any(_names_registration(d, helpers) for d in node.decorator_list):
            found.add(node.name)
    return frozenset(found)


def _registers(node: ast.AST, helpers: set[str]) -> bool:
    return isinstance(node, ast.Call) and _names_registration(node.func, helpers)


def _names_registration(node: ast.expr, helpers: set[str]) -> bool:
    if isinstance(node, ast.Call):
        return any(_names_registration(part, helpers) for part in (node.func, *node.args))
    name = _last_name(node)
    return "register" in name or name in helpers


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
