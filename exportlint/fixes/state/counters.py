"""Numbers that calls leave behind, kept in buffers without dimensions.

`self.n += 1` becomes `self.n.add_(1)` of `register_buffer("n", torch.tensor(0), persistent=False)`.

Needs: only the methods of the class use the attribute, and in arithmetic or as one index. Never safe: who reads the
attribute gets a tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import Const, Size, Tensor, Value
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.tree import indices, takes_all
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.writes import IN_PLACE
from exportlint.fixes.state.buffers import is_renewed, needs_clone, registration
from exportlint.fixes.state.constructor import Constructor

if TYPE_CHECKING:
    from exportlint.fixes.edit.code import Given


def registered_number(code: Code, target: ast.Attribute) -> list[Draft]:
    """A number as a buffer with no dimensions, and everywhere in the class what becomes of its uses.

    Raises:
        DeclinedError: it is needed as a Python number somewhere, or may become one of another type.
    """
    constructor = Constructor(code, target)
    constructor.require_private(target.attr)
    first = constructor.assignment(target.attr)
    number = _number(first.value)
    if number is None or isinstance(number, bool):
        raise DeclinedError("its first value is no number")
    made = code.make("{tensor}({value})", tensor=code.name("torch.tensor", first.statement), value=first.value)
    later = [use for use in constructor.uses(target.attr) if use is not first.target]
    return [
        registration(code, first, made),
        *(draft for use in later for draft in _number_use(code, use, type(number))),
    ]


def _number(node: ast.expr) -> int | float | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, (int, float)) else None


def _number_use(code: Code, use: ast.Attribute, kind: type) -> Iterator[Draft]:
    parent = code.tree.parents[use]
    if isinstance(use.ctx, ast.Load):
        subscript = code.tree.parents[parent] if isinstance(parent, ast.Tuple) else parent
        if isinstance(subscript, ast.Subscript) and use in indices(subscript):
            yield _selection(code, subscript, use)
        elif not isinstance(parent, (ast.BinOp, ast.UnaryOp)):
            raise DeclinedError(f"`{use.attr}` is used as a number")
        elif not is_renewed(code, use) and needs_clone(code, use):
            yield code.replace(use, code.make("{use}.clone()", use=use))
        return
    if isinstance(parent, ast.AugAssign) and type(parent.op) in IN_PLACE:
        _require_number(code, parent.value, kind)
        if kind is int and isinstance(parent.op, (ast.Div, ast.Pow)):
            raise DeclinedError("an int becomes a float")
        yield _called(code, parent, use, IN_PLACE[type(parent.op)], parent.value)
    elif isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        holds_itself = any(ast.unparse(n) == ast.unparse(use) for n in ast.walk(parent.value) if n is not use)
        if not holds_itself:
            _require_number(code, parent.value, kind)
        elif not isinstance(parent.value, ast.BinOp):
            raise DeclinedError("it may become a number of Python again")
        yield _called(code, parent, use, "copy_" if holds_itself else "fill_", parent.value)
    else:
        raise DeclinedError(f"`{use.attr}` is assigned along with others")


def _require_number(code: Code, node: ast.expr, kind: type) -> None:
    allowed = (int,) if kind is int else (int, float)
    number = _number(node)
    if type(number) in allowed:
        return

    def fits(value: Value) -> bool:
        if isinstance(value, Const):
            return type(value.value) in allowed
        if isinstance(value, Tensor):
            return value.zero_dim and (value.kind == "int" or kind is float)
        return isinstance(value, Size) and value.kind == "int"

    if not code.surely(fits, node):
        raise DeclinedError("it may become a number of another type")


def _selection(code: Code, subscript: ast.Subscript, use: ast.Attribute) -> Draft:
    """`x[:, self.i]` with operators that take the index from a tensor."""
    items = indices(subscript)
    dim = items.index(use)
    if not all(map(takes_all, items[:dim] + items[dim + 1 :])):
        raise DeclinedError("it is one index of several")
    owner, index = subscript.value, code.make("{use}.reshape(1).clone()", use=use)
    if isinstance(subscript.ctx, ast.Load):
        template = "{owner}.index_select({dim}, {index}).squeeze({dim})"
        return code.replace(subscript, code.make(template, owner=owner, dim=dim, index=index))
    statement = code.tree.parents[subscript]
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        raise DeclinedError("more is done to what it is the index of")
    value = statement.value
    if _number(value) is not None:
        return _called(code, statement, owner, "index_fill_", dim, index, value)
    return _called(
        code, statement, owner, "index_copy_", dim, index, code.make("{value}.unsqueeze({dim})", value=value, dim=dim)
    )


def _called(code: Code, statement: ast.stmt, owner: Given, name: str, *given: Given) -> Draft:
    """`owner.name(given)` in place of a statement."""
    new = code.statement("{owner}.{name}({*given})", owner=owner, name=name, given=given)
    return code.replace(statement, new)
