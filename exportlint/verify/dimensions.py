"""Named dimensions of inputs: `batch=2` gives one its size, `2*batch` and `seq//2+1` are sizes that follow from others.

An expression is one of Python, whose names are dimensions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from operator import add, floordiv, mod, mul, sub

from exportlint.registry import nearest

_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.FloorDiv: floordiv,
    ast.Mod: mod,
}


class SpecError(ValueError):
    """Inputs that are not written as they have to be. Its text is one line: what is wrong, and what to write."""


def size_of(size: int | str, sizes: Mapping[str, int]) -> int:
    """The number that a size of a spec is.

    Raises:
        SpecError: a name in it has no size, or what comes out is negative.
    """
    if isinstance(size, int):
        return size
    number = _number(ast.parse(size, mode="eval").body, size, sizes)
    if number < 0:
        raise SpecError(f"the size `{size}` is {number}: sizes are 0 or more")
    return number


def _number(node: ast.expr, text: str, sizes: Mapping[str, int]) -> int:
    if isinstance(node, ast.BinOp):
        left, right = _number(node.left, text, sizes), _number(node.right, text, sizes)
        if right == 0 and isinstance(node.op, ast.FloorDiv | ast.Mod):
            raise SpecError(f"the size `{text}` divides by zero")
        return _OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.Name):
        if node.id not in sizes:
            near = nearest(node.id, sizes, count=1)
            raise SpecError(
                f"the dimension `{node.id}` has no size: write `{node.id}=2` where it is first used"
                + (f", or did you mean {near}?" if near else "")
            )
        return sizes[node.id]
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, int)
    return node.value


def read_size(node: ast.expr, sizes: dict[str, int]) -> int | str:
    """A size as specs hold it, from Python in which `name:=2` stands for `name=2`. The sizes in it go into `sizes`.

    Raises:
        SpecError: it is not a size, or gives a dimension another size than it has.
    """
    expression = _Sizes(sizes).visit(node)
    names = any(isinstance(part, ast.Name) for part in ast.walk(expression))
    return ast.unparse(expression).replace(" ", "") if names else size_of(ast.unparse(expression), {})


class _Sizes(ast.NodeTransformer):
    """Takes the sizes out of an expression."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self._sizes = sizes

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        name, value = node.target.id, node.value
        if not isinstance(value, ast.Constant) or type(value.value) is not int:
            raise SpecError(f"the size of `{name}` is a number: write `{name}=2`, not `{name}={ast.unparse(value)}`")
        if self._sizes.setdefault(name, value.value) != value.value:
            raise SpecError(
                f"the dimension `{name}` has the sizes {self._sizes[name]} and {value.value}: write one of them, once"
            )
        return node.target

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if type(node.op) not in _OPERATORS:
            raise _no_size(node)
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if type(node.value) is not int:
            raise _no_size(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and not isinstance(node, ast.BinOp):
            raise _no_size(node)
        return super().generic_visit(node)


def _no_size(node: ast.expr) -> SpecError:
    text = ast.unparse(node).replace(":=", "=")
    return SpecError(f"`{text}` is not a size: sizes are numbers, names such as `batch=2`, and `+ - * // %` of them")
