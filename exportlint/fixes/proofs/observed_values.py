"""What an expression holds, whichever way the code went before: a tensor, a number of one, a function of torch.

`tensor`, `scalar`, `builtin` and `operation` give what it surely is, or None; `may_be_tensor` is the opposite
question.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import reduce

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.shape import TensorShape
from exportlint.analysis.domain.values import (
    BoundMethod,
    Const,
    External,
    Guard,
    Python,
    Scalar,
    Size,
    Tensor,
    Unknown,
    Value,
)
from exportlint.fixes.edit.code import Code


def tensor(code: Code, node: ast.expr) -> Tensor | None:
    """The tensor that an expression is, with what is true in every way to get there."""
    return as_tensor(code.value(node))


def may_be_tensor(code: Code, node: ast.expr) -> bool:
    """Whether an expression can be a tensor, as far as is known."""
    return any(isinstance(option, (Tensor, Unknown)) for option in options(code.value(node)))


def as_tensor(value: Value) -> Tensor | None:
    """One tensor for all that a value can be, None if it can be something else."""
    found = [option for option in options(value) if isinstance(option, Tensor)]
    if not found or len(found) < len(options(value)):
        return None
    first = found[0]
    if len(found) == 1:
        return first
    return replace(
        first,
        kind=first.kind if all(t.kind == first.kind for t in found) else None,
        shape=next((t.shape for t in found if t.dynamic), reduce(TensorShape.join, (t.shape for t in found))),
        assumed=any(t.assumed for t in found),
        optional=any(t.optional for t in found),
    )


def scalar(code: Code, node: ast.expr) -> Scalar | None:
    """The number read from tensor data that an expression is."""
    found = options(code.value(node))
    numbers = [option for option in found if isinstance(option, Scalar)]
    if not numbers or len(numbers) < len(found):
        return None
    first = numbers[0]
    if all((s.kind, s.api) == (first.kind, first.api) for s in numbers):
        return first
    return replace(first, kind=None)


def is_python(code: Code, node: ast.expr) -> bool:
    """Whether Python knows what an expression holds while torch.export traces."""
    return all(isinstance(option, (Const, Python, Size, Guard)) for option in options(code.value(node)))


def builtin(code: Code, node: ast.expr) -> str | None:
    """The builtin function that a call is of."""
    if isinstance(node, ast.Call):
        function = code.value(node.func)
        if isinstance(function, External) and function.name.startswith("builtins."):
            return function.name.removeprefix("builtins.")
    return None


def operation(code: Code, node: ast.expr) -> str | None:
    """The short name of the function of torch or the method of a tensor that a call is of."""
    if not isinstance(node, ast.Call):
        return None
    function = code.value(node.func)
    if isinstance(function, External) and function.name.startswith(("torch.", "torch.nn.functional.")):
        library, _, name = function.name.rpartition(".")
        return name if library in {"torch", "torch.nn.functional"} else None
    names = {f.name for f in options(function) if isinstance(f, BoundMethod)}
    return names.pop() if len(names) == 1 and is_tensor_method(function) else None


def item_of(node: ast.AST) -> ast.expr | None:
    """`t` of `t.item()`."""
    is_item = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "item"
    return node.func.value if is_item else None  # type: ignore[attr-defined]


def listed(node: ast.AST) -> ast.expr | None:
    """`t` of `t.tolist()`."""
    match node:
        case ast.Call(func=ast.Attribute(value=held, attr="tolist"), args=[], keywords=[]):
            return held
    return None


def set_of_elements(code: Code, node: ast.AST) -> ast.expr | None:
    """`t` of `set(t.tolist())`."""
    match node:
        case ast.Call(args=[inner], keywords=[]) if builtin(code, node) == "set":
            return listed(inner)
    return None


def is_named(value: Value, *names: str) -> bool:
    """Whether a value is a function or class of a library with one of some qualified names."""
    return isinstance(value, External) and value.name in names


def operands(code: Code, node: ast.Call) -> list[ast.expr]:
    """The positional arguments of an operation, a method's tensor first."""
    if isinstance(node.func, ast.Attribute) and is_tensor_method(code.value(node.func)):
        return [node.func.value, *node.args]
    return list(node.args)


def is_tensor_method(function: Value) -> bool:
    """Whether a function is a method of a tensor."""
    return all(isinstance(f, BoundMethod) and isinstance(f.receiver, Tensor) for f in options(function))
