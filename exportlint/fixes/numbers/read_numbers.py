"""Numbers that Python asks of tensor data, read with `.item()`: torch.export has symbols for those.

`int(x)` becomes `x.to(torch.int64).item()`, `float(n)` of a symbol `torch.sym_float(n)`, `math.sqrt(x)`
`torch.sqrt(x).item()`.

Safe: the kind of the tensor is certain and has no value that Python refused. Otherwise NaN and infinities become some
integer, and functions of `math` give NaN where they raised.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import External, Kind, Scalar, Tensor
from exportlint.fixes.arrays.torch_names import MATH, NUMPY, TO_INTEGERS
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import call, method
from exportlint.fixes.edit.tree import parameters
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.numbers.operands import operand as operand_of
from exportlint.fixes.proofs.observed_values import item_of, scalar, tensor
from exportlint.fixes.proofs.tensor_evidence import surely_tensor

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression


OF_NUMBERS = frozenset({*MATH.values(), "round", "sign", "square"}) - {"pow", "fmod", "copysign", "hypot", "atan2"}
"""Functions of torch that give a number for one number."""


def item(code: Code, source: Expression, kind: str) -> Expression:
    """The number in a tensor as an `int` or `float`."""
    return method(method(source, "to", code.name(f"torch.{kind}64")), "item")


def integer(code: Code, node: ast.expr, operand: Tensor | Scalar) -> tuple[Expression, bool]:
    """`int(node)`, and whether it is that for all numbers. `operand` is what `int` was seen to be given."""
    if isinstance(operand, Scalar):
        read = item_of(node)
        if read is None:
            return call(code.name("torch.sym_int"), code.concrete(node)), scalar(code, node) is not None
        node = read
    source, kind, certain = _tensor(code, node, operand)
    if kind == "int":
        return method(source, "item"), certain
    # `int` refuses NaN and infinities
    return item(code, source, "int"), kind == "bool" and certain


def floating(code: Code, node: ast.expr, operand: Tensor | Scalar) -> tuple[Expression, bool]:
    """`float(node)`, and whether it is that for all numbers. `operand` is what `float` was seen to be given."""
    if isinstance(operand, Scalar):
        return call(code.name("torch.sym_float"), code.concrete(node)), scalar(code, node) is not None
    source, kind, certain = _tensor(code, node, operand)
    if kind in {"int", "bool"}:
        return item(code, source, "float"), certain
    return method(source, "item"), kind == "float" and certain


def _tensor(code: Code, node: ast.expr, operand: Tensor | Scalar) -> tuple[Expression, Kind | None, bool]:
    """A tensor that is read, its kind, and whether it is surely that whenever the code runs."""
    if _is_number_too(code, node):
        raise DeclinedError("it may be a number, which has no `item`")
    held = tensor(code, node)
    source = code.concrete(node)
    return (source, operand.kind, False) if held is None else (source, held.kind, surely_tensor(code, node))


def _is_number_too(code: Code, node: ast.expr) -> bool:
    """Whether a node is a parameter that is annotated as a number or a tensor."""
    function = code.tree.function(node)
    if not isinstance(node, ast.Name) or function is None:
        return False
    annotations = [a.annotation for a in parameters(function) if a.arg == node.id and a.annotation is not None]
    return any(re.search(r"\b(int|float|bool)\b", ast.unparse(annotation)) for annotation in annotations)


def of_math(code: Code, node: ast.Call) -> Expression:
    """A call of `math`, or of a function of numpy for one number, as an operator of torch and its number.

    Raises:
        DeclinedError: torch has no such function.
    """
    function = code.value(node.func)
    package, _, name = function.name.partition(".") if isinstance(function, External) else ("", "", "")
    if package == "numpy" and NUMPY.get(name) in OF_NUMBERS and len(node.args) == 1:
        found = operand_of(code, node.args[0])
        if found is not None:
            return method(call(code.name(f"torch.{NUMPY[name]}"), found.source), "item")
    if package != "math" or name not in MATH or node.keywords or len(node.args) > _arity(name):
        raise DeclinedError("torch has no such function")
    given = [_argument(code, argument) for argument in node.args]
    if name in {"hypot", "atan2"} and not all(is_tensor for _, is_tensor in given):
        raise DeclinedError("torch takes tensors only")
    result = call(code.name(f"torch.{MATH[name]}"), *(argument for argument, _ in given))
    return item(code, result, "int") if name in TO_INTEGERS else method(result, "item")


def _arity(name: str) -> int:
    return 2 if name in {"pow", "fmod", "copysign", "hypot", "atan2"} else 1


def _argument(code: Code, node: ast.expr) -> tuple[Expression, bool]:
    """An argument of `math` as one of torch, and whether it is a tensor."""
    found = operand_of(code, node)
    return (found.source, True) if found is not None else (code.concrete(node), False)
