"""Lists that get every item, and the lists of the masks that say which of them belong there.

`torch.stack(xs)` becomes `torch.stack(xs)[torch.stack(xs_mask)]`, `torch.cat(xs)` the same with a mask as long as each
item, `len(xs)` the sum of the masks, and `if xs` asks whether any is true. A part of `predication`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportlint.fixes.control_flow.merging import given_to
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import along, call, expression, method, statement
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.observed_values import builtin, operation
from exportlint.fixes.proofs.result_shapes import JOINS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportlint.fixes.edit.template import Expression


@dataclass(frozen=True, slots=True)
class SelectedItems:
    """A list that the statements `appending` give every item, with `mask`, the list of what they may leave out."""

    code: Code
    name: str
    mask: str
    appending: Sequence[ast.stmt]

    def drafts(self, prefix: ast.stmt | None) -> list[Draft]:
        """Edits that make the masks, and let what uses the list select by them.

        Within the loop `prefix`, the list has only what belongs there as long as its items are needed.

        Raises:
            DeclinedError: its first items are not known, or it is used in a way that no mask can follow.
        """
        code = self.code
        scope = code.tree.function(self.appending[0])
        uses = list(code.tree.contents(scope or code.tree.root).named(self.name))
        made = [n for n in uses if not isinstance(n.ctx, ast.Load)]
        first = given_to(code, made[0]) if len(made) == 1 else None
        if not isinstance(first, ast.List):
            raise DeclinedError(f"`{self.name}` is not made once, as a list")
        if any(isinstance(item, ast.Starred) for item in first.elts):
            raise DeclinedError(f"the code does not show how many items `{self.name}` has at first")
        truth = call(code.name("torch.tensor", first), expression("True"))
        masks = expression("[{*items}]", items=[truth] * len(first.elts))
        start = statement("{mask} = {masks}", mask=self.mask, masks=masks)
        drafts = [code.statements.insert_after(code.tree.statement(made[0]), [start])]
        inside = {node for one in self.appending for node in ast.walk(one)} | {*made}
        within = set(ast.walk(prefix)) if prefix is not None else set()
        counting = set(ast.walk(prefix.test)) if isinstance(prefix, ast.While) else set()  # it counts the passes
        for use in uses:
            if use in inside or use in counting or (use in within and _only_reads(code, use)):
                continue
            other = _appended(code, use)
            if other is None:
                drafts.append(self._selected(use))
            else:
                added = statement("{mask}.append({truth})", mask=self.mask, truth=truth)
                drafts.append(code.statements.insert_after(other, [added]))
        return drafts

    def _selected(self, use: ast.Name) -> Draft:
        """What becomes of a use of the list: its items, their sum or their number. Raises DeclinedError."""
        code, around = self.code, self.code.tree.parents[use]
        stack = code.name("torch.stack", use)
        mask = code.make("{stack}({mask})", stack=stack, mask=self.mask)
        if isinstance(around, ast.Call) and around.args[:1] == [use]:
            name, dim = operation(code, around), dimension(around)
            if dim is not None and (name == "stack" or name in JOINS):
                chosen = mask if name == "stack" else self._mask_of_parts(use, dim)
                return code.replace(around, along(code.concrete(around), dim, chosen))
        if isinstance(around, ast.Call) and around.args == [use] and not around.keywords:
            match builtin(code, around):
                case "sum":
                    rows = code.make("{stack}({items})[{mask}]", stack=stack, items=use, mask=mask)
                    return code.replace(around, method(rows, "sum", 0))
                case "len":
                    return code.replace(around, method(mask, "sum"))
        if isinstance(around, ast.Subscript) and _is_place(around) and self._are_stacked(use):
            item = code.make("{stack}({items})[{mask}]", stack=stack, items=use, mask=mask)
            return code.replace(around, expression("{item}[{index}]", item=item, index=code.concrete(around.slice)))
        if getattr(around, "test", None) is use or (isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Not)):
            return code.replace(use, method(mask, "any"))
        raise DeclinedError(f"`{self.name}` is not only stacked, joined, added up or counted")

    def _are_stacked(self, use: ast.Name) -> bool:
        """Whether the code stacks the items, so that they have one shape."""
        scope = self.code.tree.function(use) or self.code.tree.root
        calls = (self.code.tree.parents[other] for other in self.code.tree.contents(scope).named(self.name))
        return any(isinstance(call, ast.Call) and operation(self.code, call) == "stack" for call in calls)

    def _mask_of_parts(self, use: ast.Name, dim: int) -> Expression:
        """A mask for what `torch.cat` makes of the items, which may differ in size along its dimension."""
        code = self.code
        return code.make(
            "{cat}([{kept}.expand({item}.shape[{dim}]) for {item}, {kept} in zip({items}, {mask})])",
            cat=code.name("torch.cat", use),
            item=code.fresh("item", use),
            kept=code.fresh("is_kept", use),
            dim=dim,
            items=use,
            mask=self.mask,
        )


def dimension(call: ast.Call) -> int | None:
    """The dimension that `torch.stack(items, dim)` or `torch.cat(items, dim)` states; None if it is not known."""
    given = [*call.args[1:], *(k.value for k in call.keywords)]
    if len(given) > 1 or any(k.arg not in {"dim", "axis"} for k in call.keywords):
        return None
    match given:
        case []:
            return 0
        case [ast.Constant(value=int(dim))] if not isinstance(dim, bool):
            return dim
        case [ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(dim)))] if not isinstance(dim, bool):
            return -dim
    return None


def _is_place(node: ast.Subscript) -> bool:
    """Whether an index reads one item, whose place it states."""
    index = node.slice.operand if isinstance(node.slice, ast.UnaryOp) else node.slice
    return isinstance(node.ctx, ast.Load) and isinstance(index, ast.Constant) and type(index.value) is int


def _only_reads(code: Code, use: ast.Name) -> bool:
    """Whether an item of a list is read, or a tensor is made of all of them."""
    around = code.tree.parents[use]
    if isinstance(around, ast.Subscript) and around.value is use:
        return isinstance(around.ctx, ast.Load) and not isinstance(around.slice, ast.Slice)
    return operation(code, around) in {"stack", *JOINS} if isinstance(around, ast.Call) else False


def _appended(code: Code, use: ast.Name) -> ast.stmt | None:
    """The statement that only appends an item to a list, if a use of it does that."""
    statement = code.tree.statement(use)
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="append"), args=[item])) if owner is use:
            return statement if not isinstance(item, ast.Starred) else None
    return None
