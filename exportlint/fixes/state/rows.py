"""Lists of tensors that calls leave behind, by a place that a loop counts, as the rows of one buffer.

`self.hs = [torch.zeros(4) for _ in range(2)]` becomes a buffer of `torch.stack([…])`: `self.hs[i] = h` writes its row,
`self.hs[i]` is read as `self.hs[i].clone()`. Of a list of tuples, each item has a buffer of its own:
`self.hs[i] = h, c` becomes `self.hs_0[i], self.hs_1[i] = h, c`.

Needs: `__init__` makes all items, and only the code that is rewritten uses the list. Never safe: all items need one
size and dtype, and the buffers move with the module.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import bare_tuple
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.proofs.observed_values import builtin
from exportlint.fixes.proofs.purity import is_pure
from exportlint.fixes.state.constructor import Constructor, buffer

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression


def keep_rows(code: Code, constructor: Constructor, name: str) -> list[Draft]:
    """A list that always holds as many tensors, or tuples of them, as buffers.

    Raises:
        InapplicableError: `__init__` does not make its items.
        DeclinedError: it is used otherwise than by a place, or as a whole.
    """
    first = constructor.assignment(name)
    items = _items(first.value)
    constructor.require_private(name)
    width = len(items[0].elts) if isinstance(items[0], ast.Tuple) else 0
    names = [constructor.free(f"{name}_{index}") for index in range(width)] or [name]
    stack = code.name("torch.stack", first.value)
    registered = []
    for index, each in enumerate(names):
        tuples = [item for item in items if isinstance(item, ast.Tuple)]
        column: dict[ast.expr, Expression] = {item: code.concrete(item.elts[index]) for item in tuples}
        stacked = code.make("{stack}({items})", stack=stack, items=code.concrete(first.value, column))
        registered.append(buffer(code, first.target.value, each, stacked))
    rows = _Rows(code, names, is_tuple=bool(width))
    changed = [rows.changed(use) for use in constructor.uses(name) if use is not first.target]
    replaced = [code.replace(*each) for each in changed if each is not None]
    return [code.statements.replace([first.statement], registered), *replaced]


def _items(value: ast.expr) -> Sequence[ast.expr]:
    """The expressions that make the items, each a call or a tuple of as many calls. Raises InapplicableError."""
    found: Sequence[ast.expr] = ()
    match value:
        case ast.List(elts=items) | ast.BinOp(left=ast.List(elts=items), op=ast.Mult()):
            found = items
        case ast.ListComp(elt=item):
            found = [item]
    widths = {len(item.elts) if isinstance(item, ast.Tuple) else 0 for item in found}
    parts = [part for item in found for part in (item.elts if isinstance(item, ast.Tuple) else [item])]
    if len(widths) != 1 or not parts or not all(isinstance(part, ast.Call) for part in parts):
        raise InapplicableError("`__init__` does not make its items")
    return found


@dataclass(frozen=True)
class _Rows:
    """What stands where a list is used that is in buffers: one, or one for each item of its tuples."""

    code: Code
    names: Sequence[str]
    is_tuple: bool

    def changed(self, use: ast.Attribute) -> tuple[ast.expr, Expression] | None:
        """What is replaced, and the new code; None if it stays. Raises DeclinedError."""
        code, around = self.code, self.code.tree.parents[use]
        places = [code.make("{owner}.{name}", owner=use.value, name=name) for name in self.names]
        match around:
            case ast.Subscript(value=value, slice=index) if value is use and not isinstance(index, ast.Slice):
                return self._row(around, index, places)
            case ast.Call(args=[only]) if only is use and builtin(code, around) == "len":
                return (use, places[0]) if self.is_tuple else None
            case ast.For(iter=given) | ast.comprehension(iter=given) if given is use:
                return use, self._all(places)
            case ast.Call() if use in around.args and builtin(code, around) in {"zip", "enumerate", "list", "tuple"}:
                return use, self._all(places)
        raise DeclinedError(f"`{code.text(use)}` is used in other ways than by index or item by item")

    def _row(
        self, row: ast.Subscript, index: ast.expr, places: Sequence[Expression]
    ) -> tuple[ast.expr, Expression] | None:
        """One item, read or written."""
        code, around = self.code, self.code.tree.parents[row]
        if self.is_tuple and not is_pure(code, index):
            raise DeclinedError("the index would be evaluated more than once")
        rows = [code.make("{place}[{index}]", place=place, index=index) for place in places]
        if isinstance(row.ctx, ast.Load):
            copies = [code.make("{row}.clone()", row=each) for each in rows]
            if not self.is_tuple:
                return row, copies[0]
            match around:
                case ast.Subscript(value=value, slice=ast.Constant(value=int() as item)) if value is row:
                    if not isinstance(around.ctx, ast.Load) or not -len(copies) <= item < len(copies):
                        raise DeclinedError("an item of a tuple is assigned")
                    return around, copies[item]
            return row, code.make("({*copies},)", copies=copies)
        if isinstance(row.ctx, ast.Del) or (self.is_tuple and isinstance(around, ast.AugAssign)):
            raise DeclinedError("an item is left out, or becomes longer")
        return (row, bare_tuple(rows)) if self.is_tuple else None

    def _all(self, places: Sequence[Expression]) -> Expression:
        copies = [self.code.make("{place}.clone()", place=place) for place in places]
        return self.code.make("zip({*copies})", copies=copies) if self.is_tuple else copies[0]
