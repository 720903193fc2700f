"""Whether expressions are tensors of one shape and dtype, as far as their source proves it.

`form` gives the shape and dtype of an expression by what they come from; two forms say whether they agree.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from exportlint.analysis.domain.values import Kind
from exportlint.fixes.edit.code import Code
from exportlint.fixes.numbers.operands import is_scalar
from exportlint.fixes.proofs.observed_values import operands, operation, tensor
from exportlint.fixes.proofs.shape_changes import change_of
from exportlint.fixes.proofs.stated_numbers import stated

COPIES = frozenset({"clone", "contiguous", "detach"})
LIKE = frozenset({"zeros_like", "ones_like", "full_like"})
ROUNDING = frozenset({"relu", "floor", "ceil", "trunc", "round", "sign", "neg", "negative"})
"""Operations that booleans do not have. Their gradient is finite whatever they are given."""
CLAMPS = frozenset({"clamp", "clamp_min", "clamp_max", "clip"})
BOUNDED = frozenset({"sigmoid", "tanh", "abs", "cos", "sin", "gelu", "silu", "softplus"})
KINDS = ("bool", "int", "float")
JOINS = frozenset({"cat", "concat", "concatenate"})
LARGEST = 65504
"""The largest number of the smallest floating-point dtype."""
SMALLEST = 2**-14


@dataclass(frozen=True, slots=True)
class Form:
    """A shape and a dtype by what they come from: expressions with the same ones have the same shape and dtype.

    `shape` names the tensors whose shapes are broadcast, none for a 0-d tensor; `dtype` names what is promoted.
    `total`: for no values of these tensors is the expression refused, nor is its gradient infinite or NaN. `grads`
    names the tensors that gradients flow to: what is cut off from them has no `grad_fn`, and leaves their `grad` None.
    """

    shape: frozenset[str]
    dtype: frozenset[str]
    total: bool = True
    grads: frozenset[str] = frozenset()

    def agrees(self, other: Form) -> bool:
        """Whether the shapes and the dtypes are the same, and gradients flow to the same tensors."""
        return self.shape == other.shape and self.dtype == other.dtype and self.grads == other.grads

    def may_fit(self, other: Form) -> bool:
        """Whether the shapes may be the same: they are made in one way, or of tensors that have nothing in common."""
        one, two = _settled(self.shape), _settled(other.shape)
        if {_change(name) for name in one} == {_change(name) for name in two}:
            return True
        return not (_bases(one - two) & _bases(two) or _bases(two - one) & _bases(one))


def _settled(shape: frozenset[str]) -> frozenset[str]:
    """What decides a broadcast: `x - x.mean(1, keepdim=True)` is as large as `x`."""
    decided = {name for name in shape if DERIVED not in name}
    return frozenset(name for name in shape if DERIVED not in name or not _bases({name}) <= decided)


def _change(name: str) -> str:
    return name.partition(DERIVED)[2]


def _bases(shape: Set[str]) -> set[str]:
    return {base for name in shape for base in name.partition(DERIVED)[0].split(" * ")}


DERIVED = " -> "
"""Marks a shape that an operator made of others: `x -> [1:]`."""

JOINED = "cat("
"""Marks what `torch.cat` made of others."""

Forms = Mapping[str, Form | None]
"""The forms of variables, None where nothing proves one."""


def form(code: Code, node: ast.expr, known: Forms) -> Form | None:
    """The form of a tensor expression; `known` are the forms of variables that were assigned on the way."""
    held = tensor(code, node)
    if held is None or held.dynamic:
        return None
    proven = _proven(code, node, known)
    found = proven if proven is not None else _derived(code, node, known)
    is_certain = not held.assumed and not held.optional
    return found if found is None or is_certain else replace(found, total=False)


def _proven(code: Code, node: ast.expr, known: Forms) -> Form | None:
    held = tensor(code, node)
    if isinstance(node, ast.Name) and node.id in known:
        return known[node.id]
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = ast.unparse(node)
        is_zero_dim = held is not None and held.zero_dim
        grads = frozenset[str]() if held is not None and held.kind in {"int", "bool"} else frozenset({name})
        return Form(frozenset() if is_zero_dim else frozenset({name}), frozenset({name}), grads=grads)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _of_numbers(code, node.operand, known)
    if isinstance(node, ast.BinOp):
        return _of_operator(code, node, known)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _of_comparison(code, node, known)
    if isinstance(node, ast.Call):
        return _of_call(code, node, known)
    return None


def _of_numbers(code: Code, node: ast.expr, known: Forms) -> Form | None:
    """Of an operand that must not hold booleans."""
    found, held = form(code, node, known), tensor(code, node)
    if found is None or held is None:
        return None
    return replace(found, total=found.total and held.kind in {"int", "float"})


def _of_comparison(code: Code, node: ast.Compare, known: Forms) -> Form | None:
    sides = (node.left, *node.comparators)
    compared = _combined(code, node.left, node.comparators[0], known)
    if compared is None:
        return None
    # complex numbers have no order
    defined = isinstance(node.ops[0], (ast.Eq, ast.NotEq)) or all(_kind(code, side) is not None for side in sides)
    return Form(compared.shape, frozenset({"bool"}), compared.total and defined)


def _of_operator(code: Code, node: ast.BinOp, known: Forms) -> Form | None:
    if not isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        return None
    found = _combined(code, node.left, node.right, known)
    if found is None or isinstance(node.op, ast.Add):
        return found
    kinds = {_kind(code, side) for side in (node.left, node.right)}
    if isinstance(node.op, ast.Sub):
        return replace(found, total=found.total and kinds <= {"int", "float"})  # booleans have no difference
    factor = _number(code, node.right)
    if isinstance(node.op, ast.Mult):
        factor = factor if factor is not None else _number(code, node.left)
        spreads = factor is None or not abs(factor) <= LARGEST  # infinity times 0 is a gradient of NaN
        return replace(found, total=found.total and not spreads)
    if _kind(code, node.left) != "float":
        found = replace(found, dtype=found.dtype | {"float"})
    return replace(found, total=found.total and factor is not None and SMALLEST <= abs(factor) <= LARGEST)


def _combined(code: Code, left: ast.expr, right: ast.expr, known: Forms) -> Form | None:
    """What broadcasting and type promotion make of two operands."""
    forms: list[Form] = []
    numbers: list[str] = []
    kind: Kind | None = None
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
    dtype = _promoted(*(f.dtype for f in forms))
    if len(forms) == 2 and is_scalar(code, left) != is_scalar(code, right):
        dtype |= {"0-d"}
    for number in numbers:
        if kind is None or KINDS.index(number) > KINDS.index(kind):
            dtype |= {number}
    grads = frozenset[str]().union(*(f.grads for f in forms))
    return Form(shape, dtype, all(f.total for f in forms), grads)


def _promoted(*dtypes: frozenset[str]) -> frozenset[str]:
    """The dtype of an operation. It depends on the order of several: those of 0-d tensors count for less."""
    promoted = frozenset[str]().union(*dtypes)
    if promoted in dtypes or all(len(dtype) == 1 for dtype in dtypes):
        return promoted
    return frozenset({" and ".join(sorted(f"({', '.join(sorted(dtype))})" for dtype in dtypes))})


def _kind(code: Code, node: ast.expr) -> str | None:
    """The kind of the numbers of a tensor, or of a number."""
    held = tensor(code, node)
    return held.kind if held is not None else _kind_of_number(code, node)


def _kind_of_number(code: Code, node: ast.expr) -> str | None:
    number = _number(code, node)
    return type(number).__name__ if number is not None else None


def _number(code: Code, node: ast.expr) -> float | None:
    """A number that the code states, and that operators take."""
    number = stated(code, node)
    fits = isinstance(number, float) or (isinstance(number, int) and -(2**63) <= number < 2**63)
    return number if fits else None


def _is_held(code: Code, node: ast.expr, kind: str | None) -> bool:
    """Whether each dtype of a kind, or of any, can hold a number: what fills tensors is refused otherwise."""
    number = _number(code, node)
    if number is None:
        return False
    return not LARGEST < abs(number) < math.inf if kind == "float" else 0 <= number <= 127


def _of_call(code: Code, node: ast.Call, known: Forms) -> Form | None:
    name, given = operation(code, node), operands(code, node)
    if name is None or not given:
        return None
    rest = [*given[1:], *(keyword.value for keyword in node.keywords)]
    if name in JOINS and isinstance(given[0], (ast.List, ast.Tuple)):
        return _of_join(code, given[0].elts, rest, known)
    numbers = all(_kind_of_number(code, part) is not None for part in rest)
    found = form(code, given[0], known)
    if name in COPIES and not rest:
        return replace(found, grads=frozenset()) if found is not None and name == "detach" else found
    held = tensor(code, given[0])
    if name in LIKE and len(given) == len(rest) + 1 == (2 if name == "full_like" else 1) and not node.keywords:
        fits = all(_is_held(code, part, held.kind if held is not None else None) for part in rest)
        return Form(found.shape, found.dtype, found.total and fits) if found is not None else None
    if name in ROUNDING and not rest:
        return _of_numbers(code, given[0], known)
    if name in CLAMPS and numbers and held is not None and held.kind == "float" and found is not None:
        return replace(found, total=found.total and all(_is_held(code, part, held.kind) for part in rest))
    if name in BOUNDED and not rest and held is not None and held.kind == "float" and found is not None:
        return replace(found, total=False)
    if name == "masked_fill" and len(given) == 3 == len(rest) + 1 and held is not None and held.kind == "float":
        mask = _of_mask(code, given[1], known)
        if found is None or mask is None or not _is_held(code, given[2], held.kind):
            return None
        return replace(found, shape=found.shape | mask.shape, total=found.total and mask.total)
    if name == "where" and len(given) == 3 == len(rest) + 1:
        mask, chosen = _of_mask(code, given[0], known), _combined(code, given[1], given[2], known)
        if mask is None or chosen is None:
            return None
        fits = all(_is_held(code, p, _kind(code, o)) for p, o in (given[1:], given[:0:-1]) if tensor(code, p) is None)
        return replace(chosen, shape=chosen.shape | mask.shape, total=chosen.total and mask.total and fits)
    return None


def _of_join(code: Code, items: list[ast.expr], rest: list[ast.expr], known: Forms) -> Form | None:
    """Of `torch.cat`: it is larger than each of the tensors that it joins."""
    forms = [found for item in items if (found := form(code, item, known)) is not None]
    if len(forms) < len(items) or not forms:
        return None
    before = " * ".join(sorted(frozenset[str]().union(*(f.shape for f in forms))))
    dims = ", ".join(map(ast.unparse, rest))
    grads = frozenset[str]().union(*(f.grads for f in forms))
    return Form(frozenset({f"{before}{DERIVED}{JOINED}{dims})"}), _promoted(*(f.dtype for f in forms)), False, grads)


def _of_mask(code: Code, node: ast.expr, known: Forms) -> Form | None:
    """Of an operand that must hold booleans."""
    return form(code, node, known) if _kind(code, node) == "bool" else None


def _derived(code: Code, node: ast.expr, known: Forms) -> Form | None:
    """The form of what an operator makes of a tensor of a known form, if it makes the same shape of each like it."""
    changed = change_of(code, node)
    found = form(code, changed[0], known) if changed is not None else None
    if changed is None or found is None:
        return None
    _, change = changed
    if change and any(JOINED in name for name in found.shape):
        return None  # a layer or an index may make the old size of it
    before = " * ".join(sorted(found.shape))
    shape = frozenset({f"{before}{DERIVED}{change}"}) if change else found.shape
    return Form(shape, frozenset({ast.unparse(node)}), total=False, grads=found.grads)
