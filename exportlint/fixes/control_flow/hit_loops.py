"""Loops over the experts that tokens chose, as loops over all experts: an expert without tokens writes to no rows.

`for i in hits.nonzero():` becomes `for i in range(len(hits)):`, and `for i in chosen.unique().tolist():` becomes
`for i in range(len(self.experts)):`, where the body only writes to the rows that it selects by `i`.

Never safe: all experts run, and some operators refuse empty selections.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import TorchModule, Value
from exportlint.analysis.facts import Conversion
from exportlint.findings import Fix
from exportlint.fixes.control_flow.empty_selections import WRITES
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.export_calls.calls import written
from exportlint.fixes.proofs.live_variables import bound, needed, needed_after

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

FLATTENS = frozenset({"squeeze", "flatten", "view", "reshape", "ravel"})
READS = frozenset({"item", "squeeze", "int", "tolist"})


def hits_fix(code: Code, _: Conversion) -> Fix:
    """Loop over all there are instead of over those that were chosen. Raises DeclinedError."""
    node = code.expression
    loop, kept = code.tree.statement(node), None
    if isinstance(loop, ast.Assign):
        kept, loop = loop, _loop_over(code, loop)
    if not isinstance(loop, ast.For) or loop.orelse:
        raise InapplicableError("it is not a loop over the selected indices")
    edits: list[Draft] = []
    match loop.target:
        case ast.Name(id=row):
            is_item = False
        case ast.Tuple(elts=[ast.Name(id=row)]) | ast.List(elts=[ast.Name(id=row)]):
            is_item = True  # `for (i,) in hits.tolist()`
            edits.append(code.replace(loop.target, code.make("{row}", row=row)))
        case _:
            raise InapplicableError("it is not a loop over the selected indices")
    if kept is None and loop.iter is not node and not any(part is node for part in ast.walk(loop.iter)):
        raise InapplicableError("it is not a loop over the selected indices")
    if row in needed_after(code.tree, loop):
        raise DeclinedError("the loop variable is used after the loop")
    chosen, is_read = _over(loop.iter if kept is None else kept.value)
    call = written(code, chosen)
    call, is_flat = _unflattened(call)
    mask = _mask_of(call)
    if mask is not None:
        length, is_row = code.make("len({mask})", mask=mask), not is_read and not is_flat and not is_item
        if isinstance(chosen, ast.Name) and _is_read_once(code, chosen):
            length = code.make("len({hits})", hits=chosen)
            edits.append(code.replace(written(code, chosen), mask))
    else:
        length, is_row = code.make("len({modules})", modules=_modules(code, loop, row)), False
    code.claim(row, node)
    if kept is not None:  # `hits = m.nonzero().tolist()`, which nothing else reads
        edits.append(code.statements.replace([kept], []))
    body = _Body(code, loop, row)
    body.check()
    edits += body.edits(is_row=is_row)
    edits.append(code.replace(loop.iter, code.make("range({length})", length=length)))
    return code.fix("Loop over all items: an item that was not selected writes to no rows", *edits, safe=False)


def _loop_over(code: Code, statement: ast.Assign) -> ast.stmt:
    """The loop over what a variable holds, if that is all that reads it; else the statement itself."""
    (target, *others) = statement.targets
    scope = code.tree.function(statement)
    if others or not isinstance(target, ast.Name) or scope is None:
        return statement
    names = [n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    around = code.tree.parents[names[0]] if len(names) == 1 else None
    return around if isinstance(around, ast.For) and around.iter is names[0] else statement


def _over(node: ast.expr) -> tuple[ast.expr, bool]:
    """What a loop goes over, without a slice of all of it, and whether it is made a list of numbers."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "tolist":
        return _over(node.func.value)[0], True
    is_slice = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
    if is_slice and not (node.slice.lower or node.slice.upper or node.slice.step):  # type: ignore[attr-defined]
        return _over(node.value)  # type: ignore[attr-defined]
    return node, False


