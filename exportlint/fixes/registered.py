"""Attributes that calls leave behind, kept in buffers: what assigned them changes the buffer in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis import table
from exportlint.analysis.calls.relations import VIEWS, VIEWS_OF_CONTIGUOUS
from exportlint.analysis.values import Const, Size, Tensor, Value
from exportlint.fixes.code import Code
from exportlint.fixes.constructor import Assignment, Constructor, buffer
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.names import qualified
from exportlint.fixes.precedence import Precedence
from exportlint.fixes.statements import Draft
from exportlint.fixes.writes import IN_PLACE

SHARES = VIEWS | VIEWS_OF_CONTIGUOUS | {
    "to", "type", "type_as", "float", "double", "half", "bfloat16", "int", "long", "bool", "cpu", "cuda", "data", "T",
    "mT", "H", "mH", "real", "imag",
}  # fmt: skip
"""Members of a tensor that may share its storage."""


def registered_tensor(code: Code, target: ast.Attribute) -> list[Draft]:
    """A tensor attribute as a buffer, and everywhere in the class what becomes of its uses. Raises DeclinedError."""
    constructor = Constructor(code, target)
    constructor.require_private(target.attr)
    first = constructor.assignment(target.attr)
    if not isinstance(first.value, ast.Call):
        raise DeclinedError("its first value may be no tensor")
    later = [use for use in constructor.uses(target.attr) if use is not first.target]
    return [registration(code, first), *(draft for use in later for draft in tensor_use(code, use))]


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
    made = f"{code.name('torch.tensor', first.statement)}({code.text(first.value)})"
    later = [use for use in constructor.uses(target.attr) if use is not first.target]
    return [
        registration(code, first, made),
        *(draft for use in later for draft in _number_use(code, use, type(number))),
    ]


def registration(code: Code, first: Assignment, value: str | None = None) -> Draft:
    """The buffer that `__init__` registers in place of an attribute; with another value, if one is given."""
    owner = code.text(first.target.value)
    text = buffer(code, owner, first.target.attr, value or code.operand(first.value))
    return code.statements.replace([first.statement], [text])


def tensor_use(code: Code, use: ast.Attribute) -> Iterator[Draft]:
    """What becomes of a use of an attribute that is a buffer: what is bound to it is copied, what goes on is a copy.

    Raises:
        DeclinedError: it is bound along with others, or left out.
    """
    statement = code.tree.parents[use]
    if isinstance(use.ctx, ast.Load):
        if not _is_consumed(code, use):
            yield code.replace(use, f"{code.text(use)}.clone()")
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        yield code.replace(statement, f"{code.text(use)}.copy_({code.operand(statement.value)})")
    elif not isinstance(statement, ast.AugAssign):
        raise DeclinedError(f"`{use.attr}` is assigned along with others")


def _is_consumed(code: Code, node: ast.expr) -> bool:
    """Whether an operator takes the values of a tensor, so that nobody holds on to the tensor itself."""
    parent = code.tree.parents[node]
    if isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign)):
        return True
    if isinstance(parent, ast.Attribute):
        api = table.tensor_member(parent.attr)
        if parent.attr in SHARES or api is None:
            outer = code.tree.parents[parent]
            return _is_consumed(code, outer if isinstance(outer, ast.Call) else parent)
        return True
    if isinstance(parent, (ast.List, ast.Tuple, ast.keyword)):
        call = code.tree.parents[parent]
        return isinstance(call, ast.Call) and _is_operator(code, call)
    if isinstance(parent, ast.Subscript):
        return node is parent.slice or _is_consumed(code, parent)
    return isinstance(parent, ast.Call) and _is_operator(code, parent)


def _is_operator(code: Code, call: ast.Call) -> bool:
    name = qualified(call.func, code.tree.root, code.module.package) or ""
    api = table.lookup(name)
    return api is not None and api.kind == "function" and not api.view and name.rpartition(".")[2] not in SHARES


# --- numbers


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
        if isinstance(subscript, ast.Subscript) and use in _indices(subscript):
            yield _selection(code, subscript, use)
        elif not isinstance(parent, (ast.BinOp, ast.UnaryOp)):
            raise DeclinedError(f"`{use.attr}` is used as a number")
        return
    text = code.text(use)
    if isinstance(parent, ast.AugAssign) and type(parent.op) in IN_PLACE:
        _require_number(code, parent.value, kind)
        if kind is int and isinstance(parent.op, (ast.Div, ast.Pow)):
            raise DeclinedError("an int becomes a float")
        yield code.replace(parent, f"{text}.{IN_PLACE[type(parent.op)]}({code.operand(parent.value)})")
    elif isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        holds_itself = any(ast.unparse(n) == ast.unparse(use) for n in ast.walk(parent.value) if n is not use)
        if not holds_itself:
            _require_number(code, parent.value, kind)
        yield code.replace(parent, f"{text}.{'copy_' if holds_itself else 'fill_'}({code.operand(parent.value)})")
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


def _indices(subscript: ast.Subscript) -> list[ast.expr]:
    return subscript.slice.elts if isinstance(subscript.slice, ast.Tuple) else [subscript.slice]


def _selection(code: Code, subscript: ast.Subscript, use: ast.Attribute) -> Draft:
    """`x[:, self.i]` with operators that take the index from a tensor."""
    indices = _indices(subscript)
    dim = indices.index(use)
    if not all(
        isinstance(i, ast.Slice) and not (i.lower or i.upper or i.step) for i in indices[:dim] + indices[dim + 1 :]
    ):
        raise DeclinedError("it is one index of several")
    owner, index = code.operand(subscript.value, Precedence.ATOM), f"{code.text(use)}.reshape(1).clone()"
    if isinstance(subscript.ctx, ast.Load):
        return code.replace(subscript, f"{owner}.index_select({dim}, {index}).squeeze({dim})")
    statement = code.tree.parents[subscript]
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        raise DeclinedError("more is done to what it is the index of")
    value = statement.value
    if _number(value) is not None:
        return code.replace(statement, f"{owner}.index_fill_({dim}, {index}, {code.operand(value)})")
    source = f"{code.operand(value, Precedence.ATOM)}.unsqueeze({dim})"
    return code.replace(statement, f"{owner}.index_copy_({dim}, {index}, {source})")
