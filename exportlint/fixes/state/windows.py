"""Lists of the last tensors that calls saw, as one buffer in which they are stacked.

`self.last.append(x)` and `self.last.pop(0)`, `self.last = self.last[1:] + [x]`, and `append` of a `deque` that is full
become `self.last.copy_(torch.cat((self.last[1:], x.unsqueeze(0))))`. `torch.stack(self.last)` becomes
`self.last.clone()`, and other reads get `list(self.last.clone())`.

Needs: `__init__` makes all items, so that there are always as many, and only the code that is rewritten uses the list.
Never safe: all items need one size and dtype, and the buffer moves with the module.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.proofs.observed_values import builtin, is_named, operation
from exportlint.fixes.state.constructor import Constructor, buffer

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Statement


def keep_window(code: Code, constructor: Constructor, name: str) -> list[Draft]:
    """A list that always holds as many tensors, as a buffer.

    Raises:
        InapplicableError: `__init__` does not make its items, or calls do not replace the oldest one.
        DeclinedError: it is used otherwise as well.
    """
    first = constructor.assignment(name, beside=True)
    items, is_full = _items(code, first.value)
    uses = [use for use in constructor.uses(name) if use is not first.target]
    written: dict[ast.expr, list[Draft]] = {}
    for use in uses:
        if use not in written:
            written |= _shifted(code, use, uses, is_full=is_full)
    if not written:
        raise InapplicableError("no call replaces its oldest item")
    constructor.require_private(name)
    stacked = code.make("{stack}({items})", stack=code.name("torch.stack", first.value), items=items)
    registered = buffer(code, first.target.value, name, stacked)
    drafts = [
        constructor.replaced(first, [registered]),
        *dict.fromkeys(draft for changed in written.values() for draft in changed),
    ]
    return drafts + [code.replace(*_read(code, use)) for use in uses if use not in written]


def _items(code: Code, value: ast.expr) -> tuple[ast.expr, bool]:
    """What the list holds at first, and whether it is a `deque` that holds no more. Raises InapplicableError."""
    match value:
        case ast.List(elts=[_, *_] as items) if all(isinstance(item, ast.Call) for item in items):
            return value, False
        case ast.BinOp(left=ast.List(elts=[ast.Call()]), op=ast.Mult()):
            return value, False
        case ast.ListComp(elt=ast.Call()):
            return value, False
        case ast.Call(args=[given, *others], keywords=keywords) if is_named(
            code.value(value.func), "collections.deque"
        ):
            made, _ = _items(code, given)
            limit = next((k.value for k in keywords if k.arg == "maxlen"), others[0] if others else None)
            if limit is not None and _length(made) == ast.unparse(limit):
                return made, True
    raise InapplicableError("`__init__` does not make its items")


def _length(items: ast.expr) -> str:
    """How many items an expression makes, as source."""
    match items:
        case ast.List(elts=elements):
            return str(len(elements))
        case ast.BinOp(right=count):
            return ast.unparse(count)
        case ast.ListComp(generators=[ast.comprehension(iter=ast.Call(args=[count]), ifs=[])]):
            return ast.unparse(count)
    return ""


def _shifted(
    code: Code, use: ast.Attribute, uses: Sequence[ast.Attribute], *, is_full: bool
) -> dict[ast.expr, list[Draft]]:
    """What becomes of the statements that put a new item in place of the oldest one, for each use in them."""
    statement = code.tree.statement(use)
    replaced: list[ast.stmt] = [statement]
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="append"), args=[item])) if owner is use:
            if not is_full:
                replaced.append(_dropping(code, statement, uses))
        case ast.Assign(
            targets=[target],
            value=ast.BinOp(
                left=ast.Subscript(value=old, slice=ast.Slice(lower=ast.Constant(value=1), upper=None, step=None)),
                op=ast.Add(),
                right=ast.List(elts=[item]),
            ),
        ) if target in uses and old in uses:
            pass
        case _:
            return {}
    inside = [other for one in replaced for other in ast.walk(one) if other in uses]
    if len(inside) != (1 if is_full else 2) or any(other in ast.walk(item) for other in inside):
        raise DeclinedError("the new item depends on the others")
    drafts = [code.replace(statement, _written(code, use, item))]
    drafts += [code.statements.replace([other], []) for other in replaced[1:]]
    return {other: drafts for other in inside if isinstance(other, ast.expr)}


def _written(code: Code, use: ast.Attribute, item: ast.expr) -> Statement:
    return code.statement(
        "{place}.copy_({cat}(({place}[1:], {item}.unsqueeze(0))))",
        place=code.make("{owner}.{name}", owner=use.value, name=use.attr),
        cat=code.name("torch.cat", use),
        item=item,
    )


def _dropping(code: Code, statement: ast.stmt, uses: Sequence[ast.Attribute]) -> ast.stmt:
    """The `pop(0)` or `del` next to an `append`. Raises DeclinedError if there is none."""
    block, index = code.tree.block(statement), code.tree.index(statement)
    for other in block[max(index - 1, 0) : index + 2]:
        match other:
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=owner, attr="pop"), args=[ast.Constant(value=0)])
            ) if owner in uses:
                return other
            case ast.Delete(targets=[ast.Subscript(value=owner, slice=ast.Constant(value=0))]) if owner in uses:
                return other
    raise DeclinedError("it grows with each call, and a buffer keeps its size")


def _read(code: Code, use: ast.Attribute) -> tuple[ast.expr, Expression]:
    """What is read of the list, and what stands there. Raises DeclinedError."""
    around = code.tree.parents[use]
    place = code.make("{owner}.{name}", owner=use.value, name=use.attr)
    match around:
        case ast.Subscript(
            slice=ast.Constant(value=int()) | ast.UnaryOp(operand=ast.Constant(value=int())) as index, ctx=ast.Load()
        ):
            return around, code.make("{place}[{index}].clone()", place=place, index=index)
        case ast.Call(args=[only], keywords=[]) if only is use and operation(code, around) == "stack":
            return around, code.make("{place}.clone()", place=place)
        case ast.Call(args=[only], keywords=[]) if only is use and builtin(code, around) in {"list", "tuple", "sum"}:
            return use, code.make("{place}.clone()", place=place)
        case ast.Call(args=[only]) if only is use and builtin(code, around) == "len":
            return use, place
        case ast.Attribute() | ast.Subscript():
            raise DeclinedError("it is also used in other ways than as a whole or with constant indices")
    if not isinstance(use.ctx, ast.Load):
        raise DeclinedError("it is also assigned in another way")
    return use, code.make("list({place}.clone())", place=place)
