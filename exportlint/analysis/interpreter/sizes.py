"""Sizes that vary from call to call: arithmetic on them, comparisons, and what Python wants of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from exportlint.analysis.facts import Construct
from exportlint.analysis.facts.sizes import FixedSize, SizeBranch, SizeConversion
from exportlint.analysis.interpreter.frame import Frame
from exportlint.analysis.values import Const, Guard, Python, Range, Scalar, Shape, Size, Symbols, Tensor, Tuple, Value

BOOL = Python("bool")
DERIVED = "'"
REMAINDER = "%"
TEXT_USES = frozenset({"dict key", "set element", "comparison", "len()", "getattr()"})
"""What makes a difference of a text; messages make none."""

LEAST = 2
"""What torch.export takes a size that varies to be at least."""


def symbol_at(tensor: Tensor, dim: int) -> str:
    """The name of the size of a dimension, empty if it does not vary, or if it is not sure that there is a tensor."""
    if tensor.assumed:
        return ""
    return next((symbol for at, symbol in tensor.symbolic if at == dim), "")


def bounded(symbol: str, within: Range) -> str:
    """The name of a size that varies within bounds."""
    lowest, highest = within
    return symbol if lowest <= LEAST and highest is None else f"{symbol}[{lowest},{highest or ''}]"


def bounds(symbol: str) -> Range:
    """Between which numbers a size varies: by its name those of `bounded`, else from the least that torch.export takes.

    Of a number that was worked out from a size, nothing is known but that.
    """
    found = re.search(r"\[(\d+),(\d*)\]$", symbol)
    return (max(int(found[1]), LEAST), int(found[2]) if found[2] else None) if found else (LEAST, None)


def text_of(value: Tensor | Scalar) -> Size:
    """The text of tensor data, in which tracing puts the name of a symbol."""
    return Size("data", "str", value.trail)


def derived(symbol: str) -> str:
    """The name of a number that was worked out from a size."""
    return symbol.rstrip(DERIVED + REMAINDER) + DERIVED if symbol else ""


def is_own(symbol: str) -> bool:
    """Whether a name is that of a size itself, of which torch.export takes it to be 2 at least."""
    return bool(symbol) and not symbol.endswith((DERIVED, REMAINDER))


def truth_of(size: Size) -> Guard | None:
    """What has to be settled for the truth of a number: of a remainder, which is 0 for some sizes."""
    return Guard(size.symbol, "order", size.trail) if size.symbol.endswith(REMAINDER) else None


def broadcast(values: Iterable[Value]) -> Symbols:
    """The dimensions of an elementwise result that vary, as far as operands of equal rank tell."""
    found: dict[int, str] = {}
    for value in values:
        if isinstance(value, Tensor):
            for dim, symbol in sorted(value.symbolic):
                found.setdefault(dim, symbol)
    return frozenset(found.items())


def note_fixed_rows(frame: Frame, values: Iterable[Value], node: ast.AST, api: str) -> None:
    """A tensor with a number of rows that the code states meets one whose rows vary."""
    tensors = [value for value in values if isinstance(value, Tensor) and not value.assumed]
    fixed = next((tensor.rows for tensor in tensors if tensor.rows), 0)
    varying = next((tensor for tensor in tensors if symbol_at(tensor, 0)), None)
    if fixed and varying is not None and not frame.engine.eager:
        frame.emit(FixedSize, node, varying, api=api, size=fixed)


def product(tensor: Tensor) -> Size:
    """The number of elements."""
    return Size(derived(min((symbol for _, symbol in tensor.symbolic), default="")), trail=tensor.trail)


def arithmetic(op: ast.operator, left: Value, right: Value) -> Size:
    """`left op right`, one of which is a size."""
    symbol = next((o.symbol for o in (left, right) if isinstance(o, Size) and o.symbol), "")
    trail = next((o.trail for o in (left, right) if isinstance(o, Size) and o.trail is not None), None)
    if any(isinstance(o, Size) and o.kind == "str" for o in (left, right)):
        return Size(symbol, "str", trail)
    if isinstance(op, ast.Mod) and isinstance(left, Size) and left.symbol and left.kind == "int":
        return Size(left.symbol.rstrip(DERIVED + REMAINDER) + REMAINDER, "int", trail)
    is_float = isinstance(op, ast.Div) or any(_is_float(o) for o in (left, right))
    return Size(derived(symbol), "float" if is_float else "int", trail)


def _is_float(value: Value) -> bool:
    if isinstance(value, Size):
        return value.kind == "float"
    return value == Python("float") or (isinstance(value, Const) and isinstance(value.value, float))


def compared_sizes(op: ast.cmpop, left: Value, right: Value) -> Value:
    """`left op right` of sizes."""
    size = left if isinstance(left, Size) and left.symbol else right
    other = right if size is left else left
    if not isinstance(size, Size) or not size.symbol or size.kind == "str":
        return BOOL
    if isinstance(other, Size) and other.symbol == size.symbol:
        return BOOL  # of the same size, or of numbers of which we do not know how they differ
    is_equality = isinstance(op, (ast.Eq, ast.NotEq))
    if isinstance(other, Const) and isinstance(other.value, int):
        return _with_number(op, size, other.value, is_left=size is left)
    if isinstance(other, (Size, Python, Const)):
        is_known = isinstance(other, Const) or not is_equality
        return Guard(size.symbol, "constant" if is_equality and is_known else "order", size.trail)
    return BOOL


FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}


def _with_number(op: ast.cmpop, size: Size, number: int, *, is_left: bool) -> Value:
    """A size that varies is within its bounds, so that numbers outside of them are settled without a guard."""
    remainder = truth_of(size)
    if remainder is not None:
        return remainder
    kind = type(op) if is_left else FLIPPED.get(type(op), type(op))
    is_equality = kind in {ast.Eq, ast.NotEq}
    least = number + (kind in {ast.Gt, ast.LtE})  # `n > 1` is `n >= 2`: it tells 2 from 1
    lowest, highest = bounds(size.symbol)
    if lowest == LEAST and ((is_equality and number == 1) or (not is_equality and least == LEAST)):
        return Guard(size.symbol, "one", size.trail)
    at = number if is_equality else least
    if at < lowest + (not is_equality) or (highest is not None and at > highest):
        return BOOL
    return Guard(size.symbol, "constant" if is_equality else "order", size.trail)


def compared_shapes(op: ast.cmpop, left: Value, right: Value) -> Value:
    """`x.shape == (3, 4)`, `x.shape != y.shape`."""
    found = [_items(left), _items(right)]
    for dim in found[0].keys() | found[1].keys():
        mine, other = (items.get(dim) for items in found)
        if isinstance(mine, Value) and isinstance(other, Value):
            verdict = compared_sizes(op, mine, other)
            if isinstance(verdict, Guard):
                return verdict
    return BOOL


def _items(value: Value) -> dict[int, Value]:
    if isinstance(value, Shape):
        return {dim: Size(symbol, trail=value.tensor.trail) for dim, symbol in value.tensor.symbolic}
    return dict(enumerate(value.items)) if isinstance(value, Tuple) else {}


def note_branch(frame: Frame, value: Guard, node: ast.expr, construct: Construct, *, raises: bool) -> None:
    """Python asks for the truth of a comparison of sizes."""
    if not frame.engine.eager:
        frame.emit(SizeBranch, node, value, construct=construct, test=value.test, raises=raises or frame.raising > 0)


def note_conversion(frame: Frame, value: Value, node: ast.AST, target: str) -> bool:
    """Whether Python wants the number behind a size that varies; then that is a fact."""
    if not isinstance(value, Size) or frame.engine.eager or not (value.symbol or value.kind == "float"):
        return False
    if value.kind == "str":
        if target not in TEXT_USES:
            return False
        target = "text"
    frame.emit(SizeConversion, node, value, target=target, varies=bool(value.symbol), is_float=value.kind == "float")
    return bool(value.symbol)


def note_iteration(frame: Frame, tensor: Tensor, node: ast.AST, target: str = "iteration") -> None:
    """Python goes through the first dimension of a tensor."""
    symbol = symbol_at(tensor, 0)
    if symbol and not frame.engine.eager:
        frame.emit(SizeConversion, node, tensor, target=target, varies=True)


def settled(size: Size, kind: Literal["int", "float"]) -> Size:
    """The number that a conversion leaves: it no longer varies."""
    return replace(size, symbol="", kind=kind)


def sliced(frame: Frame, node: ast.Slice, tensor: Tensor, dim: int) -> str:
    """The name of the size that a slice of a dimension has, empty if it does not vary."""
    symbol = symbol_at(tensor, dim)
    if not symbol or (node.lower is None and node.upper is None and node.step is None):
        return symbol
    lower, upper = (frame.peek(bound) if bound is not None else None for bound in (node.lower, node.upper))
    for bound in (lower, upper):
        number = bound.value if isinstance(bound, Const) and isinstance(bound.value, int) else 0
        if abs(number) >= max(bounds(symbol)[0], LEAST + 1) and not frame.engine.eager:
            frame.emit(FixedSize, node, tensor, api="slice", size=number)
    if isinstance(upper, Const) and isinstance(upper.value, int) and upper.value > 0:
        return ""
    if isinstance(upper, Size):
        return derived(upper.symbol)
    return derived(symbol) if upper is None or isinstance(upper, Const) else ""
