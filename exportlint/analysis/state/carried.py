"""Which state is carried from one call to the next, told from who reads and who writes it."""

from __future__ import annotations

import ast
from functools import cached_property

from exportlint.analysis.state.cells import Cell, Read, State, Write
from exportlint.analysis.state.uses import OUTPUT, Use, Uses
from exportlint.analysis.values import Const

GROWING = frozenset({"append", "extend", "insert", "pop", "remove", "popitem", "appendleft", "extendleft", "popleft"})
"""Methods that leave something else behind each time that they are called."""

MOVES = frozenset({"to", "cuda", "cpu", "float", "half", "double", "bfloat16", "type_as", "contiguous", "detach"})
"""Methods of a tensor that do the same when done twice."""


class Carried:
    """The state of an analysis, and what of it reaches later calls."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.writes: dict[Cell, list[Write]] = {}
        for write in state.writes.values():
            self.writes.setdefault(write.cell, []).append(write)
        self._uses = Uses(state)
        self._reads: dict[Cell, list[tuple[Read, frozenset[Use]]]] = {}
        for read in state.reads.values():
            if read.cell in self.writes:
                uses = self._uses.of(read.node, read.function)
                self._reads.setdefault(read.cell, []).append((read, uses))

    def read_of(self, cell: Cell) -> Read | None:
        """A read by which what one call leaves in the cell decides what the next one computes; None if none does."""
        writes = self.writes[cell]
        if all(w.kind == "binding" and isinstance(w.value, Const) and w.value == w.before for w in writes):
            return None
        varies = cell in self._varying
        for read, uses in self._reads.get(cell, ()):
            counts = varies or (read.early and uses != {cell})
            if counts and self._is_exposed(read) and not uses.isdisjoint(self._live):
                return read
        return None

    def is_used(self, cell: Cell) -> bool:
        """Whether anything that the program does depends on the cell."""
        return cell in self._live

    def _is_exposed(self, read: Read) -> bool:
        """Whether the read may find what an earlier call left behind."""
        if read.cell in read.written:
            return False
        parent = self._uses.parent(read.node, read.function)
        if isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Constant):
            key = parent.slice.value
            return Cell(read.cell.owner, read.cell.name, (type(key).__name__, key)) not in read.written
        return True

    @cached_property
    def _live(self) -> set[Use]:
        """The cells that reach an output, directly or through others."""
        live: set[Use] = {OUTPUT}
        found = True
        while found:
            found = False
            for cell, reads in self._reads.items():
                if cell not in live and any(use in live for _, uses in reads for use in uses):
                    live.add(cell)
                    found = True
        return live

    @cached_property
    def _varying(self) -> set[Use]:
        """The cells in which calls leave something that depends on their inputs, or on what was there before."""
        varying: set[Use] = {w.cell for ws in self.writes.values() for w in ws if w.fed or _grows(w)}
        for cell, reads in self._reads.items():
            if any(cell in uses and not self._is_moved(read) for read, uses in reads):
                varying.add(cell)
        found = True
        while found:
            found = False
            for cell, reads in self._reads.items():
                if cell in varying:
                    fed = {use for _, uses in reads for use in uses if use != OUTPUT} - varying
                    varying |= fed
                    found = found or bool(fed)
        return varying

    def _is_moved(self, read: Read) -> bool:
        """`self.mask = self.mask.to(device)`."""
        parent = self._uses.parent(read.node, read.function)
        call = self._uses.parent(parent, read.function) if isinstance(parent, ast.Attribute) else None
        if not isinstance(parent, ast.Attribute) or not isinstance(call, ast.Call) or parent.attr not in MOVES:
            return False
        return isinstance(self._uses.parent(call, read.function), (ast.Assign, ast.AnnAssign))


def _grows(write: Write) -> bool:
    node = write.node
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GROWING