def _unflattened(node: ast.expr) -> tuple[ast.expr, bool]:
    """A call without what takes the second dimension away that `nonzero` makes: `m.nonzero().squeeze(1)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FLATTENS:
        return _unflattened(node.func.value)[0], True
    return node, False


def _mask_of(node: ast.expr) -> ast.expr | None:
    """`m` of `m.nonzero()` and `torch.nonzero(m)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.keywords:
        return None
    if node.func.attr not in {"nonzero", "argwhere"}:
        return None
    if isinstance(node.func.value, ast.Name) and node.func.value.id == "torch":
        return node.args[0] if len(node.args) == 1 else None
    return None if node.args else node.func.value


def _is_read_once(code: Code, node: ast.Name) -> bool:
    scope = code.tree.function(node) or code.tree.root
    reads = [n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == node.id]
    return sum(isinstance(n.ctx, ast.Load) for n in reads) == 1


def _modules(code: Code, loop: ast.For, row: str) -> ast.expr:
    """The list of modules that the variable of a loop is an index of."""
    for part in _parts(loop):
        is_item = isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Name) and part.slice.id == row
        if is_item and code.surely(_is_modules, part.value):  # type: ignore[attr-defined]
            return part.value  # type: ignore[attr-defined, no-any-return]
    raise InapplicableError("the loop does not choose modules")


def _is_modules(value: Value) -> bool:
    return all(isinstance(option, TorchModule) for option in options(value))


def _parts(loop: ast.For) -> Iterator[ast.AST]:
    return (part for one in loop.body for part in ast.walk(one))


class _Body:
    def __init__(self, code: Code, loop: ast.For, row: str) -> None:
        self.code = code
        self.loop = loop
        self.row = row
        self.unpacked = next((one for one in loop.body if self._is_unpacking(one)), None)

    def _is_unpacking(self, one: ast.stmt) -> bool:
        """Whether a statement makes the row a number: `i = i[0]`."""
        return (
            isinstance(one, ast.Assign)
            and len(one.targets) == 1
            and isinstance(one.targets[0], ast.Name)
            and one.targets[0].id == self.row
            and self._is_number(one.value)
        )

    def _is_number(self, node: ast.expr) -> bool:
        """Whether an expression is the number in the row: `i[0]`, `i.item()`, `int(i)`."""
        if isinstance(node, ast.Subscript):
            return self._is_row(node.value) and isinstance(node.slice, ast.Constant) and node.slice.value == 0
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return self._is_row(node.func.value) and node.func.attr in READS
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return node.func.id in READS and len(node.args) == 1 and self._is_row(node.args[0])
        return False

    def _is_row(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == self.row

    def check(self) -> None:
        """Raises DeclinedError if an iteration does more than write to the rows it selects."""
        names = set(bound(self.loop.body))
        carried = names & (set(needed(self.loop.body)) | needed_after(self.code.tree, self.loop)) - {self.row}
        if carried:
            raise DeclinedError("an iteration does more than write to rows")
        selections = self._selections()
        if not selections:
            raise DeclinedError("the rows of an iteration are not known")
        writes = [one for one in self.loop.body if not self._computes(one)]
        if not writes or not all(self._writes(one, selections) for one in writes):
            raise DeclinedError("an iteration does more than write to the rows it selects")

    def _selections(self) -> set[str]:
        """The variables that select rows by what the pass is about: `rows` of `rows = torch.where(choice == i)[0]`."""
        found: set[str] = set()
        about = {self.row}
        for one in self.loop.body:
            if isinstance(one, ast.Assign):
                names = {n.id for n in ast.walk(one.value) if isinstance(n, ast.Name)}
                targets = set(bound([one]))
                if names & about and any(_selects(part) for part in ast.walk(one.value)):
                    found |= targets
        return found

    def _computes(self, one: ast.stmt) -> bool:
        if isinstance(one, ast.If):  # what Python knows, or an empty selection
            return len(one.body) == 1 and isinstance(one.body[0], (ast.Continue, ast.Pass)) and not one.orelse
        if isinstance(one, (ast.Assign, ast.AnnAssign)):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            parts = [part for target in targets for part in ast.walk(target)]
            return not any(isinstance(part, (ast.Subscript, ast.Attribute)) for part in parts)
        return isinstance(one, (ast.Pass, ast.AugAssign)) and not isinstance(
            getattr(one, "target", None), (ast.Subscript, ast.Attribute)
        )

    def _writes(self, one: ast.stmt, selections: set[str]) -> bool:
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) and isinstance(one.value.func, ast.Attribute):
            given = {n.id for a in one.value.args[:2] for n in ast.walk(a) if isinstance(n, ast.Name)}
            return one.value.func.attr in WRITES and bool(given & selections)
        if isinstance(one, (ast.Assign, ast.AugAssign)):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            return all(
                isinstance(target, ast.Subscript)
                and bool({n.id for n in ast.walk(target.slice) if isinstance(n, ast.Name)} & selections)
                for target in targets
            )
        return False

    def edits(self, *, is_row: bool) -> Iterator[Draft]:
        """What changes where the row was a tensor, and is a number now; `is_row`: it had one dimension."""
        code = self.code
        if self.unpacked is not None:
            yield code.statements.replace([self.unpacked], [])
        if not is_row or (self.unpacked is not None and self.unpacked is self.loop.body[0]):
            for one in self.loop.body:
                for part in ast.walk(one):
                    if one is not self.unpacked and isinstance(part, ast.Call) and self._is_number(part):
                        yield code.replace(part, code.make("{row}", row=self.row))
            return
        for one in self.loop.body:
            if one is self.unpacked:
                is_row = False
                continue
            for part in ast.walk(one):
                if self._is_row(part) and is_row:
                    yield from self._use(part)

    def _use(self, name: ast.AST) -> Iterator[Draft]:
        code, tree = self.code, self.code.tree
        around = tree.parents[name]
        if isinstance(around, ast.Attribute):
            around = tree.parents[around]
        if isinstance(around, ast.expr) and self._is_number(around):
            yield code.replace(around, code.make("{row}", row=self.row))
            return
        if not isinstance(around, ast.Subscript) or around.slice is not name:
            raise DeclinedError("the row is used as more than an index")
        if code.surely(_is_modules, around.value):
            return
        squeezed = tree.parents[tree.parents[around]]
        if isinstance(squeezed, ast.Call) and ast.unparse(squeezed) == f"{ast.unparse(around)}.squeeze(0)":
            yield code.replace(squeezed, around)
            return
        cut: Expression = code.make("{owner}[{row} : {row} + 1]", owner=around.value, row=self.row)
        yield code.replace(around, cut)


def _selects(node: ast.AST) -> bool:
    """Whether an expression selects rows, or may be a mask of them."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in {"where", "nonzero", "argwhere"}
    return isinstance(node, ast.Compare)
