"""What functions of `torch.cond` and `while_loop` return, made alike in dtype.

`x > 1` next to `x - 1` becomes `(x > 1).to(x.dtype)`, `x.sin()` next to `x.double()` `x.sin().to(torch.float64)`, what
a step of a loop carries is cast to the dtype it came with, and a number becomes a tensor: `torch.tensor(1.0)`, or
`x.new_full((), 0.0)` next to a tensor of the dtype of `x`. A list becomes a tuple next to a tuple. What `cond_fn` of a
loop computes as a number is compared with zero.

Never safe: eager refuses such calls as well, so that nothing says which of the dtypes is meant. Of two, the wider one
is taken, as `torch.where` does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from exportlint.analysis.domain.operand_forms import SAME
from exportlint.analysis.domain.values import Const, Python, Size, Tensor, Value
from exportlint.analysis.facts.control_flow import BodyMismatch
from exportlint.findings import Fix
from exportlint.fixes.control_flow.bodies import is_tensor
from exportlint.fixes.control_flow.operator_functions import BRANCHES, function_of, statements_of
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import as_tuple, binary, method
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.live_variables import bound, returns

if TYPE_CHECKING:
    from exportlint.fixes.edit.drafts import Draft
    from exportlint.fixes.edit.template import Expression

    Body = ast.FunctionDef | ast.Lambda

NARROW_TO_WIDE = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
)  # fmt: skip
"""Dtypes in the order in which torch promotes them."""
BETWEEN = {frozenset({"uint8", "int8"}): "int16", frozenset({"float16", "bfloat16"}): "float32"}
"""Pairs of which neither is the wider one, and what they are promoted to."""
UNKNOWN_DTYPES = "the code does not show the dtypes of the results"
REFUSALS = {
    "rank": "the branches return tensors of different ranks, and the code does not show which rank is meant",
    "carry shape": "each step returns a tensor of another shape, and `while_loop` carries tensors of fixed shapes",
}
"""Why there is no fix for what has none."""


def mismatch_fix(code: Code, fact: BodyMismatch) -> Fix:
    """Let the functions of an operator return what fits together. Raises DeclinedError if it is not clear what does."""
    if fact.what in REFUSALS:
        raise DeclinedError(REFUSALS[fact.what])
    if fact.what == "structure":
        return _as_tuples(code)
    if fact.what == "condition":
        return _asked(code)
    if fact.what == "carry dtype":
        edits = list(_carried(code, fact))
        return code.fix("Cast what the step returns to the dtype of its operand", *edits, safe=False)
    if fact.operator != "torch.cond":
        raise DeclinedError("it returns something other than a tensor, and nothing shows which tensor is meant")
    edits = [edit for place, pair in enumerate(fact.compared) for edit in _alike(code, place, pair, fact)]
    if not edits:
        raise DeclinedError(UNKNOWN_DTYPES)
    message = "Return tensors instead of numbers" if fact.what in {"type", "size"} else "Cast to the wider dtype"
    return code.fix(message, *edits, safe=False)


def _as_tuples(code: Code) -> Fix:
    """Return a tuple where another function does, and not a list."""
    edits = []
    for role in BRANCHES:
        _, node = function_of(code, role)
        for value in _returned(node):
            if isinstance(value, ast.List) and value.elts:
                edits.append(code.replace(value, as_tuple(code.concrete(value))))
            elif not isinstance(value, ast.Tuple):
                raise DeclinedError("the functions do not return lists or tuples")
    if not edits:
        raise DeclinedError("the functions return different numbers of tensors")
    return code.fix("Return tuples", *edits, safe=False)


def _asked(code: Code) -> Fix:
    """Compare what `cond_fn` returns with zero, as Python does to ask a number for its truth."""
    _, node = function_of(code, "`cond_fn`")
    values = _returned(node)
    if any(isinstance(value, ast.Constant) for value in values):
        raise DeclinedError("`cond_fn` never ends the loop")
    edits = [code.replace(value, binary("!=", code.concrete(value), 0)) for value in values]
    return code.fix("Compare with zero", *edits, safe=False)


def _carried(code: Code, fact: BodyMismatch) -> Iterator[Draft]:
    """What a step returns, cast to the dtypes of its parameters."""
    _, node = function_of(code, "`body_fn`" if fact.operator == "while_loop" else "`combine_fn`")
    for place, (given, returned) in enumerate(fact.compared):
        if not isinstance(given, Tensor) or not isinstance(returned, Tensor):
            continue
        one, other = _dtype(given), _dtype(returned)
        is_carried = one == (SAME, _operand(given)) == other
        if one == other is not None or is_carried:
            continue
        if None in (one, other) and (None in (given.kind, returned.kind) or given.kind == returned.kind):
            continue
        if _is_lower(given, returned):
            raise DeclinedError("a cast back drops what each step adds: start with the dtype that the step returns")
        parameter = _parameter(node, place)
        dtype = code.make("{parameter}.dtype", parameter=parameter)
        for value in _values_at(node, place, len(fact.compared)):
            yield code.replace(value, method(code.concrete(value), "to", dtype))


def _alike(code: Code, place: int, pair: tuple[Value, Value], fact: BodyMismatch) -> Iterator[Draft]:
    """What becomes of one of the results of two branches."""
    for role, own, other in zip(BRANCHES, pair, reversed(pair), strict=True):
        _, node = function_of(code, role)
        for value in _values_at(node, place, len(fact.compared)):
            if isinstance(own, Tensor) and isinstance(other, Tensor):
                dtype = _wider(code, node, own, other)
                if dtype is not None:
                    yield code.replace(value, method(code.concrete(value), "to", dtype))
            elif is_tensor(own):
                continue
            else:
                yield code.replace(value, _as_tensor(code, node, value, own, other))


def _wider(code: Code, node: Body, own: Tensor, other: Tensor) -> Expression | None:
    """The dtype to which a result is cast to be like another one; None if that is its own."""
    one, two = _dtype(own), _dtype(other)
    if one is None and two is None:
        if own.kind != other.kind and own.kind is not None and other.kind is not None:
            raise DeclinedError(UNKNOWN_DTYPES)
        return None
    if one == two:
        return None
    if two is None:
        if _is_lower(other, own):
            return None
        raise DeclinedError(UNKNOWN_DTYPES)
    if one is None and not _is_lower(own, other):
        raise DeclinedError(UNKNOWN_DTYPES)
    if two[0] == SAME:
        if one is not None and (one[0] == SAME or NARROW_TO_WIDE.index(one[0]) >= NARROW_TO_WIDE.index("float32")):
            return None  # the other one is cast
        return code.make("{parameter}.dtype", parameter=_parameter(node, two[1]))
    if one is None or one[0] == SAME:
        is_wide = NARROW_TO_WIDE.index(two[0]) >= NARROW_TO_WIDE.index("float32") or one is None
        return code.make("{dtype}", dtype=code.name(f"torch.{two[0]}")) if is_wide else None
    wide = BETWEEN.get(frozenset({one[0], two[0]})) or max(one[0], two[0], key=NARROW_TO_WIDE.index)
    return None if wide == one[0] else code.make("{dtype}", dtype=code.name(f"torch.{wide}"))


def _is_lower(one: Tensor, other: Tensor) -> bool:
    """Whether a tensor is of a kind that is promoted to that of another one, which may be the operand's."""
    order = ("bool", "int", "float", None)
    return one.kind is not None and order.index(one.kind) < order.index(other.kind)


