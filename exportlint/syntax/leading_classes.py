"""The classes of a file that can lead to what some of its names stand for, as far as names tell."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from exportlint.syntax.definitions import Class, FunctionNode, Import, Module, flat
from exportlint.syntax.walk import walk

_WORD = re.compile(r"[^\W\d]\w*")
_COMPOUND = (ast.If, ast.With, *{ast.Try, getattr(ast, "TryStar", ast.Try)})
"""Statements whose bodies `flat` gives one by one."""


class _Part:
    """A statement outside of functions and classes: the names that it has, and those that stand for it elsewhere."""

    __slots__ = ("bound", "classes", "names")

    def __init__(self, statement: ast.stmt, module: Module) -> None:
        nodes = [node for root in _own(statement) for node in walk(root)]
        self.names = frozenset(_names(nodes))
        self.classes = frozenset(node for node in nodes if isinstance(node, ast.ClassDef))
        if isinstance(statement, (ast.ClassDef, FunctionNode)):
            used = {node.id for one in statement.decorator_list for node in walk(one) if isinstance(node, ast.Name)}
            registers = {name for name in used if not isinstance(module.bindings.get(name), Import)}
            self.bound = frozenset({statement.name, *registers})
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            self.bound = frozenset(n.id for one in targets for n in walk(one) if isinstance(n, ast.Name))
            if "__all__" in self.bound:
                self.names = frozenset()
        else:  # `register(Net)`: whoever names one of them may find the others
            self.bound = self.names


def leading_classes(module: Module, names: Collection[str]) -> frozenset[Class]:
    """The classes of a file that have one of some names in their code, or that of something which has one in turn.

    A string that could be a name counts as one.
    """
    parts = [_Part(statement, module) for statement in flat(module.tree.body)]
    having: defaultdict[str, list[_Part]] = defaultdict(list)
    for part in parts:
        for name in part.names:
            having[name].append(part)
    waiting, seen = list(names), set(names)
    found: set[ast.AST] = set()
    while waiting:
        for part in having.pop(waiting.pop(), ()):
            found |= part.classes
            new = part.bound - seen
            seen |= new
            waiting += new
    return frozenset(cls for cls in module.classes if cls.node in found)


def _own(statement: ast.stmt) -> list[ast.AST]:
    """The nodes of a statement but the bodies that `flat` gives one by one."""
    if isinstance(statement, ast.If):
        return [statement.test]
    if isinstance(statement, ast.With):
        return list(statement.items)
    return [] if isinstance(statement, _COMPOUND) else [statement]


def _names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            yield node.value
        for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if annotation is not None:
                texts = (one.value for one in walk(annotation) if isinstance(one, ast.Constant))
                yield from (word for text in texts if isinstance(text, str) for word in _WORD.findall(text))
