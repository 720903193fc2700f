"""Whether expressions are tensors of one shape and dtype, as far as their source proves it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace

from exportlint.analysis.values import Const
from exportlint.fixes.code import Code
from exportlint.fixes.held import operands, operation, tensor
from exportlint.fixes.numbers import is_scalar

COPIES = frozenset({"clone", "contiguous", "detach"})
LIKE = frozenset({"zeros_like", "ones_like", "full_like"})
ROUNDING = frozenset({"relu", "floor", "ceil", "trunc", "round", "sign", "neg", "negative"})
"""Operations that booleans do not have. Their gradient is finite whatever they are given."""
CLAMPS = frozenset({"clamp", "clamp_min", "clamp_max", "clip"})
BOUNDED = frozenset({"sigmoid", "tanh", "abs", "cos", "sin", "gelu", "silu", "softplus"})
KINDS = ("bool", "int", "float")


@dataclass(frozen=True, slots=True)
class Form:
    """A shape and a dtype by what they come from: expressions with the same ones have the same shape and dtype.

    `shape` names the tensors whose shapes are broadcast, none for a 0-d tensor; `dtype` names what is promoted.
    `total`: for no values of these tensors is the expression refused, nor is its gradient infinite or NaN.
    """

    shape: frozenset[str]
    dtype: frozenset[str]
    total: bool = True

    def agrees(self, other: Form) -> bool:
        """Whether the shapes and the dtypes are the same."""
        return self.shape == other.shape and self.dtype == other.dtype


def form(code: Code, node: ast.expr, known: Mapping[str, Form | None]) -> Form | None:
    """The form of a tensor expression; `known` are the forms of variables that were assigned on the way."""
    held = tensor(code, node)
    if held is None or held.assumed or held.optional or held.dynamic:
        return None
    if isinstance(node, ast.Name) and node.id in known:
        return known[node.id]
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = ast.unparse(node)
        return Form(frozenset() if held.zero_dim else frozenset({name}), frozenset({name}))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _of_numbers(code, node.operand, known)
    if isinstance(node, ast.BinOp):
        return _of_operator(code, node, known)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        compared = _combined(code, node.left, node.comparators[0], known)
        return replace(compared, dtype=frozenset({"bool"})) if compared is not None else None
    if isinstance(node, ast.Call):
        return _of_call(code, node, known)
    return None


def _of_numbers(code: Code, node: ast.expr, known: Mapping[str, Form | None]) -> Form | None:
    """Of an operand that must not hold booleans."""
    found, held = form(code, node, known), tensor(code, node)
    if found is None or held is None:
        return None
    return replace(found, total=found.total and held.kind in {"int", "float"})


def _of_operator(code: Code, node: ast.BinOp, known: Mapping[str, Form | None]) -> Form | None:
    if not isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        return None
    found = _combined(code, node.left, node.right, known)
    if found is None or isinstance(node.op, (ast.Add, ast.Sub)):
        return found
    constant = code.value(node.right)
    by_number = isinstance(constant, Const) or (isinstance(node.op, ast.Mult) and _kind_of_number(code, node.left))
    if isinstance(node.op, ast.Mult):
        return found if by_number else replace(found, total=False)  # infinity times 0 is a gradient of NaN
    held = tensor(code, node.left)
    if held is None or held.kind != "float":
        found = replace(found, dtype=found.dtype | {"float"})
    return replace(found, total=found.total and isinstance(constant, Const) and bool(constant.value))


def _combined(code: Code, left: ast.expr, right: ast.expr, known: Mapping[str, Form | None]) -> Form | None:
    """What broadcasting and type promotion make of two operands."""
    forms: list[Form] = []
    numbers: list[str] = []
    kind: str | None = None
    for node in (left, right):
        held = tensor(code, node)
        if held is None:
            number = _kind_of_number(code, node)
            if number is None:
                return None
            numbers.append(number)
            continue
        found = form(code, node, known)
        if found is None:
            return None
        kind = held.kind
        forms.append(found)
    shape = frozenset[str]().union(*(f.shape for f in forms))
    dtype = frozenset[str]().union(*(f.dtype for f in forms))
    if len(forms) == 2 and is_scalar(code, left) != is_scalar(code, right):
        dtype |= {"0-d"}
    for number in numbers:
        if kind is None or KINDS.index(number) > KINDS.index(kind):
            dtype |= {number}
    return Form(shape, dtype, all(f.total for f in forms))


def _kind_of_number(code: Code, node: ast.expr) -> str | None:
    value = code.value(node)
    number = value.value if isinstance(value, Const) else None
    return type(number).__name__ if isinstance(number, (bool, int, float)) else None


def _of_call(code: Code, node: ast.Call, known: Mapping[str, Form | None]) -> Form | None:
    name, given = operation(code, node), operands(code, node)
    if name is None or not given:
        return None
    rest = [*given[1:], *(keyword.value for keyword in node.keywords)]
    numbers = all(_kind_of_number(code, part) is not None for part in rest)
    found = form(code, given[0], known)
    if name in COPIES and not rest:
        return found
    if name in LIKE and len(given) == len(rest) + 1 == (2 if name == "full_like" else 1) and not node.keywords:
        return found
    if name in ROUNDING and not rest:
        return _of_numbers(code, given[0], known)
    held = tensor(code, given[0])
    if name in CLAMPS and numbers and held is not None and held.kind == "float":
        return found
    if name in BOUNDED and not rest and held is not None and held.kind == "float" and found is not None:
        return replace(found, total=False)
    if name == "masked_fill" and len(given) == 3 and numbers is False and _kind_of_number(code, given[2]):
        mask = form(code, given[1], known)
        fits = held is not None and held.kind == "float"
        return (
            replace(found, shape=found.shape | mask.shape) if found is not None and mask is not None and fits else None
        )
    if name == "where" and len(given) == 3:
        mask, chosen = form(code, given[0], known), _combined(code, given[1], given[2], known)
        if mask is None or chosen is None:
            return None
        return replace(chosen, shape=chosen.shape | mask.shape, total=chosen.total and mask.total)
    return None
