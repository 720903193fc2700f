"""Who uses the names of a file: which of its classes are parts of others, which it makes, which it registers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from exportlint.syntax.walk import kinds_below, once_a_statement, walk

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def parts(tree: ast.Module) -> frozenset[str]:
    """The names that other classes of the file need: in their own code, or in the functions that they call.

    So are names that are handed on rather than called: `resnet(BasicBlock)`, `BLOCKS = {"basic": BasicBlock}`.
    """
    functions: dict[str, list[frozenset[str]]] = {}
    found: set[str] = set()
    waiting: list[str] = []
    for statement in tree.body:
        uses = _uses(statement)
        waiting += uses.by_classes
        for name, loaded in uses.by_functions:
            functions.setdefault(name, []).append(loaded)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            for loaded in functions.get(name, ()):
                waiting += loaded
    return frozenset(found.union(*map(_handed_on, tree.body)))


@dataclass(frozen=True, slots=True)
class _Uses:
    """The names that the classes in a statement read, but each its own, and what each function in it reads."""

    by_classes: frozenset[str]
    by_functions: tuple[tuple[str, frozenset[str]], ...]


@once_a_statement
def _uses(statement: ast.stmt) -> _Uses:
    by_classes: set[str] = set()
    by_functions: list[tuple[str, frozenset[str]]] = []

    def loaded(node: ast.AST) -> set[str]:
        found: set[str] = set()
        waiting = [node]
        while waiting:
            for field, value in ast.iter_fields(waiting.pop()):
                if field in {"annotation", "returns"}:
                    continue
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.Name):
                        if isinstance(child.ctx, ast.Load):
                            found.add(child.id)
                    elif isinstance(child, Definition):
                        found.update(loaded(child))
                    elif isinstance(child, ast.AST):
                        waiting.append(child)
        if isinstance(node, ast.ClassDef):
            by_classes.update(found - {node.name})
        elif isinstance(node, Definition):
            by_functions.append((node.name, frozenset(found)))
        return found

    loaded(statement)
    return _Uses(frozenset(by_classes), tuple(by_functions))


@once_a_statement
def _handed_on(statement: ast.stmt) -> frozenset[str]:
    """The names that a statement reads and does not call, unless it is a class."""
    if isinstance(statement, ast.ClassDef):
        return frozenset()
    has_classes = ast.ClassDef in kinds_below(statement)
    local = {node.name for node in walk(statement) if isinstance(node, ast.ClassDef)} if has_classes else set()
    return frozenset(_loaded(statement, called=False)) - local


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
    return frozenset[str]().union(*map(_made, tree.body))


@once_a_statement
def _made(statement: ast.stmt) -> frozenset[str]:
    if isinstance(statement, Definition) and not any("export" in name for name in _registrations(statement).called):
        return frozenset()
    return called(statement)


@once_a_statement
def called(statement: ast.stmt) -> frozenset[str]:
    """The names that are called in a statement."""
    calls = (node for node in walk(statement) if isinstance(node, ast.Call))
    return frozenset(call.func.id for call in calls if isinstance(call.func, ast.Name))


def registered(tree: ast.Module) -> frozenset[str]:
    """The names that stand where something is registered: `register_dataclass(Batch)`, `@register` over a class.

    It does not matter what they are registered with: a class that is registered somewhere is not surely unknown.
    """
    found: set[str] = set()
    helpers: set[str] = set()
    registrations = [(statement, _registrations(statement)) for statement in tree.body]
    while True:
        known = len(helpers)
        for statement, names in registrations:
            if not isinstance(statement, ast.ClassDef) and _registers(names.called, helpers):
                found.update(_read(statement))
                if isinstance(statement, Definition):
                    helpers.add(statement.name)
        if len(helpers) == known:
            break
    for _, names in registrations:
        found.update(name for name, decorators in names.decorated if _registers(decorators, helpers))
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class _Registrations:
    """What may register something in a statement: the last names of what it calls, and of what decorates classes."""

    called: frozenset[str]
    decorated: tuple[tuple[str, frozenset[str]], ...]


@once_a_statement
def _registrations(statement: ast.stmt) -> _Registrations:
    found: set[str] = set()
    decorated: list[tuple[str, frozenset[str]]] = []
    for node in walk(statement):
        if isinstance(node, ast.Call):
            found.update(_called_names(node.func))
        elif isinstance(node, ast.ClassDef) and node.decorator_list:
            decorators = (name for decorator in node.decorator_list for name in _called_names(decorator))
            decorated.append((node.name, frozenset(decorators)))
    return _Registrations(frozenset(found), tuple(decorated))


def _called_names(node: ast.expr) -> Iterator[str]:
    """The last names of what an expression calls, or of it."""
    if isinstance(node, ast.Call):
        for part in (node.func, *node.args):
            yield from _called_names(part)
    else:
        yield _last_name(node)


def _registers(names: frozenset[str], helpers: set[str]) -> bool:
    return not helpers.isdisjoint(names) or any("register" in name for name in names)


@once_a_statement
def _read(statement: ast.stmt) -> frozenset[str]:
    return frozenset(_loaded(statement))


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
