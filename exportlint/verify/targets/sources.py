"""What the code of a project makes and calls of each class, and what leads from one class to another."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from exportlint.syntax.definitions import Class, FunctionNode, Module
from exportlint.verify.target import Guessed, Snippet, Target
from exportlint.verify.targets.places import reference
from exportlint.verify.targets.usages import Usage

if TYPE_CHECKING:
    from exportlint.verify.targets.code import Code

Definition = Class | FunctionNode


class Sources:
    """What the files of a project offer."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._names: dict[Definition, tuple[tuple[Module, Definition], ...]] = {}
        self._reached: dict[Class | Usage, Mapping[Definition, int]] = {}

    def usages(self, cls: Class) -> Sequence[Usage]:
        """The pieces of code that make a class, those that stand beside it first."""
        return self._usages.get(cls, ())

    def steps(self, start: Class | Usage, part: Class) -> int | None:
        """How many names lead from the code of a class, or what is written in a usage, to another class."""
        if start not in self._reached:
            self._reached[start] = self._reach(start)
        return self._reached[start].get(part)

    def target(self, usage: Usage, plain: Target) -> Target:
        """A usage as a target. `plain` is its class as one."""
        file, paths = reference(Path(usage.module.source.filename), "", self._code.settings.src)
        lines = usage.module.source.text.splitlines()
        statements = tuple(_piece(statement, lines) for statement in usage.statements)
        hints = plain.inputs.hints if isinstance(plain.inputs, Guessed) else {}
        snippet = Snippet(file, statements, usage.model, usage.inputs, usage.is_imported, hints)
        return replace(plain, origin="usage", inputs=snippet, paths=tuple(dict.fromkeys((*plain.paths, *paths))))

    @cached_property
    def _usages(self) -> Mapping[Class, Sequence[Usage]]:
        found: dict[Class, list[Usage]] = {}
        for module in (*self._code.files, *self._code.documents):
            for usage in self._code.usages.in_module(module):
                found.setdefault(usage.cls, []).append(usage)
        return {
            cls: sorted(usages, key=lambda usage: (usage.inputs is None, not usage.is_imported))
            for cls, usages in found.items()
        }

    def _reach(self, start: Class | Usage) -> Mapping[Definition, int]:
        if isinstance(start, Class):
            named = self._named_by(start.module, start)
        else:
            named = tuple(self._named(start.module, [*start.statements, ast.parse(start.model, mode="eval").body]))
        found: dict[Definition, int] = {}
        waiting = deque((owner, one, 1) for owner, one in named)
        while waiting:
            module, definition, steps = waiting.popleft()
            if definition not in found:
                found[definition] = steps
                waiting += [(owner, one, steps + 1) for owner, one in self._named_by(module, definition)]
        return found

    def _named_by(self, module: Module, definition: Definition) -> tuple[tuple[Module, Definition], ...]:
        if definition not in self._names:
            node = definition.node if isinstance(definition, Class) else definition
            self._names[definition] = tuple(self._named(module, [node]))
        return self._names[definition]

    def _named(self, module: Module, nodes: Iterable[ast.AST]) -> Iterator[tuple[Module, Definition]]:
        """The classes and functions of the project that code names."""
        names = (n for node in nodes for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute)))
        for text, node in {ast.unparse(name): name for name in names}.items():
            if text.partition(".")[0] in module.bindings or module.stars:
                match self._code.definition(module, node):
                    case Class() as cls:
                        yield cls.module, cls
                    case (owner, function):
                        yield owner, function


def _piece(statement: ast.stmt, lines: Sequence[str]) -> tuple[int, str]:
    """A statement as it stands in the file, or as it was put together."""
    row = min([statement.lineno, *(node.lineno for node in getattr(statement, "decorator_list", ()))])
    text = "\n".join(lines[row - 1 : statement.end_lineno])
    try:
        (same,) = ast.parse(f"if 1:\n{text}" if text[:1].isspace() else text).body
    except (SyntaxError, ValueError):
        same = ast.Pass()
    if text[:1].isspace() and isinstance(same, ast.If) and len(same.body) == 1:
        same = same.body[0]
    return row, text if ast.dump(same) == ast.dump(statement) else ast.unparse(statement)
