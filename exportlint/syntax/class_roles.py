"""Who uses the names of a file: which of its classes are parts of others, which it makes, which it registers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from exportlint.syntax.walk import fields_of, once_a_node

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_ANNOTATIONS = frozenset({"annotation", "returns"})


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a statement. Those in annotations are not read, but called.

    `by_classes` are read by the classes in it, but each its own; `held_by_classes` are those of them that are neither
    called nor bases. `by_functions` is what each function in it reads.
    `handed_on` are read outside of classes, and not called. `callees` are the last names of what it calls, `decorated`
    its classes and the last names of what decorates them.
    """

    read: frozenset[str]
    called: frozenset[str]
    by_classes: frozenset[str]
    held_by_classes: frozenset[str]
    by_functions: tuple[tuple[str, frozenset[str]], ...]
    handed_on: frozenset[str]
    callees: frozenset[str]
    decorated: tuple[tuple[str, frozenset[str]], ...]


@once_a_node
def _names(statement: ast.stmt) -> _Names:
    """All that is asked of a statement, gathered in one walk."""
    called: set[str] = set()
    by_classes: set[str] = set()
    held_by_classes: set[str] = set()
    by_functions: list[tuple[str, frozenset[str]]] = []
    callees: set[str] = set()
    decorated: list[tuple[str, frozenset[str]]] = []
    classes: set[str] = set()
    annotations: list[Any] = []

    def gather(waiting: list[Any], handed_on: set[str]) -> set[str]:
        read: set[str] = set()
        while waiting:
            node = waiting.pop()
            kind = type(node)
            if kind is ast.Name:
                if type(node.ctx) is ast.Load:
                    read.add(node.id)
                    handed_on.add(node.id)
            elif kind is ast.Attribute:
                waiting.append(node.value)
            elif kind is ast.Call:
                function = node.func
                if type(function) is ast.Name:
                    called.add(function.id)
                    callees.add(function.id)
                    read.add(function.id)
                else:
                    callees.update(_called_names(function))
                    waiting.append(function)
                waiting += node.args
                waiting += node.keywords
            elif kind is ast.ClassDef:
                classes.add(node.name)
                decorators = (name for decorator in node.decorator_list for name in _called_names(decorator))
                decorated.append((node.name, frozenset(decorators)))
                held: set[str] = set()
                found = gather(below(node), held)
                by_classes.update(found - {node.name})
                held_by_classes.update(held - {node.name, *(b.id for b in node.bases if type(b) is ast.Name)})
                read |= found
            elif kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
                found = gather(below(node), handed_on)
                by_functions.append((node.name, frozenset(found)))
                read |= found
            elif kind is not ast.Constant and isinstance(node, ast.AST):
                waiting += below(node)
        return read

    def below(node: ast.AST) -> list[Any]:
        found: list[Any] = []
        for field in fields_of(node):
            value = getattr(node, field, None)
            if value is None:
                continue
            holds = annotations if field in _ANNOTATIONS else found
            if type(value) is list:
                holds += value
            else:
                holds.append(value)
        return found

    handed_on: set[str] = set()
    read = gather([statement], handed_on)
    gather(annotations, set())
    return _Names(
        frozenset(read),
        frozenset(called),
        frozenset(by_classes),
        frozenset(held_by_classes),
        tuple(by_functions),
        frozenset(handed_on - classes),
        frozenset(callees),
        tuple(decorated),
    )


def _called_names(node: ast.expr) -> Iterator[str]:
    """The last names of what an expression calls, or of it."""
    if isinstance(node, ast.Call):
        for part in (node.func, *node.args):
            yield from _called_names(part)
    else:
        yield node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def parts(tree: ast.Module, *, tables: bool = True) -> frozenset[str]:
    """The names that other classes of the file need: in their own code, or in the functions that they call.

    So are names that are handed on rather than called: `resnet(BasicBlock)`, `BLOCKS = {"basic": BasicBlock}`.
    Without `tables`, those are not that only stand in a list or dictionary which nothing but tests reads in the file.
    """
    ignored = frozenset[str]() if tables else _tables(tree)
    functions: dict[str, list[frozenset[str]]] = {}
    found: set[str] = set()
    waiting: list[str] = []
    handed_on: set[str] = set()
    for statement in tree.body:
        names = _names(statement)
        if _table(statement) not in ignored:
            handed_on |= names.handed_on
        waiting += names.by_classes
        for name, read in names.by_functions:
            functions.setdefault(name, []).append(read)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            for read in functions.get(name, ()):
                waiting += read
    return frozenset(found | handed_on)


def _tables(tree: ast.Module) -> frozenset[str]:
    """The variables of a file that are lists or dictionaries, and that no code of it reads but its tests."""
    found = {name for statement in tree.body if (name := _table(statement)) is not None}
    return frozenset(found.difference(*(_names(statement).read for statement in tree.body if not _is_test(statement))))


def _is_test(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ClassDef) and statement.name.startswith("Test")


def _table(statement: ast.stmt) -> str | None:
    """The variable to which a statement assigns a list or dictionary that it writes out."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() | ast.Tuple() | ast.Dict()):
            return name
    return None


def made(tree: ast.Module) -> frozenset[str]:
    """The names that the file calls when it is run or in functions that export: its models, if they are classes."""
    return frozenset[str]().union(*map(_made, tree.body))


def _made(statement: ast.stmt) -> frozenset[str]:
    names = _names(statement)
    if isinstance(statement, Definition) and not any("export" in name for name in names.callees):
        return frozenset()
    return names.called


def called(statement: ast.stmt) -> frozenset[str]:
    """The names that are called in a statement."""
    return _names(statement).called


def held_by_classes(statement: ast.stmt) -> frozenset[str]:
    """The names that the classes of a statement read and do not call: `downsample=PatchMerging`."""
    return _names(statement).held_by_classes


def handed_on(statement: ast.stmt) -> frozenset[str]:
    """The names that a statement reads outside of classes and does not call."""
    return _names(statement).handed_on


def registered(tree: ast.Module) -> frozenset[str]:
    """The names that stand where something is registered: `register_dataclass(Batch)`, `@register` over a class.

    It does not matter what they are registered with: a class that is registered somewhere is not surely unknown.
    """
    found: set[str] = set()
    helpers: set[str] = set()
    statements = [(statement, _names(statement)) for statement in tree.body]
    while True:
        known = len(helpers)
        for statement, names in statements:
            if not isinstance(statement, ast.ClassDef) and _registers(names.callees, helpers):
                found.update(names.read)
                found.update(node.attr for node in ast.walk(statement) if isinstance(node, ast.Attribute))
                if isinstance(statement, Definition):
                    helpers.add(statement.name)
        if len(helpers) == known:
            break
    for _, names in statements:
        found.update(name for name, decorators in names.decorated if _registers(decorators, helpers))
    return frozenset(found)


def _registers(names: frozenset[str], helpers: set[str]) -> bool:
    return not helpers.isdisjoint(names) or any("register" in name for name in names)
