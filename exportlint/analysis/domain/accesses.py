"""What happens to Python state while export traces, as the interpreter meets it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from exportlint.analysis.domain.heap import Cell, Keys
from exportlint.analysis.domain.values import Value
from exportlint.syntax.definitions import FunctionNode, Module


def entry_key(key: object) -> object:
    """What an entry of a container is known by: `1` and `True` are two."""
    return type(key).__name__, key


Kind = Literal["binding", "contents", "buffer", "tensor", "made tensor"]
"""What is written: another value, other contents of a list or dict, a registered buffer, the data of a tensor,
and that of a tensor which a call has made and kept.
"""


@dataclass(slots=True)
class Read:
    """A cell is read at `node` in `function`.

    `written` are the keys of the entries that the call at hand has surely written by then, whichever way it came there;
    None among them is the cell itself. `may_be_first` says that it may not have written it on any way.
    """

    cell: Cell
    node: ast.AST
    function: ast.AST
    written: Keys
    may_be_first: bool


@dataclass(slots=True)
class Write:
    """A cell is written at `node`: an attribute or name that is bound, a subscript, or the call of a method.

    `depends_on_input`: data of the inputs is in what is written. `before` is what the cell held, None where there was
    none. `at_root`: it is one of the module that is exported, not of a part of it.
    """

    cell: Cell
    kind: Kind
    node: ast.AST
    function: ast.AST
    module: Module
    symbol: str
    guarded: bool
    value: Value
    before: Value | None
    depends_on_input: bool
    at_root: bool


class Callee(NamedTuple):
    """A function of the project that is called; `is_bound`: its first parameter is what it is a method of."""

    definition: FunctionNode
    is_bound: bool


Call = tuple[ast.AST, ast.AST | None]
"""The node of a call, and the function that it stands in."""


@dataclass(slots=True)
class State:
    """All reads and writes of cells, in the order in which they were met, and who calls whom.

    `reports` are the calls that only tell people something, `put_back` the cells that calls such as `reset` give their
    original values again.
    """

    reads: dict[tuple[Cell, ast.AST], Read] = field(default_factory=dict)
    writes: dict[tuple[Cell, ast.AST], Write] = field(default_factory=dict)
    functions: dict[str, dict[ast.AST, Module]] = field(default_factory=dict)
    callees: dict[ast.AST, dict[Callee, None]] = field(default_factory=dict)
    callers: dict[ast.AST, dict[Call, None]] = field(default_factory=dict)
    reports: set[ast.AST] = field(default_factory=set)
    put_back: set[Cell] = field(default_factory=set)

    def call(self, node: ast.AST, function: ast.AST | None, callee: Callee) -> None:
        """A call at a node in a function runs another one."""
        self.callees.setdefault(node, {})[callee] = None
        self.callers.setdefault(callee.definition, {})[node, function] = None

    def read(self, cell: Cell, node: ast.AST, function: ast.AST, written: Keys, may_be_first: bool) -> None:
        """Keep a read; of several at one place, what holds for the worst of them."""
        known = self.reads.get((cell, node))
        if known is None:
            self.reads[cell, node] = Read(cell, node, function, written, may_be_first)
        else:
            known.written &= written
            known.may_be_first = known.may_be_first or may_be_first

    def write(self, write: Write) -> None:
        """Keep a write; of several at one place the first, which finds the cell as export does."""
        known = self.writes.setdefault((write.cell, write.node), write)
        known.depends_on_input = known.depends_on_input or write.depends_on_input