def _dtype(tensor: Tensor) -> tuple[str, int] | None:
    """The name of a dtype, or `SAME` and the number of the operand that has it."""
    name = tensor.form.dtype if tensor.form is not None else None
    if name == SAME and tensor.form is not None and tensor.kind in {None, "float"}:
        return SAME, tensor.form.operand
    found = name or tensor.dtype or ("bool" if tensor.kind == "bool" else None)
    return (found, 0) if found in NARROW_TO_WIDE else None


def _operand(tensor: Tensor) -> int:
    return tensor.form.operand if tensor.form is not None else -1


def _as_tensor(code: Code, node: Body, value: ast.expr, own: Value, other: Value) -> Expression:
    """A number that a branch returns, as a tensor that is like what the other one returns."""
    if isinstance(own, Const) and not isinstance(own.value, (bool, int, float)):
        raise DeclinedError(
            "a branch returns None, which is not a tensor" if own.value is None else "a branch returns text"
        )
    if not isinstance(own, (Const, Python, Size)):
        raise DeclinedError("the returned value may be something other than a number")
    if not isinstance(other, Tensor):
        if _type(own) != _type(other):
            raise DeclinedError("one branch returns an integer and the other one a float")
        return code.make("{tensor}({value})", tensor=code.name("torch.tensor"), value=value)
    form = other.form
    is_float = _type(own) == "float" and form is not None and form.dtype is None and other.kind in {None, "float"}
    if form is None or (form.dtype != SAME and not is_float):  # the mean of a tensor has its dtype, if it has any
        raise DeclinedError("the dtype of what the other branch returns is not known")
    parameter = _parameter(node, form.operand)
    if form.rank == 0 and not form.resized:
        return code.make(
            "{full}({parameter}, {value})", full=code.name("torch.full_like"), parameter=parameter, value=value
        )
    if form.rank is None and form.collapsed[0] == 0:
        return code.make("{parameter}.new_full((), {value})", parameter=parameter, value=value)
    raise DeclinedError("the shape of what the other branch returns is not known")


def _type(value: Value) -> str | None:
    if isinstance(value, Const):
        return type(value.value).__name__
    return value.type if isinstance(value, Python) else "int" if isinstance(value, Size) else None


def _parameter(node: Body, index: int) -> str:
    """The parameter that takes an operand, which still has it where the function returns. Raises DeclinedError."""
    parameters = [*node.args.posonlyargs, *node.args.args]
    if index >= len(parameters) or parameters[index].arg in bound(statements_of(node)):
        raise DeclinedError("the function binds the parameter again that has the dtype")
    return parameters[index].arg


def _returned(node: Body) -> list[ast.expr]:
    """What a function returns. Raises DeclinedError if it does not always return something."""
    values = [statement.value for statement in returns(statements_of(node))]
    if not values or None in values:
        raise DeclinedError("a function does not always return something")
    return [value for value in values if value is not None]


def _values_at(node: Body, place: int, count: int) -> Sequence[ast.expr]:
    """The results at one place of what a function returns. Raises DeclinedError if they do not stand there."""
    found = []
    for value in _returned(node):
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == count:
            found.append(value.elts[place])
        elif count == 1:
            found.append(value)
        else:
            raise DeclinedError("the function returns a container that is made elsewhere")
    return found
