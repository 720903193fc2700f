"""einops, which torch.export traces like the operators that it calls.

Measured with einops 0.8.2 and torch 2.13: both modes export all of these, sizes that vary stay so, and a write to what
`rearrange` gives is one to its operand.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from functools import reduce

from exportlint.analysis.domain.dim import ANY_SIZE, ONE, Dim, Expression
from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.shape import UNSHAPED, TensorShape
from exportlint.analysis.domain.values import UNKNOWN, Const, External, Kind, Partial, Sequence, Tensor, Tuple, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.sizes import dim_of
from exportlint.analysis.eval.tensor_results import result
from exportlint.analysis.library_functions import function
from exportlint.analysis.models.externals import call_opaque

_AXES = re.compile(r"\(([^()]*)\)|(\S+)")
"""An axis of a pattern, or several in parentheses that are one dimension."""
_ELLIPSIS = "..."
_KEEPS_KIND = frozenset({"min", "max", "sum", "mean", "prod"})
"""Reductions whose result has the dtype of the tensor; `any` and `all` give booleans."""


@function("einops.rearrange einops.einops.rearrange einops.repeat einops.einops.repeat")
def _rearrange(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return _made(frame, name, arguments, node, keeps_kind=True)


@function("einops.reduce einops.einops.reduce")
def _reduce(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    how = arguments.get(2, "reduction")
    keeps_kind = isinstance(how, Const) and how.value in _KEEPS_KIND
    return _made(frame, name, arguments, node, keeps_kind=keeps_kind)


@function("einops.einsum einops.einops.einsum")
def _einsum(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    *operands, pattern = arguments.positional or (UNKNOWN,)
    tensors = [operand for operand in operands if isinstance(operand, Tensor)]
    if not tensors:
        return call_opaque(frame, name, arguments, node)
    shapes = [operand.shape if isinstance(operand, Tensor) else UNSHAPED for operand in operands]
    return result(frame, node, name, operands, shape=_shape(pattern, shapes, {}))


@function("einops.pack einops.packing.pack")
def _pack(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    tensor = _operand(arguments)
    if tensor is None:
        return call_opaque(frame, name, arguments, node)
    return Tuple((result(frame, node, name, (tensor,)), UNKNOWN))


@function("einops.unpack einops.packing.unpack")
def _unpack(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    tensor = _operand(arguments)
    if tensor is None:
        return call_opaque(frame, name, arguments, node)
    return Sequence(result(frame, node, name, (tensor,)))


@function("einops.layers.torch.Rearrange")
def _rearrange_layer(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return _layer("einops.rearrange", ("pattern",), arguments)


@function("einops.layers.torch.Reduce")
def _reduce_layer(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return _layer("einops.reduce", ("pattern", "reduction"), arguments)


def _layer(name: str, parameters: tuple[str, ...], arguments: Arguments) -> Value:
    """A module that has no parameters: a function of which all but the tensor is given."""
    given = dict(zip(parameters, arguments.positional, strict=False))
    return Partial(External(name), keywords=(*given.items(), *arguments.keywords.items()))


def _made(frame: Frame, name: str, arguments: Arguments, node: ast.AST, *, keeps_kind: bool) -> Value:
    """The tensor that an operator makes of one, or of a list of tensors, which it stacks first."""
    tensor = _operand(arguments)
    if tensor is None:
        return call_opaque(frame, name, arguments, node)
    is_one = isinstance(arguments.get(0, "tensor"), Tensor)
    shape = _shape(arguments.get(1, "pattern"), [tensor.shape] if is_one else [], arguments.keywords)
    kind: Kind | None = tensor.kind if keeps_kind else None
    return result(frame, node, name, (tensor,), kind, shape)


def _operand(arguments: Arguments) -> Tensor | None:
    """The tensor that is taken apart, or an item of the list that is; None if nothing shows that it is one."""
    given = arguments.get(0, "tensor") or arguments.keywords.get("tensors") or UNKNOWN
    if isinstance(given, Sequence):
        given = given.item
    items = given.items if isinstance(given, Tuple) else options(given)
    tensors = [item for item in items if isinstance(item, Tensor)]
    return tensors[0] if tensors and len(tensors) == len(items) else None


def _shape(pattern: Value | None, shapes: list[TensorShape], given: Mapping[str, Value]) -> TensorShape:
    """The shape that a pattern such as `b n (h d) -> b h n d` gives; `given` are the sizes of its axes."""
    text = pattern.value if isinstance(pattern, Const) else None
    if not isinstance(text, str) or text.count("->") != 1:
        return UNSHAPED
    before, _, after = text.partition("->")
    sizes = {name: size for name, value in given.items() if (size := dim_of(value)) is not None}
    for side, shape in zip(before.split(","), shapes, strict=False):
        for position, axes in enumerate(_leading(side)):
            _settle(sizes, axes, shape.at(position))
    made = [_product(sizes.get(axis, ANY_SIZE) for axis in axes) for axes in _leading(after)]
    return TensorShape(tuple(made), None if _ELLIPSIS in after else len(made))


def _leading(side: str) -> list[list[str]]:
    """The axes of each dimension in front of an ellipsis, which is any number of dimensions. `1` is no axis."""
    found = (several.split() if one == "" else [one] for several, one in _AXES.findall(side.partition(_ELLIPSIS)[0]))
    return [[axis for axis in axes if axis != "1"] for axes in found]


def _settle(sizes: dict[str, Dim], axes: list[str], size: Dim) -> None:
    """Note the size of the axis of a dimension that is not known yet, if it is the only one."""
    unknown = [axis for axis in axes if axis not in sizes]
    if len(unknown) != 1:
        return
    others = _product(sizes[axis] for axis in axes if axis in sizes)
    rest = size if others == ONE else size // others
    # what varies in the dimension may be in an axis that is given
    is_told = isinstance(rest, Expression) or not (others.varies or others.is_data)
    sizes[unknown[0]] = rest if is_told else ANY_SIZE


def _product(sizes: Iterable[Dim]) -> Dim:
    return reduce(lambda one, other: one * other, sizes, ONE)
