"""Numbers that were read from tensors, as the 0-d tensors that they were read from.

`x.item() * 2` becomes `x * 2` in comparisons and checks, `abs(float(x))` becomes `x.abs()`.

Safe where nothing can tell: a number is compared with one that each dtype holds, or with another one of its kind.
Otherwise Python's number has more digits than the tensor, and `int` refuses NaN.
"""

from __future__ import annotations

import ast
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import Const, Kind, Python, Scalar, Size
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import SYMBOLS, binary, call, expression, keyword, method
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.observed_values import builtin, operation, scalar, tensor
from exportlint.fixes.proofs.observed_values import operands as operation_operands
from exportlint.fixes.proofs.stated_numbers import stated

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod)
POINTWISE = frozenset({
    "abs", "sqrt", "exp", "log", "isnan", "isinf", "isfinite", "logical_not", "logical_and", "logical_or",
    "logical_xor", "float", "bool", "detach", "gt", "lt", "ge", "le", "eq", "ne", "round", "floor", "ceil", "sigmoid",
    "tanh", "square", "clamp", "double", "long", "int",
})  # fmt: skip
REDUCTIONS = frozenset({"sum", "mean", "max", "min", "argmax", "argmin", "any", "all", "prod", "median", "std", "var",
                        "norm", "count_nonzero", "nansum", "nanmean", "logsumexp"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operand:
    """A side of a comparison as a tensor, or a number that Python has.

    `read`: it was a Python number, which has more digits than the tensor. `scalar`: it surely has no dimensions.
    """

    source: Expression
    kind: Kind | None = None
    tensor: bool = True
    read: bool = False
    scalar: bool = False
    safe: bool = True


def operands(code: Code, left: ast.expr, right: ast.expr) -> tuple[Operand, Operand]:
    """Both sides of a comparison, at least one of them a tensor. Raises DeclinedError."""
    found = operand(code, left), operand(code, right)
    one, other = (o or _number(code, node) for o, node in zip(found, (left, right), strict=True))
    if not (one.tensor or other.tensor):
        raise DeclinedError("neither side is a tensor")
    if _is_exact(code, one, other, right) and _is_exact(code, other, one, left):
        return one, other
    return _unsafe(one), _unsafe(other)


def operand(code: Code, node: ast.expr) -> Operand | None:
    """A tensor that holds what an expression does; None if that is not tensor data."""
    read = _read(code, node) if isinstance(node, ast.Call) else None
    if read is not None:
        return read
    held = tensor(code, node)
    if held is not None:
        return Operand(code.concrete(node), held.kind, scalar=is_scalar(code, node), safe=not held.assumed)
    length = _length(code, node)
    if length is not None:
        return Operand(call(code.name("torch.tensor", node), length), "int", scalar=True)
    value = scalar(code, node)
    if value is None or value.kind == "bool":
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ARITHMETIC) and value.api != "size":
        return _arithmetic(code, node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and value.api != "size":
        inner = operand(code, node.operand)
        if inner is not None:
            source = expression("-{number}", number=inner.source)
            return Operand(source, inner.kind, read=True, scalar=inner.scalar, safe=inner.safe)
    options = [keyword("dtype", code.name("torch.float64", node))] if value.kind != "int" else []
    source = call(code.name("torch.tensor", node), code.concrete(node), *options)
    return Operand(source, value.kind, scalar=True, safe=value.kind is not None)


def _length(code: Code, node: ast.expr) -> Expression | None:
    """The length of a selection, of which `len` makes no symbol."""
    if not isinstance(node, ast.Call) or builtin(code, node) != "len" or len(node.args) != 1:
        return None
    held = tensor(code, node.args[0])
    return code.make("{selection}.shape[0]", selection=node.args[0]) if held is not None and held.dynamic else None


def is_scalar(code: Code, node: ast.expr) -> bool:
    """Whether a tensor, or a number, surely has no dimensions."""
    held = tensor(code, node)
    if held is None or held.zero_dim:
        return held is not None or isinstance(code.value(node), (Scalar, Size, Const))
    if isinstance(node, ast.Compare):
        return all(is_scalar(code, part) for part in (node.left, *node.comparators))
    if isinstance(node, ast.BinOp):
        return is_scalar(code, node.left) and is_scalar(code, node.right)
    if isinstance(node, ast.UnaryOp):
        return is_scalar(code, node.operand)
    if isinstance(node, ast.Call):
        given = [*operation_operands(code, node), *(keyword.value for keyword in node.keywords)]
        if operation(code, node) in REDUCTIONS:
            return len(given) == 1
        return (operation(code, node) or builtin(code, node)) in POINTWISE and all(is_scalar(code, p) for p in given)
    return False


def _read(code: Code, node: ast.Call) -> Operand | None:
    """`t.item()`, `float(t)`, `int(t)` as `t`."""
    name = builtin(code, node)
    if operation(code, node) == "item" and isinstance(node.func, ast.Attribute):
        inner = operand(code, node.func.value)
    elif name in {"float", "int", "abs"} and len(node.args) == 1 and not node.keywords:
        if tensor(code, node.args[0]) is None and scalar(code, node.args[0]) is None:
            return None
        inner = operand(code, node.args[0])
    else:
        return None
    if inner is None:
        return None
    source, safe = inner.source, inner.safe
    kind = inner.kind
    if name == "abs":
        source = method(source, "abs")
    elif name == "int" and kind not in {"int", "bool"}:
        source, safe = method(source, "trunc"), False  # Python refuses NaN and infinities
    elif name == "float":
        safe = safe and kind == "float"
        kind = "float"
    source = source if inner.scalar else method(source, "reshape", expression("()"))
    return Operand(source, kind, read=name != "abs" or inner.read, scalar=True, safe=safe)


def _arithmetic(code: Code, node: ast.BinOp) -> Operand:
    left, right = operands(code, node.left, node.right)
    source = binary(SYMBOLS[type(node.op)], left.source, right.source)
    return Operand(source, None, read=True, scalar=left.scalar and right.scalar, safe=False)


def _number(code: Code, node: ast.expr) -> Operand:
    value = code.value(node)
    known = isinstance(value, (Const, Size)) or (isinstance(value, Python) and value.type in {"int", "float", "bool"})
    if isinstance(value, Const) and not isinstance(value.value, (int, float)):
        raise DeclinedError("a tensor is compared with a value that is not a number")
    return Operand(code.concrete(node), tensor=False, scalar=True, safe=known)


def _is_exact(code: Code, read: Operand, other: Operand, node: ast.expr) -> bool:
    """Whether a tensor compares with the other side as the number did that was read from it."""
    if not read.read:
        return True
    if other.tensor:
        return other.read and read.kind == other.kind and read.kind is not None
    number = stated(code, node)
    return number is not None and _is_short(number)


def _is_short(number: float) -> bool:
    """Whether every floating-point dtype, and each integer one, can hold a number."""
    try:
        half = struct.unpack("e", struct.pack("e", number))[0]
        single = struct.pack(">f", number)
    except (OverflowError, struct.error):
        return False
    return bool(half == number and single.endswith(b"\0\0"))


def _unsafe(operand: Operand) -> Operand:
    return Operand(operand.source, operand.kind, operand.tensor, operand.read, operand.scalar, safe=False)
