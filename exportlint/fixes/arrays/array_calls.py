"""Calls of numpy's functions and of arrays' methods, as torch calls them.

`np.clip(a, 0, 1)` becomes `torch.clamp(a, 0, 1)`, `a.astype(np.float32)` `a.to(torch.float32)`. A part of `array_flow`,
which says what can differ.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import External
from exportlint.fixes.arrays.torch_names import (
    ALONG_AXES,
    BUILTIN_DTYPES,
    CONSTANTS,
    DIMS,
    DTYPES,
    KEYWORDS,
    METHODS,
    MOST_POSITIONAL,
    NEED_AXIS,
    NUMPY,
    OF_TENSORS,
)
from exportlint.fixes.edit import template as templates
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import call, expression
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.calls import written
from exportlint.fixes.proofs.observed_values import as_tensor

if TYPE_CHECKING:
    from exportlint.fixes.arrays.arrays import Arrays
    from exportlint.fixes.edit.template import Expression, Hole

CREATIONS = {
    "zeros": "zeros", "ones": "ones", "eye": "eye", "linspace": "linspace", "arange": "arange", "array": "tensor",
    "asarray": "tensor",
}  # fmt: skip
"""Functions of numpy that make arrays of numbers."""
TAKE_OTHERS = frozenset({
    "where", "power", "concatenate", "stack", "vstack", "hstack", "dstack", "column_stack"
})  # fmt: skip
"""Functions of numpy whose first argument may be a number or a list of arrays, with the same function of torch."""
PERCENTILES = {"percentile": "quantile", "nanpercentile": "nanquantile"}
"""Functions of numpy that ask for a percentage where those of torch ask for a fraction."""
AVERAGES = frozenset({"mean", "nanmean", "std", "var"})
"""Functions that torch refuses for integers and bools, of which numpy computes them with 64 bits."""
LIMITS = {"maximum": "min", "minimum": "max"}


def function(arrays: Arrays, name: str, node: ast.Call) -> Expression:
    """`np.name(…)` of tensors. Raises DeclinedError."""
    code, arguments = arrays.code, node.args
    if name == "transpose":
        return _transposed(arrays, arrays.plain(arguments[0]), node, arguments[1:])
    if name in LIMITS and not node.keywords and len(arguments) == 2 and not all(map(arrays.is_tensor, arguments)):
        tensor, limit = sorted(arguments, key=arrays.is_tensor, reverse=True)
        return call(
            code.name("torch.clamp"), arrays.plain(tensor), templates.keyword(LIMITS[name], arrays.plain(limit))
        )
    if name in PERCENTILES and len(arguments) == 2:
        return _percentile(arrays, name, node)
    known = NUMPY.get(name) or ALONG_AXES.get(name)
    if known is None or any(isinstance(argument, ast.Starred) for argument in arguments):
        raise DeclinedError(f"torch has no `{name}`")
    if known in OF_TENSORS and not all(map(arrays.is_tensor, arguments)):
        raise DeclinedError("torch takes tensors only")
    if name not in TAKE_OTHERS and not arrays.is_tensor(arguments[0]):
        raise DeclinedError("the first argument is a number")
    if name == "expand_dims" and any(isinstance(argument, ast.Tuple) for argument in arguments):
        raise DeclinedError("torch adds one dimension at a time")
    _require_shared(name, len(arguments))
    given = [arrays.plain(argument) for argument in arguments]
    if known == "matmul":
        arrays.multiplied()
    if known in AVERAGES:
        given[0] = _as_floats(arrays, arguments[0], given[0])
    return call(code.name(f"torch.{known}"), *given, *_keywords(arrays, name, node, len(arguments) > 1))


def _as_floats(arrays: Arrays, node: ast.expr, source: Expression) -> Expression:
    """An array of integers or bools as numpy computes an average of it; another one as it is."""
    if not _is_whole(arrays.code, node):
        return source
    return templates.method(source, "to", arrays.code.name("torch.float64", node))


def _is_whole(code: Code, node: ast.expr) -> bool:
    """Whether an array surely is one of integers or bools."""
    try:
        made = written(code, node)
    except DeclinedError:
        return False
    match made:
        case ast.Compare():
            return True
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor()):
            return _is_whole(code, left)
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return _is_whole(code, operand)
    held = as_tensor(code.value(made))
    return held is not None and held.kind in {"int", "bool"}


def _percentile(arrays: Arrays, name: str, node: ast.Call) -> Expression:
    """`np.percentile(a, q)` as `torch.quantile(a, q / 100)`."""
    array, percentage = node.args
    if not arrays.is_tensor(array):
        raise DeclinedError("the first argument is a number")
    fraction = templates.binary("/", arrays.plain(percentage), 100)
    options = _keywords(arrays, name, node, positional_axis=False)
    return call(arrays.code.name(f"torch.{PERCENTILES[name]}"), arrays.plain(array), fraction, *options)


def method(arrays: Arrays, source: Expression, name: str, node: ast.Call) -> Expression:
    """`array.name(…)`. Raises DeclinedError."""
    if name == "astype":
        return converted(arrays, source, node, dtype_at=0)
    if name == "transpose":
        return _transposed(arrays, source, node, node.args)
    known = METHODS.get(name) or ALONG_AXES.get(name)
    if known is None or "." in known or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise DeclinedError(f"tensors have no `{name}`")
    if name != "reshape":
        _require_shared(name, len(node.args) + 1)
    if known == "matmul":
        arrays.multiplied()
    if known in AVERAGES and isinstance(node.func, ast.Attribute):
        source = _as_floats(arrays, node.func.value, source)
    options = _keywords(arrays, name, node, bool(node.args))
    return templates.method(source, known, *map(arrays.plain, node.args), *options)


def converted(arrays: Arrays, source: Expression, node: ast.Call, dtype_at: int = 1) -> Expression:
    """An array in the dtype that a call asks for."""
    wanted = [*node.args[dtype_at:], *(keyword.value for keyword in node.keywords if keyword.arg == "dtype")]
    if any(keyword.arg not in {"dtype", "copy"} for keyword in node.keywords) or len(wanted) > 1:
        raise DeclinedError("the conversion has options")
    if not wanted:
        return source
    found = dtype(arrays.code, wanted[0])
    if found is None:
        raise DeclinedError("torch has no such dtype")
    return templates.method(source, "to", found)


def created(arrays: Arrays, name: str, node: ast.Call) -> Expression | None:
    """An array that is made of numbers, in the dtype that numpy gives it; None if an expression makes none."""
    if name not in CREATIONS:
        return None
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    wanted = keywords.pop("dtype", None)
    if keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise DeclinedError("the array has options")
    code = arrays.code
    found = dtype(code, wanted) if wanted is not None else code.name(f"torch.{_default(name, node)}", node)
    if found is None:
        raise DeclinedError("torch has no such dtype")
    arrays.mixed = True
    given = [code.concrete(argument) for argument in node.args]
    return call(code.name(f"torch.{CREATIONS[name]}", node), *given, templates.keyword("dtype", found))


def _default(name: str, node: ast.Call) -> str:
    """The dtype of numpy where none is asked for: that of the numbers, or a float of 64 bits."""
    if name in {"zeros", "ones", "eye", "linspace"}:
        return "float64"
    numbers = [part for part in ast.walk(node) if isinstance(part, ast.Constant)]
    if len(numbers) != sum(isinstance(part, ast.expr) for a in node.args for part in _leaves(a)):
        raise DeclinedError("NumPy chooses a dtype for numbers that the code does not show")
    return "float64" if any(isinstance(number.value, float) for number in numbers) else "int64"


def _leaves(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, (ast.List, ast.Tuple)):
        return [leaf for element in node.elts for leaf in _leaves(element)]
    return _leaves(node.operand) if isinstance(node, ast.UnaryOp) else [node]


def dtype(code: Code, node: ast.expr) -> str | None:
    """The dtype of torch that a dtype of numpy is."""
    value = code.value(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        name = DTYPES.get(node.value)
    elif isinstance(value, External):
        library, _, short = value.name.rpartition(".")
        name = {"numpy": DTYPES, "builtins": BUILTIN_DTYPES}.get(library, {}).get(short)
    else:
        name = None
    return code.name(f"torch.{name}", node) if name is not None else None


def constant(code: Code, node: ast.expr) -> str | None:
    """A constant of numpy, as `math` has it."""
    value = code.value(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
    known = CONSTANTS.get(value.name.removeprefix("numpy.")) if isinstance(value, External) else None
    return code.name(known, node) if known is not None else None


def _require_shared(name: str, count: int) -> None:
    """Raises DeclinedError if torch has something else in the place of one of so many positional arguments."""
    if count > MOST_POSITIONAL.get(name, 1):
        raise DeclinedError("torch takes its other arguments by other names")


def _transposed(arrays: Arrays, source: Expression, node: ast.Call, axes: list[ast.expr]) -> Expression:
    if node.keywords:
        raise DeclinedError("torch has no such keyword")
    if len(axes) == 1 and isinstance(axes[0], (ast.Tuple, ast.List)):
        axes = axes[0].elts
    if not axes:
        return expression("{array}.T", array=source)
    return templates.method(source, "permute", *map(arrays.plain, axes))


def _keywords(arrays: Arrays, name: str, node: ast.Call, positional_axis: bool) -> list[Hole]:
    found: list[Hole] = []
    for keyword in node.keywords:
        known = KEYWORDS.get(keyword.arg or "")
        if known is None or (name == "roll" and known == "dim"):
            raise DeclinedError("torch has no such keyword")
        if known == "dim" and name in DIMS:
            known = "dims"
        found.append(templates.keyword(known, arrays.plain(keyword.value)))
    has_axis = positional_axis or any(keyword.arg == "axis" for keyword in node.keywords)
    if name in NEED_AXIS and not has_axis:
        raise DeclinedError("numpy flattens the array")
    if name in {"std", "var"} and not any(keyword.arg == "ddof" for keyword in node.keywords):
        found.append(templates.keyword("correction", 0))
    return found
